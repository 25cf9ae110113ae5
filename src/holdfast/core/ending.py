"""The tests that the end of a workflow rests on: what limits their proof, and whether a person was shown that."""

from __future__ import annotations

from holdfast.core import lifecycle, provenance
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
