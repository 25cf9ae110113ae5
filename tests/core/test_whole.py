"""The workflow as a whole: cancel, pause, resume, notes, values, snapshots."""

from __future__ import annotations

import contextlib

import pytest

from holdfast.core import limits, queries
from holdfast.core.briefing import Briefing
from holdfast.core.commands import (
    AddStep,
    Alarm,
    Approve,
    Attach,
    Begin,
    Block,
    Cancel,
    ChangeStep,
    Compacted,
    Done,
    Fail,
    Note,
    Pause,
    Record,
    Reopen,
    Restore,
    Resume,
    Spend,
    StartAgent,
    Submit,
    TakeSnapshot,
)
from holdfast.core.definition import Approval, Step
from holdfast.core.events import Compacted as CompactedEvent
from holdfast.core.events import Noted, Restored
from holdfast.core.state import Alert
from holdfast.errors import HoldfastError, Refused
from tests.core.play import AGENT, DOLLAR, HOUR, MINUTE, PERSON, Play, given, moves, step


def at_work() -> Play:
    play = given(step("a"), step("b"))
    play.do(Begin("a"))
    return play


# Cancel


@pytest.mark.parametrize(
    "command",
    [
        Begin("a"),
        Done("a"),
        Attach("a", {}),
        Fail("a", "r"),
        Block("a", "r"),
        Reopen("a"),
        Pause("r"),
        Record({"k": 1}),
        StartAgent("coder"),
        AddStep("", Step("c")),
        TakeSnapshot(),
        Restore(1),
    ],
)
def test_nothing_moves_in_a_cancelled_workflow(command):
    play = at_work()
    play.do(Cancel("no longer wanted"))
    refusal = play.refuses(command, "cancelled", by=PERSON)
    assert play.typed(refusal) == "if it is to continue after all: holdfast resume"


def test_a_cancelled_workflow_can_be_noted_and_paid_for():
    play = at_work()
    play.do(Cancel(), Note("what we learned"), Spend(DOLLAR), Compacted(), Alarm(Alert("t", "edited", "m")))
    assert play.state.spent == DOLLAR


def test_a_cancelled_workflow_says_who_when_and_why():
    play = at_work()
    play.do(Cancel("no longer wanted"), by=PERSON)
    mark = play.state.cancelled
    assert mark is not None
    assert (mark.at, mark.by, mark.reason) == (play.now, "human ada", "no longer wanted")
    assert queries.status(play.state) == "cancelled"


def test_cancelling_twice_changes_nothing():
    play = at_work()
    play.do(Cancel())
    play.unchanged_by(Cancel("again"))


def test_a_finished_workflow_is_not_cancelled():
    play = given(step("a")).finish("a")
    with pytest.raises(Refused):
        play.decide(Cancel())


def test_resuming_a_cancelled_workflow_goes_on_where_it_was():
    play = at_work()
    play.do(Cancel(), Resume(), Done("a"))
    assert play.statuses() == {"a": "done", "b": "pending"}


# Pause


@pytest.mark.parametrize("command", [Begin("b"), Done("a"), Submit("a"), Approve("a"), Reopen("a")])
def test_nothing_moves_on_in_a_paused_workflow(command):
    play = at_work()
    play.do(Pause("waiting for the budget"))
    refusal = play.refuses(command, "paused", by=PERSON)
    assert "waiting for the budget" in refusal.message


def test_an_agent_is_not_told_to_end_the_pause_of_a_person():
    for by, turn in ((PERSON, "person"), (AGENT, "agent")):
        play = at_work()
        play.do(Pause("the office is closed"), by=by)
        brief = Briefing(play.state, play.facts())
        refusal = play.refuses(Done("a"), "paused")
        for found in (brief.now, refusal.remedies):
            assert [one.who for one in found if one.command == "resume"] == ["person" if by is PERSON else "anyone"]
        assert (brief.turn, "holdfast resume" in refusal.remedy) == (turn, by is AGENT)


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_pause_that_a_person_made_is_ended_by_a_person_only(cancelled):
    play = given(step("a"), step("b"))
    play.do(Begin("a"), Pause("over night"), by=PERSON)
    if cancelled:
        play.do(Cancel("enough"), by=AGENT)
    for command in (Resume(), Resume("a"), Resume("b")):
        refusal = play.refuses(command, "person_needed", by=AGENT)
        assert [one.who for one in refusal.remedies] == ["person"]
    play.do(Resume(), by=PERSON)
    assert play.state.paused is None


