"""A commit that was interrupted before it was made: nobody else's counts for it, and what went with it is undone."""

from __future__ import annotations

import errno
import fcntl
import os

import pytest

from holdfast import git
from holdfast.git import made
from holdfast.systems.seam import actions
from tests.acceptance.committing import PATHS, holdfast, left_over, shown
from tests.acceptance.feature import SECOND, SLUG, House
from tests.acceptance.test_unrecorded_commits import WAITING, hook, reached, recorded, started, waits_for_a_lock
from tests.orchestrated import Run
from tests.workbench import LOGIN, PATIENCE, Bench

KILL = "kill -9 $(cut -d' ' -f4 /proc/$PPID/stat) $PPID\n"
"""Ends the git that started a hook, and the Holdfast that started the git."""
NOT_YET = "not committed yet"


def killed(root, *words):
    """Runs a command that ends in a hook or a filter, and comes back when nobody commits any more."""
    done = holdfast(root, *words)
    assert done.returncode == -9, done
    reached(lambda: is_free(root / ".git"))


def is_free(folder):
    fd = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


def a_task(root):
    bench = Bench(root).begun()
    bench.saved_feature(LOGIN, "Add a form (no tests)", "Add a page (no tests)")
    bench.start()
    bench.write("work.txt", "work\n")
    return bench, ("task", "done", "1")


def an_orchestrated_task(root):
    bench = Bench(root).begun()
    Run(bench).planned().look().begin("1.1")
    bench.write("work.txt", "work\n")
    return bench, ("commit", "1.1", "-m", "the work")


def killed_in_a_hook(bench, words):
    path = hook(bench.root, f"#!/bin/sh\n{KILL}", "pre-commit")
    killed(bench.root, *words)
    path.unlink()


@pytest.mark.parametrize("prepare", [a_task, an_orchestrated_task])
def test_the_commit_of_somebody_else_is_not_taken_for_the_interrupted_one(tmp_path, prepare):
    bench, words = prepare(tmp_path)
    killed_in_a_hook(bench, words)
    (bench.root / ".git/index.lock").unlink()
    bench.write("mine.txt", "mine\n")
    bench.git("add", "mine.txt")
    bench.git("commit", "-q", "-m", "my own work")
    mine = bench.head
    done = holdfast(bench.root, *words)
    assert done.returncode == 0, done
    assert bench.git("rev-parse", "HEAD^") == mine
    assert "work.txt" in bench.git("show", "--format=", "--name-only", "HEAD")
    assert mine not in recorded(bench.root)
    assert bench.git("status", "--porcelain") == ""
    assert left_over(bench.root) == []


def test_an_interrupted_commit_that_a_hook_changed_is_still_the_one(tmp_path):
    bench, words = a_task(tmp_path)
    hook(bench.root, "#!/bin/sh\necho more > more.txt; git add more.txt\n", "pre-commit")
    hook(bench.root, '#!/bin/sh\necho "Change-Id: 1" >> "$1"\n', "commit-msg")
    path = hook(bench.root, f'#!/bin/sh\ntest "$1" = committed || exit 0\n{KILL}', "reference-transaction")
    killed(bench.root, *words)
    path.unlink()
    own = bench.head
    done = holdfast(bench.root, *words)
    assert (done.returncode, bench.head) == (0, own), done
    assert recorded(bench.root) == {own}
    assert bench.git("status", "--porcelain") == ""


def a_hook_is_killed(bench, words):
    killed_in_a_hook(bench, words)


def the_preparation_is_killed(bench, words):
    path = bench.root / ".git/clean"
    path.write_text(f'grep -q "\\[x\\]" {LOGIN} || exec cat\n{KILL}')
    bench.git("config", "filter.own.clean", f". {path}")
    (bench.root / ".git/info/attributes").write_text("work.txt filter=own\n")
    killed(bench.root, *words)
    (bench.root / ".git/info/attributes").unlink()


def the_command_is_interrupted(bench, words):
    path = hook(bench.root, WAITING, "pre-commit")
    process = started(bench.root, *words)
    reached(path.with_name("pre-commit.begun").exists)
    process.terminate()
    process.communicate()
    path.unlink()


@pytest.mark.parametrize("way", [a_hook_is_killed, the_preparation_is_killed, the_command_is_interrupted])
def test_the_box_of_a_task_whose_commit_was_not_made_is_open_again(tmp_path, way):
    bench, words = a_task(tmp_path)
    way(bench, words)
    told = holdfast(bench.root, "status")
    assert "its commit was not made" in told.stderr, told
    assert bench.git("status", "--porcelain", "--", LOGIN) == ""
    assert left_over(bench.root) == []
    assert "commit" not in holdfast(bench.root, "status").stderr
    bench.ok("start", "dev", LOGIN, "--fresh")
    assert "- [ ] Add a form" in (bench.root / LOGIN).read_text()
    assert "Add a form" in bench.ok("next").out


