"""Sessions of agent hosts: who sits at a workflow, what they have caught up with, what they were seen to do."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import lifecycle, moment, queries, refusals
from holdfast.core.draft import Draft
from holdfast.core.names import checked
from holdfast.core.state import FILES

OPEN = (cmd.Acknowledge, cmd.Compacted, cmd.Leave)
"""What a session may do that has not caught up."""
MOST_HOLDS = 30
"""How often an agent is held at its work without moving it, where the workflow has no bound of its own."""
KEPT_FILES = 100


def check_caught_up(draft: Draft, request: cmd.Request) -> None:
    """Where the workflow asks for it, a session that lost its context reads the resume packet before it writes."""
    state, actor = draft.state, request.actor
    if not state.require_ack or actor.kind != "agent" or isinstance(request.command, OPEN):
        return
    if not queries.has_caught_up(state, actor.session):
        raise refusals.not_caught_up(state)


def compacted(draft: Draft, command: cmd.Compacted) -> None:
    draft.emit(ev.Compacted(command.note))


def sit(draft: Draft, command: cmd.Sit) -> None:
    """Recorded also for the session that sat here last: it may come back from another workflow."""
    if draft.actor.session:
        draft.emit(ev.Seated())


def acknowledge(draft: Draft, command: cmd.Acknowledge) -> None:
    if command.packet != queries.packet_id(draft.state, draft.actor.session):
        raise refusals.wrong_packet(draft.state, command.packet)
    seat = draft.state.seats.get(draft.actor.session)
    if seat is None or seat.caught_up < seat.compactions:
        draft.emit(ev.Acknowledged())


def leave(draft: Draft, command: cmd.Leave) -> None:
    """What the session held is free at once, so that the next one need not wait for it to run out."""
    session, state = draft.actor.session, draft.state
    if not session:
        return
    for lease in list(state.leases.values()):
        if lease.session == session:
            draft.emit(ev.Released(lease.token, "the session ended"))
    held = tuple(path for path, hold in state.locks.items() if hold.session == session)
    if held:
        draft.emit(ev.Unlocked(held))
    if session in state.seats:
        remember(draft, cmd.Remember("session_ended", {"reason": command.reason} if command.reason else {}))


def remember(draft: Draft, command: cmd.Remember) -> None:
    at = moment.whole(draft.facts.now)
    draft.emit(ev.Remembered({"at": at, "event": checked(command.event, "event"), **command.data}))


def urge(draft: Draft, command: cmd.Urge) -> None:
    """Holds an agent at work that it can do; never where people or bounds have the word, and not for ever."""
    state = draft.state
    most = state.bounds.max_iterations or MOST_HOLDS
    if state.keep_going and queries.status(state) == "in_progress" and not draft.is_spent and state.urged < most:
        draft.emit(ev.Urged())


def touch(draft: Draft, command: cmd.Touch) -> None:
    """The files belong to the step that is worked on."""
    state = draft.state
    at = next(iter(queries.open_steps(state)), None) or queries.current(state)
    if at is None or state.step(at).status not in lifecycle.OPEN:
        return
    known = list(state.step(at).data.get(FILES) or ())
    new = [path for path in dict.fromkeys(command.paths) if path not in known]
    if new:
        draft.emit(ev.Recorded({FILES: [*known, *new][-KEPT_FILES:]}, at))
