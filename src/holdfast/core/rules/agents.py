"""Agents at work: leases with a fencing number, heartbeats, spending.

The holder of a lease proves itself by a token: the number and a secret, of which the journal has the digest.
"""

from __future__ import annotations

from _collections_abc import Mapping, Sequence

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import lifecycle, refusals, remedies
from holdfast.core.draft import Draft
from holdfast.core.names import checked, optional_text
from holdfast.core.state import Lease, State
from holdfast.core.tasks import TASK
from holdfast.core.value import Any
from holdfast.errors import UsageError
from holdfast.plain.digest import digest

LEASED = (
    *(cmd.Begin, cmd.Done, cmd.Attach, cmd.Submit, cmd.Fail),
    *(cmd.Iterate, cmd.Block, cmd.Unblock, cmd.Skip, cmd.Reopen),
    *(cmd.RecordCheck, cmd.Record, cmd.Spend),
)
"""What an agent without a lease may not do to a step that another agent holds; without a step it concerns the whole."""
REACHING = (cmd.Reopen, cmd.Reset, cmd.Restore, cmd.Skip, cmd.RetireStep, cmd.ChangeStep)
"""What changes more than the step that it names."""
OPEN_TO_ALL = (
    *(cmd.StartAgent, cmd.BeatAgent, cmd.EndAgent, cmd.Spend, cmd.Lock, cmd.Unlock),
    *(cmd.Compacted, cmd.Acknowledge, cmd.Alarm, cmd.Edit, cmd.TakeOver),
)
"""What an agent may still do to a workflow that another session holds as a whole."""


LOOKING = (*(cmd.Acknowledge, cmd.Compacted, cmd.Sit, cmd.Leave, cmd.Touch, cmd.Remember, cmd.Urge, cmd.Alarm),)
"""What is noted of somebody who changes nothing."""


def check_role(draft: Draft, request: cmd.Request) -> None:
    """Roles that the workflow keeps from writing hand what they found to the lead."""
    role = request.actor.name
    if not role or not draft.state.read_only or isinstance(request.command, LOOKING):
        return
    from holdfast.core.patterns import matches

    if any(matches(pattern, role) for pattern in draft.state.read_only):
        raise refusals.read_only_role(draft.state, role)


def check_fence(draft: Draft, request: cmd.Request) -> None:
    """A token must still be that of a lease. Expiry alone fences nobody; a takeover does.

    What another agent holds is left alone, unless the request's own lease is of the step itself, or nearer to it.
    """
    own = lease_of(draft.state, request.token) if request.token else None
    if own is not None:
        draft.token = own.token
    for part in parts_of(request.command):
        leave_alone(draft, part)


def parts_of(command: cmd.Command) -> tuple[cmd.Command, ...]:
    """The commands that a request is made of. Those of an edit are decided one by one, each by itself."""
    return command.commands if isinstance(command, cmd.Together) else (command,)


def leave_alone(draft: Draft, command: cmd.Command) -> None:
    """Refuses a command on what another agent holds."""
    if draft.actor.kind not in ("agent", "human", "file"):
        return
    own = next((one for one in draft.state.leases.values() if draft.token and one.token == draft.token), None)
    target = command.step if isinstance(command, LEASED) else ""
    if not (target or (draft.actor.kind == "agent" and own is None)):
        return
    is_open = isinstance(command, OPEN_TO_ALL)
    for lease in draft.state.leases.values():
        if lease.agent or lease is own or _is_of_document(draft, lease):
            continue
        if lease.step:
            covers = bool(target) and _is_below(target, lease.step)
        else:
            covers = not is_open and bool(target or lease.session)
        nearer = own is not None and _is_below(target, own.step) and len(own.step) >= len(lease.step)
        if covers and not nearer and not _has_ended(draft, lease) and not _is_own(draft, lease):
            raise refusals.lease_held(lease, target)
    bound = draft.state.bound(target) if isinstance(command, cmd.Done) and draft.actor.kind == "file" else None
    if bound is not None:
        raise refusals.not_brought_in(target, bound)


def _is_of_document(draft: Draft, lease: Lease) -> bool:
    """Whether a lease keeps nobody from editing the document: nobody has a token of it, or it is of the whole."""
    return draft.actor.kind == "file" and not (lease.step and lease.key)


def is_kept_from_files(draft: Draft, path: str) -> bool:
    """Whether a file says nothing of a step: an agent is at work on it, or its work is still to be brought in."""
    held = (one for one in draft.state.leases.values() if one.step and one.key and not one.agent)
    return draft.state.bound(path) is not None or any(
        _is_below(path, one.step) and not _has_ended(draft, one) for one in held
    )


def check_reach(draft: Draft, before: State, role: str = "") -> None:
    """What a command changes beside the step that it names is not changed for another agent that is at work on it.

    A lease of the role that is given reaches every step. Of a step that is finished, its holder has nothing to lose.
    """
    own = [lease for lease in before.leases.values() if _is_by_lease(draft, lease)]
    if role and any(lease.role == role for lease in own):
        return
    for lease in before.leases.values():
        if not lease.step or lease.agent or lease in own or any(_is_below(one.step, lease.step) for one in own):
            continue
        if _is_of_document(draft, lease):
            continue
        if before.step(lease.step).status in lifecycle.FINISHED:
            continue
        if _is_changed(before, draft.state, lease.step) and not _has_ended(draft, lease) and not _is_own(draft, lease):
            raise refusals.lease_held(lease, lease.step)


def _is_changed(before: State, after: State, step: str) -> bool:
    if step not in before.plan or step not in after.plan:
        return step in before.plan
    return before.plan.step(step) != after.plan.step(step) or any(
        before.step(path) != after.step(path) for path in (step, *before.plan.below(step))
    )


