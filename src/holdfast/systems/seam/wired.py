"""What works together on one root: the engine, its store, the documents and the world. Systems are handed it."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping, Sequence

from holdfast import git
from holdfast.core.definition import BUILT_IN
from holdfast.core.lifecycle import FINISHED
from holdfast.core.remedy import Blank, Scope
from holdfast.core.value import Any, Value
from holdfast.errors import HoldfastError, NotFound
from holdfast.machine import place as places
from holdfast.systems.seam.registry import folders, refused, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.commands import Command, Equip
    from holdfast.core.definition import Check, Definition
    from holdfast.core.gates import Unmet
    from holdfast.core.remedy import Remedy
    from holdfast.core.state import Actor, Alert, State
    from holdfast.definitions import Catalogue
    from holdfast.documents.files import Documents
    from holdfast.documents.reconcile import Reconciler
    from holdfast.engine.engine import Engine
    from holdfast.engine.ports import Entry, Store
    from holdfast.engine.world import LocalWorld
    from holdfast.forges.port import Forge
    from holdfast.machine.place import Place
    from holdfast.machine.settings import Settings


def kept_lines(store: Store, ulid: str) -> bytes:
    """The lines of a journal byte for byte, without its lock."""
    path = store.file_of(ulid)
    if not path:
        return store.export(ulid)
    with open(path, "rb") as file:
        return file.read()


class Wired(Value):
    """Everything that works together on one root."""

    place: Place
    settings: Settings
    store: Store
    world: LocalWorld
    documents: Documents
    engine: Engine
    reconciler: Reconciler
    is_trusted: Callable[[str, str], bool]
    """Whether a person trusted the content with this digest at this path."""
    result_of: Callable[[State], str]
    """What a finished workflow's result is, as others build on it."""
    troubles: list[str]
    """What was wrong with workflows that were passed over because their journal cannot be read."""
    noticed: list[Alert]
    """What a look found, and could not write down or decide because nothing can be written here."""
    settled: list[str]
    """What was done about a commit that was interrupted, and which are still to be made, until it is told."""
    changes: list[str]
    """What is not as it was when somebody last looked, such as a command of the project, until it is told."""
    use_systems: Callable[[], None]
    """Makes the systems that this project enables those of the thread: called where a request turns to the project."""

    def journal(self, ulid: str) -> bytes:
        """All lines of a journal, as they are kept."""
        return kept_lines(self.store, ulid)

    def changed_approvers(self) -> list[Alert]:
        """What happened to the lists of those who may approve with a passkey since a person looked at them."""
        known = os.path.join(self.settings.data_dir, "holdfast", "trust", ".known-approvers")
        if not any(os.path.lexists(path) for path in (*self.approvers, known)):
            return []
        from holdfast.core.moment import from_epoch
        from holdfast.core.state import Alert
        from holdfast.machine.known_approvers import changes

        told = changes(self.approvers, self.settings.data_dir)
        return [Alert(from_epoch(when) if when else "", "approvers", said) for when, said in told]

    @property
    def approvers(self) -> tuple[str, ...]:
        """Where such lists can be: that of the user, of the project and of the machine."""
        own = os.path.join(self.settings.config_dir, "holdfast", "approvers")
        return own, os.path.join(self.place.home, "approvers"), "/etc/holdfast/approvers"

    def unbuilt(self, state: State) -> Unmet:
        """Why nothing can be built on the result of a workflow, and what helps."""
        from holdfast.core.needs import needs
        from holdfast.core.results import unbuilt

        return unbuilt(state, self.world.facts(state, needs(state)))

    def require_writable(self) -> None:
        if refusal := self.store.read_only:
            raise refusal

    def prepare(self, *systems: str) -> None:
        """Makes `.holdfast` ready for a write, and the repository for the documents of these systems."""
        from holdfast.systems.seam.unversioned import keep_out

        self.require_writable()
        places.prepare(self.place, insist=self.settings.allow_unsafe_fs)
        keep_out(self, systems)

    def repository(self, worktree: str) -> git.Repository:
        """The repository that a working tree is in, which there has to be."""
        base = self.place.base(worktree)
        repository = git.find(base)
        if repository is None:
            from holdfast.core.refusals import no_repository

            raise no_repository(base)
        return repository

    def on_branch(self, state: State) -> git.Repository:
        """The repository of a workflow, which has to be on the workflow's branch."""
        repository = self.repository(state.worktree)
        if self.is_elsewhere(state):
            raise self.branch_mismatch(state)
        return repository

    def is_elsewhere(self, state: State) -> bool:
        """Whether another branch is checked out than the workflow's."""
        repository = git.find(self.place.base(state.worktree)) if state.branch else None
        return repository is not None and git.branch(repository) != state.branch

    def branch_mismatch(self, state: State, fresh: Remedy | None = None) -> HoldfastError:
        """What is said where another branch than the workflow's is checked out."""
        from holdfast.core.refusals import branch_mismatch
        from holdfast.git import changes, history, linked

        repository = git.find(self.place.base(state.worktree))
        if repository is None or not state.branch:
            return branch_mismatch(state, self.place.branch(), fresh)
        if git.busy(repository):
            return changes.under_way(repository)
        here, other = git.branch(repository), linked.checked_out(repository, state.branch)
        if other is not None:
            return branch_mismatch(state, here, fresh, tree=repository.top, holder=other.top)
        if changes.has_branch(repository, state.branch):
            return branch_mismatch(state, here, fresh)
        return branch_mismatch(state, here, fresh, lost=history.last_on(repository, state.branch) or Blank("SHA"))

    def recorded(self, state: State, path: str) -> None:
        """The journal has the commit that was made for a step: nothing of it is left to record."""
        repository = git.find(self.place.base(self.world.at(state, path).worktree))
        if repository and git.has_unrecorded(repository):
            from holdfast.git import made

            made.forget(repository, state.ulid, path)

    def candidates(self) -> Sequence[Entry]:
        """The workflows that a command without `-w` may mean: the active ones of the branch, else of the worktree, else
        of the branch wherever they are worked on, else all; where none is active, those that are still to be finalized.
        """
        active, made_for = self.store.active(), self.place.made_for
        own = [entry for entry in active if made_for in (entry.id, entry.ulid)] if made_for else []
        if own:
            return own
        here = [entry for entry in active if entry.worktree == self.place.key()]
        branch = [entry for entry in here if entry.branch in (None, self.place.branch())]
        apart = [entry for entry in active if entry.branch and entry.branch == self.place.branch()]
        return branch or here or apart or active or self.to_finalize()

    def require_alone(self, state: State) -> None:
        """Refuses while another workflow of the same system runs in the worktree."""
        key = (state.dialect, state.worktree)
        running = [entry for entry in self.store.active() if (entry.dialect, entry.worktree) == key]
        if running:
            from holdfast.core.refusals import another_runs

            raise another_runs(running[0].id, running[0].ulid)

    def to_finalize(self) -> Sequence[Entry]:
        """The completed workflows whose result is still to be published: of the branch, of the worktree, or all."""
        every = self.store.unpublished()
        here = [e for e in every if e.worktree == self.place.key()]
        return [e for e in here if e.branch in (None, self.place.branch())] or here or every

    def scope(self, about: str = "") -> Scope:
        """What commands that are typed here have to say, for remedies about the workflow with this ULID."""
        candidates, active = self.candidates(), self.store.active()
        ids = [entry.id for entry in active]
        newest = {entry.id: entry.ulid for entry in self.store.entries() if entry.id not in ids}
        names = {ulid: id for id, ulid in newest.items()}
        names.update({entry.ulid: entry.id for entry in active if ids.count(entry.id) == 1})
        default = candidates[0].ulid if len(candidates) == 1 else ""
        return Scope(default, names, about, self.settings.actor.kind == "human", self.page)

    def page(self) -> str:
        """The address of the page while it runs, for those who are not on it."""
        from holdfast.machine import served

        return "" if self.settings.actor.surface == "web" else served.address(self.place)

    def forge(self, worktree: str, *, strict: bool = False) -> Forge:
        """The forge that the branch of a working tree is pushed to; `strict` where approvals are asked for."""
        from holdfast.forges.port import forge_of

        repository = self.repository(worktree)
        branch, config = git.branch(repository) or "", self.settings.config_dir
        return forge_of(repository, branch, environ=os.environ, config_dir=config, strict=strict)

    @property
    def catalogue(self) -> Catalogue:
        """The definitions. Most commands are about a workflow that has its own, so they are looked for when asked."""
        from holdfast.definitions import Catalogue

        return Catalogue(self.place.root, self.is_trusted, builtin=folders("definitions"), words=words())

    def definition(self, name: str) -> Definition:
        """A definition by name, with where it comes from."""
        catalogue = self.catalogue
        try:
            found, path = catalogue.get(name), catalogue.path_of(name)
        except NotFound as unknown:
            for refusal in refused():  # the definition may be one of a system that cannot be had
                unknown.message += f"; {refusal.message}"
                unknown.remedies = refusal.remedies
            raise
        return found.replace(source=os.path.relpath(path, self.place.root) if path else BUILT_IN)

    def shadowing(self, name: str, source: str) -> str:
        """What is said of a definition of the project that has the name of one that comes with Holdfast."""
        own, file = os.path.join(".holdfast", "workflows", ""), f"{name.replace('/', '-')}.toml"
        if not source.startswith(own) or not any(
            os.path.exists(os.path.join(one, file)) for one in folders("definitions")
        ):
            return ""
        return f"{name} is from {source}, not the shipped definition"

    def binding(self, state: State, path: str, check: Check, test: str = "") -> Equip | None:
        """What gives a check the command that the project has for it now; None where it stays as it is.

        Of a task it is that of the package which its tests are in, or the `test` that is named.
        """
        from holdfast.checks import equipping, packages, tooling
        from holdfast.core.tasks import task_of
        from holdfast.systems.seam.trusted import content

        def is_trusted() -> bool:
            config = os.path.join(self.place.root, tooling.CONFIG)
            return os.path.exists(config) and self.is_trusted(content(config).digest, config)

        def files() -> list[str]:
            changed = self.changed_for(state, path)
            if check.uses != "test" or not task_of(state, path):
                return changed
            base = self.place.base(state.worktree)
            own = packages.own_tests(base, changed, test)
            return own or packages.own_tests(base, self.changed_for(state, path, committed=True), test) or changed

        return equipping.binding(state, path, check, self.place, files, is_trusted)

    def changed_for(self, state: State, path: str, *, committed: bool = False) -> list[str]:
        """The files that the work of a task has changed, or outside of tasks the whole: paths from the top.

        Of a task it is what is not committed, unless somebody committed by hand what is asked for. Where git cannot
        look at the tree, nothing is known to have changed.
        """
        from holdfast.checks.task import since
        from holdfast.core.tasks import task_of

        base = self.place.base(state.worktree)
        repository = git.find(base)
        if repository is None:
            return []
        try:
            begun = None if task_of(state, path) else state.head
            begun = since(repository, state) if committed else begun
            changed = self.world.changed(repository, begun or git.head(repository), self.world.aside(state))
        except (HoldfastError, OSError):
            return []
        own = [name for name, one in changed.items() if state.dirt.get(name) != one.blob and one.blob]
        inside = [os.path.relpath(os.path.join(repository.top, name), base) for name in own]
        return [name for name in inside if not name.startswith("../")]

    def acts(self, state: State, path: str) -> bool:
        """Whether handing a step in means doing something. Without git, nothing is done for an adopted document."""
        by_hand = state.origin == "adopted" and self.place.repository is None
        return bool(state.plan.step(path).action) and not by_hand and state.step(path).status not in FINISHED

    def news(self) -> list[str]:
        """What became of edits of a document, newest first, and what else changed, if it was not told yet."""
        from holdfast.core.briefing import alert_text

        return [*self.take_changes(), *map(alert_text, self.take_news())]

    def take_changes(self) -> list[str]:
        """What is not as it was when somebody last looked, if it was not told yet."""
        found = [*self.changes]
        self.changes.clear()
        return found

    def take_news(self, *, raised_here: bool = False) -> list[Alert]:
        """The news itself. What a program that uses the Python API is told, nobody may have read."""
        found = self.reconciler.take_news(raised_here=raised_here)
        if found and self.settings.actor.surface != "python" and not self.store.read_only:
            from holdfast.documents import heard

            heard.keep(self.place.home, found)
        return found

    def notices(self) -> list[str]:
        """What goes with an answer that is data: the news, and what there is to say about commits."""
        found = [*self.news(), *self.settled]
        self.settled.clear()
        return found

    def told(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """An answer, and before it the notices."""
        notices = self.notices()
        return {"notice": notices, **answer} if notices else dict(answer)

    def execute(self, ulid: str, command: Command, actor: Actor | None = None, **how: Any) -> State:
        """Decides a command, keeps what came of it and shows it. For this process's own actor its token counts."""
        if actor is None:
            actor, how = self.settings.actor, {"token": self.settings.token, **how}
        return self.reconciler.settle(self.engine.execute(ulid, command, actor, **how))

    def preview(self, state: State, command: Command, token: str = "") -> None:
        """Refuses what the rules would refuse to this process, before anything is done outside of the journal."""
        self.engine.preview(state, command, self.settings.actor, token=token or self.settings.token)
