"""Lines that others write to journals, noticed by looking at the files of the store again and again.

A look opens no journal. It costs some microseconds a workflow, and with very many of them the looks become rarer.
"""

from __future__ import annotations

import time
from _collections_abc import Callable, Iterator

from holdfast.engine.ports import Changes, Cursor, Store
from holdfast.errors import HoldfastError

EVERY = 0.25
"""Seconds between two looks."""
SHARE = 0.004
"""How much of a processor looking may take. A look at 1 000 workflows takes 2 ms: they are twice a second then."""


class Watcher:
    """What happened since the last look: to the active workflows, or only to those that are named, active or not.

    The caller decides where it runs: `look` and sleep `pause` seconds in a task, or iterate over it in a thread.
    A store that cannot be read is opened again at the next look, and what happened meanwhile is told then.
    """

    def __init__(self, opened: Callable[[], Store], *only: str) -> None:
        self._opened = opened
        self._only = only
        self._store: Store | None = None
        self._cursor: Cursor | None = None
        self._cost = 0.0

    @property
    def pause(self) -> float:
        """Seconds until the next look is due."""
        return max(EVERY, self._cost / SHARE)

    def look(self) -> Changes | None:
        """What changed since the last look, nothing at the first one; None while the store cannot be read."""
        began = time.thread_time()
        try:
            self._store = self._store or self._opened()
            changes = self._store.changes(self._cursor, self._only)
        except (HoldfastError, OSError):
            self._store = None
            return None
        finally:
            self._cost = time.thread_time() - began
        self._cursor = changes.cursor
        return changes

    def wait(self, until: float | None = None, ended: Callable[[], bool] = lambda: False) -> Changes | None:
        """The next changes; None at a moment of the monotonic clock, or when the caller has ended."""
        while not ended():
            changes = self.look()
            if changes is not None and changes.moved:
                return changes
            left = self.pause if until is None else min(self.pause, until - time.monotonic())
            if left <= 0:
                return None
            time.sleep(left)
        return None

    def __iter__(self) -> Iterator[Changes]:
        while changes := self.wait():
            yield changes
