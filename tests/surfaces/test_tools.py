"""The tools that agents call: exact fields, the convention's values, and every mistake of a call at once."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import HoldfastError, NotFound, Refused, UsageError
from holdfast.surfaces import tools
from holdfast.surfaces.tools.remedies import in_tools
from tests.systems.story.writing import PASS, REPORT
from tests.workbench import Bench

EXAMPLES: dict[str, Any] = json.loads((Path(__file__).parents[1] / "systems/story/data/tools.json").read_text())
SESSION = "work-on-chapter-02"
BLUEPRINT = "acts/act-1/chapters/chapter-02/scenes/scene-0204-blueprint.md"
OUTPUTS = ("exploration_results", "scenarios", "path_plan", "detailed_plans", "integration_analysis")
FAIL = {"status": "FAIL", "violations": [{"check": "word_count", "severity": "error", "message": "too short"}]}
PLAIN = {"name": "plain", "step": [{"id": "one"}, {"id": "two", "approval": {"by": "relayed"}}, {"id": "three"}]}


class Desk:
    """A writer's project, and one run in it. Every call opens the project again, as another process would."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.id = ""
        bench.write(BLUEPRINT, "# Scene\n\n## Constraints\n\n- no rain\n")

    def call(self, name: str, *, kind: str = "agent", **arguments: Any) -> dict[str, Any]:
        return tools.call(self.bench.open(kind), name, arguments)

    def of(self, name: str, *, kind: str = "agent", **arguments: Any) -> dict[str, Any]:
        """A tool called with the run's own id."""
        return self.call(name, kind=kind, workflow_id=self.id, **arguments)

    def refused(self, name: str, *, kind: str = "agent", **arguments: Any) -> HoldfastError:
        with pytest.raises(HoldfastError) as caught:
            self.of(name, kind=kind, **arguments)
        return caught.value

    def start(self, workflow: str = "generation", **how: Any) -> Desk:
        how = how or {"subject": "0204", "session_name": SESSION}
        self.id = self.call("start_workflow", workflow=workflow, **how)["workflow_id"]
        return self

    def file(self, name: str, text: str = "words\n") -> str:
        """A file of the run; its path from the top of the project."""
        path = f"workspace/sessions/{SESSION}/generation-runs/{self.id}/{name}"
        self.bench.write(path, text)
        return path

    def hand_in(self, step: Any, **files: str) -> dict[str, Any]:
        artifacts = {name: str(self.bench.root / self.file(f"{name}.md", text)) for name, text in files.items()}
        return self.of("update_workflow_state", step=step, status="completed", artifacts=artifacts)

    def waiting(self) -> Desk:
        """Step 3 waits for a person."""
        self.start()
        self.hand_in(1)
        self.hand_in(2, constraints_list="[]")
        self.hand_in(3, verification_plan="a plan")
        return self

    def approved(self) -> Desk:
        self.waiting().of("approve_step", step=3, approved=True)
        return self

    def status(self) -> tuple[str, int]:
        said = self.of("get_workflow_status")
        return said["status"], said["current_step"]

    def document(self) -> dict[str, Any]:
        return json.loads(json.dumps(self.bench.open().workflow(self.id).document()))

    def planning(self) -> Desk:
        self.start("story/planning", context={"level": "act", "act": 1})
        self.bench.write("acts/act-1/strategic-plan.md", "the plan\n")
        self.hand_in(1, exploration_results="found")
        self.hand_in(2, scenarios="A or B")
        return self


@pytest.fixture
def desk(tmp_path) -> Desk:
    made = Desk(Bench(tmp_path / "novel"))
    made.bench.ok("session", "create", SESSION)
    return made


def wanted(tool: str, desk: Desk) -> dict[str, Any]:
    """What the convention shows, with the id of the run in it."""
    text = json.dumps(EXAMPLES[tool]["output"]).replace("generation-scene-0204-20251110-143000", desk.id)
    return json.loads(text)


def given(tool: str) -> dict[str, Any]:
    """What the convention's example passes besides the id."""
    return {name: value for name, value in EXAMPLES[tool]["input"].items() if name != "workflow_id"}


