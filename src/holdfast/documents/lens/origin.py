"""Which document somebody began to edit."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.documents.lens.changes import new_entries
from holdfast.documents.lens.mapping import at
from holdfast.documents.lens.spec import Document


def nearest(document: Document, origins: list[Mapping[str, Any]], edited: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of the documents that an edit may have begun from: one with its stamp, whose history it has, most like it.

    A slow editor may be behind; the history, which only Holdfast writes, tells how far. Of equals, the last is taken.
    """
    said = at(edited, document.stamp) if document.stamp else None
    origins = [one for one in origins if said is not None and at(one, document.stamp) == said] or origins

    def difference(one: Mapping[str, Any]) -> tuple[int, int]:
        gone = len(new_entries(document, one, edited)[1]) if document.history else 0
        return gone, _distance(one, edited)

    return min(reversed(origins), key=difference)


def _distance(one: Any, other: Any) -> int:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        names = one.keys() | other.keys()
        return sum(_distance(one.get(name), other.get(name)) for name in names)
    if isinstance(one, list) and isinstance(other, list):
        paired = sum(_distance(a, b) for a, b in zip(one, other, strict=False))
        return paired + abs(len(one) - len(other))
    return int(one != other)
