"""A commit that is interrupted: whatever ends the process and when, nothing is reverted and nothing stays locked."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

import holdfast
from holdfast import git
from holdfast.errors import Conflict, Refused
from holdfast.git import commits, unfinished
from tests.git.repositories import commit_all, found, sh, write
from tests.git.test_git_changes import hook
from tests.tiers import need

COMMITTING = """
import os, signal, sys
import holdfast
from holdfast import git
from holdfast.git import commits, unfinished

point, how = sys.argv[1:]

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

def before(name, owner=unfinished):
    setattr(owner, name, die)

def after(name, owner=unfinished):
    real = getattr(owner, name)
    def then(*given, **named):
        real(*given, **named)
        die()
    setattr(owner, name, then)

if point:
    (before if how == "before" else after)(*point.split("/")[:1], *([os] if point.endswith("/os") else []))
print(commits.commit(git.find("."), ["new.txt"], "new"))
"""
POINTS = [
    *(("begin_commit", "before"), ("write", "after"), ("_lock", "before"), ("_lock", "after"), ("settled", "before")),
    *(("_follow", "before"), ("differing", "after"), ("replace/os", "before"), ("replace/os", "after")),
    ("_follow", "after"),
]


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    sh(folder, "init", "-q", "-b", "main")
    sh(folder, "config", "user.name", "Ada")
    sh(folder, "config", "user.email", "ada@example.org")
    write(folder, "old.txt", "old\n")
    commit_all(folder, "old")
    write(folder, "new.txt", "new\n")
    write(folder, "staged.txt", "staged\n")
    sh(folder, "add", "staged.txt")
    return folder


def committing(project, point="", how="before", **more):
    return subprocess.Popen([sys.executable, "-c", COMMITTING, point, how], cwd=project, **more)


def is_whole(project):
    """Settled, nothing is left over, a plain commit of the user takes nothing back, and Holdfast commits again."""
    unfinished.settle(found(project))
    left = [name for name in os.listdir(project / ".git") if name.startswith("holdfast") or name.endswith(".lock")]
    assert left == []
    if sh(project, "log", "-1", "--format=%s") == "old":
        commits.commit(found(project), ["new.txt"], "new")
    assert sh(project, "status", "--porcelain") == "A  staged.txt"
    sh(project, "commit", "-q", "-m", "plain")
    assert sh(project, "show", "--format=", "--name-status", "HEAD") == "A\tstaged.txt"
    assert sh(project, "show", "HEAD:new.txt") == "new"


@pytest.mark.parametrize(("point", "how"), POINTS)
def test_a_process_that_is_killed_leaves_nothing_that_takes_work_back(project, point, how):
    assert committing(project, point, how).wait() == -signal.SIGKILL
    plain = subprocess.run(["git", "commit", "-q", "-m", "too early"], cwd=project, capture_output=True, text=True)
    if plain.returncode:
        assert "index.lock" in plain.stderr
        is_whole(project)
    else:
        assert not sh(project, "log", "--diff-filter=D", "--format=%h")


@pytest.mark.parametrize(("point", "how"), POINTS)
def test_after_a_kill_the_next_command_sets_it_right(project, point, how):
    assert committing(project, point, how).wait() == -signal.SIGKILL
    is_whole(project)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("state", ["prepared", "committed"])
def test_a_signal_while_head_moves_ends_the_process_and_tears_nothing(project, number, state):
    script = f'test "$1" = {state} && kill -{int(number)} $COMMITTING; sleep 0.2; exit 0'
    hook(project, "reference-transaction", script)
    code = "import os, runpy, sys\nos.environ['COMMITTING'] = str(os.getpid())\n" + COMMITTING
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    restore = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    restore += "for number in (signal.SIGTERM, signal.SIGHUP):\n    signal.signal(number, signal.SIG_DFL)\n"
    process = subprocess.Popen(
        [sys.executable, "-c", restore + code, "", ""], cwd=project, env=environment, stderr=subprocess.DEVNULL
    )
    assert process.wait(60) in (-number, 1, 130)
    assert not git.is_unsettled(found(project))
    (project / ".git/hooks/reference-transaction").unlink()
    is_whole(project)


def test_a_git_that_outlives_the_one_who_started_it_is_waited_for(project):
    hook(project, "pre-commit", "touch .git/begun; sleep 1")
    process = committing(project)
    while not (project / ".git/begun").exists():
        time.sleep(0.01)
    process.kill()
    process.wait()
    assert unfinished.settle(found(project)) == ""
    with pytest.raises(Refused) as caught:
        commits.commit(found(project), ["new.txt"], "again")
    assert caught.value.code == "nothing_to_commit"
    (project / ".git/begun").unlink()
    is_whole(project)


def test_the_user_may_remove_the_lock_and_only_what_is_behind_follows(project):
    assert committing(project, "settled", "after").wait() == -signal.SIGKILL
    assert committing(project, "_follow", "before").wait() == -signal.SIGKILL
    (project / ".git/index.lock").unlink()
    write(project, "other.txt", "other\n")
    sh(project, "add", "other.txt")
    assert unfinished.settle(found(project)).startswith("Commit ")
    assert sh(project, "status", "--porcelain") == "A  other.txt\nA  staged.txt"


def test_the_hook_after_a_commit_sees_the_new_index_and_may_stage(project):
    hook(project, "post-commit", "git status --porcelain > seen; echo late > late.txt; git add late.txt")
    hook(project, "pre-commit", 'echo "$0" > from')
    commits.commit(found(project), ["new.txt"], "new")
    assert (project / "seen").read_text() == "A  staged.txt\n?? from\n?? seen\n"
    assert (project / "from").read_text().strip().endswith(".git/hooks/pre-commit")
    assert "A  late.txt" in sh(project, "status", "--porcelain")


def test_a_commit_waits_for_another_one_and_names_its_process_in_the_end(project):
    hook(project, "pre-commit", "touch .git/begun; sleep 5")
    process = committing(project)
    while not (project / ".git/begun").exists():
        time.sleep(0.01)
    with pytest.raises(Conflict) as caught:
        commits.commit(found(project), ["new.txt"], "new", wait=0.1)
    assert f"process {process.pid}" in caught.value.message
    process.terminate()
    assert process.wait(60) == -signal.SIGTERM
    (project / ".git/hooks/pre-commit").unlink()
    (project / ".git/begun").unlink()
    is_whole(project)


def test_a_file_system_without_second_names_for_files_takes_commits_too(project, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    commits.commit(found(project), ["new.txt"], "new")
    is_whole(project)


@pytest.mark.parametrize("who", ["command", "hook"])
def test_the_next_command_or_hook_settles_it(project, who):
    (project / ".holdfast").mkdir()
    sh(project, "config", "core.excludesFile", "/dev/null")
    (project / ".git/info/exclude").write_text(".holdfast/\n")
    assert committing(project, "_follow", "before").wait() == -signal.SIGKILL
    python = [sys.executable]
    if who == "command":
        done = subprocess.run([*python, "-m", "holdfast", "list"], cwd=project, capture_output=True, text=True)
        assert "was interrupted. It is complete now." in done.stderr
    else:
        run = os.path.join(os.path.dirname(holdfast.__file__), "surfaces/hooks/run.py")
        event = json.dumps({"hook_event_name": "PostToolUse", "cwd": str(project), "session_id": "s", "tool_name": "X"})
        while git.is_unsettled(found(project)):  # a hook ends when its time is over, and the next one continues
            subprocess.run([*python, "-I", "-S", run], cwd=project, input=event, text=True, check=True)
        assert "was interrupted" in (project / ".holdfast/hook.log").read_text()
    assert not git.is_unsettled(found(project))
    is_whole(project)


def linked(project):
    other = project.with_name("other")
    sh(project, "worktree", "add", "-q", "-b", "other", str(other))
    return other


def split(project):
    sh(project, "config", "core.splitIndex", "true")
    sh(project, "update-index", "--split-index")
    return project


def sparse(project):
    sh(project, "sparse-checkout", "set", "--cone", "--sparse-index", "lib")
    assert not (project / "far").exists()
    return project


def detached(project):
    sh(project, "checkout", "-q", "--detach")
    return project


def unborn(project):
    sh(project, "checkout", "-q", "--orphan", "fresh")
    sh(project, "rm", "-rq", "--cached", ".")
    return project


def with_submodule(project):
    library = project.with_name("library")
    sh(project, "init", "-q", str(library))
    sh(library, "commit", "-q", "--allow-empty", "-m", "library")
    sh(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "sub")
    sh(project, "commit", "-q", "-m", "old")
    sh(project / "sub", "commit", "-q", "--allow-empty", "-m", "further")
    return project


@pytest.mark.parametrize("kind", [linked, split, sparse, detached, unborn, with_submodule])
@pytest.mark.parametrize("point", ["differing", "_follow"])
def test_in_every_kind_of_working_tree_an_interrupted_commit_is_brought_to_its_end(project, kind, point):
    sh(project, "rm", "-q", "--cached", "staged.txt")
    for name in ("lib/one.txt", "far/two.txt"):
        write(project, name, "old\n")
        sh(project, "add", name)
    sh(project, "commit", "-q", "-m", "old")
    (project / ".holdfast").mkdir()
    write(project, ".git/info/exclude", ".holdfast/\n")
    place = kind(project)
    for name in ("new.txt", "staged.txt"):
        write(place, name, "new\n")
    sh(place, "add", "staged.txt")
    before = sh(place, "status", "--porcelain").replace("?? new.txt", "").split()
    assert committing(place, point).wait() == -signal.SIGKILL
    git_dir = found(place).git_dir
    plain = subprocess.run(["git", "commit", "-q", "-m", "too early"], cwd=place, capture_output=True, text=True)
    assert "index.lock" in plain.stderr
    run = os.path.join(os.path.dirname(holdfast.__file__), "surfaces/hooks/run.py")
    event = json.dumps({"hook_event_name": "PostToolUse", "cwd": str(place), "session_id": "s", "tool_name": "X"})
    for _ in range(20):
        if git.is_unsettled(found(place)):
            subprocess.run([sys.executable, "-I", "-S", run], cwd=place, input=event, text=True, check=True)
    assert [name for name in os.listdir(git_dir) if name.startswith("holdfast") or name.endswith(".lock")] == []
    assert sh(place, "show", "--format=", "--name-status", "HEAD") == "A\tnew.txt"
    assert sh(place, "status", "--porcelain").split() == before
    sh(place, "commit", "-q", "-m", "plain")
    assert sh(place, "show", "--format=", "--name-status", "HEAD") == "A\tstaged.txt"
    assert not sh(place, "fsck", "--no-dangling")


def test_a_git_that_was_killed_with_its_parent_leaves_no_lock_that_stops_the_next(project):
    assert committing(project, "_follow", "before").wait() == -signal.SIGKILL
    write(project, ".git/holdfast-index.lock", "half")
    write(project, ".git/holdfast-index", "half")
    is_whole(project)


def pressing(process, begun):
    """Ctrl-C again and again, from the moment that a file is there."""
    while not begun.exists():
        time.sleep(0.01)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.005)
    assert "KeyboardInterrupt" in process.communicate()[1]


def interruptible(project, **more):
    code = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" + COMMITTING
    words = [sys.executable, "-c", code, "", ""]
    return subprocess.Popen(words, cwd=project, stderr=subprocess.PIPE, text=True, **more)


def test_one_who_insists_during_a_slow_hook_ends_it_and_tears_nothing(project, tmp_path):
    hook(project, "pre-commit", f"touch {tmp_path}/begun; trap '' TERM INT; sleep 30")
    pressing(interruptible(project), tmp_path / "begun")
    assert not git.is_unsettled(found(project))
    (project / ".git/hooks/pre-commit").unlink()
    is_whole(project)


def test_one_who_insists_waits_for_a_git_that_does_not_end_at_once(project, tmp_path):
    (tmp_path / "bin").mkdir()
    script = f"""#!/bin/sh
    case "$*" in *"commit -q"*) trap '' TERM; touch {tmp_path}/begun; sleep 1;; esac
    exec {shutil.which("git")} "$@"
    """
    write(tmp_path, "bin/git", script, mode=0o755)
    pressing(
        interruptible(project, env={**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}), tmp_path / "begun"
    )
    time.sleep(1)  # for a git that would continue alone
    assert not git.is_unsettled(found(project))
    is_whole(project)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_switch_comes_when_head_and_index_are_both_there(project, number):
    sh(project, "rm", "-q", "--cached", "staged.txt")
    sh(project, "branch", "side")
    write(project, "old.txt", "newer\n")
    commit_all(project, "newer")
    hook(project, "post-index-change", f"kill -{int(number)} $SWITCHING; sleep 0.3")
    code = "import os, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "os.environ['SWITCHING'] = str(os.getpid())\nfrom holdfast import git\nfrom holdfast.git import branches\n"
    code += "branches.switch(git.find('.'), 'side')"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=project, stderr=subprocess.DEVNULL)
    assert process.wait(60) in (-number, 1, 130)
    (project / ".git/hooks/post-index-change").unlink()
    assert sh(project, "branch", "--show-current") == "side"
    assert sh(project, "status", "--porcelain", "-uno") == ""


def test_a_commit_of_the_user_that_comes_in_between_is_not_taken_back(project, monkeypatch):
    """It moves HEAD after the index of the commit was made, and before the user's is locked."""
    write(project, "users.txt", "theirs\n")
    at = project.parent / "bin"
    at.mkdir()
    real = shutil.which("git")
    script = f"""#!/bin/sh
    case "$*" in *write-tree*) (unset GIT_INDEX_FILE; {real} add users.txt; {real} commit -q -m theirs users.txt);; esac
    exec {real} "$@"
    """
    write(at, "git", script, mode=0o755)
    monkeypatch.setenv("PATH", f"{at}:{os.environ['PATH']}")
    with pytest.raises(Conflict) as caught:
        commits.commit(found(project), ["new.txt"], "new")
    assert caught.value.code == "changed_meanwhile"
    assert sh(project, "show", "--format=", "--name-status", "HEAD") == "A\tusers.txt"
    monkeypatch.undo()
    commits.commit(found(project), ["new.txt"], "new")
    assert sh(project, "ls-tree", "--name-only", "HEAD").split() == ["new.txt", "old.txt", "users.txt"]
    assert sh(project, "status", "--porcelain") == "A  staged.txt"


