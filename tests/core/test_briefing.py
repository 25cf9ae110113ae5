"""The briefing: what all surfaces say, from one value."""

from __future__ import annotations

from holdfast.core import answers
from holdfast.core.briefing import Briefing, Decision, TaskText, position
from holdfast.core.commands import Approve, Begin, Done, Fail, Reject, Submit
from holdfast.core.remedy import told
from tests.core.play import PERSON, Play, given, step


def briefed(play: Play) -> Briefing:
    return Briefing(play.state, play.facts())


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
    assert brief.decided == [
        'pick: B was chosen; not A; changes wanted: {"tone": "dry"}',
        "write, asked for: no adverbs",
    ]
    assert answers.next_step(brief)["modifications"] == {"tone": "dry"}


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
    assert position(play.state).endswith('step 2/2 "write", in_progress, try 2 of 3')


def test_all_done_has_the_fields_of_any_other_moment_and_none_that_is_empty():
    play = given(step("a"))
    working = answers.next_step(briefed(play))
    done = answers.next_step(briefed(play.finish("a")))
    assert list(done)[:17] == list(working)[:17]
    assert (done["current_status"], done["required_action"]) == ("completed", None)
    assert "task" not in done
    assert briefed(play).task == TaskText()
