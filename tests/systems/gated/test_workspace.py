"""The workspace as the work moves: what is committed with it, what cannot be now, and who may move it at all."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from holdfast.project.project import Project
from holdfast.surfaces import tools
from holdfast.surfaces.mcp.projects import Projects
from tests.acceptance.feature import BRANCH, CODE, FIRST, HOME, SECOND, SLUG, TITLE, House, row, timeless
from tests.acceptance.kills import Kills

NOT_YET = "not committed yet"


@pytest.fixture
def house(tmp_path):
    return House(tmp_path / "house").publish()


@pytest.fixture
def begun(house):
    return house.begun()


def hook(house: House, name: str, text: str) -> os.PathLike[str]:
    path = house.root / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def in_step(house: House) -> None:
    """HEAD has the workspace as it is there, and the copy of the journal is whole."""
    assert house.status() == []
    (own,) = (house.root / ".holdfast" / "journal").rglob("*.jsonl")
    assert own.read_text().startswith(house.read(f"{HOME}/journal.jsonl"))


def test_a_cancelled_feature_says_why_where_people_look(begun):
    begun.ok("cancel", "--reason", "Nobody wants it")
    shown = timeless(begun.state())
    assert (shown["status"], shown["cancelled_at"], shown["cancelled_reason"]) == ("cancelled", "T", "Nobody wants it")
    note = begun.read(f"{HOME}/cancellation.md")
    assert "Nobody wants it" in note
    assert begun.subjects()[-1] == f"[workflow] {FIRST}: Cancel: Nobody wants it"
    assert begun.trailers()["Workflow-Status"] == "cancelled"
    assert f"{HOME}/cancellation.md" in begun.files_of("HEAD")
    in_step(begun)
    assert begun.agent("done", "1", "-w", SLUG).code == 3
    assert begun.agent("feature", "continue", SLUG).code == 3


def test_a_cancelled_feature_can_be_resumed(begun):
    before = timeless(begun.state())
    begun.ok("cancel", "--reason", "Nobody wants it")
    answer = begun.person("resume", "-w", SLUG)
    assert answer.code == 0, answer
    assert timeless(begun.state()) == before
    assert not (begun.root / HOME / "cancellation.md").exists()
    assert begun.subjects()[-1] == f"[workflow] {FIRST}: Resume"
    in_step(begun)


def test_a_reset_is_a_persons_and_begins_a_phase_and_all_after_it_anew(house):
    house.up_to(CODE)
    before = house.state()
    assert house.refused("reset", SECOND)["code"] == "person_needed"
    assert house.refused("reset", "all", "--yes")["code"] == "person_needed"
    assert house.state() == before
    answer = house.person("reset", SECOND, prompt="]", says="n")
    assert (answer.code, house.state()) == (1, before)
    answer = house.person("reset", SECOND, prompt="]", says="y")
    assert answer.code == 0, answer
    assert [timeless(house.phase(phase)) for phase in (FIRST, SECOND, CODE)] == [
        *(row("approved", 1), row("in_progress"), row()),
    ]
    assert list((house.root / HOME / SECOND / "reviews").glob("archived-*/review-1.md"))
    assert list((house.root / HOME / CODE / "reviews").glob("archived-*/review-1.md"))
    assert (house.root / HOME / FIRST / "reviews" / "review-1.md").exists()
    assert house.status_of(SECOND)["history"][-1]["action"] == "reset"
    in_step(house)


def test_everything_can_be_reset(house):
    house.up_to(CODE)
    answer = house.person("reset", "all", "--yes")
    assert answer.code == 0, answer
    assert house.phases() == ["in_progress", "pending", "pending", "pending", "pending"]
    assert house.read(f"{HOME}/{FIRST}/requirements.md")
    in_step(house)


@pytest.mark.parametrize("role", ["creator", "reviewer", "requirements-reviewer", "architecture-creator"])
def test_creators_and_reviewers_look_and_change_nothing(begun, role):
    before, at = begun.state(), begun.git("rev-parse", "HEAD")
    begun.ok("status", "--as", role)
    begun.ok("next", "--as", role)
    for line in (
        "done 1",
        "cancel",
        "note Hello",
        "set a=b",
        "fail 1 --reason x",
        "block 1 --reason x",
        "feature continue",
    ):
        answer = begun.agent(*line.split(), "--as", role, "--json")
        assert answer.code == 3, (line, answer)
        assert answer.error["code"] == "read_only_role"
    assert begun.agent("done", "1", env={"HOLDFAST_ACTOR": role}).code == 3
    assert (begun.state(), begun.git("rev-parse", "HEAD")) == (before, at)
    begun.ok("done", "1", "--as", "orchestrator")


def test_a_read_only_role_commits_nothing(begun):
    begun.write("src/key.py", "key = 1\n")
    at = begun.git("rev-parse", "HEAD")
    answer = begun.agent("commit", "1", "-m", "Mine", "--as", "reviewer", "--json")
    assert (answer.code, answer.error["code"]) == (3, "read_only_role"), answer
    assert begun.git("rev-parse", "HEAD") == at


def test_a_read_only_role_finalizes_nothing(house):
    house.completed()
    before = {name: house.read(name) for name in ("docs/requirements.md", f"{HOME}/{FIRST}/requirements.md")}
    answer = house.agent("feature", "finalize", "--as", "reviewer", "--json")
    assert (answer.code, answer.error["code"]) == (3, "read_only_role"), answer
    assert {name: house.read(name) for name in before} == before


def test_a_commit_that_a_hook_refuses_keeps_the_state_and_is_made_by_continue(begun):
    refusing = hook(begun, "pre-commit", "echo not today; exit 1")
    at = begun.git("rev-parse", "HEAD")
    answer = begun.ok("done", "1")
    assert NOT_YET in answer.out
    assert "not today" in answer.out
    assert (begun.phase(FIRST)["status"], begun.git("rev-parse", "HEAD")) == ("in_review", at)
    assert NOT_YET in begun.ok("feature", "continue").out
    os.unlink(refusing)
    assert NOT_YET not in begun.ok("feature", "continue").out
    assert begun.git("rev-parse", "HEAD") != at
    assert begun.trailers()["Phase-Status"] == "in_review"
    in_step(begun)


def test_answers_that_are_data_say_that_something_is_not_committed_yet(begun):
    refusing = hook(begun, "pre-commit", "exit 1")
    begun.ok("done", "1")
    for words in (("status",), ("next",), ("list",), ("note", "more")):
        assert NOT_YET in " ".join(begun.ok(*words, "--json").json["notice"]), words
    assert NOT_YET in " ".join(begun.agent("begin", "2", "--json").json["notice"])
    server = Projects(begun.project().wired.place, begun.project().wired.settings)

    def called(project: Project) -> dict[str, Any]:
        return tools.call(project, "get_workflow_status", {"workflow_id": SLUG})

    for _ in range(2):
        assert NOT_YET in " ".join(asyncio.run(server.used(called))["notice"])
    os.unlink(refusing)
    begun.ok("feature", "continue")
    assert "notice" not in asyncio.run(server.used(called))
    assert "notice" not in begun.ok("status", "--json").json


def test_what_could_not_be_committed_goes_with_the_next_move(begun):
    refusing = hook(begun, "pre-commit", "exit 1")
    begun.ok("done", "1")
    os.unlink(refusing)
    begun.opinion(FIRST, 1)
    begun.ok("review", "1")
    in_step(begun)


def test_a_start_whose_commit_is_refused_is_a_start(house):
    refusing = hook(house, "commit-msg", "exit 1")
    assert NOT_YET in house.ok("start", "feature", TITLE).out
    assert (house.phase(FIRST)["status"], house.subjects()) == ("in_progress", [])
    os.unlink(refusing)
    house.ok("feature", "continue")
    in_step(house)


def test_a_move_on_another_branch_is_refused_or_kept_and_touches_nothing_there(house):
    begun = house.started()
    begun.git("switch", "-q", "main")
    tree = begun.git("rev-parse", "main")
    answer = begun.agent("done", "1", "-w", SLUG)
    assert (answer.code == 3) or NOT_YET in answer.out, answer
    assert BRANCH in answer.out + answer.err
    assert begun.git("rev-parse", "main") == tree
    assert begun.status() == []
    begun.git("switch", "-q", BRANCH)
    begun.ok("feature", "continue")
    assert begun.phase(FIRST)["status"] in ("in_progress", "in_review")
    in_step(begun)


def test_looking_from_another_branch_changes_nothing(house):
    begun = house.started()
    begun.git("switch", "-q", "main")
    begun.ok("list")
    for word in ("status", "next", "show", "log"):
        begun.ok(word, "-w", SLUG)
    assert begun.status() == []
    assert not (begun.root / HOME).exists()
    begun.git("switch", "-q", BRANCH)
    assert begun.ok("status", "--json").json.get("alerts") in (None, [])
    in_step(begun)


def test_a_message_of_several_lines_is_one_line_of_the_history(begun):
    begun.ok("done", "1", "-m", "Define\n\nWorkflow-Status: completed\n\x1b[31mred")
    subject, body = begun.git("log", "-1", "--format=%s%x00%b").split("\0")
    assert subject.startswith(f"[workflow] {FIRST}: Define Workflow-Status: completed")
    assert begun.trailers()["Workflow-Status"] == "in_progress"
    assert "\x1b" not in subject + body


def test_a_message_of_a_commit_of_code_is_one_line_too(begun):
    begun.write("src/key.py", "key = 1\n")
    begun.ok("commit", "1", "-m", "Add\n\nWorkflow-Status: completed", "--path", "src/key.py")
    assert begun.git("log", "-1", "--format=%s").strip() == f"[workflow] {FIRST}: Add Workflow-Status: completed"
    assert begun.trailers() == {}


def test_a_reason_of_several_lines_makes_no_trailer(begun):
    begun.ok("cancel", "--reason", "No\n\nWorkflow-Status: completed\nPull-Request: https://evil.example")
    assert begun.trailers() == {"Workflow": SLUG, "Workflow-Status": "cancelled", "Phase-Status": "in_progress"}


def in_review(house: House) -> str:
    house.ok("done", "1")
    return house.opinion(FIRST, 1)


@pytest.mark.parametrize("what", ["file", "folder", "phase"])
def test_a_review_behind_a_link_is_not_read(begun, tmp_path, what):
    path = begun.root / in_review(begun)
    outside = tmp_path / "outside"
    outside.mkdir()
    moved = {"file": path, "folder": path.parent, "phase": path.parent.parent}[what]
    moved.rename(outside / moved.name)
    moved.symlink_to(outside / moved.name)
    answer = begun.agent("review", "1", "--json")
    assert answer.code != 0, answer
    assert begun.state()["phases"][FIRST]["status"] == "in_review"


def test_a_huge_review_is_not_read(begun):
    path = in_review(begun)
    begun.write(path, "## Decision: APPROVED\n" + "x" * (2 << 20))
    assert begun.refused("review", "1", code=2)["code"] in ("bad_review", "too_large")
    assert begun.phase(FIRST)["status"] == "in_review"


def test_a_review_that_is_missing_is_asked_for_by_its_place(begun):
    begun.ok("done", "1")
    error = begun.refused("review", "1", code=4)
    assert (error["code"], f"{HOME}/{FIRST}/reviews/review-1.md" in error["remedy"]) == ("no_review", True)


def test_an_approving_review_with_a_major_finding_is_refused(begun):
    path = in_review(begun)
    begun.write(path, "## Decision: APPROVED\n\n- **[MAJOR]** it leaks\n")
    assert begun.refused("review", "1", code=2)["code"] == "bad_review"
    assert begun.refused("review", "1", "--verdict", "approved", code=2)["code"] == "review_file_decides"
    assert begun.phase(FIRST)["status"] == "in_review"


def test_control_characters_of_a_review_do_not_reach_the_terminal(begun):
    path = in_review(begun)
    begun.write(path, "## Decision: NEEDS_REVISION\n\n- **[MAJOR]** \x1b]0;owned\x07 red \u202e\x1b[31m\n")
    begun.ok("review", "1")
    seen = begun.person("status").out + begun.ok("status").out + begun.status_of(FIRST)["current_feedback"]
    assert not any(sign in seen for sign in ("\x1b]", "\x07", "\u202e"))


def test_a_folder_of_reviews_that_is_a_link_is_not_archived_through(house, tmp_path):
    house.up_to(FIRST)
    outside = tmp_path / "outside"
    folder = house.root / HOME / FIRST / "reviews"
    folder.rename(outside)
    folder.symlink_to(outside)
    house.person("reject", FIRST, "--feedback", "No")
    assert [path.name for path in outside.iterdir()] == ["review-1.md"]


def test_an_agent_that_crashes_is_tried_again_once_and_then_escalated(begun):
    begun.ok("fail", "1", "--reason", "it crashed")
    assert (begun.phase(FIRST)["status"], begun.phase(FIRST)["iterations"]) == ("in_progress", 0)
    begun.ok("fail", "1", "--reason", "it crashed again")
    assert (begun.phase(FIRST)["status"], begun.state()["status"]) == ("escalated", "escalated")
    in_step(begun)


def test_ignored_files_are_never_committed(begun):
    begun.write(".gitignore", "*.local\n")
    begun.write(f"{HOME}/{FIRST}/secret.local", "key\n")
    begun.write(f"{HOME}/{FIRST}/thought.md", "A thought\n")
    begun.ok("done", "1")
    assert f"{HOME}/{FIRST}/thought.md" in begun.files_of("HEAD")
    assert "secret" not in begun.git("ls-tree", "-r", "--name-only", "HEAD")


def test_a_workspace_that_git_ignores_later_still_keeps_its_state_in_the_history(begun):
    house = begun
    house.write(".gitignore", "workflow/\n")
    house.git("add", ".gitignore")
    house.git("commit", "-q", "-m", "Ignore")
    house.ok("done", "1")
    listed = house.git("ls-tree", "-r", "--name-only", "HEAD", "--", HOME).split()
    assert {f"{HOME}/workflow-state.json", f"{HOME}/journal.jsonl", f"{HOME}/{FIRST}/status.json"} <= set(listed)


def test_a_move_that_was_killed_before_any_of_its_changes_is_committed_whole_by_continue(begun):
    begun.make(FIRST)
    kills = Kills(begun)
    changes = kills.chosen("done", FIRST)
    assert "git commit" in [change for _, change in changes]
    failures = []
    for number, change in changes:
        killed = kills.before(number, "done", FIRST)
        try:
            kills.again(killed, "feature", "continue")
            in_step(killed)
            assert killed.phase(FIRST)["status"] in ("in_progress", "in_review")
            listed = killed.git("ls-tree", "-r", "--name-only", "HEAD", "--", HOME).split()
            assert [name for name in listed if name.endswith(".tmp")] == []
        except AssertionError as failure:
            failures.append(f"killed before {number}, {change}: {str(failure)[:600]}")
    assert not failures, "\n\n".join([f"{len(failures)} of {len(changes)}", *failures])
