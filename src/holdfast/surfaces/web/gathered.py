"""What the pages say of a project, gathered once for a request. All facts are those of the briefing."""

from __future__ import annotations

import time
from _collections_abc import Iterable, Sequence
from _thread import allocate_lock
from contextlib import suppress

from holdfast.core import lifecycle, limits, moment, remedies
from holdfast.core.briefing import Briefing
from holdfast.core.gates import Unmet
from holdfast.core.remedy import typed
from holdfast.core.state import Lease, State
from holdfast.core.value import Value
from holdfast.engine.ports import Cursor
from holdfast.errors import HoldfastError
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces import runs
from holdfast.surfaces.waiters import is_awaited
from holdfast.systems.seam.found import told_gone, unreadable

RUNNING, WAITING, FINISHED = 20, 50, 10
"""How many workflows are shown on one page: the newest that run, those that wait longest, and that ended last."""


class Seen(Value):
    """A workflow with what there is to say of it now."""

    workflow: Workflow
    brief: Briefing

    @property
    def run(self) -> str:
        """How `holdfast run` stands here; empty where nobody runs it."""
        return runs.line(runs.of(self.workflow.wired.place.home, self.brief.state))

    @property
    def link(self) -> str:
        return f"/w/{self.workflow.ulid}"


class Asked(Value):
    """What a person is asked for: of which workflow, at which step, and since when."""

    of: Seen
    step: str
    unmet: Unmet
    since: str

    @property
    def is_decision(self) -> bool:
        """Whether there is work to look at, which is approved or sent back."""
        return self.unmet.kind in ("approval", "choice") and self.step in self.of.brief.state.plan

    @property
    def label(self) -> str:
        plan = self.of.brief.state.plan
        return plan.step(self.step).label if self.step in plan else self.unmet.message

    @property
    def link(self) -> str:
        return f"{self.of.link}/approve/{self.step}" if self.is_decision else self.of.link


_TROUBLES_FOR = 30
"""Seconds for which what was found wrong with journals is told without looking again."""


class Gathered(Value):
    """What the first page shows: of many workflows the newest, and those that wait for a person longest."""

    running: tuple[Seen, ...]
    asked: tuple[Asked, ...]
    others: int = 0
    """How many that run are not shown."""
    waiting: int = 0
    """How often a person is asked for anything, in all of them."""
    troubles: tuple[str, ...] = ()


