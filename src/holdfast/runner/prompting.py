"""What a host is asked in a turn."""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast.runner import team
from holdfast.runner.deciding import REVIEWER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.project.workflow import Workflow
    from holdfast.runner.deciding import Need

NEARLY = 90
"""Percent of a bound from which on an agent is asked to finish."""
_ALONE = (
    "You work without a person: nobody reads what you say here, and nobody answers a question. Whatever counts is in"
    " files and in the commands of holdfast. Your turn ends when you stop calling tools; work until then."
)


def first(workflow: Workflow, need: Need, *, why: Sequence[str] = ()) -> str:
    """The first prompt of a session: all that there is to know."""
    told = team.told(workflow.state, need.step, need.role, workflow.wired.place.root) if need.role else ""
    role = [f"Your role is {need.role}, and SLUG is {workflow.id}.\n\n{told.strip()}"] if told else []
    asked = _asked(workflow, need)
    return "\n\n".join([_ALONE, *role, *_because(why), workflow.packet(), asked, *_bounds(workflow)]) + "\n"


def more(workflow: Workflow, need: Need, *, why: Sequence[str] = ()) -> str:
    """A later prompt of the same session: what came of its last turn."""
    brief = workflow.briefing()
    said = [f"{brief.state.id} is at {need.step or 'its end'}, and it is not done: {need.said}."]
    said += [f"Asked for: {one}" for one in brief.asked] + list(brief.output)
    return "\n\n".join([*_because(why), "\n".join(said), _asked(workflow, need), *_bounds(workflow)]) + "\n"


def _because(why: Sequence[str]) -> list[str]:
    return ["What happened since your last turn:\n" + "\n".join(f"- {one}" for one in why)] if why else []


def _asked(workflow: Workflow, need: Need) -> str:
    id = workflow.id
    if need.who == REVIEWER:
        gate = workflow.state.plan.step(need.step).review
        then = "It is read when you stop." if gate and gate.files else "Then do what the line about the review says."
        return (
            f"You are the reviewer of {need.step}, in the role {need.role}. Look at the work, and change none of it."
            f" {need.said}. {then}"
        )
    if need.role:
        return (
            f"Work on {need.step} in the role {need.role}, and stop when its files are written. What you wrote is then"
            " committed and handed in for you: commands of holdfast that change the state are refused in this role."
        )
    if not need.step:
        return f"All steps are done. What is left: {need.said}. To see the command for it: holdfast next -w {id}"
    return (
        f"Work on the step {need.step} now. When it is finished: holdfast done {need.step} -w {id}, with what"
        f" holdfast next -w {id} asks for. If it cannot be done: holdfast block {need.step} --reason TEXT -w {id}."
        f" Approvals are a person's: when one is needed, stop."
    )


def _bounds(workflow: Workflow) -> list[str]:
    from holdfast.core import limits

    return [
        f"{one.percent} % of the {one.bound} is used up ({one.used_text} of {one.limit_text}): finish and hand in now."
        for one in limits.usages(workflow.state, workflow.facts().now)
        if NEARLY <= one.percent < 100
    ]
