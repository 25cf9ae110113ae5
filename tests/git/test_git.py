"""What Holdfast learns of git, asked of real repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast import git
from holdfast.errors import HoldfastError
from holdfast.git import changes
from holdfast.git import command as git_command
from holdfast.git import content as tree_content
from tests.git.repositories import commit_all, found, sh, write
from tests.processes import ends

OWN = (".holdfast", ".claude/workflow-state")
NOBODY = 65534


@pytest.fixture(autouse=True)
def kept(tmp_path_factory, monkeypatch):
    """Where what is known of files is kept from one call of `content` in a test to the next."""
    folder = tmp_path_factory.mktemp("kept")
    folder.chmod(0o777)
    monkeypatch.setattr(sys.modules[__name__], "KEPT", str(folder / "trees"))
    return folder / "trees"


KEPT = ""


def content(folder, own=OWN):
    """The tree, which is the same whether something is known of its files or not."""
    made = tree_content.tree(found(folder), own, KEPT)
    assert made == tree_content.tree(found(folder), own)
    return made


def everything(folder):
    """Every path below a folder with its mode and, for a file, its bytes and its inode."""
    return {
        path: (path.lstat().st_mode, (path.read_bytes(), path.stat().st_ino) if path.is_file() else None)
        for path in Path(folder).rglob("*")
    }


def no_git(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))


@pytest.fixture
def impostor(tmp_path, monkeypatch):
    """A program called git that notes how it was called and does what the test says."""

    def install(script):
        folder = tmp_path / "bin"
        program = write(
            folder, "git", f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/argv\nenv > {folder}/env\n{script}\n'
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        return folder

    return install


@contextmanager
def ordinary_user():
    """Without the powers of the superuser, for whom every file is readable."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@pytest.fixture
def plain_project():
    """A repository that an ordinary user owns, in a place they may reach."""
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o777)
        with ordinary_user():
            folder = Path(place, "project")
            sh(place, "init", "-q", "-b", "main", str(folder))
            write(folder, "a.txt", "one\n")
            commit_all(folder)
        yield folder


# --- find


def test_a_repository_is_found_from_any_folder_below_its_top(project, monkeypatch, tmp_path):
    no_git(monkeypatch, tmp_path)
    top = str(project)
    expected = git.Repository(top=top, main=top, git_dir=f"{top}/.git", common_dir=f"{top}/.git")
    assert git.find(top) == git.find(f"{top}/lib") == git.find(f"{top}/lib/not-there-yet") == expected


def test_outside_of_a_repository_nothing_is_found(tmp_path):
    assert git.find(str(tmp_path)) is None


def test_a_linked_worktree_knows_the_main_one(project, tmp_path):
    sh(project, "worktree", "add", "-q", str(tmp_path / "other"))
    repo = found(tmp_path / "other")
    assert repo.top == str(tmp_path / "other")
    assert repo.main == str(project)
    assert repo.git_dir == str(project / ".git/worktrees/other")
    assert repo.common_dir == str(project / ".git")


def test_paths_are_physical_so_that_worktrees_agree_on_them(project, tmp_path):
    sh(project, "worktree", "add", "-q", str(tmp_path / "other"))
    (tmp_path / "alias").symlink_to(tmp_path)
    assert found(tmp_path / "alias" / "other") == found(tmp_path / "other")
    assert found(tmp_path / "alias" / "project").main == found(tmp_path / "other").main


@pytest.fixture
def submodule(project, tmp_path):
    sh(tmp_path, "init", "-q", "-b", "main", "library")
    write(tmp_path / "library", "l.txt", "l")
    commit_all(tmp_path / "library")
    sh(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "library"), "sub")
    commit_all(project)
    return project / "sub"


def test_a_submodule_is_its_own_main_worktree(project, submodule):
    repo = found(submodule)
    assert repo.top == repo.main == str(submodule)
    assert repo.git_dir == repo.common_dir == str(project / ".git/modules/sub")


def test_a_linked_worktree_of_a_submodule_shares_with_the_submodule(submodule, tmp_path):
    sh(submodule, "worktree", "add", "-q", str(tmp_path / "other"))
    assert found(tmp_path / "other").main == str(submodule)


