"""Answers about a workflow: its state, how far it is, what is in the way and what to type."""

from __future__ import annotations

import pytest

from holdfast.core import limits, queries
from holdfast.core.commands import (
    Approve,
    Begin,
    Block,
    Cancel,
    Done,
    Fail,
    Pause,
    Reject,
    Reopen,
    Resume,
    Review,
    Skip,
    Spend,
    Submit,
)
from holdfast.errors import NotFound, UsageError
from tests.core.play import DOLLAR, MINUTE, PERSON, Play, failed, given, step


def blockers(play: Play, path: str, **facts) -> list[tuple[str, str, str]]:
    found = queries.blockers(play.state, path, play.facts(**facts))
    assert all(one.message and one.remedy for one in found)
    return [(one.kind, one.name, play.typed(one)) for one in found]


# Position


def test_the_current_step_is_the_first_one_not_done():
    play = given(step("a"), step("b"), step("c", requires=[]))
    assert queries.current(play.state) == "a"
    play.finish("c")
    assert queries.current(play.state) == "a"
    play.finish("a")
    assert queries.current(play.state) == "b"
    play.finish("b")
    assert queries.current(play.state) is None


def test_the_current_step_is_a_leaf_and_a_branch_only_when_its_own_gate_is_left():
    play = given(step("p", step("x"), approval=True), step("q"))
    assert queries.current(play.state) == "p/x"
    play.finish("p/x")
    assert queries.current(play.state) == "p"


def test_what_is_skipped_is_not_current():
    play = given(step("p", step("x")), step("q"))
    play.do(Skip("p"), by=PERSON)
    assert queries.current(play.state) == "q"


def test_the_next_step_is_the_one_after_the_current():
    play = given(step("a"), step("p", step("x"), step("y")))
    assert queries.next_step(play.state, "a") == "p/x"
    play.finish("a", "p/x")
    assert queries.next_step(play.state, "p/y") is None
    play.finish("p/y")
    assert queries.next_step(play.state, None) is None


def test_after_the_last_step_of_a_branch_with_gates_of_its_own_comes_the_branch():
    inner = step("i", step("x"), step("y"))
    play = given(step("p", inner, checks=["whole"]), step("q"))
    assert queries.next_step(play.state, "p/i/x") == "p/i/y"
    play.finish("p/i/x")
    assert queries.next_step(play.state, "p/i/y") == "p"


def test_open_steps_are_the_leaves_somebody_is_at():
    play = given(step("p", step("x"), step("y", approval=True), step("z"), parallel=True))
    play.do(Begin("p/x"), Begin("p/y"), Done("p/y"))
    assert queries.open_steps(play.state) == ["p/x", "p/y"]


@pytest.mark.parametrize(("done", "percent"), [(0, 14), (1, 28), (2, 42), (3, 57), (6, 99), (7, 100)])
def test_progress_is_the_current_step_over_the_total_at_most_99_until_completed(done, percent):
    names = [f"s{number}" for number in range(1, 8)]
    play = given(*map(step, names)).finish(*names[:done])
    assert queries.percentage(play.state) == percent


def test_progress_at_step_3_of_7_is_42():
    names = [f"s{number}" for number in range(1, 8)]
    play = given(*map(step, names)).finish("s1", "s2")
    play.do(Begin("s3"))
    assert (queries.top_number(play.state), queries.percentage(play.state)) == (3, 42)


def test_progress_counts_the_top_of_the_tree():
    play = given(step("a"), step("p", step("x"), step("y"))).finish("a", "p/x")
    assert (queries.top_number(play.state), queries.percentage(play.state)) == (2, 99)


def test_the_last_step_is_the_number_of_a_finished_workflow():
    assert queries.top_number(given(step("a"), step("b")).finish("a", "b").state) == 2


# Status


@pytest.mark.parametrize(
    ("word", "commands"),
    [
        ("in_progress", ()),
        ("in_progress", (Begin("a"),)),
        ("in_progress", (Begin("a"), Submit("a"))),
        ("waiting", (Begin("a"), Submit("a"), Review("a", "approved"))),
        ("failed", (Begin("a"), Fail("a", "r"))),
        ("failed", (Begin("a"), Submit("a"), Review("a", "approved"), Reject("a"))),
        ("blocked", (Begin("a"), Block("a", "r"))),
        ("escalated", (Begin("a"), Submit("a"), Review("a", "needs_revision"))),
        ("paused", (Begin("a"), Pause("r"))),
        ("paused", (Begin("a"), Block("a", "r"), Pause("r"))),
        ("cancelled", (Begin("a"), Pause("r"), Cancel())),
        ("in_progress", (Begin("a"), Pause("r"), Cancel(), Resume())),
        ("completed", (Skip("a"),)),
        ("completed", (Begin("a"), Submit("a"), Review("a", "approved"), Approve("a"))),
        ("in_progress", (Skip("a"), Reopen("a"))),
    ],
)
def test_the_status_follows_from_the_steps_and_the_marks(word, commands):
    play = given(step("a", review={"max": 1}, approval=True))
    play.do(*commands, by=PERSON)
    assert queries.status(play.state) == word
    assert queries.is_active(play.state) == (word not in ("completed", "cancelled"))


