"""Which files a call must leave alone because another agent locked them, or because they are another project's."""

from __future__ import annotations

import os
import time

import pytest

from tests.surfaces.hooks.conftest import git
from tests.surfaces.hooks.scene import lock, workflow


def test_a_file_that_another_session_locked_is_left_alone(scene):
    scene.given(locks=[lock("src/a.py")])
    reason = scene.edit("src/a.py")
    assert "coder (session S2)" in reason
    assert "holdfast unlock src/a.py" in reason
    assert "another file" in reason
    assert scene.bash("echo > src/a.py")
    assert scene.bash("rm -rf src")
    assert scene.bash("rm src/?.py")
    assert scene.edit("src/b.py") == ""
    assert scene.edit("src/a.py.bak") == ""


def test_the_holder_of_a_lock_goes_on(scene):
    scene.given(locks=[lock("src/a.py", session="S1")])
    assert scene.edit("src/a.py") == ""
    assert scene.edit("src/a.py", agent_type="coder") == ""


def test_agents_of_one_session_respect_each_other(scene):
    scene.given(locks=[lock("src/a.py", session="S1")])
    assert "coder" in scene.edit("src/a.py", agent_type="reviewer")
    assert scene.edit("src/a.py", agent_type="") == ""


@pytest.mark.parametrize(
    ("path", "locked", "free"),
    [
        ("src/*.py", "src/a.py", "src/a.js"),
        ("src/?.py", "src/a.py", "src/ab.py"),
        ("src", "src/deep/a.py", "srcs/a.py"),
        ("src/", "src/a.py", "lib/a.py"),
    ],
)
def test_a_lock_may_cover_many_files(scene, path, locked, free):
    scene.given(locks=[lock(path)])
    assert scene.edit(locked)
    assert scene.edit(free) == ""


@pytest.mark.parametrize(
    "odd",
    [
        {"deadline": time.clock_gettime(time.CLOCK_BOOTTIME) - 1},
        {"boot": "another"},
        {"deadline": "soon"},
        {"boot": None},
        {"path": 5},
        {"path": ""},
    ],
)
def test_a_lock_that_expired_or_makes_no_sense_holds_nobody_up(scene, odd):
    scene.given(locks=[{**lock("src/a.py"), **odd}])
    assert scene.edit("src/a.py") == ""


def test_one_lock_in_a_thousand_is_found(scene):
    scene.given(locks=[lock(f"src/{number}.py") for number in range(1_000)])
    assert "src/777.py" in scene.edit("src/777.py")
    assert scene.edit("src/1000.py") == ""


# Commands that touch a whole tree


WHOLE = [
    "git checkout -- .",
    "git checkout .",
    "git checkout HEAD .",
    "git checkout -f",
    "git checkout main src/a.py",
    "git checkout -- '*.py'",
    "git checkout -- :/src",
    "git checkout -- ':(top)src/a.py'",
    "git restore .",
    "git restore src",
    "git restore -s HEAD~1 -- src/a.py",
    "git switch -f main",
    "git reset --hard",
    "git reset --hard origin/main",
    "git stash",
    "git stash -u",
    "git stash pop",
    "git clean -fd",
    "git apply x.diff",
    "patch -p1 < x.diff",
    "cd src && git reset --hard",
    "cd lib && git checkout :/",
    "git -C lib stash",
    "bash -c 'git reset --hard'",
]


@pytest.fixture
def repository(scene):
    """The project with a history, and a repository inside it that is none of its parts."""
    for name in ("lib", "vendor/lib", "src"):
        (scene.root / name).mkdir(parents=True, exist_ok=True)
    git(scene.root, "init", "-q", "-b", "main")
    git(scene.root, "commit", "-q", "--allow-empty", "-m", "first")
    git(scene.root / "vendor/lib", "init", "-q")
    return scene


@pytest.mark.parametrize("line", WHOLE)
def test_a_command_for_a_whole_tree_touches_every_locked_file(repository, line):
    repository.given(locks=[lock("src/a.py")])
    assert "src/a.py is locked by coder (session S2)" in repository.bash(line)


@pytest.mark.parametrize("line", WHOLE)
def test_who_holds_all_the_locks_may_touch_the_tree(repository, line):
    repository.given(locks=[lock("src/a.py", session="S1")])
    repository.given(locks=[lock("src/a.py", deadline=0)])
    assert repository.bash(line) == ""


@pytest.mark.parametrize(
    "line",
    [
        "git checkout main",
        "git checkout -b topic",
        "git checkout -- lib",
        "git restore --staged src/a.py",
        "git rm --cached src/a.py",
        "cd lib && git restore .",
        "git restore '*.js'",
        "git reset",
        "git stash list",
        "git stash push -- lib",
        "git clean -nd",
        "git apply --check x.diff",
        "patch -d lib -p1 < x.diff",
        "cd vendor/lib && git reset --hard",
        "git -C vendor/lib stash",
        "git commit -am x",
        "git diff",
    ],
)
def test_other_commands_of_git_leave_locked_files_alone(repository, line):
    repository.given(locks=[lock("src/a.py"), lock("docs/*")])
    assert repository.bash(line) == ""


