"""Tasks of a document: tried again as long as the bounds allow it, then a person decides; and what each leaves."""

from __future__ import annotations

import pytest

from holdfast.core import answers, limits, queries
from holdfast.core import events as ev
from holdfast.core.briefing import Briefing
from holdfast.core.commands import (
    Approve,
    Begin,
    Block,
    Cancel,
    Done,
    Extend,
    Fail,
    Iterate,
    Pause,
    Refile,
    Resume,
    Skip,
    Spend,
    Start,
    StartAgent,
    TakeSnapshot,
    Unblock,
)
from holdfast.core.packet import packet
from holdfast.core.state import Snapshot
from holdfast.plain.terminal import Style
from holdfast.surfaces import render
from holdfast.systems.seam.registry import conduct_of
from tests.core.play import DOLLAR, HOUR, OTHER_AGENT, PERSON, Play, definition, moves, only, step

TASK = "phase-1/1.1"


def run(iterations: int = 3, **bounds) -> Play:
    """A run of a document with its plan approved and its first task begun."""
    play = Play()
    play.world["head"] = "c0ffee"
    limits = {"max_iterations": iterations, **bounds}
    made = definition(
        step("plan", approval={"by": "relayed"}),
        step(
            "phase-1",
            step("1.1", kind="task", retry={"max": 1}, checks=[{"name": "works"}]),
            step("1.2", kind="task", retry={"max": 1}),
            parallel=True,
        ),
        loads="task_document",
        bounds=limits,
    )
    play.do(Start.of(made, "0" * 26, "run-1", begun=("plan",), conduct=conduct_of("task_document")))
    play.do(Done("plan"), Approve("plan"), Begin(TASK))
    return play


def used_up() -> Play:
    play = run()
    play.do(*(Iterate(TASK, f"red {number}") for number in range(3)))
    return play


# Once more


def test_an_iteration_begins_the_next_try_with_what_the_last_one_showed():
    play = run()
    assert moves(play.do(Iterate(TASK, "tests red"))) == [("failed", TASK), ("retried", TASK)]
    progress = play.state.step(TASK)
    assert (progress.status, progress.attempt, progress.feedback) == ("active", 2, ("tests red",))
    assert [(one.attempt, one.reason) for one in progress.tries] == [(1, "tests red")]


def test_a_criterion_that_was_met_has_to_be_met_again():
    play = run()
    play.check(TASK, "works")
    play.do(Iterate(TASK, "the other one is red"))
    play.refuses(Done(TASK), "gate_unmet")
    play.check(TASK, "works")
    play.do(Done(TASK))
    assert play.status(TASK) == "done"


@pytest.mark.parametrize("reason", ["", " ", "x" * 100_000])
def test_an_iteration_says_why(reason):
    run().refuses(Iterate(TASK, reason), "bad_text")


@pytest.mark.parametrize(
    ("path", "code"), [("phase-1/1.2", "wrong_status"), ("plan", "wrong_status"), ("phase-1/9.9", "no_step")]
)
def test_only_a_task_that_is_worked_on_is_iterated(path, code):
    run().refuses(Iterate(path, "why"), code)


def test_a_task_that_another_agent_holds_is_not_iterated():
    play = run()
    play.do(StartAgent("task-executor", TASK))
    play.refuses(Iterate(TASK, "why"), "lease_held", by=OTHER_AGENT)
    play.do(Iterate(TASK, "why"), token=1, by=OTHER_AGENT)


def test_a_step_that_is_no_task_of_a_document_keeps_to_its_own_tries():
    """An agent that iterates what may be tried once only would never have to ask a person."""
    play = Play()
    play.do(Start.of(definition(step("a", retry={"max": 1, "exhausted": "escalated"})), "0" * 26, "r"), Begin("a"))
    play.refuses(Iterate("a", "red"), "not_a_task")
    document = run()
    document.do(Iterate(TASK, "red"))
    other = Play()
    other.do(Start.of(definition(step("t", kind="task", retry={"max": 1})), "0" * 26, "r"), Begin("t"))
    other.refuses(Iterate("t", "red"), "not_a_task")


# Until the bound


def test_at_the_bound_the_task_has_failed_and_no_try_begins():
    play = used_up()
    progress = play.state.step(TASK)
    assert (progress.status, progress.attempt, progress.reason) == ("failed", 3, "red 2")
    assert queries.status(play.state) == "failed"


