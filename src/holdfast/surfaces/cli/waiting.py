"""Waiting for a workflow, by looking at it again and again."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import answers, remedies
from holdfast.core.remedy import told
from holdfast.core.value import Any
from holdfast.errors import NotFound
from holdfast.plain.terminal import escape
from holdfast.surfaces.cli.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.briefing import Briefing
    from holdfast.project.workflow import Workflow

TIMED_OUT = 124
LOOK = 0.25
"""Seconds between two looks at the journal."""
_ENDED = ("completed", "finalized", "cancelled")


def wait(call: Call) -> int:
    """0 when it happened, 124 after the timeout. With `--since`, what happened after that revision counts."""
    import time

    workflow, goal = call.workflow(), getattr(call.args, "for")
    store, ulid = call.project.wired.store, workflow.ulid
    since = workflow.state.revision if call.args.since is None else call.args.since
    until = time.monotonic() + call.args.timeout if call.args.timeout else None
    while True:
        stamp = store.stamp(ulid)
        brief = workflow.refresh().briefing()
        if _happened(workflow, brief, goal, since):
            return _said(call, workflow, brief, since, 0)
        while store.stamp(ulid) == stamp:
            if until is not None and time.monotonic() >= until:
                return _said(call, workflow, brief, since, TIMED_OUT)
            time.sleep(LOOK)
        if not store.has(ulid):
            raise NotFound("no_workflow", f"{workflow.id} is gone", remedy=remedies.listing(), facts={"workflow": ulid})


def _happened(workflow: Workflow, brief: Briefing, goal: str, since: int) -> bool:
    if brief.status in _ENDED or goal == "done":
        return brief.status in _ENDED
    if goal == "change":
        return brief.state.revision > since
    return not brief.waiting or any(record.actor.kind == "human" for record in workflow.history(since))


def _said(call: Call, workflow: Workflow, brief: Briefing, since: int, code: int) -> int:
    """Where it stands, what people decided since, and what comes next."""
    said = answers.waiting(brief, call.scope(), workflow.history(since))
    lines = [f"{brief.state.id} is {brief.status.replace('_', ' ')}, revision {brief.state.revision}"]
    lines += [f"  {_sentence(one)}" for one in said["decided"]]
    lines += [f"  {path}: {one.message} ({told(one.remedies, call.scope())})" for path, one in brief.waiting]
    if said["required_action"] and not brief.waiting:
        lines.append(f"  next: {said['required_action']}")
    call.answer(said, escape("\n".join(lines), lines=True))
    return code


def _sentence(one: Mapping[str, Any]) -> str:
    from holdfast.plain.plainjson import spaced

    more = [f"variant {one['variant']}"] if "variant" in one else []
    more += [f"modifications {spaced(one['modifications'])}"] if "modifications" in one else []
    words = one.get("feedback") or one.get("reason")
    with_ = f" with {' and '.join(more)}" if more else ""
    return f"{one['step']}: {one['decision']} by {one['by']}{with_}" + (f": {words}" if words else "")
