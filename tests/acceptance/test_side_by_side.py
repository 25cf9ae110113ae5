"""Agents that work on tasks side by side in one working tree: each answers for its own files only."""

from __future__ import annotations

import time

import pytest

from tests.acceptance.side_by_side import SideBySide


@pytest.fixture
def run(tmp_path):
    return SideBySide(tmp_path / "house").begun()


def test_a_check_holds_while_a_neighbour_changes_what_it_has_locked_or_committed(run):
    first, second = (run.desk(task, worktree=False) for task in ("1.1", "1.2"))
    second.ok("lock", "parts/2.txt")
    first.ok("lock", "parts/1.txt")
    first.write("parts/1.txt", "right\n")
    first.ok("check", "it_is_right", "--step", "1.1")
    verdicts = []
    for change in ("writes", "commits", "ends"):
        if change == "writes":
            second.write("parts/2.txt", "right\n")
        elif change == "commits":
            second.ok("commit", "1.2", "-m", "part 1.2")
        else:
            second.ok("task", "done", "1.2")
            second.ok("agent", "end")
        steps = {one["path"]: one for one in run.ok("status", "--json").json["steps"]}
        verdicts.append(steps["phase-1/1.1"]["checks"]["it_is_right"])
    assert verdicts == ["passed"] * 3
    first.write("parts/1.txt", "wrong\n")
    steps = {one["path"]: one for one in run.ok("status", "--json").json["steps"]}
    assert steps["phase-1/1.1"]["checks"]["it_is_right"] == "stale"


def test_a_file_that_nobody_has_locked_is_everybodys(run):
    first, second = (run.desk(task, worktree=False) for task in ("1.1", "1.2"))
    first.write("parts/1.txt", "right\n")
    first.ok("check", "it_is_right", "--step", "1.1")
    second.write("shared.txt", "changed\n")
    steps = {one["path"]: one for one in run.ok("status", "--json").json["steps"]}
    assert steps["phase-1/1.1"]["checks"]["it_is_right"] == "stale"


def test_a_commit_leaves_out_what_others_have_locked_and_a_task_is_credited_with_its_own(run):
    first, second = (run.desk(task, worktree=False) for task in ("1.1", "1.2"))
    second.ok("lock", "parts/2.txt")
    second.write("parts/2.txt", "right\n")
    first.write("parts/1.txt", "right\n")
    assert first.refused("commit", "1.1", "-m", "all", "--path", "parts/2.txt", code=5)["code"] == "locked"
    said = first.ok("commit", "1.1", "-m", "part 1.1").out
    assert "left out, as others have locked it: parts/2.txt" in said
    assert run.files_of("HEAD") == ["parts/1.txt"]
    second.ok("task", "done", "1.2")
    done = {one["task"]: one["files_modified"] for one in run.ok("show").json["completed_tasks"]}
    assert done == {"1.2": ["parts/2.txt"]}


def test_a_commit_by_hand_of_the_work_of_several_tasks_is_credited_by_what_is_known_and_else_to_nobody(run):
    first, second = (run.desk(task, worktree=False) for task in ("1.1", "1.2"))
    first.write("parts/1.txt", "right\n")
    second.write("parts/2.txt", "right\n")
    second.write("shared.txt", "by one of them\n")
    run.git("add", ".")
    run.git("commit", "-q", "-m", "all of it")
    said = first.ok("task", "done", "1.1").out
    assert "nothing tells which task these files are of" in said
    assert "shared.txt" in said
    first.ok("agent", "end")
    assert "shared.txt" not in second.ok("task", "done", "1.2").out
    done = {one["task"]: one["files_modified"] for one in run.ok("show").json["completed_tasks"]}
    assert done == {"1.1": ["parts/1.txt"], "1.2": ["parts/2.txt"]}
    third = run.desk("1.3", worktree=False)
    third.works()
    third.ok("task", "done", "1.3")
    run.agent("begin", "pull_request")
    (text,) = run.root.rglob("pull-request.md")
    assert text.read_text().count("Nothing tells which task these files are of: `shared.txt`.") == 1


def test_a_task_is_credited_with_all_that_changed_after_the_others_were_over(run):
    first = run.desk("1.1", worktree=False)
    first.works()
    first.ok("task", "done", "1.1")
    time.sleep(1.2)
    second = run.desk("1.2", worktree=False)
    second.write("parts/2.txt", "right\n")
    second.write("more.txt", "more\n")
    run.git("add", ".")
    run.git("commit", "-q", "-m", "the second")
    second.ok("task", "done", "1.2")
    done = {one["task"]: one["files_modified"] for one in run.ok("show").json["completed_tasks"]}
    assert done["1.2"] == ["more.txt", "parts/2.txt"]