def test_the_tools_begin_with_the_eight_of_the_convention():
    assert list(tools.TOOLS)[:9] == [*EXAMPLES, "start_workflow"]
    for name, example in EXAMPLES.items():
        assert set(example["input"]) <= {field.name for field in tools.TOOLS[name].inputs}


def test_the_status_of_a_run_that_waits_is_the_conventions(desk):
    found = desk.waiting().of("get_workflow_status")
    expected = wanted("get_workflow_status", desk) | {"workflow_id": desk.id}
    path = found["artifacts"].pop("verification_plan")
    assert re.fullmatch(r"workspace/.+/verification_plan\.md", path)
    assert expected["artifacts"].pop("verification_plan")
    assert list(found)[: len(expected)] == list(expected)
    assert expected.items() <= found.items()


def test_the_next_step_of_a_run_that_waits_is_the_conventions(desk):
    found, expected = desk.waiting().of("get_next_step"), wanted("get_next_step", desk)
    assert list(found)[: len(expected)] == list(expected)
    assert expected.items() <= found.items()
    assert found["turn"] == "person"
    assert [one["command"].split()[1] for one in found["for_person"]] == ["approve"]


def test_a_run_that_waits_is_listed_as_in_the_convention(desk):
    desk.waiting()
    found = desk.call("list_workflows", **EXAMPLES["list_workflows"]["input"])
    rows = [{name: value for name, value in row.items() if name != "finished_percentage"} for row in found["workflows"]]
    assert {**found, "workflows": rows} == wanted("list_workflows", desk)
    assert [row["finished_percentage"] for row in found["workflows"]] == [28]


def test_the_approval_of_the_convention_and_the_prerequisites_after_it(desk):
    desk.waiting()
    before = desk.of("validate_prerequisites", step=4)
    assert before["prerequisites_met"] is False
    assert (before["required_steps"], before["completed_steps"], before["missing_steps"]) == ([1, 2, 3], [1, 2], [3])
    assert before["can_start_step"] is False
    assert before["blocking_issues"]
    assert desk.of("approve_step", **given("approve_step")) == wanted("approve_step", desk)
    assert desk.of("validate_prerequisites", **given("validate_prerequisites")) == wanted(
        "validate_prerequisites", desk
    )


def test_moving_a_step_answers_as_in_the_convention(desk):
    desk.approved()
    draft = {"draft": str(desk.bench.root / desk.file("scene-0204-draft.md"))}
    found = desk.of("update_workflow_state", step=4, status="in_progress", artifacts=draft)
    at = found.pop("updated_at")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", at)
    assert found == {"success": True, "workflow_id": desk.id}
    assert desk.of("get_workflow_status")["artifacts"] == {"draft": desk.file("scene-0204-draft.md")}
    assert desk.status() == ("in_progress", 4)


def test_paths_of_outputs_are_taken_from_the_top_of_the_project_wherever_the_process_stands(
    desk, tmp_path, monkeypatch
):
    desk.approved()
    monkeypatch.chdir(tmp_path)
    path = desk.file("draft.md")
    desk.of("update_workflow_state", step=4, status="in_progress", artifacts={"draft": path})
    assert desk.of("get_workflow_status")["artifacts"] == {"draft": path}


def test_resuming_and_cancelling_answer_as_in_the_convention(desk):
    desk.approved()
    desk.hand_in(4, draft="d", compliance_echo="e")
    assert desk.of("cancel_workflow", **given("cancel_workflow")) == wanted("cancel_workflow", desk)
    assert desk.of("resume_workflow", **given("resume_workflow")) == wanted("resume_workflow", desk)
    assert desk.status() == ("in_progress", 4)


def test_a_start_answers_with_the_status(desk):
    found = desk.call("start_workflow", workflow="generation", subject="0204")
    assert re.fullmatch(r"generation-scene-0204-\d{8}-\d{6}", found.pop("workflow_id"))
    assert (
        found.items()
        >= {
            "workflow_type": "generation",
            "status": "in_progress",
            "current_step": 1,
            "current_step_name": "File Check",
            "waiting_for_approval": False,
            "progress_percentage": 14,
            "artifacts": {},
            "finished_percentage": 0,
        }.items()
    )


