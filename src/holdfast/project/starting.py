"""Starting a workflow: what it is about is read, room is made for it, and what needs nobody is done at once."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast import git
from holdfast.checks import equipping
from holdfast.core import commands as cmd
from holdfast.core import moment, queries, remedies
from holdfast.core.definition import Conduct, Definition, fill
from holdfast.core.mistakes import check_steps
from holdfast.core.names import checked_id, checked_text, is_name
from holdfast.core.plan import Plan
from holdfast.core.remedy import Remedy
from holdfast.core.state import State
from holdfast.core.value import Any, Value
from holdfast.engine.ports import Entry
from holdfast.errors import Refused, UsageError
from holdfast.files.links import require_inside
from holdfast.git import changes as git_changes
from holdfast.machine import configuration
from holdfast.machine.place import Place
from holdfast.plain import plainjson, ulid
from holdfast.project import required
from holdfast.project.earlier_run import carried, run_before
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.systems.seam.parts import Asked, Loaded, refuse_phases
from holdfast.systems.seam.registry import dialect, system
from holdfast.systems.seam.registry import subject as subject_of
from holdfast.systems.seam.system import System
from holdfast.systems.seam.wired import Wired

_GIVE_UP = cmd.Cancel("cancelled for a fresh start")


def start(
    project: Project,
    definition: Definition,
    subject: str,
    context: Mapping[str, Any],
    *,
    title: str = "",
    session: str = "",
    key: str = "",
    fresh: bool = False,
    branch: str = "",
    phases: tuple[str, ...] = (),
    reading: tuple[str, ...] = (),
    reminders: tuple[str, ...] = (),
) -> Workflow:
    if subject:
        checked_text(subject, "subject", 1000)
    for name in context:
        if not is_name(name):
            raise UsageError("bad_name", f"{name[:80]!r} cannot be a key of the context", remedy="--set KEY=VALUE")
    plainjson.require(context, "context")
    wired, place = project.wired, project.wired.place
    wired.engine.require_no_secret("name of the session", session)
    subject, context = _plain(wired, subject), wired.engine.redacted(context)
    definition = _configured(definition, place.root)
    loaded = _load(Asked(definition, subject, context, phases), place)
    _require_inside(system(definition.dialect), place)
    card, spoken = system(definition.dialect), dialect(definition.dialect)
    about, now = subject_of(card.name), wired.world.now()
    id = checked_id(spoken.identify(definition, loaded.subject, loaded.context, now))
    before = run_before(wired, definition, id) if card.shares == "id" else None
    loaded = _equipped(carried(wired, loaded, before) if before else loaded, wired)
    begun = _surroundings(loaded, wired, branch)
    command = cmd.Start.of(
        loaded.definition,
        ulid.new(),
        id,
        conduct=card.loads.get(definition.loads, Conduct()),
        subject=loaded.subject,
        title=title or loaded.title or fill(definition.title, loaded.subject, loaded.context),
        context=loaded.context,
        branch=begun.branch,
        worktree=place.key(),
        session=about.session(wired, session),
        head=begun.head,
        dirt=begun.dirt,
        finished=loaded.finished,
        reading=required.entries(reading, place),
        reminders=reminders,
        begun=loaded.begun,
        own=loaded.own,
    )
    wired.prepare(definition.dialect)
    project.heal()
    if card.shares == "worktree":
        _clear(project, card.name)
    else:
        _adopt_before(project, command.id, Asked(definition, loaded.subject, loaded.context))
    again = remedies.start(
        definition.name,
        subject,
        values=context,
        title=title,
        session=session,
        branch=branch,
        phases=",".join(phases),
        reading=reading,
        remind=reminders,
    )
    with wired.store.exclusively("starting"):
        room = _Room(project, command, definition, card, again)
        if not key or wired.store.started_with(key) is None:
            room.require(fresh=fresh)
            command = about.prepare(wired, command)
            wired.engine.preview(None, command, wired.settings.actor)
            command = room.make(command)
            if card.shares == "worktree":
                _archive(project, command)
            command = about.furnish(wired, command)
        outcome = wired.engine.start(command, wired.settings.actor, key=key, at=now)
    state = wired.reconciler.settle(outcome)
    said = about.opened(wired, state)
    workflow = Workflow(wired, state, project.turn).ahead()
    waiting = _waiting(project, workflow) if before else ()
    beside = _elsewhere(wired, state)
    workflow.said += (*room.given_up, *_shadowing(wired, loaded.definition), *beside, *said, *loaded.said, *waiting)
    return workflow


def _shadowing(wired: Wired, definition: Definition) -> tuple[str, ...]:
    return tuple(filter(None, [wired.shadowing(definition.name, definition.source)]))


def _elsewhere(wired: Wired, state: State) -> tuple[str, ...]:
    """The active workflows about the same in other worktrees and sessions: this start is none of them."""
    same = (
        entry
        for entry in wired.store.active()
        if entry.type == state.type and (entry.worktree, entry.session) != (state.worktree, state.session)
        if (entry.subject and entry.subject == state.subject) or (entry.title and entry.title == state.title)
    )

    def where(one: Entry) -> str:
        if one.worktree != state.worktree:
            return f" in {wired.place.base(one.worktree)}"
        return in_session(one.session) or " outside of any session"

    return tuple(
        f"this is another run: {one.id}, about {one.subject or one.title}, is active{where(one)}" for one in same
    )


def _waiting(project: Project, workflow: Workflow) -> tuple[str, ...]:
    """What the subject says that a person has to decide, told as when the run before continued."""
    taken = project.reread(workflow)
    return (*taken.said, *(f"{why}: not applied, a person decides (holdfast resume)" for *_, why in taken.loosened))


def _plain(wired: Wired, subject: str) -> str:
    """The subject without likely secrets, before an id, a folder and a branch are named after it; a file's name is
    left as it is.
    """
    return subject if os.path.lexists(os.path.join(wired.place.worktree, subject)) else wired.engine.redacted(subject)


def _require_inside(card: System, place: Place) -> None:
    """Before anything is made: the folders of the system's documents are in the project."""
    for path in (*card.own, *card.patterns):
        require_inside(place.worktree, path.partition("*")[0].rstrip("/"))


