"""Files that an editor or the system leaves beside others: they are nobody's work."""

from __future__ import annotations

_NAMES = (".DS_Store", "Thumbs.db")


def is_leftover(name: str) -> bool:
    """Whether an editor or the system put it there, while somebody looks at a file."""
    swap = name.startswith(".") and name[-4:-1] == ".sw"
    return swap or name.endswith("~") or name.startswith((".#", "#")) or name in _NAMES
