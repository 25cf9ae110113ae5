"""Events, records and state ⇄ plain JSON. What is stored is small (defaults are left out) and readable with `jq`.

A record carries the version of the format it was written in. Only the present one is read.
"""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import definition as de
from holdfast.core import events as ev
from holdfast.core import state as st
from holdfast.core.apply import Record
from holdfast.core.conduct import Conduct
from holdfast.core.lifecycle import MOVES
from holdfast.core.plan import Plan
from holdfast.core.value import Value
from holdfast.errors import Broken
from holdfast.plain.plainjson import compact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = 2
_MOVED = "moved"
_EVENTS: dict[str, type[Any]] = {
    "started": ev.Started,
    "adopted": ev.Adopted,
    "produced": ev.Produced,
    "checked": ev.Checked,
    "reviewed": ev.Reviewed,
    "advised": ev.Advised,
    "granted": ev.Granted,
    "noted": ev.Noted,
    "recorded": ev.Recorded,
    "marked": ev.Marked,
    "founded": ev.Founded,
    "rehomed": ev.Rehomed,
    "spent": ev.Spent,
    "warned": ev.Warned,
    "extended": ev.Extended,
    "leased": ev.Leased,
    "beat": ev.Beat,
    "released": ev.Released,
    "locked": ev.Locked,
    "unlocked": ev.Unlocked,
    "compacted": ev.Compacted,
    "seated": ev.Seated,
    "acknowledged": ev.Acknowledged,
    "urged": ev.Urged,
    "briefed": ev.Briefed,
    "learned": ev.Learned,
    "owned": ev.Owned,
    "refiled": ev.Refiled,
    "amended": ev.Amended,
    "snapshotted": ev.Snapshotted,
    "restored": ev.Restored,
    "edited": ev.Edited,
    "remembered": ev.Remembered,
    "alerted": ev.Alerted,
    _MOVED: ev.Moved,
}
_NAMES = {cls: name for name, cls in _EVENTS.items()}


def _tuple(data: Any) -> tuple[Any, ...]:
    return tuple(data)


def _one(cls: type[Any]) -> Callable[[Any], Any]:
    return lambda data: None if data is None else decode(cls, data)


def _many(cls: type[Any]) -> Callable[[Any], Any]:
    return lambda data: tuple(decode(cls, item) for item in data)


def _map(cls: type[Any]) -> Callable[[Any], Any]:
    return lambda data: {key: decode(cls, item) for key, item in data.items()}


_IDENTITY: dict[str, Callable[[Any], Any]] = {
    "bounds": _one(de.Bounds),
    "conduct": _one(Conduct),
    "reading": _tuple,
    "reminders": _tuple,
    "read_only": _tuple,
}
_CARRIED = {
    **_IDENTITY,
    "progress": _map(st.Progress),
    "history": _tuple,
    "learnings": _many(st.Learning),
    "snapshots": _many(st.Snapshot),
    "leases": _map(st.Lease),
    "alerts": _many(st.Alert),
    "escalations": _many(st.Escalation),
}
_SHAPES: dict[type, dict[str, Callable[[Any], Any]]] = {
    Conduct: dict.fromkeys(("groups", "bounded", "iterated", "checkpointed", "criteria"), _tuple),
    de.Check: {"run": _tuple},
    de.Review: {"by": _tuple},
    de.Choice: {"options": _tuple},
    de.Step: {
        "agents": _tuple,
        "requires": lambda data: None if data is None else tuple(data),
        "outputs": _tuple,
        "deny": _tuple,
        "checks": _many(de.Check),
        "review": _one(de.Review),
        "approval": _one(de.Approval),
        "choice": _one(de.Choice),
        "retry": _one(de.Retry),
        "task": _one(de.Step),
        "steps": lambda data: tuple(decode(de.Step, item) for item in data),
    },
    st.Progress: {
        "feedback": _tuple,
        "acts": _many(st.Act),
        "artifacts": _map(st.Artifact),
        "evidence": _map(st.Evidence),
        "verdicts": _many(st.Verdict),
        "grant": _one(st.Grant),
        "past_grants": _many(st.Grant),
        "tries": _many(st.Try),
    },
    st.State: {
        **_CARRIED,
        "plan": lambda data: Plan(tuple(decode(de.Step, item) for item in data)),
        "warned": _tuple,
        "cancelled": _one(st.Mark),
        "paused": _one(st.Mark),
        "finalized": _one(st.Mark),
        "outdated": _one(st.Mark),
        "locks": _map(st.Hold),
        "seats": _map(st.Seat),
        "keys": lambda data: {key: (payload, revision) for key, (payload, revision) in data.items()},
        "notes": _tuple,
        "renderings": lambda data: tuple((revision, hashes) for revision, hashes in data),
    },
    ev.Started: {**_IDENTITY, "steps": _many(de.Step)},
    ev.Adopted: {**_CARRIED, "steps": _many(de.Step)},
    ev.Produced: {"artifact": _one(st.Artifact)},
    ev.Checked: {"evidence": _one(st.Evidence)},
    ev.Reviewed: {"verdict": _one(st.Verdict)},
    ev.Granted: {"grant": _one(st.Grant)},
    ev.Extended: {"bounds": _one(de.Bounds)},
    ev.Leased: {"lease": _one(st.Lease)},
    ev.Locked: {"holds": _map(st.Hold)},
    ev.Unlocked: {"paths": _tuple},
    ev.Recorded: {"removed": _tuple},
    ev.Briefed: {"entries": _tuple},
    ev.Learned: {"learning": _one(st.Learning)},
    ev.Amended: {"step": _one(de.Step)},
    ev.Rehomed: {"own": _tuple},
    ev.Restored: {"steps": _many(de.Step), "progress": _map(st.Progress)},
    ev.Alerted: {"alert": _one(st.Alert)},
}
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
    shapes = _SHAPES.get(cls, {})
    return cls(**{name: shapes[name](item) if name in shapes else item for name, item in data.items()})


