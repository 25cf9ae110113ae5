"""Working on a step: begin, produce, hand in, fail, block, skip and open again."""

from __future__ import annotations

import pytest

from holdfast.core import gates, queries
from holdfast.core.commands import (
    Approve,
    Attach,
    Begin,
    Block,
    Done,
    Fail,
    Reject,
    Reopen,
    Resume,
    Review,
    Skip,
    Submit,
    Unblock,
)
from holdfast.core.events import Moved, Produced, Recorded, Started
from holdfast.core.remedy import ANYWHERE, rendered
from tests.core.play import AGENT, MINUTE, PERSON, given, moves, only, step

# Starting and beginning


def test_starting_activates_nothing():
    play = given(step("a"), step("b"))
    assert play.statuses() == {"a": "pending", "b": "pending"}


def test_a_started_workflow_carries_its_whole_definition():
    play = given(step("a"), subject="1.4", context={"k": 1}, branch="main")
    (event,) = play.records[0].events
    assert isinstance(event, Started)
    assert event.steps == play.state.plan.steps
    assert (play.state.type, play.state.subject, play.state.context, play.state.branch) == (
        "release",
        "1.4",
        {"k": 1},
        "main",
    )
    assert play.state.created_at == "2026-01-01T09:00:00.000Z"


def test_a_first_step_can_begin():
    play = given(step("a"))
    assert play.do(Begin("a")) == (Moved("began", "a", attempt=1),)
    assert play.state.step("a").started_at == play.now


def test_a_step_cannot_begin_before_the_one_before_it_is_done():
    play = given(step("a"), step("b"), step("c"))
    play.do(Begin("a"))
    refusal = play.refuses(Begin("b"), "step_blocked")
    assert refusal.facts["missing"] == ["a"]
    assert refusal.remedy == "holdfast done a"
    assert refusal.exit_code == 3


def test_a_person_cannot_jump_over_an_undone_step_either():
    play = given(step("a"), step("b"))
    play.refuses(Begin("b"), "step_blocked", by=PERSON)
    play.refuses(Resume("b"), "step_blocked", by=PERSON)


def test_the_refusal_of_a_far_step_names_what_can_be_typed_now():
    play = given(step("a"), step("b"), step("c"))
    assert play.refuses(Begin("c"), "step_blocked").remedy == "holdfast begin a"


def test_beginning_an_active_step_changes_nothing():
    play = given(step("a"))
    play.do(Begin("a"))
    play.unchanged_by(Begin("a"))


def test_an_unknown_step_is_not_found():
    play = given(step("a"))
    for command in (Begin("z"), Done("z"), Fail("z", "r"), Block("z", "r"), Skip("z"), Reopen("z"), Submit("z")):
        assert play.refuses(command, "no_step").exit_code == 4


def test_a_step_that_says_so_waits_only_for_what_it_names():
    play = given(step("a"), step("b"), step("c", requires=["a"]))
    play.finish("a")
    play.do(Begin("b"), Begin("c"))
    assert play.statuses() == {"a": "done", "b": "active", "c": "active"}


def test_a_step_inside_a_branch_opens_the_branch():
    play = given(step("p", step("q", step("x"))))
    assert moves(play.do(Begin("p/q/x"))) == [("began", "p"), ("began", "p/q"), ("began", "p/q/x")]


def test_a_step_inside_a_branch_waits_for_what_the_branch_waits_for():
    play = given(step("a"), step("p", step("x")))
    assert play.refuses(Begin("p/x"), "step_blocked").facts["missing"] == ["a"]


def test_children_of_a_parallel_branch_are_active_at_the_same_time():
    play = given(step("p", step("x"), step("y"), parallel=True))
    play.do(Begin("p/x"), Begin("p/y"))
    assert play.statuses() == {"p": "active", "p/x": "active", "p/y": "active"}


def test_children_of_a_plain_branch_come_one_after_the_other():
    play = given(step("p", step("x"), step("y")))
    play.do(Begin("p/x"))
    play.refuses(Begin("p/y"), "step_blocked")


# Done


def test_a_step_without_gates_is_done_at_once():
    play = given(step("a"))
    play.do(Begin("a"))
    play.wait(MINUTE)
    assert moves(play.do(Done("a"))) == [("completed", "a")]
    assert play.state.step("a").finished_at == play.now
    assert play.state.finished_at == play.now


