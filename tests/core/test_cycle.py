"""A phase is made, reviewed and put before people: what is counted, what is kept, and what is still to heed."""

from __future__ import annotations

import pytest

from holdfast.core import commands as cmd
from holdfast.core import cycle, queries
from tests.core.feature import (
    ONE,
    TWO,
    acts,
    advice,
    approved,
    at,
    feature,
    iterations,
    passed_on,
    sent_back,
    word_of,
)
from tests.core.play import PERSON, Play, given, step

# Iterations


def test_a_phase_counts_from_one_when_it_is_handed_in_and_on_with_every_revision():
    play = feature()
    assert iterations(play) == 0
    play.do(cmd.Begin(ONE))
    assert iterations(play) == 0
    seen = []
    for _ in range(4):
        play.do(cmd.Done(ONE))
        seen.append((word_of(play), iterations(play)))
        play.do(cmd.Review(ONE, "needs_revision", "shorter"))
        seen.append((word_of(play), iterations(play)))
    assert seen == [
        ("in_review", 1),
        ("in_progress", 2),
        ("in_review", 2),
        ("in_progress", 3),
        ("in_review", 3),
        ("in_progress", 4),
        ("in_review", 4),
        ("escalated", 4),
    ]


@pytest.mark.parametrize("rounds", [0, 1, 2, 3])
def test_the_count_stays_through_the_peoples_review_and_the_approval(rounds):
    play = passed_on(at("in_progress", rounds))
    assert (word_of(play), iterations(play)) == ("user_review", rounds + 1)
    play.do(cmd.Approve(ONE), by=PERSON)
    assert (word_of(play), iterations(play)) == ("approved", rounds + 1)


def test_the_fourth_review_may_still_approve():
    play = passed_on(at("in_progress", 3))
    assert (word_of(play), iterations(play)) == ("user_review", 4)


def after_a_rejection() -> Play:
    play = at("user_review", 3)
    play.do(cmd.Reject(ONE, "with numbers"), by=PERSON)
    return play


def after_guidance() -> Play:
    play = at("escalated")
    play.do(cmd.Unblock(ONE, "like so"), by=PERSON)
    return play


def after_a_reset() -> Play:
    play = at("in_review", 3)
    play.do(cmd.Reset(ONE), by=PERSON)
    return play


def after_a_regression() -> Play:
    play = at("approved", 3)
    play.do(cmd.Reopen(ONE, "one more case"), by=PERSON)
    return play


FRESH = (after_a_rejection, after_guidance, after_a_reset, after_a_regression)


@pytest.mark.parametrize("fresh", FRESH)
def test_when_people_have_spoken_the_count_begins_anew_with_four_reviews(fresh):
    play = fresh()
    assert (word_of(play), iterations(play)) == ("in_progress", 0)
    play.do(cmd.Done(ONE))
    assert iterations(play) == 1
    play.do(cmd.Review(ONE, "needs_revision", "x"))
    assert sent_back(play, ONE, 2).status(ONE) == "active"
    assert word_of(sent_back(play)) == "escalated"


@pytest.mark.parametrize("fresh", FRESH)
def test_the_history_of_the_rounds_before_is_kept(fresh):
    play = fresh()
    before = acts(play)
    assert before[:2] == [("created", 1, "NEEDS_REVISION"), ("revised", 2, "NEEDS_REVISION")]
    sent_back(play)
    assert acts(play)[: len(before)] == before


def test_a_step_without_a_review_is_counted_without_a_limit():
    play = given(step("a"))
    assert cycle.iterations(None, play.state.step("a")) == 0
    play.finish("a")
    assert cycle.iterations(None, play.state.step("a")) == 1


# A whole life


def test_the_account_of_a_phase_from_its_first_draft_to_the_override():
    play = feature(ONE)
    play.do(cmd.Done(ONE))
    assert acts(play) == [("created", 1, "")]
    play.do(cmd.Review(ONE, "needs_revision", "numbers"))
    assert acts(play) == [("created", 1, "NEEDS_REVISION")]
    passed_on(play)
    assert acts(play)[1:] == [("revised", 2, "APPROVED")]
    play.do(cmd.Reject(ONE, "bigger"), by=PERSON)
    assert acts(play)[2:] == [("user_review", 2, "NEEDS_REVISION")]
    sent_back(play, ONE, 4)
    why = "4 reviews asked for a revision"
    assert acts(play)[3:] == [*(("revised", n, "NEEDS_REVISION") for n in (1, 2, 3, 4)), ("escalated", 4, why)]
    play.do(cmd.Unblock(ONE, "like so"), by=PERSON)
    assert acts(play)[8:] == [("guided", 4, "like so")]
    sent_back(play, ONE, 4)
    play.do(cmd.Approve(ONE), by=PERSON)
    assert acts(play)[9:] == [
        *(("revised", n, "NEEDS_REVISION") for n in (1, 2, 3, 4)),
        ("escalated", 4, why),
        ("overridden", 4, "APPROVED"),
    ]
    play.do(cmd.Reopen(ONE, "again"), by=PERSON)
    play.do(cmd.Reset(ONE), by=PERSON)
    assert acts(play)[15:] == [("regression", 0, "NEEDS_REVISION"), ("reset", 0, "")]


