"""Where the output of checks is kept: a folder for each workflow, a file for each check of a step."""

from __future__ import annotations

import os
from _collections_abc import Iterator
from contextlib import contextmanager

from holdfast.files.replace import write_private
from holdfast.machine.place import read_regular

_LARGEST = 8 << 20


def folder(home: str, ulid: str = "") -> str:
    return os.path.join(home, "checks", ulid)


def file(home: str, ulid: str, step: str, check: str) -> str:
    return os.path.join(folder(home, ulid), f"{step.replace('/', '+')}+{check}.log")


def read(path: str) -> str | None:
    """What the command printed when it ran last; None where nothing is kept."""
    data = read_regular(path, _LARGEST)
    return None if data is None else data.decode("utf-8", "replace")


@contextmanager
def added(path: str, title: str) -> Iterator[None]:
    """What is kept in a file stays before what the next command writes there, below a title of its own."""
    before = read(path)
    try:
        yield
    finally:
        after = read(path)
        if before is not None and after is not None:
            write_private(path, f"{before.rstrip()}\n\n{title}\n{after}".encode())


def left(home: str, known: set[str]) -> list[str]:
    """The folders of workflows that are not among those."""
    try:
        names = sorted(os.listdir(folder(home)))
    except OSError:
        return []
    return [folder(home, name) for name in names if name not in known]
