"""Who sends: one process of a project at a time. What was sent is kept, so that another one does not send it again."""

from __future__ import annotations

import os
import time
from _collections_abc import Callable, Iterable
from contextlib import suppress

from holdfast.core.briefing import Briefing
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound
from holdfast.files.locks import FileLock
from holdfast.files.replace import durable_write
from holdfast.machine import notices as notices_
from holdfast.machine.notices import Notices
from holdfast.plain.plainjson import compact
from holdfast.project.project import Project
from holdfast.surfaces import runs
from holdfast.surfaces.notifying import news
from holdfast.surfaces.notifying.delivery import Message
from holdfast.surfaces.notifying.news import News
from holdfast.surfaces.watching import Watcher

LOCK = "notify.lock"
KEPT = 200
"""Workflows of which is kept what was sent."""
_TURN = 2.0
"""Seconds between two questions whether another process still sends."""

Send = Callable[[Message], None]


class Record:
    """What was sent, and how often sending failed in a row; a file that only the user can read."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, notices_.RECORD)
        found = notices_.kept(home)
        sent, failures = found.get("sent"), found.get("failures")
        self.sent: dict[str, list[str]] = {}
        for ulid, keys in sent.items() if isinstance(sent, dict) else ():
            if isinstance(keys, list):
                self.sent[str(ulid)] = [str(key) for key in keys]
        self.failures = failures if isinstance(failures, int) else 0
        self.rests_until, self.why = notices_.resting(home)

    def has(self, ulid: str, one: News) -> bool:
        return one.key in self.sent.get("" if one.of_project else ulid, ())

    def keep(self, ulid: str, current: Iterable[News], told: Iterable[News]) -> None:
        """Remembers what was told. What is over is forgotten, so that it is news when it happens again."""
        there = {one.key for one in current if not one.of_project}
        self.sent[ulid] = [key for key in self.sent.pop(ulid, ()) if key in there]
        for one in told:
            keys = self.sent.setdefault("" if one.of_project else ulid, [])
            keys += [one.key] if one.key not in keys else []
        while len(self.sent) > KEPT:
            del self.sent[next(iter(self.sent))]

    def save(self) -> None:
        said = {"sent": self.sent, "failures": self.failures, "rests_until": self.rests_until, "why": self.why}
        durable_write(self._path, compact(said).encode() + b"\n", alone=True)


class Sender:
    """What is to be told of each workflow, at most once in the quiet time: what happens in it is put together."""

    def __init__(
        self,
        project: Project,
        notices: Notices,
        send: Send,
        *,
        address: Callable[[str], str] = lambda _: "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._project, self._notices, self._send = project, notices, send
        self._address, self._clock = address, clock
        self._home = project.wired.place.home
        self._last: dict[str, float] = {}
        self._waiting: set[str] = set()

    def look(self, ulids: Iterable[str]) -> None:
        """Something happened to these workflows."""
        self._waiting |= set(ulids)
        self.flush()

    def due(self) -> float | None:
        """Seconds until there is something to tell again; None while nothing waits."""
        if not self._waiting:
            return None
        soonest = min(self._last.get(ulid, 0.0) for ulid in self._waiting) + self._notices.quiet
        return max(0.0, max(soonest, Record(self._home).rests_until) - self._clock())

    def flush(self) -> None:
        """Tells what is due now."""
        record, now = Record(self._home), self._clock()
        if now < record.rests_until:
            return
        for ulid in sorted(self._waiting):
            if now >= self._last.get(ulid, 0.0) + self._notices.quiet:
                self._waiting.discard(ulid)
                self._tell(ulid, record, now)
                if now < record.rests_until:
                    return

    def _tell(self, ulid: str, record: Record, now: float) -> None:
        try:
            brief = self._project.workflow(ulid).refresh().briefing()
        except (HoldfastError, OSError):
            return  # gone, or not to be read now: `doctor` says what is wrong
        current = news.of(brief, self._notices.on, runs.of(self._home, brief.state))
        fresh = [one for one in current if not record.has(ulid, one)]
        if fresh:
            try:
                self._send(_message(brief, self._project.root, fresh, self._address(ulid)))
            except HoldfastError as failure:
                self._failed(ulid, record, failure, now)
                return
            self._last[ulid] = now
        if fresh or len(record.sent.get(ulid, ())) != sum(not one.of_project for one in current):
            record.failures, record.why = 0, ""
            record.keep(ulid, current, fresh)
            record.save()

    def _failed(self, ulid: str, record: Record, failure: HoldfastError, now: float) -> None:
        self._waiting.add(ulid)
        self._last[ulid] = now
        record.failures, record.why = record.failures + 1, failure.message
        if record.failures >= notices_.FAILURES:
            record.failures, record.rests_until = 0, now + notices_.REST
        record.save()


def run(sender: Sender, project: Project, ended: Callable[[], bool]) -> None:
    """Sends until it has ended. Where another process sends, or nothing was started yet, it waits for its turn."""
    home = project.wired.place.home
    lock = FileLock(os.path.join(home, LOCK), 0)
    while not os.path.isdir(home) or not lock.take(or_leave=True):
        if _pauses(_TURN, ended):
            return
    try:
        watcher = Watcher(lambda: project.wired.store)
        watcher.look()
        sender.look(entry.ulid for entry in project.wired.store.active())
        while not ended():
            due = sender.due()
            changes = watcher.wait(None if due is None else time.monotonic() + due, ended)
            with suppress(NotFound):
                sender.look(changes.moved if changes else ())
    finally:
        lock.release()
        lock.close()


def _pauses(seconds: float, ended: Callable[[], bool]) -> bool:
    """Whether it ended within these seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if ended():
            return True
        time.sleep(0.1)
    return ended()


def _message(brief: Briefing, root: str, fresh: list[News], address: str) -> Message:
    told = "; ".join(dict.fromkeys(one.text for one in fresh))
    data: dict[str, Any] = {
        "version": 1,
        "project": root,
        "workflow_id": brief.state.id,
        "ulid": brief.state.ulid,
        "revision": brief.state.revision,
        "title": brief.title,
        "text": f"{brief.title}: {told}",
        "news": [{"kind": one.kind, "step": one.step, "text": one.text} for one in fresh],
    }
    return Message(brief.title, f"{told} {address}".rstrip(), {**data, **({"url": address} if address else {})})
