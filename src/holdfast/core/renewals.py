"""Finished work that is to be approved again: what it lacks before a person is asked."""

from __future__ import annotations

from holdfast.core import gates, lifecycle, remedies
from holdfast.core.facts import Facts
from holdfast.core.remedy import Remedy
from holdfast.core.state import State


def outdated(state: State, path: str, facts: Facts) -> list[gates.Unmet]:
    """What finished work lacks before it can be approved again: files that were deleted, and checks of code that
    did not run on it as it is now.

    Once a later step with code has begun, the checks are that step's.
    """
    whole = facts.hand_ins.get(path)
    if whole and whole.deleted:
        return [gates.deleted(whole, file) for file in whole.deleted]
    step, progress = state.plan.step(path), state.step(path)
    after = state.plan.children("")[state.plan.children("").index(path) + 1 :] if step.code else ()
    if not step.code or any(state.plan.step(p).code and state.step(p).status != lifecycle.PENDING for p in after):
        return []
    lacking = ((one.name, gates.check_verdict(one, progress, facts)) for one in step.checks)
    said = {"failed": "failed", "stale": "passed before the work changed"}
    return [
        gates.Unmet("check", name, f"the check {name!r} {said[verdict]}", (remedies.check(name, step=path),))
        for name, verdict in lacking
        if verdict in said
    ]


def untested(state: State, facts: Facts) -> list[gates.Unmet]:
    """The checks of finished code that did not run on it as it is now, as after a merge: no workflow ends on these."""
    done = (path for path in state.plan.children("") if state.step(path).status == lifecycle.DONE)
    found = ((path, one) for path in done for one in outdated(state, path, facts))
    return [one.replace(message=one.message.replace(f"{one.name!r}", f"{one.name!r} of {path}")) for path, one in found]


def rerunning(state: State, path: str, facts: Facts) -> tuple[Remedy, ...]:
    """What comes before a person is asked about finished work again; nothing where all of it holds."""
    found = outdated(state, path, facts)
    return found[0].remedies if found else ()