def test_done_is_refused_for_a_step_that_never_began():
    play = given(step("a"))
    assert play.refuses(Done("a"), "wrong_status").remedy == "holdfast begin a"


@pytest.mark.parametrize("command", [Done("c"), Unblock("c"), Reject("c"), Fail("c", "no")])
def test_whoever_is_too_early_is_told_what_leads_on_now(command):
    play = given(step("a"), step("b"), step("c"))
    assert play.refuses(command, "wrong_status").remedy == "holdfast begin a"
    play.do(Begin("a"))
    assert play.refuses(command, "wrong_status").remedy == "holdfast done a"
    play.do(Done("a"))
    assert play.refuses(command, "wrong_status").remedy == "holdfast begin b"


def test_done_again_changes_nothing():
    play = given(step("a")).finish("a")
    play.unchanged_by(Done("a"))


def test_done_again_with_an_artifact_is_refused_because_the_work_is_over():
    play = given(step("a")).finish("a").write("f", "x")
    assert play.refuses(Done("a", {"out": "f"}), "wrong_status").remedy == "holdfast next"


def test_done_without_a_promised_output_is_refused_and_says_how_to_name_it():
    play = given(step("a", outputs=["log", "map"]))
    play.do(Begin("a"))
    refusal = play.refuses(Done("a"), "gate_unmet")
    both = "holdfast done a --artifact log=PATH --artifact map=PATH"
    assert rendered(refusal.facts["unmet"], ANYWHERE) == [
        {"kind": "output", "name": "log", "remedy": both},
        {"kind": "output", "name": "map", "remedy": both},
    ]


def test_done_names_outputs_and_keeps_path_hash_and_size():
    play = given(step("a", outputs=["log"])).write("CHANGES", "news")
    play.do(Begin("a"))
    (produced, _) = play.do(Done("a", {"log": "CHANGES"}))
    assert isinstance(produced, Produced)
    assert (produced.artifact.path, produced.artifact.hash, produced.artifact.size) == ("CHANGES", "hash of news", 4)
    assert play.status("a") == "done"


def test_an_output_may_be_named_before_the_step_is_done():
    play = given(step("a", outputs=["log"])).write("CHANGES", "news")
    play.do(Begin("a"), Attach("a", {"log": "CHANGES"}))
    play.do(Done("a"))
    assert play.status("a") == "done"


def test_naming_the_same_output_again_records_nothing():
    play = given(step("a", outputs=["log"])).write("CHANGES", "news")
    play.do(Begin("a"), Attach("a", {"log": "CHANGES"}))
    play.unchanged_by(Attach("a", {"log": "CHANGES"}))


def test_an_output_that_is_not_there_is_refused():
    play = given(step("a", outputs=["log"]))
    play.do(Begin("a"))
    assert play.refuses(Done("a", {"log": "nowhere"}), "artifact_missing").facts["path"] == "nowhere"
    play.write("gone", "x").remove("gone")
    play.refuses(Attach("a", {"log": "gone"}), "artifact_missing")


def test_an_output_that_was_named_and_is_gone_by_the_end_is_refused():
    play = given(step("a", outputs=["log"])).write("CHANGES", "news")
    play.do(Begin("a"), Attach("a", {"log": "CHANGES"}))
    play.remove("CHANGES").refuses(Done("a"), "artifact_missing")


def test_an_output_that_was_named_and_changed_by_the_end_is_recorded_as_it_is_at_the_end():
    play = given(step("a", outputs=["log"])).write("CHANGES", "news")
    play.do(Begin("a"), Attach("a", {"log": "CHANGES"}))
    play.write("CHANGES", "other news").do(Done("a"))
    assert play.state.step("a").artifacts["log"].hash == "hash of other news"


def test_an_artifact_has_a_name():
    play = given(step("a")).write("f", "x")
    play.do(Begin("a"))
    play.refuses(Attach("a", {"../x": "f"}), "bad_name")


@pytest.mark.parametrize("command", [Attach("a", {"log": "f"}), Attach("a", {})])
def test_nothing_is_attached_to_a_step_nobody_works_on(command):
    given(step("a")).write("f", "x").refuses(command, "wrong_status")


