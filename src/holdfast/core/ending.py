"""What the end of a workflow rests on: the tests, what limits their proof, and the approval that its result has."""

from __future__ import annotations

from holdfast.core import covered, gates, lifecycle, provenance
from holdfast.core.facts import Facts
from holdfast.core.state import State


def proving(state: State, path: str = "") -> list[str]:
    """The steps whose tests the end rests on: code that was handed in, and that no later code follows.

    Of a step only where its approval rests on them too: it is one of these, or the last one.
    """
    tops = state.plan.children("")
    code = [one for one in tops if state.plan.step(one).code and state.step(one).status != lifecycle.PENDING]
    return code[-1:] if not path or path in (*code[-1:], tops[-1]) else []


def limits(state: State, path: str = "") -> list[str]:
    """What limits the proof of the tests that the end rests on, or the approval of a step."""
    seen = (one for step in proving(state, path) for one in state.step(step).evidence.values())
    return [said for one in seen if one.run_by == "engine" for said in provenance.limits(one)]


def remarks(state: State, path: str) -> list[str]:
    """The same in sentences, as a person is shown them."""
    seen = ((step, one) for step in proving(state, path) for one in state.step(step).evidence.values())
    return [f"{step}: {said}" for step, one in seen if one.run_by == "engine" for said in provenance.remarks(one)]


def unapproved(state: State) -> list[str]:
    """What limits the proof that the end rests on, where no person was shown it, in a sentence for each check.

    Once the end began, only what came with a later run of the tests.
    """
    shown = {one for path in state.plan.children("") if (grant := state.step(path).grant) for one in grant.limits}
    begun = state.finalized.at if state.finalized else ""
    seen = ((path, one) for path in proving(state) for one in state.step(path).evidence.values() if one.at > begun)
    new = ((path, one) for path, one in seen if one.run_by == "engine" and not {*provenance.limits(one)} <= shown)
    return [f"{path}: {said}" for path, one in new for said in provenance.remarks(one)]


def sealed(state: State, facts: Facts) -> str:
    """What a finished workflow's result is, as others build on it; empty when it does not hold.

    It names the approval at the end and the hashes it was given for, so that any change makes another one.
    """
    last = state.plan.children("")[-1]
    step, progress = state.plan.step(last), state.step(last)
    changed = facts.parent_seal is not None and facts.parent_seal != state.parent_seal
    if not state.finished_at or state.cancelled or state.outdated or (state.parent and changed):
        return ""
    if gates.policy(step) and gates.grant_verdict(state, last, facts) != "valid":
        return ""
    grant = progress.grant
    return f"{grant.at if grant else progress.finished_at} {sorted(covered.hashes(state, last, facts).values())}"
