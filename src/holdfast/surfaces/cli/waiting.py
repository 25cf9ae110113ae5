"""Waiting for a workflow, by looking at it again and again."""

from __future__ import annotations

from holdfast.core import answers, remedies
from holdfast.core.remedy import told
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
            return _said(call, brief, 0)
        while store.stamp(ulid) == stamp:
            if until is not None and time.monotonic() >= until:
                return _said(call, brief, TIMED_OUT)
            time.sleep(LOOK)
        if not store.has(ulid):
            raise NotFound("no_workflow", f"{workflow.id} is gone", remedy=remedies.listing(), facts={"workflow": ulid})


def _happened(workflow: Workflow, brief: Briefing, goal: str, since: int) -> bool:
    if brief.status in _ENDED or goal == "done":
        return brief.status in _ENDED
    if goal == "change":
        return brief.state.revision > since
    return not brief.waiting or any(record.actor.kind == "human" for record in workflow.history(since))


def _said(call: Call, brief: Briefing, code: int) -> int:
    asked = [f"{path}: {one.message} ({told(one.remedies, call.scope())})" for path, one in brief.waiting]
    head = f"{brief.state.id} is {brief.status.replace('_', ' ')}, revision {brief.state.revision}"
    text = "".join(f"\n  {line}" for line in asked)
    call.answer(answers.waiting(brief, call.scope()), escape(head + text, lines=True))
    return code
