"""The one place that wires: a root becomes a store, a world, documents, an engine."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping

from holdfast import git
from holdfast.core import remedies
from holdfast.core.definition import BUILT_IN, Check
from holdfast.core.needs import needs
from holdfast.core.plan import Plan
from holdfast.core.remedy import Remedy
from holdfast.core.state import Actor, Alert, Hold, State
from holdfast.core.value import Any
from holdfast.documents.files import Documents
from holdfast.documents.reconcile import Reconciler
from holdfast.engine.approvals import Approvals
from holdfast.engine.engine import Engine
from holdfast.engine.ports import Store
from holdfast.engine.world import LocalWorld
from holdfast.errors import HoldfastError
from holdfast.machine import access
from holdfast.machine.place import HOME, Place
from holdfast.machine.settings import Settings
from holdfast.stores.files import FilesStore
from holdfast.systems.seam.registry import dialect, own_paths, own_tree, rules, use, work
from holdfast.systems.seam.wired import Wired, kept_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.facts import HandIn
    from holdfast.core.gates import Unmet
    from holdfast.core.secrets import Secrets
    from holdfast.machine.proving import Prover
    from holdfast.systems.seam.external import Enabled


def wire(place: Place, settings: Settings) -> Wired:
    def is_trusted(digest: str, path: str) -> bool:
        from holdfast.checks import trust

        return trust.trusted(digest, path, data_dir=settings.data_dir, config_dir=settings.config_dir)

    def untrusted() -> HoldfastError | None:
        return access.untrusted(place, lambda uid: trusts_owner(place.root, uid, settings), settings.sudo)

    writable = access.Writable(place, untrusted)
    store: Store = FilesStore(place.home, wait=settings.lock_wait, refusal=writable.refusal, outside=place.outside)
    use_systems = _enabling(place, settings, lambda digest, path: not untrusted() and is_trusted(digest, path))
    use_systems()

    def trusts(state: State, step: str, check: Check | None) -> bool:
        """Whether somebody trusted this command: in the file the workflow was started from, or as the file is now.

        Python values and what comes with Holdfast are trusted by their origin, and so are the commands that Holdfast
        found in the project by itself: they are what anybody would type who works there.
        """
        if check is not None and check.source:
            return _is_found(place, check, is_trusted)
        path = os.path.join(place.root, state.source)
        if state.source in ("", BUILT_IN) or is_trusted(state.digest, path):
            return True
        if state.conduct.frozen_trust:
            return False  # what its commands were when it started is what a person has to trust
        from holdfast.definitions import load

        now = load(path) if os.path.exists(path) else None
        if now is None or not is_trusted(now.digest, path):
            return False
        plan = Plan(now.steps)
        return check is not None and step in plan and plan.step(step).check(check.name) == check

    def seal(state: State) -> tuple[str, Unmet | None]:
        """What the result is that a workflow builds on; empty when it is not approved, or itself out of date: then with
        what helps.
        """
        try:
            parent = store.load(state.parent)
        except HoldfastError:
            return "", None
        found = result_of(parent)
        return found, None if found else wired.unbuilt(parent)

    def ground(state: State) -> tuple[Unmet, ...]:
        return work(state.dialect).ground(wired, state)

    def result_of(state: State) -> str:
        """What others build on."""
        from holdfast.core.ending import sealed

        return work(state.dialect).result(wired, state, sealed(state, world.facts(state, needs(state))))

    def locks(state: State) -> tuple[tuple[str, Hold], ...]:
        """The files that agents of the other workflows hold. One whose journal is broken holds nobody up."""
        found: list[tuple[str, Hold]] = []
        for one in documents.guard.entries():
            ulid = str(one.get("ulid"))
            if not one.get("locks") or ulid == state.ulid:
                continue
            try:
                other = store.load(ulid)
            except HoldfastError:
                continue
            found += other.locks.items() if other.worktree == state.worktree else ()
        return tuple(found)

    def kept(state: State) -> tuple[str, ...]:
        """What a workflow puts among the project's files: its checkpoints, and what its system keeps there."""
        return (*documents.copies(state), *work(state.dialect).kept(state))

    def published(state: State) -> tuple[str, ...]:
        return work(state.dialect).published(state)

    def outputs(state: State, step: str) -> Mapping[str, str]:
        return work(state.dialect).outputs(wired, state, step)

    def by_hand(state: State, step: str) -> tuple[Remedy, ...]:
        from holdfast.systems.seam.actions import opened_by_hand

        return opened_by_hand(wired, state, step)

    def bindable(state: State, step: str, check: Check) -> str:
        """How a check that has no command yet could be passed by now."""
        from holdfast.checks import tooling

        try:
            found = wired.binding(state, step, check)
            is_listed = found is None and check.uses in tooling.configured(place.root)
        except HoldfastError:
            return ""  # what is wrong with the configuration is told to who runs the check
        if found is None:
            return "none" if is_listed else ""
        return "run" if found.run else "report" if found.run_by == "any" else tooling.CONFIG

    def secrets() -> Secrets:
        from holdfast.core.secrets import DEFAULT

        if not os.path.lexists(os.path.join(place.home, "config.toml")):
            return DEFAULT  # asked before every change
        from holdfast.machine import configuration

        return configuration.secrets(place.root, is_trusted)

    def confirm(actor: Actor, what: str) -> None:
        if actor == settings.actor:
            settings.require_person(what, remedies.status())

    noticed: list[Alert] = []

    def does_without(failure: HoldfastError) -> bool:
        said = f"the working tree is not looked at: {failure.message}"
        if store.read_only and all(alert.message != said for alert in noticed):
            noticed.append(Alert(world.now(), "not_decided", said))
        return store.read_only is not None

    documents = Documents(place, store, dialect)
    own = lambda: (HOME, *own_paths())  # noqa: E731
    approvals = _approvals(place, settings, store)

    def owned(state: State, step: str) -> str | None:
        """The id of what is a step's own in the working tree."""
        rows = work(state.dialect).owned(wired, state, step)
        return None if rows is None else own_tree(rows)

    def hand_in(state: State, step: str) -> HandIn | None:
        return work(state.dialect).hand_in(wired, state, step)

    def mistaken(state: State, step: str, said: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        return work(state.dialect).mistakes(wired, state, step, said)

    world = LocalWorld(
        *(place, own, trusts, documents.past, seal, locks, kept, by_hand, bindable, approvals, does_without, owned),
        *(ground, mistaken, hand_in, published),
    )

    def not_shown(state: State, failure: Exception) -> None:
        said = f"the change of {state.id} is kept, and a file that shows it could not be written: {failure}"
        noticed.append(Alert(world.now(), "not_shown", said))

    asks = confirm if settings.person else None
    # After a command of the command line, scripts read the document at once.
    hands_over = settings.actor.surface in ("python", "mcp")
    engine = Engine(store, world, documents, rules, secrets, asks, not_shown, hands_over=hands_over)
    wired = Wired(
        place=place,
        settings=settings,
        store=store,
        world=world,
        documents=documents,
        engine=engine,
        reconciler=Reconciler(engine, documents, outputs, noticed, place.home),
        is_trusted=is_trusted,
        result_of=result_of,
        troubles=[],
        noticed=noticed,
        settled=settled(place, store),
        changes=[],
        use_systems=use_systems,
    )
    return wired


def _approvals(place: Place, settings: Settings, store: Store) -> Approvals:
    actor, config = settings.actor, settings.config_dir

    def is_users(address: str) -> bool:
        from holdfast.forges.known import is_users

        return is_users(address, config)

    person = ""
    if actor.kind == "human":
        from holdfast.core.recognition import ELICITATION, PAGE, TERMINAL

        person = {"mcp": ELICITATION, "web": PAGE}.get(actor.surface, TERMINAL)
    wait = settings.lock_wait

    def journal(ulid: str) -> bytes:
        return kept_lines(store, ulid)

    def proving() -> Prover:
        return prover(place, settings, store)

    return Approvals(
        *(place, settings.data_dir), person=person, prover=proving, is_users=is_users, journal=journal, wait=wait
    )


def prover(place: Place, settings: Settings, store: Store) -> Prover:
    """Who may prove an approval here."""
    from holdfast.engine.proofs import named_here
    from holdfast.machine import clone, signing
    from holdfast.machine.approvers import Lists
    from holdfast.machine.known_approvers import KnownApprovers
    from holdfast.machine.proving import Prover

    return Prover(
        signers=lambda: signing.signers(place, settings.config_dir),
        lists=lambda: Lists(place, settings.config_dir),
        named=lambda: named_here((kept_lines(store, ulid) for ulid in store.every()), clone.name(place.root)),
        is_replaced=KnownApprovers(settings.data_dir).is_replaced,
    )


def trusts_owner(root: str, uid: int, settings: Settings) -> bool:
    """Whether a person trusted the user that a project belongs to; what cannot be read says nothing."""
    from holdfast.checks import trust

    try:
        return trust.trusted(trust.owner(uid), root, data_dir=settings.data_dir, config_dir=settings.config_dir)
    except HoldfastError:
        return False


def settled(place: Place, store: Store) -> list[str]:
    """What was done about a commit that a process left halfway, and which are left to make or to record."""
    if place.repository is None:
        return []
    said = []
    if git.is_unsettled(place.repository):
        if store.read_only is not None:
            return ["A commit of Holdfast's was interrupted, and nothing can be written here to finish it."]
        from holdfast.git import unfinished

        said.append(unfinished.settle(place.repository))
    if git.has_unrecorded(place.repository) and store.read_only is None:
        from holdfast.systems.seam.actions import left_over

        said += left_over(place.repository)
    return [one for one in said if one]


def _enabling(place: Place, settings: Settings, is_trusted: Callable[[str, str], bool]) -> Callable[[], None]:
    """What makes the systems of other packages, that the project enables at that moment, those of the thread."""
    made: list[Enabled] = []
    config = os.path.join(place.home, "config.toml")

    def use_systems() -> None:
        if not made and os.path.exists(config):
            from holdfast.systems.seam.external import Enabled

            trusting = os.path.join(settings.data_dir, "holdfast", "trust")
            own = os.path.join(settings.config_dir, "holdfast", "config.toml")
            made.append(Enabled(place.root, is_trusted, settings.data_dir, trusting, own))
        if made:
            made[0].use()
        else:
            use({})

    return use_systems


def _is_found(place: Place, check: Check, is_trusted: Callable[[str, str], bool]) -> bool:
    """Whether Holdfast found the command itself, or the project's settings have it, as somebody trusted them."""
    from holdfast.checks import tooling
    from holdfast.systems.seam.trusted import content

    if check.source != tooling.CONFIG:
        return True
    tool = tooling.configured(place.root).get(check.uses)
    path = os.path.join(place.root, tooling.CONFIG)
    return tool is not None and tool.run == check.run and is_trusted(content(path).digest, path)
