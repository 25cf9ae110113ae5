"""What Holdfast does to git, done to real repositories."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast import git
from holdfast.core.remedy import described
from holdfast.errors import Conflict, HoldfastError, NotFound, Refused, UsageError
from holdfast.git import branches, commits, content
from holdfast.git import changes as git_changes
from holdfast.git import command as git_command
from tests.git.repositories import commit_all, found, sh, write

OWN = (".holdfast",)
ODD_NAMES = ["with space", "line\nbreak", "-dash", "--force", "umläut", "star*", "[a].txt", ":(top)x", "bytes\udcff",
             'quo"te\\', "tab\there"]  # fmt: skip


def hook(folder, name, script):
    return write(folder, f".git/hooks/{name}", f"#!/bin/sh\n{script}\n", mode=0o755)


def in_commit(folder, sha="HEAD"):
    """The paths that a commit changed, each with how."""
    rows = sh(folder, "show", "--format=", "--name-status", "--no-renames", "-z", sha).split("\0")[:-1]
    return dict(zip(rows[1::2], rows[::2], strict=True))


def staged(folder):
    rows = sh(folder, "diff", "--cached", "--name-status", "--no-renames", "-z").split("\0")[:-1]
    return dict(zip(rows[1::2], rows[::2], strict=True))


def index(folder):
    return sh(folder, "ls-files", "--stage", "-v", "-z")


def said(caught):
    return str(caught.value.facts["output"])


def blob(folder, name):
    return sh(folder, "hash-object", "--", name)


@pytest.fixture
def submodule(project, tmp_path):
    sh(tmp_path, "init", "-q", "-b", "main", "library")
    write(tmp_path / "library", "l.txt", "l")
    commit_all(tmp_path / "library")
    sh(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "library"), "sub")
    commit_all(project)
    return project / "sub"


@pytest.fixture
def published(project, tmp_path):
    """The project with a bare repository on disk as its origin."""
    sh(tmp_path, "init", "-q", "--bare", "-b", "main", "remote.git")
    sh(project, "remote", "add", "origin", str(tmp_path / "remote.git"))
    return project


# --- branches


@pytest.mark.parametrize("name", ["main", "feature/x-1", "a", "v1.2_3", "fix+more=#12@home", "x" * 200, "a/-b", "_x"])
def test_a_plain_name_is_a_branch_name_and_git_agrees(tmp_path, name):
    assert git_changes.is_branch_name(name)
    assert sh(tmp_path, "check-ref-format", "--branch", name) == name


@pytest.mark.parametrize(
    "name",
    ["", "-x", "--force", "a..b", "a.lock", "a.lock/b", "A.LOCK", "@", "HEAD", "a@{1}", "a/", "/a", "a//b", "a.", ".a",
     "a/.b", "a b", "a\n", "main\n", "ä", "a:b", "a~1", "a^", "a?", "a*", "a[", "a\\b", "a\0", "a;b", "$(x)",
     "x" * 201],
)  # fmt: skip
def test_what_git_or_a_shell_could_misread_is_no_branch_name(project, name):
    assert not git_changes.is_branch_name(name)
    with pytest.raises(UsageError) as caught:
        branches.make_branch(found(project), name)
    assert caught.value.code == "bad_branch_name"
    assert git.branch(found(project)) == "main"


def test_the_tip_is_where_a_local_branch_stands(project):
    at = sh(project, "rev-parse", "HEAD")
    sh(project, "branch", "feature/ä")
    sh(project, "tag", "v1")
    repo = found(project)
    assert git_changes.tip(repo, "main") == git_changes.tip(repo, "feature/ä") == at
    for name in ("v1", "feature", "mai*", "main~0", "main@{0}", "HEAD", "", "../heads/main", "a\0b", "-q"):
        assert git_changes.tip(repo, name) is None


def test_a_new_branch_begins_at_head_and_leaves_files_and_index_as_they_are(project):
    write(project, "a.txt", "staged\n")
    sh(project, "add", "a.txt")
    write(project, "a.txt", "edited\n")
    write(project, "new.txt", "new")
    sh(project, "add", "--intent-to-add", "new.txt")
    before = sh(project, "status", "--porcelain"), index(project)
    branches.make_branch(found(project), "feature/x")
    assert git.branch(found(project)) == "feature/x"
    assert git_changes.tip(found(project), "feature/x") == git_changes.tip(found(project), "main")
    assert (sh(project, "status", "--porcelain"), index(project)) == before


def test_before_the_first_commit_a_branch_is_made_by_its_name_alone(empty):
    write(empty, "a.txt", "one")
    sh(empty, "add", "a.txt")
    branches.make_branch(found(empty), "feature/x")
    assert git.branch(found(empty)) == "feature/x"
    assert staged(empty) == {"a.txt": "A"}
    branches.make_branch(found(empty), "feature/x")


def test_a_new_branch_follows_no_other_whatever_is_configured(project):
    sh(project, "config", "branch.autoSetupMerge", "always")
    branches.make_branch(found(project), "x")
    assert sh(project, "config", "branch.x.remote", check=False) == ""


def test_the_branch_one_is_on_is_made_already_even_in_a_merge(project):
    write(project, ".git/MERGE_HEAD", sh(project, "rev-parse", "HEAD"))
    branches.make_branch(found(project), "main")
    with pytest.raises(Refused) as caught:
        branches.make_branch(found(project), "other")
    assert (caught.value.code, caught.value.facts) == ("git_busy", {"operation": "merge"})


def test_a_branch_of_that_name_at_the_same_commit_is_switched_to(project):
    sh(project, "branch", "x")
    write(project, "a.txt", "edited\n")
    branches.make_branch(found(project), "x")
    assert git.branch(found(project)) == "x"
    assert (project / "a.txt").read_text() == "edited\n"


def test_a_branch_of_that_name_elsewhere_is_left_alone(project):
    sh(project, "branch", "x")
    before = sh(project, "rev-parse", "x")
    here = commit_all(project)
    with pytest.raises(Refused) as caught:
        branches.make_branch(found(project), "x")
    assert caught.value.code == "branch_exists"
    assert caught.value.facts == {"branch": "x", "sha": before, "head": here}
    assert caught.value.remedy.startswith("git switch x")
    assert (git.branch(found(project)), sh(project, "rev-parse", "x")) == ("main", before)


def test_a_branch_below_the_name_of_another_is_refused_in_gits_words(project):
    with pytest.raises(Refused) as caught:
        branches.make_branch(found(project), "main/x")
    assert caught.value.code == "branch_failed"
    assert "refs/heads/main" in said(caught)


def test_switching_takes_edits_along_and_refuses_to_overwrite_them(project):
    sh(project, "switch", "-q", "-c", "x")
    write(project, "a.txt", "x\n")
    commit_all(project)
    repo = found(project)
    write(project, "lib/b.txt", "edited\n")
    branches.switch(repo, "main")
    assert (project / "lib/b.txt").read_text() == "edited\n"
    write(project, "a.txt", "edited\n")
    with pytest.raises(Refused) as caught:
        branches.switch(repo, "x")
    assert caught.value.code == "cannot_switch"
    assert "a.txt" in said(caught)
    assert (git.branch(repo), (project / "a.txt").read_text()) == ("main", "edited\n")


@pytest.mark.parametrize("name", ["nope", "-", "--detach", "v1", "HEAD", "@{-1}"])
def test_only_a_local_branch_is_switched_to(project, name):
    sh(project, "tag", "v1")
    with pytest.raises(Refused) as caught:
        branches.switch(found(project), name)
    assert caught.value.code == "cannot_switch"
    assert git.branch(found(project)) == "main"


def test_a_branch_of_the_remote_is_not_made_a_local_one_by_switching(published):
    sh(published, "push", "-q", "origin", "main:far")
    sh(published, "fetch", "-q", "origin")
    with pytest.raises(Refused):
        branches.switch(found(published), "far")


def test_a_hook_that_fails_after_the_switch_does_not_undo_it(project):
    hook(project, "post-checkout", "touch ran; exit 1")
    branches.make_branch(found(project), "x")
    assert git.branch(found(project)) == "x"
    assert (project / "ran").exists()


def test_a_branch_is_made_in_a_linked_worktree_and_not_in_the_main_one(project, tmp_path):
    sh(project, "worktree", "add", "-q", "-b", "side", str(tmp_path / "other"))
    branches.make_branch(found(tmp_path / "other"), "x")
    assert (git.branch(found(tmp_path / "other")), git.branch(found(project))) == ("x", "main")
    with pytest.raises(Refused, match="other") as caught:
        branches.make_branch(found(project), "x")
    assert caught.value.code == "cannot_switch"


# --- changed


class Lines(NamedTuple):
    added: int
    blob: str


def changed(repo, since, own):
    """What changed, which is the same whether something is known of the files or not, with the lines added."""
    found = content.changed(repo, since, own)
    with tempfile.TemporaryDirectory() as kept:
        for _ in range(2):
            assert content.changed(repo, since, own, f"{kept}/trees") == found
    added = content.added(repo, since, found)
    return {name: Lines(added[name], one.blob) for name, one in found.items()}


def test_a_clean_tree_has_no_changes(project):
    assert changed(found(project), git.head(found(project)), OWN) == {}


def test_what_was_edited_added_deleted_and_renamed_is_told_with_lines_and_hash(project):
    at = sh(project, "rev-parse", "HEAD")
    write(project, "a.txt", "one\nmore\nand more\n")
    (project / "lib/b.txt").rename(project / "lib/c.txt")
    write(project, "raw", b"\0\xff\n\n")
    (project / "link").symlink_to("gone")
    write(project, ".holdfast/journal", "x")
    write(project, ".gitignore", "*.log\n")
    write(project, "x.log", "noise")
    before = index(project), os.listdir(project / ".git"), os.listdir(project / ".git/objects")
    assert changed(found(project), at, OWN) == {
        "a.txt": Lines(added=2, blob=blob(project, "a.txt")),
        "lib/b.txt": Lines(added=0, blob=""),
        "lib/c.txt": Lines(added=1, blob=blob(project, "lib/c.txt")),
        "raw": Lines(added=0, blob=blob(project, "raw")),
        "link": Lines(added=1, blob=sh(project, "hash-object", "--stdin", input="gone")),
        ".gitignore": Lines(added=1, blob=blob(project, ".gitignore")),
    }
    assert (index(project), os.listdir(project / ".git"), os.listdir(project / ".git/objects")) == before


def test_changes_count_since_the_commit_asked_for_committed_ones_included(project):
    first = sh(project, "rev-parse", "HEAD")
    write(project, "new.txt", "new\n")
    write(project, "a.txt", "two\n")
    commit_all(project)
    write(project, "a.txt", "one\n")
    repo = found(project)
    assert set(changed(repo, first, OWN)) == {"new.txt"}
    assert set(changed(repo, git.head(repo), OWN)) == {"a.txt"}
    assert set(changed(repo, None, OWN)) == {"a.txt", "lib/b.txt", "new.txt"}


def test_a_commit_that_is_not_there_is_said_to_be_unknown(project):
    with pytest.raises(NotFound) as caught:
        changed(found(project), "5" * 40, OWN)
    assert caught.value.code == "unknown_commit"


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_before_the_first_commit_every_file_is_new_in_either_hash(tmp_path, kind):
    sh(tmp_path, "init", "-q", f"--object-format={kind}", "project")
    write(tmp_path / "project", "a.txt", "one\n")
    seen = changed(found(tmp_path / "project"), None, OWN)
    assert seen == {"a.txt": Lines(added=1, blob=blob(tmp_path / "project", "a.txt"))}


def test_what_is_staged_does_not_matter_only_what_is_there(project):
    at = sh(project, "rev-parse", "HEAD")
    write(project, "a.txt", "changed\n")
    sh(project, "add", "-A")
    write(project, "a.txt", "one\n")
    sh(project, "rm", "-q", "--cached", "lib/b.txt")
    assert changed(found(project), at, OWN) == {}


def test_a_mode_and_a_change_of_kind_are_changes(project):
    (project / "a.txt").chmod(0o755)
    (project / "lib/b.txt").unlink()
    (project / "lib/b.txt").symlink_to("x")
    seen = changed(found(project), git.head(found(project)), OWN)
    assert set(seen) == {"a.txt", "lib/b.txt"}
    assert seen["a.txt"] == Lines(added=0, blob=blob(project, "a.txt"))


def test_odd_names_are_told_as_they_are(project):
    for name in ODD_NAMES:
        write(project, name, "x")
    assert set(changed(found(project), git.head(found(project)), OWN)) == set(ODD_NAMES)


def test_a_submodule_at_another_commit_is_a_change_and_a_nested_repository_is_none(project, submodule):
    repo = found(project)
    sh(project, "init", "-q", "nested")
    write(project, "nested/x", "x")
    commit_all(project / "nested")
    sh(project, "worktree", "add", "-q", "-b", "side", str(project / "trees/side"))
    write(submodule, "l.txt", "edited")
    assert changed(repo, git.head(repo), OWN) == {}
    at = commit_all(submodule)
    seen = changed(repo, git.head(repo), OWN)
    assert {name: change.blob for name, change in seen.items()} == {"sub": at}
    assert "sub" in changed(repo, sh(project, "rev-parse", "HEAD^"), OWN)


def test_caches_count_only_where_they_are_tracked(project):
    write(project, "lib/node_modules/x.js", "1\n")
    commit_all(project)
    write(project, "lib/node_modules/x.js", "2\n")
    write(project, "lib/__pycache__/x.pyc", "x")
    assert set(changed(found(project), git.head(found(project)), OWN)) == {"lib/node_modules/x.js"}


def test_own_paths_are_left_out_even_when_they_are_tracked(project):
    write(project, ".holdfast/journal", "x")
    at = commit_all(project)
    write(project, ".holdfast/journal", "y")
    assert changed(found(project), at, OWN) == {}
    assert set(changed(found(project), at, ())) == {".holdfast/journal"}
    (project / ".holdfast/journal").unlink()
    assert changed(found(project), at, OWN) == {}


@pytest.mark.parametrize("how", ["--no-sparse-index", "--sparse-index"])
def test_files_outside_of_a_sparse_checkout_are_not_deleted_ones(project, how):
    write(project, "far/c.txt", "three\n")
    first = commit_all(project)
    sh(project, "sparse-checkout", "set", "--cone", how, "lib")
    assert not (project / "far").exists()
    repo = found(project)
    assert changed(repo, first, OWN) == {}
    write(project, "lib/b.txt", "changed\n")
    assert set(changed(repo, first, OWN)) == {"lib/b.txt"}
    sha = commits.commit(repo, ["lib/b.txt", "far/c.txt"], "only what is here")
    assert in_commit(project, sha) == {"lib/b.txt": "M"}
    assert sh(project, "status", "--porcelain") == ""


def test_line_ends_that_git_would_convert_are_no_change(project):
    sh(project, "config", "core.autocrlf", "true")
    write(project, "a.txt", "one\r\n")
    repo = found(project)
    assert changed(repo, git.head(repo), OWN) == {}
    with pytest.raises(Refused) as caught:
        commits.commit(repo, ["a.txt"], "nothing")
    assert caught.value.code == "nothing_to_commit"


def test_a_conflict_does_not_hide_what_changed(project):
    torn(project)
    assert set(changed(found(project), git.head(found(project)), OWN)) == {"a.txt"}


def torn(project):
    sh(project, "switch", "-q", "-c", "side")
    write(project, "a.txt", "side\n")
    commit_all(project)
    sh(project, "switch", "-q", "main")
    write(project, "a.txt", "main\n")
    commit_all(project)
    sh(project, "merge", "side", check=False)


# --- commit


def refused(project, paths, code, message="a message"):
    """A commit that is refused and leaves HEAD, index and files as they were."""
    before = git.head(found(project)), index(project), sh(project, "status", "--porcelain")
    with pytest.raises(HoldfastError) as caught:
        commits.commit(found(project), paths, message)
    assert caught.value.code == code
    assert (git.head(found(project)), index(project), sh(project, "status", "--porcelain")) == before
    return caught.value


def test_a_commit_has_exactly_the_paths_asked_for(project):
    write(project, "gone.txt", "x")
    first = commit_all(project)
    write(project, "a.txt", "edited\n")
    write(project, "new.txt", "new")
    (project / "gone.txt").unlink()
    write(project, "lib/b.txt", "other edit\n")
    write(project, "other.txt", "untracked")
    write(project, "staged.txt", "staged")
    sh(project, "add", "staged.txt")
    sha = commits.commit(found(project), ["a.txt", "new.txt", "gone.txt"], "Subject\n\n# body\n")
    assert sha == sh(project, "rev-parse", "HEAD")
    assert sh(project, "log", "-1", "--format=%P", sha) == first
    assert sh(project, "log", "-1", "--format=%B", sha) == "Subject\n\n# body"
    assert in_commit(project, sha) == {"a.txt": "M", "new.txt": "A", "gone.txt": "D"}
    assert sh(project, "status", "--porcelain").split("\n") == [" M lib/b.txt", "A  staged.txt", "?? other.txt"]
    assert sh(project, "diff-files", "--name-only") == "lib/b.txt"


def test_the_working_tree_is_committed_and_not_what_was_staged_of_it(project):
    write(project, "a.txt", "staged\n")
    write(project, "lib/b.txt", "staged too\n")
    sh(project, "add", "-A")
    write(project, "a.txt", "edited\n")
    commits.commit(found(project), ["a.txt"], "m")
    assert sh(project, "show", "HEAD:a.txt") == "edited"
    assert staged(project) == {"lib/b.txt": "M"}
    assert sh(project, "show", ":lib/b.txt") == "staged too"


def test_odd_names_are_committed_literally(project):
    for name in [*ODD_NAMES, "starry", "a"]:
        write(project, name, "x")
    commits.commit(found(project), ODD_NAMES, "m")
    assert in_commit(project) == dict.fromkeys(ODD_NAMES, "A")
    for name in ODD_NAMES:
        (project / name).unlink()
    commits.commit(found(project), ODD_NAMES, "m")
    assert in_commit(project) == dict.fromkeys(ODD_NAMES, "D")


def test_modes_links_and_submodules_are_committed(project, submodule):
    (project / "a.txt").chmod(0o755)
    (project / "link").symlink_to("nowhere")
    at = commit_all(submodule)
    commits.commit(found(project), ["a.txt", "link", "sub"], "m")
    assert sh(project, "ls-tree", "HEAD", "a.txt").startswith("100755")
    assert sh(project, "ls-tree", "HEAD", "link").startswith("120000")
    assert at in sh(project, "ls-tree", "HEAD", "sub")
    assert sh(project, "status", "--porcelain") == ""


def test_a_submodule_that_is_not_checked_out_is_not_removed(project, submodule):
    sh(project, "submodule", "deinit", "-q", "-f", "sub")
    refused(project, ["sub"], "nothing_to_commit")


def test_a_file_that_became_a_folder_and_a_folder_that_became_a_link_are_committed(project):
    (project / "a.txt").unlink()
    write(project, "a.txt/inner", "x")
    (project / "lib").rename(project / "moved")
    (project / "lib").symlink_to("moved")
    paths = list(changed(found(project), git.head(found(project)), OWN))
    commits.commit(found(project), paths, "m")
    assert in_commit(project) == {"a.txt": "D", "a.txt/inner": "A", "lib": "A", "lib/b.txt": "D", "moved/b.txt": "A"}
    assert sh(project, "status", "--porcelain") == ""


def test_a_folder_does_not_stand_for_its_files(project):
    write(project, "lib/b.txt", "edited\n")
    assert "directory" in refused(project, ["lib"], "commit_failed").facts["output"]
    (project / "lib/b.txt").unlink()
    (project / "lib").rmdir()
    refused(project, ["lib"], "nothing_to_commit")


@pytest.mark.parametrize("path", ["", ".", "..", "../x", "/etc/passwd", "lib/../a.txt", "./a.txt", "lib/", "a\0b"])
def test_a_path_that_is_not_plainly_below_the_top_is_refused(project, path):
    write(project, "a.txt", "edited\n")
    refused(project, ["a.txt", path], "bad_path")


@pytest.mark.parametrize("paths", [[], ["a.txt"], ["never-there.txt"], [".git/config"]])
def test_without_a_difference_there_is_nothing_to_commit_and_no_hook_runs(project, paths):
    hook(project, "pre-commit", "touch .git/ran")
    write(project, "lib/b.txt", "edited\n")
    sh(project, "add", "-A")
    refused(project, paths, "nothing_to_commit")
    assert not (project / ".git/ran").exists()


def test_the_first_commit_of_a_repository_takes_only_its_paths(empty):
    write(empty, "a.txt", "one")
    write(empty, "b.txt", "two")
    sh(empty, "add", "b.txt")
    sha = commits.commit(found(empty), ["a.txt"], "first")
    assert in_commit(empty, sha) == {"a.txt": "A"}
    assert sh(empty, "log", "-1", "--format=%P", sha) == ""
    assert staged(empty) == {"b.txt": "A"}


def test_nothing_is_committed_in_an_empty_repository(empty):
    with pytest.raises(Refused) as caught:
        commits.commit(found(empty), ["a.txt"], "m")
    assert caught.value.code == "nothing_to_commit"


def test_a_hash_of_sha256_is_returned_in_full(tmp_path):
    sh(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256", "project")
    project = tmp_path / "project"
    for text in ("one", "two"):
        write(project, "a.txt", text)
        assert commits.commit(found(project), ["a.txt"], "m") == sh(project, "rev-parse", "HEAD")
    assert sh(project, "status", "--porcelain") == ""


def test_a_commit_in_a_linked_worktree_stays_there(project, tmp_path):
    sh(project, "worktree", "add", "-q", "-b", "side", str(tmp_path / "other"))
    before = index(project)
    write(tmp_path / "other", "a.txt", "side\n")
    sha = commits.commit(found(tmp_path / "other"), ["a.txt"], "m")
    assert sh(project, "rev-parse", "side") == sha != sh(project, "rev-parse", "main")
    assert (index(project), sh(tmp_path / "other", "status", "--porcelain")) == (before, "")


def test_a_hook_that_says_no_is_quoted_without_control_characters_and_everything_stays(project):
    hook(project, "pre-commit", r"printf 'looking\n\033[31mtoo long\033[0m: \007new.txt\n'; exit 1")
    write(project, "new.txt", "new")
    write(project, "a.txt", "staged\n")
    sh(project, "add", "a.txt")
    error = refused(project, ["new.txt"], "commit_failed")
    assert isinstance(error, Refused)
    assert error.facts["output"] == "looking\ntoo long: new.txt"
    assert error.message == "git did not commit: too long: new.txt"


def test_only_the_last_lines_of_a_talkative_hook_are_kept(project):
    hook(project, "pre-commit", "seq 1 100000; exit 1")
    write(project, "new.txt", "new")
    said = refused(project, ["new.txt"], "commit_failed").facts["output"].split("\n")
    assert said == [str(number) for number in range(99981, 100001)]


def test_a_hook_sees_just_this_commit_staged(project):
    hook(project, "pre-commit", "git diff --cached --name-only > .git/seen")
    write(project, "new.txt", "new")
    write(project, "a.txt", "staged\n")
    sh(project, "add", "a.txt")
    commits.commit(found(project), ["new.txt"], "m")
    assert (project / ".git/seen").read_text() == "new.txt\n"


def test_what_a_hook_reformats_and_stages_is_in_the_commit_and_leaves_nothing_behind(project):
    hook(project, "pre-commit", "echo tidy > new.txt; git add new.txt")
    write(project, "new.txt", "untidy")
    commits.commit(found(project), ["new.txt"], "m")
    assert sh(project, "show", "HEAD:new.txt") == "tidy"
    assert sh(project, "status", "--porcelain") == ""


def test_what_a_hook_reformats_without_staging_it_is_an_edit_after_the_commit(project):
    hook(project, "pre-commit", "echo tidy > new.txt")
    write(project, "new.txt", "untidy")
    commits.commit(found(project), ["new.txt"], "m")
    assert sh(project, "show", "HEAD:new.txt") == "untidy"
    assert sh(project, "status", "--porcelain") == " M new.txt"


def test_a_hook_may_word_the_message_and_a_template_does_not(project):
    hook(project, "commit-msg", 'echo "Reviewed-by: hook" >> "$1"')
    write(project, ".git/template", "fill me in\n")
    sh(project, "config", "commit.template", str(project / ".git/template"))
    sh(project, "config", "commit.cleanup", "strip")
    sh(project, "config", "core.editor", "false")
    write(project, "a.txt", "edited\n")
    sha = commits.commit(found(project), ["a.txt"], "#1 is käse\n")
    assert sh(project, "log", "-1", "--format=%B", sha) == "#1 is käse\nReviewed-by: hook"


def test_a_hook_that_leaves_something_running_does_not_hold_up_the_commit(project, tmp_path):
    os.mkfifo(tmp_path / "gate")
    hook(project, "pre-commit", f"(read line < {tmp_path}/gate; echo late) &")
    write(project, "a.txt", "edited\n")
    assert commits.commit(found(project), ["a.txt"], "m")
    (tmp_path / "gate").write_text("go\n")


def test_a_hook_that_never_ends_is_ended_and_nothing_was_committed(project, monkeypatch):
    assert git_command.HOOKS_TIMEOUT_SECONDS == 600
    monkeypatch.setattr(git_command, "HOOKS_TIMEOUT_SECONDS", 1)
    hook(project, "pre-commit", "sleep 600")
    write(project, "new.txt", "new")
    refused(project, ["new.txt"], "git_timeout")


def test_a_hook_that_never_ends_after_the_commit_leaves_the_commit(project, monkeypatch):
    monkeypatch.setattr(git_command, "HOOKS_TIMEOUT_SECONDS", 2)
    hook(project, "post-commit", "sleep 600")
    write(project, "new.txt", "new")
    assert commits.commit(found(project), ["new.txt"], "m") == sh(project, "rev-parse", "HEAD")
    assert sh(project, "status", "--porcelain") == ""


def test_a_commit_that_cannot_be_signed_is_refused(project):
    sh(project, "config", "commit.gpgsign", "true")
    sh(project, "config", "gpg.program", "false")
    write(project, "new.txt", "new")
    assert "sign" in refused(project, ["new.txt"], "commit_failed").facts["output"]


def test_a_commit_without_an_identity_is_refused(project, monkeypatch):
    for role in ("AUTHOR", "COMMITTER"):
        for part in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{role}_{part}")
    sh(project, "config", "user.useConfigOnly", "true")
    write(project, "new.txt", "new")
    assert "user.email" in refused(project, ["new.txt"], "commit_failed").facts["output"]


@pytest.mark.parametrize("text", ["", " \n", "a\0b"])
def test_a_message_that_git_does_not_take_is_refused(project, text):
    write(project, "new.txt", "new")
    refused(project, ["new.txt"], "commit_failed", text)


def test_in_the_middle_of_a_merge_nothing_is_committed(project):
    torn(project)
    refusal = refused(project, ["a.txt"], "git_busy")
    assert refusal.facts == {"operation": "merge"}
    assert f"then: git -C {project} commit" in refusal.remedy


def test_a_conflict_without_a_merge_is_no_time_to_commit_either(project):
    write(project, "a.txt", "mine\n")
    sh(project, "stash", "-q")
    write(project, "a.txt", "theirs\n")
    commit_all(project)
    sh(project, "stash", "pop", check=False)
    assert refused(project, ["a.txt"], "git_busy").facts == {"operation": "conflict"}


def test_while_another_git_changes_the_index_nothing_is_committed(project):
    write(project, "a.txt", "edited\n")
    write(project, ".git/index.lock")
    with pytest.raises(Conflict) as caught:
        commits.commit(found(project), ["a.txt"], "message", wait=0.1)
    assert caught.value.code == "index_locked"


def test_a_branch_waits_for_another_git_that_changes_the_index(project):
    write(project, ".git/index.lock")
    with pytest.raises(Conflict) as caught:
        branches.make_branch(found(project), "x", wait=0.1)
    assert (caught.value.code, "gave up after 0.1 s" in caught.value.message) == ("index_locked", True)
    (project / ".git/index.lock").unlink()
    branches.make_branch(found(project), "x")
    assert sh(project, "branch", "--show-current") == "x"


def test_a_file_that_git_was_told_to_overlook_is_not_committed_nor_removed(project):
    sh(project, "update-index", "--skip-worktree", "a.txt")
    write(project, "a.txt", "local\n")
    refused(project, ["a.txt"], "nothing_to_commit")
    (project / "a.txt").unlink()
    refused(project, ["a.txt"], "nothing_to_commit")


def test_line_ends_are_converted_as_configured(project):
    sh(project, "config", "core.autocrlf", "true")
    write(project, "new.txt", "one\r\ntwo\r\n")
    commits.commit(found(project), ["new.txt"], "m")
    assert git.head_blob(found(project), "new.txt") == b"one\ntwo\n"
    assert sh(project, "status", "--porcelain") == ""


def test_a_split_index_stays_one(project):
    sh(project, "config", "core.splitIndex", "true")
    sh(project, "update-index", "--split-index")
    write(project, "a.txt", "edited\n")
    commits.commit(found(project), ["a.txt"], "m")
    assert list((project / ".git").glob("sharedindex.*"))
    assert sh(project, "status", "--porcelain") == ""


def test_scratch_files_are_gone_after_a_commit(project, tmp_path, monkeypatch):
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    write(project, "a.txt", "edited\n")
    commits.commit(found(project), ["a.txt"], "m")
    assert list(Path(tmp_path / "scratch").iterdir()) == []


# --- history


def test_a_commit_is_found_by_abbreviation_branch_tag_and_relation(project):
    first = sh(project, "rev-parse", "HEAD")
    second = commit_all(project)
    sh(project, "tag", "-a", "v1", "-m", "x", first)
    repo = found(project)
    assert [git_changes.resolve(repo, word) for word in (second[:8], "main", "HEAD", second)] == [second] * 4
    assert [git_changes.resolve(repo, word) for word in (first[:8], "v1", "HEAD~1")] == [first] * 3


@pytest.mark.parametrize(
    "word",
    ["", "nope", "-q", "--all", "^main", ":/first", ":a.txt", "HEAD:a.txt", "main\n", "a\0b", "main..main", "HEAD@{99}",
     "5" * 40],
)  # fmt: skip
def test_what_names_no_commit_is_none(project, word):
    assert git_changes.resolve(found(project), word) is None


def test_head_contains_its_history_and_nothing_else(project):
    first = sh(project, "rev-parse", "HEAD")
    sh(project, "switch", "-q", "-c", "side")
    aside = commit_all(project, "side")
    sh(project, "switch", "-q", "main")
    second = commit_all(project, "main")
    repo = found(project)
    assert [git_changes.contains(repo, sha) for sha in (first, second, aside, "5" * 40)] == [True, True, False, False]


def test_before_the_first_commit_nothing_is_contained_or_resolved(empty):
    assert not git_changes.contains(found(empty), "HEAD")
    assert git_changes.resolve(found(empty), "HEAD") is None


def test_the_hashes_of_paths_in_head(project):
    write(project, "a [1].txt", "one\n")
    commit_all(project)
    blob = sh(project, "rev-parse", "HEAD:a [1].txt")
    assert git_changes.in_head(found(project), ["a [1].txt", "none.txt"]) == {"a [1].txt": blob}


# --- remotes


def test_a_push_makes_the_branch_on_the_remote_and_follows_it(published, tmp_path):
    repo = found(published)
    sh(published, "switch", "-q", "-c", "feature/x")
    assert not git_changes.is_pushed(repo, "feature/x")
    assert git_changes.push(repo, "feature/x") == "origin"
    assert git_changes.is_pushed(repo, "feature/x")
    assert sh(tmp_path / "remote.git", "rev-parse", "feature/x") == git.head(repo)
    assert sh(published, "rev-parse", "--abbrev-ref", "@{u}") == "origin/feature/x"
    commit_all(published)
    assert not git_changes.is_pushed(repo, "feature/x")


def test_a_push_sends_no_other_branch(published, tmp_path):
    sh(published, "config", "push.default", "matching")
    sh(published, "branch", "other")
    git_changes.push(found(published), "main")
    assert sh(tmp_path / "remote.git", "for-each-ref", "--format=%(refname)") == "refs/heads/main"


def test_a_push_that_would_lose_commits_is_refused_in_gits_words(published, tmp_path):
    repo = found(published)
    git_changes.push(repo, "main")
    sh(tmp_path, "clone", "-q", "remote.git", "colleague")
    commit_all(tmp_path / "colleague", "theirs")
    sh(tmp_path / "colleague", "push", "-q")
    commit_all(published, "mine")
    with pytest.raises(Refused) as caught:
        git_changes.push(repo, "main")
    assert caught.value.code == "push_failed"
    assert "[rejected]" in said(caught)
    assert not git_changes.is_pushed(repo, "main")


def test_hooks_on_both_sides_may_refuse_a_push(published, tmp_path):
    write(tmp_path / "remote.git", "hooks/pre-receive", "#!/bin/sh\necho not today; exit 1\n", mode=0o755)
    with pytest.raises(Refused) as caught:
        git_changes.push(found(published), "main")
    assert "remote: not today" in said(caught)
    hook(published, "pre-push", "echo tests are red; exit 1")
    with pytest.raises(Refused) as caught:
        git_changes.push(found(published), "main")
    assert "tests are red" in said(caught)


def test_a_password_in_an_address_is_not_repeated(published):
    hook(published, "pre-push", "echo pushing to https://me:secret@example.com/x; exit 1")
    with pytest.raises(Refused) as caught:
        git_changes.push(found(published), "main")
    assert "https://example.com/x" in said(caught)
    assert "secret" not in str(described(caught.value))


def test_without_a_remote_or_a_branch_nothing_is_pushed(project, tmp_path):
    with pytest.raises(Refused) as caught:
        git_changes.push(found(project), "main")
    assert (caught.value.code, caught.value.remedy) == ("no_remote", "git remote add origin URL")
    assert not git_changes.is_pushed(found(project), "main")
    sh(project, "remote", "add", "origin", str(tmp_path / "gone"))
    for name in ("nope", "main"):
        with pytest.raises(Refused) as caught:
            git_changes.push(found(project), name)
        assert caught.value.code == "push_failed"


def test_the_remote_is_chosen_as_git_does(project):
    repo = found(project)
    assert git_changes.remote(repo, "main") is None
    sh(project, "remote", "add", "upstream.x", "u")
    assert git_changes.remote(repo, "main") == "upstream.x"
    sh(project, "remote", "add", "fork", "f")
    assert git_changes.remote(repo, "main") is None
    sh(project, "remote", "add", "origin", "o")
    assert git_changes.remote(repo, "main") == "origin"
    sh(project, "config", "branch.main.remote", ".")
    assert git_changes.remote(repo, "main") == "origin"
    sh(project, "config", "branch.main.remote", "upstream.x")
    assert git_changes.remote(repo, "main") == "upstream.x"
    sh(project, "config", "remote.pushDefault", "fork")
    assert git_changes.remote(repo, "main") == "fork"
    sh(project, "config", "branch.main.pushRemote", "origin")
    assert [git_changes.remote(repo, name) for name in ("main", "Main")] == ["origin", "fork"]


def test_a_branch_is_pushed_where_the_remote_is_kept_under_other_names(published):
    sh(published, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/elsewhere/*")
    git_changes.push(found(published), "main")
    assert sh(published, "rev-parse", "refs/remotes/elsewhere/main") == git.head(found(published))
    assert git_changes.is_pushed(found(published), "main")


def test_the_default_branch_is_the_one_of_origin_else_main_or_master(published, tmp_path):
    repo = found(published)
    assert git_changes.default_branch(repo) == "main"
    sh(published, "branch", "-m", "master")
    assert git_changes.default_branch(repo) == "master"
    sh(published, "branch", "-m", "else")
    assert git_changes.default_branch(repo) is None
    sh(published, "push", "-q", "origin", "else:team/trunk")
    sh(published, "fetch", "-q")
    sh(published, "remote", "set-head", "origin", "team/trunk")
    assert git_changes.default_branch(repo) == "team/trunk"


def test_commits_made_at_the_same_moment_do_not_take_each_other_back(project):
    """Each process begins at the HEAD it finds; the work of all of them is in the last one."""
    script = (
        "import sys; from holdfast import git; from holdfast.git import commits;"
        "commits.commit(git.find('.'), [sys.argv[1]], 'one')"
    )
    names = [f"n{number}.txt" for number in range(6)]
    for name in names:
        write(project, name, name)
    running = [subprocess.Popen([sys.executable, "-c", script, name], cwd=project) for name in names]
    assert [process.wait() for process in running] == [0] * len(names)
    assert set(names) <= set(sh(project, "ls-tree", "-r", "--name-only", "HEAD").split())
    assert len(sh(project, "log", "--oneline").splitlines()) == 1 + len(names)
