"""Sessions of agent hosts: where they sit, how long they are held at their work, what they were seen to do."""

from __future__ import annotations

import json

import pytest

from holdfast.core import events as ev
from holdfast.core import queries
from holdfast.core.apply import replay
from holdfast.core.commands import (
    Acknowledge,
    Approve,
    Begin,
    Block,
    Brief,
    Cancel,
    Command,
    Compacted,
    Done,
    Fail,
    Learn,
    Leave,
    Lock,
    Note,
    Own,
    Pause,
    Remember,
    Resume,
    Sit,
    Spend,
    Start,
    StartAgent,
    Together,
    Touch,
    Unlock,
    Urge,
)
from holdfast.core.state import KEPT_SEATS, Actor, Seat
from holdfast.engine import codec
from holdfast.systems.compaction.rules import seen
from tests.core.play import AGENT, DOLLAR, HOUR, OTHER_AGENT, PERSON, Play, definition, only, step

HOOK = Actor("hook", "", "hook", "session-1")
OTHER_HOOK = HOOK.replace(session="session-2")
NAMELESS = Actor("agent", "coder", "command line")


def begun(by: Actor = AGENT, **keys) -> Play:
    """A workflow of three steps whose first one is worked on."""
    play = Play()
    play.do(Start.of(definition(step("a"), step("b"), step("c"), **keys), "0" * 26, "release-1"), by=by)
    play.do(Begin("a"), by=by)
    return play


def from_journal(play: Play):
    """The state as it comes out of the journal's own lines."""
    lines = [{**json.loads(codec.encode_record(one)), "seq": one.revision} for one in play.records]
    return replay(codec.decode_record(line) for line in lines)


def packet(play: Play, by: Actor) -> str:
    return queries.packet_id(play.state, by.session)


def name_of(command: Command) -> str:
    return type(command).__name__


# Seats


def test_a_session_that_is_seen_has_a_seat_and_the_newest_one_comes_last():
    play = begun(PERSON)
    assert play.do(Sit(), by=HOOK) == (ev.Seated(),)
    play.wait(1).do(Sit(), by=OTHER_HOOK)
    assert list(play.state.seats) == ["session-1", "session-2"]
    play.wait(1).do(Sit(), by=HOOK)
    assert list(play.state.seats) == ["session-2", "session-1"]
    assert play.state.seats["session-1"].at == play.now


def test_a_session_that_comes_back_from_another_workflow_is_seen_again():
    """Where a session sat down last is where it is, so the time has to be new."""
    play = begun(PERSON)
    play.do(Sit(), by=HOOK)
    play.wait(60).do(Sit(), by=HOOK)
    assert play.state.seats["session-1"].at == play.now


def test_whoever_has_no_session_has_no_seat():
    play = begun(PERSON)
    play.unchanged_by(Sit(), by=Actor("hook"))
    play.do(Begin("a"), Note("x"), by=NAMELESS)
    assert play.state.seats == {}


def test_an_agent_that_writes_sits_there_and_knows_what_it_does():
    play = begun(PERSON)
    play.do(Note("x"), by=AGENT)
    assert play.state.seats == {"session-1": Seat(play.now, 0, 0)}
    assert queries.has_caught_up(play.state, "session-1")


def test_a_hook_that_notes_something_says_nothing_about_what_the_agent_knows():
    play = begun(PERSON)
    play.do(Sit(), by=HOOK)
    assert not queries.has_caught_up(play.state, "session-1")


def test_the_newest_seats_are_kept_and_the_oldest_make_room():
    play = begun(PERSON)
    for number in range(KEPT_SEATS + 3):
        play.do(Sit(), by=HOOK.replace(session=f"s{number}"))
    assert list(play.state.seats) == [f"s{number}" for number in range(3, KEPT_SEATS + 3)]


# The end of a session


def test_what_a_session_held_is_free_when_it_ends():
    play = begun(PERSON)
    play.do(StartAgent("coder", "a"), Lock(("src",)), by=AGENT)
    play.do(StartAgent("writer", "b"), Lock(("docs",)), by=OTHER_AGENT)
    events = play.do(Leave("logout"), by=HOOK)
    assert [type(event) for event in events] == [ev.Released, ev.Unlocked, ev.Remembered]
    assert (list(play.state.leases), list(play.state.locks)) == (["writer@b"], ["docs"])
    assert play.state.history[-1]["entry"] == {
        "at": "2026-01-01T09:00:00Z",
        "event": "session_ended",
        "reason": "logout",
    }


