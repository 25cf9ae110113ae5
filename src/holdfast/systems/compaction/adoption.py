"""Reading a compaction document that has no journal, and the words that both directions share."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import gates, lifecycle, moment
from holdfast.core.definition import Approval, Definition, Step
from holdfast.core.facts import Facts
from holdfast.core.names import is_name
from holdfast.core.plan import Plan
from holdfast.core.state import Alert, Progress, State
from holdfast.core.value import Any, Value
from holdfast.documents.lens.changes import wrong_shape
from holdfast.documents.lens.fields import Reader, claimed, count_in, is_moment, moment_in, spelled, words
from holdfast.errors import UsageError
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


def read_phase(document: Mapping[str, Any], wrong: Callable[[str], UsageError] = wrong_shape) -> Phase:
    said = document.get("phase")
    if not isinstance(said, Mapping):
        raise wrong("it has no phase")
    current, total = count_in(said, "current"), count_in(said, "total")
    for what, number in (("current", current), ("total", total)):
        if not 1 <= number <= MOST_PHASES:
            raise wrong(f"phase.{what} must be a number from 1 to {MOST_PHASES}")
    name = said.get("name")
    if not isinstance(name, str) or len(name) > LONGEST_NAME:
        raise wrong(f"phase.name must be a text of at most {LONGEST_NAME} characters")
    return Phase(current, total, name, STATUS.decode(said.get("status")))


def adopt(document: Mapping[str, Any], definition: Definition | None, facts: Facts, ulid: str) -> State:
    """The state a document speaks of. A definition gives the phases their names and gates where it has as many."""
    from holdfast.systems.compaction.defaults import filled

    found, document = document, filled(document)
    title, type = document.get("workflow"), document.get("definition", document.get("workflow_type"))
    if not isinstance(title, str) or not title.strip() or len(title) > LONGEST_NAME:
        raise _READER.refused("it has no workflow that could be a name")
    unknown = str(document.get("definition") or "") if definition is None else ""
    phase, steps = _placed(read_phase(document, _READER.refused), definition, gated=bool(unknown))
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
        alerts=(
            *_put_back(steps, phase, facts.now),
            *_unknown(unknown, facts.now),
            *_assumed(document.assumed, facts.now),
        ),
        base=found,
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


def _placed(phase: Phase, definition: Definition | None, *, gated: bool) -> tuple[Phase, tuple[Step, ...]]:
    """The position among the definition's phases where it has as many, or one that may not be left out; else among as
    many as are counted. Where the numbers differ, the name says which phase it is. `gated` phases are those of a
    definition that is not known here: any of them may be one that a person has to approve."""
    total = max(phase.total, phase.current)
    steps = list(definition.steps) if definition else []
    if len(steps) != total:
        steps = steps if not all(step.optional for step in steps) else []
        own = (number for number, step in enumerate(steps, 1) if step.label == phase.name)
        phase = phase.replace(current=next(own, phase.current), total=total)
    made = Step("", optional=not gated, approval=Approval("human") if gated else None)
    steps += [made.replace(id=f"phase-{n}", name=unnamed(n)) for n in range(len(steps) + 1, total + 1)]
    at = phase.current - 1
    if phase.name and (gated or steps[at].optional):
        steps[at] = steps[at].replace(name=phase.name)
    return phase, tuple(steps)


def _put_back(steps: tuple[Step, ...], phase: Phase, now: str) -> tuple[Alert, ...]:
    """What is told where a document counts fewer phases than there have to be."""
    named = ", ".join(step.label for step in steps)
    said = f"the document counts {phase.total} phases, and its definition has {named}: restored, with their gates"
    return (Alert(now, "steps_put_back", said),) if len(steps) > phase.total else ()


def _unknown(name: str, now: str) -> tuple[Alert, ...]:
    said = f"there is no definition {name[:80]!r} here, which the document names: a person has to approve every phase"
    return (Alert(now, "definition_unknown", said),) if name else ()


def _assumed(what: tuple[str, ...], now: str) -> tuple[Alert, ...]:
    """What is told of a document that leaves something out."""
    return (Alert(now, "document_assumed", f"the state file was read although {'; '.join(what)}"),) if what else ()


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
