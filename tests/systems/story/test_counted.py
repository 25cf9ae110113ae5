"""What a run took, how it ended, and what the list of runs says of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.systems.story.writing import BLUEPRINT, CONSTRAINED, PASS, REPORT, Writer, failing


@pytest.fixture
def writer(tmp_path) -> Writer:
    return Writer(tmp_path / "novel")


def metrics(writer: Writer) -> dict[str, Any]:
    return writer.ok("metrics", "-w", writer.id, "--json").json


def test_metrics_have_the_convention_s_wrapper_and_the_other_figures_beside_it(writer):
    writer.begin_scene().until(3)
    found = metrics(writer)
    names = ("workflow_id", "total_time_seconds", "step_times", "retry_count", "human_approval_time_seconds")
    assert list(found["workflow_metrics"]) == [*names, "agent_calls", "parallel_executions"]
    assert found["workflow_metrics"]["step_times"][0].keys() == {"step", "duration_seconds"}
    assert not found.keys() & set(names)
    assert found["revisions"] > 1


def test_the_validators_of_a_report_are_counted(writer):
    writer.begin_scene().until(7)
    found = metrics(writer)["workflow_metrics"]
    assert (found["agent_calls"], found["parallel_executions"]) == (7, 7)


def test_validators_that_held_a_lease_are_counted_once(writer):
    writer.begin_scene().until(6)
    workflow = writer.open().workflow(writer.id)
    workflow.begin("6")
    tokens = [workflow.start_agent(f"validator-{number}", "6") for number in (1, 2, 3)]
    for token in tokens:
        workflow.end_agent(token)
    writer.handed_in(6, REPORT)
    found = metrics(writer)["workflow_metrics"]
    assert (found["agent_calls"], found["parallel_executions"]) == (7, 7)


def test_the_validators_of_a_report_that_fails_are_counted_too(writer):
    results = [*REPORT["results"][:2], {"validator": "names", "status": "FAIL"}]
    counts = {"validators_run": 3, "validators_passed": 2, "results": results}
    writer.begin_scene().until(6)
    writer.handed_in(6, {**REPORT, **counts, "overall_status": "FAIL", "blocking_issues": ["two names"]})
    assert metrics(writer)["workflow_metrics"]["agent_calls"] == 3


def test_a_cancelled_run_keeps_its_reason(writer):
    writer.begin_scene().until(2)
    writer.tool("cancel_workflow", reason="the chapter is cut")
    path = f"workspace/workflow-state/{writer.id}.json"
    document = json.loads(writer.read(path))
    assert document["cancelled_reason"] == "the chapter is cut"
    assert document["cancelled_at"] >= document["created_at"]
    assert writer.tool("get_workflow_status")["cancelled"]["reason"] == "the chapter is cut"
    assert writer.ok("status", "-w", writer.id, "--json").json["cancelled"]["reason"] == "the chapter is cut"
    elsewhere = Writer(writer.root.parent / "copy")
    elsewhere.write(path, json.dumps(document))
    elsewhere.ok("adopt", path)
    assert elsewhere.ok("status", "-w", writer.id, "--json").json["cancelled"]["reason"] == "the chapter is cut"
    writer.tool("resume_workflow")
    assert "cancelled_reason" not in json.loads(writer.read(path))


@pytest.mark.parametrize("session", ["", "one"])
def test_the_list_of_runs_says_what_was_written_last(writer, session):
    folder = f"workspace/sessions/{session}" if session else "workspace"
    if session:
        writer.ok("session", "create", session)
    writer.begin_scene(session)
    project = writer.open()
    workflow = project.workflow(writer.id)
    for step in ("1", "2"):
        workflow.begin(step)
        (listed,) = json.loads(writer.read(f"{folder}/workflow-state/index.json"))["workflows"]
        document = json.loads(writer.read(f"{folder}/workflow-state/{writer.id}.json"))
        assert (listed["updated_at"], listed["status"]) == (document["updated_at"], document["status"])
        workflow.done(step, writer.made(int(step)))


def used_up(writer: Writer) -> None:
    writer.begin_scene().until(4)
    for number in (1, 2, 3):
        writer.handed_in(4, f"It rained {number} times.\n")
        writer.handed_in(5, failing(f"it rains {number} times"))


def attempts(writer: Writer) -> tuple[int, int]:
    said = writer.open().workflow(writer.id).document()["generation"]["steps"][3]["attempts"]
    return said["current"], said["max"]


def test_a_person_who_resumes_gives_all_tries_again_and_the_document_counts_on(writer):
    writer.begin_scene()
    assert attempts(writer) == (0, 3)
    writer.until(4)
    for number in (1, 2, 3):
        writer.handed_in(4, f"It rained {number} times.\n")
        assert attempts(writer) == (number, 3)
        writer.handed_in(5, failing(f"it rains {number} times"))
    assert attempts(writer) == (3, 3)
    writer.tool("resume_workflow", kind="human", from_step=4)
    assert attempts(writer) == (4, 6)
    writer.handed_in(4, "It rained again.\n")
    writer.handed_in(5, failing())
    assert attempts(writer) == (5, 6)


def test_after_the_last_try_a_person_is_told_to_resume_the_step_that_has_to_change(writer):
    used_up(writer)
    found = writer.tool("get_next_step")
    assert found["for_person"] == [{"who": "person", "command": "holdfast resume --from generation"}]
    refusal = writer.refused("resume_workflow", from_step=4)
    assert (refusal.code, [one.arguments["step"] for one in refusal.remedies]) == ("person_needed", ["generation"])
    assert "holdfast resume --from generation" in writer.ok("next", "-w", writer.id).out
    writer.write(BLUEPRINT, CONSTRAINED)
    answer = writer.person("resume", "--from", "generation", "-w", writer.id, says="y")
    assert answer.code == 0, answer
    writer.handed_in(4, "Nothing fell that evening.\n")
    writer.handed_in(5, PASS)


def test_a_step_goes_by_its_number_in_python_too(writer):
    workflow = writer.begin_scene().open().workflow(writer.id)
    with workflow.step(1) as step:
        assert step.path == "file-check"
    with workflow.step(2) as step:
        step.artifact("constraints_list", writer.made(2)["constraints_list"])
    assert workflow.path(3) == "verification-plan"