def test_the_end_of_a_session_nobody_saw_is_no_news():
    play = begun(PERSON)
    play.unchanged_by(Leave("logout"), by=HOOK)
    play.unchanged_by(Leave("logout"), by=Actor("hook"))


@pytest.mark.parametrize("command", [Lock(("src",)), StartAgent("coder", "a"), StartAgent("release")], ids=repr)
def test_a_session_that_holds_something_keeps_its_seat_and_frees_it_at_its_end(command):
    """Nobody else could say that it is gone."""
    play = begun(PERSON)
    play.do(command, by=AGENT)
    for number in range(KEPT_SEATS + 3):
        play.do(Sit(), by=HOOK.replace(session=f"s{number}"))
    assert list(play.state.seats) == ["session-1", *(f"s{number}" for number in range(4, KEPT_SEATS + 3))]
    freed, left = play.do(Leave(), by=HOOK)
    assert isinstance(freed, ev.Unlocked | ev.Released)
    assert isinstance(left, ev.Remembered)
    assert (dict(play.state.leases), dict(play.state.locks)) == ({}, {})
    play.do(Sit(), by=OTHER_HOOK)
    assert "session-1" not in play.state.seats


def test_there_may_be_more_seats_than_are_kept_where_all_of_them_hold_something():
    play = begun(PERSON)
    for number in range(KEPT_SEATS + 3):
        play.do(Lock((f"src/{number}",)), by=AGENT.replace(session=f"s{number}"))
    assert len(play.state.seats) == KEPT_SEATS + 3
    play.do(Sit(), by=HOOK)
    assert list(play.state.seats)[-1] == "session-1"
    assert len(play.state.seats) == KEPT_SEATS + 4


def test_a_session_can_end_after_the_workflow_was_given_up():
    play = begun()
    play.do(Cancel("enough"), by=PERSON)
    play.do(Sit(), Leave("exit"), by=HOOK)
    assert play.state.history[-1]["entry"]["event"] == "session_ended"


# Held at the work


def held(play: Play, most: int = 100) -> int:
    """How often an agent is held before it may stop."""
    for count in range(most):
        if not play.do(Urge(), by=HOOK):
            return count
    return most


def test_an_agent_is_held_thirty_times_without_a_move():
    play = begun(keep_going=True)
    assert held(play) == 30
    assert play.state.urged == 30
    assert play.state.history[-1]["event"] == "held_at_work"


def test_the_bound_on_iterations_is_also_the_bound_on_holding():
    assert held(begun(keep_going=True, bounds={"max_iterations": 4})) == 4


def test_a_move_lets_an_agent_be_held_anew():
    play = begun(keep_going=True, bounds={"max_iterations": 4})
    held(play)
    play.do(Done("a"))
    assert play.state.urged == 0
    play.do(Begin("b"))
    assert held(play) == 4


def test_a_note_is_no_move():
    play = begun(keep_going=True, bounds={"max_iterations": 4})
    held(play)
    play.do(Note("I am thinking"))
    assert held(play) == 0


def test_nobody_is_held_where_the_workflow_does_not_ask_for_it():
    assert held(begun()) == 0


def test_nobody_is_held_while_people_have_the_word():
    play = Play()
    steps = (step("a", approval={"by": "human"}), step("b"))
    play.do(Start.of(definition(*steps, keep_going=True), "0" * 26, "release-1"))
    play.do(Begin("a"))
    assert held(play, 1) == 1
    play.do(Done("a"))
    assert (queries.status(play.state), held(play)) == ("waiting", 0)
    play.do(Approve("a"), by=PERSON)
    assert held(play, 1) == 1


@pytest.mark.parametrize(
    "command",
    [Block("a", "no key"), Fail("a", "broke"), Pause("over night"), Cancel("enough")],
    ids=name_of,
)
def test_nobody_is_held_at_work_that_cannot_go_on(command):
    play = begun(keep_going=True)
    play.do(command)
    play.do(Sit(), by=HOOK)
    if not isinstance(command, Cancel):
        assert held(play) == 0
        play.do(Resume())
        assert held(play, 1) == 1
    else:
        play.refuses(Urge(), "cancelled", by=HOOK)


def test_nobody_is_held_when_a_bound_is_used_up():
    play = begun(keep_going=True, bounds={"max_cost": "$1"})
    play.do(Spend(DOLLAR))
    assert held(play) == 0
    play = begun(keep_going=True, bounds={"max_time": "1h"})
    play.wait(2 * HOUR)
    assert held(play) == 0


