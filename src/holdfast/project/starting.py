"""Starting a workflow: what it is about is read, room is made for it, and what needs nobody is done at once."""

from __future__ import annotations

import os
from _collections_abc import Iterator, Mapping

from holdfast.core import commands as cmd
from holdfast.core import moment, queries, remedies
from holdfast.core.definition import Definition, fill
from holdfast.core.names import checked_text, is_name
from holdfast.core.remedy import Blank, Remedy
from holdfast.core.tasks import DESCRIPTION, FEATURE
from holdfast.engine.ports import Entry
from holdfast.errors import HoldfastError, Refused, UsageError
from holdfast.files.locks import Locked
from holdfast.machine import configuration
from holdfast.machine import place as places
from holdfast.plain import plainjson, ulid
from holdfast.project import loading, required
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.systems.gated import opening
from holdfast.systems.seam.registry import dialect
from holdfast.systems.story import project as stories
from holdfast.systems.story.adoption import planned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.core.state import State


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
    definition = _configured(definition, place.root)
    loaded = loading.load(definition, subject, context, place, phases)
    begun = loading.surroundings(loaded, place, branch, wired.world.own(place.key()))
    spoken = dialect(definition.dialect)
    command = cmd.Start(
        definition=loaded.definition,
        ulid=ulid.new(),
        id=spoken.identify(definition, loaded.subject, loaded.context, wired.world.now()),
        subject=loaded.subject,
        title=title or loaded.title or fill(definition.title, loaded.subject, loaded.context),
        context=loaded.context,
        branch=begun.branch,
        worktree=place.key(),
        session=_session(project, session) if spoken.folder else session,
        head=begun.head,
        dirt=begun.dirt,
        finished=loaded.finished,
        reading=required.entries(reading, place),
        reminders=reminders,
        begun=loaded.begun,
        supervision=loaded.supervision,
    )
    places.prepare(place, insist=wired.settings.allow_unsafe_fs)
    project.heal()
    if spoken.single:
        _clear(project, spoken.name)
    else:
        _adopt_before(project, command.id)
    with Locked(place.starting, wired.settings.lock_wait):
        room = _Room(project, command, by_subject=spoken.by_subject)
        if not room.is_taken_by(key):
            command = room.make(fresh=fresh)
            if spoken.single:
                _archive(project, command)
            if definition.loads == "plan":
                command = _founded(project, command)
            if definition.loads == DESCRIPTION:
                command = opening.opened(place, command, wired.world.now())
        outcome = wired.engine.start(command, wired.settings.actor, key=key)
    state = wired.reconciler.settle(outcome)
    if spoken.folder:
        os.makedirs(os.path.join(place.base(state.worktree), spoken.folder(state)), exist_ok=True)
    workflow = Workflow(wired, state).ahead()
    if spoken.workspace:
        from holdfast.systems.gated import workspace

        workflow.said += workspace.settle(wired, None, state)
    return workflow


def _configured(definition: Definition, root: str) -> Definition:
    """What the project's settings ask of every workflow holds beside what its definition asks."""
    asked = configuration.resuming(root)
    return definition.replace(
        keep_going=definition.keep_going or asked.keep_going, require_ack=definition.require_ack or asked.require_ack
    )


def find(project: Project, definition: Definition, subject: str, context: Mapping[str, Any]) -> Entry | None:
    """The active workflow that a start with these words would go on with: of the same id, subject, feature, folder."""
    wired = project.wired
    about = loading.identity(definition, subject, context, wired.place)
    spoken = dialect(definition.dialect)
    name = spoken.identify(definition, about, context, wired.world.now())
    _adopt_before(project, name, about if definition.loads == FEATURE else "")
    here = [e for e in wired.store.active() if e.type == definition.name and e.worktree == wired.place.key()]
    if spoken.by_subject:
        same = [entry for entry in here if entry.subject == about]
    else:
        same = [entry for entry in here if entry.id == name]
    if not same and definition.loads == FEATURE and about:
        same = [entry for entry in here if loading.concerns(wired.store.load(entry.ulid).context, about)]
    return max(same, key=lambda entry: entry.updated_at, default=None)


def already_active(state: State, again: Remedy | None = None) -> Refused:
    stuck = queries.status(state) in ("failed", "escalated")
    start = again or remedies.start(Blank("…"))
    text = "go on with it"
    go_on = remedies.resume(workflow=state.ulid, text=text) if stuck else start.given(resume=True).replace(text=text)
    return Refused(
        "already_active",
        f"{state.id} is already active" + (", and has failed" if stuck else ""),
        remedy=(go_on, start.given(fresh=True).replace(text="give it up")),
        facts={"workflow": state.id, "ulid": state.ulid, "status": queries.status(state)},
    )


