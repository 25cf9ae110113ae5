"""The rules: (state, request, facts) → events, or a refusal. Nothing else in Holdfast says yes or no to a change.

Pure: no clock, no disk, no ids made here. Everything a rule must know of the world is in `facts`.
"""

from __future__ import annotations

from _collections_abc import Callable

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import gates, queries, refusals, remedies
from holdfast.core.apply import apply
from holdfast.core.draft import Draft, Rules, no_rules
from holdfast.core.facts import Facts
from holdfast.core.names import checked, optional_text
from holdfast.core.rules import agents, hosts, steps, whole
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import NotFound


def _own(draft: Draft, command: cmd.Own) -> None:
    rule = draft.rules(command.system).get(command.name)
    if rule is None:
        said = f"the system {command.system[:60]} has no command {command.name[:60]!r}"
        facts = {"system": command.system[:200], "command": command.name[:200]}
        raise NotFound("no_rule", said, remedy=remedies.status(workflow=draft.state.ulid), facts=facts)
    rule(draft, command.data)


_RULES: dict[str, tuple[type, ...]] = {
    "steps": (
        *(cmd.Begin, cmd.Done, cmd.Attach, cmd.Submit, cmd.RecordCheck, cmd.Fail, cmd.Iterate),
        *(cmd.Block, cmd.Unblock, cmd.Skip, cmd.Reopen, cmd.TakeSnapshot),
    ),
    "people": (cmd.Review, cmd.Approve, cmd.Confirm, cmd.Reject),
    "whole": (
        *(cmd.Reset, cmd.Finalize, cmd.Resume, cmd.Cancel, cmd.Reinstate, cmd.Pause, cmd.Extend, cmd.Note),
        *(cmd.Record, cmd.Outdate, cmd.Revalidate, cmd.Rehome, cmd.Rename, cmd.Refile, cmd.Restore),
        *(cmd.TakeOver, cmd.Alarm),
    ),
    "hosts": (cmd.Compacted, cmd.Sit, cmd.Leave, cmd.Acknowledge, cmd.Urge, cmd.Touch, cmd.Remember),
    "briefing": (cmd.Advise, cmd.Brief, cmd.Learn),
    "locks": (cmd.Lock, cmd.Unlock),
    "agents": (cmd.Spend, cmd.StartAgent, cmd.BeatAgent, cmd.EndAgent),
    "tree": (cmd.AddStep, cmd.RetireStep, cmd.ChangeStep, cmd.Equip),
}
"""The commands that each module of rules decides. A rule has the name of its command: `record_check`."""
_MODULES = {command: module for module, commands in _RULES.items() for command in commands}
_known: dict[type, Callable[[Draft, Any], None]] = {cmd.Own: _own}


def rule_of(command: type) -> Callable[[Draft, Any], None]:
    """The rule of a command. Its module is imported when it is first asked: many changes need only one."""
    if command not in _known:
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in command.__name__)[1:]
        _known[command] = getattr(__import__(f"holdfast.core.rules.{_MODULES[command]}", fromlist=[name]), name)
    return _known[command]


WORK = (
    *(cmd.Begin, cmd.Done, cmd.Iterate, cmd.Submit, cmd.Review, cmd.Approve),
    *(cmd.Skip, cmd.Reopen, cmd.Reset, cmd.Unblock),
)
"""What moves the work on: refused while the workflow is cancelled, paused or out of bounds."""

BACKWARDS = (cmd.Reopen, cmd.Reset, cmd.Unblock)
"""Of these, what goes back to work that is to be done again, whatever that builds on."""

ALWAYS = (
    *(cmd.Note, cmd.Alarm, cmd.Compacted, cmd.Acknowledge, cmd.Sit, cmd.Leave, cmd.Refile, cmd.Remember),
    *(cmd.Unlock, cmd.EndAgent, cmd.BeatAgent, cmd.Spend, cmd.Resume, cmd.Cancel, cmd.Extend, cmd.Rehome),
    cmd.Reinstate,
)
"""What stays possible whatever has happened, and needs no lease."""

AFTERWARDS = (
    *(cmd.Finalize, cmd.Note, cmd.Record, cmd.Alarm, cmd.Spend, cmd.EndAgent, cmd.Unlock),
    *(cmd.Compacted, cmd.Acknowledge, cmd.Sit, cmd.Leave, cmd.Remember, cmd.Refile),
)
"""What can still be said of a workflow whose result is handed over."""


def decide(state: State | None, request: cmd.Request, facts: Facts, rules: Rules = no_rules) -> tuple[ev.Event, ...]:
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
    return tuple(decide_running(state, request, facts, rules).events)


def decide_running(state: State, request: cmd.Request, facts: Facts, rules: Rules = no_rules) -> Draft:
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
        from holdfast.core.rules import edits

        edits.edit(draft, command, _one)
    elif isinstance(command, cmd.Together):
        for one in command.commands:
            _one(draft, one)
    else:
        _one(draft, command)
    if any(isinstance(one, agents.REACHING) for one in agents.parts_of(command)):
        agents.check_reach(draft, state)
    steps.advance(draft)
    if draft.events:
        agents.stay(draft)
        whole.warn(draft)
    return draft


def _one(draft: Draft, command: cmd.Command) -> None:
    is_checked_again = isinstance(command, cmd.RecordCheck) and queries.is_half_finalized(draft.state)
    if draft.state.finalized and not isinstance(command, AFTERWARDS) and not is_checked_again:
        raise refusals.finalized(draft.state)
    if isinstance(command, WORK):
        _may_work(draft, command)
    elif draft.state.cancelled and not isinstance(command, ALWAYS):
        raise refusals.cancelled(draft.state)
    rule_of(type(command))(draft, command)


def _may_work(draft: Draft, command: cmd.Command) -> None:
    state = draft.state
    if state.cancelled:
        raise refusals.cancelled(state)
    if state.paused:
        raise refusals.paused(state)
    if queries.is_outdated(state, draft.facts):
        raise refusals.requires_revalidation(state, *queries.outdated_because(state, draft.facts))
    if draft.facts.ground and not isinstance(command, BACKWARDS):
        raise refusals.ungrounded(state, draft.facts.ground)
    draft.require_bounds()


def _started(command: cmd.Start, request: cmd.Request, facts: Facts) -> tuple[ev.Event, ...]:
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
    from holdfast.core.rules import briefing

    optional_text(command.subject, "subject", 1000)
    optional_text(command.title, "title", 500)
    said = {name: value for name, value in command.items() if name in ev.Started._known}
    lists = {what: briefing.checked(what, getattr(command, what)) for what in briefing.LONGEST}
    return ev.Started(**{**said, **lists})


def _adopted(command: cmd.Adopt) -> ev.Adopted:
    plan = command.state.plan
    said = {name: value for name, value in command.state.items() if name in ev.Adopted._known}
    progress = command.state.progress
    said["progress"] = {path: gates.with_claims(plan.step(path), one) for path, one in progress.items()}
    return ev.Adopted(**said, steps=plan.steps, document=command.document)