def test_done_records_what_the_step_found_out():
    play = given(step("a"))
    play.do(Begin("a"))
    assert only(play.do(Done("a", data={"words": 900})), Recorded) == [Recorded({"words": 900}, "a")]
    assert play.state.step("a").data == {"words": 900}


def test_a_branch_is_done_with_its_last_child_and_so_is_the_branch_above():
    play = given(step("p", step("q", step("x"), step("y")))).finish("p/q/x")
    play.do(Begin("p/q/y"))
    assert moves(play.do(Done("p/q/y"))) == [("completed", "p/q/y"), ("completed", "p/q"), ("completed", "p")]
    assert play.state.finished_at


def test_a_branch_is_not_done_before_its_children_are():
    play = given(step("p", step("x"), step("y"))).finish("p/x")
    assert rendered(play.refuses(Done("p"), "gate_unmet").facts["unmet"], ANYWHERE) == [
        {"kind": "child", "name": "p/y", "remedy": "holdfast begin p/y"}
    ]


def test_a_branch_that_is_not_done_names_what_its_child_waits_for():
    play = given(step("p", step("x")))
    play.do(Begin("p/x"))
    assert play.refuses(Done("p"), "gate_unmet").remedy == "holdfast done p/x"


def test_a_branch_with_a_gate_of_its_own_waits_for_it_after_its_children():
    play = given(step("p", step("x"), approval={"by": "human"})).finish("p/x")
    assert play.status("p") == "active"
    play.do(Done("p"))
    assert play.status("p") == "waiting"
    play.do(Approve("p"), by=PERSON)
    assert play.status("p") == "done"


def test_the_workflow_is_not_finished_before_its_last_step():
    play = given(step("a"), step("b")).finish("a")
    assert play.state.finished_at == ""


# Submit


def test_submit_hands_a_step_to_its_reviewer():
    play = given(step("a", review={}))
    play.do(Begin("a"))
    assert moves(play.do(Submit("a"))) == [("submitted", "a")]


def test_submit_makes_a_step_wait_where_only_an_approval_is_asked_for():
    play = given(step("a", approval=True))
    play.do(Begin("a"))
    assert moves(play.do(Submit("a"))) == [("awaited", "a")]
    assert play.state.step("a").waiting_since == play.now


def test_submit_makes_no_sense_where_nobody_looks():
    play = given(step("a"))
    play.do(Begin("a"))
    assert play.refuses(Submit("a"), "no_gate").remedy == "holdfast done a"


# Skip


def test_an_optional_step_may_be_skipped_and_counts_as_done_for_what_follows():
    play = given(step("a", optional=True), step("b"))
    assert moves(play.do(Skip("a", "not needed"))) == [("skipped", "a")]
    play.do(Begin("b"))
    assert play.statuses() == {"a": "skipped", "b": "active"}


def test_any_other_step_is_skipped_only_by_a_person():
    play = given(step("a"), step("b"))
    play.refuses(Skip("a"), "not_skippable")
    play.do(Skip("a"), by=PERSON)
    assert play.status("a") == "skipped"


def test_skipping_does_not_jump_over_an_undone_step():
    play = given(step("a"), step("b", optional=True))
    play.refuses(Skip("b"), "step_blocked")


def test_a_skipped_last_child_finishes_its_branch():
    play = given(step("p", step("x"), step("y", optional=True))).finish("p/x")
    assert moves(play.do(Skip("p/y"))) == [("skipped", "p/y"), ("completed", "p")]


def test_a_skipped_only_child_opens_and_finishes_its_branch():
    play = given(step("p", step("x", optional=True)))
    assert moves(play.do(Skip("p/x"))) == [("began", "p"), ("skipped", "p/x"), ("completed", "p")]


def test_working_inside_a_skipped_branch_sends_what_followed_it_back():
    play = given(step("p", step("x")), step("q"))
    play.do(Skip("p"), by=PERSON)
    assert play.statuses() == {"p": "skipped", "p/x": "skipped", "q": "pending"}
    play.do(Begin("q"), Reopen("p/x"))
    assert play.statuses() == {"p": "active", "p/x": "active", "q": "pending"}


# Reopen