def test_the_worst_of_several_open_steps_gives_the_status():
    play = given(step("p", step("x"), step("y"), step("z", retry={"max": 1, "exhausted": "escalated"}), parallel=True))
    play.do(Begin("p/x"), Block("p/x", "r"), Begin("p/y"))
    assert queries.status(play.state) == "blocked"
    play.do(Fail("p/y", "r"))
    assert queries.status(play.state) == "failed"
    play.do(Begin("p/z"), Fail("p/z", "r"))
    assert queries.status(play.state) == "escalated"


# What is in the way


def test_a_step_whose_turn_has_come_waits_for_its_beginning():
    assert blockers(given(step("a")), "a") == [("begin", "a", "holdfast begin a")]


def test_a_later_step_waits_for_what_is_before_it_and_the_remedy_is_what_can_be_done_now():
    play = given(step("a", checks=["tests"]), step("b"), step("c"))
    assert blockers(play, "c") == [("requires", "b", "holdfast begin a")]
    play.do(Begin("a"))
    assert blockers(play, "b") == [("requires", "a", "holdfast check tests --PASSED-OR-FAILED")]


def test_an_active_step_waits_for_its_checks_and_outputs_first():
    play = given(step("a", outputs=["log"], checks=["tests", {"name": "lint", "run": ["ruff"]}], approval=True))
    play.do(Begin("a"))
    assert blockers(play, "a") == [
        ("check", "tests", "holdfast check tests --PASSED-OR-FAILED"),
        ("check", "lint", "holdfast check lint --run"),
        ("output", "log", "holdfast done --artifact log=PATH"),
    ]


def test_an_active_step_with_its_work_complete_is_handed_in_before_people_are_asked():
    play = given(step("a", approval={"by": "human"}, description="Read it again."))
    play.do(Begin("a"))
    assert blockers(play, "a") == [("done", "a", "holdfast done a")]


def test_an_active_step_that_is_nothing_but_an_approval_waits_for_it():
    play = given(step("a", approval={"by": "human"}))
    play.do(Begin("a"))
    assert [name for name, *_ in blockers(play, "a")] == ["approval"]


def test_an_active_step_without_gates_waits_for_its_end():
    play = given(step("a"))
    play.do(Begin("a"))
    assert blockers(play, "a") == [("done", "a", "holdfast done a")]


def test_a_step_in_review_waits_for_the_review_and_then_for_the_choice():
    play = given(step("a", review={"by": ["lead"]}, choice={"options": ["A", "B"]}))
    play.do(Begin("a"), Submit("a"))
    assert blockers(play, "a") == [
        ("review", "review", "holdfast review a --verdict APPROVED_OR_NEEDS_REVISION --as lead"),
        ("choice", "choice", "holdfast approve a --variant VARIANT"),
    ]
    play.do(Review("a", "approved"), by=PERSON)
    assert blockers(play, "a") == [("choice", "choice", "holdfast approve a --variant VARIANT")]


def test_a_waiting_step_names_a_check_that_broke_meanwhile_before_the_approval():
    play = given(step("a", checks=["tests"], approval=True))
    play.do(Begin("a"))
    play.check("a", "tests")
    play.do(Done("a"))
    play.check("a", "tests", failed())
    assert [kind for kind, _, _ in blockers(play, "a")] == ["check", "approval"]


def test_a_done_step_with_a_stale_approval_waits_for_a_new_one():
    play = given(step("a", outputs=["log"], approval=True), step("b")).write("f", "one").approved("a", log="f")
    assert blockers(play, "a") == []
    play.write("f", "two")
    assert blockers(play, "a") == [("approval", "approval", "holdfast approve a")]
    assert blockers(play, "b") == [("approval", "a", "holdfast approve a")]


def test_a_branch_waits_for_its_children():
    play = given(step("p", step("x"), step("y"))).finish("p/x")
    assert blockers(play, "p") == [("child", "p/y", "holdfast begin p/y")]


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ((Begin("a"), Block("a", "no key")), ("blocked", "a", "once that is settled: holdfast unblock a")),
        ((Begin("a"), Fail("a", "broke")), ("failed", "a", "holdfast resume --from a")),
        (
            (Begin("a"), Submit("a"), Review("a", "needs_revision")),
            ("escalated", "a", "holdfast unblock a --guidance TEXT · or holdfast approve a"),
        ),
        ((Begin("a"), Cancel()), ("mark", "cancelled", "if it is to continue after all: holdfast resume")),
        ((Begin("a"), Pause("r")), ("mark", "paused", "to continue: holdfast resume")),
        ((Begin("a"), Spend(DOLLAR)), ("bound", "cost", "holdfast extend --cost 5 · or holdfast cancel")),
    ],
)
def test_what_stopped_the_work_is_named_with_what_to_type(commands, expected):
    play = given(step("a", review={"max": 1}), bounds={"max_cost": "$1"})
    play.do(*commands, by=PERSON)
    assert blockers(play, "a") == [expected]