def test_a_repository_kept_elsewhere_belongs_to_the_folder_that_points_at_it(tmp_path):
    sh(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "kept.git"), str(tmp_path / "project"))
    assert found(tmp_path / "project").main == str(tmp_path / "project")
    assert found(tmp_path / "project").git_dir == str(tmp_path / "kept.git")


def test_worktrees_of_a_bare_repository_share_the_repository_itself(project, tmp_path):
    sh(tmp_path, "clone", "-q", "--bare", str(project), "bare.git")
    sh(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "other"))
    repo = found(tmp_path / "other")
    assert (repo.top, repo.main) == (str(tmp_path / "other"), str(tmp_path / "bare.git"))


def test_a_folder_that_points_at_a_bare_repository_is_no_working_tree(project, tmp_path):
    folder = tmp_path / "layout"
    sh(tmp_path, "clone", "-q", "--bare", str(project), str(folder / ".bare"))
    write(folder, ".git", "gitdir: ./.bare\n")
    assert git.find(str(folder)) is None


@pytest.mark.parametrize(
    "text", ["", "nonsense", "gitdir: ../gone/.git/worktrees/x\n", "gitdir: \0\n", b"gitdir: \xff"]
)
def test_a_broken_git_file_is_not_a_repository_even_inside_of_one(project, text):
    write(project, "inner/.git", text)
    assert git.find(str(project / "inner")) is None


def test_a_git_folder_without_a_repository_in_it_is_passed_over(project):
    (project / "inner" / ".git").mkdir(parents=True)
    assert found(project / "inner").top == str(project)


# --- branch, head, busy


def test_branch_and_head_are_read_without_starting_git(project, monkeypatch, tmp_path):
    at = sh(project, "rev-parse", "HEAD")
    sh(project, "checkout", "-q", "-b", "feature/ä")
    no_git(monkeypatch, tmp_path)
    assert git.branch(found(project)) == "feature/ä"
    assert git.head(found(project)) == at


def test_a_packed_branch_is_found(project, monkeypatch, tmp_path):
    sh(project, "checkout", "-q", "-b", "main-2")
    at = commit_empty(project)
    sh(project, "checkout", "-q", "main")
    commit_empty(project)
    sh(project, "checkout", "-q", "main-2")
    sh(project, "pack-refs", "--all")
    no_git(monkeypatch, tmp_path)
    assert git.head(found(project)) == at


def commit_empty(folder):
    sh(folder, "commit", "-q", "--allow-empty", "-m", "nothing")
    return sh(folder, "rev-parse", "HEAD")


def test_a_branch_moved_after_packing_counts_as_it_is_now(project):
    sh(project, "pack-refs", "--all")
    at = commit_empty(project)
    assert git.head(found(project)) == at


def test_a_detached_head_has_a_commit_and_no_branch(project, monkeypatch, tmp_path):
    at = sh(project, "rev-parse", "HEAD")
    sh(project, "checkout", "-q", "--detach")
    no_git(monkeypatch, tmp_path)
    assert git.branch(found(project)) is None
    assert git.head(found(project)) == at


def test_before_the_first_commit_there_is_a_branch_and_no_head(empty, monkeypatch, tmp_path):
    no_git(monkeypatch, tmp_path)
    assert git.branch(found(empty)) == "main"
    assert git.head(found(empty)) is None


def test_each_worktree_has_its_own_branch_and_head(project, tmp_path):
    sh(project, "worktree", "add", "-q", "-b", "side", str(tmp_path / "other"))
    at = commit_empty(tmp_path / "other")
    assert git.branch(found(tmp_path / "other")) == "side"
    assert git.head(found(tmp_path / "other")) == at
    assert git.branch(found(project)) == "main"
    assert git.head(found(project)) != at


def test_a_head_that_is_a_symbolic_link_is_left_to_git(project):
    at = sh(project, "rev-parse", "HEAD")
    (project / ".git/HEAD").unlink()
    (project / ".git/HEAD").symlink_to("refs/heads/main")
    assert git.branch(found(project)) == "main"
    assert git.head(found(project)) == at


