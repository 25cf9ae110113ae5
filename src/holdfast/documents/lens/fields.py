"""Forms of values in documents: reversible ones, and what is read from a document that has no journal."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core import moment, remedies
from holdfast.core.names import is_name
from holdfast.core.state import DOCUMENT, Artifact, Grant, Mark, Progress
from holdfast.core.value import Any, Value
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Codec, Field, as_found
from holdfast.errors import UsageError


def first(text: Any) -> Any:
    """The word itself; of a template's alternatives, `in_progress|completed|blocked`, the first."""
    return text.partition("|")[0] if isinstance(text, str) else text


def spelled(**words: Iterable[str]) -> dict[str, str]:
    """A table for `words`: the dialect's word, and the engine's words that it stands for."""
    return {engine: word for word, those in words.items() for engine in those}


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


def or_absent(value: Any) -> Any:
    return value if value not in ("", None) else ABSENT


def unless_found(at: str, value: Any, codec: Codec | None = None, **more: Any) -> Field:
    """A field that stays as it was found until something happens."""
    return Field(at, lambda state, item: UNKNOWN if as_found(state) else value(state, item), codec, **more)


class Reader(Value):
    """Reads the documents of one dialect that have no journal."""

    dialect: str
    what: str = "workflow"

    def refused(self, reason: str) -> UsageError:
        return UsageError(
            "not_a_workflow",
            f"this is not the document of a {self.what}: {reason}",
            remedy=remedies.schema(self.dialect),
        )

    def object(self, data: Mapping[str, Any], name: str, default: Any = None) -> Mapping[str, Any]:
        value = data.get(name, default)
        if not isinstance(value, Mapping):
            raise self.refused(f"{name} is not an object")
        return value

    def objects(self, data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        value = data.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise self.refused(f"{name} is not a list of objects")
        return value


def object_in(data: Any, name: str) -> Mapping[str, Any]:
    value = data.get(name) if isinstance(data, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def objects_in(data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    value = data.get(name)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def text_in(data: Mapping[str, Any], name: str, most: int = 1 << 30) -> str:
    value = data.get(name)
    return value if isinstance(value, str) and len(value) <= most else ""


def moment_in(data: Mapping[str, Any], name: str) -> str:
    value = text_in(data, name, 40)
    return value if is_moment(value) else ""


def is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def count_in(data: Mapping[str, Any], name: str) -> int:
    return int(data[name]) if is_count(data.get(name)) else 0


def artifacts_in(data: Mapping[str, Any]) -> dict[str, Artifact]:
    listed = object_in(data, "artifacts").items()
    return {name: Artifact(path, "", "") for name, path in listed if is_name(name) and isinstance(path, str)}


def status_in(data: Mapping[str, Any], codec: Codec, table: Mapping[str, str]) -> str:
    """The status of a step; `status_detail` may say which of those that share a word."""
    status: str = codec.decode(data.get("status", "pending"))
    detail = text_in(data, "status_detail")
    return detail if table.get(detail) == table[status] else status


def claimed(progress: Progress, at: str = "", by: str = "", **said: Any) -> Progress:
    """A gate that a document says was passed is claimed, and opens nothing until a person confirms it."""
    at = at or progress.finished_at
    grant = Grant(at, by or "document", DOCUMENT, progress.attempt, **said)
    return progress.replace(grant=grant)


def mark(now: str, word: str) -> Mark:
    return Mark(now, "document", f"its document says it is {word}")
