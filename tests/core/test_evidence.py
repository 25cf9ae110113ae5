"""Checks: what evidence counts, until when, and whose."""

from __future__ import annotations

import pytest

from holdfast.core import gates
from holdfast.core.commands import Approve, Begin, Done, Fail, RecordCheck, Reopen
from holdfast.core.definition import Check
from holdfast.core.events import Checked
from holdfast.core.remedy import ANYWHERE, rendered
from tests.core.play import AGENT, PERSON, Play, failed, given, passed, step

ENGINE_CHECK = {"name": "tests", "run": ["pytest"], "run_by": "engine"}


def at_work(*checks, **keys) -> Play:
    play = given(step("a", checks=list(checks) or ["tests"], **keys), step("b"))
    play.do(Begin("a"))
    return play


def verdict(play: Play, **facts) -> str:
    return gates.check_verdict(Check("tests"), play.state.step("a"), play.facts(**facts))


def test_a_step_is_not_done_before_its_checks_have_passed():
    play = at_work("tests", {"name": "lint", "run": ["ruff"]})
    refusal = play.refuses(Done("a"), "gate_unmet")
    assert rendered(refusal.facts["unmet"], ANYWHERE) == [
        {"kind": "check", "name": "tests", "remedy": "holdfast check tests --PASSED-OR-FAILED"},
        {"kind": "check", "name": "lint", "remedy": "holdfast check lint --run"},
    ]
    assert verdict(play) == "missing"


def test_a_passing_check_lets_the_step_be_done():
    play = at_work()
    play.check("a", "tests")
    play.do(Done("a"))
    assert play.status("a") == "done"


def test_a_failing_check_leaves_the_step_active_and_uses_up_nothing():
    play = at_work(retry={"max": 1})
    play.check("a", "tests", failed(exit_code=1))
    progress = play.state.step("a")
    assert (progress.status, progress.attempt, progress.failures) == ("active", 1, 0)
    assert verdict(play) == "failed"
    play.refuses(Done("a"), "gate_unmet")


def test_the_newest_result_counts():
    play = at_work()
    play.check("a", "tests", failed())
    play.check("a", "tests", passed())
    assert verdict(play) == "passed"
    play.check("a", "tests", failed())
    assert verdict(play) == "failed"


def test_evidence_says_of_which_attempt_it_is_and_whose():
    play = at_work()
    (event,) = play.check("a", "tests", passed(exit_code=0, duration_ms=12, head="abc", tail="ok"))
    assert isinstance(event, Checked)
    evidence = event.evidence
    assert (evidence.attempt, evidence.by, evidence.run_by) == (1, "agent coder", "reported")
    assert (evidence.exit_code, evidence.duration_ms, evidence.head, evidence.tail) == (0, 12, "abc", "ok")


def test_nobody_can_say_of_which_attempt_their_evidence_is():
    play = at_work()
    play.check("a", "tests", passed().replace(attempt=7, by="somebody"))
    evidence = play.state.step("a").evidence["tests"]
    assert (evidence.attempt, evidence.by) == (1, "agent coder")


def test_evidence_is_stale_when_the_tree_changed_since():
    play = at_work()
    play.check("a", "tests", passed(tree="one"))
    assert verdict(play, tree="one") == "passed"
    assert verdict(play, tree="two") == "stale"
    play.refuses(Done("a"), "gate_unmet", tree="two")
    play.do(Done("a"), tree="one")
    assert play.status("a") == "done"


def test_evidence_without_a_tree_is_not_held_against_one():
    play = at_work()
    play.check("a", "tests", passed())
    assert verdict(play, tree="two") == "passed"


def test_evidence_of_an_earlier_attempt_is_stale():
    play = at_work(retry={"max": 3})
    play.check("a", "tests")
    play.do(Fail("a", "wrong idea"))
    assert verdict(play) == "stale"
    play.refuses(Done("a"), "gate_unmet")


def test_evidence_is_stale_after_reopening():
    play = at_work()
    play.check("a", "tests")
    play.do(Done("a"), Reopen("a"))
    assert verdict(play) == "stale"


def test_evidence_that_went_stale_while_waiting_stops_the_approval():
    play = at_work(approval={"by": "human"})
    play.check("a", "tests", passed(tree="one"))
    play.do(Done("a"), tree="one")
    assert play.status("a") == "waiting"
    play.refuses(Approve("a"), "gate_unmet", by=PERSON, tree="two")
    play.check("a", "tests", passed(tree="two"))
    play.do(Approve("a"), by=PERSON, tree="two")
    assert play.status("a") == "done"


def test_a_check_that_only_the_engine_may_run_is_not_reported():
    play = at_work(ENGINE_CHECK)
    for actor in (AGENT, PERSON):
        refusal = play.refuses(RecordCheck("a", "tests", passed()), "engine_must_run", by=actor)
        assert refusal.remedy == "holdfast check tests --run"


def test_a_check_that_the_engine_ran_counts():
    play = at_work(ENGINE_CHECK)
    play.check("a", "tests", passed(run_by="engine", exit_code=0))
    play.do(Done("a"))
    assert play.status("a") == "done"


def test_the_engine_runs_nothing_that_nobody_trusted():
    play = at_work(ENGINE_CHECK)
    refusal = play.refuses(RecordCheck("a", "tests", passed(run_by="engine")), "untrusted", trusted=False)
    assert refusal.remedy == "show this to a person and stop"
    assert [str(one) for one in refusal.remedies] == ["read it, then: holdfast trust release"]


def test_a_reported_result_needs_no_trust():
    play = at_work()
    play.check("a", "tests", trusted=False)
    assert verdict(play) == "passed"


def test_an_unknown_check_is_not_found_and_the_known_ones_are_named():
    refusal = at_work("tests", "lint").refuses(RecordCheck("a", "tetss", passed()), "no_check")
    assert refusal.facts["checks"] == ["tests", "lint"]
    assert refusal.exit_code == 4


@pytest.mark.parametrize("when", ["before", "after"])
def test_nothing_is_checked_on_a_step_nobody_works_on(when):
    play = given(step("a", checks=["tests"]))
    if when == "after":
        play.do(Begin("a"))
        play.check("a", "tests")
        play.do(Done("a"))
    play.refuses(RecordCheck("a", "tests", passed()), "wrong_status")


def test_evidence_of_one_step_says_nothing_of_another():
    play = given(step("a", checks=["tests"]), step("b", checks=["tests"], requires=[]))
    play.do(Begin("a"), Begin("b"))
    play.check("a", "tests")
    play.refuses(Done("b"), "gate_unmet")


@pytest.mark.parametrize(
    ("seen", "line"),
    [
        (failed(detail="2 failed", tail="E   assert 1 == 2\n"), "2 failed"),
        (failed(tail="E   ImportError: no x\n==== 1 error in 0.27s ====\n"), "ImportError: no x"),
        (failed(tail="a.c:3: error: no such file\nmake: *** [a.o] stopped\n"), "a.c:3: error: no such file"),
        (failed(tail="one\ntwo\n====\n"), "two"),
        (failed(), ""),
    ],
)
def test_one_line_tells_why_a_check_failed(seen, line):
    assert gates.telling(seen).endswith(line)
    assert bool(gates.telling(seen)) == bool(line)
