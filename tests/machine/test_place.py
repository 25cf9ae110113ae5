"""Where a project's root is, what its `.holdfast` looks like, and which paths are inside."""

from __future__ import annotations

import os
import stat
import subprocess

import pytest

from holdfast.errors import Refused, UsageError
from holdfast.files import system
from holdfast.files.system.linux import Linux
from holdfast.machine import place


def git(folder, *words):
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "file").write_text("x")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def found(folder):
    one = place.find(str(folder))
    return one.root, one.worktree


def made(folder):
    folder.mkdir(parents=True)
    return folder


# The root


def test_the_root_is_the_nearest_folder_with_holdfast(tmp_path):
    made(tmp_path / ".holdfast")
    made(tmp_path / "a/.holdfast")
    inner = made(tmp_path / "a/b/c")
    assert found(inner) == (str(tmp_path / "a"),) * 2
    assert found(tmp_path) == (str(tmp_path),) * 2


def test_without_one_it_is_gits_top_level(repository):
    assert found(made(repository / "deep/down")) == (str(repository),) * 2


def test_without_git_it_is_the_folder_itself(tmp_path):
    assert found(tmp_path) == (str(tmp_path),) * 2
    assert place.find(str(tmp_path)).branch() is None


def test_a_holdfast_above_the_repository_is_somebody_elses(repository):
    made(repository.parent / ".holdfast")
    assert found(repository) == (str(repository),) * 2


def test_a_holdfast_inside_the_repository_is_a_root_of_its_own(repository):
    made(repository / "sub/.holdfast")
    assert found(made(repository / "sub/deeper")) == (str(repository / "sub"),) * 2


def test_worktrees_share_the_main_ones(repository, tmp_path):
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    assert found(tmp_path / "linked") == (str(repository), str(tmp_path / "linked"))
    made(repository / ".holdfast")
    assert found(tmp_path / "linked") == (str(repository), str(tmp_path / "linked"))


def test_a_holdfast_that_came_with_a_checkout_does_not_split_the_worktrees(repository, tmp_path):
    """Its config and workflows may be committed, so each worktree has such a folder."""
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    made(tmp_path / "linked/.holdfast/workflows")
    assert found(tmp_path / "linked") == (str(repository), str(tmp_path / "linked"))


def test_a_worktree_inside_the_main_one_is_told_from_it(repository):
    made(repository / ".holdfast")
    git(repository, "worktree", "add", "-q", "-b", "side", str(repository / "trees/side"))
    assert found(repository / "trees/side") == (str(repository), str(repository / "trees/side"))


def test_a_link_to_a_project_is_the_project(repository, tmp_path):
    (tmp_path / "link").symlink_to(repository)
    assert found(tmp_path / "link") == (str(repository),) * 2


def test_a_workflow_remembers_the_worktree_and_nothing_for_the_main_one(repository, tmp_path):
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "linked"))
    main, linked = place.find(str(repository)), place.find(str(tmp_path / "linked"))
    assert (main.key(), linked.key()) == ("", str(tmp_path / "linked"))
    assert (main.base(main.key()), main.base(linked.key())) == (str(repository), str(tmp_path / "linked"))
    assert (main.branch(), linked.branch()) == ("main", "side")
    assert main.home == linked.home == str(repository / ".holdfast")


# Its home


IGNORED = ("journal/ab/x.jsonl", "index", "quarantine/x", "state/ab/x.json", "guard", "unsettled/x", "slots/x")
SHARED = ("config.toml", "allowed_signers", "approvers", "team.toml", "workflows/release.toml", "team/templates/a.md")


def test_it_keeps_itself_out_of_git_the_users_own_files_aside(repository):
    place.prepare(place.find(str(repository)), insist=False)
    for name in (*IGNORED, *SHARED):
        path = repository / ".holdfast" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("x")
    listed = git(repository, "ls-files", "--others", "--exclude-standard").splitlines()
    assert sorted(listed) == sorted(f".holdfast/{name}" for name in SHARED)


def test_it_is_for_its_owner_only(tmp_path):
    place.prepare(place.find(str(tmp_path)), insist=False)
    assert stat.S_IMODE(os.stat(tmp_path / ".holdfast").st_mode) == 0o700


def test_a_home_the_user_made_for_definitions_is_kept_out_of_git_too(repository):
    made(repository / ".holdfast/workflows")
    place.prepare(place.find(str(repository)), insist=False)
    (repository / ".holdfast/index").write_text("x")
    assert ".holdfast/index" not in git(repository, "ls-files", "--others", "--exclude-standard")


def test_what_the_user_wrote_there_stays(tmp_path):
    home = made(tmp_path / ".holdfast")
    (home / ".gitignore").write_text("# mine\n")
    place.prepare(place.find(str(tmp_path)), insist=False)
    place.prepare(place.find(str(tmp_path)), insist=False)
    assert os.listdir(home) == [".gitignore"]
    assert (home / ".gitignore").read_text() == "# mine\n"