def test_a_scene_with_an_active_run_refuses_a_second_start_and_names_the_run(desk):
    desk.start()
    with pytest.raises(Refused) as refused:
        desk.call("start_workflow", workflow="generation", subject="0204", session_name=SESSION)
    assert refused.value.code == "already_active"
    assert refused.value.facts["workflow"] == desk.id
    desk.of("cancel_workflow")
    with pytest.raises(Refused) as cancelled:
        desk.call("start_workflow", workflow="generation", subject="0204", session_name=SESSION)
    assert cancelled.value.code == "resume_or_fresh"
    assert f"holdfast resume -w {cancelled.value.facts['ulid']}" in cancelled.value.remedy
    fresh = desk.call("start_workflow", workflow="generation", subject="0204", session_name=SESSION, fresh=True)
    assert fresh["workflow_id"] != desk.id


def test_what_a_refused_start_suggests_keeps_what_the_start_said(desk):
    desk.start()
    said = {"workflow": "generation", "subject": "0204", "session_name": SESSION, "context": {"mood": "rain"}}
    with pytest.raises(Refused) as refused:
        desk.call("start_workflow", **said)
    go_on, fresh_start = in_tools(refused.value.remedies, desk.bench.open().scope()).split(" · or ")
    assert go_on == f'continue with it: get_next_step {{"workflow_id": "{desk.id}"}}'
    call = json.loads(fresh_start.removeprefix("give it up: start_workflow "))
    assert call == {**said, "fresh": True}
    assert desk.call("start_workflow", **call)["workflow_id"] != desk.id


def test_a_packet_names_calls_of_tools_and_keeps_what_people_said(desk):
    """A model that has no shell reads it; a long text of the work leaves room for what a person decided."""
    work = {"id": "two", "description": "Write it well. " * 130}
    long = {"name": "long", "step": [{"id": "one", "approval": {"by": "human"}}, work]}
    person = desk.bench.open("human").start(long, "s", reminders=[f"{n} " * 100 for n in range(20)])
    person.begin("one").done("one").approve("one", modifications={"tone": "Keep the rain out of the door."})
    desk.id = person.id
    desk.bench.open().workflow(desk.id).begin("two")
    text = desk.of("get_resume_packet")["text"]
    assert "Keep the rain out of the door." in text
    assert f'get_resume_packet {{"workflow_id": "{desk.id}", "limit": 50000}}' in text
    assert f'get_next_step {{"workflow_id": "{desk.id}"}}' in text
    assert "holdfast " not in text


def test_the_tools_are_imported_either_way():
    import holdfast.tools
    from holdfast import tools as same

    assert same is holdfast.tools
    assert holdfast.tools.call is tools.call


def test_a_fresh_start_that_is_refused_gives_nothing_up(desk):
    desk.bench.open().start(PLAIN, "one", key="K")
    first = desk.start().id
    with pytest.raises(HoldfastError):
        desk.bench.open().start("generation", "0204", session=SESSION, key="K", fresh=True)
    with pytest.raises(HoldfastError):
        desk.bench.open().start("generation", "0204", session=SESSION, title="x" * 501, fresh=True)
    assert desk.call("get_workflow_status", workflow_id=first)["status"] != "cancelled"


def test_fresh_gives_up_the_active_run_first(desk):
    first = desk.start().id
    desk.start(subject="0204", session_name=SESSION, fresh=True)
    assert desk.id != first
    assert desk.call("get_workflow_status", workflow_id=first)["status"] == "cancelled"


def test_runs_that_start_within_one_second_have_ids_of_their_own(desk):
    ids = [desk.start(subject="0204", fresh=True).id for _ in range(4)]
    assert len(set(ids)) == 4


