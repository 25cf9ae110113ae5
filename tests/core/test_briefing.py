"""The briefing: what all surfaces say, from one value."""

from __future__ import annotations

import pytest

from holdfast.core import answers
from holdfast.core.briefing import Briefing, TaskText
from holdfast.core.commands import (
    Approve,
    Begin,
    Block,
    Done,
    Fail,
    RecordCheck,
    Reject,
    Reopen,
    Review,
    StartAgent,
    Submit,
    Unblock,
)
from holdfast.core.record import Decision
from holdfast.core.remedy import told
from holdfast.core.standing import position
from holdfast.errors import Refused
from tests.core.play import PERSON, Play, given, held, passed, step


def briefed(play: Play) -> Briefing:
    return Briefing(play.state, play.facts())


def parallel() -> Play:
    play = given(step("build", step("a"), step("b"), step("c"), parallel=True), step("ship"))
    play.do(Begin("build/b"))
    return play


def test_the_parallel_step_that_is_begun_is_told_and_not_the_first_one_that_is_not():
    play = parallel()
    brief = briefed(play)
    assert (brief.step, brief.label, brief.step_status, brief.number) == ("build/b", "b", "active", 1)
    assert (told(brief.now), brief.after, brief.beside) == ("holdfast done build/b", "build/c", [])
    play.do(Done("build/b"))
    assert told(briefed(play).now) == "holdfast begin build/a"


def test_each_session_is_told_of_the_parallel_step_that_it_has_taken():
    play = parallel()
    play.do(StartAgent("coder", "build/b"), by=PERSON.replace(kind="agent", session="S1"))
    play.do(Begin("build/c"), StartAgent("tester", "build/c"), by=PERSON.replace(kind="agent", session="S2"))
    first, second, third = (Briefing(play.state, play.facts(), session=one) for one in ("S1", "S2", "S3"))
    assert (first.step, first.beside) == ("build/b", ["build/c (tester)"])
    assert (second.step, second.beside) == ("build/c", ["build/b (coder)"])
    assert (third.step, third.beside) == ("build/a", ["build/b (coder)", "build/c (tester)"])
    assert answers.next_step(second)["beside"] == ["build/b (coder)"]
    assert 'step 1/2 "c" (build/c)' in position(second)


def test_a_parallel_step_that_waits_for_a_person_does_not_hide_one_that_can_begin():
    play = given(step("build", step("a"), step("b", approval={"by": "human"}), parallel=True))
    play.do(Begin("build/b"), Done("build/b"))
    brief = briefed(play)
    assert (brief.step, brief.turn, brief.beside) == ("build/a", "agent", ["build/b"])


def test_outputs_are_named_before_the_first_hand_in_all_in_one_command():
    brief = briefed(given(step("a", outputs=["log", "map"])))
    assert brief.outputs == ("log", "map")
    assert told(brief.now) == "holdfast begin a"
    assert brief.hand_in is not None
    assert told((brief.hand_in,)) == "holdfast done a --artifact log=PATH --artifact map=PATH"


def test_what_people_decided_is_told_with_what_was_not_chosen_and_what_they_want_changed():
    play = given(step("pick", choice={"options": ["A", "B"]}), step("write", approval={}))
    play.do(Begin("pick"), Done("pick"))
    play.do(Approve("pick", "B", {"tone": "dry"}), by=PERSON)
    play.do(Begin("write"), Submit("write"))
    play.do(Reject("write", "no adverbs"), by=PERSON)
    brief = briefed(play)
    (decision,) = brief.decisions
    assert decision == Decision("pick", "human ada", decision.at, "B", ("A",), {"tone": "dry"})
    assert brief.decided == ["pick: B was chosen; not A; changes wanted: tone: dry (by human ada)"]
    assert brief.asked == ["write: no adverbs"]
    assert answers.next_step(brief)["modifications"] == {"tone": "dry"}