def test_a_home_whose_maker_died_half_way_is_finished(repository):
    (made(repository / ".holdfast") / ".gitignore").touch()
    place.prepare(place.find(str(repository)), insist=False)
    (repository / ".holdfast/index").write_text("x")
    assert git(repository, "ls-files", "--others", "--exclude-standard") == ""


def mounted(monkeypatch, tmp_path, *rows):
    """A table of mounts as the kernel writes it."""
    table = made(tmp_path / "proc/self") / "mountinfo"
    table.write_text("".join(f"22 1 0:21 / {mount} rw,relatime shared:1 - {kind} source rw\n" for mount, kind in rows))
    monkeypatch.setattr(system, "here", Linux(str(tmp_path / "proc")))


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "9p", "cifs", "smb3", "fuse.sshfs"])
def test_a_file_system_that_cannot_keep_the_promise_is_refused_unless_the_user_insists(tmp_path, monkeypatch, kind):
    root = made(tmp_path / "share/project")
    mounted(monkeypatch, tmp_path, ("/", "ext4"), (tmp_path / "share", kind))
    with pytest.raises(Refused) as caught:
        place.prepare(place.find(str(root)), insist=False)
    assert (caught.value.code, caught.value.facts["file_system"]) == ("unsafe_file_system", kind)
    assert not (root / ".holdfast").exists()
    place.prepare(place.find(str(root)), insist=True)
    assert (root / ".holdfast").exists()


def test_the_innermost_mount_counts_also_with_a_blank_in_its_name(tmp_path, monkeypatch):
    root = made(tmp_path / "a share/project")
    escaped = str(tmp_path / "a share").replace(" ", "\\040")
    mounted(monkeypatch, tmp_path, ("/", "nfs"), (escaped, "ext4"), (f"{escaped}/projects", "nfs"))
    assert system.here.file_system(str(root)) == "ext4"


def test_the_file_system_of_this_very_folder_is_known(tmp_path):
    assert system.here.file_system(str(tmp_path))


# Paths inside


@pytest.fixture
def here(repository, monkeypatch):
    monkeypatch.chdir(repository)
    return place.find(str(repository))


def test_a_path_is_written_down_relative_to_the_worktree(here, repository, monkeypatch):
    assert here.inside("a/b.md") == "a/b.md"
    assert here.inside(str(repository / "a/../b.md")) == "b.md"
    made(repository / "sub")
    monkeypatch.chdir(repository / "sub")
    assert here.inside("x.md") == "sub/x.md"
    assert here.inside("../x.md") == "x.md"


def test_a_path_through_a_link_that_leads_inside_is_where_it_leads(here, repository):
    made(repository / "real")
    (repository / "link").symlink_to("real")
    assert here.inside("link/x.md") == "real/x.md"


@pytest.mark.parametrize(
    "path", ["", ".", "..", "../x", "/etc/passwd", "a/../../x", "out/x", "leaf", "a\nb", "a\x1b[2J", "a\0b", "a\u202eb"]
)
def test_a_path_that_leaves_the_root_or_deceives_is_refused(here, repository, tmp_path, path):
    made(tmp_path / "elsewhere")
    (repository / "out").symlink_to(tmp_path / "elsewhere")
    (repository / "leaf").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError) as caught:
        here.inside(path)
    assert (caught.value.code, caught.value.exit_code) == ("outside_root", 2)


# Patterns


def test_a_pattern_is_written_down_relative_to_the_worktree(here, repository, monkeypatch):
    assert here.pattern("src/*.py") == "src/*.py"
    assert here.pattern("*") == "*"
    assert here.pattern("./a?/b*/c.md") == "a?/b*/c.md"
    assert here.pattern(str(repository / "src/**/x.py")) == "src/**/x.py"
    made(repository / "sub")
    monkeypatch.chdir(repository / "sub")
    assert here.pattern("*.md") == "sub/*.md"
    assert here.pattern("../docs/*.md") == "docs/*.md"
    assert here.pattern("plain.md") == "sub/plain.md"


def test_a_pattern_through_a_link_that_leads_inside_is_where_it_leads(here, repository):
    made(repository / "real")
    (repository / "link").symlink_to("real")
    assert here.pattern("link/*.py") == "real/*.py"


@pytest.mark.parametrize(
    "path",
    [
        "../*",
        "/etc/*",
        "/*",
        "a/../../*",
        "out/*",
        "src/*/../../x",
        "*/..",
        "../?",
        "a\n*",
        "*\x1b[2J",
        "*\0",
        "*\u202e",
    ],
)
def test_a_pattern_that_leaves_the_root_or_deceives_is_refused(here, repository, tmp_path, path):
    made(tmp_path / "elsewhere")
    (repository / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError) as caught:
        here.pattern(path)
    assert (caught.value.code, caught.value.exit_code) == ("outside_root", 2)
