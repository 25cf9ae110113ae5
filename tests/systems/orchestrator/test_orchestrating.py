"""Task documents as runs: steps, bounds and criteria, what git says of a task, learnings, and where git stands."""

from __future__ import annotations

import json
import os

import pytest

from holdfast.core import lifecycle
from holdfast.documents import learnings
from holdfast.errors import HoldfastError
from holdfast.systems.orchestrator import subject as orchestrating
from holdfast.systems.orchestrator.rules import supervision
from tests.workbench import Bench

DOCUMENT = """\
# Task: User authentication
**Plan approval**: relayed

## Goal
Let users log in.

## Safety Bounds
**Maximum iterations per task**: 3
**Maximum cost**: $1
**Maximum time**: 2 hours

## Phases

### Phase 1: Foundation

#### Task 1.1: Update the model
**Description**: Add the fields.
**Success Criteria**:
- [ ] Model updated
- [ ] Tests pass: `touch ran`
**Agents Needed**: task-executor

#### Task 1.2: Tokens
**Success Criteria**:
- [ ] Tokens expire
**Dependencies**: Task 1.1

### Phase 2: Endpoints

#### Task 2.1: Create endpoints
- [ ] Endpoints there

#### Task 2.2: Roles
- [ ] Roles there

## Supervisor Checks
**Enable**: Yes
**Auto-Fix**: Yes

## Outer Ralph Loop
**Enable**: Yes
**Maximum Iterations**: 2
"""
FILE = "docs/task.md"


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    made = Bench(tmp_path / "project").begun()
    made.write(FILE, DOCUMENT)
    made.save("the document")
    monkeypatch.chdir(made.root)
    return made


def started(bench: Bench):
    return bench.start("orchestrate", FILE)


def at_work(bench: Bench):
    """The plan is approved, the first task begun."""
    workflow = started(bench)
    workflow.done("plan").approve("plan")
    return workflow.begin("1.1")


def finished(workflow, task: str, *criteria: str) -> None:
    for name in criteria:
        workflow.check(name, step=task, passed=True)
    workflow.done(task)


# From the document to the steps


def test_a_document_becomes_a_plan_phases_a_review_and_a_pull_request(bench):
    state = started(bench).state
    assert list(state.plan.paths) == [
        "plan",
        "phase-1",
        "phase-1/1.1",
        "phase-1/1.2",
        "phase-2",
        "phase-2/2.1",
        "phase-2/2.2",
        "review",
        "pull_request",
    ]
    assert (state.title, state.step("plan").status) == ("User authentication", lifecycle.ACTIVE)
    assert (state.bounds.max_cost, state.bounds.max_time, state.bounds.max_iterations) == (1_000_000, 7200, 3)
    assert (supervision(state).enabled, supervision(state).auto_fix) == (True, True)
    assert state.source == state.subject == str(bench.root / FILE)
    assert (state.context["goal"], state.context["task_doc"]) == ("Let users log in.", str(bench.root / FILE))


def test_a_task_has_its_words_its_criteria_and_what_it_waits_for(bench):
    plan = started(bench).state.plan
    first, second = plan.step("phase-1/1.1"), plan.step("phase-1/1.2")
    assert (first.name, first.description, first.agents) == ("Update the model", "Add the fields.", ("task-executor",))
    assert [(one.name, one.run, one.run_by) for one in first.checks] == [
        ("model_updated", (), "any"),
        ("tests_pass", ("touch", "ran"), "engine"),
    ]
    assert first.checks[0].text == "Model updated"
    assert second.requires == ("1.1",)
    assert plan.step("phase-2").requires == ("plan", "phase-1")
    assert plan.step("review").retry.max == 2


def test_without_an_outer_loop_there_is_no_review(bench):
    bench.write(FILE, DOCUMENT.replace("## Outer Ralph Loop\n**Enable**: Yes", "## Outer Ralph Loop\n**Enable**: No"))
    plan = started(bench).state.plan
    assert "review" not in plan
    assert plan.step("pull_request").requires == ("plan", "phase-2")


def test_without_git_there_is_no_pull_request(tmp_path, monkeypatch):
    bare = Bench(tmp_path / "plain")
    bare.write(FILE, DOCUMENT)
    monkeypatch.chdir(bare.root)
    workflow = started(bare)
    assert "pull_request" not in workflow.state.plan
    workflow.done("plan").approve("plan").begin("1.1")
    assert workflow.state.step("phase-1/1.1").data.keys() == {"began_at"}
    assert workflow.out_of_sync() == ""


@pytest.mark.parametrize("subject", ["", "docs/gone.md", "docs", "/dev/null"])
def test_what_is_no_document_starts_nothing(bench, subject):
    before = bench.everything()
    with pytest.raises(HoldfastError) as caught:
        bench.start("orchestrate", subject)
    assert caught.value.remedy
    assert bench.everything() == before


# What a task changed


def test_a_task_begins_at_a_commit_and_ends_with_what_git_says(bench):
    workflow = at_work(bench)
    assert workflow.state.step("phase-1/1.1").data["base_sha"] == bench.head
    trusted(bench)
    bench.write("a.py", "1\n2\n")
    bench.save("feat(task-1.1): the model")
    bench.write("b.py", "1\n")
    bench.save("feat(task-1.2): another's")
    finished(workflow, "1.1", "model_updated")
    data = workflow.state.step("phase-1/1.1").data
    assert (data["files_modified"], data["lines_added"]) == (["a.py"], 2)
    assert workflow.state.snapshots[-1].head == bench.head