def test_a_failure_in_a_paused_workflow_begins_no_other_try():
    play = given(step("a", retry={"max": 3}))
    play.do(Begin("a"), Pause("over night"), Fail("a", "broke"))
    assert play.state.step("a").failures == 1
    assert play.status("a") == "failed"


def test_a_pause_needs_a_reason_and_pausing_twice_changes_nothing():
    play = at_work()
    play.refuses(Pause(""), "bad_text")
    play.do(Pause("once"))
    play.unchanged_by(Pause("twice"))


def test_elapsed_time_leaves_out_every_pause():
    play = at_work()
    play.wait(10 * MINUTE).do(Pause("one"))
    play.wait(HOUR)
    assert limits.elapsed(play.state, play.now) == 10 * MINUTE
    play.do(Resume())
    play.wait(5 * MINUTE).do(Pause("two"))
    play.wait(HOUR).do(Resume())
    play.wait(MINUTE)
    assert limits.elapsed(play.state, play.now) == 16 * MINUTE


def test_elapsed_time_stops_with_the_last_step():
    play = given(step("a"))
    play.wait(MINUTE).finish("a").wait(HOUR)
    assert limits.elapsed(play.state, play.now) == MINUTE


def test_elapsed_time_leaves_out_the_time_it_was_cancelled():
    play = at_work()
    play.wait(10 * MINUTE).do(Cancel())
    play.wait(HOUR)
    assert limits.elapsed(play.state, play.now) == 10 * MINUTE
    play.do(Resume())
    play.wait(MINUTE)
    assert limits.elapsed(play.state, play.now) == 11 * MINUTE


def test_elapsed_time_leaves_out_the_time_it_was_finished():
    play = given(step("a"))
    play.wait(10 * MINUTE).finish("a")
    play.wait(HOUR).do(Reopen("a"))
    play.wait(MINUTE)
    assert limits.elapsed(play.state, play.now) == 11 * MINUTE


@pytest.mark.parametrize("stop", [Fail("work/a", "red"), Block("work/a", "no key")], ids=["failed", "blocked"])
def test_no_clock_runs_while_a_step_is_stuck_and_nobody_works_on_another_one(stop):
    play = given({"id": "work", "parallel": True, "step": [{"id": "a"}, {"id": "b"}]})
    play.do(Begin("work/a"), Begin("work/b"))
    play.wait(MINUTE).do(stop)
    play.wait(MINUTE)
    assert limits.elapsed(play.state, play.now) == 2 * MINUTE
    play.do(Done("work/b"))
    play.wait(HOUR)
    assert limits.elapsed(play.state, play.now) == 2 * MINUTE
    assert limits.taken(play.state, "work", play.now) == 2 * MINUTE
    play.do(Resume("work/a"))
    play.wait(MINUTE)
    assert limits.elapsed(play.state, play.now) == 3 * MINUTE


def test_a_rest_that_is_both_paused_and_cancelled_is_left_out_once():
    play = at_work()
    play.wait(10 * MINUTE).do(Pause("over night"))
    play.wait(10 * MINUTE).do(Cancel())
    play.wait(HOUR).do(Resume())
    play.wait(MINUTE)
    assert limits.elapsed(play.state, play.now) == 11 * MINUTE


def test_a_rest_that_is_both_finished_and_paused_is_left_out_once():
    play = given(step("a"))
    play.wait(10 * MINUTE).finish("a")
    play.wait(10 * MINUTE).do(Pause("over night"))
    play.wait(HOUR).do(Resume("a"))
    play.wait(MINUTE)
    assert limits.elapsed(play.state, play.now) == 11 * MINUTE