def test_a_reopened_step_is_another_try_with_the_feedback():
    play = given(step("a")).finish("a")
    play.do(Reopen("a", "one more thing"))
    progress = play.state.step("a")
    assert (progress.status, progress.attempt, progress.feedback) == ("active", 2, ("one more thing",))
    assert progress.finished_at == ""
    assert play.state.finished_at == ""


def test_everything_after_a_reopened_step_goes_back_to_pending():
    play = given(step("a"), step("b"), step("c"), step("d", requires=[])).finish("a", "b", "d")
    play.do(Begin("c"), Block("c", "no key"))
    play.do(Reopen("a"))
    assert play.statuses() == {"a": "active", "b": "pending", "c": "pending", "d": "done"}


def test_a_skipped_step_can_be_reopened():
    play = given(step("a", optional=True))
    play.do(Skip("a"), Reopen("a"))
    assert play.status("a") == "active"


def test_a_reopened_branch_begins_again_with_all_its_children():
    play = given(step("p", step("x"), step("y"))).finish("p/x", "p/y")
    play.do(Reopen("p"))
    assert play.statuses() == {"p": "active", "p/x": "pending", "p/y": "pending"}


def test_a_reopened_child_reopens_its_branches():
    play = given(step("p", step("q", step("x"), step("y"))), step("z")).finish("p/q/x", "p/q/y", "z")
    play.do(Reopen("p/q/x"))
    assert play.statuses() == {"p": "active", "p/q": "active", "p/q/x": "active", "p/q/y": "pending", "z": "pending"}


def test_a_branch_is_no_longer_done_when_a_child_of_it_went_back():
    """The branch waits for nothing, but one of its children waits for the step that is opened again."""
    play = given(step("a"), step("p", step("x", requires=["a"]), requires=[])).finish("a", "p/x")
    assert play.state.finished_at
    play.do(Reopen("a"))
    assert play.status("p/x") == "pending"
    assert play.status("p") != "done"
    assert play.state.finished_at == ""
    assert queries.status(play.state) == "in_progress"


def test_a_step_is_not_reopened_over_a_prerequisite_that_no_longer_holds():
    play = given(step("a", outputs=["log"], approval=True), step("b"))
    play.write("f", "one").approved("a", log="f").finish("b")
    play.write("f", "two")
    assert play.typed(play.refuses(Reopen("b"), "step_blocked")) == "holdfast approve a"


def test_a_resume_from_a_done_step_reopens_it():
    play = given(step("a"), step("b")).finish("a", "b")
    play.do(Resume("a"))
    assert play.statuses() == {"a": "active", "b": "pending"}


def test_a_reopened_step_must_be_reviewed_again():
    play = given(step("a", review={}))
    play.do(Begin("a"), Submit("a"), Review("a", "approved"))
    play.do(Reopen("a"), Done("a"))
    assert play.status("a") == "in_review"


def test_reopening_makes_the_approval_of_that_step_stale_and_keeps_it():
    play = given(step("a", approval=True)).approved("a")
    play.do(Reopen("a"), by=PERSON)
    assert gates.grant_verdict(play.state, "a", play.facts()) == "stale"
    assert play.state.step("a").grant is not None
    play.do(Done("a"))
    assert play.status("a") == "waiting"


def test_reopening_an_earlier_step_makes_an_approval_stale():
    play = given(step("a"), step("b", approval=True)).finish("a").approved("b")
    play.do(Reopen("a"), by=PERSON)
    assert gates.grant_verdict(play.state, "b", play.facts()) == "stale"
    play.do(Done("a"), Begin("b"), Done("b"))
    assert play.status("b") == "waiting"


def test_an_old_approval_is_kept_when_a_new_one_is_given():
    play = given(step("a", approval=True)).approved("a")
    play.do(Reopen("a"), Done("a"), Approve("a"), by=PERSON)
    progress = play.state.step("a")
    assert [grant.attempt for grant in progress.past_grants] == [1]
    assert progress.grant is not None
    assert progress.grant.attempt == 2


def test_a_new_try_is_told_of_every_try_before_it():
    play = given(step("a", retry={"max": 5}))
    play.do(Begin("a"), Fail("a", "one"), Fail("a", "two"), by=AGENT)
    assert play.state.step("a").feedback == ("one", "two")
