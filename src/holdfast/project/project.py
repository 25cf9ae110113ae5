"""A project with its workflows, from Python: `holdfast.open(".")`."""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import queries, remedies
from holdfast.core.definition import Definition
from holdfast.core.lifecycle import CONVENTION
from holdfast.core.plan import parent
from holdfast.core.remedy import Blank, Scope, shell
from holdfast.core.state import ENGINE, REMOVED, Alert, State
from holdfast.core.value import Any
from holdfast.engine.ports import Entry
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.machine import place as places
from holdfast.machine import settings as settings_
from holdfast.machine.settings import Settings
from holdfast.project import wiring as bootstrap
from holdfast.project.turn import Turn
from holdfast.project.workflow import Workflow
from holdfast.systems.seam.registry import NAMES, asked_by, dialect, work
from holdfast.systems.seam.registry import subject as subject_of
from holdfast.systems.seam.wired import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.systems.seam.parts import Taken
    from holdfast.systems.story.sessions import Sessions


_MOST_NAMED = 8
"""How many of several workflows are named; the rest is counted."""


def open_project(path: str = ".", *, settings: Settings | None = None, one_request: bool = False) -> Project:
    """The project a path is in, found as git does. Nothing is written before the first change."""
    if settings is None:  # a program: no matter who runs it, no person reads what it decides
        settings = settings_.read(os.environ, terminal=False, surface="python")
    if not os.path.isdir(path):
        raise NotFound("no_folder", f"there is no folder {path!r}", remedy="name a folder that exists")
    return Project(bootstrap.wire(places.find(path), settings), one_request=one_request)


