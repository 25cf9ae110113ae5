"""Figures about one workflow, counted from its journal."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core import events as ev
from holdfast.core import lifecycle, moment
from holdfast.core.apply import Record, apply
from holdfast.core.plan import ancestors
from holdfast.core.state import RAN, Progress, State
from holdfast.core.value import Any

WORKED_ON = frozenset({lifecycle.ACTIVE, lifecycle.IN_REVIEW})
_CONVENTION = ("retry_count", "human_approval_time_seconds", "agent_calls", "parallel_executions")
_COUNTED = ("checks_run", "checks_failed", "reviews", "reopened", "compactions")


def metrics(records: Iterable[Record], now: str) -> dict[str, Any]:
    """What the work took so far. Seconds are whole and rounded down.

    One clock measures everything. It is still while the workflow is paused, cancelled or completed, and while a step is
    stuck and nobody works on another one. So the total is the time up to the end or up to now without these, and a
    step's duration is the time it was open (active, in review or waiting) in all its attempts together. Steps that
    never began are not listed.

    - `human_approval_time_seconds`: the time steps were waiting for a person, added up.
    - `retry_count`: tries that followed a failure at once, at the failed step or at the one it goes back to.
    - `reopened`: how often a finished step was opened again, whatever the cause; the branches around it do not count.
    - `parallel_executions`: the executions that ran at the same moment as another one. An execution is a lease, or a
      leaf step that never had a lease of its own. A leaf runs while it is active or in review, a lease until it is
      released, taken over, or silent for longer than its time to live. A leaf and a lease on a branch around it, or on
      the whole workflow, are the same work and not parallel.
    - Agents that the result of a step tells of count as calls, and as executions side by side, unless they held leases.
    """
    history = list(records)
    leased = {e.lease.step for record in history for e in record.events if isinstance(e, ev.Leased)}
    tally = _Tally(leased)
    for record in history:
        tally.take(record)
    return tally.figures(now)


def wrapped(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The figures that the convention names, in its wrapper, then the others."""
    times = [{"step": one["step"], "duration_seconds": one["duration_seconds"]} for one in figures["step_times"]]
    own = {
        "workflow_id": figures["workflow_id"],
        "total_time_seconds": figures["total_time_seconds"],
        "step_times": times,
    }
    own |= {name: figures[name] for name in _CONVENTION}
    return {"workflow_metrics": own, **{name: value for name, value in figures.items() if name not in own}}