def encode_event(event: ev.Event) -> dict[str, Any]:
    data: dict[str, Any] = encode(event)
    if isinstance(event, ev.Moved):
        return {"event": data.pop("move"), **data}
    return {"event": _NAMES[type(event)], **data}


def decode_event(data: Mapping[str, Any]) -> ev.Event:
    rest = {name: item for name, item in data.items() if name != "event"}
    name = data["event"]
    if name in _EVENTS:
        event: ev.Event = decode(_EVENTS[name], rest)
        return event
    if name not in MOVES:
        raise _newer(f"event {str(name)[:40]!r}, which this one does not know", {"event": str(name)[:40]})
    return ev.Moved(move=name, **rest)


def _newer(what: str, facts: dict[str, Any]) -> Broken:
    said = f"this journal was written by a newer Holdfast ({what})"
    return Broken("newer_version", said, remedy="upgrade: pip install --upgrade holdfast", facts=facts)


def encode_record(record: Record) -> str:
    """The body of a journal line. The revision is the line's own sequence number."""
    data: dict[str, Any] = {
        "v": VERSION,
        "at": record.at,
        "actor": encode(record.actor),
        "command": record.command,
        "events": [encode_event(event) for event in record.events],
    }
    if record.key:
        data["key"], data["payload"] = record.key, record.payload
    if record.documents:
        data["documents"] = record.documents
    return compact(data)


def decode_record(data: dict[str, Any]) -> Record:
    """A record from a journal line."""
    written = data.get("v", 0)
    if written != VERSION:
        raise _other_version(written)
    return Record(
        revision=data["seq"],
        at=data["at"],
        actor=decode(st.Actor, data["actor"]),
        command=data["command"],
        events=tuple(decode_event(event) for event in data["events"]),
        key=data.get("key", ""),
        payload=data.get("payload", ""),
        documents=data.get("documents", {}),
    )


def decode_state(data: Mapping[str, Any]) -> st.State:
    state: st.State = decode(st.State, data)
    return state


def _other_version(written: object) -> Broken:
    facts = {"format": written, "known": VERSION}
    if not isinstance(written, int) or written > VERSION:
        return _newer(f"format {written}, this one reads up to {VERSION}", facts)
    return Broken(
        "older_version",
        f"this journal was written by an unreleased Holdfast (format {written}, this one reads {VERSION})",
        remedy="mv .holdfast .holdfast.old, then holdfast adopt: the documents become workflows again",
        facts=facts,
    )
