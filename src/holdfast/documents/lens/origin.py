"""Which rendering somebody began to edit."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.documents.lens.mapping import at


def nearest(
    rendered: list[tuple[int, Mapping[str, Any]]], edited: Mapping[str, Any], stamp: str = ""
) -> Mapping[str, Any]:
    """The rendering an edit began from: the one with its stamp, or that it differs least from, newest first.

    A slow editor may be behind.
    """
    said = at(edited, stamp) if stamp else None
    rendered = [one for one in rendered if said is not None and at(one[1], stamp) == said] or rendered
    closest: tuple[int, Mapping[str, Any]] = min(reversed(rendered), key=lambda one: _distance(one[1], edited))
    return closest[1]


def _distance(one: Any, other: Any) -> int:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        names = one.keys() | other.keys()
        return sum(_distance(one.get(name), other.get(name)) for name in names)
    if isinstance(one, list) and isinstance(other, list):
        paired = sum(_distance(a, b) for a, b in zip(one, other, strict=False))
        return paired + abs(len(one) - len(other))
    return int(one != other)
