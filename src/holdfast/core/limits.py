"""How much of its bounds a workflow has used: money, time and tries; and how long its steps took."""

from __future__ import annotations

from holdfast.core import lifecycle, moment
from holdfast.core.plan import Plan
from holdfast.core.state import State
from holdfast.core.value import Value

WARN_AT = (75, 90, 100)


class Usage(Value):
    """How much of a bound is used up."""

    bound: str
    used: float
    limit: float
    used_text: str
    limit_text: str
    left_text: str = ""

    @property
    def percent(self) -> int:
        return int(100 * self.used / self.limit)

    @property
    def over(self) -> float:
        """The dollars or seconds that were used beyond the bound."""
        return max(0.0, self.used - self.limit) / (1_000_000 if self.bound == "cost" else 1)

    @property
    def reached(self) -> bool:
        return self.used >= self.limit


def elapsed(state: State, now: str) -> float:
    """Seconds since the start, without the time in which nobody was to work."""
    end = state.rest_since or now
    return max(0.0, moment.between(state.created_at, end) - state.rested_seconds)


def taken(state: State, path: str, now: str) -> float | None:
    """Seconds that a step has taken in its last attempt; that of one that failed, or rests, has stopped."""
    progress = state.step(path)
    if not progress.started_at:
        return None
    ended = progress.tries[-1].at if progress.status == lifecycle.FAILED and progress.tries else ""
    return moment.between(progress.started_at, progress.finished_at or ended or state.rest_since or now)


def usages(state: State, now: str) -> list[Usage]:
    """The bounds the whole workflow has, with what is used of each."""
    found = []
    if state.bounds.max_cost:
        spent, limit = state.spent, state.bounds.max_cost
        left = moment.money(max(0, limit - spent))
        found.append(Usage("cost", spent, limit, moment.money(spent), moment.money(limit), left))
    if state.bounds.max_time:
        used, most = elapsed(state, now), state.bounds.max_time
        found.append(Usage("time", used, most, moment.span(used), moment.span(most), moment.span(max(0, most - used))))
    return found


def is_bounded(state: State, path: str) -> bool:
    """Whether the bound on tries counts for a step."""
    step, kinds = state.plan.step(path), state.conduct.bounded
    return not step.steps and (not kinds or step.kind in kinds)


def judged(plan: Plan, path: str) -> str:
    """The step that this one sends back when it fails, and whose tries it uses up; empty when there is none."""
    retry = plan.step(path).retry
    return (plan.beside(path, retry.back_to) or "") if retry and retry.back_to else ""


def failures(state: State, path: str) -> int:
    """How many tries failed of the work that a step does or judges."""
    other = judged(state.plan, path)
    return max(state.step(path).failures, state.step(other).failures if other else 0)


def tries_left(state: State, path: str) -> int | None:
    retry = state.plan.step(path).retry
    return None if retry is None else max(0, retry.max - failures(state, path))
