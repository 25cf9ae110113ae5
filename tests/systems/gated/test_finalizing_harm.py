"""What finalizing must not do: delete what no commit has, publish what nobody approved, stop in the middle."""

from __future__ import annotations

import os
import shlex
import subprocess

import pytest

from tests.acceptance.feature import DOCS, FIRST, HOME, SECOND, SLUG, TESTING, TITLE, House
from tests.acceptance.kills import Kills

DESCRIPTION = f"{HOME}/00-feature/description.md"
DIAGRAM = f"{HOME}/{SECOND}/diagrams/late.svg"


@pytest.fixture
def house(tmp_path) -> House:
    """A feature that only has to be finalized."""
    return House(tmp_path / "house").publish().completed()


def in_some_commit(house: House, path: str, text: str) -> bool:
    commits = house.git("log", "--format=%H", "--", path).split()
    shown = (subprocess.run(["git", "show", f"{one}:{path}"], cwd=house.root, capture_output=True) for one in commits)
    return any(one.stdout.decode() == text for one in shown)


def test_what_was_written_after_a_finalize_died_deleting_is_committed_before_it_is_deleted(house):
    kills = Kills(house)
    first = next(
        n
        for n, change in enumerate(kills.changes("feature", "finalize"), 1)
        if change.startswith(f"os.remove /{HOME}/0")
    )
    died = kills.before(first, "feature", "finalize")
    died.write(f"{HOME}/late.md", "A late thought\n")
    died.write(DESCRIPTION, "# Edited late\n")
    assert f"{HOME} is deleted" in died.ok("feature", "finalize", SLUG).out
    assert not (died.root / HOME).exists()
    assert in_some_commit(died, f"{HOME}/late.md", "A late thought\n")
    assert in_some_commit(died, DESCRIPTION, "# Edited late\n")
    assert died.subjects()[-1] == f"[workflow] {DOCS}: Finalize {TITLE}"
    assert died.status() == []


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_an_edit_that_git_was_told_not_to_look_at_stays_and_is_named(house, flag):
    house.git("update-index", flag, DESCRIPTION)
    house.write(DESCRIPTION, "# Only here\n")
    answer = house.ok("feature", "finalize")
    assert house.read(DESCRIPTION) == "# Only here\n"
    assert f"{DESCRIPTION} stays" in answer.out
    assert "is deleted" not in answer.out
    assert [path.name for path in (house.root / HOME).rglob("*") if path.is_file()] == ["description.md"]


def test_a_folder_that_became_a_link_is_not_deleted_through(house, tmp_path):
    outside = tmp_path / "outside"
    (house.root / HOME / "00-feature").rename(outside)
    (house.root / HOME / "00-feature").symlink_to(outside)
    house.agent("feature", "finalize")
    assert sorted(path.name for path in outside.iterdir()) == ["description.md", "features.md"]


def test_a_diagram_that_was_drawn_after_the_approval_is_not_published(house):
    house.write(DIAGRAM, "<svg>late</svg>\n")
    docs = {str(one): one.read_bytes() for one in (house.root / "docs").rglob("*") if one.is_file()}
    at = house.git("rev-parse", "HEAD")
    error = house.refused("feature", "finalize")
    assert (error["code"], error["facts"]["step"]) == ("gate_unmet", SECOND)
    assert error["remedies"][-1] == {"who": "person", "command": f"holdfast approve {SECOND}"}
    assert {str(one): one.read_bytes() for one in (house.root / "docs").rglob("*") if one.is_file()} == docs
    assert (house.state()["status"], house.git("rev-parse", "HEAD")) == ("completed", at)
    os.unlink(house.root / DIAGRAM)
    house.ok("feature", "finalize")
    assert not (house.root / "docs/diagrams/late.svg").exists()


def test_a_doc_that_changed_after_a_finalize_died_publishing_is_not_published(house):
    kills = Kills(house)
    changes = kills.changes("feature", "finalize")
    died = kills.before(changes.index("os.rename /docs/requirements.md") + 1, "feature", "finalize")
    died.write(DIAGRAM, "<svg>late</svg>\n")
    assert died.refused("feature", "finalize", SLUG)["code"] == "gate_unmet"
    os.unlink(died.root / DIAGRAM)
    died.ok("feature", "finalize", SLUG)


def test_code_that_changed_after_a_finalize_died_is_looked_at_again(house):
    kills = Kills(house)
    first = next(
        n for n, change in enumerate(kills.changes("feature", "finalize"), 1) if "os.remove /" + HOME in change
    )
    died = kills.before(first, "feature", "finalize")
    died.write("src/key.py", "# Nobody saw this\n")
    died.write("src/late.py", "# Nor this\n")
    died.git("add", "src")
    died.git("commit", "-q", "-m", "Late")
    error = died.refused("feature", "finalize", SLUG)
    assert "passed before the work changed" in error["message"]
    died.ok(*error["remedies"][0]["command"].split()[1:])
    error = died.refused("feature", "finalize", SLUG)
    assert error["facts"]["files"] == ["src/key.py", "src/late.py"]
    for one in error["remedies"]:
        words = shlex.split(one["command"])
        if words[0] == "git":
            died.git(*words[1:])
    died.ok("check", "test", "--step", TESTING)
    died.ok("feature", "finalize", SLUG)
    assert not (died.root / "src/late.py").exists()


def nested(house: House, path: str) -> None:
    """A repository of its own, with a commit."""
    inner = house.root / path
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    (inner / "own.txt").write_text("Its own\n")
    for words in (["add", "own.txt"], ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "Own"]):
        subprocess.run(["git", "-C", str(inner), *words], check=True)