def test_a_branch_that_stands_for_another_is_followed_by_git(project):
    sh(project, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    sh(project, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert git.head(found(project)) == sh(project, "rev-parse", "main")


def test_a_head_outside_of_the_branches_is_no_branch(project):
    sh(project, "update-ref", "refs/odd/place", "HEAD")
    write(project, ".git/HEAD", "ref: refs/odd/place\n")
    assert git.branch(found(project)) is None
    assert git.head(found(project)) == sh(project, "rev-parse", "main")


def test_reftable_repositories_keep_a_stand_in_for_head_and_git_is_asked(project, impostor):
    write(project, ".git/HEAD", "ref: refs/heads/.invalid\n")
    noted = impostor("echo refs/heads/real")
    assert git.branch(found(project)) == "real"
    assert "symbolic-ref" in (noted / "argv").read_text().split("\n")
    impostor(f"echo {'5' * 40}")
    assert git.head(found(project)) == "5" * 40
    assert "rev-parse" in (noted / "argv").read_text().split("\n")


@pytest.fixture
def torn(project):
    """Two branches that changed the same line."""
    sh(project, "checkout", "-q", "-b", "side")
    write(project, "a.txt", "side\n")
    commit_all(project, "side")
    sh(project, "checkout", "-q", "main")
    write(project, "a.txt", "main\n")
    commit_all(project, "main")
    return project


@pytest.mark.parametrize(
    ("command", "operation"),
    [
        (["merge", "side"], "merge"),
        (["rebase", "--merge", "side"], "rebase"),
        (["rebase", "--apply", "side"], "rebase"),
        (["cherry-pick", "side"], "cherry-pick"),
        (["revert", "--no-edit", "HEAD^"], "revert"),
        (["bisect", "start"], "bisect"),
    ],
)
def test_an_operation_under_way_is_named(torn, command, operation):
    if operation == "revert":
        write(torn, "a.txt", "third\n")
        commit_all(torn)
    assert git.busy(found(torn)) is None
    sh(torn, *command, check=False)
    assert git.busy(found(torn)) == operation


def test_an_operation_in_one_worktree_leaves_the_others_free(torn, tmp_path):
    sh(torn, "worktree", "add", "-q", "-b", "free", str(tmp_path / "other"))
    sh(torn, "merge", "side", check=False)
    assert git.busy(found(tmp_path / "other")) is None


def test_the_way_out_of_an_operation_names_its_worktree_where_it_is_another(torn, tmp_path, monkeypatch):
    sh(torn, "worktree", "add", "-q", "-b", "free", str(tmp_path / "other"))
    sh(torn, "merge", "side", check=False)
    monkeypatch.chdir(torn)
    assert changes.under_way(found(torn)).remedies[0].shell == ("git", "merge", "--abort")
    monkeypatch.chdir(tmp_path / "other")
    refused = changes.under_way(found(torn))
    assert refused.message == f"git is in the middle of a merge in {found(torn).top}"
    subprocess.run(refused.remedies[0].shell, check=True)
    assert git.busy(found(torn)) is None


# --- tree


def test_a_clean_tree_is_the_one_of_head(project):
    assert content(project) == tree_content.Tree(
        head=sh(project, "rev-parse", "HEAD"), id=sh(project, "rev-parse", "HEAD^{tree}"), dirty=False
    )


def test_the_id_is_the_one_that_committing_everything_would_give(project):
    write(project, "a.txt", "changed\n")
    write(project, "new/c.txt", "three\n")
    (project / "lib/b.txt").unlink()
    seen = content(project)
    assert seen.dirty
    commit_all(project)
    after = content(project)
    assert after.id == seen.id == sh(project, "rev-parse", "HEAD^{tree}")
    assert not after.dirty


def test_what_is_staged_does_not_matter_only_what_is_there(project):
    write(project, "a.txt", "changed\n")
    seen = content(project)
    sh(project, "add", "-A")
    assert content(project) == seen
    write(project, "a.txt", "one\n")
    assert not content(project).dirty


def test_nothing_in_the_repository_is_written(project, submodule):
    write(project, ".git/hooks/post-index-change", "#!/bin/sh\ntouch ran\n", mode=0o755)
    write(project, "a.txt", "changed\n")
    write(project, "new.txt", os.urandom(100))
    write(project, ".holdfast/journal", "x")
    before = everything(project)
    assert content(project).dirty
    assert everything(project) == before


def test_a_split_index_is_read_and_nothing_is_written(project):
    sh(project, "config", "core.splitIndex", "true")
    sh(project, "update-index", "--split-index")
    for name in ("a.txt", "x.txt", "y.txt", "z.txt"):
        write(project, name, "changed\n")
    before = everything(project)
    seen = content(project)
    assert everything(project) == before
    commit_all(project)
    assert seen.id == sh(project, "rev-parse", "HEAD^{tree}")


def test_own_paths_change_nothing_whether_edited_or_committed(project):
    before = content(project)
    write(project, ".holdfast/journal/x.jsonl", "1")
    write(project, ".claude/workflow-state/s.json", "1")
    assert content(project) == before
    commit_all(project)
    after = content(project)
    assert (after.id, after.dirty) == (before.id, False)
    write(project, ".claude/workflow-state/s.json", "2")
    (project / ".holdfast/journal/x.jsonl").unlink()
    assert content(project) == after
    sh(project, "add", "-A")
    write(project, ".claude/workflow-state/s.json", "3")
    assert content(project) == after


def test_names_that_only_begin_like_an_own_path_count(project):
    before = content(project)
    write(project, ".holdfast-notes", "x")
    assert content(project).id != before.id


def test_own_paths_are_names_and_not_patterns(project):
    write(project, "x1", "x")
    before = content(project, own=("x*", "[abc].txt"))
    write(project, "x1", "y")
    assert content(project, own=("x*", "[abc].txt")).id != before.id


def test_own_paths_as_names_keep_what_is_tracked_though_ignored(project):
    write(project, "x1", "x")
    write(project, ".gitignore", "x1\n")
    sh(project, "add", "-f", "x1")
    commit_all(project)
    assert content(project, own=("x*",)).id == sh(project, "rev-parse", "HEAD^{tree}")


def test_a_tree_is_told_without_own_paths_too(project):
    assert content(project, own=()).id == sh(project, "rev-parse", "HEAD^{tree}")


def test_ignored_files_do_not_count_and_untracked_ones_do(project):
    write(project, ".gitignore", "*.log\n")
    before = content(project)
    write(project, "x.log", "noise")
    assert content(project) == before
    write(project, "x.txt", "signal")
    assert content(project).id != before.id


def test_before_the_first_commit_every_file_is_a_difference(empty):
    nothing = content(empty)
    assert (nothing.head, nothing.dirty) == (None, False)
    write(empty, ".holdfast/journal", "x")
    assert content(empty) == nothing
    write(empty, "a.txt", "one")
    seen = content(empty)
    assert (seen.head, seen.dirty) == (None, True)
    commit_all(empty)
    sh(empty, "rm", "-rq", "--cached", ".holdfast")
    assert seen.id == sh(empty, "write-tree")


def test_an_empty_repository_of_sha256_objects_is_clean(tmp_path):
    sh(tmp_path, "init", "-q", "--object-format=sha256", "project")
    seen = content(tmp_path / "project")
    assert not seen.dirty
    write(tmp_path / "project", "a.txt", "one")
    at = commit_all(tmp_path / "project")
    seen = content(tmp_path / "project")
    assert len(at) == 64
    assert (seen.head, seen.dirty, seen.id) == (at, False, sh(tmp_path / "project", "rev-parse", "HEAD^{tree}"))


def test_files_in_conflict_count_as_they_lie_there(torn):
    sh(torn, "merge", "side", check=False)
    seen = content(torn)
    assert (seen.head, seen.dirty) == (sh(torn, "rev-parse", "HEAD"), True)
    assert sh(torn, "ls-files", "--unmerged")
    commit_all(torn)
    assert seen.id == sh(torn, "rev-parse", "HEAD^{tree}")


def test_a_conflict_in_own_paths_alone_does_not_matter(project):
    before = content(project)
    for name in ("side", "main"):
        sh(project, "checkout", "-q", "-B", name, before.head)
        write(project, ".holdfast/index", name)
        commit_all(project)
    sh(project, "merge", "side", check=False)
    assert sh(project, "ls-files", "--unmerged")
    assert content(project).id == before.id


def test_names_with_newlines_and_bytes_that_are_not_text_count(project):
    for name in (b"line\nbreak", b"not\xff\xfetext", b"-dash", b":(top)magic", b'quo"te\\'):
        before = content(project)
        with open(os.path.join(os.fsencode(project), name), "wb") as file:
            file.write(b"x")
        assert content(project).id != before.id
    seen = content(project)
    commit_all(project)
    assert content(project) == seen.replace(head=sh(project, "rev-parse", "HEAD"), dirty=False)


def test_a_mode_a_symbolic_link_and_a_deletion_change_the_id(project):
    ids = [content(project).id]
    (project / "a.txt").chmod(0o755)
    ids.append(content(project).id)
    (project / "link").symlink_to("a.txt")
    ids.append(content(project).id)
    (project / "link").unlink()
    (project / "link").symlink_to("gone")
    ids.append(content(project).id)
    (project / "lib/b.txt").unlink()
    ids.append(content(project).id)
    assert len(set(ids)) == 5
    commit_all(project)
    assert content(project).id == ids[-1]


def test_a_file_that_becomes_a_folder_is_followed(project):
    (project / "a.txt").unlink()
    write(project, "a.txt/inner", "x")
    seen = content(project)
    commit_all(project)
    assert content(project).id == seen.id


def test_a_change_right_after_staging_is_seen_even_when_size_and_time_are_the_same(project):
    sh(project, "config", "core.trustctime", "false")
    moment = 10**18
    os.utime(project / "a.txt", ns=(moment, moment))
    sh(project, "add", "-A")
    with open(project / "a.txt", "r+") as file:
        file.write("ONE")
    for path in ("a.txt", ".git/index"):
        os.utime(project / path, ns=(moment, moment))
    assert content(project).dirty


def test_a_submodule_counts_with_its_commit(project, submodule):
    before = content(project)
    assert not before.dirty
    write(submodule, "l.txt", "edited")
    assert content(project) == before
    commit_all(submodule)
    after = content(project)
    assert after.dirty
    assert after.id != before.id


def test_a_nested_repository_counts_with_its_commit_and_not_before_it_has_one(project):
    before = content(project)
    sh(project, "init", "-q", "nested")
    write(project, "nested/x", "x")
    write(project, "zz.txt", "x")
    without = content(project)
    assert without.id not in (None, before.id)
    commit_all(project / "nested")
    assert content(project).id not in (None, without.id)


def test_other_worktrees_below_this_one_do_not_count(project):
    before = content(project)
    sh(project, "worktree", "add", "-q", "-b", "side", str(project / "trees/side"))
    assert content(project) == before
    write(project, "trees/side/new.txt", "x")
    commit_all(project / "trees/side")
    assert content(project) == before
    assert content(project / "trees/side").id == sh(project, "rev-parse", "side^{tree}")
    write(project, ".git/worktrees/side/gitdir", "../../../trees/side/.git\n")  # as newer gits may write it
    assert content(project) == before


def test_files_outside_of_a_sparse_checkout_count_as_git_has_them(project):
    write(project, ".claude/workflow-state/s.json", "1")
    write(project, "far/c.txt", "three\n")
    commit_all(project)
    before = content(project)
    sh(project, "sparse-checkout", "set", "lib")
    assert not (project / "far").exists()
    assert not (project / ".claude").exists()
    assert content(project) == before
    write(project, "far/c.txt", "changed\n")
    assert content(project).id != before.id


def test_what_a_partial_clone_has_not_fetched_is_not_needed(project, tmp_path):
    sh(project, "config", "uploadpack.allowFilter", "true")
    sh(tmp_path, "clone", "-q", "--filter=blob:none", "--sparse", f"file://{project}", "clone")
    project.rename(tmp_path / "gone")
    assert not (tmp_path / "clone/lib").exists()
    assert not content(tmp_path / "clone").dirty
    write(tmp_path / "clone", "lib/c.txt", "three\n")
    seen = content(tmp_path / "clone")
    write(tmp_path / "gone", "lib/c.txt", "three\n")
    commit_all(tmp_path / "gone")
    assert (seen.id, seen.dirty) == (sh(tmp_path / "gone", "rev-parse", "HEAD^{tree}"), True)


def test_scratch_files_in_the_tree_do_not_count(project, monkeypatch):
    (project / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(project / "tmp"))
    assert content(project) == content(project)
    assert not content(project).dirty
    assert list((project / "tmp").iterdir()) == []


def test_a_file_that_vanishes_while_git_reads_the_tree_is_left_out(project):
    write(project, ".gitattributes", "a filter=race\n")
    sh(project, "config", "filter.race.clean", "rm -f z; cat")  # git has listed both when it reads the first
    write(project, "a", "new\n")
    write(project, "z", "new\n")
    made = content(project)
    assert not (project / "z").exists()
    assert made.id is not None
    assert made.id == content(project).id


def test_an_untracked_file_nobody_may_read_is_left_out(plain_project):
    with ordinary_user():
        before = content(plain_project)
        write(plain_project, "b.txt", "two\n", mode=0)
        assert content(plain_project) == before
        write(plain_project, "c.txt", "three\n")
        assert content(plain_project).id not in (None, before.id)
        write(plain_project, "locked/d.txt", "four\n").parent.chmod(0)
        assert content(plain_project).id is not None
        (plain_project / "locked").chmod(0o755)


def test_a_tracked_file_nobody_may_read_makes_the_id_empty(plain_project):
    with ordinary_user():
        write(plain_project, "a.txt", "two\n", mode=0)
        seen = content(plain_project)
    assert (seen.id, seen.dirty) == ("", True)


def test_a_repository_with_odd_characters_in_its_path_is_read(tmp_path):
    folder = tmp_path / 'a:b "c\\d\n'
    folder.mkdir()
    sh(folder, "init", "-q")
    write(folder, "a.txt", "one")
    commit_all(folder)
    write(folder, "b.txt", "two")
    seen = content(folder)
    commit_all(folder)
    assert content(folder).id == seen.id


def test_variables_of_a_surrounding_git_are_not_heard(project, tmp_path, monkeypatch):
    clean = content(project)
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert content(project) == clean
    assert not (tmp_path / "elsewhere").exists()


def test_the_real_index_may_be_locked_by_another(project):
    write(project, "a.txt", "changed\n")
    write(project, ".git/index.lock")
    assert content(project).dirty


# --- files_tree


def test_without_git_the_id_follows_names_sizes_times_and_modes(tmp_path):
    path = write(tmp_path, "lib/a.txt", "one")
    os.utime(path, ns=(10**18, 10**18))
    seen = tree_content.files_tree(str(tmp_path), OWN)
    assert (seen.head, seen.dirty) == (None, False)
    assert tree_content.files_tree(str(tmp_path), OWN) == seen
    ids = [seen.id]
    path.chmod(0o755)
    ids.append(tree_content.files_tree(str(tmp_path), OWN).id)
    os.utime(path, ns=(10**18, 10**18 + 1))
    ids.append(tree_content.files_tree(str(tmp_path), OWN).id)
    path.write_text("longer")
    os.utime(path, ns=(10**18, 10**18 + 1))
    ids.append(tree_content.files_tree(str(tmp_path), OWN).id)
    path.rename(tmp_path / "lib/b.txt")
    ids.append(tree_content.files_tree(str(tmp_path), OWN).id)
    (tmp_path / "link").symlink_to("gone")
    ids.append(tree_content.files_tree(str(tmp_path), OWN).id)
    assert None not in ids
    assert len(set(ids)) == 6


@pytest.mark.parametrize(
    "name",
    [".holdfast/x", ".claude/workflow-state/x", ".git/x", "lib/.git/x", "lib/__pycache__/x", ".venv/x",
     "node_modules/x", "lib/node_modules/x", ".pytest_cache/x", ".mypy_cache/x", ".ruff_cache/x", ".hypothesis/x"],
)  # fmt: skip
def test_without_git_own_paths_and_caches_do_not_count(tmp_path, name):
    write(tmp_path, "lib/a.txt", "one")
    before = tree_content.files_tree(str(tmp_path), OWN)
    write(tmp_path, name, "x")
    assert tree_content.files_tree(str(tmp_path), OWN) == before


def test_without_git_own_paths_are_those_at_the_top(tmp_path):
    before = tree_content.files_tree(str(tmp_path), OWN)
    write(tmp_path, "lib/.holdfast/x", "x")
    assert tree_content.files_tree(str(tmp_path), OWN).id != before.id


def test_without_git_links_to_folders_are_not_entered(tmp_path):
    write(tmp_path, "elsewhere/a.txt", "one")
    (tmp_path / "project").mkdir()
    (tmp_path / "project/loop").symlink_to(tmp_path)
    before = tree_content.files_tree(str(tmp_path / "project"), OWN)
    write(tmp_path, "elsewhere/b.txt", "two")
    assert tree_content.files_tree(str(tmp_path / "project"), OWN) == before


def test_without_git_names_that_are_not_text_and_folders_nobody_may_read_are_no_obstacle(plain_project):
    shutil.rmtree(plain_project / ".git")
    with ordinary_user():
        before = tree_content.files_tree(str(plain_project), OWN)
        with open(os.path.join(os.fsencode(plain_project), b"\xff\n"), "wb"):
            pass
        write(plain_project, "locked/d.txt", "four\n").parent.chmod(0)
        assert tree_content.files_tree(str(plain_project), OWN).id not in (None, before.id)
        (plain_project / "locked").chmod(0o755)


def test_without_git_more_files_than_the_limit_leave_the_id_unknown(tmp_path):
    assert tree_content.FILES_LIMIT == 20_000
    for number in range(tree_content.FILES_LIMIT):
        os.close(os.open(tmp_path / str(number), os.O_CREAT | os.O_WRONLY))
    assert tree_content.files_tree(str(tmp_path), OWN).id is not None
    write(tmp_path, ".holdfast/x")
    assert tree_content.files_tree(str(tmp_path), OWN).id is not None
    write(tmp_path, "one-more")
    assert tree_content.files_tree(str(tmp_path), OWN).id is None


# --- tracked, head_blob, user


def test_a_file_is_tracked_when_it_is_in_the_index(project):
    repo = found(project)
    write(project, "new.txt", "x")
    write(project, "staged.txt", "x")
    sh(project, "add", "staged.txt")
    assert [git.tracked(repo, name) for name in ("a.txt", "lib/b.txt", "staged.txt")] == [True] * 3
    assert [git.tracked(repo, name) for name in ("new.txt", "lib", "*.txt", "", ".", "../x", "a\0b")] == [False] * 7
    assert git.tracked(repo, str(project / "a.txt"))
    assert git.tracked(repo, "lib/../a.txt")


def test_a_path_may_lead_through_links(project, tmp_path):
    (tmp_path / "alias").symlink_to(project)
    (project / "short").symlink_to("lib")
    repo = found(project)
    assert git.tracked(repo, str(tmp_path / "alias/a.txt"))
    assert git.tracked(repo, "short/b.txt")
    assert git.head_blob(repo, str(tmp_path / "alias/lib/b.txt")) == b"two\n"
    assert not git.tracked(repo, "short")


def test_a_name_that_looks_like_an_option_or_a_pattern_is_a_name(project):
    names = ["-z", "--help", ":(top)x", "[a].txt", "bytes\udcff", "line\nbreak"]
    for name in names:
        write(project, name, f"in {name!r}")
    commit_all(project)
    repo = found(project)
    assert [git.tracked(repo, name) for name in names] == [True] * 6
    assert [git.head_blob(repo, name) for name in names] == [f"in {name!r}".encode() for name in names]


def test_the_blob_in_head_is_what_was_committed(project):
    write(project, "raw", b"\x00\xff\r\n")
    commit_all(project)
    write(project, "raw", "changed since")
    sh(project, "add", "-A")
    repo = found(project)
    assert git.head_blob(repo, "raw") == b"\x00\xff\r\n"
    assert git.head_blob(repo, str(project / "lib/b.txt")) == b"two\n"


def test_what_head_does_not_have_as_a_file_has_no_blob(project):
    write(project, "new.txt", "x")
    sh(project, "add", "-A")
    repo = found(project)
    assert [git.head_blob(repo, name) for name in ("new.txt", "lib", "gone", "", "../x", "a\0b")] == [None] * 6


def test_before_the_first_commit_nothing_has_a_blob(empty):
    write(empty, "a.txt", "x")
    assert git.head_blob(found(empty), "a.txt") is None


def test_a_blob_larger_than_the_limit_is_not_loaded(project):
    assert git.BLOB_LIMIT == 16 * 1024 * 1024
    write(project, "fits", bytes(git.BLOB_LIMIT))
    write(project, "large", bytes(git.BLOB_LIMIT + 1))
    commit_all(project)
    assert git.head_blob(found(project), "fits") == bytes(git.BLOB_LIMIT)
    assert git.head_blob(found(project), "large") is None


def test_the_user_is_the_one_that_git_is_configured_with(project):
    repo = found(project)
    assert git.user(repo) is None
    sh(project, "config", "user.email", "ada@example.com")
    assert git.user(repo) == "<ada@example.com>"
    sh(project, "config", "user.name", "Ada Löwe")
    assert git.user(repo) == "Ada Löwe <ada@example.com>"
    sh(project, "config", "--add", "user.name", "Ada L.")
    sh(project, "config", "--unset", "user.email")
    assert git.user(repo) == "Ada L."


# --- how git is run


def test_git_is_run_so_that_it_reads_and_asks_nobody(project, impostor, monkeypatch):
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.setenv(name, "elsewhere")
    noted = impostor("exit 1")
    assert git.user(found(project)) is None
    argv = (noted / "argv").read_text().split("\n")
    assert argv[:4] == ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"]
    environment = dict(line.split("=", 1) for line in (noted / "env").read_text().splitlines())
    assert (environment["GIT_OPTIONAL_LOCKS"], environment["GIT_TERMINAL_PROMPT"]) == ("0", "0")
    assert not {"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"} & environment.keys()


def test_a_monitor_that_the_repository_brings_is_not_run(project):
    monitor = write(project, ".git/monitor", "#!/bin/sh\ntouch ran\n", mode=0o755)
    sh(project, "config", "core.fsmonitor", str(monitor))
    content(project)
    assert not (project / "ran").exists()


def test_a_machine_without_git_is_told_so(project, monkeypatch, tmp_path):
    no_git(monkeypatch, tmp_path)
    with pytest.raises(HoldfastError) as caught:
        git.user(found(project))
    assert caught.value.code == "git_missing"
    assert caught.value.remedy == "git --version"


def test_a_failure_of_git_carries_its_reason_and_a_remedy(project):
    repo = found(project)
    write(project, ".git/index", "damaged")
    with pytest.raises(HoldfastError) as caught:
        tree_content.tree(repo, OWN)
    assert caught.value.code == "git_failed"
    assert "index" in caught.value.message
    assert caught.value.remedy == f"git -C {project} status"
    assert caught.value.facts == {"command": "ls-files", "repository": str(project)}


def test_a_working_tree_that_went_away_is_a_failure_of_git(project):
    repo = found(project)
    shutil.rmtree(project)
    with pytest.raises(HoldfastError, match="cannot work in") as caught:
        git.user(repo)
    assert caught.value.code == "git_failed"


def test_a_repository_that_git_distrusts_comes_with_the_command_that_trusts_it(project, impostor):
    impostor(f"echo \"fatal: detected dubious ownership in repository at '{project}'\" >&2; exit 128")
    with pytest.raises(HoldfastError) as caught:
        git.user(found(project))
    assert caught.value.remedy == "show this to a person and stop"
    assert str(caught.value.remedies[0]) == f"git config --global --add safe.directory {project}"


def test_a_git_that_hangs_is_ended_with_all_it_started(project, impostor, monkeypatch):
    impostor(f'sleep 600 & echo $! > "{project}/sleeper"; wait')
    assert git_command.TIMEOUT_SECONDS == 30
    monkeypatch.setattr(git_command, "TIMEOUT_SECONDS", 1)
    with pytest.raises(HoldfastError) as caught:
        git.user(found(project))
    assert caught.value.code == "git_timeout"
    assert ends(int((project / "sleeper").read_text()))


def test_the_package_starts_no_process_and_loads_nothing_slow_to_find_a_repository(project):
    program = (
        "import sys; from holdfast import git; git.find('.'); print('subprocess' in sys.modules, 're' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-S", "-c", program], cwd=project, capture_output=True, text=True,
                           env={"PYTHONPATH": str(Path(git.__file__).parents[2])})  # fmt: skip
    assert shown.stdout.split() == ["False", "False"], shown.stderr


def test_what_a_terminal_would_swallow_is_no_part_of_a_complaint():
    assert git_command.plain_lines("\x1bPpayload\x1b\\said \x1b]0;title\x07\x9b31mplainly\n") == ["said plainly"]