def lease_of(state: State, token: str) -> Lease:
    """The lease that a token was given for; refused where it has ended or another one took its place."""
    number, _, secret = token.partition("-")
    known = (number, digest(secret.encode()))
    own = next((lease for lease in state.leases.values() if (str(lease.token), lease.key) == known), None)
    if own is None:
        raise refusals.fenced(number)
    return own


def _is_below(target: str, step: str) -> bool:
    return not step or target == step or target.startswith(step + "/")


def _has_ended(draft: Draft, lease: Lease) -> bool:
    return lease.expired(draft.facts.boot, draft.facts.mono)


def _is_own(draft: Draft, lease: Lease) -> bool:
    """Whether the lease is the request's: by its token, by the session it was given to, or by a person's word."""
    at = lease.step or "this workflow"
    return _is_by_lease(draft, lease) or draft.is_person(f"act in place of {lease.holder}, at work on {at}")


def _is_by_lease(draft: Draft, lease: Lease) -> bool:
    return draft.token == lease.token or (bool(lease.session) and lease.session == draft.actor.session)


def start_agent(draft: Draft, command: cmd.StartAgent) -> None:
    checked(command.role, "role")
    if not 1 <= command.ttl <= 86_400:
        raise UsageError("bad_number", "a lease lasts between one second and a day", remedy="--ttl 10m")
    if command.step:
        draft.step(command.step)
    held = draft.state.leases.get(command.agent or f"{command.role}@{command.step}")
    place: Mapping[str, Any] = command.place
    if held and held.session and held.session == draft.actor.session:
        if place and not held.worktree:
            draft.emit(ev.Leased(held.replace(**place)))
        _renew(draft, held, command.ttl, command.key)
        return
    if held and not _has_ended(draft, held):
        raise refusals.lease_held(held, command.step)
    over = [*([held] if held else ()), *(one for one in _taken_over(draft, command) if one is not held)]
    for one in over:
        from holdfast.core.rules import locks

        locks.free(draft, one.token)
        if one is not held:
            draft.emit(ev.Released(one.token, f"taken over by {command.role}"))
    claim = {**draft.claim(command.ttl), "step": command.step, "agent": command.agent, "key": command.key}
    lease = Lease(role=command.role, **claim, **place)
    draft.emit(ev.Leased(lease, took_over=over[0].token if over else 0))


def _taken_over(draft: Draft, command: cmd.StartAgent) -> list[Lease]:
    """The leases that a new one puts an end to: those that ran out, of any role, where only one agent is to work.

    No second role gets a lease of a task, or of the whole, that somebody holds; one above or below it may be had.
    A step that is no task may be the work of several roles: a creator and a reviewer, or seven validators; but only one
    works in a worktree. An agent that a host was only seen to run is noted in any case.
    """
    is_for_one = not command.step or draft.state.plan.step(command.step).kind == TASK
    same = [one for one in draft.state.leases.values() if one.step == command.step and not (one.agent or command.agent)]
    over = [one for one in same if _has_ended(draft, one)]
    for lease in same if is_for_one else ():
        if lease not in over and not _is_own(draft, lease):
            raise refusals.lease_held(lease, command.step)
    return [one for one in over if is_for_one or one.worktree]


def require_part(draft: Draft, affected: Sequence[str], role: str) -> None:
    """What stops all agents at work needs the lease of a step that it affects, of the whole, or of a role; or a person.

    What names no step affects all that are worked on.
    """
    leases = [one for one in draft.state.leases.values() if not one.agent]
    own = [one for one in leases if _is_by_lease(draft, one)]
    held = [one for one in leases if one.step and one not in own and not _has_ended(draft, one)]
    held = [one for one in held if not any(_is_below(one.step, mine.step) for mine in own)]
    if not held or any(
        one.role == role or any(_is_below(step, one.step) or _is_below(one.step, step) for step in affected)
        for one in own
    ):
        return
    if not draft.is_person(f"have the work planned again while {held[0].holder} is at work on {held[0].step}"):
        raise refusals.lease_held(held[0], held[0].step)


def stay(draft: Draft) -> None:
    """Whatever a session does is a sign of life; recorded only when a good part of its lease is over."""
    for lease in draft.state.leases.values():
        left = lease.deadline - draft.facts.mono
        if lease.session and lease.session == draft.actor.session and left < 0.75 * lease.ttl:
            _renew(draft, lease, lease.ttl)


def beat_agent(draft: Draft, command: cmd.BeatAgent) -> None:
    lease = _lease(draft, command.token)
    if not _is_own(draft, lease):
        raise refusals.lease_held(lease, lease.step)
    _renew(draft, lease, lease.ttl)


def _renew(draft: Draft, lease: Lease, ttl: int, key: str = "") -> None:
    """With a key, the holder gets another token: a session that lost the first one continues."""
    from holdfast.core.rules import locks

    draft.emit(ev.Beat(lease.token, draft.facts.boot, draft.facts.mono + ttl, key))
    locks.renew(draft, lease.token, ttl)


def end_agent(draft: Draft, command: cmd.EndAgent) -> None:
    lease = draft.state.leases.get(command.agent) if command.agent else _lease(draft, command.token)
    if lease is None:
        return
    if not _has_ended(draft, lease) and not command.agent and (command.stale or not _is_own(draft, lease)):
        raise refusals.lease_held(lease, lease.step)
    from holdfast.core.rules import locks

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


def _lease(draft: Draft, number: int) -> Lease:
    for lease in draft.state.leases.values():
        if lease.token == (number or draft.token):
            return lease
    raise refusals.fenced(str(number))
