"""Reversible forms of values in documents."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.core import moment
from holdfast.dialects.spec import ABSENT, Codec
from holdfast.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def words(table: Mapping[str, str], also: Mapping[str, str] | None = None) -> Codec:
    """Status words. Several of the engine's may share one; reading gives the first of them."""
    back: dict[str, str] = {}
    for engine, word in table.items():
        back.setdefault(word, engine)
    back.update(also or {})

    def decode(word: Any) -> str:
        if not isinstance(word, str) or word not in back:
            raise UsageError("unknown_word", f"{word!r} is not one of {', '.join(dict.fromkeys(back))}")
        return back[word]

    return Codec(lambda value: table[value], decode)


def _read_moment(text: Any) -> float:
    return round(moment.to_epoch(text), 3) if isinstance(text, str) else ABSENT


MOMENT = Codec(lambda text: moment.whole(text), _read_moment)
"""A moment: `…Z` to the second on write; any offset and fraction on read."""


def _read_fraction(text: Any) -> Any:
    number, slash, total = text.partition("/") if isinstance(text, str) else ("", "", "")
    if not slash or not number.isdigit() or not total.isdigit():
        raise UsageError("unknown_word", f"{text!r} is not a fraction such as 3/5")
    return int(number), int(total)


FRACTION = Codec(lambda pair: f"{pair[0]}/{pair[1]}", _read_fraction)
