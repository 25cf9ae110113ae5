"""The compaction dialect: `untracked/workflow-state/<name>/state-<name>-<time>.json`.

The agent's own account of where it is: `workflow, workflow_type, phase, required_reading, context, key_reminders,
created_at`. It survives any number of compactions and is deleted when the work is done.
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, moment, queries, remedies
from holdfast.core.commands import Part
from holdfast.core.definition import BUILT_IN, Definition, Step
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.documents.lens.changes import deleted, wrong_shape
from holdfast.documents.lens.edits import asked
from holdfast.documents.lens.fields import (
    MOMENT,
    NAME,
    detail,
    object_in,
    respelled,
    spelled,
    typed,
    unless_found,
    usual,
)
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Codec, Dialect, Document, Field, Json, Meaning
from holdfast.errors import Refused, UsageError
from holdfast.plain.plainjson import spaced
from holdfast.systems.compaction.adoption import (
    FOLDER,
    LONGEST_NAME,
    MOST_PHASES,
    STATUS,
    TYPES,
    Phase,
    adopt,
    file_of,
    id_of,
    name_for,
    named,
    read_phase,
    unnamed,
)
from holdfast.systems.compaction.defaults import filled, found_at, meant

_NOT_STARTED = (STATUS.encode(lifecycle.PENDING), "pending")
WORKFLOW_WORDS = spelled(
    in_progress=("in_progress",),
    blocked=("waiting", "paused", "blocked", "failed", "escalated"),
    completed=("completed", "finalized"),
    cancelled=("cancelled",),
)


def shown(state: State) -> str:
    """The phase that the document speaks of: the current one, or the one before while that has not begun.

    An author who wrote that a phase has not begun means that one.
    """
    tops = state.plan.children("")
    at = queries.top_number(state) - 1
    waits = state.step(tops[at]).status == lifecycle.PENDING
    return tops[at - 1] if waits and at and not _is_announced(state, at + 1) else tops[at]


def _is_announced(state: State, number: int) -> bool:
    said = object_in(state.base, "phase")
    return said.get("current") == number and said.get("status") in _NOT_STARTED


def _number(state: State, _: str) -> Any:
    return state.plan.children("").index(shown(state)) + 1


def _name(state: State, _: str) -> Any:
    return state.plan.step(shown(state)).label


def _status(state: State, _: str) -> Any:
    stopped = state.paused or queries.status(state) in lifecycle.STUCK
    return lifecycle.BLOCKED if stopped else state.step(shown(state)).status


def _detail(state: State, _: str) -> Any:
    word = queries.status(state)
    return word if word in ("paused", *lifecycle.STUCK) else state.step(shown(state)).status


def _read_type(said: Any) -> str:
    """Any word, as others may have their own; one of ours only in our spelling."""
    if not isinstance(said, str):
        raise wrong_shape("workflow_type must be a text")
    if respelled(said, TYPES) not in (None, said):
        raise UsageError("unknown_word", f"{str(said)[:80]!r} is not one of {', '.join(TYPES)}", remedy=_SCHEMA)
    return said


_SCHEMA = remedies.schema("compaction")
TYPE = Codec(lambda word: word, _read_type, lambda said: respelled(said, TYPES), Json(str, examples=[*TYPES]))
_PHASES = Json(int, minimum=1, maximum=MOST_PHASES)
_TITLE = Json(r"\S", maxLength=LONGEST_NAME)


def _type(state: State, _: str) -> Any:
    """What somebody wrote there; before that, the definition's name."""
    if state.origin == "adopted" or (state.base or {}).get("workflow_type"):
        return UNKNOWN
    return state.type if state.type in TYPES else "custom"


def _definition(state: State, _: str) -> Any:
    """The definition that gives the phases their gates, where `workflow_type` does not say it."""
    return UNKNOWN if state.origin == "adopted" else ABSENT if state.type in TYPES else state.type


def _optional(at: str, value: Any) -> Any:
    """What need not be there is added to a document of somebody else's making only when there is something to say."""

    def said(state: State, item: str) -> Any:
        found = value(state)
        absent = state.origin == "adopted" and not found and at not in (state.base or {})
        return UNKNOWN if absent else found

    return said


def _place(state: State) -> str:
    """No document is left once the work is over."""
    return _file(state) if queries.is_active(state) else ""


def _former(state: State) -> tuple[str, ...]:
    return () if queries.is_active(state) else (_file(state),)


def _file(state: State) -> str:
    return state.file or file_of(state.id)


