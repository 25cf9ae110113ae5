"""`status --watch` and `log --follow`: what is shown, again after each change, until there is nothing more to see."""

from __future__ import annotations

import os
import sys
from _collections_abc import Callable

from holdfast.core import queries
from holdfast.plain.terminal import write
from holdfast.project.project import open_project
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.cli.waiting import OVER, require_there
from holdfast.surfaces.notifying import Beside
from holdfast.surfaces.runs import Turns
from holdfast.surfaces.watching import Watcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.apply import Record

_CLEAR = "\x1b[H\x1b[2J"


def status(call: Call, show: Callable[[Call], None], nothing: Callable[[Call], None]) -> None:
    """The whole status after each change, also of the turn of an agent: of one workflow until it has ended, of several
    until none is active.
    """
    store = call.project.wired.store
    many = not call.named() and len(call.project.wired.candidates()) > 1
    if not many:
        call.pin()  # what is watched stays the same when others begin or end
    watcher = Watcher(lambda: store, *([] if many else [call.about]))
    beside = Beside(lambda: open_project(call.project.root, settings=call.settings), call.settings)
    draw = _drawn if call.is_shown and os.environ.get("TERM", "dumb") != "dumb" and not call.args.json else _below
    watcher.look()
    first, ended, resized = True, _Reader(call), _Size(call)
    turned = Turns(call.project.wired.place.home, "" if many else call.about, clock=draw is _drawn)
    try:
        with beside:
            while True:
                over = not store.active() if many else _is_over(call)
                draw(call, nothing if many and over else show, first=first)
                if over:
                    return
                watcher.wait(ended=lambda: ended() or resized() or turned())
                if ended():
                    return
                first = False
                call.look_again()
                if not many:
                    require_there(store, call.about)
    except KeyboardInterrupt:
        write("\n" if call.is_shown else "")


def log(call: Call, show: Callable[[list[Record], Record | None], None], shown: list[Record]) -> None:
    """The records after those that are shown, as they come, until the workflow has ended."""
    workflow, ended = call.workflow(), _Reader(call)
    store, ulid = call.project.wired.store, workflow.ulid
    watcher = Watcher(lambda: store, ulid)
    watcher.look()
    try:
        last = shown[-1] if shown else None
        show(shown, None)
        while True:
            state = workflow.refresh().state
            new = list(workflow.history(last.revision if last else call.args.after or 0, state.revision))
            if new:
                show(new, last)
                last = new[-1]
            sys.stdout.flush()
            if queries.status(state) in OVER:
                return
            watcher.wait(ended=ended)
            if ended():
                return
            require_there(store, ulid)
    except KeyboardInterrupt:
        write("\n" if call.is_shown else "")


def _is_over(call: Call) -> bool:
    return queries.status(call.workflow().state) in OVER


def _drawn(call: Call, show: Callable[[Call], None], *, first: bool) -> None:
    """In place of what the terminal shows."""
    write(_CLEAR)
    show(call)
    write(call.style.dim(f"\n{call.now()[11:19]} UTC, drawn again after each change (Ctrl-C ends it)") + "\n")
    sys.stdout.flush()


def _below(call: Call, show: Callable[[Call], None], *, first: bool) -> None:
    """One after the other, for a program or a file."""
    write("" if first or call.args.json else "\n")
    show(call)
    sys.stdout.flush()


class _Size:
    """Whether the terminal has another size than when this was asked last."""

    def __init__(self, call: Call) -> None:
        self._is_shown = call.is_shown
        self._seen = self._now()

    def _now(self) -> os.terminal_size | None:
        return os.get_terminal_size(sys.stdout.fileno()) if self._is_shown else None

    def __call__(self) -> bool:
        before, self._seen = self._seen, self._now()
        return before != self._seen


class _Reader:
    """Whether the one who reads is gone: the other end of a pipe is closed, or a person typed Ctrl-D."""

    def __init__(self, call: Call) -> None:
        import select

        self._ended = False
        self._polled = select.poll()
        if not call.is_shown:
            self._polled.register(sys.stdout.fileno(), 0)  # nothing but that it is closed
        self._types = call.is_shown and sys.stdin.isatty()
        if self._types:
            self._polled.register(sys.stdin.fileno(), select.POLLIN)

    def __call__(self) -> bool:
        for fd, _ in [] if self._ended else self._polled.poll(0):
            typed = self._types and fd == sys.stdin.fileno()
            if typed and os.tcgetpgrp(fd) != os.getpgrp():
                continue  # in the background, reading would stop the process
            self._ended = not (typed and os.read(fd, 4096))
        return self._ended
