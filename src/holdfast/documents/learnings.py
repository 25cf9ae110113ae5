"""Learnings: one line of JSON each, added to a file that outlives every run."""

from __future__ import annotations

import os
from _collections_abc import Iterator

from holdfast.core import events as ev
from holdfast.core.state import Learning, State
from holdfast.core.value import Any, Value
from holdfast.documents.lens.spec import Dialect
from holdfast.engine.ports import Store
from holdfast.files import system
from holdfast.files.replace import hand_over, make_directories
from holdfast.machine.place import read_regular
from holdfast.plain.plainjson import object_in, spaced

_BLOCK = 64 << 10
LARGEST = 64 << 20


class Reached(Value):
    """How far a run's lines go: the last one's number in the run and its revision; and what no line end follows."""

    number: int = 0
    revision: int = 0
    rest: bytes = b""


def refresh(path: str, store: Store, spoken: Dialect, state: State) -> None:
    """Adds what is not there yet. Each line names its run and its number there, so nothing is written twice."""
    make_directories(os.path.dirname(path), 0o777)
    with store.exclusively("slots"):  # runs of several worktrees may share it
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        hand_over(fd, os.path.dirname(path))
        try:
            reached = _reached(fd, state.ulid)
            lines = _lines(store, spoken, state, reached) if reached.number < state.learnings_count else b""
            added = _after(reached.rest, lines)
            if added:
                while added:
                    added = added[os.write(fd, added) :]
                system.here.flush(fd)
        finally:
            os.close(fd)


def _lines(store: Store, spoken: Dialect, state: State, reached: Reached) -> bytes:
    assert spoken.learned is not None
    learned = _just_learned(state, reached) or _learned(store, state, reached)
    first = state.learnings_count - len(learned) + 1
    found = []
    for number, (revision, learning) in enumerate(learned, first):
        if number > reached.number:
            said = spoken.learned(state, learning)
            found.append(spaced({**said, "run": state.ulid, "revision": revision, "number": number}) + "\n")
    return "".join(found).encode()


def _learned(store: Store, state: State, reached: Reached) -> list[tuple[int, Learning]]:
    """What the journal has learned after the last line. One record may hold several."""
    return [
        (record.revision, event.learning)
        for record in store.history(state.ulid, max(0, reached.revision - 1), state.revision)
        for event in record.events
        if isinstance(event, ev.Learned)
    ]


def _just_learned(state: State, reached: Reached) -> list[tuple[int, Learning]]:
    """All that is missing, when the newest record brought it: then nobody need read a journal that may be long."""
    missing = state.learnings[reached.number - state.learnings_count :]
    whole = reached.number and len(missing) == state.learnings_count - reached.number
    return [(state.revision, one) for one in missing] if whole and missing[0].at == state.updated_at else []


def _after(rest: bytes, lines: bytes) -> bytes:
    """What to add when the file ends in the middle of a line: what is missing of it, else a line end first."""
    if rest and lines.startswith(rest):
        return lines[len(rest) :]
    return b"\n" + lines if rest and lines else lines


def _reached(fd: int, ulid: str) -> Reached:
    rest = None
    for line in _backwards(fd):
        rest = line if rest is None else rest
        said = (object_in(line) if ulid.encode() in line else None) or {}
        number, revision = said.get("number"), said.get("revision")
        if said.get("run") == ulid and isinstance(number, int) and isinstance(revision, int):
            return Reached(number, revision, rest)
    return Reached(rest=rest or b"")


def _backwards(fd: int) -> Iterator[bytes]:
    """The lines of a file from its end on; the first is what follows the last line end."""
    at, rest = os.fstat(fd).st_size, b""
    while at:
        size = min(_BLOCK, at)
        at -= size
        first, *whole = (os.pread(fd, size, at) + rest).split(b"\n")
        yield from reversed(whole)
        rest = first
    yield rest


def read(path: str) -> list[dict[str, Any]]:
    """Every learning in a file, oldest first; a line that is none is left out."""
    lines = (read_regular(path, LARGEST) or b"").splitlines()
    return [said for line in lines if (said := object_in(line)) is not None]
