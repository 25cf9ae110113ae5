"""Events, records and state ⇄ plain JSON. What is stored is small (defaults are left out) and readable with `jq`.

A record carries the version of the format it was written in. Only the present one is read.
"""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import definition as de
from holdfast.core import events as ev
from holdfast.core import state as st
from holdfast.core.apply import Record
from holdfast.core.definition import Conduct
from holdfast.core.lifecycle import MOVES
from holdfast.core.plan import Plan
from holdfast.core.remedy import line
from holdfast.core.value import Any, UnknownField, Value
from holdfast.errors import Broken
from holdfast.plain.plainjson import compact

VERSION = 2
_FRAME = frozenset({"v", "seq", "synced", "prev", "sum"})
"""What a line has beside its record."""
_ORDINARY = _FRAME | Record._required - {"revision"}
"""What every line has."""
_EVENTS: dict[str, type[Any]] = {cls.__name__.lower(): cls for cls in ev.Event.__args__}
_VALUES = {
    cls.__name__: cls
    for cls in (Conduct, *vars(de).values(), *vars(st).values())
    if isinstance(cls, type) and issubclass(cls, (Value, Plan))
}
_SELDOM = Record._fields[Record._fields.index("events") + 1 :]
"""What few records have."""
_shapes: dict[type, dict[str, Callable[[Any], Any]]] = {}


def _shapes_of(cls: type[Any]) -> dict[str, Callable[[Any], Any]]:
    """How the fields are read that JSON keeps as something else, by their annotations."""
    if cls not in _shapes:
        annotations: dict[str, str] = {}
        for base in reversed(cls.__mro__):
            annotations.update(base.__dict__.get("__annotations__", {}))
        found = {name: _shape(text) for name, text in annotations.items() if not name.startswith("_")}
        _shapes[cls] = {name: shape for name, shape in found.items() if shape is not None}
    return _shapes[cls]


def _shape(text: str) -> Callable[[Any], Any] | None:
    """How a type is read, as its annotation says; None where it is what JSON gives."""
    said = text.removesuffix(" | None")
    cls = _VALUES.get(said)
    if cls is Plan:
        return lambda data: Plan(tuple([_made(de.Step, dict(item)) for item in data]))
    if cls is not None:
        return lambda data: None if data is None else _made(cls, dict(data))
    if said.startswith("Mapping[str, "):
        each = _shape(said.removeprefix("Mapping[str, ").removesuffix("]"))
        return each and (lambda data: {key: each(item) for key, item in data.items()})
    if not said.startswith("tuple["):
        return None
    item = _shape(said.removeprefix("tuple[").removesuffix(", ...]")) if said.endswith(", ...]") else None
    return lambda data: None if data is None and said != text else tuple(map(item, data) if item else data)


_ABSENT = object()
_ATOMS = frozenset({str, int, float, bool, type(None)})


def encode(value: object) -> Any:
    """Plain data of a value; fields at their default are left out."""
    if type(value) in _ATOMS:
        return value
    if isinstance(value, Value):
        cls = type(value)
        return {
            name: encode(field)
            for name, field in value.__dict__.items()
            if (default := getattr(cls, name, _ABSENT)) is _ABSENT or default != field
        }
    if isinstance(value, Plan):
        return [encode(step) for step in value.steps]
    if isinstance(value, (tuple, list)):
        return [encode(item) for item in value]
    if isinstance(value, (dict, Mapping)):
        return {key: encode(item) for key, item in value.items()}
    return value


def decode(cls: type[Any], data: Mapping[str, Any]) -> Any:
    return _made(cls, dict(data))


def _made(cls: type[Any], fields: dict[str, Any]) -> Any:
    """A value of plain data, which becomes its own."""
    form = (cls, *fields)
    shaped = _forms.get(form)
    if shaped is None:
        shapes, is_whole = _shapes_of(cls), cls._required <= fields.keys() <= cls._known
        shaped = [(name, shapes[name]) for name in fields if name in shapes]
        if is_whole and len(_forms) < _MOST_FORMS:
            _forms[form] = shaped
        for name, shape in shaped:
            fields[name] = shape(fields[name])
        return cls(**fields)  # which says what is missing, or not known
    for name, shape in shaped:
        fields[name] = shape(fields[name])
    return cls.from_fields(fields)


_MOST_FORMS = 10_000
_forms: dict[tuple[object, ...], list[tuple[str, Callable[[Any], Any]]]] = {}
"""Which fields of a class are to be read, by the class and all of the fields that a whole value has."""


def encode_event(event: ev.Event) -> dict[str, Any]:
    data: dict[str, Any] = encode(event)
    if isinstance(event, ev.Moved):
        return {"event": data.pop("move"), **data}
    return {"event": type(event).__name__.lower(), **data}


def decode_event(data: Mapping[str, Any]) -> ev.Event:
    rest = dict(data)
    name = rest.pop("event")
    if name in MOVES:
        rest["move"] = name
        moved: ev.Event = _made(ev.Moved, rest)
        return moved
    if name not in _EVENTS:
        raise _newer(f"event {str(name)[:40]!r}, which this one does not know", {"event": str(name)[:40]})
    event: ev.Event = _made(_EVENTS[name], rest)
    return event


def _newer(what: str, facts: dict[str, Any]) -> Broken:
    said = f"this journal was written by a newer Holdfast ({what})"
    from holdfast.machine import installer

    return Broken("newer_version", said, remedy=installer.upgrade(), facts=facts)


def encode_record(record: Record) -> str:
    """The body of a journal line. The revision is the line's own sequence number."""
    events = [encode_event(event) for event in record.events]
    data = {"v": VERSION, "at": record.at, "actor": encode(record.actor), "command": record.command, "events": events}
    data.update({name: encode(value) for name in _SELDOM if (value := getattr(record, name))})
    return compact(data)


def decode_record(data: dict[str, Any]) -> Record:
    """A record from a journal line. One with more in it than is known here was written by a newer Holdfast."""
    written = data.get("v", 0)
    if written != VERSION:
        raise _other_version(written)
    try:
        said: dict[str, Any] = {
            "revision": data["seq"],
            "at": data["at"],
            "actor": _actor(data["actor"]),
            "command": data["command"],
            "events": tuple([decode_event(event) for event in data["events"]]),
        }
        for name in data.keys() - _ORDINARY:
            if name not in Record._known:
                raise UnknownField(f"Record has no field {name}")
            said[name] = decode(st.Shown, data[name]) if name == "shown" else data[name]
    except UnknownField as more:
        raise _newer(repr(str(more)[:80]), {"line": data["seq"]}) from more
    return Record.from_fields(said)


def _actor(data: Mapping[str, Any]) -> st.Actor:
    """The same few actors come back in line after line."""
    key = tuple(data.items())
    known = _actors.get(key)
    if known is None:
        if len(_actors) >= _MOST_ACTORS:
            _actors.clear()
        known = _actors[key] = decode(st.Actor, data)
    return known


_MOST_ACTORS = 1000
_actors: dict[tuple[tuple[str, Any], ...], st.Actor] = {}


def _other_version(written: object) -> Broken:
    facts = {"format": written, "known": VERSION}
    if not isinstance(written, int) or written > VERSION:
        return _newer(f"format {written}, this one reads up to {VERSION}", facts)
    return Broken(
        "older_version",
        f"this journal was written by an unreleased Holdfast (format {written}, this one reads {VERSION})",
        remedy=line(
            "mv .holdfast .holdfast.old && holdfast adopt", text="make workflows of the documents", who="person"
        ),
        facts=facts,
    )