@pytest.mark.parametrize("command", [Iterate(TASK, "once more"), Begin(TASK), Done(TASK), Block(TASK, "stuck")])
def test_nobody_works_on_a_task_whose_tries_are_used_up(command):
    used_up().refuses(command, "wrong_status")


def test_an_agent_can_neither_retry_nor_skip_nor_extend():
    play = used_up()
    play.refuses(Resume(TASK), "person_needed")
    play.refuses(Skip(TASK, "never mind"), "not_skippable")
    play.refuses(Extend(iterations=1), "person_needed")


def test_what_a_person_is_advised_to_type_at_the_bound_works_as_it_stands():
    """More tries come first: without them, the bound refuses the next one."""
    play = used_up()
    (blocker,) = queries.blockers(play.state, TASK, play.facts())
    (first, second) = [one.command for one in blocker.remedies if one.who == "person"]
    assert (first, second) == ("extend", "resume")
    assert play.typed(play.refuses(Resume(TASK), "person_needed")).startswith("holdfast extend --iterations 3")
    play.do(Extend(iterations=3), Resume(TASK), by=PERSON)
    assert play.status(TASK) == "active"


def test_a_person_extends_the_bound_and_has_it_tried_again():
    play = used_up()
    assert "extend --iterations" in play.typed(play.refuses(Resume(TASK), "bound_reached", by=PERSON))
    play.do(Extend(iterations=2), Resume(TASK), by=PERSON)
    assert (play.status(TASK), play.state.step(TASK).attempt) == ("active", 4)
    play.do(Iterate(TASK, "red"))
    assert play.state.step(TASK).attempt == 5
    play.do(Iterate(TASK, "still red"))
    assert play.status(TASK) == "failed"


def test_a_person_skips_it_and_the_phase_goes_on():
    play = used_up()
    play.do(Skip(TASK, "not needed"), by=PERSON)
    play.finish("phase-1/1.2")
    assert play.statuses() == {"plan": "done", "phase-1": "done", TASK: "skipped", "phase-1/1.2": "done"}


def test_a_person_takes_it_over_by_hand():
    play = used_up()
    play.do(Extend(iterations=1), Resume(TASK), Block(TASK, "ada does it"), by=PERSON)
    assert (play.status(TASK), play.state.step(TASK).reason) == ("blocked", "ada does it")
    play.refuses(Begin(TASK), "wrong_status")


def test_only_a_person_gives_up_a_run_that_waits_for_a_person():
    """Whoever could, could begin it afresh, with all its tries and money."""
    play = used_up()
    play.refuses(Cancel("it cannot be done"), "person_needed")
    play.do(Cancel("it cannot be done"), by=PERSON)
    assert queries.status(play.state) == "cancelled"


def test_what_failed_of_itself_is_a_persons_too():
    play = run()
    play.do(Fail(TASK, "no key"))
    assert (play.status(TASK), play.state.step(TASK).attempt) == ("failed", 1)
    play.refuses(Resume(TASK), "person_needed")
    play.do(Resume(TASK), by=PERSON)
    assert play.state.step(TASK).attempt == 2


def test_during_a_pause_nothing_is_tried():
    play = run()
    play.do(Pause("over night"))
    play.refuses(Iterate(TASK, "red"), "paused")
    assert play.status(TASK) == "active"


def test_a_person_takes_a_task_over_whatever_is_used_up_and_only_a_person_gives_it_back():
    play = used_up()
    attempt = play.state.step(TASK).attempt
    play.refuses(Block(TASK, "ada does it", by_hand=True), "person_needed")
    play.do(Block(TASK, "ada does it", by_hand=True), by=PERSON)
    assert (play.status(TASK), play.state.step(TASK).attempt) == ("blocked", attempt)
    play.refuses(Unblock(TASK), "person_needed")
    play.do(Unblock(TASK), by=PERSON)
    assert (play.status(TASK), play.state.step(TASK).attempt) == ("active", attempt)


# Budgets