def test_each_act_says_when():
    play = feature(ONE)
    play.wait(60).do(cmd.Done(ONE))
    handed_in = play.now
    play.wait(60).do(cmd.Review(ONE, "approved"))
    play.wait(60).do(cmd.Approve(ONE), by=PERSON)
    assert [act.at for act in play.state.step(ONE).acts] == [handed_in, play.now]


def test_what_follows_a_phase_that_is_opened_again_says_that_it_was_reset():
    play = approved(feature(), ONE, TWO)
    play.do(cmd.Reopen(ONE), by=PERSON)
    assert acts(play, TWO) == [("created", 1, "APPROVED"), ("user_review", 1, "APPROVED"), ("reset", 0, "")]


def test_of_very_many_acts_the_newest_are_kept():
    play = feature(ONE)
    for number in range(cycle.KEPT_ACTS):
        passed_on(play).do(cmd.Reject(ONE, f"change {number}"), by=PERSON)
    assert len(acts(play)) == cycle.KEPT_ACTS
    assert acts(play)[-1] == ("user_review", 1, "NEEDS_REVISION")


def test_steps_without_a_review_keep_no_account():
    play = given(step("a", approval={"by": "human"}))
    play.approved("a")
    assert play.state.step("a").acts == ()


# What is still to heed


def test_feedback_is_heeded_until_the_people_have_the_work_before_them():
    play = at("in_progress", 1)
    assert advice(play) == "round 1"
    play.do(cmd.Done(ONE))
    assert advice(play) == "round 1"
    play.do(cmd.Review(ONE, "approved", "a remark"))
    assert advice(play) == ""


def test_the_newest_review_replaces_what_the_one_before_it_asked_for():
    assert advice(at("in_progress", 2)) == "round 2"


def test_a_review_that_asks_for_a_revision_without_a_word_leaves_nothing_to_heed():
    play = at("in_review", 1)
    play.do(cmd.Review(ONE, "needs_revision"))
    assert advice(play) == ""


@pytest.mark.parametrize(
    ("fresh", "said"),
    [
        (after_a_rejection, "with numbers"),
        (after_guidance, "like so"),
        (after_a_reset, ""),
        (after_a_regression, "one more case"),
    ],
)
def test_what_people_said_is_to_heed(fresh, said):
    assert advice(fresh()) == said


def test_an_escalated_phase_still_shows_what_the_last_review_asked_for():
    play = at("escalated")
    assert advice(play) == "round 4"
    play.do(cmd.Unblock(ONE), by=PERSON)
    assert advice(play) == "round 4"


def test_after_the_override_nothing_is_to_heed():
    play = at("escalated")
    play.do(cmd.Approve(ONE), by=PERSON)
    assert advice(play) == ""


def test_advice_comes_on_top_of_what_is_to_heed_already():
    play = at("in_progress", 1)
    play.do(cmd.Advise(ONE, "and the glossary"), by=PERSON)
    assert advice(play) == "round 1\n\nand the glossary"
    assert play.state.step(ONE).feedback == ("round 1", "and the glossary")


def test_advice_waits_for_a_phase_that_has_not_begun():
    play = feature(ONE)
    play.do(cmd.Advise(TWO, "mind the cache"), by=PERSON)
    passed_on(play).do(cmd.Approve(ONE), by=PERSON)
    play.do(cmd.Begin(TWO))
    assert advice(play, TWO) == "mind the cache"


@pytest.mark.parametrize("text", ["", " ", "x" * 20_001])
def test_advice_is_a_text_of_some_length(text):
    feature(ONE).refuses(cmd.Advise(ONE, text), "bad_text", by=PERSON)


def test_nobody_is_advised_on_a_phase_that_is_not_there():
    feature(ONE).refuses(cmd.Advise("06-more", "x"), "no_step", by=PERSON)


# Escalations


def test_an_escalation_is_listed_with_its_reason_until_its_answer_is_known():
    play = at("escalated")
    (one,) = play.state.escalations
    assert (one.step, one.reason, one.iteration, one.at) == (ONE, "4 reviews asked for a revision", 4, play.now)
    assert (one.resolved_at, one.resolution) == ("", "")
    play.wait(60).do(cmd.Unblock(ONE, "like so"), by=PERSON)
    (answered,) = play.state.escalations
    assert answered == one.replace(resolved_at=play.now, resolution="guidance: like so")


