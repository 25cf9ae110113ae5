"""Edited and adopted documents: all of an edit or nothing, and claims that open no gate."""

from __future__ import annotations

import pytest

from holdfast.core import gates, queries
from holdfast.core.commands import Approve, Begin, Cancel, Done, Extend, Note, Record, RecordCheck, Skip, TakeOver
from holdfast.core.events import Adopted, Edited, Remembered
from holdfast.core.state import Evidence, Progress
from holdfast.errors import NotFound
from tests.core.play import (
    AGENT,
    FILE,
    PERSON,
    Play,
    adopted,
    artifact,
    claimed_grant,
    edit,
    given,
    moves,
    passed,
    step,
)

# Edits


def test_a_legal_edit_is_the_commands_it_stands_for():
    play = given(step("a"), step("b"))
    events = play.do(edit(Begin("a"), Done("a"), Begin("b"), Record({"k": 1})), by=FILE)
    assert events[0] == Edited("state.json", {"edited": True}, "file")
    assert moves(events) == [("began", "a"), ("completed", "a"), ("began", "b")]
    assert play.state.base == {"edited": True}
    assert play.state.context == {"k": 1}


def test_an_edit_with_one_illegal_change_is_refused_whole():
    play = given(step("a"), step("b"), step("c"))
    before = play.state
    play.refuses(edit(Begin("a"), Begin("c")), "step_blocked", by=FILE)
    assert play.state == before


def test_an_edit_does_not_forge_an_approval():
    play = given(step("a", approval={"by": "human"}))
    play.refuses(edit(Begin("a"), Done("a"), Approve("a")), "person_needed", by=FILE)


def test_an_edit_does_not_skip_a_gate_a_bound_or_a_step():
    play = given(step("a", checks=["tests"]), step("b"), bounds={"max_cost": "$1"})
    play.refuses(edit(Begin("a"), Done("a")), "gate_unmet", by=FILE)
    play.refuses(edit(Skip("a")), "not_skippable", by=FILE)
    play.refuses(edit(Extend(cost=1)), "person_needed", by=FILE)


def test_what_one_change_of_an_edit_does_the_next_one_sees():
    play = given(step("a", checks=["tests"]))
    play.do(edit(Begin("a"), RecordCheck("a", "tests", passed()), Done("a")), by=FILE)
    assert play.status("a") == "done"


def test_entries_of_an_edited_history_are_remembered():
    play = given(step("a"))
    events = play.do(edit(entries=({"action": "chose B"},)), by=FILE)
    assert events[1:] == (Remembered({"action": "chose B"}),)
    assert play.state.history[-1] == {"at": play.now, "entry": {"action": "chose B"}}


def test_an_edit_is_refused_in_a_cancelled_workflow_when_it_moves_the_work():
    play = given(step("a"))
    play.do(Cancel())
    play.refuses(edit(Begin("a")), "cancelled", by=FILE)


def test_an_edit_says_where_it_came_from():
    play = given(step("a"))
    (event,) = play.do(edit(source="git"), by=FILE)
    assert isinstance(event, Edited)
    assert event.source == "git"


# Adopted


DONE = Progress("done", 1)


def test_an_adopted_document_is_carried_whole():
    play = adopted(step("a"), step("b"), a=DONE)
    (event,) = play.records[0].events
    assert isinstance(event, Adopted)
    assert play.state.base == {"status": "as found"}
    assert (play.state.origin, play.statuses()) == ("adopted", {"a": "done", "b": "pending"})


def test_an_adopted_workflow_whose_steps_are_all_done_is_finished():
    assert queries.status(adopted(step("a"), a=DONE).state) == "completed"


def test_a_step_without_gates_that_is_said_to_be_done_opens_the_next():
    play = adopted(step("a"), step("b"), a=DONE)
    play.do(Begin("b"))
    assert play.status("b") == "active"