def test_what_a_task_cost_is_known_and_what_is_left_is_told():
    play = run(max_cost="$2", max_time="2h")
    play.do(Spend(DOLLAR // 2, "task-executor", TASK), Spend(DOLLAR // 4, step=TASK), Spend(DOLLAR // 4))
    assert (play.state.step(TASK).spent, play.state.spent) == (750_000, DOLLAR)
    play.wait(HOUR / 2)
    assert [(u.bound, u.left_text) for u in limits.usages(play.state, play.now)] == [
        ("cost", "$1.00"),
        ("time", "1h 30m"),
    ]


def test_nothing_is_left_of_a_bound_that_was_overrun():
    play = run(max_cost="$1")
    play.do(Spend(3 * DOLLAR))
    assert [u.left_text for u in limits.usages(play.state, play.now)] == ["$0.00"]


def test_a_task_is_warned_of_at_75_at_90_and_at_100_percent_of_the_money():
    play = run(max_cost="$1")
    seen = [
        [event.percent for event in only(play.do(Spend(micros, step=TASK)), ev.Warned)]
        for micros in (740_000, 10_000, 150_000, 100_000)
    ]
    assert seen == [[], [75], [90], [100]]


def test_a_bound_that_is_reached_stops_the_work_and_a_person_lifts_it():
    play = run(max_cost="$1")
    play.do(Spend(DOLLAR))
    for command in (Begin("phase-1/1.2"), Done(TASK)):
        refusal = play.refuses(command, "bound_reached")
        assert "holdfast extend --cost" in play.typed(refusal)
        assert "holdfast cancel" in play.typed(refusal)
    play.refuses(Iterate(TASK, "red"), "bound_reached")
    play.refuses(Cancel("begin afresh"), "person_needed")
    assert play.status(TASK) == "active"
    play.do(Extend(cost=DOLLAR), by=PERSON)
    play.do(Iterate(TASK, "red"))
    assert play.state.step(TASK).attempt == 2


# What is kept after each task


def test_a_task_knows_the_commit_it_began_at():
    play = run()
    assert play.state.step(TASK).data == {"base_sha": "c0ffee", "began_at": "2026-01-01T09:00:00.000Z"}


def test_after_every_task_the_state_is_kept_with_the_commit_it_belongs_to():
    play = run()
    play.check(TASK, "works")
    events = play.do(Done(TASK), head="beef")
    assert only(events, ev.Snapshotted) == [ev.Snapshotted(1, "beef", "1.1")]
    (taken,) = play.state.snapshots
    assert taken == Snapshot(1, play.state.revision, play.now, "beef", "1.1")
    play.finish("phase-1/1.2")
    assert [(one.number, one.label, one.revision) for one in play.state.snapshots] == [
        (1, "1.1", taken.revision),
        (2, "1.2", play.state.revision),
    ]


def test_the_revision_of_a_checkpoint_is_that_of_the_record_that_took_it():
    play = run()
    play.do(TakeSnapshot("by hand"))
    (taken,) = play.state.snapshots
    assert taken.revision == play.records[-1].revision == play.state.revision


def test_a_task_that_is_skipped_leaves_no_checkpoint():
    play = run()
    play.do(Skip(TASK), by=PERSON)
    assert play.state.snapshots == ()


def test_other_workflows_keep_nothing_of_their_own_accord():
    play = Play()
    play.do(Start.of(definition(step("a", kind="task")), "0" * 26, "release-1"))
    play.do(Begin("a"), Done("a"), head="beef")
    assert (play.state.snapshots, play.state.step("a").data) == ((), {})


# Where the document is


def test_the_document_of_a_run_that_is_over_goes_to_another_place():
    play = run()
    assert "holdfast cancel" in play.refuses(Refile("archive/state.json"), "still_active").remedy
    play.do(Cancel("enough"))
    assert play.do(Refile("archive/state.json")) == (ev.Refiled("archive/state.json"),)
    assert play.state.file == "archive/state.json"
    play.unchanged_by(Refile("archive/state.json"))


def test_one_count_of_tries_and_the_same_failures_for_every_reader():
    play = run(3)
    for number in (1, 2, 3):
        play.wait(60).do(Iterate(TASK, f"empty {number}"))
    brief = Briefing(play.state, play.facts())
    failures = [f"{TASK}, attempt {number} failed: empty {number}" for number in (2, 1)]
    assert (brief.tries, brief.lacks.endswith(": empty 3"), brief.failures) == ("try 3 of 3", True, failures)
    assert [one["reason"] for one in answers.next_step(brief)["tries"]] == ["empty 3", "empty 2", "empty 1"]
    for shown in (render.next_step(brief, Style(False)), render.status(brief, Style(False)), packet(brief)):
        assert shown.count("empty 3") == 1
        places = [shown.index(text) for text in failures]
        assert "ry 3 of 3" in shown
        assert places == sorted(places)