def test_nobody_is_held_at_finished_work():
    play = begun(keep_going=True)
    play.do(Done("a"))
    play.finish("b", "c")
    assert held(play) == 0


# What was seen


def test_files_that_were_changed_belong_to_the_step_that_is_worked_on():
    play = begun()
    play.do(Touch(("src/a.py", "src/b.py", "src/a.py")), by=HOOK)
    play.do(Touch(("src/b.py", "src/c.py")), by=HOOK)
    assert play.state.step("a").data == {"files_modified": ["src/a.py", "src/b.py", "src/c.py"]}
    play.unchanged_by(Touch(("src/a.py",)), by=HOOK)
    play.do(Done("a"), Begin("b"))
    play.do(Touch(("src/a.py",)), by=HOOK)
    assert play.state.step("b").data == {"files_modified": ["src/a.py"]}


def test_the_newest_hundred_files_are_kept():
    play = begun()
    play.do(Touch(tuple(f"f{number}" for number in range(130))), by=HOOK)
    assert play.state.step("a").data["files_modified"] == [f"f{number}" for number in range(30, 130)]


def test_files_changed_before_or_after_the_work_belong_to_no_step():
    play = Play()
    play.do(Start.of(definition(step("a")), "0" * 26, "release-1"))
    play.unchanged_by(Touch(("src/a.py",)), by=HOOK)
    play.finish("a")
    play.unchanged_by(Touch(("src/a.py",)), by=HOOK)


def test_what_happened_around_the_work_is_in_the_history():
    play = begun()
    play.do(Remember("compaction_finished", {"trigger": "auto"}), by=HOOK)
    assert play.state.history[-1]["entry"] == {
        "at": "2026-01-01T09:00:00Z",
        "event": "compaction_finished",
        "trigger": "auto",
    }
    play.refuses(Remember("two words"), "bad_name", by=HOOK)


def sight(source, account) -> Own:
    return Own("compaction", "sight", {"source": source, "account": account})


def test_what_notes_say_is_kept_by_their_file_and_told_once():
    play = begun()
    account = {"phase": {"current": 2}, "reminders": ["x"]}
    [event] = only(play.do(sight("CLAUDE.local.md", account), by=HOOK), ev.Owned)
    assert (event.system, event.values) == ("compaction", {"CLAUDE.local.md": account})
    play.do(sight("PLAN.md", {}), by=HOOK)
    assert seen(play.state) == {"CLAUDE.local.md": account, "PLAN.md": {}}
    play.unchanged_by(sight("CLAUDE.local.md", account), by=HOOK)


# Together


def test_several_commands_are_one_record_and_the_later_see_the_earlier():
    play = begun()
    revision = play.state.revision
    play.do(Together((Done("a"), Begin("b"), Note("moved on"))))
    assert (play.statuses(), play.state.revision) == ({"a": "done", "b": "active", "c": "pending"}, revision + 1)


def test_one_command_that_is_refused_takes_the_others_with_it():
    play = begun()
    before = play.state
    play.refuses(Together((Note("kept?"), Done("a"), Begin("c"))), "step_blocked")
    assert play.state == before


def test_nothing_together_is_nothing():
    begun().unchanged_by(Together(()))


def test_what_was_given_up_stays_so_also_for_several_commands():
    play = begun()
    play.do(Cancel("enough"))
    play.refuses(Together((Note("x"), Touch(("f",)))), "cancelled", by=HOOK)


# The journal


def test_everything_that_happened_comes_back_from_the_journal():
    play = begun(require_ack=True, keep_going=True, reading=["docs/a.md"], reminders=["heed"])
    play.do(Sit(), Urge(), Touch(("f",)), Remember("seen", {"k": 1}), Compacted("auto"), by=HOOK)
    play.do(Acknowledge(packet(play, AGENT)), Learn("so", "pattern", "do", "here", "a"))
    play.do(Brief("reading", add=("@docs/b.md",)), Lock(("src/*",)), Lock(("docs",), "writer", 60))
    play.do(Unlock(("docs",)), by=AGENT.replace(name="writer"))
    play.do(sight("PLAN.md", {"phase": {"current": 1}}), Together((Note("x"), Begin("a"))), by=HOOK)
    play.do(Leave("exit"), by=HOOK)
    assert from_journal(play) == play.state
    assert {type(event) for one in play.records for event in one.events} >= {
        *(ev.Seated, ev.Urged, ev.Recorded, ev.Remembered, ev.Compacted, ev.Acknowledged),
        *(ev.Learned, ev.Briefed, ev.Locked, ev.Unlocked, ev.Owned),
    }
