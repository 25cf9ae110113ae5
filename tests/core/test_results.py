"""A step whose own result decides: PASS continues, FAIL sends the work back, and the tries of both count together."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.core import queries
from holdfast.core.commands import Begin, Done, Fail, Resume
from holdfast.core.remedy import told
from holdfast.errors import HoldfastError
from tests.core.play import AGENT, PERSON, Play, given, step

RESULT = "result.json"
WRITING = (
    step("write", outputs=["draft"], retry={"max": 3}),
    step("check", outputs=["verdict"], result="verdict", retry={"max": 3, "back_to": "write"}),
    step("publish"),
)


def violation(message: str, **more: Any) -> dict[str, Any]:
    return {"check": "word_count", "severity": "error", "found": 7, "required": 9, "message": message, **more}


def failing(*messages: str, emphasis: tuple[str, ...] = ()) -> dict[str, Any]:
    guidance = {"retry_guidance": {"emphasis_needed": list(emphasis)}} if emphasis else {}
    return {"status": "FAIL", "violations": [violation(one) for one in messages], **guidance}


def writing() -> Play:
    return given(*WRITING).write("draft.md", "a draft").write(RESULT, "a result")


def written(play: Play) -> Play:
    if play.status("write") == "pending":
        play.do(Begin("write"))
    play.write("draft.md", f"draft {play.state.step('write').attempt}")
    play.do(Done("write", {"draft": "draft.md"}))
    return play


def judged(play: Play, said: Any) -> Play:
    """The check is handed in with a result that says this."""
    if play.status("check") == "pending":
        play.do(Begin("check"))
    play.do(Done("check", {"verdict": RESULT}), results={RESULT: said})
    return play


def round_of(play: Play, said: Any) -> Play:
    return judged(written(play), said)


def used_up() -> Play:
    """Three tries in all, each with a result that says FAIL."""
    play = writing()
    for number in (1, 2, 3):
        round_of(play, failing(f"too short, the {number}.", emphasis=(f"length {number}",)))
    return play


@pytest.mark.parametrize("said", [{"status": "PASS"}, {"overall_status": "PASS", "blocking_issues": []}])
def test_a_result_that_says_pass_lets_the_step_be_done(said):
    play = round_of(writing(), said)
    assert play.statuses() == {"write": "done", "check": "done", "publish": "pending"}


@pytest.mark.parametrize(
    "said", [failing("too short"), {"overall_status": "FAIL", "blocking_issues": [violation("x")]}]
)
def test_a_result_that_says_fail_sends_the_work_back(said):
    play = round_of(writing(), said)
    assert play.statuses() == {"write": "active", "check": "pending", "publish": "pending"}
    assert play.state.step("write").attempt == 2
    assert queries.status(play.state) == "in_progress"
    play.refuses(Begin("publish"), "step_blocked")


@pytest.mark.parametrize(
    "said", [None, {}, {"status": "pass"}, {"status": True}, {"status": ["PASS"]}, {"status": None}, {"result": "PASS"}]
)
def test_a_result_that_does_not_say_which_is_refused_and_uses_up_nothing(said):
    play = written(writing())
    play.do(Begin("check"))
    refusal = play.refuses(Done("check", {"verdict": RESULT}), "bad_result", results={RESULT: said})
    assert RESULT in refusal.message
    assert '"PASS"' in refusal.remedy
    assert play.status("check") == "active"
    assert play.state.step("write").failures == 0


def test_a_step_that_names_no_result_lacks_an_output():
    play = written(writing())
    play.do(Begin("check"))
    play.refuses(Done("check"), "gate_unmet")


def test_the_result_of_an_earlier_try_says_nothing_of_the_next():
    play = round_of(writing(), failing("too short"))
    written(play).do(Begin("check"))
    refusal = play.refuses(Done("check"), "gate_unmet", results={RESULT: {"status": "PASS"}})
    assert "verdict" in refusal.message


def test_a_result_that_lists_its_issues_as_plain_words_says_them():
    play = round_of(writing(), {"overall_status": "FAIL", "blocking_issues": ["the tower opened"]})
    assert play.state.step("check").tries[-1].reason == "the tower opened"


def test_each_try_keeps_what_was_found_and_what_the_next_should_stress():
    play = writing()
    round_of(play, failing("too short", "no rain", emphasis=("length",)))
    round_of(play, failing("still too short", emphasis=("length", "weather")))
    tries = play.state.step("write").tries
    assert [(one.attempt, one.reason) for one in tries] == [(1, "too short; no rain"), (2, "still too short")]
    assert tries[0].data["violations"] == [violation("too short"), violation("no rain")]
    assert [one.data["retry_guidance"]["emphasis_needed"] for one in tries] == [["length"], ["length", "weather"]]
    assert play.state.step("write").feedback == ("too short; no rain", "still too short")


def test_the_words_of_a_result_are_those_of_the_step():
    words = step("check", outputs=["verdict"], result="verdict", passed="ok", failed="wrong")
    play = given(words).write(RESULT, "a result")
    play.do(Begin("check"))
    handed_in = Done("check", {"verdict": RESULT})
    refusal = play.refuses(handed_in, "bad_result", results={RESULT: {"status": "PASS"}})
    assert '"status": "ok"' in refusal.remedy
    play.do(handed_in, results={RESULT: {"status": "wrong"}})
    assert (play.status("check"), play.state.step("check").reason) == ("failed", "the result says wrong")
    with pytest.raises(HoldfastError, match="two words"):
        given(step("check", outputs=["verdict"], result="verdict", passed="FAIL"))


def test_a_fail_that_gives_no_reason_still_has_one():
    play = round_of(writing(), {"status": "FAIL"})
    (only,) = play.state.step("write").tries
    assert only.reason == "the result says FAIL"
    assert only.data["violations"] == []


@pytest.mark.parametrize("violations", ["text", 7, {"check": "x"}, ["text", 7, None], [{"message": 7}], [{}]])
def test_violations_of_any_shape_are_no_obstacle(violations):
    play = round_of(writing(), {"status": "FAIL", "violations": violations, "retry_guidance": "shorter"})
    assert play.status("write") == "active"


def test_many_violations_are_kept_within_bounds():
    play = round_of(writing(), failing(*(f"{number} " + "x" * 100 for number in range(200))))
    (only,) = play.state.step("write").tries
    assert len(only.reason) <= 1000
    assert len(only.data["violations"]) == 50


def test_after_the_third_fail_the_workflow_has_failed():
    play = used_up()
    assert queries.status(play.state) == "failed"
    assert play.state.step("write").attempt == 3
    assert play.status("publish") == "pending"


def test_all_three_tries_are_kept_with_what_they_lacked():
    tries = used_up().state.step("write").tries
    assert [one.attempt for one in tries] == [1, 2, 3]
    assert [one.data["retry_guidance"]["emphasis_needed"] for one in tries] == [
        ["length 1"],
        ["length 2"],
        ["length 3"],
    ]


@pytest.mark.parametrize("own", [1, 2])
def test_failures_of_the_work_itself_and_of_its_check_use_up_the_same_tries(own):
    play = writing()
    play.do(Begin("write"))
    for _ in range(own):
        play.do(Fail("write", "the writer is stuck"))
        assert play.status("write") == "active"
    for left in range(3 - own, 0, -1):
        assert queries.status(play.state) == "in_progress", left
        round_of(play, failing("too short"))
    assert queries.status(play.state) == "failed"
    assert play.state.step("write").attempt == 3


def test_three_failures_of_the_work_itself_end_it_too():
    play = writing()
    play.do(Begin("write"))
    for _ in range(3):
        play.do(Fail("write", "the writer is stuck"))
    assert queries.status(play.state) == "failed"
    play.refuses(Resume(), "person_needed", by=AGENT)


def test_a_last_own_failure_counts_the_fails_before_it():
    play = writing()
    round_of(play, failing("too short"))
    round_of(play, failing("too short"))
    play.do(Fail("write", "the writer is stuck"))
    assert queries.status(play.state) == "failed"


@pytest.mark.parametrize("at", ["", "write", "check"])
@pytest.mark.parametrize("own", [0, 1, 2])
def test_only_a_person_sets_work_going_again_whose_tries_are_used_up(own, at):
    """However the tries were used up, and wherever it is to continue."""
    play = writing()
    play.do(Begin("write"))
    for _ in range(own):
        play.do(Fail("write", "the writer is stuck"))
    for _ in range(3 - own):
        round_of(play, failing("too short"))
    assert queries.status(play.state) == "failed"
    with pytest.raises(HoldfastError) as refused:
        play.do(Resume(at), by=AGENT)
    assert refused.value.code in ("person_needed", "step_blocked")
    assert queries.status(play.state) == "failed"
    if not at:
        assert refused.value.code == "person_needed"


@pytest.mark.parametrize("at", ["", "write"])
def test_a_person_who_resumes_gives_all_tries_anew(at):
    play = used_up()
    play.do(Resume(at), by=PERSON)
    assert queries.status(play.state) == "in_progress"
    for left in (2, 1):
        if play.status("check") == "active":
            judged(play, failing("too short"))
        else:
            round_of(play, failing("too short"))
        assert queries.status(play.state) == "in_progress", f"{left} tries should be left"
    round_of(play, failing("too short"))
    assert queries.status(play.state) == "failed"
    play.refuses(Resume(), "person_needed", by=AGENT)


def test_a_pass_after_a_persons_help_finishes_the_step():
    play = used_up()
    play.do(Resume("write"), by=PERSON)
    round_of(play, {"status": "PASS"})
    assert play.statuses() == {"write": "done", "check": "done", "publish": "pending"}


def test_after_a_failure_the_work_is_mended_and_its_result_named_anew():
    play = given(step("check", outputs=["verdict"], result="verdict")).write(RESULT, "a result")
    judged(play, failing("too short"))
    play.do(Resume("check"))
    (first, *_) = queries.blockers(play.state, "check", play.facts())
    assert told(first.remedies) == "fix it, then: holdfast done check --artifact verdict=PATH"
    play.refuses(Done("check"), "gate_unmet", results={RESULT: failing("too short")})
    assert play.state.step("check").advice == "too short"


def test_a_result_without_a_way_back_fails_its_own_step():
    play = given(step("check", outputs=["verdict"], result="verdict")).write(RESULT, "a result")
    judged(play, failing("seven validators said no"))
    assert play.status("check") == "failed"
    assert play.state.step("check").reason == "seven validators said no"
    play.do(Resume(), by=AGENT)
    judged(play, {"overall_status": "PASS"})
    assert play.status("check") == "done"
