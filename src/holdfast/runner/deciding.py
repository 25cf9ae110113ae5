"""Who is needed now: the agent, a reviewer, Holdfast itself, or a person. Values in, a value out."""

from __future__ import annotations

from holdfast.core import gates, lifecycle
from holdfast.core.value import Value
from holdfast.runner.team import Team

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.briefing import Briefing
    from holdfast.core.gates import Unmet
    from holdfast.core.remedy import Remedy

AGENT, REVIEWER, ENGINE, PERSON, NOBODY = "agent", "reviewer", "engine", "person", "nobody"
_STOPPING = ("mark", "bound", "system", "git", "read_only", "held", "escalated", "blocked")
"""Kinds of blockers that no turn of an agent clears."""


class Tried(Value):
    """What the runner knows of the step since it last changed."""

    had_turn: bool = False
    """Whether an agent worked in this attempt at the step, and no reviewer after it."""
    refused: bool = False
    """Whether Holdfast tried to hand the step in since the last turn, and its gates refused that."""


class Need(Value):
    who: str
    step: str = ""
    does: str = ""
    """What Holdfast does itself: `begin`, `resume` or `done`."""
    role: str = ""
    """Who works: a reviewer, or a member of a shipped team, who hands in nothing."""
    said: str = ""
    """What is lacking, in the words of every surface."""
    ways: tuple[Remedy, ...] = ()


def need(brief: Briefing, tried: Tried, team: Team) -> Need:
    """Who is needed for the next move of a workflow."""
    first, step = brief.first, brief.step or ""
    if first is None or brief.status == "cancelled":
        return Need(NOBODY, step, said=first.message if first else "")
    asked = Need("", step, said=first.message, ways=brief.now)
    if brief.turn == "person" or first.kind in _STOPPING:
        return asked.replace(who=PERSON)
    if first.kind == "review":
        return asked.replace(who=REVIEWER, role=team.reviewer or _role(brief, step))
    if first.kind in ("begin", "failed"):
        return asked.replace(who=ENGINE, does="begin" if first.kind == "begin" else "resume")
    if not tried.refused and _is_handed_in(brief, step, tried, team):
        return asked.replace(who=ENGINE, does="done", role=team.creator)
    return asked.replace(who=AGENT, role=team.creator)


def _is_handed_in(brief: Briefing, step: str, tried: Tried, team: Team) -> bool:
    """Whether nothing but what Holdfast does and sees itself is between this step and the next one.

    What an agent has to say of its own work is said by the agent: a turn that ended is no sign that it is finished.
    The creator of a team may not say it, and a reviewer looks at its work next.
    """
    if not step or brief.step_status != lifecycle.ACTIVE:
        return False
    if team.creator:
        return tried.had_turn
    lacking = [one for one in brief.blockers if one.kind != "done"]
    if not all(_is_own(one, brief, step) for one in lacking):
        return False
    defined = brief.state.plan.step(step)
    is_seen = bool(lacking) or any(check.run_by == "engine" for check in defined.checks)
    return is_seen and (tried.had_turn or not _has_work(brief, step))


def _is_own(one: Unmet, brief: Briefing, step: str) -> bool:
    if one.kind == "action":
        return True
    check = brief.state.plan.step(step).check(one.name) if one.kind == "check" else None
    return check is not None and gates.is_runnable(check, step, brief.facts)


def _has_work(brief: Briefing, step: str) -> bool:
    """Whether there is more to a step than checks that Holdfast runs and actions that it takes."""
    defined, task = brief.state.plan.step(step), brief.task_of(step)
    if defined.outputs or defined.code or defined.result or task.files:
        return True
    return not defined.action and bool(task.text or any(check.test for check in defined.checks))


def _role(brief: Briefing, step: str) -> str:
    review = brief.state.plan.step(step).review
    named = [*(review.by if review else ()), *brief.state.plan.step(step).agents]
    return next((one for one in named if "review" in one), named[0] if review and review.by else "reviewer")