class _Tally:
    """Goes through the journal once, event by event, beside the fold."""

    def __init__(self, leased: set[str]) -> None:
        self.state: State | None = None
        self.revision = 0
        self.worked = 0.0
        self.paused = 0.0
        self.at = ""
        self.open_for: dict[str, float] = {}
        self.waited = 0.0
        self.since: dict[str, tuple[str, float]] = {}
        self.counts = dict.fromkeys((*_COUNTED, "retry_count"), 0)
        self.leased = leased
        self.heard: dict[int, str] = {}
        self.overlapped: set[str | int] = set()
        self.leases_of: dict[str, int] = {}
        self.ran, self.ran_beside = 0, 0

    def take(self, record: Record) -> None:
        self._advance(record.at)
        for event in record.events:
            self.state = apply(self.state, event, record.at, record.actor)
            self._count(event, record.at)
            if isinstance(event, ev.Adopted):
                self._take_over(self.state, record.at)
            if isinstance(event, ev.Moved):
                self._follow([event.step])
            elif isinstance(event, (ev.Adopted, ev.Restored, ev.Amended)):
                self._follow([*self.state.plan.paths, *self.since])
            self._overlap(self.state)
        self._count_moves([event for event in record.events if isinstance(event, ev.Moved)])
        self.revision = record.revision

    def _advance(self, at: str) -> None:
        """Lets the clock run up to this moment, if it runs at all."""
        state = self.state
        if state is not None and not state.finished_at and not state.cancelled:
            passed = moment.between(self.at, at)
            if state.paused:
                self.paused += passed
            elif not state.rest_since:
                self.worked += passed
        self.at = at

    def _count(self, event: ev.Event, at: str) -> None:
        match event:
            case ev.Checked():
                self.counts["checks_run"] += 1
                self.counts["checks_failed"] += not event.evidence.passed
            case ev.Reviewed():
                self.counts["reviews"] += 1
            case ev.Compacted():
                self.counts["compactions"] += 1
            case ev.Remembered() if event.entry.get("event") == "context_compacted":
                self.counts["compactions"] += 1
            case ev.Leased():
                self.heard[event.lease.token] = at
                self.leases_of[event.lease.step] = self.leases_of.get(event.lease.step, 0) + 1
            case ev.Recorded() if isinstance(event.values.get(RAN), int):
                self._count_ran(event.step, event.values[RAN])
            case ev.Beat():
                self.heard[event.token] = at
            case _:
                pass

    def _count_ran(self, step: str, agents: int) -> None:
        """Agents that a result tells of, but for those that held a lease."""
        more = max(0, agents - self.leases_of.pop(step, 0))
        self.ran += more
        self.ran_beside += more if agents > 1 else 0

    def _count_moves(self, moves: list[ev.Moved]) -> None:
        opened = [move.step for move in moves if move.move == "reopened"]
        around = {above for path in opened for above in ancestors(path)}
        reopened = len([path for path in opened if path not in around])
        self.counts["reopened"] += reopened
        self.counts["retry_count"] += len([move for move in moves if move.move == "retried"])
        if any(move.move == "failed" for move in moves):
            self.counts["retry_count"] += reopened

    def _take_over(self, state: State, at: str) -> None:
        """Work from before the journal, as far as the adopted document gives its times."""
        self.worked = moment.between(state.created_at, state.finished_at or at)
        for path, step in state.progress.items():
            if step.started_at:
                self.open_for[path] = moment.between(step.started_at, _end(step, at))
            if step.status == lifecycle.WAITING and step.waiting_since:
                self.waited += moment.between(step.waiting_since, at)

    def _follow(self, paths: list[str]) -> None:
        """Closes the watch of a step that changed its status and starts the next one."""
        assert self.state is not None
        for path in paths:
            status = self.state.step(path).status if path in self.state.plan else lifecycle.PENDING
            before, since = self.since.pop(path, (lifecycle.PENDING, self.worked))
            if status != before:
                self._book(path, before, since)
                since = self.worked
            if status in lifecycle.OPEN:
                self.since[path] = (status, since)
                self.open_for.setdefault(path, 0.0)

    def _book(self, path: str, status: str, since: float) -> None:
        if status in lifecycle.OPEN:
            self.open_for[path] = self.open_for.get(path, 0.0) + self.worked - since
        if status == lifecycle.WAITING:
            self.waited += self.worked - since

    def _overlap(self, state: State) -> None:
        running: dict[str | int, str] = {
            path: path
            for path, (status, _) in self.since.items()
            if status in WORKED_ON and path in state.plan and state.plan.is_leaf(path) and path not in self.leased
        }
        for lease in state.leases.values():
            if moment.between(self.heard[lease.token], self.at) <= lease.ttl:
                running[lease.token] = lease.step
        if len(running) > 1:
            pairs = ((one, other) for one in running for other in running if one != other)
            self.overlapped.update(one for one, other in pairs if not _same_work(one, other, running))

    def figures(self, now: str) -> dict[str, Any]:
        self._advance(now)
        state = self.state
        if state is None:
            raise ValueError("a journal has at least one record")
        for path, (status, since) in self.since.items():
            self._book(path, status, since)
        tops = enumerate(state.plan.children(""), 1)
        return {
            "workflow_id": state.id,
            "total_time_seconds": int(self.worked),
            "step_times": [
                {"step": number, "name": state.plan.step(path).label, "duration_seconds": int(self.open_for[path])}
                for number, path in tops
                if path in self.open_for
            ],
            "retry_count": self.counts["retry_count"],
            "human_approval_time_seconds": int(self.waited),
            "agent_calls": state.agent_calls + self.ran,
            "parallel_executions": len(self.overlapped) + self.ran_beside,
            **{name: self.counts[name] for name in _COUNTED},
            "cost": moment.money(state.spent),
            "paused_seconds": int(self.paused),
            "revisions": self.revision,
        }


def _end(step: Progress, at: str) -> str:
    """When a step of an adopted document stopped being open; at once when the document does not say."""
    return step.finished_at or (at if step.status in lifecycle.OPEN else step.started_at)


def _same_work(one: str | int, other: str | int, running: Mapping[str | int, str]) -> bool:
    """A leaf that is worked on under a lease on something around it."""
    if isinstance(one, str) == isinstance(other, str):
        return False
    leaf, lease = (running[one], running[other]) if isinstance(one, str) else (running[other], running[one])
    return not lease or leaf.startswith(lease + "/")
