"""The result of a workflow that others build on, where it does not hold."""

from __future__ import annotations

from holdfast.core import queries, remedies
from holdfast.core.facts import Facts
from holdfast.core.gates import Unmet
from holdfast.core.remedy import Remedy
from holdfast.core.state import State


def unbuilt(state: State, facts: Facts) -> Unmet:
    """Why nothing can be built on the result of a workflow, and what helps, as the end of a sentence about it."""
    last, look = state.plan.children("")[-1], (remedies.status(workflow=state.ulid),)
    if state.cancelled:
        return Unmet("mark", "cancelled", f"is cancelled ({state.id})", queries.revival(state))
    if queries.is_outdated(state, facts):
        if facts.parent_unmet is None and facts.parent_seal == "":
            return Unmet("outdated", state.id, f"builds on one that is gone ({state.id})", look)
        unmet = facts.parent_unmet
        said = f"requires revalidation itself, as the plan it builds on {unmet.message if unmet else 'has changed'}"
        ways = unmet.remedies if unmet else (remedies.revalidate(workflow=state.ulid),)
        return Unmet("outdated", state.id, said, ways)
    if not state.finished_at:
        at = queries.current(state) or last
        said = f"is not approved: {state.id} is at {state.plan.step(at).label}"
        return Unmet("requires", state.id, said, (remedies.next_step(workflow=state.ulid),))
    named = state.step(last).artifacts.values()
    lost = [one.path for one in named if facts.hashes.get(one.path, "") is None]
    own = remedies.approve(last, workflow=state.ulid)
    if lost:
        way = Remedy(text=f"bring {', '.join(lost)} back")
        return Unmet("approval", state.id, f"is not as it was approved: {', '.join(lost)} is not there", (way,))
    said = "has changed, and is not approved any more"
    return Unmet("approval", state.id, said, remedies.person(last, own, workflow=state.ulid))