def _load(asked: Asked, place: Place) -> Loaded:
    """What the subject is read as. Changes nothing."""
    definition = asked.definition
    card, about = system(definition.dialect), subject_of(definition.dialect)
    if definition.loads and definition.loads not in card.loads:
        known = ", ".join(card.loads)
        raise UsageError(
            "bad_loads",
            f"{definition.name} has the dialect {card.name}, which reads {known}, not {definition.loads}",
            remedy=f'write loads = "{next(iter(card.loads))}" in the definition',
            facts={"loads": definition.loads, "known": list(card.loads)},
        )
    if not about.takes_phases:
        refuse_phases(asked)
    loaded = about.load(asked, place)
    check_steps(loaded.definition.steps)
    return loaded


def _equipped(loaded: Loaded, wired: Wired) -> Loaded:
    """With the project's commands in its checks, or those that somebody typed."""
    by = wired.settings.actor.label
    typed = {name: tool.replace(by=tool.by or by) for name, tool in loaded.tools.items()}
    tools = {**equipping.tools(loaded.definition, wired.place), **typed}
    return loaded.replace(definition=equipping.equipped(loaded.definition, tools))


class _Surroundings(Value):
    """Where in git a workflow begins: its branch, the commit, and what is there changed and uncommitted."""

    branch: str | None
    head: str | None = None
    dirt: Mapping[str, str] = {}


def _surroundings(loaded: Loaded, wired: Wired, branch: str) -> _Surroundings:
    """A branch that is there already and is elsewhere is refused."""
    place = wired.place
    repository, here = place.repository, place.branch()
    wanted = branch or loaded.branch or here
    plan = Plan(loaded.definition.steps)
    actions = {plan.step(path).action for path in plan.paths}
    makes_branch = loaded.makes_branch or "branch" in actions
    if repository is None or not (makes_branch or actions & {"commit", "pull_request"}):
        return _Surroundings(wanted)
    if makes_branch and wanted:
        git_changes.require_free(repository, wanted)
    head = git.head(repository)
    changed = wired.world.changed(repository, head, wired.world.own(place.key()))
    return _Surroundings(wanted, head, {name: one.blob for name, one in changed.items()})


def _configured(definition: Definition, root: str) -> Definition:
    """What the project's settings ask of every workflow holds beside what its definition asks."""
    asked = configuration.resuming(root)
    return definition.replace(
        keep_going=definition.keep_going or asked.keep_going, require_ack=definition.require_ack or asked.require_ack
    )


