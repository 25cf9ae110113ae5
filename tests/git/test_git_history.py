"""What a piece of work changed, read off the history of real repositories."""

from __future__ import annotations

import subprocess

import pytest

from holdfast import git
from holdfast.git import history as git_history
from holdfast.git.history import Work
from tests.workbench import Bench

ODD_NAMES = ["with space", "line\nbreak", "-dash", "--force", "umläut", "tab\there", ":(top)x", "bytes\udcff"]


@pytest.fixture
def bench(tmp_path) -> Bench:
    return Bench(tmp_path / "repository").begun()


def found(bench: Bench) -> git.Repository:
    repository = git.find(str(bench.root))
    assert repository is not None
    return repository


def saved(bench: Bench, name: str, text: str, message: str) -> str:
    bench.write(name, text)
    return bench.save(message)


def test_commits_are_those_after_one_whose_words_begin_so_oldest_first(bench):
    saved(bench, "a", "0\n", "feat(task-1.1): before it began")
    since = bench.head
    first = saved(bench, "a", "1\n", "feat(task-1.1): one")
    saved(bench, "a", "2\n", "feat(task-1.10): another task")
    saved(bench, "a", "3\n", "chore(supervisor): fix feat(task-1.1): it")
    second = saved(bench, "a", "4\n", "feat(task-1.1): two\n\nfeat(task-1.2): only in the body")
    repository = found(bench)
    assert git_history.commits_since(repository, since, "feat(task-1.1):") == [first, second]
    assert git_history.commits_since(repository, since, "feat(task-1.2):") == []
    assert git_history.commits_since(repository, bench.head, "feat(task-1.1):") == []


def test_a_subject_with_odd_characters_hides_no_commit(bench):
    since = bench.head
    odd = saved(bench, "a", "1\n", "feat(task-1.1): größer 🚪 “x”")
    next_one = saved(bench, "a", "2\n", "feat(task-1.1): plain")
    assert git_history.commits_since(found(bench), since, "feat(task-1.1):") == [odd, next_one]


@pytest.mark.parametrize("since", ["0" * 40, "nowhere", "--all", "HEAD~99", ""])
def test_a_commit_that_is_gone_leaves_nothing_after_it(bench, since):
    saved(bench, "a", "1\n", "feat(task-1.1): one")
    assert git_history.commits_since(found(bench), since, "feat(task-9.9):") == []


def test_files_and_added_lines_of_several_commits_are_taken_together(bench):
    first = saved(bench, "src/a.py", "1\n2\n3\n", "one")
    bench.write("src/a.py", "1\nzwei\n3\n4\n")
    second = saved(bench, "b.txt", "x\n", "two")
    assert git_history.of_commits(found(bench), [first, second]) == Work(("src/a.py", "b.txt"), 3 + 2 + 1)
    assert git_history.of_commits(found(bench), []) == Work()


def test_what_is_left_aside_counts_neither_as_a_file_nor_by_its_lines(bench):
    for name in ("own/state", "own/more", "ownership", "kept/x"):
        bench.write(name, "1\n")
    sha = bench.save("all")
    assert git_history.of_commits(found(bench), [sha], ("own", "kept/x")) == Work(("ownership",), 1)


def test_the_very_first_commit_counts_too(bench):
    root = bench.git("rev-list", "--max-parents=0", "HEAD")
    assert git_history.of_commits(found(bench), [root]) == Work(("README.md",), 1)


def test_a_file_that_was_moved_or_removed_was_changed(bench):
    saved(bench, "old", "1\n2\n", "one")
    bench.git("mv", "old", "new")
    moved = bench.save("two")
    bench.git("rm", "-q", "new")
    removed = bench.save("three")
    assert git_history.of_commits(found(bench), [moved]) == Work(("new", "old"), 2)
    assert git_history.of_commits(found(bench), [removed]) == Work(("new",), 0)


def test_a_binary_file_has_no_lines(bench):
    (bench.root / "picture").write_bytes(bytes(range(256)) * 10)
    assert git_history.of_commits(found(bench), [bench.save("a picture")]) == Work(("picture",), 0)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_odd_names_come_as_they_are(bench, name):
    sha = saved(bench, name, "1\n", "odd")
    assert git_history.of_commits(found(bench), [sha]) == Work((name,), 1)


def test_a_merge_counts_with_what_it_brought_to_its_branch(bench):
    bench.git("checkout", "-q", "-b", "side")
    saved(bench, "side.txt", "1\n2\n", "on the side")
    bench.git("checkout", "-q", "main")
    saved(bench, "main.txt", "1\n", "on main")
    bench.git("merge", "-q", "--no-ff", "-m", "feat(task-1.1): together", "side")
    assert git_history.of_commits(found(bench), [bench.head]) == Work(("side.txt",), 2)


def test_programs_that_the_configuration_names_are_not_run(bench, tmp_path):
    script = tmp_path / "shown"
    script.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    script.chmod(0o755)
    for key in ("diff.external", "core.pager", "diff.odd.textconv", "diff.odd.command"):
        bench.git("config", key, str(script))
    bench.write(".gitattributes", "* diff=odd\n")
    sha = saved(bench, "a", "1\n", "feat(task-1.1): one")
    repository = found(bench)
    assert set(git_history.of_commits(repository, [sha]).files) == {".gitattributes", "a"}
    assert git_history.commits_since(repository, f"{sha}~1", "feat(task-1.1):") == [sha]
    assert not (tmp_path / "ran").exists()


def test_how_the_user_likes_their_log_changes_nothing(bench):
    since = bench.head
    for key, value in {
        "log.showSignature": "true",
        "log.decorate": "full",
        "color.ui": "always",
        "format.pretty": "oneline",
        "diff.noprefix": "true",
        "diff.renames": "copies",
        "log.diffMerges": "separate",
        "diff.submodule": "log",
        "core.quotePath": "true",
    }.items():
        bench.git("config", key, value)
    sha = saved(bench, "umläut", "1\n", "feat(task-1.1): one")
    assert git_history.commits_since(found(bench), since, "feat(task-1.1):") == [sha]
    assert git_history.of_commits(found(bench), [sha]) == Work(("umläut",), 1)


def test_a_repository_without_a_commit_has_no_history(tmp_path):
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    repository = git.find(str(tmp_path))
    assert repository is not None
    assert git_history.commits_since(repository, "HEAD", "feat") == []