def test_a_claimed_approval_opens_nothing():
    play = adopted(step("a", approval={"by": "relayed"}), step("b"), a=DONE.replace(grant=claimed_grant()))
    assert gates.grant_verdict(play.state, "a", play.facts()) == "claimed"
    refusal = play.refuses(Begin("b"), "step_blocked")
    assert play.typed(refusal) == "holdfast approve --claimed"
    assert refusal.message == (
        "the step b cannot begin: the approval of a is only claimed by the document it was adopted from"
    )


def test_an_approval_that_is_only_said_in_a_status_opens_nothing():
    play = adopted(step("a", approval={"by": "relayed"}), step("b"), a=DONE)
    play.refuses(Begin("b"), "step_blocked")


def test_a_claimed_approval_is_confirmed_only_by_a_person():
    play = adopted(step("a", approval={"by": "relayed"}), step("b"), a=DONE.replace(grant=claimed_grant()))
    play.refuses(Approve("a"), "person_needed", by=AGENT)
    play.do(Approve("a"), by=PERSON)
    assert gates.grant_verdict(play.state, "a", play.facts()) == "valid"
    assert [grant.claimed for grant in play.state.step("a").past_grants] == [True]
    play.do(Begin("b"))


def test_a_confirmed_choice_stays_what_the_document_said():
    claim = claimed_grant().replace(variant="B")
    play = adopted(step("a", choice={"options": ["A", "B"]}), a=DONE.replace(grant=claim))
    play.do(Approve("a"), by=PERSON)
    grant = play.state.step("a").grant
    assert grant is not None
    assert (grant.variant, grant.claimed) == ("B", False)


def test_a_confirmation_is_of_the_artifacts_as_they_are():
    progress = DONE.replace(grant=claimed_grant({"log": "hash of old"}), artifacts={"log": artifact("f", "old")})
    play = adopted(step("a", outputs=["log"], approval=True), a=progress).write("f", "new")
    play.do(Approve("a"), by=PERSON)
    grant = play.state.step("a").grant
    assert grant is not None
    assert grant.hashes == {"log": "hash of new"}


def test_a_claimed_check_lets_no_step_be_done():
    claim = Evidence(True, "t", 1, claimed=True)
    play = adopted(step("a", checks=["tests"]), a=Progress("active", 1, evidence={"tests": claim}))
    play.refuses(Done("a"), "gate_unmet")
    play.check("a", "tests")
    play.do(Done("a"))
    assert play.status("a") == "done"


def test_a_claimed_check_of_a_done_step_opens_nothing():
    claim = Evidence(True, "t", 1, claimed=True)
    play = adopted(step("a", checks=["tests"]), step("b"), a=DONE.replace(evidence={"tests": claim}))
    play.refuses(Begin("b"), "step_blocked")


def test_an_adopted_workflow_accepts_reported_evidence():
    check = {"name": "tests", "run": ["pytest"], "run_by": "engine"}
    play = adopted(step("a", checks=[check]), a=Progress("active", 1))
    play.check("a", "tests")
    play.do(Done("a"))
    assert play.status("a") == "done"


def test_what_came_with_git_is_taken_over_and_its_approvals_are_only_claimed():
    play = given(step("a", approval={"by": "relayed"}), step("b"))
    play.do(TakeOver("state.json", {"from": "git"}, {"a": DONE.replace(grant=claimed_grant())}), by=FILE)
    assert play.statuses() == {"a": "done", "b": "pending"}
    assert play.state.base == {"from": "git"}
    play.refuses(Begin("b"), "step_blocked")
    play.refuses(Approve("a"), "person_needed")


def test_an_adopted_workflow_keeps_when_it_was_created_if_the_document_says_so():
    assert adopted(step("a")).state.created_at == "2026-01-01T09:00:00.000Z"


@pytest.mark.parametrize("command", [Begin("a"), Note("n"), edit(Begin("a"))])
def test_without_a_workflow_there_is_nothing_to_change(command):
    with pytest.raises(NotFound) as caught:
        Play().decide(command)
    assert caught.value.code == "no_workflow"