class Project:
    """One root. All its workflows are started and found through this.

    A surface makes one for each request and says so: then a workflow is looked at once.
    """

    def __init__(self, wired: Wired, *, one_request: bool = False) -> None:
        self._wired = wired
        self.turn = Turn(wired, lasts=one_request)
        self.set_aside = ""
        """Where a broken document went that was in the place of a start."""
        self.troubles = wired.troubles
        """What was wrong with workflows that were passed over because their journal cannot be read."""
        self._healed = False
        self._woken: set[str] = set()

    @property
    def wired(self) -> Wired:
        """What works together here; the systems are those of this project from now on."""
        self._wired.use_systems()
        return self._wired

    @property
    def root(self) -> str:
        return self.wired.place.root

    @property
    def sessions(self) -> Sessions:
        """The sessions of a writer's project: copies of files that are committed whole, or not at all."""
        from holdfast.systems.story.sessions import Sessions

        return Sessions(self.wired)

    def start(
        self,
        workflow: str | Definition | Mapping[str, Any],
        subject: str = "",
        *,
        title: str = "",
        context: Mapping[str, Any] | None = None,
        session: str = "",
        key: str = "",
        fresh: bool = False,
        branch: str = "",
        phases: Sequence[str] = (),
        reading: Sequence[str] = (),
        reminders: Sequence[str] = (),
    ) -> Workflow:
        """Starts a workflow by the name of its definition, or from one given as values.

        One that is active with the same id is refused, unless `fresh` gives it up first. The same `key` again returns
        the workflow that it started. `branch` is where the work goes, if not where the definition would put it.
        `phases` are the phases where the definition leaves them open; `reading` are files that an agent has to
        read which takes the work up, and `reminders` what it has to keep in mind.
        """
        from holdfast.project import starting

        return starting.start(
            self,
            self.definition(workflow),
            subject,
            dict(context or {}),
            title=title,
            session=session,
            key=key,
            fresh=fresh,
            branch=branch,
            phases=tuple(phases),
            reading=tuple(reading),
            reminders=tuple(reminders),
        )

    def find(
        self, workflow: str, subject: str = "", context: Mapping[str, Any] | None = None, session: str = ""
    ) -> Workflow | None:
        """The active workflow that a start with these words would continue with, by the rule of starts."""
        from holdfast.project import starting

        self.heal()
        entry = starting.find(self, self.definition(workflow), subject, context or {}, session)
        return self._known(entry.ulid) if entry else None

    def reread(self, workflow: Workflow) -> Taken:
        """Applies what somebody changed in the subject since, but for what takes a gate away: see `loosen`."""
        taken = subject_of(workflow.state.dialect).changes(workflow.state, self.wired.place)
        for path, step in taken.changed:
            workflow.change_step(path, step)
        for above, step in taken.added:
            workflow.add_step(step, above)
        if taken.values:
            workflow.record(taken.values)
        for _, _, why in taken.loosened:
            self._ask_person(workflow, f"{why}: a person decides, with holdfast resume")
        return taken

    def take_up(self, workflow: Workflow) -> Workflow:
        """The same for somebody who takes the work up again: its resume packet tells what came of it."""
        if workflow.state.loads:
            from holdfast.project import resuming

            resuming.take_up(self, workflow)
        return workflow

    def _ask_person(self, workflow: Workflow, said: str) -> None:
        """Keeps among the alerts, once, what only a person may apply."""
        from holdfast.core import record

        is_known = any(alert.message == said for alert in record.alerts(workflow.state))
        if self.wired.settings.actor.kind != "human" and not is_known:
            workflow.execute(cmd.Alarm(Alert(self.wired.world.now(), record.LOOSENING, said)))

    def loosen(self, workflow: Workflow, taken: Taken) -> None:
        """Applies what takes a gate away, and keeps what was removed: only a person may."""
        from holdfast.core import record

        for path, step, why in taken.loosened:
            if step is not None:
                workflow.change_step(path, step)
                continue
            workflow.retire_step(path)
            home = parent(path)
            before: Any = workflow.state.step(home).data.get(REMOVED, [])
            workflow.execute(cmd.Record({REMOVED: [*before, {"step": path, "reason": why}]}, home))
        if any(alert.code == record.LOOSENING for alert in record.alerts(workflow.state)):
            said = "; ".join(why for *_, why in taken.loosened)
            workflow.execute(cmd.Alarm(Alert(self.wired.world.now(), record.LOOSENED, f"applied by a person: {said}")))

    def latest(self, *, finished: bool = False) -> Workflow:
        """The workflow to continue with when none is named: of this branch first, then the one last worked on.

        With `finished`, the last one that ended, where none is active any more.
        """
        try:
            return self.workflow()
        except UsageError as several:
            if several.code != "ambiguous_workflow":
                raise
            candidates = self.wired.candidates()
        except NotFound:
            entries = self.wired.store.entries() if finished else []
            if not entries:
                raise
            place = self.wired.place
            here = [entry for entry in entries if entry.worktree == place.key()]
            candidates = [entry for entry in here if entry.branch == place.branch()] or here or entries
        return self._known(max(candidates, key=lambda entry: entry.updated_at).ulid)

    def definition(self, workflow: str | Definition | Mapping[str, Any]) -> Definition:
        """A definition by name, or the checked form of one given as values."""
        if isinstance(workflow, Definition):
            from holdfast.core.mistakes import check_steps

            check_steps(workflow.steps)
            return workflow
        if isinstance(workflow, Mapping):
            from holdfast.core.reading import read
            from holdfast.systems.seam.registry import words

            return read(workflow, words=words())
        return self.wired.definition(workflow)

    def workflow(self, word: str = "") -> Workflow:
        """A workflow by its id, its ULID or the beginning of either; without one, the only active one here."""
        self.heal()
        try:
            return self._known(word)
        except NotFound as unknown:
            return self._adopted(word, unknown)

    def _known(self, word: str) -> Workflow:
        entry = self._named(word) if word else self._only()
        if entry.active:
            self._tell_where(entry)
        state = self.turn.look(entry.ulid) if entry.active else self._ended(entry)
        return Workflow(self.wired, self._dated(state), self.turn)

    def _ended(self, entry: Entry) -> State:
        """A workflow that has ended, unless its document came back."""
        from holdfast.systems.seam.returned import reopened

        return reopened(self.wired, entry) or self.wired.store.load(entry.ulid)

    def _dated(self, state: State) -> State:
        """Marks a workflow whose parent's result has changed, so that its document says so too."""
        if not state.parent or state.outdated or state.cancelled or self.wired.store.read_only:
            return state
        if not queries.is_outdated(state, self.turn.facts(state)):
            return state
        return self.turn.execute(state, cmd.Outdate(), ENGINE).state

    def list(self, *, status: str = "", type: str = "", session: str = "") -> list[Workflow]:
        """The active workflows, then the finished ones, the newest first.

        `status` takes the engine's or the dialect's word, or `active` for all that are not finished; `type` the name of
        a definition, also behind that of its dialect.
        """
        from holdfast.systems.seam.found import told_gone, unreadable

        self.heal()
        _require_status(self, status)
        found = []
        store, is_open = self.wired.store, status == "active"
        entries = (*store.active(), *store.unpublished()) if is_open else store.entries()
        ended = [entry for entry in entries if not entry.active]
        for entry in (*(one for one in entries if one.active), *reversed(ended)):
            if type and type not in (entry.type, f"{entry.dialect}/{entry.type}"):
                continue
            if session and entry.session != session:
                continue
            if status and not (is_open or entry.active) and status not in _words(entry.dialect, entry.status):
                continue
            try:
                state = self.turn.look(entry.ulid) if entry.active else self.wired.store.load(entry.ulid)
            except (HoldfastError, OSError) as broken:
                self.troubles.append(f"{entry.id}: {broken}")
                continue
            if status in ("", "active") or status in _words(state.dialect, queries.status(state)):
                found.append(Workflow(self.wired, state, self.turn))
        self.troubles += [*(wrong.message for _, wrong in unreadable(self.wired)), *told_gone(self.wired)]
        return found

    def leftovers(self) -> Sequence[HoldfastError]:
        """What is still to be done about workflows that ended, each with the command that does it."""
        from holdfast.systems.seam.registry import upkeep

        ended = {entry.dialect for entry in self.wired.store.entries() if not entry.active}
        return [one for name in NAMES if name in ended for one in upkeep(name).leftovers(self.wired)]

    def heal(self) -> None:
        """Once a process: finishes what a dead one left, and takes over what git brought. Only where it can write."""
        if self.wired.store.read_only:
            self._notice_inbox()
            return
        if not self._healed and os.path.isdir(self.wired.place.home):
            self._healed = True
            self.wired.reconciler.heal()
            if any(name.startswith("inbox") for name in os.listdir(self.wired.place.home)):
                from holdfast.project.inbox import fold

                # With handles of its own: a lock that is not given there must not spoil the look at a journal here.
                apart = Project(bootstrap.wire(self.wired.place, self.wired.settings))
                fold(apart)
                self.wired.reconciler.hear(apart.wired.reconciler)
        woken = asked_by("wakes", os.path.isdir, self.root, self.wired.place.worktree)
        ended = [entry.dialect for entry in self.wired.store.unpublished()]  # their folders may be gone with their end
        for name in dict.fromkeys((*woken, *ended)):
            if name not in self._woken:
                self._woken.add(name)
                self.troubles += work(name).arrived(self.wired)

    def _notice_inbox(self) -> None:
        if not self._healed and os.path.lexists(os.path.join(self.wired.place.home, "inbox")):
            self._healed = True
            said = "what hooks noted since is not counted: nothing can be written here"
            self.wired.noticed.append(Alert(self.wired.world.now(), "not_decided", said))

    def _named(self, word: str) -> Entry:
        found = [entry for entry in self.wired.store.active() if word in (entry.id, entry.ulid)]
        found = found or self.wired.store.find(word)
        exact = [entry for entry in found if word in (entry.id, entry.ulid)]
        here = [entry for entry in exact if entry.active and entry.worktree == self.wired.place.key()]
        active = [entry for entry in exact if entry.active]
        beginning = [entry for entry in found if entry.active]  # a finished one is named by its whole id
        for candidates in (here, active, exact[-1:], beginning, found):
            if len(candidates) == 1:
                return candidates[0]
            if candidates:
                break
        if not found:
            raise NotFound(
                "no_workflow",
                f"there is no workflow {word[:80]!r} here",
                remedy=remedies.listing(True),
                facts={"workflow": word[:200], "root": self.root},
            )
        raise _ambiguous(f"{word[:80]!r} could be", candidates)

    def _adopted(self, word: str, unknown: NotFound) -> Workflow:
        """A document without a journal is adopted on first use; when it is not clear which, the error names them."""
        from holdfast.systems.seam.adoption import adopt_on_first_use, adoptable, orphans
        from holdfast.systems.seam.found import unreadable

        refusal = self.wired.store.read_only
        if refusal:
            unknown.facts["documents"] = documents = orphans(self.wired)
            if documents:
                unknown.message += f"; {documents[0]} has no journal, and gets none: {refusal.message}"
                unknown.remedies = refusal.remedies
            raise unknown
        found = adopt_on_first_use(self.wired, word)
        if found is not None:
            return Workflow(self.wired, found)
        for _, wrong in unreadable(self.wired):
            raise wrong  # it may be the one that is asked for
        documents = adoptable(self.wired)
        if documents:
            from holdfast.systems.seam.found import told_gone

            lost = told_gone(self.wired)
            adopt = remedies.adopt(text="adopt the documents that are here")
            unknown.remedies = (remedies.doctor(),) if lost else (adopt,)
            unknown.facts["documents"] = documents
            raise unknown
        if next(self.wired.store.every(), None):
            with self.wired.store.exclusively("starting"):
                pass  # another process may just be adopting it: once that is over, the index says so
        try:
            return self._known(word)
        except NotFound as still:
            raise self._on_branch(word, still) from None

    def _on_branch(self, word: str, unknown: NotFound) -> NotFound:
        """A workflow that nobody looked at here yet is on its own branch, if that is there."""
        from holdfast.git.changes import has_branch
        from holdfast.systems.seam.registry import upkeep

        repository = self.wired.place.repository
        for name in NAMES if word and repository else ():
            branch = upkeep(name).branch(word)
            if branch and repository and branch != git.branch(repository) and has_branch(repository, branch):
                unknown.message += f", and {branch} is not checked out"
                unknown.remedies = (shell("git", "switch", branch, text="look there"), *unknown.remedies)
                unknown.facts["branch"] = branch
        return unknown

    def scope(self, word: str = "") -> Scope:
        """What commands that are typed here have to say, for remedies about the workflow that a word names."""
        try:
            about = self._named(word).ulid if word else ""
        except (NotFound, UsageError):
            about = ""
        return self.wired.scope(about)

    def _tell_where(self, entry: Entry) -> None:
        """Says that a workflow is of another worktree: paths are read, and work is judged, there."""
        place = self.wired.place
        if entry.worktree != place.key() and place.made_for not in (entry.id, entry.ulid):
            self._tell_once(f"{entry.id} is of another worktree: this acts in {place.base(entry.worktree)}")

    def _tell_once(self, said: str) -> None:
        if said not in self.wired.changes:
            self.wired.changes.append(said)

    def _only(self) -> Entry:
        candidates = self.wired.candidates()
        candidates = [one for one in candidates if one.ulid == self.wired.settings.run] or candidates
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            for entry in candidates:
                self.wired.store.load(entry.ulid)  # one that cannot be read may be the one that is meant
            raise _ambiguous("several workflows are active:", candidates)
        from holdfast.systems.seam.found import told_gone

        lost = told_gone(self.wired)
        said = ", and ".join(("no workflow is active here", *lost))
        left = self.leftovers()
        said = "; ".join((said, *(one.message for one in left)))
        ways = (remedies.start(Blank("WORKFLOW")), remedies.listing(True, text="name a finished one with -w"))
        looking = (*(way for one in left for way in one.remedies), *((remedies.doctor(),) if lost else ()))
        raise NotFound("no_workflow", said, remedy=(*looking, *ways), facts={"root": self.root})


