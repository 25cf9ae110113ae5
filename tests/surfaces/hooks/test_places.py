"""Which project an event belongs to, and where the paths in it lead."""

from __future__ import annotations

import json
import os

import pytest

from holdfast.machine import place
from holdfast.surfaces.hooks import places
from tests.surfaces.hooks.conftest import denied, edit, git
from tests.surfaces.hooks.scene import lock
from tests.tiers import need_own_system


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def agree(folder):
    """The hook's answer, which must be that of the rest of Holdfast."""
    root, worktree = places.find(str(folder))
    one = place.find(str(folder))
    assert worktree == one.worktree
    assert root == (one.root if os.path.isdir(one.home) else "")
    return root, worktree


def test_a_folder_belongs_to_the_nearest_home(project):
    (project.root / "a/b").mkdir(parents=True)
    (project.root / "a/.holdfast").mkdir()
    assert agree(project.root) == (str(project.root),) * 2
    assert agree(project.root / "a/b") == (str(project.root / "a"),) * 2


def test_a_home_above_a_repository_is_not_its_own(repository, tmp_path):
    (tmp_path / ".holdfast").mkdir()
    (repository / "deep").mkdir()
    assert agree(repository / "deep") == ("", str(repository))


def test_a_linked_worktree_shares_the_home_of_the_main_one(repository, tmp_path):
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    git(repository, "worktree", "add", "-q", "-b", "inner", str(repository / "trees/inner"))
    assert agree(tmp_path / "linked") == ("", str(tmp_path / "linked"))
    (repository / ".holdfast").mkdir()
    (tmp_path / "linked/deep").mkdir()
    (tmp_path / "linked/.holdfast").mkdir()
    assert agree(tmp_path / "linked/deep") == (str(repository), str(tmp_path / "linked"))
    assert agree(repository / "trees/inner") == (str(repository), str(repository / "trees/inner"))


def test_worktrees_of_a_bare_repository_share_a_home_beside_its_objects(repository, tmp_path):
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repository), str(bare))
    git(bare, "worktree", "add", "-q", str(tmp_path / "linked"), "main")
    (bare / ".holdfast").mkdir()
    assert agree(tmp_path / "linked") == (str(bare), str(tmp_path / "linked"))