@pytest.mark.parametrize(
    ("name", "arguments", "mistakes"),
    [
        ("get_workflow_status", {}, ["workflow_id is missing"]),
        ("get_workflow_status", {"workflow_id": ""}, ["workflow_id must be text of 1 to 200 characters"]),
        ("get_workflow_status", {"workflow_id": "x" * 201}, ["workflow_id must be text of 1 to 200 characters"]),
        ("get_workflow_status", {"workflow_id": 7}, ["workflow_id must be text of 1 to 200 characters"]),
        ("get_workflow_status", {"workflow_id": None}, ["workflow_id is missing"]),
        ("get_next_step", {"workflow_id": "x", "step": 4}, ["unknown field 'step'"]),
        ("cancel_workflow", {"workflow_id": "x", "reason": "r" * 501}, ["reason must be text of 1 to 500 characters"]),
        ("validate_prerequisites", {"workflow_id": "x"}, ["step is missing"]),
        (
            "validate_prerequisites",
            {"workflow_id": "x", "step": 0},
            ["step must be the number of a step, from 1, or its id"],
        ),
        (
            "validate_prerequisites",
            {"workflow_id": "x", "phase": True},
            ["step must be the number of a step, from 1, or its id"],
        ),
        ("approve_step", {"workflow_id": "x", "step": 3}, ["approved is missing"]),
        (
            "approve_step",
            {"workflow_id": "x", "step": 3, "approved": "yes", "modifications": ["tone"]},
            ["approved must be true or false", "modifications must be an object"],
        ),
        (
            "update_workflow_state",
            {"workflow_id": "", "step": 1.5, "status": "finished", "artifacts": [], "note": ""},
            [
                "unknown field 'note'",
                "workflow_id must be text of 1 to 200 characters",
                "step must be the number of a step, from 1, or its id",
                "status is one of in_progress, waiting_approval, completed, failed",
                "artifacts must be an object",
            ],
        ),
        (
            "list_workflows",
            {"status": 7, "type": "x"},
            ["unknown field 'type'", "status must be text of 1 to 64 characters"],
        ),
        ("start_workflow", {"subject": "0204", "fresh": 1}, ["workflow is missing", "fresh must be true or false"]),
    ],
)  # fmt: skip
def test_every_mistake_of_a_call_is_named_at_once(desk, name, arguments, mistakes):
    with pytest.raises(UsageError) as refused:
        desk.call(name, **arguments)
    assert refused.value.code == "bad_arguments"
    assert refused.value.facts["mistakes"] == mistakes
    for mistake in mistakes:
        assert mistake in refused.value.message


@pytest.mark.parametrize("path", [7, None, ["draft.md"], {}, ""])
def test_an_output_that_is_no_path_is_refused(desk, path):
    refusal = desk.approved().refused("update_workflow_state", step=4, status="in_progress", artifacts={"draft": path})
    assert refusal.code == "bad_arguments"


@pytest.mark.parametrize("path", ["/etc/passwd", "../outside.md"])
def test_an_output_outside_of_the_project_is_refused(desk, path):
    refusal = desk.approved().refused("update_workflow_state", step=4, artifacts={"draft": path})
    assert refusal.code == "outside_root"


def test_the_longest_values_that_are_allowed_are_taken(desk):
    desk.start()
    with pytest.raises(NotFound):
        desk.call("get_workflow_status", workflow_id="x" * 200)
    assert desk.of("cancel_workflow", reason="r" * 500)["success"] is True


def test_an_unknown_tool_names_the_nearest(desk):
    with pytest.raises(UsageError) as refused:
        desk.call("get_next_steps")
    assert (refused.value.code, "get_next_step?" in refused.value.message) == ("no_tool", True)


def test_an_unknown_run_or_step_is_not_found(desk):
    desk.start()
    with pytest.raises(NotFound) as run:
        desk.call("get_workflow_status", workflow_id="generation-scene-0999-20251110-143000")
    assert run.value.code == "no_workflow"
    assert desk.refused("validate_prerequisites", step=8).code == "no_step"
    assert desk.refused("validate_prerequisites", step="epilogue").code == "no_step"


