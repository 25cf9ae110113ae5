"""Agents at work: leases with a fencing token, heartbeats, spending."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import refusals, remedies
from holdfast.core.draft import Draft
from holdfast.core.names import checked, optional_text
from holdfast.core.patterns import matches
from holdfast.core.rules import locks
from holdfast.core.state import Lease
from holdfast.errors import UsageError

LEASED = (
    *(cmd.Begin, cmd.Done, cmd.Attach, cmd.Submit, cmd.Fail),
    *(cmd.Iterate, cmd.Block, cmd.Unblock, cmd.Skip, cmd.Reopen),
)
"""What an agent without a lease may not do to a step that another agent holds."""
OPEN_TO_ALL = (
    *(cmd.StartAgent, cmd.BeatAgent, cmd.EndAgent, cmd.Spend, cmd.Lock, cmd.Unlock),
    *(cmd.Compacted, cmd.Acknowledge, cmd.Alarm, cmd.Edit, cmd.TakeOver),
)
"""What an agent may still do to a workflow that another session holds as a whole."""


LOOKING = (*(cmd.Acknowledge, cmd.Compacted, cmd.Sit, cmd.Leave, cmd.Touch, cmd.Remember, cmd.Urge, cmd.Alarm),)
"""What is noted of somebody who changes nothing."""


def check_role(draft: Draft, request: cmd.Request) -> None:
    """Roles that the workflow keeps from writing hand what they found to whoever leads the work."""
    role = request.actor.name
    if not role or isinstance(request.command, LOOKING):
        return
    if any(matches(pattern, role) for pattern in draft.state.read_only):
        raise refusals.read_only_role(draft.state, role)


def check_fence(draft: Draft, request: cmd.Request) -> None:
    """A token must still be the newest of its lease. Expiry alone fences nobody; a takeover does."""
    leases = draft.state.leases.values()
    if request.token:
        if not any(lease.token == request.token for lease in leases):
            raise refusals.fenced(request.token)
        return
    if request.actor.kind != "agent":
        return
    command = request.command
    target = command.step if isinstance(command, LEASED) else ""
    for lease in leases:
        if lease.agent:
            continue
        if lease.step:
            covers = isinstance(command, LEASED) and (target == lease.step or target.startswith(lease.step + "/"))
        else:
            covers = isinstance(command, LEASED) or (bool(lease.session) and not isinstance(command, OPEN_TO_ALL))
        same = bool(lease.session) and lease.session == request.actor.session
        if covers and not same and not lease.expired(draft.facts.boot, draft.facts.mono):
            raise refusals.lease_held(lease, target)


def start(draft: Draft, command: cmd.StartAgent) -> None:
    checked(command.role, "role")
    if not 1 <= command.ttl <= 86_400:
        raise UsageError("bad_number", "a lease lasts between one second and a day", remedy="--ttl 10m")
    if command.step:
        draft.step(command.step)
    held = draft.state.leases.get(command.agent or f"{command.role}@{command.step}")
    if held and held.session and held.session == draft.actor.session:
        _renew(draft, held, command.ttl)
        return
    if held and not held.expired(draft.facts.boot, draft.facts.mono):
        raise refusals.lease_held(held, command.step)
    lease = Lease(role=command.role, **draft.claim(command.ttl), step=command.step, agent=command.agent)
    if held:
        locks.free(draft, held.token)
    draft.emit(ev.Leased(lease, took_over=held.token if held else 0))


def stay(draft: Draft) -> None:
    """Whatever a session does is a sign of life; recorded only when a good part of its lease is over."""
    for lease in draft.state.leases.values():
        left = lease.deadline - draft.facts.mono
        if lease.session and lease.session == draft.actor.session and left < 0.75 * lease.ttl:
            _renew(draft, lease, lease.ttl)


def beat(draft: Draft, command: cmd.BeatAgent) -> None:
    lease = _lease(draft, command.token)
    _renew(draft, lease, lease.ttl)


def _renew(draft: Draft, lease: Lease, ttl: int) -> None:
    draft.emit(ev.Beat(lease.token, draft.facts.boot, draft.facts.mono + ttl))
    locks.renew(draft, lease.token)


def end(draft: Draft, command: cmd.EndAgent) -> None:
    lease = draft.state.leases.get(command.agent) if command.agent else _lease(draft, command.token)
    if lease is None:
        return
    if command.stale and not lease.expired(draft.facts.boot, draft.facts.mono):
        raise refusals.lease_held(lease, lease.step)
    optional_text(command.outcome, "outcome")
    locks.free(draft, lease.token)
    draft.emit(ev.Released(lease.token, command.outcome))


def spend(draft: Draft, command: cmd.Spend) -> None:
    if command.micros <= 0:
        said = "an amount spent is more than nothing"
        raise UsageError("bad_number", said, remedy=remedies.named("agent spend", {"amount": "0.20"}))
    if command.step:
        draft.step(command.step)
    held = next((lease.step for lease in draft.state.leases.values() if draft.token and lease.token == draft.token), "")
    draft.emit(ev.Spent(command.micros, command.agent, command.step or held))


def _lease(draft: Draft, token: int) -> Lease:
    for lease in draft.state.leases.values():
        if lease.token == token:
            return lease
    raise refusals.fenced(token)