# Resume


def test_resume_gets_the_first_stuck_step_going():
    play = given(step("a"), step("b", requires=[]))
    play.do(Begin("a"), Begin("b"), Block("b", "r"), Fail("a", "r"))
    assert moves(play.do(Resume())) == [("resumed", "a")]
    assert moves(play.do(Resume())) == [("resumed", "b")]


def test_resume_takes_the_pause_away_and_gets_the_stuck_step_going():
    play = at_work()
    play.do(Block("a", "r"), Pause("over night"), Resume())
    assert (play.state.paused, play.status("a")) == (None, "active")


def test_resume_from_a_pending_step_begins_it_when_its_turn_has_come():
    play = given(step("a"), step("b")).finish("a")
    play.do(Pause("over night"), Resume("b"))
    assert play.status("b") == "active"


@pytest.mark.parametrize("path", ["a", "b"])
def test_resume_from_a_step_changes_nothing_of_a_workflow_that_did_not_stop(path):
    play = given(step("a"), step("b")).finish("a")
    assert play.typed(play.refuses(Resume(path), "nothing_to_resume", by=PERSON)) == "holdfast next"


def test_resume_from_a_step_does_not_jump_over_an_undone_one():
    play = given(step("a"), step("b"), step("c")).finish("a")
    refusal = play.refuses(Resume("c"), "step_blocked", by=PERSON)
    assert refusal.facts["missing"] == ["b"]


def test_resuming_what_runs_changes_nothing():
    play = at_work()
    play.unchanged_by(Resume())
    play.unchanged_by(Resume("a"))


def test_a_finished_workflow_has_nothing_to_resume():
    play = given(step("a")).finish("a")
    assert play.typed(play.refuses(Resume(), "nothing_to_resume")) == "holdfast status · or holdfast reopen STEP"


# Notes, values, alerts


def test_a_note_is_kept_with_its_author_moment_and_step():
    play = at_work()
    assert play.do(Note("chose B", "a")) == (Noted("chose B", "a"),)
    assert play.state.notes == ({"at": play.now, "by": "agent coder", "text": "chose B", "step": "a"},)


def test_a_note_needs_text_and_a_step_that_exists():
    play = at_work()
    play.refuses(Note(""), "bad_text")
    play.refuses(Note("x" * 4001), "bad_text")
    play.refuses(Note("x", "nowhere"), "no_step")


def test_the_newest_hundred_notes_and_entries_are_kept_and_all_are_counted():
    play = at_work()
    for number in range(120):
        play.do(Note(f"note {number}"))
    assert len(play.state.notes) == len(play.state.history) == 100
    assert play.state.notes[0]["text"] == "note 20"
    assert play.state.history_count == 122


def test_values_are_recorded_in_the_context_or_at_a_step():
    play = given(step("a"), context={"level": "scene", "act": 1})
    play.do(Record({"act": 2}), Record({"words": 900}, "a"), Record({"tone": "dry"}, "a"))
    assert play.state.context == {"level": "scene", "act": 2}
    assert play.state.step("a").data == {"words": 900, "tone": "dry"}
    play.unchanged_by(Record({}))
    play.refuses(Record({"k": 1}, "nowhere"), "no_step")


def test_the_newest_ten_alerts_are_kept():
    play = at_work()
    for number in range(12):
        play.do(Alarm(Alert(play.now, "edited", f"alert {number}")))
    assert [alert.message for alert in play.state.alerts] == [f"alert {number}" for number in range(2, 12)]


def test_a_compaction_is_an_entry_in_the_history():
    play = at_work()
    assert play.do(Compacted("at 90 %")) == (CompactedEvent("at 90 %"),)
    assert play.state.history[-1] == {
        "at": play.now,
        "event": "context_compacted",
        "by": "agent coder",
        "note": "at 90 %",
    }