class _Room:
    """What stands in the way of a new workflow: one of the same id, or of the same work where ids carry the time."""

    def __init__(self, project: Project, command: cmd.Start, *, by_subject: bool) -> None:
        self._wired = project.wired
        self._command = command
        self._by_subject = by_subject
        self._active = [entry for entry in self._wired.store.active() if self._is_same(entry)]

    def _is_same(self, entry: Entry) -> bool:
        command = self._command
        if entry.worktree != command.worktree:
            return False
        if dialect(command.definition.dialect).single:
            return entry.dialect == command.definition.dialect and (entry.active or entry.subject == command.subject)
        if not self._by_subject:
            return entry.id == command.id or self._concerns(entry)
        about = (entry.type, entry.subject, entry.session)
        if about != (command.definition.name, command.subject, command.session):
            return False
        if command.definition.loads != "plan":
            return True
        other = self._wired.store.load(entry.ulid).context  # chapters of two acts may have the same number
        return other.get("act") == command.context.get("act")

    def _concerns(self, entry: Entry) -> bool:
        """Whether a workflow is at the same feature, under another name for it."""
        definition = self._command.definition
        if definition.loads != FEATURE or entry.type != definition.name:
            return False
        return loading.concerns(self._wired.store.load(entry.ulid).context, self._command.subject)

    def is_taken_by(self, key: str) -> bool:
        """Whether the same command has made it already: then it is the one that is meant."""
        return bool(key) and any(entry.key == key for entry in self._active)

    def make(self, *, fresh: bool) -> cmd.Start:
        for entry in self._active:
            if not fresh:
                raise already_active(self._wired.store.load(entry.ulid))
            cancel = cmd.Cancel("given up for a fresh start")
            outcome = self._wired.engine.execute(entry.ulid, cancel, self._wired.settings.actor)
            self._wired.reconciler.settle(outcome)
        if not self._by_subject:
            return self._command
        self._offer_the_last(fresh=fresh)
        return self._free_id()

    def _offer_the_last(self, *, fresh: bool) -> None:
        """A run that was cancelled can be taken up again: whoever wants a new one says so."""
        ended = [entry for entry in self._wired.store.entries() if not entry.active and self._is_same(entry)]
        last = max(ended, key=lambda entry: entry.ulid, default=None)
        if last is not None and last.status == "cancelled" and not fresh:
            raise Refused(
                "resume_or_fresh",
                f"{last.id} was cancelled and can be resumed",
                remedy=(remedies.resume(workflow=last.ulid, text="go on with it"), "begin anew: the same with --fresh"),
                facts={"workflow": last.id, "ulid": last.ulid},
            )

    def _free_id(self) -> cmd.Start:
        """Two starts within one second must not share an id: the later one takes the next second."""
        command, at = self._command, moment.to_epoch(self._wired.world.now())
        while any(entry.id == command.id for entry in self._wired.store.find(command.id)):
            at += 1
            identify = dialect(command.definition.dialect).identify
            id = identify(command.definition, command.subject, command.context, moment.from_epoch(at))
            command = command.replace(id=id)
        return command


def _adopt_before(project: Project, name: str, about: str = "") -> None:
    """A document of this id or feature that no journal knows is work under way: taken over, not written over."""
    from holdfast.project.adopting import adopt_on_first_use, set_aside

    if any(entry.id == name for entry in project.wired.store.active()):
        return
    project.set_aside = set_aside(project, name) or project.set_aside
    if adopt_on_first_use(project, name, exactly=True) is None and about:
        adopt_on_first_use(project, "", about=lambda context: loading.concerns(context, about))


def _clear(project: Project, name: str) -> None:
    """The one place of a document must be free: a run that no journal knows is taken over, what is broken set aside."""
    from holdfast.project.adopting import adopt, quarantine
    from holdfast.project.orphans import orphaned

    for found in orphaned(project, only=name):
        if found.wrong is not None and found.wrong.code == "document_broken":
            project.set_aside = quarantine(project, found)
        else:
            adopt(project, [os.path.join(project.wired.place.worktree, found.path)])


def _archive(project: Project, command: cmd.Start) -> None:
    """What a finished run left at the place of the new one is kept, for whoever wants to know how it went."""
    wired, spoken = project.wired, dialect(command.definition.dialect)
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
        wired.reconciler.settle(wired.engine.execute(state.ulid, cmd.Refile(file), wired.settings.actor))


def _session(project: Project, named: str) -> str:
    """The session that is named, which there has to be; else the one in use."""
    from holdfast.systems.story.sessions import Sessions

    sessions = Sessions(project)
    return sessions.require(named) if named else sessions.active()


def _founded(project: Project, command: cmd.Start) -> cmd.Start:
    """A plan builds on the plan above it, which has to be approved."""
    wanted = stories.above(stories.planned(command.context))
    if wanted is None:
        return command
    plans = _plans(project, planned(wanted))
    found = [one for one in plans if one.session in ("", command.session) and stories.planned(one.context) == wanted]
    seals = [(state, project.wired.result_of(state)) for state in found]
    approved = [(state, seal) for state, seal in seals if seal]
    if approved:
        parent, seal = max(approved, key=lambda pair: pair[0].ulid)
        return command.replace(parent=parent.ulid, parent_seal=seal)
    running = next((state for state in found if queries.is_active(state)), None)
    raise Refused(
        "parent_not_approved",
        f"the plan of {planned(wanted)} is not approved, and {command.subject} builds on it",
        remedy=remedies.status(workflow=running.ulid) if running else remedies.start("story/planning", values=wanted),
        facts={"needed": planned(wanted), "running": running.id if running else None},
    )


def _plans(project: Project, subject: str) -> Iterator[State]:
    """Every plan of this, from the index while it has one that is approved, else from all journals."""
    store = project.wired.store
    listed = [entry.ulid for entry in store.entries() if entry.dialect == "story" and entry.subject == subject]
    for ulid_ in listed or list(store.ulids()):
        try:
            state = store.load(ulid_)
        except HoldfastError:
            continue
        if state.loads == "plan" and state.subject == subject:
            yield state
