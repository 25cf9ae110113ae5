"""What was learned in runs whose system keeps no file of it: their journals have it."""

from __future__ import annotations

from contextlib import suppress

from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.systems.seam.registry import dialect
from holdfast.systems.seam.wired import Wired

MOST = 200
"""How many of the newest workflows are looked at."""


def in_journals(wired: Wired) -> list[dict[str, Any]]:
    """As the lines of such a file are, the oldest first."""
    found: list[dict[str, Any]] = []
    for entry in wired.store.entries()[-MOST:]:
        with suppress(HoldfastError, OSError):  # what is wrong with it is told elsewhere
            if dialect(entry.dialect).learned is not None:
                continue
            for one in wired.store.load(entry.ulid).learnings:
                said = {name: getattr(one, name) for name in ("type", "lesson", "pattern", "context")}
                found.append({"timestamp": one.at, **said, "task": one.step, "run": entry.ulid})
    return sorted(found, key=lambda one: str(one["timestamp"]))
