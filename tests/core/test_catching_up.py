"""Catching up: where a workflow asks for it, a session that lost its context reads the packet before it writes."""

from __future__ import annotations

import pytest

from holdfast.core import events as ev
from holdfast.core import queries
from holdfast.core.commands import (
    Acknowledge,
    Begin,
    Brief,
    Cancel,
    Command,
    Compacted,
    Done,
    Learn,
    Leave,
    Lock,
    Note,
    Record,
    Spend,
    Start,
    StartAgent,
    Together,
    Unlock,
)
from holdfast.core.state import Actor
from tests.core.play import AGENT, DOLLAR, FILE, OTHER_AGENT, PERSON, Play, definition, edit, step

HOOK = Actor("hook", "", "hook", "session-1")
NAMELESS = Actor("agent", "coder", "command line")


def begun(by: Actor = AGENT, **keys) -> Play:
    """A workflow whose first step is worked on."""
    play = Play()
    play.do(Start.of(definition(step("a"), step("b"), **keys), "0" * 26, "release-1"), by=by)
    play.do(Begin("a"), by=by)
    return play


def packet(play: Play, by: Actor) -> str:
    return queries.packet_id(play.state, by.session)


def name_of(command: Command) -> str:
    return type(command).__name__


WRITES: tuple[Command, ...] = (
    Done("a"),
    Note("x"),
    Record({"k": 1}),
    Lock(("src",)),
    Unlock(("src",)),
    Brief("reminders", add=("x",)),
    Learn("x"),
    Spend(DOLLAR),
    StartAgent("coder"),
    Together((Note("x"),)),
    Cancel("x"),
)


@pytest.mark.parametrize("command", WRITES, ids=name_of)
def test_a_session_that_has_not_read_the_packet_may_write_nothing(command):
    play = begun(require_ack=True)
    refusal = play.refuses(command, "not_caught_up", by=OTHER_AGENT)
    assert (refusal.exit_code, refusal.facts) == (3, {"workflow": "release-1"})
    assert play.typed(refusal) == "holdfast resume-packet · then: holdfast ack ID"


@pytest.mark.parametrize("command", WRITES, ids=name_of)
def test_without_the_demand_nobody_is_refused_for_it(command):
    play = begun()
    play.do(Compacted(), by=HOOK)
    play.decide(command, by=AGENT)
    play.decide(command, by=OTHER_AGENT)


def test_the_session_that_started_the_work_needs_no_packet():
    play = begun(require_ack=True)
    assert play.do(Note("still here")) == (ev.Noted("still here"),)


def test_after_a_compaction_the_session_presents_the_new_packet_and_goes_on():
    play = begun(require_ack=True)
    old = packet(play, AGENT)
    play.do(Compacted("auto"), by=HOOK)
    new = packet(play, AGENT)
    assert new != old
    play.refuses(Done("a"), "not_caught_up")
    assert play.refuses(Acknowledge(old), "wrong_packet").facts == {"workflow": "release-1", "packet": old}
    assert play.do(Acknowledge(new)) == (ev.Acknowledged(),)
    assert play.state.history[-1]["event"] == "caught_up"
    play.do(Done("a"))
    assert play.status("a") == "done"
    play.do(Compacted("auto"), by=HOOK)
    play.refuses(Begin("b"), "not_caught_up")


def test_another_session_catches_up_with_a_packet_of_its_own():
    play = begun(require_ack=True)
    assert packet(play, AGENT) != packet(play, OTHER_AGENT)
    refusal = play.refuses(Acknowledge(packet(play, AGENT)), "wrong_packet", by=OTHER_AGENT)
    assert play.typed(refusal) == "read the newest one: holdfast resume-packet"
    play.do(Acknowledge(packet(play, OTHER_AGENT)), by=OTHER_AGENT)
    play.do(Note("here now"), by=OTHER_AGENT)
    play.do(Note("and still here"), by=AGENT)


def test_the_compaction_of_one_session_is_not_that_of_another():
    play = begun(require_ack=True)
    play.do(Acknowledge(packet(play, OTHER_AGENT)), by=OTHER_AGENT)
    play.do(Compacted(), by=HOOK)
    play.refuses(Note("x"), "not_caught_up", by=AGENT)
    play.do(Note("x"), by=OTHER_AGENT)


def test_agents_without_a_session_catch_up_together():
    play = begun(PERSON, require_ack=True)
    play.refuses(Note("x"), "not_caught_up", by=NAMELESS)
    play.do(Acknowledge(packet(play, NAMELESS)), by=NAMELESS)
    play.do(Note("x"), by=NAMELESS)
    play.do(Note("x"), by=NAMELESS.replace(name="writer"))
    play.refuses(Note("x"), "not_caught_up", by=AGENT)


@pytest.mark.parametrize("by", [PERSON, FILE, Actor("engine"), HOOK], ids=lambda actor: actor.kind)
def test_people_files_hooks_and_the_engine_need_no_packet(by):
    play = begun(require_ack=True)
    play.do(Compacted(), by=HOOK)
    play.do(Note("x"), by=by)
    assert play.state.notes[-1]["text"] == "x"


def test_an_edit_of_the_document_counts_whatever_the_session_has_read():
    play = begun(require_ack=True)
    play.do(Compacted(), by=HOOK)
    play.do(edit(Done("a")), by=FILE)
    assert play.status("a") == "done"


def test_a_session_that_lost_its_context_may_say_so_leave_and_catch_up():
    play = begun(require_ack=True)
    play.do(Compacted("by hand"), by=OTHER_AGENT)
    play.do(Leave("exit"), by=OTHER_AGENT)
    play.do(Acknowledge(packet(play, OTHER_AGENT)), by=OTHER_AGENT)
    assert queries.has_caught_up(play.state, "session-2")


def test_presenting_the_packet_again_changes_nothing():
    play = begun(require_ack=True)
    play.unchanged_by(Acknowledge(packet(play, AGENT)))


def test_a_packet_that_is_none_is_shortened_in_the_refusal():
    refusal = begun().refuses(Acknowledge("x" * 500), "wrong_packet")
    assert refusal.facts["packet"] == "x" * 40


def test_a_token_of_a_lease_is_no_way_round_the_packet():
    play = begun(require_ack=True)
    play.do(StartAgent("coder", "a"))
    play.do(Compacted(), by=HOOK)
    play.refuses(Note("x"), "not_caught_up", token=1)
