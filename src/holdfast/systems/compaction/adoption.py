"""Reading a compaction document that has no journal, and the words that both directions share."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import gates, lifecycle, moment
from holdfast.core.commands import Facts
from holdfast.core.definition import Definition, Step
from holdfast.core.names import is_name
from holdfast.core.plan import Plan
from holdfast.core.state import Progress, State
from holdfast.core.value import Any, Value
from holdfast.documents.lens.fields import Reader, claimed, count_in, is_moment, moment_in, spelled, words
from holdfast.plain.digest import digest

FOLDER = "untracked/workflow-state"
TYPES = ("planning", "qa-loop", "implementation", "custom")
MOST_PHASES, LONGEST_NAME = 200, 500
STATUS_WORDS = spelled(
    not_started=(lifecycle.PENDING,),
    in_progress=(lifecycle.ACTIVE, lifecycle.IN_REVIEW),
    blocked=(lifecycle.BLOCKED, lifecycle.WAITING, lifecycle.FAILED, lifecycle.ESCALATED),
    completed=(lifecycle.DONE, lifecycle.SKIPPED),
)
STATUS = words(
    STATUS_WORDS,
    {
        "pending": lifecycle.PENDING,
        "active": lifecycle.ACTIVE,
        "in-progress": lifecycle.ACTIVE,
        "complete": lifecycle.DONE,
        "done": lifecycle.DONE,
    },
)
"""Agents do not always find the word: the plain ones beside it are understood."""
_READER = Reader("compaction")
_SAFE = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")


class Phase(Value):
    """What a document says of the position. `status` is the engine's word."""

    current: int
    total: int
    name: str
    status: str


def file_of(id: str) -> str:
    """Where the document of a workflow lies that was not adopted from elsewhere."""
    return f"{FOLDER}/{id.rpartition('-')[0]}/state-{id}.json"


def name_for(text: str) -> str:
    """A name for folders and files: lower case, everything but a-z and 0-9 a hyphen, at most 50 characters."""
    out = "".join(c if c in _SAFE else "-" for c in text.lower())
    short = "-".join(part for part in out.split("-") if part)[:50].strip("-")
    return short or digest(text.encode("utf-8", "replace"))[:8]


def named(state: State) -> str:
    """What people call the workflow."""
    return state.title or state.subject or state.type


def read_phase(document: Mapping[str, Any]) -> Phase:
    said = document.get("phase")
    if not isinstance(said, Mapping):
        raise _READER.refused("it has no phase")
    current, total = count_in(said, "current"), count_in(said, "total")
    for what, number in (("current", current), ("total", total)):
        if not 1 <= number <= MOST_PHASES:
            raise _READER.refused(f"phase.{what} is no number from 1 to {MOST_PHASES}")
    name = said.get("name")
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        raise _READER.refused(f"phase.name is no text of at most {LONGEST_NAME} characters")
    return Phase(current, total, name, STATUS.decode(said.get("status")))


def adopt(document: Mapping[str, Any], definition: Definition | None, facts: Facts, ulid: str) -> State:
    """The state a document speaks of. A definition gives the phases their names and gates where it has as many."""
    title, type = document.get("workflow"), document.get("workflow_type")
    if not isinstance(title, str) or not title.strip() or len(title) > LONGEST_NAME:
        raise _READER.refused("it has no workflow that could be a name")
    phase = read_phase(document)
    steps = _steps(phase, definition)
    created = moment_in(document, "created_at") or facts.now
    return State(
        ulid=ulid,
        id=id_of({**document, "created_at": created}),
        type=str(type) if is_name(type) else "custom",
        plan=Plan(steps),
        dialect="compaction",
        title=title,
        subject=title,
        context=_READER.object(document, "context", {}),
        origin="adopted",
        created_at=created,
        updated_at=facts.now,
        progress=_progress(steps, phase),
        reading=_texts(document, "required_reading"),
        reminders=_texts(document, "key_reminders"),
        base=document,
    )


def id_of(document: Mapping[str, Any]) -> str:
    """`{name}-{time}`: from what a document is called and when it says it was made."""
    title, created = document.get("workflow"), document.get("created_at")
    if not isinstance(title, str) or not isinstance(created, str) or not is_moment(created):
        return ""
    at = moment.from_epoch(moment.to_epoch(created))
    return f"{name_for(title)}-{moment.compact(at, '_')}"


def unnamed(number: int) -> str:
    """What a phase is called that a document has and nobody named."""
    return f"Phase {number}"


def _steps(phase: Phase, definition: Definition | None) -> tuple[Step, ...]:
    total = max(phase.total, phase.current)
    if definition is not None and len(definition.steps) == total:
        steps = list(definition.steps)
    else:
        steps = [Step(f"phase-{number}", unnamed(number), optional=True) for number in range(1, total + 1)]
    at = phase.current - 1
    if phase.name and (not steps[at].name or steps[at].optional):
        steps[at] = steps[at].replace(name=phase.name)
    return tuple(steps)


def _progress(steps: tuple[Step, ...], phase: Phase) -> dict[str, Progress]:
    found = {step.id: _over(step) for step in steps[: phase.current - 1]}
    if phase.status != lifecycle.PENDING:
        at = steps[phase.current - 1]
        found[at.id] = _over(at) if phase.status == lifecycle.DONE else Progress(status=phase.status, attempt=1)
    return found


def _over(step: Step) -> Progress:
    done = Progress(status=lifecycle.DONE, attempt=1)
    return claimed(done) if gates.policy(step) else done


def _texts(document: Mapping[str, Any], name: str) -> tuple[str, ...]:
    listed = document.get(name, [])
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise _READER.refused(f"{name} is not a list of texts")
    return tuple(listed)
