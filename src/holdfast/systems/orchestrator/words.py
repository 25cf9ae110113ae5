"""The words and forms of the orchestrator dialect, and how they stand for the engine's."""

from __future__ import annotations

from _collections_abc import Mapping, Sequence

from holdfast.core import lifecycle, moment, queries, remedies, tasks
from holdfast.core.plan import Plan
from holdfast.core.state import Progress, State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import spelled, spelling
from holdfast.documents.lens.spec import Codec, Json
from holdfast.errors import UsageError

LOADS = "task_document"
FOLDER = ".claude"
FILE = "agent-state.json"
LEARNINGS = f"{FOLDER}/learnings.jsonl"
PLAN, REVIEW, PULL_REQUEST = "plan", "review", "pull_request"
PHASE = "phase"
UNCLEAR = "unclear_files"
"""The fact about a task: files that were changed while it was worked on, by it or by another."""
PLANNING, EXECUTING, REVIEWING, COMPLETED, FAILED = "planning", "executing", "reviewing", "completed", "failed"
STATUSES = (PLANNING, EXECUTING, REVIEWING, COMPLETED, FAILED)
WORKFLOW_WORDS = spelled(
    executing=("in_progress", "waiting", "paused", "blocked", "escalated", "failed"),
    completed=("completed", "finalized"),
    failed=("cancelled",),
)
COUNTED = {
    "checks_performed": "checks",
    "conflicts_detected": "conflicts",
    "auto_fixes_applied": "auto_fixes",
    "re_plans_triggered": "re_plans",
}
"""What a document says that the supervisor did, and what the run calls it."""
TASK_NUMBER = Json(r"^[1-9]\d*\.\d+$", "The number of a task: 2.1 is the first of the second phase.")
ABOUT_TASK = Json(r"^([1-9]\d*\.\d+)?$", "The number of a task; empty where it is about none.")
KINDS = ("pattern", "antipattern", "insight")


def status(state: State) -> str:
    """Where a run is in its life: by the step it is at, unless it is over."""
    word = queries.status(state)
    if word in ("completed", "finalized"):
        return COMPLETED
    if word == "cancelled":  # a task that failed can still be retried: `pause` says so
        return FAILED
    if PLAN in state.plan and state.step(PLAN).status not in lifecycle.FINISHED:
        return PLANNING
    at = (queries.current(state) or "").split("/")[0]
    return REVIEWING if at in (REVIEW, PULL_REQUEST) else EXECUTING


def phases(state: State) -> list[str]:
    """The phases, which are the steps that hold tasks."""
    return list(_numbers(state.plan))


def unclear(state: State) -> dict[str, Sequence[str]]:
    """The files that a task was not credited with because they may be of another one, by the task that said so."""
    found = {path: state.step(path).data.get(UNCLEAR, ()) for path in state.plan.of_kind(tasks.TASK)}
    return {path: files for path, files in found.items() if files}


def phase_number(state: State, path: str) -> int:
    """The number of the phase a step is in, from 0."""
    return _numbers(state.plan).get(path.split("/", maxsplit=1)[0], 0)


def _numbers(plan: Plan) -> dict[str, int]:
    """The phases and their numbers. Every entry of a document asks for them, and plans seldom change."""
    global _counted
    known = _counted  # taken once: another thread may put its own answer there meanwhile
    if known[0] is not plan:
        listed = [path for path in plan.children("") if path not in (PLAN, REVIEW, PULL_REQUEST)]
        _counted = known = (plan, {path: number for number, path in enumerate(listed)})
    return known[1]


_counted: tuple[Plan | None, dict[str, int]] = (None, {})


def phase_of(number: str) -> str:
    """The phase of a task: 2.1 is in the second."""
    return f"phase-{number.partition('.')[0]}"


def current_phase(state: State) -> str:
    """The phase that is worked on: the first that is not done, else the last."""
    return _here(state)[0]


def current_task(state: State) -> str:
    """The task that is worked on: of the open ones in the current phase, or anywhere, the one that began last.

    Where none is open, the first that is not done.
    """
    return _here(state)[1]


