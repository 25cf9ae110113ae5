"""Documents of phases that were handed in, and are deleted by accident: no commit takes the deletion along."""

from __future__ import annotations

import shutil

import pytest

from tests.acceptance.feature import DOCS, FIRST, HOME, House

REQUIREMENTS = f"{HOME}/{FIRST}/requirements.md"


@pytest.fixture
def house(tmp_path) -> House:
    return House(tmp_path / "house")


def test_the_deletion_of_an_approved_document_is_not_committed_and_git_brings_it_back(house):
    house.up_to(FIRST, "approved")
    house.ok("feature", "continue")
    (house.root / REQUIREMENTS).unlink()
    answer = house.agent("feature", "continue")
    assert house.git("ls-tree", "-r", "--name-only", "HEAD", REQUIREMENTS).strip() == REQUIREMENTS
    assert f"git restore --source=HEAD -- {REQUIREMENTS}" in answer.out + answer.err, answer
    error = house.person("approve", FIRST)
    assert error.code == 3, error
    assert f"{REQUIREMENTS} was deleted" in error.out
    assert "?" not in error.out
    house.git("restore", "--source=HEAD", "--", REQUIREMENTS)
    assert "no longer holds" not in house.ok("status").out


def test_what_a_person_deleted_by_a_commit_is_brought_back_from_the_one_before(house):
    house.up_to(FIRST, "approved")
    house.git("rm", "-q", REQUIREMENTS)
    house.git("commit", "-q", "-m", "Clean up")
    command = house.ok("next").out
    assert "was deleted" in house.ok("list").out
    commit = house.git("rev-parse", "HEAD^").strip()[:12]
    assert f"git restore --source={commit} -- {REQUIREMENTS}" in command
    house.git("restore", f"--source={commit}", "--", REQUIREMENTS)
    assert "no longer holds" not in house.ok("status").out
    assert "holdfast feature finalize" in house.ok("list").out


@pytest.mark.parametrize("status", ["completed", "waiting"])
def test_a_workspace_that_is_deleted_comes_back_whole(house, status):
    house.completed() if status == "completed" else house.up_to(FIRST)
    files = house.git("ls-tree", "-r", "--name-only", "HEAD", HOME)
    shutil.rmtree(house.root / HOME)
    answer = house.ok("feature", "continue") if status == "completed" else house.ok("next")
    assert house.git("ls-tree", "-r", "--name-only", "HEAD", HOME) == files
    assert house.git("status", "--porcelain", HOME) == "", answer
    assert (house.root / HOME / DOCS / "user-docs.md").exists() == (status == "completed")


def test_an_open_phase_may_lose_what_its_creator_deletes(house):
    house.begun()
    house.write(f"{HOME}/{FIRST}/notes.md", "Notes.\n")
    house.reviewed(FIRST, 1, "Shorter, please.")
    (house.root / HOME / FIRST / "notes.md").unlink()
    house.make(FIRST, "Less.\n")
    house.ok("done", FIRST)
    assert "notes.md" not in house.git("ls-tree", "-r", "--name-only", "HEAD", HOME)
