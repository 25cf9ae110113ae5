"""What a check prints, while it runs and when it failed: on standard error, so that answers stay as they are."""

from __future__ import annotations

import os
import sys
from _collections_abc import Callable, Iterator
from contextlib import contextmanager

from holdfast.core import moment, remedies
from holdfast.core.state import Evidence
from holdfast.plain.terminal import escape
from holdfast.surfaces.cli.call import Call

LINES = 15
"""How many of the last lines are shown of a check that failed."""
_ERASE = "\r\x1b[K"


@contextmanager
def tail() -> Iterator[Callable[[str, float], None] | None]:
    """On a terminal, one line that is written over: how long it takes, and the last line that was printed."""
    if not sys.stderr.isatty():
        yield None
        return
    written = False

    def show(line: str, seconds: float) -> None:
        nonlocal written
        written = True
        width = (os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1
        sys.stderr.write(f"{_ERASE}{f'{moment.span(seconds)}  {escape(line)}'[:width]}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        if written:
            sys.stderr.write(_ERASE)
            sys.stderr.flush()


def show_failure(call: Call, name: str, evidence: Evidence) -> None:
    """The last lines of a check that Holdfast ran and that failed, and where the rest is."""
    if evidence.passed or not evidence.tail.strip() or call.args.json:
        return
    lines = evidence.tail.rstrip().split("\n")[-LINES:]
    rest = call.told((remedies.named("log", {"check": name}),))
    sys.stderr.write("".join(f"  {escape(line, lines=True)}\n" for line in lines) + f"  all of it: {rest}\n")
    sys.stderr.flush()