class Waits:
    """Since when active workflows wait for a person. One is opened again when somebody wrote to its journal."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}
        self._cursor: Cursor | None = None
        self._troubles: tuple[float, Sequence[str]] = (0.0, ())
        self._turn = allocate_lock()

    def of(self, project: Project) -> dict[str, tuple[str, ...]]:
        """The times at which people were asked, for every workflow that is not over, the oldest workflow first."""
        store = project.wired.store
        with self._turn:
            changes = store.changes(self._cursor)
            there = sorted({*changes.cursor, *(entry.ulid for entry in store.unpublished())})
            unknown = {ulid for ulid in there if ulid not in self._known or ulid in changes.moved}
            known = {ulid: self._known.get(ulid, ()) for ulid in there}
            if unknown:
                known |= dict.fromkeys(unknown, ())
                known |= {one.workflow.ulid: tuple(at.since for at in asked([one])) for one in some(project, unknown)}
            self._known, self._cursor = known, changes.cursor
            return known

    def troubles(self, project: Project) -> Sequence[str]:
        """What is wrong with journals. All are looked at for that, so it is asked for from time to time."""
        at, found = self._troubles
        if not at or time.monotonic() - at > _TROUBLES_FOR:
            found = [*(wrong.message for _, wrong in unreadable(project.wired)), *told_gone(project.wired)]
            self._troubles = time.monotonic(), found
        return found


def seen(workflow: Workflow) -> Seen:
    return Seen(workflow, workflow.briefing())


def active(project: Project) -> list[Seen]:
    return [seen(one) for one in project.list(status="active") if _is_open(one)]


def some(project: Project, ulids: Iterable[str]) -> list[Seen]:
    """Those of these workflows that are not over, and can be read."""
    project.heal()
    found = []
    for ulid in sorted(ulids):
        with suppress(HoldfastError, OSError):  # what is wrong with it is among the troubles
            one = Workflow(project.wired, project.turn.look(ulid), project.turn)
            found += [seen(one)] if _is_open(one) else []
    return found


def newest(project: Project, waits: Waits, most: int = RUNNING) -> Gathered:
    """What waits longest, and the newest workflows."""
    since = waits.of(project)
    oldest = sorted((at, ulid) for ulid, times in since.items() for at in times)[:WAITING]
    shown = dict.fromkeys(list(since)[-most:])
    found = some(project, {*shown, *(ulid for _, ulid in oldest)})
    running = tuple(one for one in found if one.workflow.ulid in shown)
    waiting, troubles = sum(map(len, since.values())), tuple(waits.troubles(project))
    return Gathered(running, tuple(asked(found)[:WAITING]), len(since) - len(shown), waiting, troubles)


def _is_open(workflow: Workflow) -> bool:
    state = workflow.state
    return not (state.cancelled or state.finalized)


def finished(project: Project) -> list[Seen]:
    """Those that ended last, the newest first."""
    entries = [one for one in project.wired.store.entries() if not one.active]
    last = sorted(entries, key=lambda one: one.updated_at, reverse=True)[:FINISHED]
    store = project.wired.store
    return [seen(Workflow(project.wired, store.load(one.ulid), project.turn)) for one in last]


def asked(found: Sequence[Seen]) -> list[Asked]:
    """What waits for a person, the oldest first."""
    every = [
        Asked(one, path, unmet, since(one.brief.state, path)) for one in found for path, unmet in one.brief.waiting
    ]
    return sorted(every, key=lambda one: one.since)


def since(state: State, path: str) -> str:
    """Since when a step is as it is."""
    progress = state.step(path)
    return progress.waiting_since or (progress.tries[-1].at if progress.tries else "") or state.moved_at


def span(then: str, now: str) -> str:
    """`12m`, for what lasts: two units at most."""
    seconds = moment.age(then, now)
    return "some time" if seconds is None else moment.span(seconds).split()[0]


def cost(state: State) -> str:
    most = state.bounds.max_cost
    if most:
        spent = "cost not measured here" if state.is_cost_unknown else moment.money(state.spent)
        return f"{spent} of {moment.money(most)}"
    return moment.money(state.spent) if state.spent else ""


def figures(brief: Briefing) -> list[str]:
    """Where the work is, how long it took and what it cost."""
    took = moment.span(limits.elapsed(brief.state, brief.facts.now))
    return [one for one in (f"step {brief.number} of {brief.total}", took, cost(brief.state)) if one]


def heard(lease: Lease, brief: Briefing) -> str:
    """When an agent was last heard of."""
    facts = brief.facts
    if lease.expired(facts.boot, facts.mono):
        return "its lease ran out"
    return f"seen {moment.span(facts.mono - (lease.deadline - lease.ttl))} ago"


def at_work(brief: Briefing) -> list[Lease]:
    """The agents whose leases last."""
    facts = brief.facts
    return [one for one in brief.state.leases.values() if not one.expired(facts.boot, facts.mono)]


def who_notices(workflow: Workflow) -> str:
    """Who learns of a decision: who waits for it, an agent at work, or nobody."""
    brief = workflow.briefing()
    if is_awaited(workflow.wired.place, workflow.ulid):
        return "An agent waits for your decision, and continues by itself."
    found = [f"{one.holder} is at work here ({heard(one, brief)})" for one in at_work(brief)]
    if found:
        return f"{'; '.join(found)}: it learns of your decision with its next command."
    way = typed(remedies.next_step(workflow=workflow.ulid), workflow.wired.scope(workflow.ulid))
    return f"No agent is known to wait or work here: tell yours to continue with {way}"


def is_waiting_step(brief: Briefing, path: str) -> bool:
    return brief.shown_of(path) == lifecycle.WAITING


def name_of(project: Project) -> str:
    """What a project is called: its folder."""
    return project.root.rstrip("/").rpartition("/")[2] or project.root
