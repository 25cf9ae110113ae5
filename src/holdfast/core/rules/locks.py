"""Files that one agent works on, and that others leave alone until it is done or no longer there."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import refusals, remedies
from holdfast.core.draft import Draft
from holdfast.core.names import checked, checked_text
from holdfast.core.patterns import is_pattern, overlap
from holdfast.core.state import Hold, Lease
from holdfast.errors import UsageError

MOST = 1000
"""How many files one workflow keeps locked at most."""


def lock(draft: Draft, command: cmd.Lock) -> None:
    """All of the files or none. The same agent again renews its hold; one that ran out is taken over.

    A lock never lasts longer than the lease of its agent: an agent that is gone holds nothing.
    """
    if not command.paths:
        raise refusals.misused("a lock names at least one file", remedies.named("lock", {"paths": [remedies.PATH]}))
    if not 1 <= command.ttl <= 86_400:
        raise UsageError("bad_number", "a lock lasts between one second and a day", remedy="--ttl 10m")
    agent, facts = _holder(draft, command.agent), draft.facts
    held = [one for one in (*facts.locks, *draft.state.locks.items()) if not one[1].expired(facts.boot, facts.mono)]
    since = {}
    for path in command.paths:
        checked_text(path, "path", 200 if is_pattern(path) else 1000)
        for other, hold in held:
            same = (hold.agent, hold.session, hold.lease) == (agent, draft.actor.session, draft.token)
            if not same and overlap(path, other):
                raise refusals.locked(path, other, hold)
            if same and path == other:
                since[path] = hold.at
    if len({*draft.state.locks, *command.paths}) > MOST:
        raise UsageError("too_many", f"a workflow keeps at most {MOST} files locked", remedy="lock a folder instead")
    hold = Hold(agent=agent, **draft.claim(command.ttl), lease=draft.token)
    lease = _lease(draft)
    if lease is not None:
        hold = hold.replace(deadline=min(hold.deadline, lease.deadline))
    draft.emit(ev.Locked({path: hold.replace(at=since.get(path, hold.at)) for path in command.paths}))


def unlock(draft: Draft, command: cmd.Unlock) -> None:
    """The holder of a file gives it back; one whose hold ran out, anybody may; a live one, a person."""
    facts, actor = draft.facts, draft.actor
    freed = []
    for path in command.paths:
        hold = draft.state.locks.get(path)
        if hold is None:
            continue
        same = hold.session == actor.session and (bool(actor.session) or hold.agent == _holder(draft, ""))
        own = same and hold.lease in (0, draft.token) and (not actor.name or hold.agent == actor.name)
        held = not own and not hold.expired(facts.boot, facts.mono)
        if held and not draft.is_person(f"unlock {path}, which {hold.agent} has locked"):
            raise refusals.locked(path, path, hold)
        freed.append(path)
    if freed:
        draft.emit(ev.Unlocked(tuple(freed)))


def free(draft: Draft, lease: int) -> None:
    """What an agent held is free when its lease is over or taken over."""
    held = tuple(path for path, hold in draft.state.locks.items() if lease and hold.lease == lease)
    if held:
        draft.emit(ev.Unlocked(held))


def renew(draft: Draft, lease: int, ttl: int) -> None:
    """A sign of life of an agent is one for all that it holds; what ran out may be another's by now."""
    facts = draft.facts
    held = {
        path: hold.replace(boot=facts.boot, deadline=facts.mono + min(hold.ttl, ttl))
        for path, hold in draft.state.locks.items()
        if lease and hold.lease == lease and not hold.expired(facts.boot, facts.mono)
    }
    if held:
        draft.emit(ev.Locked(held))


def _holder(draft: Draft, named: str) -> str:
    if named:
        return checked(named, "agent")
    lease = _lease(draft)
    return (lease.role if lease else "") or draft.actor.name or draft.actor.kind


def _lease(draft: Draft) -> Lease | None:
    """The lease under which the request is made."""
    return next((one for one in draft.state.leases.values() if draft.token and one.token == draft.token), None)