def find(
    project: Project, definition: Definition, subject: str, context: Mapping[str, Any], session: str
) -> Entry | None:
    """The active workflow that such a start would continue with: of the same id, subject, feature, folder."""
    wired = project.wired
    card, part = system(definition.dialect), subject_of(definition.dialect)
    asked = Asked(definition, _plain(wired, subject), context)
    asked = asked.replace(subject=part.identity(asked, wired.place))
    name = dialect(card.name).identify(definition, asked.subject, context, wired.world.now())
    _adopt_before(project, name, asked)
    place = (wired.place.key(), part.session(wired, session))
    same = [
        one for one in wired.store.active() if one.type == definition.name and _same(wired, one, asked, name, place)
    ]
    if card.shares == "worktree":  # it would take the place of the others, and continue with none of them
        same = [entry for entry in same if entry.subject == asked.subject]
    return max(same, key=lambda entry: (entry.id == name, entry.updated_at), default=None)


def _same(wired: Wired, entry: Entry, asked: Asked, id: str, place: tuple[str, str]) -> bool:
    """Whether a workflow is the work that a start names, which would have this id in that worktree and session."""
    definition, (worktree, session) = asked.definition, place
    if entry.worktree != worktree:
        return False
    match system(definition.dialect).shares:
        case "worktree":
            return entry.dialect == definition.dialect and (entry.active or entry.subject == asked.subject)
        case "id":
            other_name = entry.type == definition.name and entry.id != id
            return entry.id == id or (other_name and _is_about(wired, entry, asked))
        case _:
            equal = (entry.type, entry.subject, entry.session) == (definition.name, asked.subject, session)
            return equal and _is_about(wired, entry, asked, otherwise=True)


def already_active(state: State, now: str, again: Remedy, go_on: Remedy) -> Refused:
    """`again` is the start that was asked for, and `go_on` what takes up the work that is there.

    Continuing with what is used up is a person's.
    """
    stuck = queries.status(state) in ("failed", "escalated")
    go_on = (remedies.resume(workflow=state.ulid) if stuck else go_on).replace(text="continue with it")
    instead = fresh_start(state, again, now)
    ways: tuple[Remedy, ...] = (go_on, instead)
    if stuck and queries.is_a_persons_turn(state, now):
        ways = (*remedies.person("this", go_on, workflow=state.ulid), instead)
    return Refused(
        "already_active",
        f"{state.id} is already active{in_session(state.session)}" + (", and has failed" if stuck else ""),
        remedy=ways,
        facts={"workflow": state.id, "ulid": state.ulid, "status": queries.status(state), **_of(state.session)},
    )


def fresh_start(state: State, again: Remedy, now: str) -> Remedy:
    """The start that starts over. It is a person's where a person decides how the work continues: an agent would give
    itself what they have not allowed.
    """
    way = subject_of(state.dialect).fresh_start(state, again)
    return way.replace(who="person") if queries.is_a_persons_turn(state, now) else way


def in_session(name: str) -> str:
    return f" in the session {name}" if name else ""


def _of(session: str) -> dict[str, str]:
    return {"session": session} if session else {}


def _is_about(wired: Wired, entry: Entry, asked: Asked, *, otherwise: bool = False) -> bool:
    """What the system says of it; `otherwise` where it leaves that to the id or subject."""
    same = subject_of(asked.definition.dialect).same
    return otherwise if same is None else same(asked, lambda: wired.store.load(entry.ulid).context, wired.place)