@pytest.mark.parametrize("step", [4, "4", "generation"])
def test_a_step_goes_by_its_number_or_its_id_and_phase_means_the_same(desk, step):
    desk.approved()
    by_step = desk.of("validate_prerequisites", step=step)
    assert by_step == desk.of("validate_prerequisites", phase=step) == wanted("validate_prerequisites", desk)
    assert desk.refused("validate_prerequisites", step=step, phase=step).code == "bad_arguments"


def test_progress_follows_the_first_step_that_is_not_done_and_is_whole_only_at_the_end(desk):
    desk.start()
    seen = []
    files: list[dict[str, str]] = [
        {},
        {"constraints_list": "[]"},
        {"verification_plan": "p"},
        {"draft": "d", "compliance_echo": "e"},
        {"fast_compliance_result": json.dumps(PASS)},
        {"final_validation_report": json.dumps(REPORT)},
        {"final_report": "r", "scene_content": "s"},
    ]
    for number, outputs in enumerate(files, 1):
        seen.append(desk.of("get_workflow_status")["progress_percentage"])
        desk.hand_in(number, **outputs)
        if number == 3:
            desk.of("approve_step", step=3, approved=True)
    assert seen == [14, 28, 42, 57, 71, 85, 99]
    last = desk.of("get_workflow_status")
    assert (last["status"], last["progress_percentage"], last["current_step"]) == ("completed", 100, 7)
    assert set(last["artifacts"]) == {"final_report", "scene_content"}
    assert desk.of("get_next_step") == {
        "can_proceed": False,
        "current_step": 7,
        "current_step_name": "Final Output",
        "current_status": "completed",
        "blocking_reason": None,
        "required_action": None,
        "next_step": None,
        "next_step_name": None,
        "prerequisites_met": True,
    }


@pytest.mark.parametrize(("step", "before"), [(1, []), (2, [1]), (4, [1, 2, 3]), (7, [1, 2, 3, 4, 5, 6])])
def test_required_steps_are_all_that_must_come_first(desk, step, before):
    found = desk.start().of("validate_prerequisites", step=step)
    assert (found["required_steps"], found["missing_steps"], found["completed_steps"]) == (before, before, [])
    assert found["can_start_step"] is (step == 1)


def test_a_blank_that_is_not_filled_in_is_refused_with_what_to_give(desk):
    given = {"step": 1, "status": "completed", "artifacts": {"text": "PATH"}}
    refused = desk.start().refused("update_workflow_state", **given)
    assert "artifacts is not filled in: PATH is a blank: give the file you wrote" in refused.message


def test_a_step_cannot_be_skipped_by_updating_a_later_one(desk):
    assert desk.start().refused("update_workflow_state", step=4, status="in_progress").code == "step_blocked"
    assert desk.refused("approve_step", step=3, approved=True).code == "wrong_status"
    assert desk.status() == ("in_progress", 1)


def test_completing_a_step_that_waits_does_not_approve_it(desk):
    assert desk.waiting().refused("update_workflow_state", step=3, status="completed").code == "gate_unmet"
    assert desk.of("get_workflow_status")["waiting_for_approval"] is True


def test_saying_that_a_step_waits_which_nobody_approves_does_not_complete_it(desk):
    desk.start()
    refusal = desk.refused("update_workflow_state", step=1, status="waiting_approval")
    assert refusal.remedy
    assert desk.status() == ("in_progress", 1)


@pytest.mark.parametrize("step", [2, 3])
def test_a_step_that_is_done_or_waits_is_not_said_to_be_in_progress(desk, step):
    """An answer of success would be untrue: nothing was moved."""
    refusal = desk.waiting().refused("update_workflow_state", step=step, status="in_progress")
    assert refusal.code == "wrong_status"


def test_a_step_that_fails_is_tried_again_until_its_tries_are_used_up(desk):
    desk.approved()
    for left in (2, 1):
        desk.of("update_workflow_state", step=4, status="failed", reason="no idea")
        assert desk.status() == ("in_progress", 4), left
    desk.of("update_workflow_state", step=4, status="failed", reason="no idea")
    assert desk.status() == ("failed", 4)
    assert desk.refused("resume_workflow", from_step=4).code == "person_needed"
    assert desk.of("resume_workflow", kind="human", from_step=4)["current_status"] == "in_progress"


