"""Starting a feature: what can be one, what is in the way, and a start that was interrupted or made twice."""

from __future__ import annotations

import subprocess

import pytest

from tests.acceptance.feature import BRANCH, FIRST, HOME, SECOND, SLUG, TITLE, House
from tests.acceptance.kills import Kills
from tests.phases import write_outputs


@pytest.fixture
def house(tmp_path):
    return House(tmp_path / "house")


def everything(house: House) -> dict[str, bytes]:
    """Every file that belongs to people, and where git stands."""
    own = {".git", ".holdfast"}
    files = {
        str(path.relative_to(house.root)): path.read_bytes()
        for path in house.root.rglob("*")
        if path.is_file() and not own & set(path.relative_to(house.root).parts)
    }
    said = house.git("symbolic-ref", "HEAD"), house.git("for-each-ref"), "\n".join(house.status())
    return {**files, "(git)": "\n".join(said).encode()}


def not_started(house: House, *words: str, exit_code: int = 2) -> dict:
    """The error of a start that changed nothing."""
    before = everything(house)
    error = house.refused("start", "feature", *words, code=exit_code)
    assert everything(house) == before
    assert error["remedy"]
    return error


def is_begun(house: House) -> None:
    """A whole start is there, once."""
    assert house.git("branch", "--show-current").strip() == BRANCH
    assert house.subjects().count(f"[workflow] {FIRST}: Start {TITLE}") <= 1
    assert house.status() == []
    assert house.phases() == ["in_progress", "pending", "pending", "pending", "pending"]
    assert house.read(f"{HOME}/00-feature/features.md").count(f"`{SLUG}`") == 1
    assert house.read(f"{HOME}/{SECOND}/architecture.md") == house.read("docs/architecture.md")
    listed = set(house.git("ls-tree", "-r", "--name-only", "HEAD", "--", HOME).split())
    assert listed == {
        *(f"{HOME}/00-feature/{name}" for name in ("description.md", "features.md")),
        *(f"{HOME}/{FIRST}/{name}" for name in ("requirements.md", "status.json")),
        *(f"{HOME}/{SECOND}/{name}" for name in ("architecture.md", "diagrams/door.svg")),
        *(f"{HOME}/{name}" for name in ("workflow-state.json", "journal.jsonl")),
    }
    assert [entry.id for entry in house.project().wired.store.entries()] == [SLUG]


SLUGS = [
    *("../../etc", "..", ".", "a", "x" * 65, "Upper-case", "two--dashes", "-ab", "ab-", "a/b", "a b", "a_b", "größe"),
    *("workflow", "all", "status", "list", "help", "ab\n", "ab\x00", "a.b", "~root", "$HOME", "ａｂ"),
]


@pytest.mark.parametrize("slug", [slug for slug in SLUGS if "\0" not in slug])
def test_what_cannot_be_the_name_of_a_folder_and_a_branch_is_no_slug(house, slug):
    error = not_started(house, TITLE, "--set", f"slug={slug}")
    assert error["code"] in ("bad_slug", "bad_usage", "bad_text"), error


@pytest.mark.parametrize("title", ["Keys", "x" * 501, "    a    ", "", "Sign\x1b[31m in", "Sign\u202e in by key"])
def test_a_description_has_five_to_five_hundred_characters_that_can_be_shown(house, title):
    error = not_started(house, title)
    assert error["code"] in ("bad_description", "bad_usage", "bad_text"), error


@pytest.mark.parametrize("title", ["Locks", "Sign " * 100])
def test_the_shortest_and_the_longest_description_are_taken(house, title):
    house.ok("start", "feature", title)
    (folder,) = (house.root / "workflow").iterdir()
    assert 2 <= len(folder.name) <= 64
    assert house.git("branch", "--show-current").strip() == f"feature/{folder.name}"


