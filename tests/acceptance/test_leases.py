"""What an agent may do beside another one that holds a lease, and what each is told."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time

import pytest

from holdfast.surfaces.cli.main import main
from tests.acceptance.side_by_side import ROLE, SideBySide


@pytest.fixture
def run(tmp_path):
    return SideBySide(tmp_path / "house").begun()


@pytest.mark.parametrize("worktree", [True, False])
def test_a_second_role_gets_no_lease_of_a_step_that_somebody_holds(run, worktree):
    desk = run.desk("1.1", worktree=worktree)
    refused = run.agent("agent", "start", "other", "--step", "1.1", "--json")
    assert refused.code == 5, refused
    error = json.loads(refused.out)["error"]
    assert (error["code"], error["facts"]["role"]) == ("lease_held", ROLE)
    run.ok("agent", "start", "lead", "--step", "phase-1")  # above it: the agent of the task is nearer to it
    desk.ok("agent", "start", "helper", "--step", "1.1")  # with the holder's token
    desk.works()
    desk.ok("task", "done", "1.1")


def test_what_an_agent_is_told_is_of_the_step_that_its_token_is_for(run):
    first, second = run.desk("1.1", worktree=False), run.desk("1.2", worktree=False)
    assert first.ok("next", "--json").json["step"] == "phase-1/1.1"
    assert second.ok("next", "--json").json["step"] == "phase-1/1.2"
    assert "holdfast done phase-1/1.2" in second.ok("resume-packet").out
    assert "holdfast done phase-1/1.1" not in second.ok("resume-packet").out
    second.write("parts/2.txt", "right\n")
    second.ok("commit", "1.2", "-m", "part", "--path", "parts/2.txt")
    assert second.ok("done", "--json").json["handed_in"] == ["phase-1/1.2"]


def test_what_an_agent_is_told_in_its_worktree_is_of_its_own_step(run):
    run.desk("1.1")
    second = run.desk("1.2")
    del second.env["HOLDFAST_TOKEN"]
    assert second.ok("next", "--json").json["step"] == "phase-1/1.2"


def test_an_agent_without_a_lease_does_not_have_the_work_planned_anew_while_others_are_at_work(run):
    desk = run.desk("1.1", worktree=False)
    words = (
        "orchestrator",
        "supervise",
        "on_demand",
        "--verdict",
        "RE_PLAN",
        "--conflict",
        "api",
        "--resolution",
        "Another way.",
    )
    refused = run.agent(*words, "--json")
    assert (refused.code, json.loads(refused.out)["error"]["code"]) == (5, "lease_held")
    assert run.statuses()["1.1"] == "active"
    desk.ok(*words)


REPLAN = ("--verdict", "RE_PLAN", "--conflict", "api", "--resolution", "Another way.")


def test_a_new_plan_needs_the_token_of_a_task_that_it_affects_of_the_whole_or_of_the_supervisor(run):
    first, second = run.desk("1.1", worktree=False), run.desk("1.2", worktree=False)
    for words in (("on_demand",), ("on_demand", "1.3"), ("on_demand", "--affects", "1.3"), ("post_task", "1.1")):
        assert second.refused("orchestrator", "supervise", *words, *REPLAN, code=5)["code"] == "lease_held", words
    assert run.statuses()["1.1"] == "active"
    assert run.ok("show").json["supervisor"]["re_plans_triggered"] == 0
    second.ok("orchestrator", "supervise", "on_demand", "1.2", *REPLAN)
    assert run.statuses() == {"1.1": "active", "1.2": "pending", "1.3": "pending"}
    run.ok("done", "plan")
    run.ok("approve", "plan")
    token = run.ok("agent", "start", "supervisor", "--step", "phase-1", "--json").json["token"]
    run.ok("orchestrator", "supervise", "on_demand", *REPLAN, "--token", token)
    first.ok("orchestrator", "supervise", "on_demand", "1.1", *REPLAN)


def test_who_only_looks_says_whose_token_it_has_and_one_of_no_lease_is_refused(run):
    first, second = run.desk("1.1", worktree=False), run.desk("1.2", worktree=False)
    for desk in (first, second):
        token = desk.env.pop("HOLDFAST_TOKEN")
        for words in (("next",), ("status",), ("resume-packet",), ("task", "list"), ("show",), ("log",), ("locks",)):
            desk.ok(*words, "--token", token)
        assert desk.ok("next", "--token", token, "--json").json["step"] == f"phase-1/{desk.task}"
        assert f"holdfast done phase-1/{desk.task}" in desk.ok("resume-packet", "--token", token).out
    for word in ("next", "status"):
        assert second.refused(word, "--token", "1-00000000000000000000000000000000", code=5)["code"] == "fenced"
        assert second.agent(word, "--token", "nonsense").code == 2
    run.ok("agent", "end", "--token", first.said["token"])
    assert second.refused("next", "--token", first.said["token"], code=5)["code"] == "fenced"
    first.env["HOLDFAST_TOKEN"] = first.said["token"]  # a shell that still has it may look
    first.ok("next")


def test_where_the_folder_went_with_the_lease_the_way_out_is_told(run):
    desk = run.desk("1.1")
    out = (run.root.parent / "out.txt", run.root.parent / "err.txt")
    line = "holdfast agent end; holdfast status; holdfast next --json; holdfast frobnicate; holdfast --version"
    program = [sys.executable, "-c", "import sys; from holdfast.surfaces.cli.main import entry; entry()"]
    with open(out[0], "w") as said, open(out[1], "w") as wrong:
        script = 'holdfast() { "$PYTHON" -c "$MAIN" "$@"; }; ' + line
        env = {**desk.env, "PYTHON": program[0], "MAIN": program[2]}
        subprocess.run(["sh", "-c", script], cwd=desk.root, env=env, stdout=said, stderr=wrong, check=False)
    assert not desk.root.exists()
    told, wrong = out[0].read_text(), out[1].read_text()
    assert f"this folder is gone: cd {run.root}" in told
    assert wrong.startswith(f"the folder that this was typed in is gone: {desk.root}\n→ cd {run.root}\n")
    assert f'"remedy": "cd {run.root}"' in told
    assert '"code": "no_folder"' in told


@pytest.mark.parametrize("worktree", [True, False])
def test_the_supervisor_is_shown_the_files_of_the_task_and_what_is_in_them(run, worktree):
    desk = run.desk("1.1", worktree=worktree)
    desk.write("parts/1.txt", "right\n")
    before = desk.ok("orchestrator", "supervise", "post_task", "1.1").json["changes"]
    assert before["files"] == ["parts/1.txt"]
    assert "+right" in before["diff"]
    desk.works()
    after = desk.ok("orchestrator", "supervise", "post_task", "1.1").json["changes"]
    assert (after["files"], "+right" in after["diff"]) == (["parts/1.txt"], True)


def test_a_lock_by_another_agent_does_not_take_a_file_out_of_the_evidence_of_the_task_that_changed_it(run):
    other, desk = run.desk("1.2", worktree=False), run.desk("1.1", worktree=False)
    desk.write("parts/1.txt", "right\n")
    other.ok("lock", "parts/1.txt", "--agent", "other")
    desk.ok("check", "it_is_right", "--step", "1.1")
    desk.write("parts/1.txt", "wrong\n")
    assert desk.refused("task", "done", "1.1")["code"] == "gate_unmet"


def test_what_a_task_changed_before_another_agent_locked_it_makes_its_evidence_stale(run):
    other, desk = run.desk("1.2", worktree=False), run.desk("1.1", worktree=False)
    desk.write("parts/1.txt", "right\n")
    desk.write("notes.txt", "as it was tested\n")
    other.ok("lock", "notes.txt", "--agent", "other")
    desk.ok("check", "it_is_right", "--step", "1.1")
    assert desk.ok("orchestrator", "supervise", "post_task", "1.1").json["criteria"][0]["verdict"] == "passed"
    desk.write("notes.txt", "changed\n")
    assert desk.ok("orchestrator", "supervise", "post_task", "1.1").json["criteria"][0]["verdict"] == "stale"


def test_a_check_names_the_changed_files_of_others_that_its_evidence_is_not_of(run):
    other, desk = run.desk("1.2", worktree=False), run.desk("1.1", worktree=False)
    other.ok("lock", "helper.txt")
    desk.write("parts/1.txt", "right\n")
    desk.write("helper.txt", "as it was tested\n")
    said = desk.ok("check", "it_is_right", "--step", "1.1").out
    assert "not of this: 1 changed file that others have locked: helper.txt" in said
    other.ok("unlock", "helper.txt")
    assert "not of this" not in desk.ok("check", "it_is_right", "--step", "1.1").out


@pytest.mark.parametrize("worktree", [True, False])
def test_a_check_names_the_sources_that_git_ignores_in_every_answer_about_it(run, worktree):
    (run.root / ".git/info/exclude").write_text("hidden.py\n")
    desk = run.desk("1.1", worktree=worktree)
    desk.write("hidden.py", "as it was tested\n")
    desk.works()
    told = "later changes of 1 file that git ignores are not noticed: hidden.py"
    assert told in desk.ok("check", "it_is_right", "--step", "1.1").out
    assert f"phase-1/1.1: {told}" in desk.ok("status", "--json").json["remarks"]


def test_a_pull_request_is_not_handed_in_without_the_commit_of_a_task(tmp_path):
    run = SideBySide(tmp_path / "house", tasks=2).begun()
    for task in ("1.1", "1.2"):
        desk = run.desk(task, worktree=False)
        desk.works()
        desk.ok("task", "done", task)
        desk.ok("agent", "end")
    run.ok("done", "phase-1")
    lost = run.git("rev-parse", "HEAD").strip()
    run.git("reset", "-q", "--hard", "HEAD~1")
    run.ok("begin", "pull_request")
    words = ("done", "pull_request", "--url", "https://github.com/o/r/pull/1")
    refused = run.agent(*words, "--json")
    error = json.loads(refused.out)["error"]
    assert (refused.code, error["code"]) == (3, "lost_commits"), refused
    assert error["facts"]["commits"] == {"phase-1/1.2": lost}
    assert f"git merge {lost}" in error["remedy"]

    run.git("merge", "-q", lost)
    run.git("commit", "-q", "--amend", "--no-edit", "-m", "feat(task-1.2): part 1.2")
    run.git("remote", "add", "origin", "https://github.com/o/r.git")
    run.git("update-ref", "refs/remotes/origin/work", "HEAD")
    run.ok(*words)


def test_a_commit_leaves_out_what_the_check_of_another_agents_task_names(run):
    first, second = run.desk("1.1", worktree=False), run.desk("1.2", worktree=False)
    second.write("parts/2.txt", "right\n")
    first.write("parts/1.txt", "right\n")
    assert "left out: parts/2.txt (of phase-1/1.2)" in first.ok("commit", "1.1", "-m", "part").out
    assert run.files_of("HEAD") == ["parts/1.txt"]
    error = first.refused("commit", "1.1", "-m", "more")
    assert (error["code"], "parts/2.txt (of phase-1/1.2)" in error["message"]) == ("nothing_to_commit", True)
    assert "left out" not in second.ok("commit", "1.2", "-m", "part").out
    assert run.files_of("HEAD") == ["parts/2.txt"]


def test_a_commit_is_refused_where_nothing_tells_whose_a_file_is_and_names_the_command_with_paths(run):
    first, second = run.desk("1.1", worktree=False), run.desk("1.2", worktree=False)
    first.write("parts/1.txt", "right\n")
    second.write("shared.txt", "changed\n")
    before = run.git("rev-parse", "HEAD")
    error = first.refused("commit", "1.1", "-m", "my part")
    assert (error["code"], error["facts"]["files"]) == ("whose_files", ["shared.txt"])
    only, whole, *_ = error["remedy"].split(" · or ")
    assert only.endswith("holdfast commit 1.1 -m 'my part' --path parts/1.txt")
    assert whole.endswith("holdfast commit 1.1 -m 'my part' --path parts/1.txt --path shared.txt")
    assert run.git("rev-parse", "HEAD") == before
    second.ok("lock", "shared.txt")
    assert "left out, as others have locked it: shared.txt" in first.ok("commit", "1.1", "-m", "my part").out
    second.ok("commit", "1.2", "-m", "mine")
    assert run.files_of("HEAD") == ["shared.txt"]
    second.write("shared.txt", "again\n")
    second.ok("unlock", "shared.txt")
    assert first.refused("commit", "1.1", "-m", "more")["code"] == "nothing_to_commit"  # it is in a commit of 1.2


def test_a_commit_takes_what_changed_before_the_other_agent_began(run):
    first = run.desk("1.1", worktree=False)
    first.write("old.txt", "mine\n")
    time.sleep(1.2)
    run.desk("1.2", worktree=False)
    first.ok("commit", "1.1", "-m", "part")
    assert run.files_of("HEAD") == ["old.txt"]


def test_a_commit_of_a_task_with_a_worktree_that_is_typed_elsewhere_names_the_worktree(run):
    desk = run.desk("1.1")
    run.write("parts/1.txt", "right\n")
    desk.root = run.root
    error = desk.refused("commit", "1.1", "-m", "part")
    where = str(run.worktree_of("1.1"))
    assert (error["code"], where in error["message"]) == ("nothing_to_commit", True)
    assert f"cd {where}" in error["remedy"]


def test_the_unfinished_work_of_another_agent_is_not_brought_in_with_a_task_that_merged_it(run):
    first, second = run.desk("1.1"), run.desk("1.2")
    second.works()
    first.works()
    first.git("merge", "-q", "-m", "both", f"hf/{run.id}/1.2")
    refused = first.refused("task", "done", "1.1")
    assert (refused["code"], refused["facts"]["other"]) == ("holds_other_work", f"hf/{run.id}/1.2")
    second.ok("task", "done", "1.2")
    first.ok("task", "done", "1.1")
    done = {one["task"]: one["files_modified"] for one in run.ok("show").json["completed_tasks"]}
    assert done == {"1.1": ["parts/1.txt"], "1.2": ["parts/2.txt"]}


@pytest.mark.parametrize("by", ["holdfast", "git"])
def test_a_branch_that_went_forward_onto_that_of_another_agent_is_not_brought_in_as_its_own(run, by):
    first, second = run.desk("1.1"), run.desk("1.2")
    second.write("parts/2.txt", "right\n")
    if by == "git":
        second.git("add", ".")
        second.git("commit", "-q", "-m", "mine")
    else:
        second.ok("commit", "1.2", "-m", "mine")
    first.git("merge", "-q", "--ff-only", f"hf/{run.id}/1.2")
    first.works()
    refused = first.refused("task", "done", "1.1")
    assert (refused["code"], refused["facts"]["other"]) == ("holds_other_work", f"hf/{run.id}/1.2")
    second.ok("task", "done", "1.2")
    first.ok("task", "done", "1.1")
    done = {one["task"]: one["files_modified"] for one in run.ok("show").json["completed_tasks"]}
    assert done == {"1.1": ["parts/1.txt"], "1.2": ["parts/2.txt"]}


def test_only_one_agent_has_the_lease_of_the_whole_run(run):
    first = {"HOLDFAST_SESSION": "", "CLAUDE_CODE_SESSION_ID": "one"}
    run.ok("agent", "start", "lead", env={**run.env, **first})
    refused = run.agent("agent", "start", "second", "--json", env={**run.env, "CLAUDE_CODE_SESSION_ID": "two"})
    assert (refused.code, json.loads(refused.out)["error"]["code"]) == (5, "lease_held")
    run.ok("agent", "start", "second", env={**run.env, **first})  # the same session may have several


def test_work_that_was_seen_and_thrown_away_is_kept_and_told_when_the_agent_ends(run):
    desk = run.desk("1.1")
    desk.works()
    desk.write("wip.txt", "work\n")
    desk.ok("check", "it_is_right", "--step", "1.1")
    desk.git("reset", "-q", "--hard")
    desk.git("clean", "-q", "-fd")
    desk.ok("task", "done", "1.1")
    said = desk.ok("agent", "end").out
    (pin,) = run.pins()
    assert f"git show {pin}" in said
    assert run.git("show", f"{pin}:wip.txt") == "work\n"


def test_what_became_the_work_of_the_task_is_kept_nowhere_else(run):
    desk = run.desk("1.1")
    desk.works("wrong\n")
    desk.agent("check", "it_is_right", "--step", "1.1")
    desk.works()
    desk.ok("task", "done", "1.1")
    desk.ok("agent", "end")
    assert run.pins() == []


@pytest.mark.parametrize("worktree", [True, False])
def test_who_goes_on_with_a_step_is_told_of_the_work_that_was_left_there(run, worktree):
    desk = run.desk("1.1")
    desk.write("parts/1.txt", "half\n")
    desk.ok("agent", "end")
    (pin,) = run.pins("left")
    words = ("agent", "start", ROLE, "--step", "1.1", *(["--worktree"] if worktree else []), "--json")
    assert any(pin in said for said in run.ok(*words).json["said"])


@pytest.mark.parametrize("worktree", [True, False])
def test_work_that_was_left_is_named_with_the_command_that_brings_it_back_until_it_is_committed(run, worktree):
    desk = run.desk("1.1")
    desk.write("more.txt", "done before\n")
    desk.works("half\n")
    desk.write("parts/1.txt", "nearly\n")
    desk.ok("agent", "end")
    (pin,) = run.pins("left")
    assert run.ok("status", "--json").json["left_work"][0]["pin"] == pin
    assert f"git merge --squash {pin}" in " ".join(run.ok("status").out.split())
    desk = run.desk("1.1", worktree=worktree)
    for words in (("next",), ("resume-packet",)):
        assert "An agent before left work here that was not merged" in desk.ok(*words).out
    (left,) = desk.ok("next", "--json").json["left_work"]
    assert (left["step"], left["pin"], left["command"]) == ("phase-1/1.1", pin, f"git merge --squash {pin}")
    desk.git(*left["command"].split()[1:])
    assert ((desk.root / "parts/1.txt").read_text(), (desk.root / "more.txt").exists()) == ("nearly\n", True)
    desk.works()
    assert "left_work" not in desk.ok("next", "--json").json


def test_a_commit_that_cannot_be_noted_is_not_said_to_have_changed_nothing(run):
    desk = run.desk("1.1", worktree=False)
    desk.write("parts/1.txt", "right\n")
    in_the_way = run.root / ".git/holdfast-made"
    in_the_way.write_text("")
    error = desk.refused("commit", "1.1", "-m", "part", code=1)
    sha = run.git("rev-parse", "HEAD").strip()
    assert run.files_of("HEAD") == ["parts/1.txt"]
    assert "nothing was changed" not in error["message"]
    assert f"commit {sha[:12]} was made" in error["message"]
    in_the_way.unlink()
    desk.ok("commit", "1.1", "-m", "part")
    assert run.git("rev-parse", "HEAD").strip() == sha
    desk.ok("task", "done", "1.1")


@pytest.mark.parametrize("worktree", [True, False])
def test_a_disk_that_is_full_once_the_work_is_in_git_is_told_with_what_was_done(run, monkeypatch, capsys, worktree):
    desk = run.desk("1.1", worktree=worktree)
    desk.works()
    before, write = run.git("rev-parse", "HEAD"), os.pwrite
    words = ("task", "done", "1.1") if worktree else ("commit", "1.1", "-m", "more", "--path", "more.txt")
    if not worktree:
        desk.write("more.txt", "more\n")

    def is_full(*given):
        if run.git("rev-parse", "HEAD") != before:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(*given)

    with monkeypatch.context() as patch:
        patch.chdir(desk.root)
        for name, value in desk.env.items():
            patch.setenv(name, value)
        patch.setattr(os, "pwrite", is_full)
        capsys.readouterr()
        assert main([*words, "--json"]) == 1
        error = json.loads(capsys.readouterr().out)["error"]
    done = "into main" if worktree else "was made"
    assert (error["code"], "nothing was changed" in error["message"], done in error["message"]) == (
        "disk_full", False, True,
    )  # fmt: skip
    desk.ok(*words)
