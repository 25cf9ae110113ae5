"""What every call on sessions needs: the lock, the records, and the status they show."""

from __future__ import annotations

import os
from _collections_abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from holdfast.core import remedies
from holdfast.core.moment import whole
from holdfast.core.remedy import Blank
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound
from holdfast.systems.seam.wired import Wired
from holdfast.systems.story.sessions import changes as changes_
from holdfast.systems.story.sessions import ending, record
from holdfast.systems.story.sessions.changes import Changes
from holdfast.systems.story.sessions.layout import Layout, checked_name
from holdfast.systems.story.sessions.record import ACTIVE, CRASHED, INACTIVE, Lock, Record


class Desk:
    """One worktree's sessions, without what can be done with them."""

    def __init__(self, wired: Wired) -> None:
        self._wired = wired
        self._top = wired.place.worktree

    def recover(self) -> list[str]:
        """Finishes commits and cancels of dead processes; the sessions that ended by it. Cheap when there are none."""
        if not ending.pending(self._wired):
            return []
        with self._lock():
            return ending.finish(self._wired)

    def require(self, name: str) -> str:
        """The name, if there is a session that has it."""
        self._found(name)
        return name

    def active(self) -> str:
        """The session in use; empty when there is none, or its folder is gone."""
        self.recover()
        return self._active()

    def named(self, name: str = "") -> str:
        """The session that is named, else the one in use, which there has to be."""
        found = name or self.active()
        if not found:
            raise NotFound("no_session", "no session is in use", remedy=remedies.session("use", Blank("NAME")))
        return found

    def _layout(self, name: str) -> Layout:
        return Layout(self._wired.place, checked_name(name), self._wired.place.key())

    def _found(self, name: str) -> Layout:
        layout = self._layout(name)
        self.recover()
        layout.require()
        return layout

    def _lock(self) -> AbstractContextManager[object]:
        return self._wired.store.exclusively("sessions")

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Holds the lock of all sessions; what a dead process left is finished before anything else."""
        self._wired.prepare("story")
        with self._lock():
            ending.finish(self._wired)
            yield

    def _active(self) -> str:
        name = record.read_lock(self._top).active
        return name if name and self._layout(name).exists() else ""

    def _touch(self, layout: Layout) -> None:
        """The lock of the session in use names the process that works in it now, in place of the one before."""
        lock = record.read_lock(self._top)
        if lock.active == layout.name and lock.pid != os.getpid():
            layout.clear_staged()
            self._take_lock(layout.name)

    def _take_lock(self, name: str) -> None:
        record.write_lock(self._top, Lock(name, self._now(), os.getpid(), self._user()))

    def _save(self, layout: Layout, found: Record) -> Record:
        record.write(layout, self._shown(layout, found, changes_.find(layout, found)))
        return found

    def _save_status(self, layout: Layout) -> None:
        try:
            self._save(layout, record.read(layout))
        except HoldfastError:
            pass  # the lock decides, and a record that cannot be read is reported when it is needed

    def _shown(self, layout: Layout, found: Record, changes: Changes) -> dict[str, Any]:
        return record.shown(found, self._status(layout), changes.named(), changes.stats(len(found.retries)))

    def _status(self, layout: Layout) -> str:
        lock = record.read_lock(self._top)
        if lock.active != layout.name:
            return INACTIVE
        return CRASHED if layout.has_staged() and not record.is_alive(lock.pid) else ACTIVE

    def _now(self) -> str:
        return whole(self._wired.world.now())

    def _user(self) -> str:
        return record.user_of(self._wired.settings.actor.name)
