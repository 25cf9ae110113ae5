"""Steps that are nothing but a person's word, and what leads on from a step before and while it is worked on."""

from __future__ import annotations

from holdfast.core import gates, lifecycle, remedies
from holdfast.core.definition import Step
from holdfast.core.facts import Facts
from holdfast.core.remedy import Remedy
from holdfast.core.state import State


def only_asks(step: Step) -> bool:
    """Whether a step is nothing but a person's approval or choice: it has no work that is begun and handed in.

    A proof names the attempt that it is given to, so a step that takes nothing else is begun first.
    """
    asks = gates.policy(step) in ("relayed", "human")
    work = step.outputs or step.checks or step.review or step.action or step.code or step.result
    return asks and not (work or step.steps or step.task or step.supervised_after)


def takes_word(state: State, path: str) -> bool:
    """Whether such a step takes the word as it is: it has not begun, or has begun and was not sent back."""
    progress = state.step(path)
    is_open = progress.status == lifecycle.PENDING or (progress.status == lifecycle.ACTIVE and not progress.advice)
    return is_open and only_asks(state.plan.step(path))


def is_asked(state: State, path: str) -> bool:
    """Whether there is nothing to do in it either, so that it waits for the word, also where somebody began it."""
    step = state.plan.step(path)
    return takes_word(state, path) and not (step.description or step.agents)


def not_begun(state: State, path: str, facts: Facts) -> list[gates.Unmet]:
    """What a step needs that could begin: where there is nothing to do in it, only a person's word."""
    if is_asked(state, path):
        return gates.people_unmet(state, path, facts)
    return [gates.Unmet("begin", path, "it has not begun", (remedies.begin(path),))]


def handing_in(state: State, path: str, facts: Facts) -> tuple[Remedy, ...]:
    """What leads on from a step that is worked on. One that only asks and was sent back is about work of others."""
    step = state.plan.step(path)
    if not gates.to_change(step, state.step(path), facts):
        return (remedies.done(path),)
    before = state.plan.closure(path) if only_asks(step) else ()
    done = [one for one in before if state.step(one).status == lifecycle.DONE]
    working = [one for one in state.plan.paths if one in done and state.plan.step(one).outputs] or done
    more = (remedies.reopen(working[-1], text=f"if the work of {working[-1]} has to change"),) if working else ()
    return (remedies.done(path, text=remedies.FIX), *more)