def _words(name: str, status: str) -> tuple[str, ...]:
    """What a status may be asked for as: the engine's word, the dialect's, and the one agents use."""
    return status, dialect(name).status_words.get(status, status), CONVENTION.get(status, status)


def _require_status(project: Project, status: str) -> None:
    """Refuses a word that is no workflow's status."""
    if status in ("", "active", *queries.STATUSES):
        return
    dialects = dict.fromkeys((*NAMES, *(entry.dialect for entry in project.wired.store.entries())))
    words = [word for name in dialects for one in queries.STATUSES for word in _words(name, one)]
    if status not in words:
        known = ", ".join(("active", *queries.STATUSES))
        said = f"{status[:60]!r} is no status of a workflow; it is one of: {known}"
        raise UsageError("bad_status", said, remedy=remedies.listing(True), facts={"status": status[:200]})


def _ambiguous(beginning: str, candidates: Sequence[Entry]) -> UsageError:
    newest = sorted(candidates, key=lambda entry: entry.ulid, reverse=True)
    ids = [entry.id for entry in newest]
    words = [entry.ulid if ids.count(entry.id) > 1 else entry.id for entry in newest[:_MOST_NAMED]]
    names = [one if one == entry.id else f"{entry.id} ({one})" for one, entry in zip(words, newest, strict=False)]
    more = len(newest) - len(names)
    listed = ", ".join(names) + (f" and {more} more ({remedies.listing()})" if more else "")
    return UsageError(
        "ambiguous_workflow",
        f"{beginning} {listed}",
        remedy=f"name one of them: {' or '.join(words)}",
        facts={"candidates": [{"id": entry.id, "ulid": entry.ulid, "subject": entry.subject} for entry in newest]},
    )
