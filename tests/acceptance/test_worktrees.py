"""Agents with worktrees of their own: made with the lease, checked there, brought in when the task is done."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import time

import pytest

import holdfast
from holdfast.errors import Conflict
from holdfast.surfaces.tools import convention as tools
from holdfast.systems.seam import worktrees
from tests.acceptance.orchestra import STATE
from tests.acceptance.side_by_side import DOCUMENT, SideBySide, document


@pytest.fixture
def run(tmp_path):
    return SideBySide(tmp_path / "house").begun()


def test_a_task_is_worked_on_checked_and_committed_in_a_worktree_and_brought_in_when_it_is_done(run):
    desk = run.desk("1.1")
    assert desk.root == run.worktree_of("1.1")
    assert desk.git("branch", "--show-current").strip() == f"hf/{run.id}/1.1"
    assert desk.refused("task", "done", "1.1")["code"] == "gate_unmet"
    desk.works()
    assert not (run.root / "parts").exists()
    sha = desk.git("rev-parse", "HEAD").strip()

    desk.ok("task", "done", "1.1")
    assert run.read("parts/1.txt") == "right\n"
    assert run.status() == []
    assert run.git("rev-parse", "HEAD").strip() == sha
    assert run.subjects() == ["feat(task-1.1): part 1.1"]
    done = run.ok("show").json["completed_tasks"]
    assert [(one["task"], one["files_modified"], one["lines_added"]) for one in done] == [("1.1", ["parts/1.txt"], 1)]

    desk.ok("agent", "end")
    assert not desk.root.exists()
    assert run.branches() == ["main"]
    assert run.pins() == []


def test_a_commit_that_is_still_to_be_brought_in_is_not_told_as_lost(run):
    desk = run.desk("1.1")
    desk.works()
    assert "remarks" not in run.ok("status", "--json").json


def test_the_second_task_is_merged_beside_the_first_one(run):
    first, second = run.desk("1.1"), run.desk("1.2")
    first.works()
    second.works()
    first.ok("task", "done", "1.1")
    second.ok("task", "done", "1.2")
    assert [run.read(f"parts/{number}.txt") for number in (1, 2)] == ["right\n"] * 2
    assert run.status() == []
    assert run.subjects() == ["feat(task-1.1): part 1.1", "feat(task-1.2): part 1.2"]
    done = {one["task"]: one["files_modified"] for one in run.ok("show").json["completed_tasks"]}
    assert done == {"1.1": ["parts/1.txt"], "1.2": ["parts/2.txt"]}


def test_what_does_not_go_together_is_a_failed_try_with_the_files_named_and_nothing_of_it_is_there(run):
    first, second = run.desk("1.1"), run.desk("1.2")
    first.write("notes.txt", "The first one's note.\n")
    first.works()
    second.write("notes.txt", "The second one's note.\n")
    second.works()
    first.ok("task", "done", "1.1")
    before = run.git("rev-parse", "HEAD")

    refusal = second.refused("task", "done", "1.2")
    assert (refusal["code"], refusal["facts"]["files"]) == ("merge_conflict", ["notes.txt"])
    assert run.git("rev-parse", "HEAD") == before
    assert run.status() == []
    assert not (run.root / "parts/2.txt").exists()
    state = {one["path"]: one for one in run.ok("status", "--json").json["steps"]}["phase-1/1.2"]
    assert (state["status"], state["attempt"]) == ("active", 2)
    assert "notes.txt" in state["feedback"][-1]

    # The advice leads on: what both changed is merged in the worktree, looked at again, and brought in.
    merged = subprocess.run(["git", "-C", str(second.root), "merge", "-q", "main"], check=False, capture_output=True)
    assert merged.returncode == 1
    assert second.refused("task", "done", "1.2")["code"] == "git_busy"
    second.write("notes.txt", "Both notes.\n")
    second.git("commit", "-q", "-a", "--no-edit")
    second.ok("task", "done", "1.2")
    assert run.read("notes.txt") == "Both notes.\n"
    assert run.subjects() == ["feat(task-1.1): part 1.1", "feat(task-1.2): part 1.2"]
    done = {one["task"]: one["files_modified"] for one in run.ok("show").json["completed_tasks"]}
    assert done == {"1.1": ["notes.txt", "parts/1.txt"], "1.2": ["notes.txt", "parts/2.txt"]}


def test_what_is_not_committed_in_the_worktree_holds_the_task_up(run):
    desk = run.desk("1.1")
    desk.write("parts/1.txt", "right\n")
    refusal = desk.refused("task", "done", "1.1")
    assert (refusal["code"], refusal["facts"]["files"]) == ("uncommitted_work", ["parts/1.txt"])
    assert run.statuses()["1.1"] == "active"


@pytest.mark.parametrize("name", ["parts/1.txt", "notes.txt"])
def test_what_is_not_committed_in_the_tree_of_the_run_is_never_written_over(run, name):
    desk = run.desk("1.1")
    desk.write("notes.txt", "Changed for the task.\n")
    desk.works()
    run.write(name, "somebody's own")
    run.write("other.txt", "beside")
    run.git("add", "other.txt")
    refusal = desk.refused("task", "done", "1.1")
    assert refusal["code"] == "cannot_bring_in"
    assert name in refusal["facts"]["output"]
    assert run.read(name) == "somebody's own"
    assert run.statuses()["1.1"] == "active"
    assert run.subjects() == []

    if name == "notes.txt":
        run.git("checkout", "-q", name)
    else:
        (run.root / name).unlink()
    desk.ok("task", "done", "1.1")
    assert run.status() == ["A  other.txt"]
    assert run.pins("run") == []


def test_a_branch_that_is_not_checked_out_goes_on_alone(run):
    desk = run.desk("1.1")
    desk.works()
    run.git("switch", "-q", "-c", "aside")
    desk.ok("task", "done", "1.1")
    assert run.subjects() == ["feat(task-1.1): part 1.1"]
    assert not (run.root / "parts").exists()
    assert run.status() == []


def test_what_is_left_in_a_worktree_is_pinned_before_it_is_removed(run):
    desk = run.desk("1.1")
    desk.works("wrong\n")
    desk.write("parts/1.txt", "half right\n")
    desk.write("idea.txt", "an idea\n")
    desk.git("add", "idea.txt")
    desk.write("idea.txt", "a better idea\n")
    said = desk.ok("agent", "end").out
    assert not desk.root.exists()
    (pin,) = run.pins("left")
    assert pin in said
    assert run.git("show", f"{pin}:parts/1.txt") == "half right\n"
    assert run.git("show", f"{pin}:idea.txt") == "a better idea\n"
    assert run.git("show", f"{pin}^2:idea.txt") == "an idea\n"
    assert run.git("show", f"{pin}^1:parts/1.txt") == "wrong\n"
    assert run.branches() == ["main"]


def test_commits_that_were_not_brought_in_are_pinned_too(run):
    desk = run.desk("1.1")
    desk.works("wrong\n")
    sha = desk.git("rev-parse", "HEAD")
    desk.ok("agent", "end")
    (pin,) = run.pins("left")
    assert run.git("rev-parse", pin) == sha


def test_commits_in_a_worktree_that_somebody_removed_are_pinned(run):
    desk = run.desk("1.1")
    desk.works("wrong\n")
    sha = desk.git("rev-parse", "HEAD")
    shutil.rmtree(desk.root)
    run.ok("agent", "end", env={"HOLDFAST_TOKEN": desk.said["token"]})
    (pin,) = run.pins("left")
    assert run.git("rev-parse", pin) == sha


def test_what_holdfast_saw_outlives_an_agents_own_git_commands(run):
    desk = run.desk("1.1")
    desk.write("parts/1.txt", "half right\n")
    desk.agent("check", "it_is_right")
    desk.git("add", "-A")
    desk.git("reset", "-q", "--hard")
    (pin,) = run.pins("seen")
    assert run.git("show", f"{pin}:parts/1.txt") == "half right\n"
    desk.works()
    desk.git("reset", "-q", "--hard", "HEAD~1")
    newest = run.pins("seen")[-1]
    assert run.git("show", f"{newest}:parts/1.txt") == "right\n"
    desk.git("merge", "-q", newest)
    desk.ok("task", "done", "1.1")
    desk.ok("agent", "end")
    assert run.pins() == []


@pytest.mark.parametrize("worktree", [True, False])
@pytest.mark.parametrize("words", ["check it_is_right --step 1.2", "check it_is_read --passed", "task done 1.2"])
def test_what_holdfast_saw_is_pinned_however_it_came_to_look(tmp_path, worktree, words):
    """In the tree that agents share, too: one cleans it up, and the other has lost nothing that Holdfast saw."""
    run = SideBySide(tmp_path / "house")
    run.write(DOCUMENT, document(2).replace("2.txt`\n", "2.txt`\n- [ ] It is read\n"))
    run.git("commit", "-q", "-a", "-m", "One more")
    run.begun().desk("1.1", worktree=False)
    desk = run.desk("1.2", worktree=worktree)
    desk.write("parts/2.txt", "half right\n")
    desk.agent(*words.split())
    desk.git("clean", "-fdqx", "parts")
    (pin,) = run.pins("seen")
    assert run.git("show", f"{pin}:parts/2.txt") == "half right\n"
    assert pin in run.ok("doctor").out


def test_what_was_seen_in_a_shared_tree_is_given_up_with_the_last_lease_unless_it_is_nowhere_else(run):
    first, second = run.desk("1.1", worktree=False), run.desk("1.2", worktree=False)
    first.write("parts/1.txt", "right\n")
    second.write("parts/2.txt", "lost\n")
    first.ok("check", "it_is_right", "--step", "1.1")
    (run.root / "parts/2.txt").unlink()
    first.ok("agent", "end")
    assert run.pins("seen")
    assert "git show" in second.ok("agent", "end").out
    (pin,) = run.pins()
    assert "/left/" in pin
    assert run.git("show", f"{pin}:parts/2.txt") == "lost\n"


def test_what_is_too_large_is_not_pinned_and_that_is_told(run):
    desk = run.desk("1.1", worktree=False)
    desk.write("parts/1.txt", "right\n")
    desk.write("parts/large.bin", "")
    os.truncate(run.root / "parts/large.bin", 65 << 20)
    assert "could not be pinned" in str(desk.ok("check", "it_is_right"))
    assert run.pins() == []


def test_a_worktree_that_somebody_removed_is_made_again_from_its_branch(run):
    desk = run.desk("1.1")
    desk.works()
    shutil.rmtree(desk.root)
    run.ok("task", "done", "1.1", env={"HOLDFAST_TOKEN": desk.said["token"]})
    assert run.read("parts/1.txt") == "right\n"


def test_who_takes_a_task_over_goes_on_in_its_worktree(run):
    desk = run.desk("1.1", "--ttl", "1s")
    desk.write("parts/1.txt", "right\n")
    time.sleep(1.1)
    other = run.desk("1.1", worktree=False)
    assert other.root == desk.root
    assert other.said["lease"]["token"] > desk.said["lease"]["token"]
    desk.refused("commit", "1.1", "-m", "late", code=5)
    other.ok("commit", "1.1", "-m", "part 1.1")
    other.ok("task", "done", "1.1")
    assert run.read("parts/1.txt") == "right\n"


def findings(run, code):
    return [one for one in run.agent("doctor", "--json").json["findings"] if one["code"] == code]


def test_a_cancelled_run_leaves_no_worktree_and_loses_nothing(run):
    desk = run.desk("1.1")
    desk.write("parts/1.txt", "half right\n")
    run.ok("cancel", "--reason", "enough")
    assert not desk.root.exists()
    (pin,) = run.pins("left")
    assert run.git("show", f"{pin}:parts/1.txt") == "half right\n"
    (found,) = findings(run, "pinned")
    assert pin in found["message"]
    assert f"git branch NAME {pin}" in found["remedy"]


def test_doctor_tells_of_worktrees_that_are_gone_or_left(run):
    desk, other = run.desk("1.1", "--ttl", "1s"), run.desk("1.2")
    assert findings(run, "worktree_left") == []
    shutil.rmtree(other.root)
    assert [one["path"] for one in findings(run, "worktree_missing")] == [f".worktrees/{run.id}/1.2"]
    time.sleep(1.1)
    assert [one["path"] for one in findings(run, "worktree_stale")] == [f".worktrees/{run.id}/1.1"]
    run.ok("agent", "end", "1")
    assert not desk.root.exists()

    third = run.desk("1.3", "--ttl", "1s")
    third.write("parts/3.txt", "half right\n")
    time.sleep(1.1)
    state = json.loads(run.read(STATE))
    kept = [one for one in state["active_agents"] if one["task"] != "1.3"]
    run.write(STATE, json.dumps({**state, "active_agents": kept}))
    run.ok("status")
    assert [one["path"] for one in findings(run, "worktree_left")] == [f".worktrees/{run.id}/1.3"]
    run.ok("doctor", "--repair")
    assert not third.root.exists()
    (pin,) = run.pins("left")
    assert run.git("show", f"{pin}:parts/3.txt") == "half right\n"


def test_done_without_a_step_means_that_of_the_worktree_one_stands_in(run):
    run.desk("1.1")
    desk = run.desk("1.2")
    desk.works()
    desk.ok("done")
    assert run.statuses() == {"1.1": "active", "1.2": "done", "1.3": "pending"}


def test_a_conflict_that_uses_up_the_last_try_is_a_persons_to_decide(run):
    first, second = run.desk("1.1"), run.desk("1.2")
    for desk in (first, second):
        desk.write("notes.txt", f"note of {desk.task}\n")
        desk.works()
    first.ok("task", "done", "1.1")
    for _ in range(29):
        second.ok("orchestrator", "iterate", "1.2", "--reason", "again")
    refusal = second.refused("task", "done", "1.2")
    assert refusal["code"] == "merge_conflict"
    assert "show phase-1/1.2 to a person" in refusal["remedy"]
    assert run.statuses()["1.2"] == "failed"


CONFIG = ".holdfast/config.toml"


def test_a_new_worktree_is_prepared_once_by_a_command_that_a_person_trusted(run):
    run.write(
        CONFIG, '[agents]\nworktrees = true\nprepare = ["sh", "-c", "echo once >> .git-free; test -f notes.txt"]\n'
    )
    words = ("agent", "start", "executor", "--step", "1.1")
    assert run.refused(*words)["code"] == "untrusted"
    assert run.ok("agent", "list", "--json").json["agents"] == []
    said = run.person("trust", CONFIG, prompt="Trust it?", says="y")
    assert "agents · prepare: sh -c" in said.out
    desk = run.desk("1.1", worktree=False)
    assert desk.root == run.worktree_of("1.1")
    assert (desk.root / ".git-free").read_text() == "once\n"
    desk.ok("orchestrator", "iterate", "1.1", "--reason", "once more")
    assert run.ok("agent", "list", "--json").json["agents"][0]["branch"] == f"hf/{run.id}/1.1"
    (agent,) = run.ok("status", "--json").json["agents"]
    assert "worktree" not in run.ok("agent", "start", "lead", "--step", "phase-1", "--json").json
    assert agent["worktree"] == f".worktrees/{run.id}/1.1"
    assert (desk.root / ".git-free").read_text() == "once\n"


def test_where_the_preparation_fails_there_is_neither_a_lease_nor_a_worktree(run):
    run.write(CONFIG, '[agents]\nprepare = ["sh", "-c", "echo no such package; exit 7"]\n')
    assert run.person("trust", CONFIG, prompt="Trust it?", says="y").code == 0
    refusal = run.refused("agent", "start", "executor", "--step", "1.1", "--worktree")
    assert (refusal["code"], refusal["facts"]["output"].strip()) == ("prepare_failed", "no such package")
    assert run.ok("agent", "list", "--json").json["agents"] == []
    assert not (run.root / ".worktrees").exists()
    assert run.branches() == ["main"]


@pytest.mark.parametrize("said", ['worktrees = "yes"', 'prepare = "npm ci"', 'prepare = [""]', "worktree = true"])
def test_mistakes_in_the_configuration_are_told_with_their_line(run, said):
    run.write(CONFIG, f"[agents]\n{said}\n")
    refusal = run.refused("agent", "start", "executor", "--step", "1.1", code=2)
    assert refusal["code"] == "bad_config"
    assert refusal["facts"]["mistakes"][0]["where"] == f"{CONFIG}:2"


def test_a_worktree_that_cannot_be_made_is_refused_before_there_is_a_lease(run):
    start = ("agent", "start", "executor", "--worktree")
    assert run.refused(*start, code=2)["code"] == "bad_usage"
    assert run.refused(*start, "--step", "phase-1", code=2)["code"] == "bad_usage"
    assert run.ok("agent", "list", "--json").json["agents"] == []
    (run.root / ".worktrees").symlink_to(run.root.parent)
    assert run.refused(*start, "--step", "1.1", code=2)["code"] == "symlink"
    assert run.ok("agent", "list", "--json").json["agents"] == []


def test_who_waits_too_long_for_others_is_told_who_is_at_it(run):
    desk = run.desk("1.1")
    desk.works()
    folder = os.open(run.root / ".holdfast/worktrees", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        desk.env["HOLDFAST_LOCK_WAIT"] = "1"
        refusal = desk.refused("task", "done", "1.1", code=5)
    finally:
        os.close(folder)
    assert (refusal["code"], refusal["facts"]["pid"]) == ("lock_timeout", os.getpid())
    assert run.statuses()["1.1"] == "active"
    desk.ok("task", "done", "1.1")


def test_a_worktree_with_something_that_cannot_be_kept_is_not_removed(run):
    desk = run.desk("1.1")
    nested = desk.root / "nested"
    for words in (("init", "-q", str(nested)), ("-C", str(nested), "commit", "-q", "--allow-empty", "-m", "own")):
        subprocess.run(["git", *words], check=True)
    (nested / "own.txt").write_text("not committed anywhere")
    said = desk.ok("agent", "end").out
    assert "is still there: not all that is in" in said
    assert (nested / "own.txt").exists()
    shutil.rmtree(nested)
    run.ok("doctor", "--repair")
    assert not desk.root.exists()


def test_what_is_brought_in_is_what_was_checked(run, monkeypatch):
    desk = run.desk("1.1")
    desk.works()
    desk.ok("check", "it_is_right")
    monkeypatch.chdir(run.root)
    workflow = holdfast.open(str(run.root)).workflow(run.id)
    desk.write("parts/1.txt", "wrong\n")
    desk.ok("commit", "1.1", "-m", "part 1.1, once more")
    with pytest.raises(Conflict) as caught:
        worktrees.bring(workflow._wired, workflow.state, "phase-1/1.1")
    assert caught.value.code == "changed_meanwhile"
    assert run.subjects() == []


def test_every_surface_shows_where_an_agent_works(run):
    run.desk("1.1")
    run.desk("1.2")
    where = f".worktrees/{run.id}/1.2"
    assert where in run.ok("agent", "list").out
    assert where in run.ok("status").out.replace("\n        ", " ")
    project = holdfast.open(str(run.root))
    assert any(where in one for one in tools.get_workflow_status(project, {"workflow_id": run.id})["beside"])
    assert where in project.workflow(run.id).packet()


def test_what_a_check_saw_in_the_middle_of_a_merge_does_not_count_for_what_the_merge_became(run):
    first, second = run.desk("1.1"), run.desk("1.2")
    first.write("notes.txt", "The first one's note.\n")
    first.works()
    first.ok("task", "done", "1.1")
    second.write("notes.txt", "The second one's note.\n")
    second.works()
    merged = subprocess.run(["git", "-C", str(second.root), "merge", "-q", "main"], check=False, capture_output=True)
    assert merged.returncode == 1
    second.ok("check", "it_is_right", "--step", "1.2")

    second.write("notes.txt", "Both notes.\n")
    second.write("parts/2.txt", "wrong\n")
    second.git("add", "-A")
    second.git("commit", "-q", "--no-edit")
    assert second.refused("task", "done", "1.2")["code"] == "gate_unmet"
    assert not (run.root / "parts/2.txt").exists()
