"""The gated dialect: documents of the convention are read, and written back as they were; what is wrong with others."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from holdfast.core import commands as cmd
from holdfast.core import queries
from holdfast.core.facts import Facts
from holdfast.core.state import State
from holdfast.documents.lens.mapping import put
from holdfast.errors import UsageError
from holdfast.systems.gated import adoption as gated_adoption
from holdfast.systems.gated import document as gated
from holdfast.systems.gated import words as gated_words
from holdfast.upkeep import schemas
from tests.core.feature import FEATURE, FIVE, FOUR, ONE, THREE, TWO, approved, at, feature, passed_on, sent_back
from tests.core.play import PERSON, Play

DATA = Path(__file__).parent / "data"
NOW = "2026-03-01T12:00:00.000Z"
SLUG = "feature-slug"
STATUS = f"workflow/{SLUG}/{ONE}/status.json"


def example() -> dict[str, Any]:
    return json.loads((DATA / "workflow-state.json").read_text())


def detail(**changed: Any) -> dict[str, Any]:
    return {**json.loads((DATA / "status.json").read_text()), **changed}


def adopted(document: dict[str, Any], status: dict[str, Any] | None = None) -> Play:
    """A feature that was taken over from its documents."""
    results = {STATUS: status} if status is not None else {}
    state = gated_adoption.adopt(document, FEATURE, Facts(NOW, results=results), "0" * 26)
    play = Play()
    play.do(cmd.Adopt(state, document))
    return play


def written(state: State) -> dict[str, Any]:
    return json.loads(json.dumps(put(gated.DOCUMENT, state.base, state)))


def view(state: State, phase: str = ONE) -> Any:
    assert gated.DIALECT.views is not None
    made = gated.DIALECT.views(state).get(f"workflow/{state.id}/{phase}/status.json")
    return made() if made else None


def invalid(document: Any, schema: str = "gated") -> list[str]:
    return [error.message for error in Draft7Validator(schemas.schema(schema)).iter_errors(document)]


# What the convention shows


def test_the_document_is_written_back_as_it_was_with_its_fields_in_order():
    document = example()
    state = adopted(document).state
    assert json.dumps(written(state)) == json.dumps(document)


@pytest.mark.parametrize("status", ["in_progress", "user_review"])
def test_the_status_of_a_phase_is_written_back_as_it_was_with_its_fields_in_order(status):
    document, found = example(), detail(status=status)
    document["phases"][ONE]["status"] = status
    assert json.dumps(view(adopted(document, found).state)) == json.dumps(found)


def test_everything_the_documents_say_is_known():
    document = example()
    document["escalations"] = [
        {
            "phase": ONE,
            "reason": "4 reviews asked for a revision",
            "iteration": 4,
            "at": "2026-02-27T10:20:00Z",
            "resolved_at": None,
            "resolution": None,
        }
    ]
    document.update(pr_url="https://example.org/pull/7", pr_number=7, last_reviewed_at="2026-02-27T11:00:00Z")
    state = adopted(document, detail(status="user_review")).state
    progress = state.step(ONE)
    assert (state.id, state.type, state.title, state.branch) == (
        SLUG,
        "feature",
        "Human Readable Title",
        "feature/feature-slug",
    )
    assert (state.created_at, progress.started_at) == ("2026-02-27T10:00:00Z", "2026-02-27T10:00:00Z")
    assert (progress.status, progress.rounds, progress.reviewed) == ("waiting", 1, True)
    assert [(act.iteration, act.action, act.result) for act in progress.acts] == [
        (1, "created", "NEEDS_REVISION"),
        (2, "revised", "APPROVED"),
    ]
    assert [(one.step, one.iteration, one.resolution) for one in state.escalations] == [(ONE, 4, "")]
    assert (state.context["pr_number"], state.context["last_reviewed_at"]) == (7, "2026-02-27T11:00:00Z")
    assert [step.id for step in state.plan.steps] == list(gated_words.PHASES)


def test_without_the_definition_the_phases_have_the_gates_of_the_convention():
    state = gated_adoption.adopt(example(), None, Facts(NOW), "0" * 26)
    for step in state.plan.steps:
        assert step.mandatory
        assert step.review is not None
        assert (step.review.max, step.review.files) == (4, True)
        assert step.approval is not None
        assert (step.approval.by, step.approval.rejected) == ("human", "revise")
        assert step.retry is not None
        assert (step.retry.max, step.retry.exhausted) == (2, "escalated")


def test_fields_that_nobody_knows_stay_where_they_are_as_the_work_goes_on():
    document = example()
    document = {"$note": [1, {"a": None}], **document, "owner": "ada"}
    document["phases"][ONE] = {"reviewer": "bob", **document["phases"][ONE]}
    found = {"mine": 1, **detail(status="user_review"), "last": "one"}
    play = adopted(document, found)
    play.do(cmd.Approve(ONE), by=PERSON)
    after, status = written(play.state), view(play.state)
    assert (after["$note"], after["owner"], after["phases"][ONE]["reviewer"]) == ([1, {"a": None}], "ada", "bob")
    assert list(after) == list(document)
    assert list(after["phases"][ONE]) == list(document["phases"][ONE])
    assert (status["mine"], status["last"], status["status"]) == (1, "one", "approved")
    assert list(status) == list(found)


def test_the_history_of_an_adopted_phase_goes_on():
    play = adopted(example(), detail(status="user_review"))
    play.do(cmd.Reject(ONE, "with numbers"), by=PERSON)
    status = view(play.state)
    assert status["history"][:2] == detail()["history"]
    assert status["history"][2:] == [
        {"iteration": 2, "action": "user_review", "timestamp": play.now[:19] + "Z", "result": "NEEDS_REVISION"}
    ]
    assert (status["iterations"], status["current_feedback"]) == (0, "with numbers")


@pytest.mark.parametrize("literal", ["2026-02-27T11:00:00.123456+01:00", "2026-02-27T10:00Z"])
def test_moments_stay_as_they_were_written(literal):
    document = example()
    document["created_at"] = document["phases"][ONE]["started_at"] = literal
    play = adopted(document)
    play.do(cmd.Approve(ONE), by=PERSON)
    after = written(play.state)
    assert (after["created_at"], after["phases"][ONE]["started_at"]) == (literal, literal)


def test_an_approval_in_a_document_is_only_claimed():
    document = example()
    document["phases"][ONE].update(status="approved", completed_at="2026-02-27T10:30:00Z")
    document["current_phase"] = TWO
    play = adopted(document)
    play.refuses(cmd.Begin(TWO), "step_blocked")
    play.do(cmd.Approve(ONE), by=PERSON)
    play.do(cmd.Begin(TWO))
    assert play.status(TWO) == "active"


# Cancelled


def abandoned(word: str = "abandoned") -> Play:
    document = {**example(), "status": word}
    said = gated_adoption.adopt(document, FEATURE, Facts(NOW), "0" * 26)
    assert said.cancelled is not None
    play = adopted(document)
    play.do(cmd.Cancel(said.cancelled.reason))
    return play


def test_abandoned_is_read_as_cancelled_and_stays_as_it_was_written():
    play = abandoned()
    assert queries.status(play.state) == "cancelled"
    assert written(play.state)["status"] == "abandoned"
    play.do(cmd.Note("a remark"))
    assert written(play.state)["status"] == "abandoned"


def test_once_it_went_on_and_was_cancelled_again_the_word_is_the_new_one():
    play = abandoned()
    play.do(cmd.Resume())
    assert written(play.state)["status"] == "in_progress"
    fresh = at("in_progress")
    fresh.do(cmd.Cancel("enough"))
    assert written(fresh.state)["status"] == "cancelled"


def test_a_reason_in_the_document_is_kept():
    document = {**example(), "status": "cancelled", "cancelled_reason": "another way"}
    said = gated_adoption.adopt({**document, "cancelled_at": "2026-02-28T10:00:00Z"}, FEATURE, Facts(NOW), "0" * 26)
    assert said.cancelled is not None
    assert (said.cancelled.reason, said.cancelled.at) == ("another way", "2026-02-28T10:00:00Z")


# What is no document of a feature

SPOILED: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda d: d.pop("feature"), "feature"),
    (lambda d: d.update(feature=""), "feature"),
    (lambda d: d.update(feature=7), "feature"),
    (lambda d: d.update(feature="../etc"), "feature"),
    (lambda d: d.update(feature="Upper"), "feature"),
    (lambda d: d.update(feature="a--b"), "feature"),
    (lambda d: d.update(feature="x" * 65), "feature"),
    (lambda d: d.update(feature="all"), "feature"),
    (lambda d: d.pop("current_phase"), "current_phase"),
    (lambda d: d.update(current_phase="06-more"), "current_phase"),
    (lambda d: d.update(current_phase=None), "current_phase"),
    (lambda d: d.pop("status"), "status"),
    (lambda d: d.update(status="nearly"), "status"),
    (lambda d: d.update(status="approved"), "status"),
    (lambda d: d.pop("phases"), "01-requirements"),
    (lambda d: d.update(phases=[]), "01-requirements"),
    (lambda d: d["phases"].pop(THREE), "03-implementation"),
    (lambda d: d["phases"].update({FIVE: "pending"}), "05-documentation"),
    (lambda d: d["phases"][TWO].pop("status"), "02-architecture"),
    (lambda d: d["phases"][TWO].update(status="completed"), "02-architecture"),
]


@pytest.mark.parametrize(("spoil", "named"), SPOILED)
def test_a_document_that_breaks_a_rule_is_refused_and_the_rule_is_named(spoil, named):
    document = example()
    spoil(document)
    kept = copy.deepcopy(document)
    (mistake,) = [one for one in gated_adoption.mistakes(document) if named in one][:1]
    with pytest.raises(UsageError) as refusal:
        gated_adoption.adopt(document, FEATURE, Facts(NOW), "0" * 26)
    assert (refusal.value.code, refusal.value.remedy) == ("not_a_workflow", "holdfast schema gated")
    assert mistake in refusal.value.message
    assert document == kept
    assert invalid(document)


def test_all_mistakes_are_named_at_once():
    assert len(gated_adoption.mistakes({})) == 3 + len(gated_words.PHASES)


@pytest.mark.parametrize("word", ["in_progress", "completed", "finalized", "escalated", "abandoned", "cancelled"])
def test_every_word_of_the_whole_is_read(word):
    assert gated_adoption.mistakes({**example(), "status": word}) == []
    assert invalid({**example(), "status": word}) == []


@pytest.mark.parametrize("word", ["pending", "in_progress", "in_review", "user_review", "approved", "escalated"])
def test_every_word_of_a_phase_is_read_and_kept(word):
    document = example()
    document["phases"][ONE]["status"] = word
    assert gated_adoption.mistakes(document) == []
    assert written(adopted(document).state) == document
    assert gated_adoption.status_mistakes(detail(status=word), ONE) == []


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda d: d.pop("phase"), "phase"),
        (lambda d: d.update(phase=TWO), "phase"),
        (lambda d: d.pop("status"), "status"),
        (lambda d: d.update(status="completed"), "status"),
        (lambda d: d.pop("iterations"), "iterations"),
        (lambda d: d.update(iterations=-1), "iterations"),
        (lambda d: d.update(iterations=5), "iterations"),
        (lambda d: d.update(iterations="2"), "iterations"),
        (lambda d: d.update(iterations=True), "iterations"),
        (lambda d: d.update(iterations=1.5), "iterations"),
        (lambda d: d.pop("max_iterations"), "max_iterations"),
        (lambda d: d.update(max_iterations=0), "max_iterations"),
        (lambda d: d.update(max_iterations=None), "max_iterations"),
    ],
)
def test_a_status_that_breaks_a_rule_is_not_believed_and_said_to_be_rewritten(spoil, named):
    found = detail(status="user_review")
    spoil(found)
    assert any(named in one for one in gated_adoption.status_mistakes(found, ONE))
    state = adopted(example(), found).state
    assert [(alert.code, alert.path) for alert in state.alerts] == [("status_rewritten", STATUS)]
    assert [one.result for one in state.step(ONE).acts] == [one["result"] for one in detail()["history"]]
    assert state.step(ONE).status == "waiting"


def test_a_status_in_order_has_no_mistakes():
    assert gated_adoption.status_mistakes(detail(), ONE) == []
    assert gated_adoption.status_mistakes(detail(iterations=0), ONE) == []
    assert gated_adoption.status_mistakes(detail(iterations=4), ONE) == []


@pytest.mark.parametrize(("status", "count"), [("approved", 2), ("user_review", 3), ("approved", 3)])
def test_where_the_two_differ_the_workflow_state_is_believed_and_it_is_said(status, count):
    state = adopted(example(), detail(status=status, iterations=count)).state
    assert (state.step(ONE).status, gated_words.iterations(state, ONE)) == ("waiting", 2)
    (alert,) = state.alerts
    assert (alert.code, alert.path) == ("status_rewritten", STATUS)
    assert f"says {status} {count} where workflow-state.json says user_review 2" in alert.message
    assert (view(state)["status"], view(state)["iterations"]) == ("user_review", 2)


def test_where_the_two_agree_nothing_is_said():
    assert adopted(example(), detail(status="user_review")).state.alerts == ()


# The words and what they are written for


def test_the_document_of_a_new_feature_has_the_fields_of_the_convention_in_order():
    document = written(feature(ONE).state)
    assert list(document) == list(example())
    assert list(document["phases"][ONE]) == list(example()["phases"][ONE])
    assert invalid(document) == []


def test_the_status_of_a_new_phase_begins_with_the_fields_of_the_convention_in_order():
    status = view(feature(ONE).state)
    assert list(status)[:6] == list(detail())
    assert (status["iterations"], status["max_iterations"], status["current_feedback"]) == (0, 4, None)
    assert status["history"] == []


def test_a_phase_has_its_status_from_when_it_begins():
    play = feature(ONE)
    assert view(play.state, TWO) is None
    play.do(cmd.Advise(TWO, "mind the cache"), by=PERSON)
    assert view(play.state, TWO)["current_feedback"] == "mind the cache"
    assert view(play.state, TWO)["status"] == "pending"


def lives() -> dict[str, Play]:
    """Features at many points of their lives."""
    found = {word: at(word) for word in ("pending", "in_progress", "in_review", "user_review", "approved", "escalated")}
    for name, word, command in (
        ("cancelled", "in_review", cmd.Cancel("enough")),
        ("paused", "in_progress", cmd.Pause("over night")),
        ("blocked", "in_progress", cmd.Block(ONE, "stuck")),
        ("guided", "escalated", cmd.Unblock(ONE, "like so")),
        ("overridden", "escalated", cmd.Approve(ONE)),
        ("reset", "in_review", cmd.Reset(ONE)),
        ("regressed", "approved", cmd.Reopen(ONE, "again")),
        ("changes", "user_review", cmd.Reject(ONE, "with numbers")),
        ("crashed", "in_progress", cmd.Fail(ONE, "died")),
        ("crashed reviewer", "in_review", cmd.Fail(ONE, "died")),
    ):
        found[name] = at(word)
        found[name].do(command, by=PERSON)
    found["completed"] = approved(feature(), ONE, TWO, THREE, FOUR, FIVE)
    found["finalized"] = approved(feature(), ONE, TWO, THREE, FOUR, FIVE)
    found["finalized"].do(cmd.Finalize())
    return found


@pytest.mark.parametrize("name", lives())
def test_what_is_written_is_valid_by_the_rules_and_the_schema_and_read_back_as_the_same(name):
    state = lives()[name].state
    document = written(state)
    assert gated_adoption.mistakes(document) == []
    assert invalid(document) == []
    said = gated_adoption.adopt(document, FEATURE, Facts(NOW), "0" * 26)
    for phase in gated_words.PHASES:
        status = view(state, phase)
        if status is not None:
            assert gated_adoption.status_mistakes(status, phase) == []
            assert invalid(status, "gated-status") == []
            assert (status["status"], status["iterations"]) == (
                document["phases"][phase]["status"],
                document["phases"][phase]["iterations"],
            )
        assert gated_words.PHASE.encode(said.step(phase).status) == document["phases"][phase]["status"]


@pytest.mark.parametrize(
    ("name", "word", "detail_of_it"),
    [
        ("pending", "in_progress", None),
        ("in_progress", "in_progress", None),
        ("user_review", "in_progress", None),
        ("escalated", "escalated", None),
        ("blocked", "escalated", "blocked"),
        ("paused", "in_progress", "paused"),
        ("cancelled", "cancelled", None),
        ("completed", "completed", None),
        ("finalized", "finalized", None),
    ],
)
def test_the_whole_has_its_word_and_says_more_where_the_word_says_too_little(name, word, detail_of_it):
    document = written(lives()[name].state)
    assert (document["status"], document.get("status_detail")) == (word, detail_of_it)


def test_an_escalation_is_written_with_its_answer():
    play = at("escalated")
    (one,) = written(play.state)["escalations"]
    assert (one["phase"], one["iteration"], one["resolved_at"], one["resolution"]) == (ONE, 4, None, None)
    assert written(play.state)["phases"][ONE]["escalation_reason"] == one["reason"]
    play.do(cmd.Unblock(ONE, "like so"), by=PERSON)
    (one,) = written(play.state)["escalations"]
    assert one["resolution"] == "guidance: like so"
    assert one["resolved_at"] is not None
    assert written(play.state)["phases"][ONE]["escalation_reason"] is None


def test_the_current_phase_is_the_first_that_is_not_approved_and_the_last_when_all_are():
    play = approved(feature(), ONE)
    assert written(play.state)["current_phase"] == TWO
    play.do(cmd.Begin(TWO))
    sent_back(play, TWO, 2)
    assert written(play.state)["current_phase"] == TWO
    passed_on(play, TWO)
    assert written(lives()["completed"].state)["current_phase"] == FIVE


@pytest.mark.parametrize("name", ["gated", "gated-status"])
def test_the_schemas_are_of_draft_07(name):
    schema = schemas.schema(name)
    Draft7Validator.check_schema(schema)
    assert (schema["$schema"], schema["$id"]) == (
        "http://json-schema.org/draft-07/schema#",
        f"urn:holdfast:schema:{name}",
    )


def test_the_examples_are_valid_and_every_field_of_them_is_described():
    assert invalid(example()) == []
    assert invalid(detail(), "gated-status") == []
    schema = schemas.schema("gated")
    assert set(example()) <= set(schema["properties"])
    assert set(example()["phases"][ONE]) <= set(schema["properties"]["phases"]["properties"][ONE]["properties"])
    assert set(detail()) <= set(schemas.schema("gated-status")["properties"])


@pytest.mark.parametrize("slug", ["ab", "a1", "feature-slug", "x" * 64, "workflows"])
def test_rules_and_schema_agree_on_what_a_slug_is(slug):
    assert gated_words.is_slug(slug)
    assert invalid({**example(), "feature": slug}) == []


@pytest.mark.parametrize("slug", ["", "a", "-ab", "ab-", "a--b", "A1", "a_b", "a/b", "a.b", "é1", "x" * 65, "status"])
def test_rules_and_schema_agree_on_what_no_slug_is(slug):
    assert not gated_words.is_slug(slug)
    assert invalid({**example(), "feature": slug})
