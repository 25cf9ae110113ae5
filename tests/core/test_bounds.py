"""Bounds on money, time and tries: warnings, the stop, and who may give more."""

from __future__ import annotations

import pytest

from holdfast.core import limits, queries
from holdfast.core.commands import (
    Approve,
    Begin,
    Cancel,
    Done,
    Extend,
    Fail,
    Note,
    Pause,
    Reopen,
    Resume,
    Review,
    Skip,
    Spend,
    Submit,
)
from holdfast.core.events import Extended, Spent, Warned
from holdfast.core.state import Actor
from tests.core.play import AGENT, DOLLAR, FILE, HOUR, MINUTE, PERSON, Play, given, only, step


def spending(limit: str = "$10") -> Play:
    play = given(step("a"), step("b"), bounds={"max_cost": limit})
    play.do(Begin("a"))
    return play


def warned(events) -> list[tuple[str, int]]:
    return [(event.bound, event.percent) for event in only(events, Warned)]


def test_spending_adds_up():
    play = spending()
    play.do(Spend(2 * DOLLAR, "coder"), Spend(DOLLAR // 2))
    assert play.state.spent == 2_500_000


@pytest.mark.parametrize("micros", [0, -1])
def test_only_more_than_nothing_is_spent(micros):
    spending().refuses(Spend(micros), "bad_number")


def test_warnings_come_at_75_at_90_and_at_100_percent_and_each_once():
    play = spending()
    assert warned(play.do(Spend(7_490_000))) == []
    assert warned(play.do(Spend(10_000))) == [("cost", 75)]
    assert warned(play.do(Spend(10_000))) == []
    assert warned(play.do(Spend(1_490_000))) == [("cost", 90)]
    assert warned(play.do(Note("half way"))) == []
    assert warned(play.do(Spend(1_000_000))) == [("cost", 100)]
    assert warned(play.do(Spend(1_000_000))) == []


def test_one_large_amount_gives_every_warning_at_once():
    play = spending()
    events = play.do(Spend(12 * DOLLAR))
    assert events[0] == Spent(12 * DOLLAR)
    assert warned(events) == [("cost", 75), ("cost", 90), ("cost", 100)]
    assert (only(events, Warned)[0].used, only(events, Warned)[0].limit) == ("$12.00", "$10.00")


def test_a_used_up_bound_stops_the_work_and_names_who_decides():
    play = spending()
    play.do(Spend(10 * DOLLAR))
    refusal = play.refuses(Done("a"), "bound_reached")
    assert refusal.facts == {"bound": "cost", "used": "$10.00", "limit": "$10.00"}
    assert "a person decides" in refusal.message
    assert play.typed(refusal) == "holdfast extend --cost 5 · or holdfast cancel"
    assert refusal.remedy == "show this to a person and stop, or holdfast wait --for person"


@pytest.mark.parametrize(
    "command",
    [Begin("b"), Done("a"), Submit("a"), Review("a", "approved"), Approve("a"), Skip("a"), Reopen("a"), Resume()],
)
def test_nothing_moves_on_past_a_bound_not_even_for_a_person(command):
    play = spending()
    play.do(Spend(10 * DOLLAR))
    play.refuses(command, "bound_reached", by=PERSON)


def test_a_pause_with_nothing_left_is_ended_by_more_of_it_first():
    play = spending()
    play.do(Pause("lunch"), by=PERSON)
    play.do(Spend(10 * DOLLAR))
    (unmet,) = queries.blockers(play.state, "a", play.facts())
    assert unmet.message == "the bound on cost is used up ($10.00 of $10.00), and paused: lunch"
    assert play.typed(unmet) == "holdfast extend --cost 5 · then: holdfast resume"
    play.do(Extend(cost=5 * DOLLAR), Resume(), by=PERSON)
    assert queries.status(play.state) == "in_progress"


def test_a_failure_past_a_bound_is_recorded_and_begins_no_other_try():
    play = given(step("a", retry={"max": 3}), bounds={"max_cost": "$10"})
    play.do(Begin("a"), Spend(10 * DOLLAR), Fail("a", "broke"))
    assert (play.status("a"), play.state.step("a").failures) == ("failed", 1)


def test_a_workflow_that_reached_a_bound_can_still_be_noted_and_cancelled():
    play = spending()
    play.do(Spend(10 * DOLLAR), Note("why it cost so much"), Cancel("too dear"))
    assert queries.status(play.state) == "cancelled"


def test_a_bound_survives_cancelling_and_resuming():
    play = spending()
    play.do(Spend(10 * DOLLAR), Cancel())
    play.refuses(Resume(), "bound_reached", by=PERSON)


def test_a_person_extends_a_bound_and_the_work_goes_on():
    play = spending()
    play.do(Spend(10 * DOLLAR))
    (event,) = play.do(Extend(cost=10 * DOLLAR), by=PERSON)
    assert isinstance(event, Extended)
    assert play.state.bounds.max_cost == 20 * DOLLAR
    play.do(Done("a"))
    assert play.status("a") == "done"


def test_after_an_extension_the_warnings_come_again_at_the_new_levels():
    play = spending()
    play.do(Spend(10 * DOLLAR))
    play.do(Extend(cost=10 * DOLLAR), by=PERSON)
    assert warned(play.do(Spend(5 * DOLLAR))) == [("cost", 75)]


def test_an_extension_that_is_not_enough_warns_at_once():
    play = spending()
    play.do(Spend(19 * DOLLAR))
    assert warned(play.do(Extend(cost=10 * DOLLAR), by=PERSON)) == [("cost", 75), ("cost", 90)]


def test_extending_one_bound_does_not_repeat_the_warnings_of_another():
    play = given(step("a"), bounds={"max_cost": "$10", "max_time": "1h"})
    play.do(Begin("a"))
    assert warned(play.wait(50 * MINUTE).do(Note("late"))) == [("time", 75)]
    assert warned(play.do(Extend(cost=10 * DOLLAR), by=PERSON)) == []


@pytest.mark.parametrize("actor", [AGENT, FILE, Actor("engine"), Actor("hook")])
@pytest.mark.parametrize("more", [Extend(cost=DOLLAR), Extend(time=HOUR), Extend(iterations=1)])
def test_nobody_but_a_person_extends_a_bound(actor, more):
    play = given(step("a"), bounds={"max_cost": "$10", "max_time": "1h", "max_iterations": 3})
    play.refuses(more, "person_needed", by=actor)


@pytest.mark.parametrize("nothing", [Extend(), Extend(cost=-1), Extend(cost=5, time=-1)])
def test_an_extension_gives_more_and_never_less(nothing):
    spending().refuses(nothing, "bad_number", by=PERSON)


@pytest.mark.parametrize("more", [Extend(time=1), Extend(iterations=1), Extend(cost=1, time=1)])
def test_a_bound_that_is_not_there_is_not_extended(more):
    spending().refuses(more, "no_such_bound", by=PERSON)


def test_a_bound_on_time_warns_and_stops():
    play = given(step("a"), step("b"), bounds={"max_time": "2h"})
    assert warned(play.wait(89 * MINUTE).do(Begin("a"))) == []
    assert warned(play.wait(MINUTE).do(Note("an hour and a half"))) == [("time", 75)]
    assert warned(play.wait(20 * MINUTE).do(Note("nearly"))) == [("time", 90)]
    play.wait(10 * MINUTE).refuses(Done("a"), "bound_reached")
    play.do(Extend(time=HOUR), by=PERSON)
    play.do(Done("a"))
    assert play.status("a") == "done"


def test_paused_time_does_not_count():
    play = given(step("a"), bounds={"max_time": "2h"})
    play.do(Begin("a"), Pause("over night"))
    play.wait(10 * HOUR).do(Resume())
    play.wait(HOUR).do(Done("a"))
    assert play.status("a") == "done"


def test_a_clock_that_goes_back_uses_up_no_time():
    play = given(step("a"), bounds={"max_time": "2h"})
    play.seconds -= 100 * HOUR
    play.do(Begin("a"))
    assert limits.elapsed(play.state, play.now) == 0


def test_tries_at_one_step_are_bounded():
    play = given(step("a"), bounds={"max_iterations": 2})
    play.do(Begin("a"), Done("a"), Reopen("a"), Done("a"))
    refusal = play.refuses(Reopen("a"), "bound_reached", by=PERSON)
    assert refusal.facts["bound"] == "iterations"
    play.do(Extend(iterations=1), by=PERSON)
    play.do(Reopen("a"))
    assert play.state.step("a").attempt == 3


def test_the_tries_of_one_step_are_not_those_of_another():
    play = given(step("a"), step("b"), bounds={"max_iterations": 1})
    play.finish("a", "b")
    assert queries.status(play.state) == "completed"


def test_a_branch_has_no_tries_of_its_own_to_use_up():
    play = given(step("p", step("x"), step("y")), bounds={"max_iterations": 1})
    play.finish("p/x", "p/y")
    assert play.status("p") == "done"


def test_a_failure_at_the_bound_stays_a_failure_and_begins_no_other_try():
    play = given(step("a", retry={"max": 9}), bounds={"max_iterations": 2})
    play.do(Begin("a"), Fail("a", "one"), Fail("a", "two"))
    assert (play.status("a"), play.state.step("a").attempt) == ("failed", 2)
    play.refuses(Resume("a"), "bound_reached", by=PERSON)
    play.do(Extend(iterations=2), by=PERSON)
    play.do(Resume("a"))
    assert play.status("a") == "active"


def test_the_bound_on_tries_warns_too():
    play = given(step("a", retry={"max": 9}), bounds={"max_iterations": 4})
    play.do(Begin("a"), Fail("a", "one"))
    events = play.do(Fail("a", "two"))
    assert play.state.step("a").attempt == 3
    assert [event.percent for event in only(events, Warned) if event.bound.startswith("iterations")] == [75]
