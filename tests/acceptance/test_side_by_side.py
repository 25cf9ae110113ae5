"""Agents that work on tasks side by side in one working tree: each answers for its own files only."""

from __future__ import annotations

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