def test_a_branch_with_a_child_at_work_names_what_that_child_waits_for():
    play = given(step("p", step("x")))
    play.do(Begin("p/x"))
    assert blockers(play, "p") == [("child", "p/x", "holdfast done p/x")]


def test_an_active_step_that_must_be_reviewed_is_handed_in_first():
    play = given(step("a", review={}))
    play.do(Begin("a"))
    assert blockers(play, "a")[0][2] in ("holdfast done a", "holdfast submit a")


def typed(line: str):
    """The command of a remedy, as the command line would read it."""
    _, word, path, *_ = line.split()
    commands = {"begin": Begin, "done": Done, "submit": Submit, "approve": Approve}
    return Review(path, "approved") if word == "review" else commands[word](path)


def test_whoever_types_the_remedies_one_after_the_other_gets_to_the_end():
    play = given(step("a"), step("p", step("x"), step("y"), parallel=True), step("z", review={}, approval=True))
    for _ in range(20):
        at = queries.current(play.state)
        if at:
            play.do(typed(blockers(play, at)[0][2]), by=PERSON)
    assert queries.status(play.state) == "completed"


# Naming steps


def test_a_step_is_resolved_by_number_id_or_path():
    play = given(step("a"), step("p", step("x")))
    assert [queries.resolve(play.state, word) for word in ("1", "p", "2/1", "x", "p/x")] == [
        "a",
        "p",
        "p/x",
        "p/x",
        "p/x",
    ]


def test_a_word_that_means_several_steps_lists_them():
    play = given(step("a"), step("p", step("x")), step("q", step("x")))
    with pytest.raises(UsageError) as caught:
        queries.resolve(play.state, "x")
    assert (caught.value.code, caught.value.facts["candidates"]) == ("ambiguous_step", ["p/x", "q/x"])
    assert caught.value.remedy


def test_of_several_steps_of_a_name_the_one_beside_the_current_step_is_meant():
    play = given(step("p", step("x"), step("y")), step("q", step("x"), step("y")))
    assert queries.resolve(play.state, "y") == "p/y"
    for name in ("p/x", "p/y"):
        play.do(Begin(name), Done(name))
    assert queries.resolve(play.state, "y") == "q/y"


def test_a_word_that_means_nothing_lists_the_steps():
    with pytest.raises(NotFound) as caught:
        queries.resolve(given(step("a")).state, "z" * 500)
    assert (caught.value.code, caught.value.facts["steps"]) == ("no_step", ["a"])
    assert len(caught.value.message) < 200
    assert caught.value.remedy


# Time and tries


def test_a_step_lasts_from_its_beginning_to_its_end_or_until_now():
    play = given(step("a"))
    assert limits.taken(play.state, "a", play.now) is None
    play.do(Begin("a"))
    play.wait(MINUTE)
    assert limits.taken(play.state, "a", play.now) == MINUTE
    play.do(Done("a"))
    play.wait(MINUTE)
    assert limits.taken(play.state, "a", play.now) == MINUTE


def test_tries_left_are_counted_down_and_unbounded_without_a_retry():
    play = given(step("a", retry={"max": 2}), step("b"))
    assert limits.tries_left(play.state, "b") is None
    assert limits.tries_left(play.state, "a") == 2
    play.do(Begin("a"), Fail("a", "r"))
    assert limits.tries_left(play.state, "a") == 1


def test_the_clock_of_a_failed_step_has_stopped():
    play = given(step("a", retry={"max": 1}))
    play.do(Begin("a"))
    play.wait(MINUTE)
    play.do(Fail("a", "r"))
    play.wait(10 * MINUTE)
    assert limits.taken(play.state, "a", play.now) == MINUTE


def test_usage_of_a_bound_is_told_in_percent_and_in_words():
    play = given(step("a"), bounds={"max_cost": "$10", "max_time": "2h"})
    play.do(Spend(7 * DOLLAR))
    play.wait(30 * MINUTE)
    cost, time = limits.usages(play.state, play.now)
    assert (cost.bound, cost.percent, cost.used_text, cost.limit_text) == ("cost", 70, "$7.00", "$10.00")
    assert (time.bound, time.percent, time.used_text, time.limit_text) == ("time", 25, "30m 0s", "2h 0m")
    assert not cost.reached
