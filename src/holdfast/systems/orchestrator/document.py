"""The orchestrator dialect: `.claude/agent-state.json`, with its locks, checkpoints and learnings beside it.

One run in phases of tasks: planned, executed, reviewed. What the file says follows from the journal; the few edits
that mean something are decided like any other.
"""

from __future__ import annotations

from _collections_abc import Callable, Mapping
from _operator import is_not

from holdfast.core import lifecycle, limits, moment, queries, tasks
from holdfast.core.definition import Definition
from holdfast.core.plan import Plan
from holdfast.core.state import BEGAN, HELD, Lease, Progress, Snapshot, State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import COUNT, FRACTION, MOMENT, NAME, NUMBER
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Codec, Dialect, Document, Field, Items, Json, Meaning, record
from holdfast.documents.lens.text import Kept, KeptList
from holdfast.systems.orchestrator import rules, words
from holdfast.systems.orchestrator.adoption import adopt, id_of
from holdfast.systems.orchestrator.edits import LONGEST_ADDRESS, also
from holdfast.systems.orchestrator.rules import supervision

MOST_ENTRIES = 1000
MOST_LISTS = 64
"""How many checkpoints and learnings are remembered as they were written."""
_PLAIN = ("in_progress", "completed", "finalized", "cancelled")
_OUT_OF_BOUNDS = "out_of_bounds"
_PAUSE = record(status=("waiting", "paused", "blocked", "failed", "escalated", _OUT_OF_BOUNDS), reason=str)


def _pause(state: State, _: str) -> Any:
    """What keeps the run, in the engine's words, where the dialect has none."""
    word = queries.status(state)
    if word == "in_progress":
        spent = next((usage for usage in limits.usages(state, state.updated_at) if usage.reached), None)
        if spent is not None:
            said = f"the bound on {spent.bound} is used up ({spent.used_text} of {spent.limit_text}): extend or cancel"
            return {"status": _OUT_OF_BOUNDS, "reason": said}
    if word in _PLAIN:
        return ABSENT
    if state.paused:
        return {"status": word, "reason": state.paused.reason}
    stuck = next((path for path in state.plan.paths if state.step(path).status == word), "")
    reason = state.step(stuck).reason if stuck else ""
    return {"status": word, "reason": reason or f"{stuck} is {word}"}


def _said(
    at: str, value: Callable[[State], Any], codec: Codec | None = None, meaning: str = Meaning.BOUND, **more: Any
) -> Field:
    return Field(at, lambda state, _: value(state) or ABSENT, codec, nullable=True, meaning=meaning, **more)


def _counted(at: str, name: str) -> Field:
    return Field(f"supervisor.{at}", lambda s, _: getattr(supervision(s), name), meaning=Meaning.FIXED, shape=COUNT)


def _ended(state: State, _: str) -> Any:
    return state.finished_at or (state.cancelled.at if state.cancelled else ABSENT)


def _task_doc(state: State, _: str) -> Any:
    return state.context.get("task_doc") or state.subject


def _iteration(state: State, _: str) -> Any:
    at = words.current_task(state)
    return state.step(at).attempt if at else 0


def _agents(state: State, _: str) -> Any:
    """Who works on something. A session that holds the run as a whole is the one that sends them."""
    return [_agent(state, lease) for lease in state.leases.values() if lease.step or lease.role != state.type]


def _agent(state: State, lease: Lease) -> dict[str, Any]:
    status = state.step(lease.step).status if lease.step else lifecycle.ACTIVE
    said = {lifecycle.WAITING: "waiting", lifecycle.IN_REVIEW: "waiting"}.get(status, "in_progress")
    return {
        "type": lease.role,
        "task": words.task_of(state, lease.step),
        "started": MOMENT.encode(lease.at),
        "iteration": state.step(lease.step).attempt if lease.step else 0,
        "status": "blocked" if status in lifecycle.STUCK else said,
    }


def _finished(state: State) -> list[str]:
    steps = state.progress
    listed = [path for path in state.plan.of_kind(tasks.TASK) if path in steps and _is_over(steps[path])]
    return sorted(listed, key=lambda path: steps[path].finished_at.removesuffix("Z"))  # 9:00 is before 9:00.5


def _unfinished(state: State) -> list[str]:
    steps = state.progress
    return [path for path in state.plan.of_kind(tasks.TASK) if path not in steps or not _is_over(steps[path])]


def _is_over(progress: Progress) -> bool:
    return progress.status in lifecycle.FINISHED


def _time(state: State, path: str) -> Any:
    progress = state.step(path)
    if not progress.started_at or not progress.finished_at:
        return UNKNOWN if state.origin == "adopted" else words.spent_text(0)
    began = str(progress.data.get(BEGAN) or progress.started_at)
    return words.spent_text(moment.between(began, progress.finished_at))


def _criteria(state: State, path: str) -> Any:
    """What was to hold, and whether it was seen to in the try that counts."""
    progress = state.step(path)
    seen = {name for name, one in progress.evidence.items() if one.passed and one.attempt == progress.attempt}
    return {check.name: check.name in seen for check in state.plan.step(path).checks}