def test_what_only_an_agent_said_is_not_called_a_persons_decision():
    play = given(step("pick", choice={"options": ["A", "B"]}), step("write", approval={}))
    play.do(Begin("pick"), Done("pick"), Approve("pick", "B"))
    play.do(Begin("write"), Done("write"), Reject("write", "", {"tone": "dry"}))
    brief = briefed(play)
    assert [one.reported for one in brief.decisions] == [True, True]
    assert brief.decided == [
        "pick: B was chosen; not A (reported by agent coder)",
        "write: changes wanted: tone: dry (reported by agent coder)",
    ]


def test_the_newest_failure_counts_and_what_was_asked_for_stays_until_it_is_handed_in():
    play = given(step("a", retry={"max": 5}, review={"by": ["lead"]}))
    play.do(Begin("a"), Fail("a", "nope"), Fail("a", "no disk"))
    assert briefed(play).reason == "the last try failed: no disk"
    play.do(Submit("a"))
    play.do(Review("a", "needs_revision", "shorter"), by=PERSON)
    play.do(Fail("a", "no key"), Fail("a", "no net"))
    assert briefed(play).reason == "asked for: shorter"


def test_a_review_is_suggested_in_the_role_that_its_gate_asks_for():
    play = given(step("a", review={"by": ["editor"]}), step("b", review={"by": ["editor", "lead"]}))
    play.do(Begin("a"), Submit("a"))
    assert told(briefed(play).now) == "holdfast review a --verdict APPROVED_OR_NEEDS_REVISION --as editor"
    play.do(Review("a", "approved"), by=PERSON)
    play.do(Begin("b"), Submit("b"))
    assert told(briefed(play).now) == "holdfast review b --verdict APPROVED_OR_NEEDS_REVISION --as EDITOR_OR_LEAD"


@pytest.mark.parametrize("exhausted", ["failed", "escalated"])
def test_where_tries_are_used_up_every_refusal_leads_to_a_person(exhausted):
    play = given(step("z"), step("a", retry={"max": 1, "exhausted": exhausted}))
    play.do(Begin("z"), Done("z"), Begin("a"), Fail("a", "nope"))
    for command in (Begin("a"), Done("a"), Begin("z"), Block("a", "x"), Unblock("a"), Reopen("a")):
        with pytest.raises(Refused) as refused:
            play.do(command)
        assert told(refused.value.remedies).startswith("show "), (command, refused.value.remedies)
        assert not [one for one in refused.value.remedies if one.who == "anyone"]


def test_a_step_that_a_person_does_is_not_suggested_to_an_agent():
    play = given(step("a"))
    play.do(Begin("a"), Block("a", "mine", by_hand=True), by=PERSON)
    brief = briefed(play)
    assert told(brief.now) == "show a to a person and stop, or holdfast wait --for person"
    assert [one.command for one in brief.for_person] == ["unblock"]


def test_a_second_check_that_needs_a_person_is_told_with_the_persons_command():
    play = given(step("a", checks=[{"name": "read"}, {"name": "tests", "run": ["true"]}]))
    play.do(Begin("a"))
    brief = Briefing(play.state, play.facts().replace(untrusted={("a", "tests"): "release"}))
    assert told(brief.now) == "holdfast check read --PASSED-OR-FAILED"
    (own,) = answers.next_step(brief)["for_person"]
    assert (own["who"], own["command"]) == ("person", "holdfast trust release")


def test_what_keeps_a_session_from_writing_comes_before_the_work():
    play = given(step("a"), require_ack=True)
    play.do(Begin("a"), by=PERSON)
    brief = Briefing(play.state, play.facts(), session="s-1")
    assert told(brief.now) == f"holdfast ack {brief.packet}"
    assert (brief.turn, brief.ready, brief.hand_in) == ("agent", False, None)
    assert told(Briefing(play.state, play.facts(), session="s-1", person=True).now) == "holdfast done a"