@pytest.mark.parametrize(
    ("command", "resolution"),
    [
        (cmd.Approve(ONE), "override"),
        (cmd.Unblock(ONE), "resumed"),
        (cmd.Resume(), "resumed"),
        (cmd.Reset(ONE), "reset"),
    ],
)
def test_every_way_out_of_an_escalation_is_named(command, resolution):
    play = at("escalated")
    play.do(command, by=PERSON)
    assert [one.resolution for one in play.state.escalations] == [resolution]


def test_an_escalation_in_a_phase_that_is_sent_back_is_over():
    play = approved(feature(), ONE)
    play.do(cmd.Begin(TWO))
    sent_back(play, TWO, 4)
    play.do(cmd.Reopen(ONE, "it begins here"), by=PERSON)
    assert [(one.step, one.resolution) for one in play.state.escalations] == [(TWO, "reset")]
    assert queries.status(play.state) == "in_progress"


def test_a_second_escalation_of_the_same_phase_stands_beside_the_first():
    play = sent_back(after_guidance(), ONE, 4)
    assert [one.resolution for one in play.state.escalations] == ["guidance: like so", ""]
    play.do(cmd.Approve(ONE), by=PERSON)
    assert [one.resolution for one in play.state.escalations] == ["guidance: like so", "override"]


def test_an_agent_cannot_get_an_escalated_phase_out_of_the_way():
    play = approved(feature(), ONE)
    play.do(cmd.Begin(TWO))
    sent_back(play, TWO, 4)
    play.refuses(cmd.Reopen(ONE), "person_needed")
    assert word_of(play, TWO) == "escalated"


# Crashes


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_a_crash_of_a_creator_is_no_iteration_and_is_tried_once_more(rounds):
    play = at("in_progress", rounds)
    count = iterations(play)
    play.wait(60).do(cmd.Fail(ONE, "died"))
    assert (word_of(play), iterations(play), play.state.step(ONE).attempt) == ("in_progress", count, 2)
    assert acts(play)[-1][::2] == ("crashed", "died")
    assert play.state.escalations == ()


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_a_crash_of_a_reviewer_is_no_iteration_and_the_work_stays_handed_in(rounds):
    play = at("in_review", rounds)
    play.do(cmd.Fail(ONE, "died"))
    assert (word_of(play), iterations(play)) == ("in_review", rounds + 1)
    play.do(cmd.Review(ONE, "needs_revision", "x"))
    assert word_of(play) == ("escalated" if rounds == 3 else "in_progress")


@pytest.mark.parametrize("word", ["in_progress", "in_review"])
def test_the_second_crash_is_escalated_to_a_person(word):
    play = at(word, 1)
    play.do(cmd.Fail(ONE, "died"), cmd.Fail(ONE, "died again"))
    assert word_of(play) == "escalated"
    assert [(one.step, one.reason) for one in play.state.escalations] == [(ONE, "failed 2 times: died again")]
    play.refuses(cmd.Resume(), "person_needed")
    play.do(cmd.Unblock(ONE, "more memory"), by=PERSON)
    assert (word_of(play), iterations(play), advice(play)) == ("in_progress", 0, "more memory")


def test_one_crash_in_progress_and_one_in_review_are_two():
    play = feature(ONE)
    play.do(cmd.Fail(ONE, "died"), cmd.Done(ONE), cmd.Fail(ONE, "died again"))
    assert word_of(play) == "escalated"


@pytest.mark.parametrize("fresh", FRESH[1:])
def test_a_person_who_lets_the_work_go_on_gives_it_its_tries_again(fresh):
    play = fresh()
    play.do(cmd.Fail(ONE, "died"))
    assert word_of(play) == "in_progress"


def test_a_crash_of_a_creator_takes_nothing_away_from_what_is_to_heed():
    play = at("in_progress", 1)
    play.do(cmd.Fail(ONE, "died"))
    assert advice(play) == "round 1"


def test_a_crash_does_not_change_when_the_phase_began():
    play = feature(ONE)
    began = play.state.step(ONE).started_at
    play.wait(600).do(cmd.Fail(ONE, "died"))
    assert play.state.step(ONE).started_at == began


def test_while_the_work_is_paused_a_crash_begins_no_other_try():
    play = at("in_progress")
    play.do(cmd.Pause("over night"))
    play.do(cmd.Fail(ONE, "died"))
    assert play.status(ONE) == "failed"
    play.do(cmd.Resume())
    assert (word_of(play), iterations(play)) == ("in_progress", 0)
