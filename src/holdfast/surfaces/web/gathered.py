"""What the pages say of a project, gathered once for a request. All facts are those of the briefing."""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast.core import lifecycle, limits, moment, remedies
from holdfast.core.briefing import Briefing
from holdfast.core.gates import Unmet
from holdfast.core.remedy import typed
from holdfast.core.state import Lease, State
from holdfast.core.value import Value
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces.waiters import is_awaited

FINISHED = 10
"""How many of the workflows that ended last are shown."""


class Seen(Value):
    """A workflow with what there is to say of it now."""

    workflow: Workflow
    brief: Briefing

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


def seen(workflow: Workflow) -> Seen:
    return Seen(workflow, workflow.briefing())


def active(project: Project) -> list[Seen]:
    return [seen(one) for one in project.list(status="active") if _is_open(one)]


def _is_open(workflow: Workflow) -> bool:
    state = workflow.state
    return not (state.cancelled or state.finalized)


def finished(project: Project) -> list[Seen]:
    """Those that ended last, the newest first."""
    entries = [one for one in project.wired.store.entries() if not one.active]
    newest = sorted(entries, key=lambda one: one.updated_at, reverse=True)[:FINISHED]
    return [seen(project.workflow(one.ulid)) for one in newest]


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
