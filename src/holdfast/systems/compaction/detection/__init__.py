"""Workflows that agents keep notes of in a project's own files, without Holdfast having been told of them.

These files are prose which anybody may have written. So whatever cannot be read is left out and never an error, and
everything that leaves is short, free of control characters, and leads to no file outside the project.
"""

from __future__ import annotations

import os
import re

from holdfast.machine.place import below, read_regular
from holdfast.systems.compaction.detection import notes, plans
from holdfast.systems.compaction.detection.prose import UNSAFE, Sighting

__all__ = ["LARGEST", "Sighting", "detect"]

LARGEST = 1 << 20
_TWO_BYTES = (b"\xff\xfe", b"\xfe\xff")
"""How texts of editors for Windows may begin."""


def detect(base: str) -> list[Sighting]:
    """Every workflow that the notes and the plans below a folder speak of, whatever its status."""
    found = notes.noted(_text(base, notes.FILE))
    for folder in _plan_folders(base):
        source = f"{plans.FOLDER}/{folder}/PLAN.md"
        seen = plans.planned(folder, source, _text(base, source))
        found += [seen] if seen else []
    return found


def _text(base: str, path: str) -> str:
    """What a file below the folder says; nothing when it is too large, no text, no file or somewhere else."""
    try:
        full = below(base, path)
        data = (read_regular(full, LARGEST) or b"") if full else b""
        return data.decode("utf-16" if data[:2] in _TWO_BYTES else "utf-8-sig")
    except (OSError, ValueError):
        return ""


def _plan_folders(base: str) -> list[str]:
    try:
        folder = below(base, plans.FOLDER)
        names = os.listdir(folder) if folder else []
    except (OSError, ValueError):
        return []
    return sorted(name for name in names if not re.search(rf"{UNSAFE}|\t", name))
