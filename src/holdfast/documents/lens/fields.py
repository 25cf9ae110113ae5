"""Forms of values in documents: reversible ones, and what is read from a document that has no journal."""

from __future__ import annotations

from _collections_abc import Callable, Container, Iterable, Mapping

from holdfast.core import moment, queries, remedies
from holdfast.core.definition import Definition, Step
from holdfast.core.names import is_name
from holdfast.core.state import DOCUMENT, Alert, Artifact, Grant, Mark, Progress, State
from holdfast.core.value import Any, Value
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Codec, Field, Json, as_found
from holdfast.errors import UsageError


def first(text: Any) -> Any:
    """The word itself; of a template's alternatives, `in_progress|completed|blocked`, the first."""
    return text.partition("|")[0] if isinstance(text, str) else text


def spelled(**words: Iterable[str]) -> dict[str, str]:
    """A table for `words`: the dialect's word, and the engine's words that it stands for."""
    return {engine: word for word, those in words.items() for engine in those}


SYNONYMS = {
    **dict.fromkeys(("done", "complete", "finished"), "completed"),
    **dict.fromkeys(("active", "started", "ongoing", "running", "wip"), "in_progress"),
    **dict.fromkeys(("todo", "open", "not_started"), "pending"),
    "canceled": "cancelled",
}
"""Words that agents write for the usual ones, where a dialect has these."""


def spelling(word: Any) -> str:
    """A word without what people spell differently: case, blanks, hyphens, and signs such as ✅."""
    plain = "".join(c for c in word.lower() if c.isalnum() or c.isascii()) if isinstance(word, str) else ""
    return "_".join(plain.replace("-", " ").replace("_", " ").split())


def respelled(said: Any, known: Iterable[Any]) -> str | None:
    """The known word that was written in another spelling."""
    return next((word for word in known if isinstance(word, str) and spelling(word) == spelling(said)), None)


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

    def near(said: Any) -> str | None:
        return respelled(first(said), back) or respelled(SYNONYMS.get(spelling(first(said))), back)

    return Codec(lambda value: table[value], decode, near, tuple(back), table)


def usual(codec: Codec, said: Any) -> Any:
    """What was written, or how it is usually written where that cannot be decoded."""
    try:
        codec.decode(said)
    except UsageError:
        near = codec.near(said) if codec.near else None
        return said if near is None else near
    return said


WORD = Codec(lambda text: text, first, shape=str)
"""A word that templates leave open."""


def is_moment(text: object) -> bool:
    try:
        return isinstance(text, str) and 0 <= moment.to_epoch(text) < 1e12
    except UsageError:
        return False


def _read_moment(text: Any) -> float:
    return round(moment.to_epoch(text), 3) if isinstance(text, str) else ABSENT


_MOMENT = Json(
    r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|z|[+-]\d{2}:\d{2})?$",
    "ISO 8601. Written in UTC with Z; offsets and fractions are read, and stay.",
)
MOMENT = Codec(lambda text: moment.whole(text), _read_moment, shape=_MOMENT)
"""A moment: `…Z` to the second on write; any offset and fraction on read."""


def _read_fraction(text: Any) -> Any:
    number, slash, total = text.partition("/") if isinstance(text, str) else ("", "", "")
    if not slash or not text.isascii() or not number.isdigit() or not total.isdigit():
        raise UsageError("unknown_word", f"{str(text)[:80]!r} is not a fraction such as 3/5", remedy=remedies.schema())
    return int(number), int(total)


def typed(wanted: type, said: Any) -> Any:
    """A value of the wanted type that somebody wrote in another: `"3"` for 3, one text for a list; else None."""
    text = said.strip() if isinstance(said, str) else ""
    if wanted is int:
        whole = said if isinstance(said, float) and said.is_integer() else text if text.isascii() else ""
        return int(whole) if isinstance(whole, float) or (whole.isdigit() and len(whole) < 16) else None
    if wanted is bool:
        return {"true": True, "yes": True, "false": False, "no": False}.get(text.lower())
    if wanted is str:
        return str(said) if isinstance(said, int) and not isinstance(said, bool) else None
    if wanted is list and text:
        lines = (line.strip().removeprefix("- ").removeprefix("* ").strip() for line in text.splitlines())
        return [line for line in lines if line]
    return None