@pytest.mark.parametrize("target", ["side", "new"])
def test_a_git_that_is_killed_while_it_switches_leaves_no_lock(project, target):
    need("strace")
    sh(project, "rm", "-q", "--cached", "staged.txt")
    (project / "staged.txt").unlink()
    (project / "new.txt").unlink()
    sh(project, "branch", "side")
    write(project, "old.txt", "newer\n")
    commit_all(project, "newer")
    kept = shutil.copytree(project, project.with_name("kept"), symlinks=True)
    at = project.parent / "bin"
    at.mkdir()
    for call, when in [("rename", n) for n in range(1, 5)] + [("write", n) for n in range(1, 8)]:
        shutil.rmtree(project)
        shutil.copytree(kept, project, symlinks=True)
        real, once = shutil.which("git"), at / "once"
        once.touch()
        killing = f"strace -o {at}/log -e trace={call} -e inject={call}:signal=KILL:when={when}"
        script = f'case "$*" in *switch*) rm {once} 2> /dev/null && exec {killing} {real} "$@";; esac\nexec {real} "$@"'
        write(at, "git", f"#!/bin/sh\n{script}\n", mode=0o755)
        code = "from holdfast import git\nfrom holdfast.git import branches\n"
        code += f"branches.{'switch' if target == 'side' else 'make_branch'}(git.find('.'), {target!r})"
        environment = {**os.environ, "PATH": f"{at}:{os.environ['PATH']}"}
        subprocess.run([sys.executable, "-c", code], cwd=project, env=environment, capture_output=True)
        locks = [str(path) for path in (project / ".git").rglob("*.lock")]
        assert (locks, git.is_unsettled(found(project))) == ([], False), (call, when)
        here = sh(project, "branch", "--show-current")
        assert sh(project, "diff", "--cached", "--name-status") == "", (call, when, here)
