"""How values are read from the documents of a forge.

A reader raises KeyError, TypeError or ValueError where a document is not as published.
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Any
from holdfast.plain import plainjson

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")

NOBODY = "ghost"
"""The author where an account is gone."""
STRANGER = "NONE"
"""How an author belongs to a repository: not at all."""

_HASHES = (40, 64)
_HEX = frozenset("0123456789abcdef")


def listed(body: bytes) -> list[Any]:
    """A page of a list."""
    page = plainjson.parse(body)
    if not isinstance(page, list):
        raise TypeError("a page that is not a list")
    return page


def commit(one: Mapping[str, Any], name: str) -> str:
    """The name of a commit, which git can be asked for as it is."""
    found = text(one, name)
    if len(found) not in _HASHES or not _HEX.issuperset(found):
        raise ValueError(f"{name} is no commit: {found!r}")
    return found


def words(one: Mapping[str, Any], name: str = "body") -> str:
    """What somebody wrote, which may be nothing."""
    return "" if one.get(name) is None else text(one, name)


def text(one: Mapping[str, Any], name: str) -> str:
    """A text that can be written again: half a pair of surrogates is replaced."""
    return plain(one, name, str).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def plain(one: Mapping[str, Any], name: str, kind: type[T]) -> T:
    found = one[name]
    if type(found) is not kind:
        raise TypeError(f"{name} is no {kind.__name__}")
    return found