@pytest.mark.parametrize("title", ["🔑🔑🔑🔑🔑", "Status", "!!!!!"])
def test_a_title_that_makes_no_slug_needs_one_to_be_named(house, title):
    error = not_started(house, title)
    assert error["code"] == "bad_slug"
    assert "--set slug=" in error["remedy"]
    house.ok("start", "feature", title, "--set", f"slug={SLUG}")
    assert (house.state()["feature"], house.state()["feature_title"]) == (SLUG, title)
    assert house.read(f"{HOME}/00-feature/description.md") == f"# {title}\n"
    assert house.subjects() == [f"[workflow] {FIRST}: Start {title}"]


def test_a_workspace_that_no_journal_knows_is_not_started_over(house):
    house.write(f"{HOME}/{FIRST}/status.json", '{"phase": "01-requirements"}\n')
    house.write(f"{HOME}/{FIRST}/requirements.md", "Somebody's work\n")
    error = not_started(house, TITLE, exit_code=6)
    assert error["code"] == "document_broken"
    assert f"holdfast feature recover {SLUG}" in error["remedy"]


def test_a_workspace_with_a_journal_that_cannot_be_read_is_not_started_over(house):
    house.write(f"{HOME}/journal.jsonl", "This is no journal.\n")
    error = not_started(house, TITLE, exit_code=3)
    assert error["code"] == "workspace_exists"
    assert f"holdfast feature recover {SLUG}" in error["remedy"]


def test_a_feature_that_is_under_way_is_not_started_again(house):
    house.begun()
    error = not_started(house, TITLE, exit_code=3)
    assert error["code"] == "already_active"


def test_a_feature_under_way_is_never_given_up_by_a_start_that_is_refused(house):
    house.started()
    error = not_started(house, TITLE, exit_code=3)
    assert "--fresh" not in error["remedy"]
    assert f"holdfast start feature '{TITLE}' --set slug=NAME" in error["remedy"]
    error = not_started(house, TITLE, "--fresh", exit_code=3)
    assert error["code"] == "workspace_exists"
    assert error["remedy"].startswith("continue with it: holdfast next · or ")
    house.git("switch", "-q", "main")
    house.ok("start", "feature", TITLE, "--set", "slug=second-key")
    assert house.project().workflow(SLUG).state.cancelled is None


def test_what_a_phase_that_waits_suggests_is_as_short_as_any_command(house):
    house.begun()
    house.write(f"{HOME}/{FIRST}/requirements.md", "# Requirements\n\nDoors open by key.\n")
    house.ok("done", FIRST)
    below = house.at(house.root / "docs")
    below.write(f"{HOME}/{FIRST}/reviews/review-1.md", "## Decision: APPROVED\n")
    refusal = below.refused("review", FIRST, code=4)
    lies = f"{HOME}/{FIRST}/reviews/review-1.md"
    assert refusal["remedy"] == f"move {below.root / lies} to {house.root / lies}"
    house.write(lies, "## Decision: APPROVED\n")
    house.ok("review", FIRST)
    said = house.ok("feature", "continue").out
    assert f"holdfast approve {FIRST} · or holdfast reject {FIRST} --feedback TEXT (" in said


def test_a_feature_that_was_given_up_is_taken_up_by_what_a_new_start_suggests(house):
    house.begun()
    house.ok("cancel", "-w", SLUG)
    error = not_started(house, TITLE, exit_code=3)
    assert error["code"] == "workspace_exists"
    assert f"holdfast resume -w {SLUG}" in error["remedy"]
    house.ok("resume", "-w", SLUG)
    assert house.project().workflow(SLUG).state.cancelled is None


def test_a_branch_of_that_name_that_stands_elsewhere_is_left_alone(house):
    house.git("switch", "-q", "-c", BRANCH)
    house.write("more.txt", "")
    house.git("add", "more.txt")
    house.git("commit", "-q", "-m", "More")
    house.git("switch", "-q", "main")
    assert not_started(house, TITLE, exit_code=3)["code"] == "branch_exists"


def test_a_branch_of_that_name_at_the_same_commit_is_used(house):
    house.git("branch", BRANCH)
    house.ok("start", "feature", TITLE)
    is_begun(house)