def test_history_tells_who_did_what_and_why():
    play = at_work()
    play.do(Block("a", "no key"))
    assert play.state.history[-1] == {
        "at": play.now,
        "event": "blocked",
        "by": "agent coder",
        "step": "a",
        "attempt": 1,
        "reason": "no key",
    }


# Snapshots


def restore(play: Play, number: int, **how):
    """Restores as the engine does: it hands in the state of the revision the snapshot names."""
    (taken,) = (one for one in play.state.snapshots if one.number == number)
    return play.do(Restore(number), past=play.states[taken.revision - 1], **how)


def test_snapshots_are_numbered_and_carry_the_head_and_the_revision():
    play = at_work()
    play.do(TakeSnapshot("before the rewrite"), head="abc")
    play.do(TakeSnapshot())
    assert [(one.number, one.head, one.label) for one in play.state.snapshots] == [
        (1, "abc", "before the rewrite"),
        (2, None, ""),
    ]
    assert play.states[play.state.snapshots[0].revision - 1].step("a").status == "active"


def test_a_restore_brings_the_steps_back_and_lets_history_and_spending_go_on():
    play = given(step("a"), step("b")).finish("a")
    play.do(TakeSnapshot(), Begin("b"), Spend(DOLLAR), Note("tried it"), Done("b"))
    (event,) = restore(play, 1)
    assert isinstance(event, Restored)
    assert play.statuses() == {"a": "done", "b": "pending"}
    assert play.state.finished_at == ""
    assert (play.state.spent, len(play.state.notes)) == (DOLLAR, 1)
    assert play.state.history[-1]["event"] == "restored"


def test_an_unknown_snapshot_is_not_found_and_the_known_ones_are_named():
    play = at_work()
    play.do(TakeSnapshot())
    refusal = play.refuses(Restore(7), "no_snapshot")
    assert (refusal.exit_code, refusal.facts["snapshots"]) == (4, [1])


def test_tries_that_were_used_up_stay_used_up_after_a_restore():
    play = given(step("a", retry={"max": 3}))
    play.do(Begin("a"), TakeSnapshot(), Fail("a", "one"))
    restore(play, 1)
    assert play.state.step("a").failures == 1


def test_an_agent_does_not_get_round_an_escalation_by_a_restore():
    play = given(step("a", retry={"max": 1, "exhausted": "escalated"}))
    play.do(Begin("a"), TakeSnapshot(), Fail("a", "one"))
    assert play.status("a") == "escalated"
    _needs_a_person(play, 1)


def test_an_agent_does_not_loosen_a_gate_by_a_restore():
    play = given(step("a"))
    play.do(TakeSnapshot())
    play.do(ChangeStep("a", Step("a", approval=Approval("human"))), by=PERSON)
    _needs_a_person(play, 1)


def test_a_person_may_restore_what_was_before_an_escalation():
    play = given(step("a", retry={"max": 1, "exhausted": "escalated"}))
    play.do(Begin("a"), TakeSnapshot(), Fail("a", "one"))
    restore(play, 1, by=PERSON)
    assert play.status("a") == "active"


def test_a_restore_gives_no_tries_beyond_the_bound():
    play = given(step("a"), bounds={"max_iterations": 1})
    play.do(TakeSnapshot(), Begin("a"), Done("a"))
    with contextlib.suppress(HoldfastError):
        restore(play, 1)
        play.do(Begin("a"))
    assert play.state.step("a").status != "active"


def _needs_a_person(play: Play, number: int) -> None:
    (taken,) = (one for one in play.state.snapshots if one.number == number)
    play.refuses(Restore(number), "person_needed", past=play.states[taken.revision - 1])


def test_what_a_person_cancelled_only_a_person_resumes():
    play = given(step("a"))
    play.do(Begin("a"))
    play.do(Cancel("never"), by=PERSON)
    play.refuses(Resume(), "person_needed")
    play.do(Resume(), by=PERSON)
    play.do(Cancel("my own"))
    play.do(Resume())