def _here(state: State) -> tuple[str, str]:
    """The phase and the task that are worked on: a document says both in several places."""
    global _at
    known = _at
    if known[0] is not state.plan or known[1] is not state.progress:
        listed = phases(state)
        undone = (path for path in listed if state.step(path).status not in lifecycle.FINISHED)
        phase = next(undone, listed[-1] if listed else "")
        here = _current(state, state.plan.children(phase))
        _at = known = (state.plan, state.progress, (phase, here or _current(state, state.plan.of_kind(tasks.TASK))))
    return known[2]


_at: tuple[Plan | None, Mapping[str, Progress] | None, tuple[str, str]] = (None, None, ("", ""))


def _current(state: State, listed: tuple[str, ...]) -> str:
    open_ = [path for path in listed if state.step(path).status in (*lifecycle.OPEN, *lifecycle.STUCK)]
    if open_:
        return max(open_, key=lambda path: state.step(path).started_at)
    return next((path for path in listed if state.step(path).status not in lifecycle.FINISHED), "")


def position(state: State) -> tuple[int, int]:
    """`3/5`: the third of five tasks in the current phase."""
    phase, at = _here(state)
    inside = state.plan.children(phase) if phase else ()
    return (inside.index(at) + 1 if at in inside else len(inside)), len(inside)


def task_of(state: State, path: str) -> str:
    """The number of the task that a step is, or is in; empty outside of any."""
    task = tasks.task_of(state, path)
    return state.plan.step(task).id if task else ""


def lesson(said: Mapping[str, Any]) -> dict[str, str]:
    """A learning as a document says it, but for its task."""
    texts = {name: str(said.get(name) or "") for name in ("lesson", "pattern", "context")}
    return {**texts, "type": kind(said.get("type"))}


def kind(said: Any) -> str:
    """The type of a learning, in whatever spelling; one that is not known is an insight."""
    return next((one for one in KINDS if one == spelling(said).replace("_", "")), "insight")


def elapsed_text(seconds: float) -> str:
    """`0h 34m 8s`."""
    return f"{int(seconds) // 3600}h {spent_text(int(seconds) % 3600)}"


def spent_text(seconds: float) -> str:
    """`15m 23s`: what a task took; with hours where there are some."""
    minutes, rest = divmod(int(seconds), 60)
    return elapsed_text(seconds) if minutes >= 60 else f"{minutes}m {rest}s"


def warning_text(said: str) -> str:
    """`cost:75` → `Cost at 75% of limit`."""
    bound, _, percent = said.rpartition(":")
    name, _, step = bound.partition(" ")
    where = f" of task {step.rpartition('/')[2]}" if step else ""
    return f"{name.capitalize()}{where} at {percent}% of limit"


def _read(text: Any, value: int | None, what: str) -> int:
    if value is None:
        raise UsageError("unknown_word", f"{str(text)[:40]!r} is not {what}", remedy=remedies.schema())
    return value


def _read_money(text: Any) -> int:
    return _read(text, moment.read_money(text), "an amount such as $0.75")


def dollars(said: Any) -> str | None:
    """How an amount is usually written that was written without its sign."""
    micros = None if isinstance(said, str) and said.startswith("$") else moment.read_money(said)
    return None if micros is None else moment.money(micros)


_DOLLARS = Json(r"^\$\d+(\.\d+)?$", "An amount in dollars.")
MONEY = Codec(moment.money, _read_money, shape=_DOLLARS)
LIMIT = Codec(lambda micros: moment.money(micros).removesuffix(".00"), _read_money, shape=_DOLLARS)
"""`$10`, `$0.75`: whole dollars without cents."""


def _span(seconds: int) -> str:
    """`2h`, `90m`: as short as it can be said."""
    if seconds % 3600 == 0:
        return f"{seconds // 3600}h"
    return f"{seconds // 60}m" if seconds % 60 == 0 else f"{seconds}s"


SPAN = Codec(
    _span,
    lambda text: _read(text, moment.read_span(text) if isinstance(text, str) else None, "a span such as 2h"),
    shape=Json(r"^\d+[smhd]( \d+[smhd])*$", "2h, 90m, 1h 30m"),
)