def trusted(bench: Bench) -> None:
    """As a person at a terminal would have it."""
    from tests.trusted import trust_file

    hf = bench.open("human")
    source = str(bench.root / FILE)
    trust_file(hf, source)


def work(bench: Bench, workflow):
    from holdfast import git

    repository, path = git.find(str(bench.root)), "phase-1/1.1"
    assert repository is not None
    since = workflow.state.step(path).data["base_sha"]
    return orchestrating.work(bench.open().wired, repository, workflow.state, path, since)


def test_without_commits_of_its_own_everything_since_it_began_is_a_tasks(bench):
    workflow = at_work(bench)
    bench.write("a.py", "1\n2\n")
    bench.save("some words")
    bench.write("b.py", "1\n")
    bench.write(".claude/checkpoint.json", "{}\n")
    assert work(bench, workflow) == {"files_modified": ["a.py", "b.py"], "lines_added": 3}


def test_the_runs_own_files_are_nobodys_work(bench):
    workflow = at_work(bench)
    bench.write("a.py", "1\n")
    bench.write(".claude/checkpoint.json", "{}\n")
    bench.save("feat(task-1.1): both")
    assert work(bench, workflow)["files_modified"] == ["a.py"]
    assert work(bench, workflow)["lines_added"] == 1


def test_many_files_are_cut_off(bench):
    workflow = at_work(bench)
    for number in range(orchestrating.MOST_FILES + 5):
        bench.write(f"many/{number}", "1\n")
    bench.save("feat(task-1.1): many")
    found = work(bench, workflow)
    assert (len(found["files_modified"]), found["lines_added"]) == (500, 505)


@pytest.mark.parametrize(("task", "words"), [("1.1", "feat(task-1.1):"), ("12.30", "feat(task-12.30):")])
def test_how_the_words_of_a_commit_begin(task, words):
    assert orchestrating.prefix(task) == words
    assert (orchestrating.SUPERVISOR, orchestrating.OUTER) == ("chore(supervisor):", "chore(outer-ralph):")


# Commands in criteria


def test_a_command_runs_only_when_a_person_trusted_the_document(bench):
    workflow = at_work(bench)
    with pytest.raises(HoldfastError) as caught:
        finished(workflow, "1.1", "model_updated")
    assert caught.value.code == "gate_unmet"
    assert "nobody on this machine has trusted its command" in str(caught.value)
    assert not (bench.root / "ran").exists()
    trusted(bench)
    workflow.done("1.1")
    assert (bench.root / "ran").exists()
    assert workflow.state.step("phase-1/1.1").status == lifecycle.DONE


def test_what_runs_is_what_was_read_and_trusted_whatever_the_document_says_by_now(bench):
    workflow = at_work(bench)
    trusted(bench)
    bench.write(FILE, DOCUMENT.replace("touch ran", "touch other"))
    finished(workflow, "1.1", "model_updated")
    assert (bench.root / "ran").exists()
    assert not (bench.root / "other").exists()


def test_trust_in_other_words_is_none_in_those_that_were_read(bench):
    workflow = at_work(bench)
    bench.write(FILE, DOCUMENT.replace("touch ran", "true"))
    trusted(bench)
    with pytest.raises(HoldfastError) as caught:
        finished(workflow, "1.1", "model_updated")
    assert caught.value.code == "gate_unmet"
    assert "nobody on this machine has trusted its command" in str(caught.value)
    assert not (bench.root / "ran").exists()


def test_what_the_engine_runs_is_not_taken_from_anybodys_word(bench):
    workflow = at_work(bench)
    with pytest.raises(HoldfastError) as caught:
        workflow.check("tests_pass", step="1.1", passed=True)
    assert caught.value.code == "engine_must_run"


# Learnings


def test_learnings_are_those_of_all_runs_and_lines_that_are_none_are_passed_over(bench):
    workflow = started(bench)
    workflow.learn("no secrets in code", "antipattern")
    path = bench.root / ".claude/learnings.jsonl"
    earlier = json.dumps({"type": "insight", "lesson": "from another run"})
    path.write_text(f'{earlier}\n[1]\n\n{{"torn": \n' + path.read_text())
    found = learnings.read(str(path))
    assert [one["lesson"] for one in found] == ["from another run", "no secrets in code"]


def test_without_learnings_there_are_none(bench):
    path = bench.root / ".claude/learnings.jsonl"
    assert learnings.read(str(path)) == []
    os.makedirs(bench.root / ".claude")
    path.symlink_to("/etc/passwd")
    assert learnings.read(str(path)) == []


# State and git


def test_state_and_git_are_apart_when_the_commit_of_a_checkpoint_is_gone(bench):
    workflow = at_work(bench)
    trusted(bench)
    bench.write("a.py", "1\n")
    made = bench.save("feat(task-1.1): the model")
    finished(workflow, "1.1", "model_updated")
    assert workflow.out_of_sync() == ""
    bench.write("more", "1\n")
    bench.save("more")
    assert workflow.out_of_sync() == ""
    bench.git("reset", "-q", "--hard", "HEAD~2")
    said = workflow.out_of_sync()
    assert f"checkpoint 1 was taken at {made[:12]}" in said
    assert f"git reset --hard {made}" in said
    bench.git("reset", "-q", "--hard", made)
    assert workflow.out_of_sync() == ""


def test_a_run_without_checkpoints_is_nowhere_else_than_git(bench):
    workflow = at_work(bench)
    bench.git("reset", "-q", "--hard", "HEAD~1")
    assert workflow.out_of_sync() == ""
