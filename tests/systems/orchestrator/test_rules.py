"""The supervisor: which verdict a conflict leads to, what is counted, and what a new plan opens again."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.core import events as ev
from holdfast.core.commands import Approve, Begin, Cancel, Done, Fail, Own, Pause, Start
from holdfast.core.state import KEPT
from holdfast.systems.orchestrator.rules import CHECKS, CONFLICTS, supervision
from tests.core.play import PERSON, Play, definition, moves, only, step

SEVERITIES = {"architecture": "high", "dependency": "high", "api": "high", "security": "critical", "pattern": "low"}
LEADS_TO = {name: "AUTO_FIX" if name == "pattern" else "RE_PLAN" for name in SEVERITIES}


def task(number: str, *needs: str) -> dict:
    return step(number, kind="task", requires=list(needs), retry={"max": 1})


def run(*, approved: bool = True) -> Play:
    """A plan, two phases of two tasks, a review of the whole."""
    play = Play()
    made = definition(
        step("plan", approval={"by": "relayed", "rejected": "revise"}),
        step("phase-1", task("1.1"), task("1.2", "1.1"), parallel=True, requires=["plan"]),
        step("phase-2", task("2.1"), task("2.2"), parallel=True, requires=["plan", "phase-1"]),
        step("review", requires=["plan", "phase-2"], retry={"max": 1, "exhausted": "escalated"}),
        step("pull_request", requires=["plan", "review"]),
    )
    play.do(
        Start.of(made, "0" * 26, "run-1", begun=("plan",), own={"orchestrator": {"enabled": True, "auto_fix": True}})
    )
    if approved:
        play.do(Done("plan"), Approve("plan"))
    return play


def verdict(*said: str, **more: Any) -> Own:
    names = ("check_type", "task", "verdict", "conflict_type", "resolution")
    return Own("orchestrator", "supervise", {**dict(zip(names, said, strict=False)), **more})


def re_plan(task: str = "", *affected: str, kind: str = "api") -> Own:
    return verdict("post_task", task, "RE_PLAN", kind, "use the second version", affected=affected)


# Verdicts


def test_the_kinds_of_conflicts_and_how_grave_they_are():
    assert {name: severity for name, (severity, _) in CONFLICTS.items()} == SEVERITIES
    assert {name: action for name, (_, action) in CONFLICTS.items()} == LEADS_TO


@pytest.mark.parametrize("word", ["PASS", "AUTO_FIX", "RE_PLAN"])
@pytest.mark.parametrize("kind", ["", *SEVERITIES, "taste"])
def test_a_verdict_is_the_one_that_the_kind_of_conflict_leads_to(kind, word):
    play = run()
    command = verdict("pre_task", "1.1", word, kind, "done so")
    if LEADS_TO.get(kind, "" if kind else "PASS") != word:
        refusal = play.refuses(command, "bad_verdict")
        if kind in LEADS_TO and word != "PASS":
            assert refusal.remedy == f"--verdict {LEADS_TO[kind]}"
        return
    event = only(play.do(command), ev.Owned)[0]
    said = {"event": "supervised", "check": "pre_task", "task": "1.1", "verdict": word}
    assert event.entry == (said | {"resolution": "done so"} if kind else said)
    found = {
        "at": play.now,
        "check_type": "pre_task",
        "task": "1.1",
        "conflict_type": kind,
        "severity": SEVERITIES.get(kind, ""),
        "action": word.lower(),
        "resolution": "done so",
    }
    assert list(supervision(play.state).interventions) == ([found] if kind else [])


@pytest.mark.parametrize("check_type", CHECKS)
def test_every_kind_of_check_is_taken(check_type):
    play = run()
    play.do(Begin("phase-1/1.1"))
    play.do(verdict(check_type, "1.1", "PASS"))
    assert (supervision(play.state).checks, supervision(play.state).last_check) == (1, play.now)


def test_a_check_need_not_be_about_a_task():
    play = run()
    play.do(verdict("on_demand", "", "AUTO_FIX", "pattern", "renamed"))
    assert supervision(play.state).interventions[0]["task"] == ""


def test_a_task_is_remembered_by_its_number_however_it_was_named():
    play = run()
    play.do(verdict("pre_task", "phase-1/1.2", "AUTO_FIX", "pattern", "renamed"))
    assert supervision(play.state).interventions[0]["task"] == "1.2"
    assert play.state.history[-1]["task"] == "1.2"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (verdict("now_and_then", "1.1", "PASS"), "bad_verdict"),
        (verdict("pre_task", "1.1", "pass"), "bad_verdict"),
        (verdict("pre_task", "1.1", ""), "bad_verdict"),
        (verdict("pre_task", "9.9", "PASS"), "no_step"),
        (verdict("pre_task", "1.1", "AUTO_FIX", "pattern", ""), "bad_text"),
        (verdict("pre_task", "1.1", "AUTO_FIX", "pattern", "x" * 100_000), "bad_text"),
        (re_plan("1.1", "9.9"), "no_step"),
        (re_plan("1.1", "1.1", "phase-2"), "bad_verdict"),
        (re_plan("1.1", "plan"), "bad_verdict"),
        (re_plan("1.1", "review"), "bad_verdict"),
    ],
)
def test_what_cannot_be_understood_changes_nothing(command, code):
    run().refuses(command, code)


# Counting


def test_what_the_checks_came_to_is_counted():
    play = run()
    play.do(verdict("pre_task", "1.1", "PASS"))
    play.do(verdict("pre_task", "1.1", "AUTO_FIX", "pattern", "renamed"))
    play.do(verdict("pre_task", "1.1", "AUTO_FIX", "pattern", "renamed", fixes=3))
    play.wait(60).do(re_plan("1.1"))
    found = supervision(play.state)
    assert (found.checks, found.conflicts, found.auto_fixes, found.re_plans) == (4, 3, 4, 1)
    assert (found.enabled, found.auto_fix, found.last_check) == (True, True, play.now)
    assert [one["action"] for one in found.interventions] == ["auto_fix", "auto_fix", "re_plan"]


def test_the_newest_interventions_are_kept_and_all_are_counted():
    play = run()
    for number in range(KEPT + 5):
        play.do(verdict("pre_task", "1.1", "AUTO_FIX", "pattern", f"fix {number}"))
    found = supervision(play.state)
    assert (len(found.interventions), found.interventions[-1]["resolution"]) == (KEPT, f"fix {KEPT + 4}")
    assert (found.checks, found.conflicts) == (KEPT + 5, KEPT + 5)


def test_fixes_are_counted_only_where_there_are_some():
    play = run()
    play.do(verdict("pre_task", "1.1", "PASS", fixes=7))
    again = re_plan("1.1")
    play.do(again.replace(data={**again.data, "fixes": 7}))
    assert supervision(play.state).auto_fixes == 0


# A new plan


def worked() -> Play:
    """The first phase is done, both tasks of the second are worked on."""
    play = run()
    play.finish("phase-1/1.1", "phase-1/1.2")
    play.do(Begin("phase-2/2.1"), Begin("phase-2/2.2"))
    return play


def test_the_severity_is_the_one_that_the_supervisor_gave():
    play = run()
    said = {**re_plan("1.1").data, "severity": "critical"}
    play.do(Begin("phase-1/1.1"), Own("orchestrator", "supervise", said))
    assert supervision(play.state).interventions[-1]["severity"] == "critical"


def test_a_new_plan_opens_the_plan_and_sends_back_only_what_is_affected():
    play = worked()
    events = play.do(re_plan("2.1", "2.1"))
    assert moves(events) == [("reopened", "plan"), ("reset", "phase-2/2.1")]
    assert play.statuses() == {
        "plan": "active",
        "phase-1": "done",
        "phase-1/1.1": "done",
        "phase-1/1.2": "done",
        "phase-2": "active",
        "phase-2/2.1": "pending",
        "phase-2/2.2": "active",
        "review": "pending",
        "pull_request": "pending",
    }
    assert play.state.step("plan").feedback[-1] == "use the second version"


def test_a_done_task_that_is_affected_opens_its_phase_and_what_depends_on_it_stays():
    play = worked()
    play.do(re_plan("2.1", "1.1", "1.1"))
    assert (play.status("phase-1"), play.status("phase-1/1.1"), play.status("phase-1/1.2")) == (
        "active",
        "pending",
        "done",
    )
    assert (play.status("phase-2/2.1"), play.status("phase-2/2.2")) == ("active", "active")


def test_without_affected_tasks_the_one_that_was_looked_at_is_meant():
    play = worked()
    play.do(re_plan("2.2"))
    assert (play.status("phase-2/2.1"), play.status("phase-2/2.2")) == ("active", "pending")


@pytest.mark.parametrize("about", ["", "phase-2", "plan"])
def test_a_new_plan_about_no_task_sends_no_task_back(about):
    play = worked()
    assert moves(play.do(re_plan(about))) == [("reopened", "plan")]


def test_nothing_new_begins_until_the_plan_is_approved_again():
    play = run()
    play.finish("phase-1/1.1")
    play.do(re_plan("", "1.1"))
    refusal = play.refuses(Begin("phase-1/1.2"), "step_blocked")
    assert refusal.facts["missing"]
    play.refuses(Begin("phase-1/1.1"), "step_blocked")
    play.do(Done("plan"))
    play.refuses(Begin("phase-1/1.1"), "step_blocked")
    play.do(Approve("plan"))
    play.do(Begin("phase-1/1.1"))
    assert play.state.step("phase-1/1.1").attempt == 2


def test_what_is_not_affected_may_be_finished_meanwhile():
    play = worked()
    play.do(re_plan("2.1"))
    play.do(Done("phase-2/2.2"))
    assert play.status("phase-2/2.2") == "done"


def test_a_plan_that_waits_for_its_approval_is_no_longer_the_plan():
    play = run(approved=False)
    play.do(Done("plan"))
    assert moves(play.do(re_plan())) == [("revised", "plan")]
    play.refuses(Begin("phase-1/1.1"), "step_blocked")
    play.do(Done("plan"), Approve("plan"))
    play.do(Begin("phase-1/1.1"))


def test_a_plan_that_is_open_already_stays_open():
    play = worked()
    play.do(re_plan("2.1"))
    assert moves(play.do(re_plan("2.2"))) == [("reset", "phase-2/2.2")]


def test_a_review_of_the_whole_is_not_one_of_what_is_planned_anew():
    play = worked()
    play.do(Done("phase-2/2.1"), Done("phase-2/2.2"))
    play.finish("review")
    play.do(Begin("pull_request"))
    play.do(re_plan("1.2"))
    assert (play.status("review"), play.status("pull_request")) == ("pending", "pending")
    assert (play.status("phase-2"), play.status("phase-2/2.1")) == ("done", "done")


def test_a_task_with_steps_of_its_own_goes_back_as_a_whole():
    play = Play()
    made = definition(step("plan"), step("phase-1", step("1.1", step("red"), step("green"), kind="task")))
    play.do(Start.of(made, "0" * 26, "run-1"))
    play.finish("plan", "phase-1/1.1/red")
    play.do(Begin("phase-1/1.1/green"), re_plan("1.1"))
    assert play.statuses() == {
        "plan": "active",
        "phase-1": "active",
        "phase-1/1.1": "pending",
        "phase-1/1.1/red": "pending",
        "phase-1/1.1/green": "pending",
    }


def test_only_a_person_has_a_task_planned_anew_whose_tries_are_used_up():
    play = worked()
    play.do(Fail("phase-2/2.1", "red"))
    refusal = play.refuses(re_plan("2.1"), "person_needed")
    assert [(one.who, str(one)) for one in refusal.remedies] == [("person", "holdfast resume --from phase-2/2.1")]
    assert play.status("plan") == "done"
    play.do(re_plan("2.1"), by=PERSON)
    assert play.status("phase-2/2.1") == "pending"


def test_only_a_person_has_something_planned_anew_under_a_review_that_needs_them():
    play = worked()
    play.do(Done("phase-2/2.1"), Done("phase-2/2.2"), Begin("review"), Fail("review", "not what was asked for"))
    assert play.status("review") == "escalated"
    play.refuses(re_plan("1.1"), "person_needed")
    play.do(re_plan("1.1"), by=PERSON)
    assert (play.status("review"), play.status("phase-1/1.1")) == ("pending", "pending")


def test_without_a_plan_the_tasks_alone_go_back():
    play = Play()
    play.do(Start.of(definition(step("a", step("1", kind="task"))), "0" * 26, "run-1"))
    play.do(Begin("a/1"))
    assert moves(play.do(re_plan("a/1"))) == [("reset", "a/1")]


# The whole


def test_a_run_that_was_given_up_is_not_supervised():
    play = run()
    play.do(Cancel("enough"))
    play.refuses(verdict("pre_task", "1.1", "PASS"), "cancelled")


def test_a_check_during_a_pause_is_kept():
    play = run()
    play.do(Pause("over night"), verdict("pre_task", "1.1", "PASS"))
    assert supervision(play.state).checks == 1


def test_a_command_that_the_system_does_not_have_is_refused():
    refusal = run().refuses(Own("orchestrator", "conduct"), "no_rule")
    assert refusal.facts == {"system": "orchestrator", "command": "conduct"}
