"""What is seen of a workflow in a file that speaks of it."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_READING = 50


class Sighting(Value):
    """One workflow that a file speaks of: which, how far it is, and what to read and remember when going on."""

    source: str
    workflow: str
    type: str
    current: int
    total: int
    phase: str
    names: tuple[str, ...]
    status: str = "in_progress"
    reading: tuple[str, ...] = ()
    context: Mapping[str, Any] = {}
    reminders: tuple[str, ...] = ()
