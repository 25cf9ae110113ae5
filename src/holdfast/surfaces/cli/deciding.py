"""Which step `approve` and `reject` are about where none is named: the one that waits for it."""

from __future__ import annotations

from _collections_abc import Callable

from holdfast.core import lifecycle, queries, remedies
from holdfast.core.remedy import Remedy
from holdfast.errors import NotFound, Refused, UsageError
from holdfast.project.workflow import Workflow
from holdfast.surfaces import approving
from holdfast.surfaces.cli.call import Call

_MOST = 8


def only(call: Call, way: Callable[..., Remedy]) -> tuple[Workflow, str]:
    """The one step that waits for a decision: of the workflow that is named, else of all that are active.

    `way` is the remedy that decides about a step; where several wait, it is suggested for each of them.
    """
    found = [(one, path) for one in _meant(call) for path in _waiting(one)]
    if len(found) == 1:
        workflow, path = found[0]
        return call.workflow(workflow.ulid), path
    if not found:
        candidates = call.project.wired.candidates()
        are_several = not call.named() and len(candidates) > 1
        onward = remedies.status() if are_several else remedies.next_step() if candidates else remedies.listing(True)
        raise Refused("nothing_waits", "no step waits for an approval", remedy=onward)
    are_several = len({one.ulid for one, _ in found}) > 1
    listed = [f"{path} of {one.id}" if are_several else path for one, path in found[:_MOST]]
    said = f"several steps wait for an approval: {', '.join(listed)}"
    ways = tuple(way(path, workflow=one.ulid) for one, path in found[:_MOST])
    raise UsageError("several_wait", said, remedy=ways, facts={"steps": [path for _, path in found]})


def _meant(call: Call) -> list[Workflow]:
    """The workflow that is named, or would be picked; where several could be, all that are active."""
    try:
        first = [call.workflow()]
    except UsageError as several:
        if several.code != "ambiguous_workflow":
            raise
        first = []
    except NotFound:
        if call.named():
            raise
        first = []
    if first and (call.named() or _waiting(first[0])):
        return first
    return call.project.list(status="active") or first


def _waiting(workflow: Workflow) -> list[str]:
    """The steps that wait for an approval, else those that could be approved as they are now."""
    state = workflow.state
    if not queries.is_active(state):
        return []
    waiting = [path for path in state.plan.paths if state.step(path).status == lifecycle.WAITING]
    return waiting or [path for path in state.plan.asking() if approving.is_ready(workflow, path)]
