"""The orchestrator dialect: agent-state.json as others write it, as it is adopted, and as the schema describes it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]

from holdfast.core import lifecycle
from holdfast.core.facts import Facts
from holdfast.core.state import State
from holdfast.documents.lens.mapping import put
from holdfast.errors import NotFound, UsageError
from holdfast.systems.orchestrator.document import DIALECT, DOCUMENT
from holdfast.systems.orchestrator.rules import supervision
from holdfast.upkeep import schemas
from tests.orchestrated import DATA, example, invalid, plain

NOW = "2026-01-15T12:40:00.000Z"
DOLLAR = 1_000_000


def adopted(document: dict[str, Any]) -> State:
    return DIALECT.adopt(document, None, Facts(now=NOW), "0" * 26)


def written(state: State) -> dict[str, Any]:
    return plain(put(DOCUMENT, state.base, state))


class TestTheExampleOfTheConvention:
    def test_writing_it_back_gives_the_same_value_in_the_same_order(self):
        state = adopted(example())
        for revision in (0, 1):
            assert json.dumps(written(state.replace(revision=revision))) == json.dumps(example())

    def test_the_first_command_adopts_it_and_it_says_the_same_afterwards(self, bench, found):
        path = found()
        status = json.loads(bench.ok("status", "--json").out)
        assert status["workflow_id"] == "orchestrate-20260115-120000"
        assert json.loads(path.read_bytes()) == example()

    def test_the_state_says_what_it_says(self):
        state = adopted(example())
        assert {path: state.step(path).status for path in state.plan.of_kind("task")} == {
            "phase-1/1.1": lifecycle.DONE,
            "phase-1/1.2": lifecycle.DONE,
            "phase-2/2.1": lifecycle.ACTIVE,
            "phase-2/2.2": lifecycle.PENDING,
            "phase-3/3.1": lifecycle.PENDING,
        }
        done = state.step("phase-1/1.2")
        assert (done.attempt, done.spent, done.finished_at) == (3, 550_000, "2026-01-15T12:28:00Z")
        assert all(evidence.passed for evidence in done.evidence.values())
        assert set(done.evidence) == set(example()["completed_tasks"][1]["success_criteria_met"])
        assert (state.spent, state.bounds.max_cost, state.bounds.max_time) == (750_000, 10 * DOLLAR, 7200)
        assert state.bounds.max_iterations == 30
        assert supervision(state).interventions[0] == {
            "at": "2026-01-15T12:15:00Z",
            "check_type": "pre_task",
            "task": "1.2",
            "conflict_type": "architecture",
            "severity": "high",
            "action": "re_plan",
            "resolution": "Updated plan to use existing auth module",
        }
        counters = (supervision(state).checks, supervision(state).conflicts, supervision(state).auto_fixes)
        assert (*counters, supervision(state).re_plans) == (15, 3, 7, 2)
        assert [learned.type for learned in state.learnings] == ["pattern", "antipattern"]
        assert [(taken.number, taken.head) for taken in state.snapshots] == [(1, "abc123def456"), (2, "def456ghi789")]
        assert [(lease.role, lease.step) for lease in state.leases.values()] == [("task-executor", "phase-2/2.1")]
        assert state.step("phase-1").data == {"issue_url": "https://github.com/user/repo/issues/123"}
        assert state.plan.step("phase-1").name == "Foundation"

    def test_a_checkpoint_is_restored_by_the_number_that_is_shown(self, bench, found):
        then = example()
        then["pending_tasks"].insert(0, {"phase": 1, "task": "1.2", "name": "Implement JWT authentication"})
        del then["completed_tasks"][1]
        found()
        bench.write(".claude/checkpoint-001.json", json.dumps(then))
        bench.open("human").workflow().restore(1)
        state = bench.open().workflow().state
        assert [state.step(f"phase-1/{task}").status for task in ("1.1", "1.2")] == ["done", "pending"]
        with pytest.raises(NotFound):  # its copy is not there
            bench.open("human").workflow().restore(2)

    def test_that_it_counts_its_phases_from_one_is_said(self):
        assert [alert.code for alert in adopted(example()).alerts] == ["counted_from_one"]

    def test_once_something_happens_phases_are_counted_from_zero_and_nothing_is_lost(self, bench, found):
        path = found()
        bench.open().workflow().learn("tests first", step="2.1")
        document = json.loads(path.read_bytes())
        was = example()
        assert document["orchestrator"]["current_phase"] == 1
        assert [task["phase"] for task in document["pending_tasks"]] == [1, 1, 2]
        assert document["milestones"] == [{**was["milestones"][0], "phase": 0}]
        assert document["checkpoints"] == [{**taken, "phase": 0} for taken in was["checkpoints"]]
        assert document["learnings"][:-1] == was["learnings"]
        for part in ("supervisor", "active_agents", "completed_tasks"):
            assert document[part] == was[part], part
        assert invalid(document) == []

    def test_the_time_it_took_goes_on_from_what_it_says(self, bench, found):
        path = found()
        bench.open().workflow().note("still at it")
        assert json.loads(path.read_bytes())["safety_bounds"]["elapsed_time"].startswith("0h 34m ")

    def test_agents_in_it_may_be_gone_so_another_can_take_the_task(self, bench, found):
        found()
        workflow = bench.open().workflow()
        assert workflow.start_agent("task-executor", "2.1").startswith("2-")

    @pytest.mark.parametrize("status", ["completed", "failed"])
    def test_one_that_is_over_is_over(self, status):
        document = example()
        document["orchestrator"].update(status=status, end_time="2026-01-15T13:00:00Z")
        state = adopted(document)
        assert bool(state.finished_at) == (status == "completed")
        assert bool(state.cancelled) == (status == "failed")
        assert state.step("phase-1/1.2").attempt == 3
        assert written(state) == document


class TestADocumentOfOurOwn:
    """One that Holdfast wrote and whose journal is gone."""

    @pytest.fixture
    def document(self, executing):
        executing.finish("1.1", "1.2")
        executing.look().record({"issue_url": "https://example.com/issues/1"}, "phase-1")
        return executing.document

    def test_it_counts_from_zero_and_keeps_its_milestones(self, document):
        state = adopted(document)
        assert state.alerts == ()
        assert state.plan.step("phase-1").name == "Foundation"
        later = written(state.replace(revision=2))
        assert later["milestones"] == document["milestones"]
        assert later["checkpoints"] == document["checkpoints"]
        assert later["pending_tasks"] == document["pending_tasks"]
        assert later["orchestrator"]["current_phase"] == 1

    def test_a_finished_one_keeps_what_its_tasks_took(self, document):
        document["orchestrator"].update(status="completed", current_phase=1)
        document["completed_tasks"][0]["iterations"] = 4
        document["pending_tasks"] = []
        later = written(adopted(document).replace(revision=2))
        assert later["completed_tasks"] == document["completed_tasks"]


def test_interventions_that_are_no_list_are_none():
    said = {**example(), "supervisor": {**example()["supervisor"], "interventions": True}}
    assert list(supervision(adopted(said)).interventions) == []


def test_the_old_format_is_recognised_and_answered_with_what_to_do(bench):
    path = bench.write(".claude/agent-state.json", (DATA / "old-format.json").read_text())
    answer = bench.agent("adopt")
    assert answer.code != 0
    assert "older automated-workflow system" in answer.err
    assert "mv .claude/agent-state.json" in answer.err
    assert path.read_text() == (DATA / "old-format.json").read_text()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d["orchestrator"].update(status="nearly"),
        lambda d: d.update(orchestrator=[]),
        lambda d: d["completed_tasks"].append("1.3"),
        lambda d: d["completed_tasks"][0].update(task="../1"),
        lambda d: d["pending_tasks"][0].update(task="two.one"),
        lambda d: d["pending_tasks"][0].update(task="51.1"),
        lambda d: d["pending_tasks"].append(d["pending_tasks"][0]),
        lambda d: d["pending_tasks"][0].pop("task"),
        lambda d: d.update(learnings={}),
        lambda d: d.update(checkpoints=[1]),
    ],
)
def test_a_document_that_cannot_be_one_is_refused_and_stays(bench, found, spoil):
    document = example()
    spoil(document)
    with pytest.raises(UsageError) as refusal:
        adopted(document)
    assert (refusal.value.code, refusal.value.remedy) == ("not_a_workflow", "holdfast schema orchestrator")
    path = found(document)
    bench.agent("adopt")
    assert json.loads(path.read_bytes()) == document


class TestTheSchema:
    def test_it_is_draft_07_and_printed_by_its_command(self, bench):
        schema = json.loads(bench.ok("schema", "orchestrator").out)
        assert schema == schemas.schema("orchestrator")
        assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
        Draft7Validator.check_schema(schema)

    def test_the_example_is_valid(self):
        assert invalid(example()) == []

    def test_every_field_of_the_example_is_described_and_required(self):
        def compare(value: Any, schema: dict[str, Any], at: str) -> None:
            if isinstance(value, dict) and "properties" in schema:
                assert set(value) <= set(schema["properties"]), at
                assert set(value) == set(schema["required"]), at
                for name, inner in value.items():
                    compare(inner, schema["properties"][name], f"{at}.{name}")
            elif isinstance(value, list):
                for inner in value:
                    compare(inner, schema["items"], f"{at}[]")

        compare(example(), schemas.schema("orchestrator"), "")

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda d: d["orchestrator"].update(status="nearly"),
            lambda d: d["orchestrator"].update(current_task="third"),
            lambda d: d["orchestrator"].update(current_phase=-1),
            lambda d: d["orchestrator"].update(outer_ralph="no"),
            lambda d: d["orchestrator"].update(start_time="yesterday"),
            lambda d: d["orchestrator"].update(pause={"status": "lazy", "reason": "why not"}),
            lambda d: d["supervisor"].pop("last_check"),
            lambda d: d["supervisor"]["interventions"][0].update(check_type="mid_task"),
            lambda d: d["supervisor"]["interventions"][0].update(conflict_type="taste"),
            lambda d: d["supervisor"]["interventions"][0].update(severity="middling"),
            lambda d: d["supervisor"]["interventions"][0].update(action="ignore"),
            lambda d: d["active_agents"][0].update(status="gone"),
            lambda d: d["active_agents"][0].update(type="rm -rf"),
            lambda d: d["completed_tasks"][0].update(cost="free"),
            lambda d: d["completed_tasks"][0]["success_criteria_met"].update(tests="yes"),
            lambda d: d["completed_tasks"][0].update(task="one"),
            lambda d: d["pending_tasks"][0].pop("phase"),
            lambda d: d["safety_bounds"].update(max_time="long"),
            lambda d: d["safety_bounds"].update(elapsed_time="34 minutes"),
            lambda d: d["learnings"][0].update(type="hunch"),
            lambda d: d["milestones"][0].update(issue_url="javascript:alert(1)"),
            lambda d: d["checkpoints"][0].update(state_snapshot="../checkpoint-001.json"),
            lambda d: d.pop("checkpoints"),
        ],
    )
    def test_what_the_convention_does_not_have_it_does_not_allow(self, spoil):
        document = example()
        spoil(document)
        assert invalid(document)