def _held(state: State, path: str) -> Any:
    """The criteria that held before the work, and so are no proof of it."""
    return list(state.step(path).data.get(HELD, ())) or ABSENT


def _lasting(name: str, follows: Any, make: Any, shape: Any, meaning: str) -> Field:
    """A list that is the same as long as what it follows from is: made, and written, once."""

    def value(state: State, _: str) -> Any:
        on = follows(state)
        known = _lists.get((state.ulid, name))
        if known is None or len(known[0]) != len(on) or any(map(is_not, known[0], on)):
            if len(_lists) >= MOST_LISTS:
                _lists.clear()
            known = _lists[state.ulid, name] = (on, KeptList(make(state)))
        return known[1]

    return Field(name, value, shape=[shape], meaning=meaning)


_lists: dict[tuple[str, str], tuple[tuple[object, ...], KeptList]] = {}


def _phases(state: State) -> tuple[object, ...]:
    return (state.plan, *map(state.progress.get, words.phases(state)))


def _milestones(state: State) -> Any:
    return [
        {
            "phase": number,
            "name": state.plan.step(path).label,
            "completed": MOMENT.encode(state.step(path).finished_at),
            "issue_url": str(state.step(path).data.get("issue_url") or ""),
        }
        for number, path in enumerate(words.phases(state))
        if state.step(path).status == lifecycle.DONE and state.step(path).finished_at
    ]


def _checkpoints(state: State) -> Any:
    return [_written(state, taken, _checkpoint) for taken in state.snapshots]


def _checkpoint(state: State, taken: Snapshot) -> dict[str, Any]:
    return {
        "timestamp": MOMENT.encode(taken.at),
        "phase": words.phase_number(state, words.phase_of(taken.label)),
        "task": taken.label,
        "git_sha": taken.head or "",
        "state_snapshot": _name(taken.number),
    }


def _learnings(state: State) -> Any:
    return [_written(state, one, learning) for one in state.learnings]


def _written(state: State, one: Any, write: Any) -> Kept:
    """An entry that stays as it is, from when it was written first. The value is held too: so its id is its own."""
    known = _entries.get(id(one))
    if known is None or known[0] is not one or known[1] is not state.plan:
        if len(_entries) >= MOST_ENTRIES:
            _entries.clear()
        known = _entries[id(one)] = (one, state.plan, Kept(write(state, one)))
    return known[2]


_entries: dict[int, tuple[Any, Plan, Kept]] = {}


def _name(number: int) -> str:
    return f"checkpoint-{number:03}.json"


def learning(state: State, one: Any) -> dict[str, Any]:
    """A learning in the dialect's words."""
    return {
        "timestamp": MOMENT.encode(one.at),
        "task": words.task_of(state, one.step) or one.step,
        "iteration": one.attempt,
        "type": one.type,
        "lesson": one.lesson,
        "pattern": one.pattern,
        "context": one.context,
    }


def _interventions(state: State, _: str) -> Any:
    found = supervision(state).interventions
    return [{"timestamp": MOMENT.encode(one["at"]), **{k: v for k, v in one.items() if k != "at"}} for one in found]


def _home(state: State) -> str:
    return state.file.rpartition("/")[0] if state.file else words.FOLDER


def _place(state: State) -> str:
    return state.file or f"{words.FOLDER}/{words.FILE}"


def _former(state: State) -> tuple[str, ...]:
    return (f"{words.FOLDER}/{words.FILE}",) if state.file else ()


def _locks(state: State) -> dict[str, Any]:
    return {
        path: {
            "agent": hold.agent,
            "timestamp": MOMENT.encode(hold.at),
            "ttl": hold.ttl,
            "token": hold.token,
        }
        for path, hold in state.locks.items()
    }


def _copy(state: State, number: int) -> str:
    return f"{_home(state)}/{_name(number) if number else 'checkpoint.json'}"


