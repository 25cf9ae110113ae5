"""Waiting for what happens to a workflow."""

from __future__ import annotations

import time
from _collections_abc import Iterator, Mapping

from holdfast.core import answers, remedies
from holdfast.core.apply import Record
from holdfast.core.briefing import Briefing
from holdfast.core.remedy import told
from holdfast.core.value import Any
from holdfast.errors import NotFound
from holdfast.plain.plainjson import spaced
from holdfast.plain.terminal import escape
from holdfast.project.workflow import Workflow
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.watching import Watcher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.engine.ports import Store

TIMED_OUT = 124
_ENDED = ("finalized", "cancelled")
OVER = (*_ENDED, "completed")
"""The statuses of a workflow in which nothing more is to be done."""


def wait(call: Call) -> int:
    """0 when it happened, 124 after the timeout. With `--since`, what happened after that revision counts."""
    workflow, goal = call.workflow(), getattr(call.args, "for")
    store, ulid = call.project.wired.store, workflow.ulid
    since = workflow.state.revision if call.args.since is None else call.args.since
    until = time.monotonic() + call.args.timeout if call.args.timeout else None
    watcher = Watcher(lambda: store, ulid)
    watcher.look()  # whatever happens from now on is a change
    while True:
        brief = workflow.refresh().briefing()
        if happened(workflow, brief, goal, since):
            return _said(call, workflow, brief, since, 0)
        if watcher.wait(until) is None:
            return _said(call, workflow, brief, since, TIMED_OUT)
        require_there(store, ulid, workflow.id)


def require_there(store: Store, ulid: str, id: str = "") -> None:
    if not store.has(ulid):
        raise NotFound("no_workflow", f"{id or ulid} is gone", remedy=remedies.listing(), facts={"workflow": ulid})


def happened(workflow: Workflow, brief: Briefing, goal: str, since: int) -> bool:
    """Whether what is waited for shows in the briefing. What came after it was made is for the next look."""
    if brief.status in _ENDED or goal == "done":
        return brief.status in OVER
    if goal == "change":
        return brief.state.revision > since or (brief.status == "completed" and brief.first is None)
    return not brief.waiting or any(record.actor.kind == "human" for record in _since(workflow, brief, since))


def _since(workflow: Workflow, brief: Briefing, since: int) -> Iterator[Record]:
    return workflow.history(since, brief.state.revision)


def _said(call: Call, workflow: Workflow, brief: Briefing, since: int, code: int) -> int:
    """Its state, what people decided since, and what comes next."""
    said = answers.waiting(brief, call.scope(), _since(workflow, brief, since))
    lines = [f"{brief.state.id} is {brief.shown_status.replace('_', ' ')}, revision {brief.state.revision}"]
    lines += [f"  {_sentence(one)}" for one in said["decided"]]
    lines += [f"  {path}: {one.message} ({told(one.remedies, call.scope())})" for path, one in brief.waiting]
    if said["required_action"] and not brief.waiting:
        lines.append(f"  next: {said['required_action']}")
    call.answer(said, escape("\n".join(lines), lines=True))
    return code


def _sentence(one: Mapping[str, Any]) -> str:
    more = [f"variant {one['variant']}"] if "variant" in one else []
    more += [f"modifications {spaced(one['modifications'])}"] if "modifications" in one else []
    words = one.get("feedback") or one.get("reason")
    with_ = f" with {' and '.join(more)}" if more else ""
    return f"{one['step']}: {one['decision']} by {one['by']}{with_}" + (f": {words}" if words else "")
