"""A branch that is checked out continues with its files, or stays as it was, whenever git was ended in between."""

from __future__ import annotations

import os
import subprocess

import pytest

from holdfast import git
from holdfast.errors import Refused
from holdfast.git import bringing, unfinished

FILES = {"kept.txt": "kept\n", "changed.txt": "old\n", "gone.txt": "gone\n"}


class Tree:
    def __init__(self, root):
        self.root = root
        root.mkdir()
        self.git("init", "-q", "-b", "main")
        for name, text in FILES.items():
            (root / name).write_text(text)
        self.save("before")
        self.before = self.git("rev-parse", "HEAD")
        self.git("switch", "-q", "-c", "work")
        (root / "changed.txt").write_text("new\n")
        (root / "added.txt").write_text("added\n")
        (root / "gone.txt").unlink()
        self.save("work")
        self.to = self.git("rev-parse", "HEAD")
        self.git("switch", "-q", "main")
        found = git.find(str(root))
        assert found
        self.repo = found

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()

    def save(self, words):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", words)

    def has_gone_on(self):
        return self.git("rev-parse", "HEAD") == self.to and self.git("status", "--porcelain") == ""

    def is_as_before(self):
        return self.git("rev-parse", "HEAD") == self.before and self.git("status", "--porcelain") == ""


@pytest.fixture
def tree(tmp_path):
    return Tree(tmp_path / "house")


def begun(tree):
    unfinished.begin_bringing(tree.repo, tree.before, tree.to, "main")


def test_a_branch_goes_on_with_its_files(tree):
    assert bringing.bring(tree.repo, tree.to, "main", "bring", 1) == tree.to
    assert tree.has_gone_on()
    assert not git.is_unsettled(tree.repo)
    assert bringing.bring(tree.repo, tree.to, "main", "again", 1) == tree.to


def test_what_was_not_begun_stays_as_it_was(tree):
    begun(tree)
    assert "stays as it was" in unfinished.settle(tree.repo)
    assert tree.is_as_before()


@pytest.mark.parametrize("written", ["added.txt", "changed.txt", "gone.txt", "index"])
def test_what_git_had_begun_to_write_is_completed(tree, written):
    begun(tree)
    if written == "index":
        tree.git("read-tree", "-m", "-u", tree.before, tree.to)
    elif written == "gone.txt":
        (tree.root / written).unlink()
    else:
        tree.git("restore", f"--source={tree.to}", "--worktree", "--", written)
    assert f"has continued to {tree.to[:12]}" in unfinished.settle(tree.repo)
    assert tree.has_gone_on()


def test_a_lock_that_a_killed_git_left_is_removed(tree):
    begun(tree)
    tree.git("restore", f"--source={tree.to}", "--worktree", "--", "added.txt")
    (tree.root / ".git/index.lock").write_text("")
    unfinished.settle(tree.repo)
    assert tree.has_gone_on()


def test_what_somebody_edited_since_is_not_written_over_and_the_rest_is_taken_back(tree):
    begun(tree)
    (tree.root / "added.txt").write_text("added\n")
    (tree.root / "gone.txt").unlink()
    (tree.root / "changed.txt").write_text("somebody's own\n")
    assert "stays as it was" in unfinished.settle(tree.repo)
    assert (tree.root / "changed.txt").read_text() == "somebody's own\n"
    assert tree.git("status", "--porcelain") == "M changed.txt"
    assert tree.git("rev-parse", "HEAD") == tree.before


@pytest.mark.parametrize("name", ["added.txt", "changed.txt"])
def test_git_refuses_to_write_over_what_is_not_committed(tree, name):
    (tree.root / name).write_text("somebody's own\n")
    with pytest.raises(Refused) as caught:
        bringing.bring(tree.repo, tree.to, "main", "bring", 1)
    assert caught.value.code == "cannot_bring_in"
    assert f"overwritten by merge: {name}" in caught.value.message
    assert (tree.root / name).read_text() == "somebody's own\n"
    assert tree.git("rev-parse", "HEAD") == tree.before
    assert not git.is_unsettled(tree.repo)


def test_an_ignored_file_in_the_way_is_not_written_over_either(tree):
    (tree.root / ".git/info/exclude").write_text("added.txt\n")
    (tree.root / "added.txt").write_text("somebody's own\n")
    with pytest.raises(Refused):
        bringing.bring(tree.repo, tree.to, "main", "bring", 1)
    assert (tree.root / "added.txt").read_text() == "somebody's own\n"


def test_no_hook_of_the_repository_runs(tree):
    hook = tree.root / ".git/hooks/post-merge"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch hooked\n")
    os.chmod(hook, 0o755)
    bringing.bring(tree.repo, tree.to, "main", "bring", 1)
    assert not (tree.root / "hooked").exists()


def test_a_collision_names_the_files_and_changes_nothing(tree):
    (tree.root / "changed.txt").write_text("other\n")
    tree.save("other")
    at = tree.git("rev-parse", "HEAD")
    with pytest.raises(bringing.Collision) as caught:
        bringing.bring(tree.repo, tree.to, "main", "bring", 1)
    assert caught.value.files == ("changed.txt",)
    assert (tree.git("rev-parse", "HEAD"), tree.git("status", "--porcelain")) == (at, "")
