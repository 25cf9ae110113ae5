"""Steps that Holdfast does itself, steps that begin by themselves, and steps that were over before the start."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.core import queries
from holdfast.core.apply import replay
from holdfast.core.commands import Approve, Begin, Block, Cancel, Done, Fail, Reopen, Skip, Start
from holdfast.core.definition import ACTIONS, Words
from holdfast.core.events import Checked, Moved, Recorded, Started
from holdfast.core.reading import read
from holdfast.core.remedy import ANYWHERE, rendered
from holdfast.errors import NotFound, UsageError
from holdfast.systems.seam.registry import words
from tests.core.play import AGENT, PERSON, Play, definition, failed, given, moves, only, passed, step

SHA = "172c0b0" + "0" * 33


def started(*steps, finished=None, **keys) -> Play:
    """A workflow whose steps begin by themselves."""
    play = Play()
    play.do(Start.of(definition(*steps, **{"advance": True, **keys}), "0" * 26, "release-1", finished=finished or {}))
    return play


@pytest.mark.parametrize("action", ACTIONS)
def test_a_step_with_an_action_is_done_only_when_the_action_was(action):
    play = given(step("go", action=action)).wait(1)
    play.do(Begin("go"))
    refusal = play.refuses(Done("go"), "gate_unmet")
    assert rendered(refusal.facts["unmet"], ANYWHERE) == [
        {"kind": "action", "name": action, "remedy": "holdfast done" if action == "commit" else "holdfast done go"}
    ]
    play.do(Done("go", data={ACTIONS[action]: SHA}))
    assert play.status("go") == "done"
    assert play.state.step("go").data[ACTIONS[action]] == SHA


@pytest.mark.parametrize("nothing", ["", None])
def test_an_empty_result_of_an_action_is_none(nothing):
    play = given(step("go", action="commit"))
    play.do(Begin("go"))
    play.refuses(Done("go", data={"commit_sha": nothing}), "gate_unmet")


def test_the_result_of_one_action_does_not_stand_for_another():
    play = given(step("go", action="commit"))
    play.do(Begin("go"))
    play.refuses(Done("go", data={"pr_url": "https://github.com/a/b/pull/1", "branch": "x"}), "gate_unmet")


def test_an_action_comes_after_the_checks_and_the_children():
    play = given(step("go", step("inner"), action="commit", checks=[{"name": "tests"}]))
    play.do(Begin("go/inner"))
    unmet: Any = play.refuses(Done("go", data={"commit_sha": SHA}), "gate_unmet").facts["unmet"]
    assert [one["kind"] for one in unmet] == ["child", "check"]


def test_a_task_with_an_action_waits_for_it_when_its_phases_are_over():
    play = given(step("work", step("1", step("red"), action="commit")))
    play.do(Begin("work/1/red"), Done("work/1/red"))
    assert play.statuses() == {"work": "active", "work/1": "active", "work/1/red": "done"}
    assert queries.current(play.state) == "work/1"
    play.do(Done("work/1", data={"commit_sha": SHA}))
    assert play.status("work") == "done"


def test_an_unknown_action_is_a_mistake_of_the_definition():
    with pytest.raises(UsageError) as caught:
        definition(step("go", action="deploy"))
    assert caught.value.message.endswith("step[1].action: action is one of load, branch, commit, pull_request")


def test_a_system_has_actions_of_its_own_for_the_definitions_of_its_dialect():
    data = {"name": "mine", "dialect": "deck", "step": [step("shuffle", action="shuffle")]}
    own = Words(actions={"deck": {"shuffle": "order"}})
    play = Play()
    play.do(Start.of(read(data, words=own), "0" * 26, "mine-1"))
    play.do(Begin("shuffle"))
    assert "the action 'shuffle' has not run" in play.refuses(Done("shuffle"), "gate_unmet").message
    play.do(Done("shuffle", data={"order": "7 2 9"}))
    assert play.status("shuffle") == "done"
    with pytest.raises(UsageError) as caught:
        read({**data, "dialect": "skill"}, words=own)
    assert "action is one of load, branch, commit, pull_request" in caught.value.message


@pytest.mark.parametrize("gate", [{"approval": {"by": "human"}}, {"review": {}}, {"choice": {"options": ["a", "b"]}}])
def test_an_action_and_people_need_a_step_each(gate):
    with pytest.raises(UsageError) as caught:
        definition(step("go", action="commit", **gate))
    assert "a step of its own" in caught.value.message


def test_a_definition_that_loads_a_feature_says_what_its_tasks_look_like():
    with pytest.raises(UsageError) as caught:
        read({"name": "mine", "loads": "feature", "step": [{"id": "work"}]}, words=words())
    assert "[step.task]" in caught.value.message
    made = read(
        {"name": "mine", "loads": "feature", "step": [{"id": "work", "task": {"action": "commit"}}]}, words=words()
    )
    assert made.steps[0].task.action == "commit"


def test_evidence_that_comes_with_the_hand_in_counts_at_once():
    play = given(step("go", action="pull_request", checks=[{"name": "pr_created"}]))
    play.do(Begin("go"))
    url = "https://github.com/a/b/pull/7"
    events = play.do(Done("go", data={"pr_url": url}, evidence={"pr_created": passed(data={"pr_number": 7})}))
    assert [type(event) for event in events] == [Recorded, Checked, Moved]
    seen = play.state.step("go").evidence["pr_created"]
    assert (seen.passed, seen.attempt, seen.by, seen.data) == (True, 1, AGENT.label, {"pr_number": 7})


def test_evidence_of_a_failure_does_not_hand_a_step_in():
    play = given(step("go", checks=[{"name": "pr_created"}]))
    play.do(Begin("go"))
    play.refuses(Done("go", evidence={"pr_created": failed()}), "gate_unmet")
    assert play.state.step("go").evidence == {}


def test_a_hand_in_cannot_bring_evidence_that_only_the_engine_may_give():
    play = given(step("go", checks=[{"name": "tests", "run": ["true"], "run_by": "engine"}]))
    play.do(Begin("go"))
    play.refuses(Done("go", evidence={"tests": passed()}), "engine_must_run")


def test_a_hand_in_cannot_bring_evidence_for_a_check_that_is_not_there():
    play = given(step("go"))
    play.do(Begin("go"))
    play.refuses(Done("go", evidence={"tests": passed()}), "no_check")


def test_the_first_step_begins_with_the_workflow():
    play = started(step("a"), step("b"))
    assert play.statuses() == {"a": "active", "b": "pending"}
    assert isinstance(play.records[0].events[0], Started)


def test_nothing_begins_by_itself_where_the_definition_does_not_say_so():
    play = given(step("a"), step("b"))
    assert play.statuses() == {"a": "pending", "b": "pending"}
    play.finish("a")
    assert play.status("b") == "pending"


def test_the_next_step_begins_when_one_is_done_in_the_same_record():
    play = started(step("a"), step("b", step("c")), step("d"))
    assert moves(play.do(Done("a"))) == [("completed", "a"), ("began", "b"), ("began", "b/c")]
    play.do(Done("b/c"))
    assert play.statuses() == {"a": "done", "b": "done", "b/c": "done", "d": "active"}
    assert replay(play.records) == play.state


def test_the_next_step_begins_when_one_is_left_out():
    play = started(step("a", optional=True), step("b"))
    play.do(Skip("a"))
    assert play.status("b") == "active"


def test_nothing_begins_when_the_last_step_is_done():
    play = started(step("a"))
    assert moves(play.do(Done("a"))) == [("completed", "a")]
    assert queries.status(play.state) == "completed"


def test_nothing_begins_after_a_failure_a_block_or_an_end():
    for command in (Fail("a", "boom"), Block("a", "no key"), Cancel("enough")):
        play = started(step("a"), step("b"))
        play.do(command)
        assert play.status("b") == "pending", command


def test_a_step_that_waits_for_a_person_lets_nothing_begin_and_their_word_does():
    play = started(step("a", approval={"by": "human"}), step("b"))
    play.do(Done("a"))
    assert play.statuses() == {"a": "waiting", "b": "pending"}
    play.do(Approve("a"), by=PERSON)
    assert play.statuses() == {"a": "done", "b": "active"}


def test_what_requires_something_else_does_not_begin_by_itself():
    play = started(step("a"), step("b", requires=["c"]), step("c", requires=["a"]))
    play.do(Done("a"))
    assert play.status("b") == "pending"


def test_no_step_begins_when_a_bound_is_used_up():
    play = started(step("a"), step("b"), bounds={"max_time": "1h"})
    play.wait(3599)
    events = play.decide(Done("a"))
    assert ("began", "b") in moves(events)
    play.wait(1)
    play.refuses(Done("a"), "bound_reached")


def test_a_step_that_is_worked_on_again_is_followed_by_the_next_one_again():
    play = started(step("a"), step("b"))
    play.do(Done("a"), Done("b"))
    play.do(Reopen("a"))
    assert play.statuses() == {"a": "active", "b": "pending"}
    play.do(Done("a"))
    assert play.statuses() == {"a": "done", "b": "active"}


def test_steps_that_were_over_before_the_start_are_skipped_with_the_reason():
    play = started(step("work", step("1"), step("2"), step("3")), finished={"work/1": "ticked", "work/2": "ticked"})
    assert play.statuses() == {"work": "active", "work/1": "skipped", "work/2": "skipped", "work/3": "active"}
    assert play.state.step("work/1").reason == "ticked"
    assert len(play.records) == 1
    assert [m for m, _ in moves(only(play.records[0].events, Moved))] == ["skipped", "skipped", "began", "began"]


def test_an_agent_may_start_with_steps_skipped_that_it_could_not_skip_itself():
    play = started(step("a"), step("b"), finished={"a": "ticked"})
    assert play.statuses() == {"a": "skipped", "b": "active"}
    play.refuses(Skip("b"), "not_skippable")


def test_a_workflow_can_start_with_all_its_tasks_over():
    play = started(step("work", step("1")), step("verify"), finished={"work/1": "ticked"})
    assert play.status("work/1") == "skipped"
    play.do(Done("work"))
    assert play.status("verify") == "active"


def test_a_step_that_is_not_there_cannot_have_been_over():
    with pytest.raises(NotFound) as caught:
        started(step("a"), finished={"b": "ticked"})
    assert caught.value.code == "no_step"
