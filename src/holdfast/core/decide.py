"""The rules: (state, request, facts) → events, or a refusal. Nothing else in Holdfast says yes or no to a change.

Pure: no clock, no disk, no ids made here. Everything a rule must know of the world is in `facts`.
"""

from __future__ import annotations

from _collections_abc import Callable

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import queries, refusals, remedies
from holdfast.core.apply import apply
from holdfast.core.draft import Draft, Rules, no_rules
from holdfast.core.names import checked, optional_text
from holdfast.core.rules import agents, briefing, hosts, locks, people, steps, tree, whole
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import NotFound


def _own(draft: Draft, command: cmd.Own) -> None:
    rule = draft.rules(command.system).get(command.name)
    if rule is None:
        raise NotFound(
            "no_rule",
            f"the system {command.system[:60]} has no command {command.name[:60]!r}",
            remedy=remedies.status(workflow=draft.state.ulid),
            facts={"system": command.system[:200], "command": command.name[:200]},
        )
    rule(draft, command.data)


HANDLERS: dict[type, Callable[[Draft, Any], None]] = {
    cmd.Begin: steps.begin,
    cmd.Done: steps.done,
    cmd.Attach: steps.attach,
    cmd.Submit: steps.submit,
    cmd.Fail: steps.fail,
    cmd.Iterate: steps.iterate,
    cmd.Block: steps.block,
    cmd.Unblock: steps.unblock,
    cmd.Skip: steps.skip,
    cmd.Reopen: steps.reopen,
    cmd.RecordCheck: steps.record_check,
    cmd.Review: people.review,
    cmd.Approve: people.approve,
    cmd.Reject: people.reject,
    cmd.Reset: whole.reset,
    cmd.Advise: briefing.advise,
    cmd.Finalize: whole.finalize,
    cmd.Resume: whole.resume,
    cmd.Cancel: whole.cancel,
    cmd.Pause: whole.pause,
    cmd.Extend: whole.extend,
    cmd.Note: whole.note,
    cmd.Record: whole.record,
    cmd.Outdate: whole.outdate,
    cmd.Revalidate: whole.revalidate,
    cmd.Rehome: whole.rehome,
    cmd.TakeSnapshot: steps.take_snapshot,
    cmd.Restore: whole.restore,
    cmd.TakeOver: whole.take_over,
    cmd.Alarm: whole.alarm,
    cmd.Compacted: hosts.compacted,
    cmd.Sit: hosts.sit,
    cmd.Leave: hosts.leave,
    cmd.Acknowledge: hosts.acknowledge,
    cmd.Urge: hosts.urge,
    cmd.Touch: hosts.touch,
    cmd.Remember: hosts.remember,
    cmd.Brief: briefing.brief,
    cmd.Learn: briefing.learn,
    cmd.Own: _own,
    cmd.Refile: whole.refile,
    cmd.Lock: locks.lock,
    cmd.Unlock: locks.unlock,
    cmd.Spend: agents.spend,
    cmd.StartAgent: agents.start,
    cmd.BeatAgent: agents.beat,
    cmd.EndAgent: agents.end,
    cmd.AddStep: tree.add,
    cmd.RetireStep: tree.retire,
    cmd.ChangeStep: tree.change,
}

WORK = (
    *(cmd.Begin, cmd.Done, cmd.Iterate, cmd.Submit, cmd.Review, cmd.Approve),
    *(cmd.Skip, cmd.Reopen, cmd.Reset, cmd.Unblock),
)
"""What moves the work on: refused while the workflow is cancelled, paused or out of bounds."""

ALWAYS = (
    *(cmd.Note, cmd.Alarm, cmd.Compacted, cmd.Acknowledge, cmd.Sit, cmd.Leave, cmd.Refile, cmd.Remember),
    *(cmd.Unlock, cmd.EndAgent, cmd.BeatAgent, cmd.Spend, cmd.Resume, cmd.Cancel, cmd.Extend, cmd.Rehome),
)
"""What stays possible whatever has happened, and needs no lease."""