class _Room:
    """The place of a new workflow, and those that have it: of the same id, or of the same work."""

    def __init__(
        self, project: Project, command: cmd.Start, definition: Definition, card: System, again: Remedy
    ) -> None:
        self._definition = definition
        self._again = again
        self._wired = project.wired
        self._command = command
        self._card = card
        same = [entry for entry in self._wired.store.active() if self._is_same(entry)]
        self._active = sorted(same, key=lambda one: (one.id == command.id, one.updated_at), reverse=True)
        self.given_up: tuple[str, ...] = ()

    def _is_same(self, entry: Entry) -> bool:
        command = self._command
        asked = Asked(self._definition, command.subject, command.context)
        return _same(self._wired, entry, asked, command.id, (command.worktree, command.session))

    def require(self, *, fresh: bool) -> None:
        """Refuses where those that have it stay, or cannot be given up; changes nothing."""
        for entry in self._active:
            state = self._wired.store.load(entry.ulid)
            if not fresh:
                now = self._wired.world.now()
                raise already_active(state, now, self._again, remedies.next_step(workflow=state.ulid))
            self._wired.preview(state, _GIVE_UP)
        self._require_allowed()
        if self._card.shares != "id" and not fresh:
            self._offer_the_last()

    def make(self, command: cmd.Start) -> cmd.Start:
        for entry in self._active:
            self._wired.execute(entry.ulid, _GIVE_UP)
            self.given_up += (f"the previous run {entry.id} was cancelled",)
        return command if self._card.shares == "id" else self._free_id(command)

    def _require_allowed(self) -> None:
        """Refuses an agent that would give itself the tries, the money or the time that a person has not allowed."""
        last = self._last()
        before = self._active or ([last] if last is not None and last.status == "cancelled" else [])
        for entry in before:
            state = self._wired.store.load(entry.ulid)
            if queries.is_a_persons_turn(state, self._wired.world.now()):
                which = f"start over, since {state.id} waits for a person's decision"
                self._wired.settings.require_person(which, self._again.given(fresh=True))

    def _last(self) -> Entry | None:
        """The newest of the runs that ended."""
        ended = [entry for entry in self._wired.store.entries() if not entry.active and self._is_same(entry)]
        return max(ended, key=lambda entry: entry.ulid, default=None)

    def _offer_the_last(self) -> None:
        """A run that was cancelled can be taken up again: a new one has to be asked for."""
        last = self._last()
        if last is not None and last.status == "cancelled":
            state = self._wired.store.load(last.ulid)
            again = self._again.given(fresh=True).replace(text="start over")
            if queries.is_a_persons_turn(state, self._wired.world.now()):
                again = again.replace(who="person")
            raise Refused(
                "resume_or_fresh",
                f"{last.id} was cancelled{in_session(last.session)} and can be resumed",
                remedy=(*queries.revival(state), again),
                facts={"workflow": last.id, "ulid": last.ulid, **_of(last.session)},
            )

    def _free_id(self, command: cmd.Start) -> cmd.Start:
        """Two starts within one second must not share an id: the later one takes the next second."""
        at = moment.to_epoch(self._wired.world.now())
        while any(entry.id == command.id for entry in self._wired.store.find(command.id)):
            at += 1
            identify = dialect(command.dialect).identify
            id = identify(self._definition, command.subject, command.context, moment.from_epoch(at))
            command = command.replace(id=id)
        return command


def _adopt_before(project: Project, name: str, asked: Asked) -> None:
    """A document of this id or feature that no journal knows is work under way: taken over, not written over."""
    from holdfast.systems.seam.adoption import adopt_on_first_use, set_aside

    if any(entry.id == name for entry in project.wired.store.active()):
        return
    project.set_aside = set_aside(project.wired, name) or project.set_aside
    same, place = subject_of(asked.definition.dialect).same, project.wired.place
    if adopt_on_first_use(project.wired, name, exactly=True) is None and same is not None:
        adopt_on_first_use(project.wired, "", about=lambda context: same(asked, lambda: context, place))


def _clear(project: Project, name: str) -> None:
    """The one place of a document must be free: a run that no journal knows is taken over, what is broken set aside."""
    from holdfast.systems.seam.adoption import adopt, quarantine
    from holdfast.systems.seam.found import orphaned

    for found in orphaned(project.wired, only=name):
        if found.wrong is not None and found.wrong.code == "document_broken":
            project.set_aside = quarantine(project.wired, found)
        else:
            adopt(project.wired, [os.path.join(project.wired.place.worktree, found.path)])


def _archive(project: Project, command: cmd.Start) -> None:
    """What a finished run left at the place of the new one is kept, so that people can see how it went."""
    wired, spoken = project.wired, dialect(command.dialect)
    over = [e for e in wired.store.entries() if not e.active and e.dialect == spoken.name]
    for entry in (e for e in over if e.worktree == command.worktree):
        state = wired.store.load(entry.ulid)
        if state.file:
            continue
        here = spoken.document.path(state)
        above, _, name = here.rpartition("/")
        file = f"{above}/archive/{state.id}/{name}"
        base = wired.place.base(state.worktree)
        os.makedirs(os.path.join(base, os.path.dirname(file)), exist_ok=True)
        where = spoken.checkpoints
        for number in (0, *(taken.number for taken in state.snapshots)):
            if where is None:
                break
            old, new = where(state, number), where(state.replace(file=file), number)
            if os.path.exists(os.path.join(base, old)):
                os.rename(os.path.join(base, old), os.path.join(base, new))
        wired.execute(state.ulid, cmd.Refile(file), wired.settings.actor)
