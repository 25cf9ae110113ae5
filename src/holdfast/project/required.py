"""Required reading: which of the files that a workflow names are there, and which must not be named to anybody."""

from __future__ import annotations

import os
from _collections_abc import Iterable, Sequence

from holdfast.core import refusals
from holdfast.core.packet_parts import Required
from holdfast.core.remedy import shell
from holdfast.errors import NotFound
from holdfast.machine.place import Place

__all__ = ["MISSING", "OUTSIDE", "THERE", "Required", "entries", "listed", "look"]

THERE, MISSING, OUTSIDE = "there", "missing", "outside"


def look(entries: Iterable[str], base: str) -> list[Required]:
    """How every entry stands. `base` is the top of the worktree; links that lead out of it are outside."""
    top = os.path.realpath(base)
    return [_one(entry, top) for entry in entries]


def entries(paths: Iterable[str], place: Place) -> tuple[str, ...]:
    """Entries for files that somebody names, from where they are: each has to be there, inside the project."""
    found = []
    for path in paths:
        inside = place.inside(path.removeprefix("@"))
        if not os.path.exists(os.path.join(place.worktree, inside)):
            raise NotFound(
                "no_file",
                f"there is no file {inside}",
                remedy=shell("ls", "-l", inside),
                facts={"path": inside},
            )
        found.append(f"@{inside}")
    return tuple(found)


def _one(entry: str, top: str) -> Required:
    path = entry.strip().removeprefix("@")
    if not path or not path.isprintable() or path.startswith("~"):
        return Required(entry, path, OUTSIDE)
    full = os.path.realpath(os.path.join(top, path))
    if full != top and not full.startswith(top + os.sep):
        return Required(entry, path, OUTSIDE)
    standing = THERE if os.path.exists(full) else MISSING
    return Required(entry, os.path.relpath(full, top) if os.path.isabs(path) else path, standing)


def listed(words: Sequence[str], known: Sequence[str], what: str) -> tuple[str, ...]:
    """The entries that words name, as they are or without their `@`; refuses one that is not there."""
    found = [next((entry for entry in known if entry in (word, f"@{word}")), "") for word in words]
    if "" in found:
        raise refusals.not_listed(words[found.index("")], what, known)
    return tuple(found)