def test_a_result_that_says_fail_sends_the_run_back_to_step_four(desk):
    desk.approved()
    desk.hand_in(4, draft="d", compliance_echo="e")
    desk.hand_in(5, fast_compliance_result=json.dumps(FAIL))
    found = desk.of("get_next_step")
    assert (found["current_step"], found["current_status"], found["next_step"]) == (4, "in_progress", 5)


def test_no_with_changes_sends_a_plan_back_with_them(desk):
    found = desk.waiting().of("approve_step", step=3, approved=False, modifications={"tone": "dry"})
    assert (found["success"], found["step"], found["status"], found["next_step"]) == (True, 3, "in_progress", 4)
    assert desk.status() == ("in_progress", 3)
    assert desk.document()["generation"]["steps"][2]["human_approval"]["modifications"] == {"tone": "dry"}


def test_no_with_feedback_sends_a_plan_back_with_it(desk):
    assert desk.waiting().of("approve_step", step=3, approved=False, feedback="drier")["status"] == "in_progress"
    assert desk.bench.open().workflow(desk.id).next()["feedback"] == ["drier"]


def test_a_bare_no_fails_a_generation_which_can_be_resumed(desk):
    assert desk.waiting().of("approve_step", step=3, approved=False)["status"] == "failed"
    assert desk.status() == ("failed", 3)
    assert desk.call("list_workflows", status="failed")["total"] == 1
    assert desk.of("get_next_step")["can_proceed"] is False
    assert desk.of("resume_workflow") == {
        "success": True,
        "workflow_id": desk.id,
        "resumed_from_step": 3,
        "current_status": "in_progress",
    }


@pytest.mark.parametrize("changes", [{}, {"modifications": {"stakes": "higher"}}])
@pytest.mark.parametrize("phase", [2, 5])
def test_any_no_in_planning_sends_the_phase_back(desk, phase, changes):
    desk.planning()
    if phase == 5:
        desk.of("approve_step", step=2, approved=True, selected_variant="A")
        for number in (3, 4, 5):
            desk.hand_in(number, **{OUTPUTS[number - 1]: "text"})
    found = desk.of("approve_step", phase=phase, approved=False, **changes)
    assert (found["step"], found["status"]) == (phase, "in_progress")
    assert desk.status() == ("in_progress", phase)
    said = desk.document()["planning"]["phases"][phase - 1]
    if changes:
        assert said["human_approval"]["modifications"] == changes["modifications"]
    desk.bench.write("acts/act-1/strategic-plan.md", "a better plan\n")
    desk.hand_in(phase, **{OUTPUTS[phase - 1]: "better"})
    assert desk.of("get_workflow_status")["waiting_for_approval"] is True


def test_a_planning_run_through_the_tools(desk):
    desk.planning()
    assert (
        desk.of("get_next_step").items()
        >= {
            "can_proceed": False,
            "current_step": 2,
            "current_step_name": "Scenarios",
            "current_status": "waiting_approval",
            "blocking_reason": "Human choice required for scenarios",
            "required_action": "User must select a variant of scenarios",
            "next_step": 3,
            "next_step_name": "Path Planning",
            "prerequisites_met": False,
        }.items()
    )
    refusal = desk.refused("approve_step", step=2, approved=True)
    assert refusal.code == "bad_variant"
    assert [one.command for one in refusal.remedies if one.who == "person"] == ["approve"]
    found = desk.of("approve_step", phase=2, approved=True, selected_variant="A")
    assert (found["status"], found["next_step"], found["next_step_name"]) == ("completed", 3, "Path Planning")
    for number in (3, 4, 5):
        desk.hand_in(number, **{OUTPUTS[number - 1]: "text"})
    assert desk.of("get_workflow_status")["waiting_for_approval"] is True
    last = desk.of("approve_step", phase="integration", approved=True)
    assert (last["status"], last["next_step"], last["next_step_name"]) == ("completed", None, None)
    assert desk.status() == ("completed", 5)