def test_the_reason_says_what_is_typed_and_what_it_would_hit(repository):
    repository.given(locks=[lock("docs/*.md")])
    reason = repository.bash("sudo git reset --hard HEAD~1")
    assert reason.startswith("git reset --hard HEAD~1 may change any file here, and docs/*.md is locked by coder")


def test_a_nested_repository_is_a_tree_of_its_own(repository):
    repository.given(locks=[lock("vendor/lib/x.c")])
    assert "vendor/lib/x.c" in repository.bash("cd vendor/lib && git reset --hard")


def test_a_worktree_inside_of_another_is_not_touched_with_it(repository):
    inner = repository.root / "trees/inner"
    git(repository.root, "worktree", "add", "-q", "-b", "inner", str(inner))
    repository.given(worktree=str(inner), locks=[lock("src/a.py")])
    assert repository.bash("git reset --hard") == ""
    assert repository.bash("git reset --hard", cwd=str(inner))
    assert repository.bash("rm -rf trees")


def test_a_project_below_the_top_of_a_repository_is_touched_with_it(scene, tmp_path):
    git(tmp_path, "init", "-q")
    scene.given(locks=[lock("src/a.py")])
    assert scene.bash("git stash", cwd=str(tmp_path))


@pytest.mark.parametrize(
    "line",
    [
        "curl -so src/a.py https://example.org/x",
        "cd src && wget https://example.org/a.py",
        "echo x > $PWD/src/a.py",
        "rm -rf $(git rev-parse --show-toplevel)/src",
        "git submodule foreach 'rm src/a.py'",
    ],
)
def test_a_locked_file_is_known_by_other_spellings(repository, line):
    repository.given(locks=[lock("src/a.py")])
    assert "src/a.py is locked" in repository.bash(line)


def test_a_thousand_locks_that_ran_out_keep_nobody_from_the_tree(repository):
    repository.given(locks=[lock(f"src/{number}.py", boot="another") for number in range(1_000)])
    assert repository.bash("git reset --hard") == ""


# Other projects


@pytest.fixture
def other(tmp_path):
    root = tmp_path / "other"
    (root / ".holdfast").mkdir(parents=True)
    (root / "src").mkdir()
    return root


def test_the_home_of_another_project_is_protected_too(scene, other):
    assert ".holdfast" in scene.edit(other / ".holdfast/config.toml")
    assert ".holdfast" in scene.bash(f"rm -rf {other}/.hold*")
    assert ".holdfast" in scene.bash(f"rm -rf {other}")
    assert ".holdfast" in scene.bash("cd ../other && rm -rf .holdfast")
    assert scene.edit(other / "src/a.py") == ""
    assert scene.bash(f"cat {other}/.holdfast/config.toml") == ""


def test_a_project_inside_of_this_one_is_protected_too(scene):
    (scene.root / "vendor/lib/.holdfast").mkdir(parents=True)
    assert ".holdfast" in scene.edit("vendor/lib/.holdfast/index")
    assert ".holdfast" in scene.bash("rm -rf vendor/lib")
    assert scene.edit("vendor/lib/x") == ""


def test_locks_and_documents_of_another_project_count(scene, other):
    scene.views[str(other)] = {"workflows": [workflow(locks=[lock("src/a.py")], paths=["state.json"])]}
    assert "src/a.py is locked by coder" in scene.edit(other / "src/a.py")
    assert "src/a.py is locked by coder" in scene.edit("../other/src/a.py")
    assert "written by Holdfast" in scene.edit(other / "state.json")
    assert scene.edit("src/a.py") == ""
    git(other, "init", "-q")
    assert "src/a.py is locked by coder" in scene.bash(f"git -C {other} reset --hard")


def test_rules_of_another_project_are_for_those_who_work_there(scene, other):
    scene.views[str(other)] = {"workflows": [workflow(deny=[{"tool": "Edit", "step": "x"}])]}
    assert scene.edit(other / "src/a.py") == ""


def test_many_folders_are_not_all_looked_for(scene, other):
    line = " ".join(f"/nowhere/{number}/x" for number in range(5_000))
    assert scene.bash(f"touch {line}") == ""
    assert not os.path.exists("/nowhere")


def test_a_session_that_has_to_catch_up_leaves_the_document_alone_until_it_has(scene):
    document = "untracked/workflow-state/x/state-x.json"
    scene.given(ack={"document": document, "sessions": ["S2"]})
    reason = scene.edit(document)
    assert "holdfast resume-packet -w release-1" in reason
    assert "holdfast ack ID" in reason
    assert scene.bash(f"jq . a > {document}")
    assert scene.edit("src/a.py") == ""
    scene.workflows.clear()
    scene.given(ack={"document": document, "sessions": ["S1"]})
    assert scene.edit(document) == ""
