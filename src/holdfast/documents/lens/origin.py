"""Which document somebody began to edit."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.documents.lens.changes import new_entries
from holdfast.documents.lens.mapping import at
from holdfast.documents.lens.spec import Document


def nearest(
    document: Document, rendered: list[Mapping[str, Any]], taken: list[Mapping[str, Any]], edited: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The rendering that an edit began from: one with its stamp, whose history it has, and most like it.

    A slow editor may be behind; the history, which only Holdfast writes, tells how far. Somebody who edits again and
    again never sees a rendering in between: where it has the history of none, it began from an edit that was `taken`.
    """
    said = at(edited, document.stamp) if document.stamp else None

    def gone(one: Mapping[str, Any]) -> int:
        return len(new_entries(document, one, edited)[1]) if document.history else 0

    stamped = [one for one in rendered if said is not None and at(one, document.stamp) == said] or rendered
    origins = stamped if any(not gone(one) for one in stamped) else [*taken, *stamped]
    return min(reversed(origins), key=lambda one: (gone(one), _distance(one, edited)))


def _distance(one: Any, other: Any) -> int:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        names = one.keys() | other.keys()
        return sum(_distance(one.get(name), other.get(name)) for name in names)
    if isinstance(one, list) and isinstance(other, list):
        paired = sum(_distance(a, b) for a, b in zip(one, other, strict=False))
        return paired + abs(len(one) - len(other))
    return int(one != other)
