"""Commands about the worktrees of agents, killed before each of their changes: the next one finishes or takes back."""

from __future__ import annotations

import pytest

from tests.acceptance.kills import Kills
from tests.acceptance.side_by_side import ROLE, SideBySide
from tests.tiers import is_full

SESSION = "one-session"


@pytest.fixture
def run(tmp_path, monkeypatch):
    made = SideBySide(tmp_path / "house").begun()
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    made.env["CLAUDE_CODE_SESSION_ID"] = SESSION
    return made


def test_a_killed_start_of_an_agent_is_completed_by_the_next_one(run):
    words = ("agent", "start", ROLE, "--step", "1.1", "--worktree")
    kills = Kills(run)
    for number, change in points(kills, *words):
        kills.before(number, *words)
        kills.again(run, "doctor")
        kills.again(run, *words)
        desk = run.desk("1.1")
        desk.works()
        desk.ok("task", "done", "1.1")
        is_sound(run, change)
        desk.ok("agent", "end")
        assert (run.branches(), run.pins()) == (["main"], []), change


def test_a_killed_end_of_a_task_is_completed_by_the_next_one(run):
    first, second = run.desk("1.1"), run.desk("1.2")
    for desk in (first, second):
        desk.write(f"more/{desk.task}.txt", "more\n")
        desk.works()
    first.ok("task", "done", "1.1")
    run.write("notes.txt", "somebody's own")
    words = ("task", "done", "1.2", "--token", second.said["token"])
    kills = Kills(run)
    for number, change in points(kills, *words):
        kills.before(number, *words)
        assert run.read("notes.txt") == "somebody's own"
        kills.again(run, *words)
        assert run.read("notes.txt") == "somebody's own"
        run.git("checkout", "-q", "notes.txt")
        is_sound(run, change, "1.1", "1.2")


def test_a_killed_end_of_an_agent_is_completed_by_the_next_one_and_loses_nothing(run):
    desk = run.desk("1.1")
    desk.works("wrong\n")
    desk.write("parts/1.txt", "half right\n")
    words = ("agent", "end", "--token", desk.said["token"])
    kills = Kills(run)
    for number, change in points(kills, *words):
        kills.before(number, *words)
        kills.again(run, "doctor", "--repair")
        if run.ok("agent", "list", "--json").json["agents"]:
            kills.again(run, *words)
        assert not desk.root.exists(), change
        kept = {run.git("show", f"{pin}:parts/1.txt") for pin in run.pins()}
        assert "half right\n" in kept, change
        other = run.desk("1.1")
        other.works()
        other.ok("task", "done", "1.1")
        is_sound(run, change)


def points(kills, *words):
    """Before which changes the command is killed: without `--full`, those that have to do with git and worktrees."""
    found = kills.chosen(*words)
    return found if is_full() else [one for one in found if "git" in one[1] or ".worktrees" in one[1]]


def is_sound(run, which, *tasks):
    """The branch has each task's commit once, the tree is as its last commit, and nothing is left over."""
    done = tasks or ("1.1",)
    assert [line.partition(":")[0] for line in run.subjects()] == [f"feat(task-{task})" for task in done], which
    assert run.status() == [], which
    assert [run.statuses()[task] for task in done] == ["done"] * len(done), which
    assert not list(run.root.glob(".git/holdfast-commit")), which
