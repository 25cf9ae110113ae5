"""Documents in a clone: what their task documents, feature files and definitions ask for is asked again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.plan import Plan
from tests.losing import MIGRATION, forgotten
from tests.surfaces.cli.conftest import Answer
from tests.workbench import LOGIN, Bench

RUN = ".claude/agent-state.json"
TASKS = """# Task: Users

**Plan approval**: relayed

## Goal
Let users log in.

## Safety Bounds
**Maximum cost**: $1

## Phases

### Phase 1: Foundation

#### Task 1.1: Model
- [ ] Tests pass: `false`
- [ ] Documented

#### Task 1.2: Tokens
- [ ] Tokens expire

### Phase 2: Endpoints

#### Task 2.1: Create endpoints
- [ ] Endpoints there
"""


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(tmp_path / "project").begun()


def cloned(bench: Bench) -> Bench:
    """With its documents, at another place of this machine."""
    bench.git("add", "-Af", ".claude")
    bench.git("commit", "-qm", "the documents")
    bench.git("clone", "-q", ".", "../clone")
    return Bench(bench.root.parent / "clone")


def changed(bench: Bench, name: str, change: Any) -> None:
    document = json.loads(bench.read(name))
    change(document)
    bench.write(name, json.dumps(document))


def plan(bench: Bench) -> Plan:
    return bench.open().workflow().state.plan


def alerts(bench: Bench) -> list[str]:
    return [alert.message for alert in bench.open().workflow().state.alerts]


def confirmed(bench: Bench) -> Answer:
    return bench.person("approve", "--claimed", says="y")


@pytest.fixture
def run(bench) -> Bench:
    task = bench.write("docs/task.md", TASKS)
    bench.save("the task")
    bench.open().start("orchestrate", str(task))
    bench.ok("approve", "plan")
    return bench


def test_a_run_in_a_clone_has_the_title_the_criteria_and_the_bounds_of_its_task_document(run):
    before, clone = run.open().workflow().state, cloned(run)
    clone.ok("adopt")
    state = clone.open().workflow().state
    assert (state.title, state.bounds.max_cost, state.context["goal"]) == ("Users", 1_000_000, "Let users log in.")
    assert state.plan.steps == before.plan.steps
    assert Path(state.subject) == clone.root / "docs/task.md"
    assert alerts(clone) == []


def test_a_task_that_a_document_says_is_done_is_only_claimed_by_its_criteria(run):
    done = {"task": "1.1", "name": "Model", "completed": "2026-01-01T00:00:00Z"}
    clone = cloned(run)
    changed(clone, RUN, lambda document: document["completed_tasks"].append(done))
    changed(clone, RUN, lambda document: document["pending_tasks"].pop(0))
    assert [check.name for check in plan(clone).step("phase-1/1.1").checks] == ["tests_pass", "documented"]
    clone.agent("approve", "plan")
    refused = clone.agent("begin", "phase-2/2.1", "--json")
    assert refused.code == 3
    answer = confirmed(clone)
    for name in ("tests_pass", "documented"):
        assert f"phase-1/1.1: Holdfast did not see the check {name} pass" in answer.out


def test_a_task_that_a_document_leaves_out_comes_back_from_the_task_document(run):
    clone = cloned(run)
    changed(clone, RUN, lambda document: document["pending_tasks"].pop(1))
    assert "phase-1/1.2" in plan(clone)
    assert alerts(clone) == ["the document did not name 1.2: restored from the task document, still to be done"]


def test_a_run_that_a_document_says_is_over_is_not_where_tasks_are_left_out(run):
    clone = cloned(run)
    changed(clone, RUN, lambda document: document["orchestrator"].update(status="completed"))
    changed(clone, RUN, lambda document: document["pending_tasks"].clear())
    assert not clone.open().workflow().state.finished_at


def test_a_run_without_its_task_document_says_that_its_criteria_are_not_known(run):
    run.git("rm", "-q", "docs/task.md")
    clone = cloned(run)
    (said,) = alerts(clone)
    assert "docs/task.md asks for is not known here" in said
    assert "→ None" not in clone.ok("status").out


@pytest.fixture
def dev(bench) -> Bench:
    bench.start(subject=bench.saved_feature(LOGIN, "Add a form", "Check the password"))
    bench.git("switch", "-q", "main")
    return bench


def forged(bench: Bench, change: Any) -> None:
    clone_of = bench.git("ls-files", ".claude/workflow-state/active").splitlines()
    changed(bench, clone_of[0], change)


def test_tasks_come_back_from_the_feature_file(dev):
    clone = cloned(dev)
    forged(clone, lambda document: document.update(tasks=[]))
    found = plan(clone)
    assert [found.step(path).label for path in found.of_kind("task")] == ["Add a form", "Check the password"]
    assert [step.id for step in found.step("task_execution/1").steps] == ["red", "green", "refactor"]
    said = "the document did not name Add a form, Check the password: restored from the feature file, still to be done"
    assert said in alerts(clone)


@pytest.mark.parametrize("ticked", [False, True])
def test_tasks_that_are_done_without_their_test_phases_are_only_claimed(dev, ticked):
    if ticked:
        dev.feature(LOGIN, "x Add a form", "x Check the password")
        dev.save("ticked")
    clone = cloned(dev)

    def done(document: dict[str, Any]) -> None:
        for task in document["tasks"]:
            task["status"] = "completed"
            task.pop("tdd_phases", None)
        document["state_machine"]["current_phase"] = "verification"

    forged(clone, done)
    assert clone.ok("status", "--json").json["claimed"]
    assert clone.agent("done", "verification").code == 3
    assert "task_execution/1/red: Holdfast did not see the check test_fails pass" in confirmed(clone).out


def test_a_document_without_tasks_and_without_its_feature_file_says_so(dev):
    dev.git("rm", "-q", LOGIN)
    clone = cloned(dev)
    forged(clone, lambda document: document.update(tasks=[]))
    (said,) = alerts(clone)
    assert f"what {LOGIN} asks for is not known here" in said


def test_the_features_of_a_folder_come_back_with_their_tasks(bench):
    bench.feature("features/auth/a-login.md", "Add a form", title="Login")
    bench.saved_feature("features/auth/b-logout.md", "Add a button", title="Logout")
    bench.start(subject="features/auth")
    bench.git("switch", "-q", "main")
    before, clone = plan(bench), cloned(bench)
    clone.ok("adopt")
    assert plan(clone).paths == before.paths
    forged(clone, lambda document: document["state_machine"].update(current_phase="verification"))
    forgotten(clone.root)
    claimed = clone.ok("status", "--json").json["claimed"]
    assert len([text for text in claimed if "b-logout" in text]) == 3


UNKNOWN = {
    "skill": (
        ".claude/workflow-state/active/devx-1.json",
        {
            "_schema": {"version": "1.0", "skill": "devx"},
            "workflow": {"id": "devx-1", "status": "completed", "created_at": "2026-01-01T00:00:00Z"},
            "context": {},
            "state_machine": {"phases": [{"name": "build", "status": "completed"}]},
        },
    ),
    "story": (
        "workspace/workflow-state/draft-1.json",
        {
            "workflow_id": "draft-1",
            "workflow_type": "draft",
            "status": "completed",
            "created_at": "2026-01-01T00:00:00Z",
            "generation": {"scene_id": "0101", "steps": [{"step": 1, "name": "Write", "status": "completed"}]},
        },
    ),
    "compaction": (
        "untracked/workflow-state/move/state-move-20260101_000000.json",
        {
            "workflow": "Move",
            "workflow_type": "moving",
            "phase": {"current": 1, "total": 1, "name": "Copy", "status": "completed"},
            "required_reading": [],
            "created_at": "2026-01-01T00:00:00Z",
        },
    ),
}


@pytest.mark.parametrize("system", UNKNOWN)
def test_a_document_that_is_completed_by_an_unknown_definition_is_shown_as_claimed(bench, system):
    path, document = UNKNOWN[system]
    bench.write(path, json.dumps(document))
    bench.ok("adopt")
    (listed,) = bench.ok("list", "--all", "--json").json["workflows"]
    word = ("status", "-w", listed["workflow_id"], "--json")
    said = bench.ok(*word).json
    assert (said["status"], len(said["claimed"])) == ("claimed", 1)
    assert confirmed(bench).code == 0
    after = bench.ok(*word).json
    assert (after["status"], "claimed" in after) == ("completed", False)


def test_a_person_who_confirms_a_scene_is_told_which_outputs_and_results_are_missing(bench):
    bench.write("workspace/fast.json", json.dumps({"status": "FAIL"}))
    steps = [
        {"step": 1, "name": "File Check", "status": "completed"},
        {"step": 2, "name": "Blueprint Validation", "status": "completed"},
        {"step": 3, "name": "Verification Plan", "status": "completed", "human_approval": {"required": True}},
        {"step": 4, "name": "Generation", "status": "completed", "artifacts": {"draft": "workspace/draft.md"}},
        {
            "step": 5,
            "name": "Fast Compliance Check",
            "status": "completed",
            "artifacts": {"fast_compliance_result": "workspace/fast.json"},
        },
        {"step": 6, "name": "Full Validation", "status": "in_progress"},
    ]
    document = {
        "workflow_id": "generation-0101-1",
        "workflow_type": "generation",
        "status": "in_progress",
        "created_at": "2026-01-01T00:00:00Z",
        "generation": {"scene_id": "0101", "steps": steps},
    }
    bench.write("workspace/workflow-state/generation-0101-1.json", json.dumps(document))
    bench.ok("adopt")
    shown = " ".join(confirmed(bench).out.split())
    for text in (
        "verification-plan is said to be done: the output 'verification_plan' is not named",
        "generation is said to be done: the output 'compliance_echo' is not named",
        "generation is said to be done: workspace/draft.md is not there",
        "fast-compliance-check is said to be done: workspace/fast.json does not say PASS",
    ):
        assert text in shown


def test_an_edit_does_not_rename_a_gate_of_a_definition(bench):
    bench.write(".holdfast/workflows/migration.toml", MIGRATION)
    bench.ok("start", "migration", "Database Migration")
    bench.ok("begin", "backup")
    bench.ok("done", "backup")
    (path,) = bench.root.glob("untracked/workflow-state/*/*.json")
    name = str(path.relative_to(bench.root))
    changed(bench, name, lambda document: document["phase"].update(current=2, name="Lunch", status="in_progress"))
    bench.agent("status")
    assert [plan(bench).step(one).label for one in plan(bench).paths] == ["backup", "approve", "switch"]
    forgotten(bench.root)
    bench.write(".holdfast/workflows/migration.toml", MIGRATION)
    changed(bench, name, lambda document: document["phase"].update(current=2, name="Lunch"))
    bench.ok("adopt")
    assert [plan(bench).step(one).label for one in plan(bench).paths] == ["backup", "approve", "switch"]


def test_a_document_whose_definition_is_not_here_asks_a_person_about_every_phase(bench):
    bench.write(".holdfast/workflows/migration.toml", MIGRATION)
    bench.ok("start", "migration", "Database Migration")
    (path,) = bench.root.glob("untracked/workflow-state/*/*.json")
    forgotten(bench.root)
    name = str(path.relative_to(bench.root))
    changed(bench, name, lambda document: document["phase"].update(current=3, name="switch", status="in_progress"))
    bench.ok("adopt")
    assert alerts(bench) == [
        "there is no definition 'migration' here, which the document names: a person has to approve every phase"
    ]
    assert bench.agent("done", "phase-3").code == 3
    assert bench.agent("approve", "phase-3").code == 3