def test_a_box_that_cannot_be_opened_now_is_opened_by_a_later_command(tmp_path, monkeypatch):
    bench, _ = a_task(tmp_path)
    repository = git.find(str(bench.root))
    box, purpose = bench.root / LOGIN, made.Purpose("ulid", "login", "task_execution/1", "1")
    box.write_text(box.read_text().replace("- [ ] Add a form", "- [x] Add a form"))
    made.keep(repository, purpose, "", 0, ("skill", str(box), LOGIN, "Add a form"))

    def is_full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", is_full)
        (said,) = actions.left_over(repository)
    assert "is ticked, and its commit was not made" in said
    (said,) = actions.left_over(repository)
    assert "is open again" in said
    assert bench.git("status", "--porcelain", "--", LOGIN) == ""
    assert left_over(bench.root) == []


@pytest.fixture
def house(tmp_path):
    house = House(tmp_path / "house").up_to(SECOND, "in_progress")
    house.make(SECOND)
    return house


def test_a_phase_whose_commit_is_interrupted_is_committed_later_with_its_message(house):
    killed_in_a_hook(house, ("done", SECOND, "-m", "Keyed"))
    assert house.phase(SECOND)["status"] == "in_review"
    is_committed_later(house)


def test_a_phase_whose_commit_a_hook_rejects_is_committed_later_with_its_message(house):
    path = hook(house.root, "#!/bin/sh\nexit 1\n", "pre-commit")
    assert NOT_YET in house.ok("done", SECOND, "-m", "Keyed").out
    path.unlink()
    is_committed_later(house)


def is_committed_later(house):
    for words in (("status",), ("next",), ("list",)):
        told = holdfast(house.root, *words)
        assert f"holdfast feature continue {SLUG} tries again" in told.stderr, told
    finding = next(one for one in house.agent("doctor", "--json").json["findings"] if NOT_YET in one["message"])
    assert finding["level"] == "warning"
    house.ok("feature", "continue", SLUG)
    assert house.subjects()[-1] == f"[workflow] {SECOND}: Keyed"
    assert house.git("status", "--porcelain") == ""
    assert NOT_YET not in holdfast(house.root, "status").stderr
    assert left_over(house.root) == []


def test_a_later_move_has_the_message_of_a_commit_that_was_not_made(house):
    path = hook(house.root, "#!/bin/sh\nexit 1\n", "pre-commit")
    house.ok("done", SECOND, "-m", "Keyed")
    path.unlink()
    house.ok("cancel", "--reason", "Nobody wants it")
    said = house.git("log", "-1", "--format=%B")
    assert said.splitlines()[0].endswith("Cancel: Nobody wants it")
    assert f"[workflow] {SECOND}: Keyed" in said.splitlines()[1:]
    assert house.trailers()["Workflow-Status"] == "cancelled"
    assert left_over(house.root) == []


def test_what_could_not_be_committed_when_the_work_was_cancelled_is_committed_by_continue(house):
    path = hook(house.root, "#!/bin/sh\nexit 1\n", "pre-commit")
    assert NOT_YET in house.ok("cancel", "--reason", "Nobody wants it").out
    path.unlink()
    assert NOT_YET in holdfast(house.root, "list").stderr
    house.ok("feature", "continue", SLUG)
    assert house.subjects()[-1].endswith("Cancel: Nobody wants it")
    assert left_over(house.root) == []


def test_a_finalize_waits_for_the_git_of_one_that_was_killed(tmp_path):
    prepared = PATHS["finalize"](tmp_path / "base")
    root = prepared.bench.root
    path = hook(root, WAITING, "pre-commit")
    first = started(root, *prepared.words)
    reached(path.with_name("pre-commit.begun").exists)
    first.kill()
    first.communicate()
    again = started(root, *prepared.words)
    reached(lambda: waits_for_a_lock(again))
    path.with_name("pre-commit.go").touch()
    assert again.wait(PATIENCE) == 0, again.communicate()
    again.communicate()
    assert prepared.proof(root)
    assert shown(root, "diff", "--cached", "--name-status") == "A\tstaged.txt"


@pytest.mark.parametrize("name", ["task", "finalize"])
def test_a_commit_that_is_stopped_is_waited_for_as_long_as_asked_and_named(tmp_path, monkeypatch, name):
    prepared = PATHS[name](tmp_path / "base")
    root = prepared.bench.root
    path = hook(root, WAITING, "pre-commit")
    first = started(root, *prepared.words)
    reached(path.with_name("pre-commit.begun").exists)
    monkeypatch.setenv("HOLDFAST_LOCK_WAIT", "1")
    answer = holdfast(root, *prepared.words)
    path.with_name("pre-commit.go").touch()
    assert first.wait(PATIENCE) == 0, first.communicate()
    first.communicate()
    assert (answer.returncode, "gave up after 1 s" in answer.stderr) == (5, True), answer
    assert f"process {first.pid}" in answer.stderr
    assert f"ps -fp {first.pid}" in answer.stderr
