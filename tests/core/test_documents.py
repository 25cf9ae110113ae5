"""Edited and adopted documents: an edit part by part, and claims that open no gate."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.core import gates, queries
from holdfast.core.commands import (
    Approve,
    Begin,
    Cancel,
    Confirm,
    Done,
    Edit,
    Extend,
    Note,
    Part,
    Record,
    RecordCheck,
    Skip,
    TakeOver,
)
from holdfast.core.events import Adopted, Alerted, Edited, Moved, Recorded, Remembered
from holdfast.core.state import Evidence, Progress
from holdfast.errors import NotFound, Refused
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


def test_a_part_with_one_illegal_command_is_refused_whole():
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


def parted(*parts: Part, document: dict[str, Any], base: dict[str, Any]) -> Edit:
    return Edit("state.json", document, base, parts)


def test_the_legal_parts_of_an_edit_are_taken_and_the_others_have_their_old_value_again():
    play = given(step("a"), step("b"), step("c"))
    command = parted(
        Part("note", (("note",),), (Record({"note": "new"}),)),
        Part("c", (("steps", ("id", "c"), "status"),), (Begin("c"),)),
        Part("a", (("steps", ("id", "a"), "status"),), (Begin("a"), Done("a"))),
        document={"note": "new", "steps": [{"id": "c", "status": "x", "own": 1}, {"id": "a", "status": "y"}]},
        base={"note": "old", "steps": [{"id": "a", "status": "0"}, {"id": "c", "status": "0"}]},
    )
    events = play.do(command, by=FILE)
    assert [type(event) for event in events] == [Edited, Recorded, Moved, Moved, Alerted]
    assert play.state.base == {
        "note": "new",
        "steps": [{"id": "c", "status": "0", "own": 1}, {"id": "a", "status": "y"}],
    }
    (alert,) = play.state.alerts
    assert (alert.code, alert.kept) == ("edit_partly_refused", "quarantine/copy.json")
    assert "reverted: c (the step c cannot begin before" in alert.message
    assert alert.message.endswith("taken: note, a")


def test_an_edit_that_is_taken_in_part_is_refused_until_its_original_is_kept_with_the_decision():
    play = given(step("a"), step("b"))
    parts = (Part("note", commands=(Record({"k": 1}),)), Part("b", commands=(Begin("b"),)))
    refusal = play.refuses(Edit("state.json", {}, {}, parts, kept="copy", told=("taken: b",)), "edit_partly_refused")
    assert refusal.facts["told"] == [
        "taken: note",
        "reverted: b (step_blocked): the step b cannot begin before a",
    ]


def test_a_part_that_waits_for_a_later_one_is_asked_again_after_it():
    play = given(step("a"), step("b"))
    play.do(
        parted(Part("b", commands=(Begin("b"),)), Part("a", commands=(Begin("a"), Done("a"))), document={}, base={})
    )
    assert (play.statuses(), play.state.alerts) == ({"a": "done", "b": "active"}, ())


def test_a_part_that_needs_a_refused_one_is_refused_with_it():
    play = given(step("a"), step("b"))
    parts = (Part("x", commands=(Begin("b"),)), Part("y", entries=({"event": "b began"},), needs="x"), Part("z"))
    events = play.do(parted(*parts, document={}, base={}))
    assert not any(isinstance(event, Remembered) for event in events)
    assert "y (x was reverted)" in play.state.alerts[0].message


def test_a_forged_gate_is_reported_louder_than_the_rest_and_its_neighbours_are_taken():
    play = given(step("a"))
    wrong = Refused("forged", "only people say this")
    parts = (Part("ok", (("ok",),), wrong=wrong, gate=True), Part("note", commands=(Record({"k": 1}),)))
    play.do(parted(*parts, document={"ok": True, "k": 1}, base={"ok": False}))
    (alert,) = play.state.alerts
    assert alert.code == "edit_forged"
    assert "A GATE WAS FORGED, and reverted: ok (only people say this)" in alert.message
    assert (play.state.context, play.state.base) == ({"k": 1}, {"ok": False, "k": 1})


def test_a_field_that_is_read_as_something_else_stands_so_in_the_document_and_is_told():
    play = given(step("a"))
    part = Part("n", (("n",),), (Record({"n": 3}),), written=3)
    play.do(parted(part, document={"n": "3"}, base={"n": 2}))
    (alert,) = play.state.alerts
    assert (alert.code, play.state.base) == ("edit_normalised", {"n": 3})
    assert alert.message.endswith("read as: n = 3")


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


ENGINE = {"name": "tests", "run": ["pytest"], "run_by": "engine"}


def test_an_adopted_workflow_has_the_gates_of_its_definition_for_what_is_still_to_be_done():
    play = adopted(step("a", checks=[ENGINE]), a=Progress("active", 1))
    play.refuses(RecordCheck("a", "tests", Evidence(True, "", 0)), "engine_must_run")


def test_checks_that_only_the_engine_runs_are_claimed_where_a_document_says_that_the_step_is_done():
    play = adopted(step("a", checks=[ENGINE]), step("b"), a=DONE, b=Progress("active", 1))
    play.refuses(Done("b"), "gate_unmet")
    play.refuses(Confirm("a"), "person_needed")
    play.do(Confirm("a"), by=PERSON)
    play.do(Done("b"))
    assert play.state.step("a").evidence["tests"].run_by == "reported"


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