FRACTION = Codec(lambda pair: f"{pair[0]}/{pair[1]}", _read_fraction, shape=r"^\d+/\d+$")
COUNT, NUMBER = Json(int, minimum=0), Json(int, minimum=1)
TEXT_OR_NULL, MOMENT_OR_NULL = Json(str, null=True), Json(MOMENT, null=True)
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*$"
ID = Json(NAME, maxLength=200)


def or_absent(value: Any) -> Any:
    return value if value not in ("", None) else ABSENT


def unless_found(field: Field) -> Field:
    """A field that stays as it was found until something happens."""
    value = field.value
    return field.replace(value=lambda state, item: UNKNOWN if as_found(state) else value(state, item))


def detail(
    at: str,
    codec: Codec,
    *silent: str,
    value: Callable[[State, str], Any] | None = None,
    also: tuple[str | None, ...] = (),
    **more: Any,
) -> Field:
    """The engine's word for a status, where reading the document's word gives another."""
    value = value or status_of
    finer = tuple(word for word, said in codec.table.items() if codec.decode(said) != word and word not in silent)
    words = (*finer, *also)
    shape = Json(words, "The engine's word where it says more than status.")
    return Field(at, lambda state, item: said if (said := value(state, item)) in words else ABSENT, shape=shape, **more)


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


def status_of(state: State, path: str) -> str:
    """The status of a step, or of the whole."""
    return state.step(path).status if path else queries.status(state)


def paths(state: State, path: str) -> dict[str, str]:
    """The artifacts of a step, as documents list them."""
    return {name: artifact.path for name, artifact in state.step(path).artifacts.items()}


def artifacts_in(data: Mapping[str, Any]) -> dict[str, Artifact]:
    listed = object_in(data, "artifacts").items()
    return {name: Artifact(path, "", "") for name, path in listed if is_name(name) and isinstance(path, str)}


def status_in(data: Mapping[str, Any], codec: Codec) -> str:
    """The status of a step; `status_detail` may say which of those that share a word."""
    status: str = codec.decode(data.get("status", "pending"))
    detail = text_in(data, "status_detail")
    return detail if codec.table.get(detail) == codec.table[status] else status


def claimed(progress: Progress, at: str = "", by: str = "", **said: Any) -> Progress:
    """A gate that a document says was passed is claimed, and opens nothing until a person confirms it."""
    at = at or progress.finished_at
    grant = Grant(at, by or "document", DOCUMENT, progress.attempt, **said)
    return progress.replace(grant=grant)


def filled(steps: Iterable[Step], definition: Definition | None, begun: Container[str]) -> tuple[Step, ...]:
    """The steps that a document names, and in their places those that its definition has beside them.

    Left out may be a step that is optional, and one without a gate that the work has gone past. `begun` says how far.
    """
    out, at = list(steps), 0
    defined = definition.steps if definition else ()
    past = max((number for number, step in enumerate(defined) if step.id in begun), default=-1)
    for number, step in enumerate(defined):
        named = next((place for place, one in enumerate(out) if one.id == step.id), None)
        if named is not None:
            at = named + 1
        elif not step.optional and (number > past or _is_guarded(step)):
            out.insert(at, step)
            at += 1
    return tuple(out)


def _is_guarded(step: Step) -> bool:
    """Whether something of it has to hold. Its action is done by the one who keeps the document."""
    return step.replace(action="").gated or step.task is not None or any(map(_is_guarded, step.steps))


def put_back(now: str, steps: Iterable[str], source: str = "the definition") -> tuple[Alert, ...]:
    """What is told of steps that a document did not name."""
    named = ", ".join(steps)
    said = f"the document did not name {named}: restored from {source}, still to be done"
    return (Alert(now, "steps_put_back", said),) if named else ()


def mark(now: str, word: str) -> Mark:
    return Mark(now, "document", f"its document says it is {word}")