AFTERWARDS = (
    *(cmd.Finalize, cmd.Note, cmd.Record, cmd.Alarm, cmd.Spend, cmd.EndAgent, cmd.Unlock),
    *(cmd.Compacted, cmd.Acknowledge, cmd.Sit, cmd.Leave, cmd.Remember, cmd.Refile),
)
"""What can still be said of a workflow whose result is handed over."""


def decide(
    state: State | None, request: cmd.Request, facts: cmd.Facts, rules: Rules = no_rules
) -> tuple[ev.Event, ...]:
    """The events a request leads to; none when it changes nothing; a refusal is raised and changes nothing."""
    if request.key:
        checked(request.key, "key", 200)
    command = request.command
    if isinstance(command, cmd.Start):
        return _started(command, request, facts)
    if isinstance(command, cmd.Adopt):
        return (_adopted(command),)
    if state is None:
        raise refusals.no_workflow()
    return tuple(weigh(state, request, facts, rules).events)


def weigh(state: State, request: cmd.Request, facts: cmd.Facts, rules: Rules = no_rules) -> Draft:
    """The decision on a running workflow, with the state it leads to: who keeps it need not fold the events again."""
    draft = Draft(state, request.actor, facts, rules)
    if request.key and checked(request.key, "key", 200) in state.keys:
        payload, revision = state.keys[request.key]
        if payload != request.payload:
            raise refusals.key_conflict(request.key, revision)
        return draft
    command = request.command
    agents.check_role(draft, request)
    agents.check_fence(draft, request)
    hosts.check_caught_up(draft, request)
    if isinstance(command, cmd.Edit):
        _edit(draft, command)
    elif isinstance(command, cmd.Together):
        for one in command.commands:
            _one(draft, one)
    else:
        _one(draft, command)
    steps.advance(draft)
    if draft.events:
        agents.stay(draft)
        whole.warn(draft)
    return draft


def _one(draft: Draft, command: cmd.Command) -> None:
    if draft.state.finalized and not isinstance(command, AFTERWARDS):
        raise refusals.finalized(draft.state)
    if isinstance(command, WORK):
        _may_work(draft)
    elif draft.state.cancelled and not isinstance(command, ALWAYS):
        raise refusals.cancelled(draft.state)
    HANDLERS[type(command)](draft, command)


def _may_work(draft: Draft) -> None:
    state = draft.state
    if state.cancelled:
        raise refusals.cancelled(state)
    if state.paused:
        raise refusals.paused(state)
    if queries.is_outdated(state, draft.facts):
        raise refusals.requires_revalidation(state, *queries.outdated_because(state, draft.facts))
    draft.require_bounds()


def _edit(draft: Draft, edit: cmd.Edit) -> None:
    """An edited document is the commands it stands for: if one of them is refused, nothing of it is taken."""
    draft.emit(ev.Edited(path=edit.path, document=edit.document, source=edit.source))
    for command in edit.commands:
        _one(draft, command)
    for entry in edit.entries:
        draft.emit(ev.Remembered(entry))


def _started(command: cmd.Start, request: cmd.Request, facts: cmd.Facts) -> tuple[ev.Event, ...]:
    event = _start(command)
    draft = Draft(apply(None, event, facts.now, request.actor), request.actor, facts)
    for path, reason in command.finished.items():
        draft.step(path)
        draft.move("skipped", path, reason=reason)
    for path in command.begun:
        steps.begin(draft, cmd.Begin(path))
    steps.advance(draft, starting=True)
    return (event, *draft.events)


def _start(command: cmd.Start) -> ev.Started:
    optional_text(command.subject, "subject", 1000)
    optional_text(command.title, "title", 500)
    said = {name: value for name, value in command.items() if name in ev.Started._known}
    lists = {what: briefing.checked(what, getattr(command, what)) for what in briefing.LONGEST}
    return ev.Started(**{**said, **lists})


def _adopted(command: cmd.Adopt) -> ev.Adopted:
    said = {name: value for name, value in command.state.items() if name in ev.Adopted._known}
    return ev.Adopted(**said, steps=command.state.plan.steps, document=command.document)