def test_a_feature_lives_in_a_git_repository(tmp_path, house):
    bare = tmp_path / "bare"
    bare.mkdir()
    alone = house.at(bare)
    assert alone.refused("start", "feature", TITLE, code=2)["code"] == "no_repository"
    assert [path.name for path in bare.iterdir()] == []


def test_a_repository_without_a_commit_begins_with_the_feature(tmp_path, house):
    new = house.at(tmp_path / "new")
    subprocess.run(["git", "init", "-q", "-b", "main", str(new.root)], check=True)
    new.ok("start", "feature", TITLE)
    assert new.git("branch", "--show-current").strip() == BRANCH
    assert new.git("log", "--format=%s").splitlines() == [f"[workflow] {FIRST}: Start {TITLE}"]
    assert new.status() == []


def test_nothing_begins_in_the_middle_of_a_merge(house):
    house.git("switch", "-q", "-c", "other")
    house.write("notes.txt", "Theirs.\n")
    house.git("commit", "-q", "-am", "Theirs")
    house.git("switch", "-q", "main")
    house.write("notes.txt", "Ours.\n")
    house.git("commit", "-q", "-am", "Ours")
    subprocess.run(["git", "-C", str(house.root), "merge", "-q", "other"], capture_output=True, check=False)
    error = not_started(house, TITLE, exit_code=3)
    assert "merge" in error["message"]


def test_a_linked_worktree_has_a_feature_of_its_own(house, tmp_path):
    house.begun()
    other = house.at(tmp_path / "beside")
    house.git("worktree", "add", "-q", "-b", "beside", str(other.root), "main")
    other.ok("start", "feature", "Ring the bell")
    assert other.git("branch", "--show-current").strip() == "feature/ring-the-bell"
    assert (other.root / "workflow" / "ring-the-bell" / "workflow-state.json").exists()
    assert house.ok("status", "--json").json["workflow_id"] == SLUG
    assert other.ok("status", "--json").json["workflow_id"] == "ring-the-bell"
    write_outputs(other.write, "workflow/ring-the-bell", FIRST)
    other.ok("done", "1")
    house.ok("done", "1")
    assert other.git("log", "-1", "--format=%s").startswith(f"[workflow] {FIRST}: ")
    assert house.status() == other.status() == []


@pytest.mark.parametrize("name", ["docs/requirements.md", f"{HOME}/{FIRST}", "workflow"])
def test_a_link_in_the_way_of_a_start_is_not_followed(house, tmp_path, name):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "requirements.md").write_text("Secret.\n")
    full = house.root / name
    full.parent.mkdir(parents=True, exist_ok=True)
    full.unlink(missing_ok=True)
    full.symlink_to(outside / "requirements.md" if name.endswith(".md") else outside)
    error = house.agent("start", "feature", TITLE, "--json")
    assert error.code != 0, error
    assert error.error["code"] == "symlink"
    assert [path.name for path in outside.iterdir()] == ["requirements.md"]
    assert (outside / "requirements.md").read_text() == "Secret.\n"
    assert "Secret" not in house.git("log", "-p", "--all")


def test_two_starts_at_once_make_one_feature(house):
    both = [house.begin_agent("start", "feature", TITLE) for _ in range(2)]
    codes = sorted(process.wait(60) for process in both)
    assert codes == [0, 3]
    house.ok("feature", "continue")
    is_begun(house)


def test_a_start_that_was_killed_before_any_of_its_changes_is_made_again(house):
    kills = Kills(house)
    words = ("start", "feature", TITLE)
    changes = kills.chosen(*words)
    assert {"git switch", "git commit"} <= {change for _, change in changes}
    failures = []
    for number, change in changes:
        killed = kills.before(number, *words)
        try:
            project = killed.project()
            project.heal()
            if not project.wired.store.entries():
                kills.again(killed, *words)
            kills.again(killed, "feature", "continue")
            is_begun(killed)
        except AssertionError as failure:
            failures.append(f"killed before {number}, {change}: {str(failure)[:600]}")
    assert not failures, "\n\n".join([f"{len(failures)} of {len(changes)}", *failures])