def test_a_submodule_is_a_project_of_its_own(repository, tmp_path):
    outer = tmp_path / "outer"
    git(tmp_path, "init", "-q", str(outer))
    (outer / ".holdfast").mkdir()
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repository), "sub")
    assert agree(outer / "sub") == ("", str(outer / "sub"))
    git(outer / "sub", "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    (outer / "sub/.holdfast").mkdir()
    assert agree(tmp_path / "linked") == (str(outer / "sub"), str(tmp_path / "linked"))


@pytest.mark.parametrize("content", ["", "gitdir: nowhere\n", "GITDIR: ../.git\n", "gitdir: /\0\n", "x", "gitdir: .\n"])
def test_a_broken_pointer_of_git_is_no_repository(repository, content):
    (repository / "sub").mkdir()
    (repository / "sub/.git").write_text(content)
    (repository / ".holdfast").mkdir()
    assert agree(repository / "sub") == (str(repository),) * 2


def test_links_to_a_project_are_the_project(repository, tmp_path):
    (repository / ".holdfast").mkdir()
    (repository / "sub").mkdir()
    (tmp_path / "link").symlink_to("repository/sub")
    (tmp_path / "loop").symlink_to("loop")
    assert agree(tmp_path / "link") == (str(repository),) * 2
    assert places.real(str(tmp_path / "link/../x")) == str(repository / "x")


def test_the_path_of_a_note_is_that_in_the_worktree(repository, tmp_path, project):
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    project.home.rename(repository / ".holdfast")
    project.root, project.home = tmp_path / "linked", repository / ".holdfast"
    project.active()
    project.hook("PostToolUse", tool_name="Write", tool_input={"file_path": str(tmp_path / "linked/src/a.py")})
    assert [note["paths"] for note in project.notes()] == [["src/a.py"]]


@pytest.mark.parametrize("cwd", [None, "relative", "/nowhere/at/all", 5, "/\0"])
def test_the_hosts_variable_then_the_process_says_where_it_is(project, tmp_path, cwd):
    project.active()
    event = json.dumps(project.event("SessionEnd", reason="x", cwd=cwd)).encode()
    project.raw(event, cwd=tmp_path, CLAUDE_PROJECT_DIR=str(project.root))
    project.raw(event, cwd=project.root)
    project.raw(event, cwd=tmp_path)
    assert len(project.notes()) == 2


@pytest.mark.parametrize("name", ["vendor/lib", "../elsewhere"])
def test_an_agent_that_left_the_project_is_still_at_the_hosts(project, repository, name):
    """In a repository of its own inside the project, or outside of it."""
    folder = project.root / name
    folder.parent.mkdir(exist_ok=True)
    repository.rename(folder)
    project.active()
    project.guard(deny=[{"tool": "Bash(git push*)", "step": "x"}])

    def sent(event, **more):
        event = project.event(event, cwd=str(folder), **more)
        return project.raw(json.dumps(event).encode(), cwd=folder, CLAUDE_PROJECT_DIR=str(project.root))

    assert "git push" in denied(sent("PreToolUse", tool_name="Bash", tool_input={"command": "git push"}))
    given = {"file_path": os.path.relpath(project.root / ".holdfast/index", folder)}
    assert ".holdfast" in denied(sent("PreToolUse", tool_name="Edit", tool_input=given))
    sent("PostToolUse", tool_name="Write", tool_input={"file_path": "a.c"})
    sent("PostToolUse", tool_name="Write", tool_input={"file_path": str(project.root / "b.c")})
    sent("UserPromptSubmit", prompt="release-1")
    sent("SessionEnd", reason="clear")
    written = [["vendor/lib/a.c"]] if name == "vendor/lib" else []
    assert [note["paths"] for note in project.notes() if "paths" in note] == [*written, ["b.c"]]
    assert [note["event"] for note in project.notes()][-2:] == ["UserPromptSubmit", "SessionEnd"]


def test_the_project_one_stands_in_comes_before_the_hosts(project, tmp_path):
    other = tmp_path / "other"
    (other / ".holdfast").mkdir(parents=True)
    project.active()
    event = json.dumps(project.event("SessionEnd", reason="x")).encode()
    project.raw(event, CLAUDE_PROJECT_DIR=str(other))
    assert len(project.notes()) == 1
    assert os.listdir(other / ".holdfast") == []


def test_a_host_without_a_project_leaves_one_where_one_stands(tmp_path, project):
    outside = tmp_path / "outside"
    outside.mkdir()
    event = project.event("PreToolUse", cwd=str(outside), tool_name="Edit", tool_input={"file_path": "x"})
    assert project.raw(json.dumps(event).encode(), cwd=outside, CLAUDE_PROJECT_DIR=str(tmp_path)) == b""


def test_a_file_of_another_project_is_judged_by_that_project(project, tmp_path):
    need_own_system()
    outside = tmp_path / "outside"
    outside.mkdir()
    project.guard(locks=[lock("src/a.py")])
    for path, expected in ((".holdfast/x", ".holdfast"), ("src/a.py", "src/a.py is locked"), ("src/b.py", "")):
        answer = edit(project, project.root / path, cwd=str(outside))
        assert expected in denied(answer) if expected else answer == b""


def test_variables_of_the_host_are_filled_in(project, tmp_path):
    for line in ("rm -rf $CLAUDE_PROJECT_DIR/.holdfast", "rm -rf ${HOME}", 'cd "$HOME" && rm -rf .holdfast'):
        event = project.event("PreToolUse", cwd=str(tmp_path), tool_name="Bash", tool_input={"command": line})
        known = {"CLAUDE_PROJECT_DIR": str(project.root), "HOME": str(project.root)}
        assert ".holdfast" in denied(project.raw(json.dumps(event).encode(), cwd=tmp_path, **known))