@pytest.mark.parametrize("variant", ["", "a b", "../x", "x" * 65, 7])
def test_a_variant_that_is_no_name_is_refused(desk, variant):
    refusal = desk.planning().refused("approve_step", step=2, approved=True, selected_variant=variant)
    assert refusal.code in ("bad_arguments", "bad_variant")


def test_lists_can_be_asked_for_what_waits(desk):
    desk.waiting()
    waits = desk.id
    desk.start("story/planning", context={"level": "act", "act": 1})
    listed = desk.call("list_workflows", status="waiting_approval")
    assert [one["workflow_id"] for one in listed["workflows"]] == [waits]
    assert [one["status"] for one in listed["workflows"]] == ["in_progress"]
    assert desk.call("list_workflows")["total"] == 2
    assert desk.call("list_workflows", workflow_type="planning")["workflows"][0]["workflow_id"] == desk.id
    assert desk.call("list_workflows", session_name="nowhere") == {"workflows": [], "total": 0}
    assert desk.call("list_workflows", status="completed") == {"workflows": [], "total": 0}


def test_a_cancelled_run_keeps_its_files_and_releases_its_leases(desk):
    desk.waiting()
    files = sorted((desk.bench.root / "workspace").rglob("*.md"))
    desk.bench.open().workflow(desk.id).start_agent("verification-planner")
    assert desk.of("cancel_workflow")["cleanup_performed"] is True
    assert sorted((desk.bench.root / "workspace").rglob("*.md")) == files
    assert desk.bench.open().workflow(desk.id).state.leases == {}
    assert desk.document()["status"] == "cancelled"
    found = desk.of("get_next_step")
    assert (found["can_proceed"], found["required_action"]) == (
        False,
        f'if it is to continue after all: resume_workflow {{"workflow_id": "{desk.id}"}}',
    )
    assert desk.of("validate_prerequisites", step=3)["can_start_step"] is False
    assert desk.refused("approve_step", step=3, approved=True).code == "cancelled"
    assert desk.of("resume_workflow")["resumed_from_step"] == 3
    assert desk.of("get_workflow_status")["waiting_for_approval"] is True


def test_resuming_from_a_step_that_is_done_opens_it_again(desk):
    desk.approved()
    desk.hand_in(4, draft="d", compliance_echo="e")
    assert desk.refused("resume_workflow", from_step=3).code == "nothing_to_resume"
    desk.of("cancel_workflow", reason="the plan was wrong")
    found = desk.of("resume_workflow", from_step=3)
    assert found["resumed_from_step"] == 3
    assert desk.status() == ("in_progress", 3)
    assert desk.of("validate_prerequisites", step=4)["missing_steps"] == [3]


def test_an_approval_lapses_when_the_plan_changes_after_it(desk):
    desk.approved()
    desk.file("verification_plan.md", "another plan")
    found = desk.of("validate_prerequisites", step=4)
    assert (found["prerequisites_met"], found["missing_steps"], found["can_start_step"]) == (False, [3], False)
    assert desk.refused("update_workflow_state", step=4, status="in_progress").code == "step_blocked"


def test_the_same_tools_work_on_a_workflow_of_another_dialect(desk):
    desk.id = desk.bench.open().start(PLAIN, "a bridge").id
    assert desk.of("get_workflow_status")["current_step_name"] == "one"
    desk.of("update_workflow_state", step="one", status="completed")
    desk.of("update_workflow_state", step="two", status="completed")
    found = desk.of("get_next_step")
    assert found["blocking_reason"] == "Human approval required for two"
    assert (found["current_status"], found["next_step"], found["can_proceed"]) == ("waiting_approval", 3, False)
    assert desk.call("list_workflows", status="waiting_approval")["total"] == 1
    assert desk.of("approve_step", step=2, approved=True)["next_step_name"] == "three"
    assert desk.of("validate_prerequisites", step=3)["required_steps"] == [1, 2]
    assert desk.of("cancel_workflow", reason="no river")["success"] is True
    assert desk.of("resume_workflow")["resumed_from_step"] == 3
    desk.of("update_workflow_state", step=3, status="completed")
    assert desk.of("get_workflow_status")["status"] == "completed"
