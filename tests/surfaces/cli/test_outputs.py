"""Files that commands write where somebody says: nothing else is lost by them."""

from __future__ import annotations

import shutil
import subprocess

import pytest


@pytest.mark.parametrize(
    "path", [".holdfast/index.svg", ".holdfast/journal/x.svg", ".git/x.svg", "notes.md", "notes.svg", "missing/x.svg"]
)
def test_a_picture_takes_the_place_of_nothing_but_a_picture(project, path):
    project.write("notes.md", "mine\n")
    project.write("notes.svg", "mine\n")
    subprocess.run(["git", "init", "-q", project.root], check=True)
    before = project.fingerprint()
    answer = project.agent("diagram", "--svg", path, "--json")
    assert answer.error["code"] in ("bad_path", "file_exists", "no_folder"), answer
    assert project.fingerprint() == before
    assert (project.root / "notes.md").read_text() == (project.root / "notes.svg").read_text() == "mine\n"


def test_a_picture_is_drawn_again(project):
    for _ in range(2):
        project.ok("diagram", "--svg", "steps.svg")
        project.ok("log", "--timeline", "time.svg")


def test_a_file_of_a_file_manager_among_journals_is_passed_over(project):
    for folder in ("journal", "state"):
        (project.root / ".holdfast" / folder / ".DS_Store").write_bytes(b"\0")
    project.ok("list", "--all")
    project.ok("verify")
    assert "1 journal is intact" in project.agent("doctor").out


def test_a_link_in_the_place_of_an_artifact_is_not_approved(project, tmp_path):
    """It may lead anywhere, and what it leads to is no part of the project."""
    project.people_ok("trust", "release", says="y")
    project.until("sign-off")
    draft = next(iter(project.opened().workflow().state.step("draft").artifacts.values())).path
    (tmp_path / "outside").write_text("root:x:0:0\n")
    (project.root / draft).unlink()
    (project.root / draft).symlink_to(tmp_path / "outside")
    project.agent("begin", "sign-off")
    assert "gone" in str(project.ok("next", "--json").json["inputs"])


def test_a_journal_that_is_gone_does_not_hold(project):
    shutil.rmtree(project.root / ".holdfast" / "journal")
    answer = project.agent("verify")
    assert answer.code == 6
    assert "is missing" in answer.out