def test_a_submodule_stays_and_the_rest_is_finalized(house):
    nested(house, f"{HOME}/lib")
    house.git("-c", "advice.addEmbeddedRepo=false", "add", f"{HOME}/lib")
    house.git("commit", "-q", "-m", "A submodule")
    answer = house.ok("feature", "finalize")
    assert f"{HOME}/lib/ stays: it is a repository of its own" in answer.out
    assert "is deleted" not in answer.out
    assert [path.name for path in (house.root / HOME).iterdir()] == ["lib"]
    assert house.git("ls-tree", "-r", "--name-only", "HEAD", "--", HOME).split() == [f"{HOME}/lib"]
    assert subprocess.run(["git", "-C", str(house.root / HOME / "lib"), "fsck"], capture_output=True).returncode == 0
    assert house.status() == []


def test_a_submodule_that_is_not_checked_out_stays_too(house):
    nested(house, f"{HOME}/lib")
    house.git("-c", "advice.addEmbeddedRepo=false", "add", f"{HOME}/lib")
    house.git("commit", "-q", "-m", "A submodule")
    subprocess.run(["rm", "-rf", str(house.root / HOME / "lib")], check=True)
    (house.root / HOME / "lib").mkdir()
    assert f"{HOME}/lib/ stays" in house.ok("feature", "finalize").out
    assert house.status() == []


@pytest.mark.parametrize("has_commits", [True, False])
def test_a_repository_inside_the_workspace_stops_no_commit_and_is_not_deleted(tmp_path, has_commits):
    house = House(tmp_path / "house").publish().begun()
    if has_commits:
        nested(house, f"{HOME}/try")
    else:
        subprocess.run(["git", "init", "-q", str(house.root / HOME / "try")], check=True)
        house.write(f"{HOME}/try/own.txt", "Its own\n")
    house.make(FIRST)
    assert "not committed" not in house.ok("done", "1").out
    assert f"{HOME}/{FIRST}/requirements.md" in house.files_of("HEAD")
    assert "own.txt" not in house.git("ls-tree", "-r", "--name-only", "HEAD")


def test_a_repository_inside_the_workspace_stays_whole_when_the_rest_is_deleted(house):
    nested(house, f"{HOME}/{SECOND}/try")
    folders = sorted(str(path) for path in (house.root / HOME / SECOND / "try").rglob("*"))
    answer = house.ok("feature", "finalize")
    assert f"{HOME}/{SECOND}/try/ stays" in answer.out
    assert sorted(str(path) for path in (house.root / HOME / SECOND / "try").rglob("*")) == folders
    assert ".git" not in answer.out


@pytest.mark.parametrize("pattern", ["workflow/", "workflow/*", f"/{HOME}", "workflow/*/00-feature/"])
def test_a_feature_does_not_begin_where_git_ignores_it(tmp_path, pattern):
    house = House(tmp_path / "house").publish()
    house.write(".gitignore", f"{pattern}\n")
    error = house.refused("start", "feature", TITLE)
    assert (error["code"], ".gitignore" in error["remedy"]) == ("workspace_ignored", True)
    assert not (house.root / "workflow").exists()
    assert house.git("branch", "--show-current").strip() == "main"
    assert house.ok("list", "--json").json["workflows"] == []
    os.unlink(house.root / ".gitignore")
    house.ok("start", "feature", TITLE)


def test_a_folder_where_the_note_of_a_cancellation_belongs_only_delays_the_commit(tmp_path):
    house = House(tmp_path / "house").publish().begun()
    house.write(f"{HOME}/cancellation.md/mine.txt", "Mine\n")
    answer = house.ok("done", "1")
    assert "not committed yet: " in answer.out
    assert house.phase(FIRST)["status"] == "in_review"
    os.rename(house.root / HOME / "cancellation.md", house.root / HOME / "mine")
    assert "not committed" not in house.ok("feature", "continue").out


def test_nothing_is_committed_for_a_phase_that_has_not_begun(tmp_path):
    house = House(tmp_path / "house").publish().begun()
    house.write("src/key.py", "key = 1\n")
    at = house.git("rev-parse", "HEAD")
    error = house.refused("commit", "5", "-m", "Early")
    assert (error["code"], error["remedy"]) == ("wrong_status", "holdfast next")
    assert house.git("rev-parse", "HEAD") == at
    house.ok("commit", "1", "-m", "In time")


def test_after_an_interruption_documents_are_published_only_as_they_were_approved(house):
    """Who changes a document and its published copy alike, or deletes it, gets nothing in without a person."""
    lock = house.root / ".git" / "index.lock"
    lock.touch()
    assert house.agent("feature", "finalize").code != 0
    lock.unlink()
    docs, copies = house.root / "docs/requirements.md", house.root / HOME / FIRST / "requirements.md"
    for path in (docs, copies):
        path.write_text(path.read_text() + "- UNAPPROVED\n")
    error = house.refused("feature", "finalize", "--merged", "docs/requirements.md")
    assert error["code"] == "gate_unmet"
    assert "git restore" in error["remedy"]
    for gone in (copies, house.root / HOME / SECOND / "architecture.md", house.root / DIAGRAM.replace("late", "key")):
        gone.unlink()  # of the second phase, nothing is left
    assert f"{HOME}/{SECOND}/architecture.md" in house.refused("feature", "finalize")["remedy"]
    house.git("restore", "--source=HEAD", "--", f"{HOME}/{SECOND}")
    house.git("restore", "--source=HEAD", "--", f"{HOME}/{FIRST}/requirements.md", "docs/requirements.md")
    house.ok("feature", "finalize")
    assert "UNAPPROVED" not in house.git("show", "HEAD:docs/requirements.md")
