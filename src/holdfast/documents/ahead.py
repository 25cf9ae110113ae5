"""A second thread that makes a document while the first one waits for the disk. One for the whole process."""

from __future__ import annotations

import os
from _queue import SimpleQueue
from _thread import allocate_lock, start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable

    from holdfast.core.state import State


class Ahead:
    """What is being made of a state."""

    def __init__(self, state: State, make: Callable[[], tuple[bytes, str]]) -> None:
        """The thread runs as soon as this one waits for something."""
        global _queue, _process
        self.state = state
        self._make = make
        self._made: tuple[bytes, str] = (b"", "")
        self._failure: Exception | None = None
        self._ready = allocate_lock()
        self._ready.acquire()
        if _process != os.getpid():  # in a fork, the thread of the parent is not there
            _queue, _process = SimpleQueue(), os.getpid()
            start_new_thread(_work, (_queue,))
        _queue.put(self)

    def work(self) -> None:
        try:
            self._made = self._make()
        except Exception as failure:  # noqa: BLE001 told to the thread that asked
            self._failure = failure
        self._ready.release()

    def made(self) -> tuple[bytes, str]:
        """Asked once."""
        self._ready.acquire()
        if self._failure:
            raise self._failure
        return self._made


def _work(queue: SimpleQueue[Ahead]) -> None:
    while True:
        queue.get().work()


_queue: SimpleQueue[Ahead]
_process = 0