_AGENT = record(
    type=Json(NAME, examples=["task-executor", "supervisor", "outer-ralph", "code-improvement-scanner"]),
    task=words.ABOUT_TASK,
    started=MOMENT,
    iteration=COUNT,
    status=("in_progress", "waiting", "blocked"),
)
_INTERVENTION = record(
    timestamp=MOMENT,
    check_type=rules.CHECKS,
    task=words.ABOUT_TASK,
    conflict_type=tuple(rules.CONFLICTS),
    severity=("critical", "high", "low"),
    action=("re_plan", "auto_fix", "pass"),
    resolution=str,
)
_LEARNING = record(
    timestamp=MOMENT, task=str, iteration=COUNT, type=words.KINDS, lesson=r"\S", pattern=str, context=str
)
_MILESTONE = record(
    phase=COUNT, name=str, completed=MOMENT, issue_url=Json(r"^(https?://\S+)?$", maxLength=LONGEST_ADDRESS)
)
_CHECKPOINT = record(timestamp=MOMENT, phase=COUNT, task=str, git_sha=str, state_snapshot=r"^checkpoint-\d{3,}\.json$")
DOCUMENT = Document(
    path=_place,
    former=_former,
    also=also,
    identity="orchestrator.start_time",
    as_found=True,
    required=True,
    parts=(
        Field("orchestrator.status", lambda s, _: words.status(s), meaning=Meaning.OWN, shape=words.STATUSES),
        Field("orchestrator.task_doc", _task_doc, meaning=Meaning.FIXED, shape=str),
        Field("orchestrator.current_phase", lambda s, _: words.phase_number(s, words.current_phase(s)), shape=COUNT),
        Field("orchestrator.total_phases", lambda s, _: len(words.phases(s)), meaning=Meaning.FIXED, shape=COUNT),
        Field("orchestrator.current_task", lambda s, _: words.position(s), FRACTION),
        Field("orchestrator.ralph_iteration", _iteration, shape=COUNT),
        Field("orchestrator.outer_ralph", lambda s, _: s.step(words.REVIEW).status == lifecycle.ACTIVE, shape=bool),
        Field("orchestrator.start_time", lambda s, _: s.created_at, MOMENT),
        Field("orchestrator.end_time", _ended, MOMENT, nullable=True),
        Field("orchestrator.pause", _pause, meaning=Meaning.FIXED, shape=_PAUSE, required=False),
        Field("supervisor.enabled", lambda s, _: supervision(s).enabled, meaning=Meaning.FIXED, shape=bool),
        *(_counted(at, name) for at, name in words.COUNTED.items()),
        _said("supervisor.last_check", lambda s: supervision(s).last_check, MOMENT, Meaning.FIXED),
        Field("supervisor.interventions", _interventions, meaning=Meaning.FIXED, shape=[_INTERVENTION]),
        Field("active_agents", _agents, meaning=Meaning.OWN, shape=[_AGENT]),
        Items(
            "completed_tasks",
            each=_finished,
            name=lambda s, path: s.plan.step(path).id,
            key="task",
            elsewhere=True,
            keys=words.TASK_NUMBER,
            fields=(
                Field("name", lambda s, p: s.plan.step(p).label, shape=str),
                Field("completed", lambda s, p: s.step(p).finished_at or UNKNOWN, MOMENT),
                Field("iterations", lambda s, p: s.step(p).attempt, shape=COUNT),
                Field("time_elapsed", _time, shape=r"^(\d+h )?\d+m \d+s$"),
                Field("cost", lambda s, p: s.step(p).spent, words.MONEY),
                Field("files_modified", lambda s, p: list(s.step(p).data.get("files_modified") or ()), shape=[str]),
                Field(
                    "lines_added", lambda s, p: s.step(p).data.get("lines_added", ABSENT), shape=COUNT, required=False
                ),
                Field("success_criteria_met", _criteria, shape={"*": bool}),
                Field("held_before", _held, shape=[str], required=False),
            ),
        ),
        Items(
            "pending_tasks",
            each=_unfinished,
            name=lambda s, path: s.plan.step(path).id,
            key="task",
            elsewhere=True,
            keys=words.TASK_NUMBER,
            fields=(
                Field("phase", lambda s, p: words.phase_number(s, p), shape=COUNT),
                Field("name", lambda s, p: s.plan.step(p).label, shape=str),
            ),
        ),
        _said("safety_bounds.max_iterations_per_task", lambda s: s.bounds.max_iterations, shape=NUMBER),
        _said("safety_bounds.max_cost", lambda s: s.bounds.max_cost, words.LIMIT),
        _said("safety_bounds.max_time", lambda s: s.bounds.max_time, words.SPAN),
        Field("safety_bounds.cost_so_far", lambda s, _: s.spent, words.MONEY, meaning=Meaning.OWN),
        Field(
            "safety_bounds.elapsed_time",
            lambda s, _: words.elapsed_text(limits.elapsed(s, s.updated_at or s.created_at)),
            shape=r"^\d+h \d+m \d+s$",
        ),
        Field("safety_bounds.warnings", lambda s, _: [words.warning_text(said) for said in s.warned], shape=[str]),
        _lasting("learnings", lambda s: (s.learnings, s.plan), _learnings, _LEARNING, Meaning.OWN),
        _lasting("milestones", _phases, _milestones, _MILESTONE, Meaning.OWN),
        _lasting("checkpoints", lambda s: (s.snapshots, s.plan), _checkpoints, _CHECKPOINT, Meaning.FIXED),
    ),
)


def identify(definition: Definition, subject: str, context: Mapping[str, Any], now: str) -> str:
    """`orchestrate-{time}`."""
    return f"{definition.name}-{moment.compact(now)}"


DIALECT = Dialect(
    name="orchestrator",
    document=DOCUMENT,
    id_of=id_of,
    identify=identify,
    status_words=words.WORKFLOW_WORDS,
    missing="",
    adopt=adopt,
    views=lambda state: {f"{_home(state)}/locks.json": lambda: _locks(state)},
    checkpoints=_copy,
    copies="checkpoint-*.json",
    learnings=lambda state: words.LEARNINGS,
    learned=learning,
    guarded=lambda state: (_place(state), *(f"{words.FOLDER}/{name}" for name in ("locks.json", "checkpoint.json"))),
)
