"""When work does not succeed: failing, trying again, being blocked, and who continues when the tries are used up."""

from __future__ import annotations

import pytest

from holdfast.core.commands import (
    Begin,
    Block,
    Done,
    Fail,
    Reopen,
    Resume,
    Unblock,
)
from holdfast.errors import Refused
from tests.core.play import PERSON, given, moves, step

# Fail and retry


def test_a_step_without_retries_fails_and_stays_failed():
    play = given(step("a"))
    play.do(Begin("a"))
    assert moves(play.do(Fail("a", "broke"))) == [("failed", "a")]
    progress = play.state.step("a")
    assert (progress.reason, progress.failures, progress.attempt) == ("broke", 1, 1)


def test_a_failure_needs_a_reason():
    play = given(step("a"))
    play.do(Begin("a"))
    play.refuses(Fail("a", " "), "bad_text")


def test_with_tries_left_the_next_one_begins_at_once_and_carries_the_reason():
    play = given(step("a", retry={"max": 3}))
    play.do(Begin("a"))
    assert moves(play.do(Fail("a", "too short"))) == [("failed", "a"), ("retried", "a")]
    progress = play.state.step("a")
    assert (progress.status, progress.attempt, progress.failures) == ("active", 2, 1)
    assert progress.feedback == ("too short",)
    assert [(one.attempt, one.ended, one.reason) for one in progress.tries] == [(1, "failed", "too short")]


@pytest.mark.parametrize("end", ["failed", "escalated"])
def test_when_the_tries_are_used_up_a_step_is_what_its_definition_says(end):
    play = given(step("a", retry={"max": 2, "exhausted": end}))
    play.do(Begin("a"), Fail("a", "one"))
    assert play.status("a") == "active"
    play.do(Fail("a", "two"))
    assert play.status("a") == end
    assert play.state.step("a").failures == 2


@pytest.mark.parametrize("end", ["failed", "escalated"])
def test_only_a_person_goes_on_when_the_tries_are_used_up(end):
    play = given(step("a", retry={"max": 1, "exhausted": end}))
    play.do(Begin("a"), Fail("a", "one"))
    for command in (Resume("a"), Resume()):
        play.refuses(command, "person_needed")
    play.do(Resume("a"), by=PERSON)
    progress = play.state.step("a")
    assert (progress.status, progress.attempt, progress.failures) == ("active", 2, 0)


def test_an_agent_resumes_a_failed_step_that_has_tries_left():
    play = given(step("a"))
    play.do(Begin("a"), Fail("a", "one"), Resume("a"))
    assert (play.status("a"), play.state.step("a").attempt) == ("active", 2)


def test_a_retry_may_begin_at_an_earlier_step_which_gets_the_reason():
    play = given(step("a"), step("b"), step("c", retry={"max": 3, "back_to": "a"})).finish("a", "b")
    play.do(Begin("c"))
    play.do(Fail("c", "too long"))
    assert play.statuses() == {"a": "active", "b": "pending", "c": "pending"}
    assert play.state.step("a").feedback == ("too long",)
    assert play.state.step("a").attempt == 2


def test_tries_are_counted_across_the_way_back():
    play = given(step("a"), step("c", retry={"max": 2, "back_to": "a", "exhausted": "escalated"})).finish("a")
    play.do(Begin("c"), Fail("c", "one"), Done("a"), Begin("c"))
    play.do(Fail("c", "two"))
    assert play.statuses() == {"a": "done", "c": "escalated"}
    assert play.state.step("c").attempt == 2


def test_a_failure_is_recorded_even_when_the_way_back_is_barred():
    """The approval of the first step is stale by now, so the second cannot open again; the third failed anyway."""
    play = given(step("a", outputs=["log"], approval=True), step("b"), step("c", retry={"max": 3, "back_to": "b"}))
    play.write("f", "one").approved("a", log="f").finish("b")
    play.do(Begin("c"))
    play.write("f", "two").do(Fail("c", "broke"))
    assert play.state.step("c").failures == 1
    assert play.status("c") != "active"


def test_a_failed_check_or_a_revision_uses_up_no_try():
    play = given(step("a", review={}, retry={"max": 1}))
    play.do(Begin("a"))
    play.send_back("a", 2)
    progress = play.state.step("a")
    assert (progress.status, progress.failures, progress.attempt) == ("active", 0, 1)


def test_an_agent_does_not_get_round_used_up_tries_by_opening_an_earlier_step():
    play = given(step("a"), step("b", retry={"max": 1, "exhausted": "escalated"})).finish("a")
    play.do(Begin("b"), Fail("b", "one"))
    _refused_on_the_way(play, Reopen("a"), Done("a"), Begin("b"))


def test_an_agent_does_not_get_round_used_up_reviews_by_opening_an_earlier_step():
    play = given(step("a"), step("b", review={"max": 1})).finish("a")
    play.do(Begin("b"))
    play.send_back("b", 1)
    assert play.status("b") == "escalated"
    _refused_on_the_way(play, Reopen("a"), Done("a"), Begin("b"))


def _refused_on_the_way(play, *commands):
    """Somewhere along these commands an agent is told that a person must decide."""
    with pytest.raises(Refused) as caught:
        play.do(*commands)
    assert caught.value.code == "person_needed"


# Block and unblock


def test_a_blocked_step_goes_on_in_the_same_try_with_the_guidance():
    play = given(step("a"))
    play.do(Begin("a"), Block("a", "no key"))
    assert (play.status("a"), play.state.step("a").reason) == ("blocked", "no key")
    play.do(Unblock("a", "the key is in the vault"))
    progress = play.state.step("a")
    assert (progress.status, progress.attempt, progress.reason) == ("active", 1, "")
    assert progress.feedback == ("the key is in the vault",)


def test_a_block_needs_a_reason():
    play = given(step("a"))
    play.do(Begin("a"))
    play.refuses(Block("a", ""), "bad_text")


def test_nothing_after_a_blocked_step_begins():
    play = given(step("a"), step("b"))
    play.do(Begin("a"), Block("a", "no key"))
    assert play.refuses(Begin("b"), "step_blocked").remedy == "once that is settled: holdfast unblock a"


def test_an_escalated_step_gets_a_persons_guidance_and_all_its_tries_again():
    play = given(step("a", retry={"max": 1, "exhausted": "escalated"}))
    play.do(Begin("a"), Fail("a", "one"))
    play.refuses(Unblock("a", "try harder"), "person_needed")
    play.do(Unblock("a", "use the other library"), by=PERSON)
    progress = play.state.step("a")
    assert (progress.status, progress.attempt, progress.failures) == ("active", 2, 0)
    assert progress.feedback == ("use the other library",)