def _edited(state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Part]:
    """The parts of an edit that `phase` is: it may move anywhere, and what it passes over is skipped."""
    if old.get("phase") == new.get("phase"):
        return []
    said = new.get("phase")
    if not isinstance(said, Mapping):
        wrong = (
            deleted("phase") if said is None else wrong_shape(f"phase must be an object: {spaced(dict(old['phase']))}")
        )
        return [Part("phase", (("phase",),), wrong=wrong)]
    before = filled(old)["phase"]
    read = _moved_by_name(state, _usual(said, before), before)
    both = (state, {"phase": before}, {"phase": read})
    parts = [asked("phase", position, *both)]
    if parts[0].wrong is None:
        parts.append(asked("phase.total", left_out, *both, removes=True))
    parts = [part for part in parts if part.commands or part.wrong]
    return [parts[0].replace(places=(("phase",),), written=read), *parts[1:]] if parts and read != said else parts


def _usual(said: Mapping[str, Any], before: Mapping[str, Any]) -> Mapping[str, Any]:
    """A position as it is usually written, its keys too. What it leaves out is as it was."""
    keys = {name: respelled(name, _POSITION) or name for name in said if name not in before}
    said = {**said, **{keys[name]: said[name] for name in keys}}
    said = {name: value for name, value in said.items() if keys.get(name, name) == name}
    read = {**{name: before[name] for name in ("current", "total", "status") if name in before}, **said}
    number, _, total = str(read.get("current")).partition("/")
    if total and total == str(read.get("total")):
        read = {**read, "current": number}
    for name, wanted in (("current", int), ("total", int), ("name", str)):
        near = None if isinstance(read.get(name), wanted) else typed(wanted, read.get(name))
        read = {**read, name: near} if near is not None else read
    return {**read, "name": read.get("name", ""), "status": usual(STATUS, read.get("status"))}


_POSITION = ("current", "total", "name", "status")


def _moved_by_name(state: State, read: Mapping[str, Any], before: Mapping[str, Any]) -> Mapping[str, Any]:
    """A position of which only the name changed, to that of another phase, is at that phase."""
    labels = [state.plan.step(path).label for path in state.plan.children("")]
    changed = [name for name in _POSITION if read.get(name) != before.get(name)]
    if changed != ["name"] or read["name"] not in labels or read["name"] == _name(state, ""):
        return read
    return {**read, "current": labels.index(read["name"]) + 1, "status": STATUS.encode(lifecycle.ACTIVE)}


