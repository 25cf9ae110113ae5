"""The log of a workflow: one line for each thing that happened, for people who follow along with `tail`."""

from __future__ import annotations

import os

from holdfast.core.apply import Record
from holdfast.core.history import entry_of
from holdfast.core.moment import whole
from holdfast.engine.ports import Store
from holdfast.files.replace import hand_over, make_directories

_TAIL = 4096


def refresh(path: str, store: Store, ulid: str) -> None:
    """Adds what is not there yet. Called under the lock of the workflow's views.

    Lines are only ever added. The last one says up to which revision they reach, so nothing is written twice.
    """
    make_directories(os.path.dirname(path), 0o777)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    hand_over(fd, os.path.dirname(path))
    try:
        reached, torn = _reached(fd)
        new = [line for record in store.history(ulid, reached) for line in _lines(record)]
        if new:
            os.write(fd, ("\n" * torn + "".join(new)).encode())
    finally:
        os.close(fd)


def _reached(fd: int) -> tuple[int, bool]:
    """The revision of the last whole line, and whether a crash cut off the one after it."""
    size = os.fstat(fd).st_size
    tail = os.pread(fd, _TAIL, max(0, size - _TAIL))
    whole_lines, _, rest = tail.rpartition(b"\n")
    for line in reversed(whole_lines.split(b"\n")):
        _, mark, number = line.rpartition(b" #")
        if mark and number.isdigit():
            return int(number), bool(rest)
    return 0, bool(rest)


def _lines(record: Record) -> list[str]:
    found = []
    for event in record.events:
        entry = entry_of(event, record.at, record.actor)
        if entry is None or "entry" in entry:
            continue
        more = "".join(f" {name}={_plain(value)}" for name, value in entry.items() if name not in ("at", "event", "by"))
        found.append(f"{whole(record.at)} {entry['event']}{more} by={_plain(entry['by'])} #{record.revision}\n")
    return found


def _plain(value: object) -> str:
    text = "".join(c if c.isprintable() else " " for c in str(value))
    return f'"{text}"' if " " in text else text
