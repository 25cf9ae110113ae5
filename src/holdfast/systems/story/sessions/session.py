"""A project's sessions: made, used, looked at, and ended."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import refusals, remedies
from holdfast.core.names import checked_text
from holdfast.core.remedy import Remedy, quoted, shell
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import Conflict, HoldfastError
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact
from holdfast.systems.story.sessions import changes as changes_
from holdfast.systems.story.sessions import ending, record, runs
from holdfast.systems.story.sessions.changes import Changes
from holdfast.systems.story.sessions.copies import Copies
from holdfast.systems.story.sessions.files import OWN, drop, put
from holdfast.systems.story.sessions.layout import LOCK, RECORD, SESSIONS, STATES, Layout, is_session_name
from holdfast.systems.story.sessions.record import Record

NO_WORKFLOWS = b'{\n  "workflows": []\n}\n'


class Sessions(Copies):
    """The sessions of one worktree. Files are named from its top, or by their full path.

    A session is ACTIVE while `workspace/session.lock` names it, else INACTIVE. It is CRASHED when the lock names it,
    the process that the lock names is gone, and a file that process was writing into the session is still unfinished.
    Nothing is broken then: the session is as it was before that write, and the next use or change takes over. A process
    that simply ended, as every command does, leaves the session ACTIVE. A commit or cancel that a dead process left
    unfinished is no status: every call finishes it first.
    """

    def create(self, name: str, description: str = "") -> dict[str, Any]:
        """A new session, which is not in use yet. A folder that only workflows have made becomes one."""
        layout = self._layout(name)
        if description:
            checked_text(description, "description")
        self._wired.engine.require_no_secret("name of the session", name)
        description = self._wired.engine.redacted(description)
        with self._changing():
            layout.require_solid("")
            if os.path.lexists(layout.copy_of(RECORD)):
                said = f"there already is a session {name!r}"
                raise Conflict("session_exists", said, remedy=remedies.session("use", name), facts={"session": name})
            index = layout.copy_of(f"{STATES}/index.json")
            if not os.path.lexists(index):
                put(layout.staged, index, NO_WORKFLOWS, OWN)
            ending.forget(self._wired, layout)
            made = Record(name, description, self._now(), self._user())
            self._save(layout, made)
        return self.status(name)

    def use(self, name: str) -> str:
        """Says which session is worked in from now on; an empty name leaves it. Gives the one before."""
        layout = self._layout(name) if name else None
        with self._changing():
            if layout:
                layout.require()
            before = self._active()
            if layout:
                layout.clear_staged()
                self._take_lock(name)
            else:
                drop(os.path.join(self._top, LOCK))
            for other in dict.fromkeys((before, name)):
                if other:
                    self._save_status(self._layout(other))
        return before

    def status(self, name: str) -> dict[str, Any]:
        """What `session.json` says, as the folder is now, with its workflows and conflicts."""
        layout = self._found(name)
        found = record.read(layout)
        changes = changes_.find(layout, found)
        states = runs.of(self._wired, layout)
        return {
            **self._shown(layout, found, changes),
            "workflows": [runs.summary(state) for state in states],
            "conflicts": [*changes.conflicts(), *runs.conflicts(self._wired, layout, states)],
        }

    def preview(self, name: str) -> dict[str, Any]:
        """What a commit would do: files, workflows, and every conflict. Nothing is changed."""
        layout = self._found(name)
        return self._preview(layout, *self._looked(layout, ending.free_archive(layout)))

    def seal(self, name: str) -> str:
        """A hash of what a commit would do with files, down to their content."""
        layout = self._found(name)
        return _seal(layout, changes_.find(layout, record.read(layout), ending.free_archive(layout)))

    def has_ended(self, name: str) -> bool:
        """Whether the session of this name was committed, and none was made with the name since."""
        return self._ended(name, ending.COMMIT) is not None

    def commit(self, name: str, *, force: bool = False, seal: str = "") -> dict[str, Any]:
        """Without `force` the preview. With it the session becomes the project, whole, or is refused, whole.

        With a `seal`, only if the files are as they were when it was made.
        """
        if not force:
            return self.preview(name)
        from holdfast.systems.seam.adoption import adopt

        known = self._ended(name, ending.COMMIT)
        if known is not None:
            return {**known, "committed": True, "already": True}
        layout = self._found(name)
        with self._changing():
            layout.require()
            orphans = self._orphans(layout)
            if orphans:
                adopt(self._wired, orphans)
            runs.settled(self._wired, runs.of(self._wired, layout))
            archive = ending.free_archive(layout)
            changes, states = self._looked(layout, archive)
            said = self._preview(layout, changes, states)
            if seal and _seal(layout, changes) != seal:
                raise refusals.changed_meanwhile(f"the session {name}")
            if said["conflicts"]:
                raise _conflict(layout, changes, said["conflicts"])
            ending.commit(self._wired, layout, changes, states, archive, said)
        return {**said, "committed": True}

    def cancel(self, name: str) -> None:
        """Deletes a session with its states, artifacts, logs and journals. The project stays as it is."""
        if self._ended(name, ending.CANCEL) is not None:
            return
        layout = self._found(name)
        with self._changing():
            layout.require()
            ending.cancel(self._wired, layout)

    def _ended(self, name: str, kind: str) -> Mapping[str, Any] | None:
        self.recover()
        return ending.answer(self._wired, self._layout(name), kind)

    def _looked(self, layout: Layout, archive: str) -> tuple[Changes, list[State]]:
        return changes_.find(layout, record.read(layout), archive), runs.of(self._wired, layout)

    def _preview(self, layout: Layout, changes: Changes, states: list[State]) -> dict[str, Any]:
        workflows = [runs.summary(state) for state in states]
        workflows += [{"workflow_id": os.path.basename(path)[:-5], "ulid": ""} for path in self._orphans(layout)]
        return {
            "session": layout.name,
            "committed": False,
            **changes.named(),
            "artifacts": changes.targets(changes_.ARTIFACT),
            "retries": changes.targets(changes_.RETRY),
            "workflows": workflows,
            "conflicts": [*changes.conflicts(), *runs.conflicts(self._wired, layout, states)],
        }

    def _orphans(self, layout: Layout) -> list[str]:
        """Documents in the session that no journal knows: a commit adopts them first."""
        from holdfast.systems.seam.adoption import orphans

        return [path for path in orphans(self._wired) if path.startswith(f"{layout.folder}/")]

    def _brief(self, layout: Layout) -> dict[str, Any]:
        try:
            layout.require()
            found = record.read(layout)
            return self._shown(layout, found, changes_.find(layout, found))
        except HoldfastError as wrong:
            return {"name": layout.name, "status": self._status(layout), "error": wrong.message}

    def list(self) -> list[dict[str, Any]]:
        """Every session by name, as its `session.json` is now. One that cannot be read has an `error`."""
        self.recover()
        try:
            names = sorted(filter(is_session_name, os.listdir(os.path.join(self._top, SESSIONS))))
        except FileNotFoundError:
            return []
        return [self._brief(layout) for name in names if (layout := self._layout(name)).exists()]


def _seal(layout: Layout, changes: Changes) -> str:
    return digest(compact([layout.name, [change.items() for change in changes.all]]).encode())


def settling(layout: Layout, changes: Changes, conflicts: list[dict[str, str]]) -> tuple[Remedy | str, ...]:
    """What settles conflicts: of copies, which side wins; what cannot be committed at all is moved or removed."""
    theirs = {change.target for change in changes.all if change.is_contested}
    made = (changes_.ARTIFACT, changes_.RETRY)
    unfit = [c.source for c in changes.all if c.conflict and c.kind not in made and not c.is_contested]
    twice = [one["workflow_id"] for one in conflicts if one["reason"] == runs.ACTIVE_TOO]
    paths = [conflict["path"] for conflict in conflicts if conflict["reason"] != runs.ACTIVE_TOO]
    ways: list[Remedy | str] = []
    if both := [path for path in paths if path in theirs]:
        path = both[0] if len(both) == 1 else remedies.PATH
        copy = f"{layout.folder}/{path if isinstance(path, str) else path.shown}"
        ways += [
            Remedy(text=f"put both together in {quoted(copy)}"),
            remedies.session_file("keep", path, layout.name, text="then"),
            remedies.session_file("drop", path, layout.name, text="take the project's"),
        ]
    if unfit:
        ways.append(shell("rm", f"{layout.folder}/{unfit[0]}", text="remove it from the session"))
    if there := [path for path in paths if path not in theirs and path not in unfit]:
        ways.append(f"move {there[0]} to another place")
    if twice:
        ways.append(remedies.cancel(workflow=twice[0], text="give up the run outside of the session"))
    return tuple(ways)


def _conflict(layout: Layout, changes: Changes, conflicts: list[dict[str, str]]) -> Conflict:
    paths = ", ".join(conflict["path"] for conflict in conflicts[:8])
    said = f"changed in the project too, or not to be committed from {layout.name}: {paths}"
    facts = {"session": layout.name, "conflicts": conflicts}
    return Conflict("session_conflict", said, remedy=settling(layout, changes, conflicts), facts=facts)