def test_a_workflow_that_another_session_holds_is_left_alone():
    play = given(step("a"), step("b", approval={"by": "human"}))
    play.do(StartAgent("release", "", 1800))
    brief = Briefing(play.state, play.facts(), session="s-1")
    said = answers.next_step(brief)
    assert told(brief.now).startswith("wait until it ends: holdfast wait --for change · or pass the token ")
    assert (said["turn"], said["can_proceed"]) == ("nobody", False)
    assert said["blocking_reason"].startswith("another session (session-1…) is at work here since ")
    assert "for 30m 0s more" in said["blocking_reason"]
    assert told(Briefing(play.state, play.facts(), session="s-1", token=held(1)).now) == "holdfast begin a"
    assert not brief.waiting
    play.do(Begin("a"), Done("a"), Begin("b"), Done("b"))
    assert Briefing(play.state, play.facts(), session="s-1").turn == "person"


def test_where_a_person_decides_nothing_that_an_agent_is_told_decides_it():
    play = given(step("a", approval={"by": "human"}))
    play.do(Begin("a"), Done("a"))
    brief = briefed(play)
    said = answers.next_step(brief)
    assert (brief.turn, brief.ready) == ("person", False)
    assert said["required_action"] == "show a to a person and stop, or holdfast wait --for person"
    assert [(one["who"], one["command"]) for one in said["for_person"]] == [("person", "holdfast approve a")]
    assert [path for path, _ in brief.waiting] == ["a"]


def test_inputs_say_whether_they_changed_and_tries_are_counted():
    play = given(step("plan", outputs=["plan"]), step("write", retry={"max": 3})).write("PLAN", "old")
    play.do(Begin("plan"), Done("plan", {"plan": "PLAN"}), Begin("write"), Fail("write", "too long"))
    play.write("PLAN", "new")
    brief = briefed(play)
    assert [(one.step, one.path, one.changed) for one in brief.inputs] == [("plan", "PLAN", "changed since")]
    assert brief.tries == "try 2 of 3"
    assert brief.failures == ["write, attempt 1 failed: too long"]
    assert brief.finished_percent == 50
    assert position(briefed(play)).endswith('step 2/2 "write", in_progress, try 2 of 3')


def test_all_done_has_the_fields_of_any_other_moment_and_none_that_is_empty():
    play = given(step("a"))
    working = answers.next_step(briefed(play))
    done = answers.next_step(briefed(play.finish("a")))
    assert list(done)[:17] == list(working)[:17]
    assert (done["current_status"], done["required_action"]) == ("completed", None)
    assert "task" not in done
    assert briefed(play).task == TaskText()


def test_a_reason_that_repeats_is_told_once_with_its_attempts():
    play = given(step("write", retry={"max": 2, "exhausted": "escalated"}))
    play.do(Begin("write"), Fail("write", "boom"), Fail("write", "boom"))
    assert (briefed(play).lacks, briefed(play).failures) == ("escalated to a person: failed 2 times: boom", [])
    play.do(Unblock("write", "look again"), by=PERSON)
    assert briefed(play).failures == ["write, attempts 1, 2 failed: boom"]


def test_a_failure_asks_for_a_change_until_every_check_has_passed_again():
    play = given(step("write", checks=["tests"], retry={"max": 3}))
    play.do(Begin("write"), Fail("write", "boom"))
    assert briefed(play).reason == "the last try failed: boom; the check 'tests' has not run"
    play.do(RecordCheck("write", "tests", passed()))
    brief = briefed(play)
    assert (brief.reason, told(brief.now)) == (None, "holdfast done write")


def test_changes_that_were_asked_for_stay_open_whatever_the_checks_say():
    play = given(step("write", checks=["tests"], approval={}))
    play.do(Begin("write"), RecordCheck("write", "tests", passed()), Submit("write"))
    play.do(Reject("write", "no adverbs"), by=PERSON)
    play.do(RecordCheck("write", "tests", passed()))
    brief = briefed(play)
    assert (brief.reason, told(brief.now)) == ("asked for: no adverbs", "fix it, then: holdfast done write")


def test_an_approval_that_no_longer_holds_is_asked_for_at_its_own_step_and_once():
    play = given(step("publish", outputs=["pub"], approval={"by": "human"}), step("a"), step("b"))
    play.write("pub.md", "first").approved("publish", pub="pub.md")
    play.write("pub.md", "other")
    assert [(path, one.kind) for path, one in briefed(play).waiting] == [("publish", "approval")]
