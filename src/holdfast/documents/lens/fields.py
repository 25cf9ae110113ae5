"""Reversible forms of values in documents."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import moment, remedies
from holdfast.documents.lens.spec import ABSENT, Codec
from holdfast.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def first(text: Any) -> Any:
    """The word itself; of a template's alternatives, `in_progress|completed|blocked`, the first."""
    return text.partition("|")[0] if isinstance(text, str) else text


def words(table: Mapping[str, str], also: Mapping[str, str] | None = None) -> Codec:
    """Status words. Several of the engine's may share one; reading gives the first of them."""
    back: dict[str, str] = {}
    for engine, word in table.items():
        back.setdefault(word, engine)
    back.update(also or {})

    def decode(said: Any) -> str:
        word = first(said)
        if not isinstance(word, str) or word not in back:
            known = ", ".join(dict.fromkeys(back))
            raise UsageError("unknown_word", f"{str(said)[:80]!r} is not one of {known}", remedy=remedies.schema())
        return back[word]

    return Codec(lambda value: table[value], decode)


WORD = Codec(lambda text: text, first)
"""A word that templates leave open."""


def is_moment(text: object) -> bool:
    try:
        return isinstance(text, str) and 0 <= moment.to_epoch(text) < 1e12
    except UsageError:
        return False


def _read_moment(text: Any) -> float:
    return round(moment.to_epoch(text), 3) if isinstance(text, str) else ABSENT


MOMENT = Codec(lambda text: moment.whole(text), _read_moment)
"""A moment: `…Z` to the second on write; any offset and fraction on read."""


def _read_fraction(text: Any) -> Any:
    number, slash, total = text.partition("/") if isinstance(text, str) else ("", "", "")
    if not slash or not text.isascii() or not number.isdigit() or not total.isdigit():
        raise UsageError("unknown_word", f"{str(text)[:80]!r} is not a fraction such as 3/5", remedy=remedies.schema())
    return int(number), int(total)


FRACTION = Codec(lambda pair: f"{pair[0]}/{pair[1]}", _read_fraction)