def position(state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[cmd.Command]:
    """The commands that another `phase` stands for, `left_out` beside them."""
    before, after = read_phase(old), read_phase(new)
    if before == after:
        return []
    out: list[cmd.Command] = []
    if state.paused and after.status != lifecycle.BLOCKED:
        out.append(cmd.Resume())
    tops = list(state.plan.children(""))
    total = max(after.total, after.current)
    for number in range(len(tops) + 1, total + 1):
        step = Step(id=_free(tops, number), name=unnamed(number), optional=True)
        out.append(cmd.AddStep("", step))
        tops.append(step.id)
    target = tops[after.current - 1]
    out += _renamed(state, target, before, after)
    for path in tops[: tops.index(target)]:
        out += _passed(state, path)
    overtaken = before.current < after.current < _number(state, "")
    if not overtaken:
        out += _reached(state, target, after.status, again=after.current < before.current)
    is_renamed = after.name not in ("", before.name) and before.replace(name=after.name) == after
    if not out and is_renamed:
        raise Refused("forged", "a definition of this project names the phase", remedy=remedies.status())
    return out


def left_out(state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[cmd.Command]:
    """The phases that a smaller number of them takes out. What a definition asks for, only a command takes out."""
    before, after = read_phase(old), read_phase(new)
    paths = state.plan.children("")[max(after.total, after.current) :] if after.total < before.total else ()
    asked_for = next((path for path in paths if not state.plan.step(path).optional), "")
    if asked_for:
        said = f"the definition asks for {asked_for}"
        raise Refused("not_optional", said, remedy=remedies.amend(asked_for, retire=True), facts={"step": asked_for})
    return [cmd.RetireStep(path) for path in reversed(paths)]


def _renamed(state: State, path: str, before: Phase, after: Phase) -> list[cmd.Command]:
    """A name is taken of a phase that somebody added, or where no definition of the user's has it.

    An author who moved on and left the old phase's name standing has named nothing.
    """
    known = state.plan.step(path) if path in state.plan else Step(id=path, optional=True)
    left = before.name if after.current != before.current else _name(state, "")
    is_named = known.name != unnamed(after.current)
    is_kept = bool(gates.policy(known)) or (is_named and state.source not in ("", BUILT_IN))
    others = (state.plan.step(one).label for one in state.plan.children("") if one != path)
    if after.name in ("", left, known.label, *others) or is_kept:
        return []
    return [cmd.ChangeStep(path, known.replace(name=after.name))]


def _free(taken: list[str], number: int) -> str:
    while f"phase-{number}" in taken:
        number += 1
    return f"phase-{number}"


def _passed(state: State, path: str) -> list[cmd.Command]:
    """A phase that was worked on is done when the work has moved on; one that never began was left out."""
    status = state.step(path).status
    if status in lifecycle.FINISHED:
        return []
    if path in state.plan and (gates.policy(state.plan.step(path)) or state.plan.step(path).review):
        raise Refused(
            "gate_unmet",
            f"the work cannot go past {path}, which people have to pass first",
            remedy=remedies.status(workflow=state.ulid),
            facts={"step": path},
        )
    if status == lifecycle.PENDING or path not in state.plan:
        optional = path not in state.plan or state.plan.step(path).optional
        return [cmd.Skip(path, "passed over")] if optional else [cmd.Begin(path), cmd.Done(path)]
    return [cmd.Resume(path), cmd.Done(path)] if status in lifecycle.STUCK else [cmd.Done(path)]


def _reached(state: State, path: str, wanted: str, *, again: bool) -> list[cmd.Command]:
    """The way to a status from the one a phase has. Going back to a phase opens it again, whatever is said of it."""
    status = state.step(path).status
    over = status in lifecycle.FINISHED
    out: list[cmd.Command] = []
    if status == lifecycle.PENDING and wanted != lifecycle.PENDING:
        out.append(cmd.Begin(path))
    elif over and (again or wanted in (lifecycle.ACTIVE, lifecycle.BLOCKED)):
        out.append(cmd.Reopen(path))
    elif status in lifecycle.STUCK and wanted in (lifecycle.ACTIVE, lifecycle.DONE):
        out.append(cmd.Resume(path))
    if wanted == lifecycle.DONE and (again or not over):
        out.append(cmd.Done(path))
    elif wanted == lifecycle.BLOCKED and status != lifecycle.BLOCKED:
        out.append(cmd.Block(path, "its document says it is blocked"))
    return out


DOCUMENT = Document(
    path=_place,
    former=_former,
    also=_edited,
    meant=meant,
    stamp="updated_at",
    as_found=True,
    parts=(
        Field("workflow", lambda s, _: named(s), meaning=Meaning.TITLE, shape=_TITLE, required=True),
        Field("workflow_type", _type, TYPE, meaning=Meaning.KEPT, required=True),
        Field("definition", _definition, meaning=Meaning.FIXED, shape=Json(NAME, maxLength=64)),
        Field("phase.current", _number, meaning=Meaning.OWN, shape=_PHASES, required=True),
        Field("phase.total", lambda s, _: len(s.plan.children("")), meaning=Meaning.OWN, shape=_PHASES, required=True),
        Field("phase.name", _name, meaning=Meaning.OWN, shape=Json(str, maxLength=LONGEST_NAME), required=True),
        Field("phase.status", _status, STATUS, meaning=Meaning.OWN, required=True),
        detail("phase.status_detail", STATUS, value=_detail, also=("paused", None)),
        Field("required_reading", lambda s, _: list(s.reading), meaning=Meaning.READING, required=True),
        Field("context", _optional("context", lambda s: dict(s.context)), meaning=Meaning.CONTEXT),
        Field("key_reminders", _optional("key_reminders", lambda s: list(s.reminders)), meaning=Meaning.REMINDERS),
        Field("created_at", lambda s, _: s.created_at, MOMENT, required=True),
        # so that no two documents are the same: who goes back to what was said before has not got an old copy
        unless_found(Field("updated_at", lambda s, _: s.updated_at, shape=str)),
    ),
)


def identify(definition: Definition, subject: str, context: Mapping[str, Any], now: str) -> str:
    """`{name}-{time}`: `database-migration-20251209_160000`."""
    return f"{name_for(subject or definition.name)}-{moment.compact(now, '_')}"


def phases(names: tuple[str, ...]) -> tuple[Step, ...]:
    """The phases of a workflow whose definition leaves them open."""
    if len(names) > MOST_PHASES:
        raise _bad_phases(f"there are {len(names)} phases, and {MOST_PHASES} at most")
    found: dict[str, Step] = {}
    named: set[str] = set()
    for number, name in enumerate((name.strip() for name in names), 1):
        if not name or name in named:
            raise _bad_phases(f"phase {number}: {f'{name[:60]!r} is there twice' if name else 'has no name'}")
        if len(name) > LONGEST_NAME:
            raise _bad_phases(f"phase {number}: its name has more than {LONGEST_NAME} characters")
        named.add(name)
        id = name_for(name)
        id = id if name.isascii() and id not in found else _free(list(found), number)
        found[id] = Step(id=id, name=name, optional=True)
    return tuple(found.values())


def _bad_phases(wrong: str) -> UsageError:
    return UsageError("bad_phases", wrong, remedy='--phases "Design,Build,Test"')


DIALECT = Dialect(
    name="compaction",
    document=DOCUMENT,
    id_of=id_of,
    identify=identify,
    status_words=WORKFLOW_WORDS,
    missing="completed",
    sign=FOLDER,
    adopt=adopt,
    found_at=found_at,
    own_folder=True,
    agents_own=True,
)
