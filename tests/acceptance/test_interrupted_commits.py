"""Every command that commits, ended at each git it starts: no plain commit of the user takes work back afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.feature import SLUG, House
from tests.orchestrated import Run
from tests.tiers import rows
from tests.workbench import LOGIN, Bench

GIT = shutil.which("git")
WRAPPER = f"""#!/bin/sh
echo "$*" >> "$GIT_CALLS"
if test "$(wc -l < "$GIT_CALLS")" = "$END_AT"; then
    exec 9> "$STILL_RUNNING"
    case $END_BY in
    *before) kill -${{END_BY%-*}} $PPID; test $END_BY = 9-before && exit 1; sleep 0.1; exec {GIT} "$@";;
    *after) {GIT} "$@"; code=$?; kill -${{END_BY%-*}} $PPID; sleep 0.1; exit $code;;
    *outlived) kill -9 $PPID; exec {GIT} "$@";;
    esac
fi
exec {GIT} "$@"
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WAYS = ["9-before", "9-after", "9-outlived", *(f"{int(n)}-{when}" for n in SIGNALS for when in ("before", "after"))]
OWN = """name = "own"
dialect = "{dialect}"
[[step]]
id = "code"
action = "commit"
[[step]]
id = "rest"
"""


def stage(bench):
    """What the user staged is none of the work, where it was there before."""
    bench.write("staged.txt", "staged\n")
    bench.git("add", "staged.txt")


def task(root):
    bench = Bench(root).begun()
    bench.saved_feature(LOGIN, "Add a form (no tests)")
    stage(bench)
    bench.start()
    bench.write("work.txt", "work\n")
    return bench, ("done", "task_execution/1")


def commit_step(dialect):
    def prepare(root):
        bench = Bench(root).begun()
        bench.write(".holdfast/workflows/own.toml", OWN.format(dialect=dialect))
        bench.save("the definition")
        stage(bench)
        bench.ok("start", "own", "something")
        bench.agent("begin", "code")
        bench.write("work.txt", "work\n")
        return bench, ("done", "code")

    return prepare


def orchestrated(root):
    bench = Bench(root).begun()
    Run(bench)
    stage(bench)
    bench.write("work.txt", "work\n")
    return bench, ("commit", "1.1", "-m", "the work", "--path", "work.txt")


def feature(root):
    house = House(root)
    house.begun()
    stage(house)
    return house, ("start", "feature", "Another thing")


def finalized(root):
    house = House(root).publish().completed()
    stage(house)
    return house, ("finalize", "-w", SLUG)


PATHS = {
    "task": task,
    "own-skill": commit_step("skill"),
    "own-compaction": commit_step("compaction"),
    "own-story": commit_step("story"),
    "orchestrator": orchestrated,
    "feature": feature,
    "finalize": finalized,
}


class Ended:
    """A prepared project that is put back each time, and in which the command is ended at another place.

    It is always at the same path: in a copy elsewhere, approvals would only be claimed.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        bench, self.words = PATHS[name](folder / "base")
        self._root = bench.root
        self._kept = shutil.copytree(self._root, folder / "kept", symlinks=True)
        os.mkfifo(folder / "running")
        (folder / "bin").mkdir()
        (folder / "bin/git").write_text(WRAPPER)
        (folder / "bin/git").chmod(0o755)
        done = self.run(self.fresh(), 0, "")
        assert done.returncode == 0, done
        self.calls = (folder / "calls").read_text().splitlines()

    def fresh(self) -> Path:
        shutil.rmtree(self._root)
        return shutil.copytree(self._kept, self._root, symlinks=True)

    def run(self, root: Path, at: int, by: str) -> subprocess.CompletedProcess[str]:
        """Comes back when the command has ended, and so has a git that outlived it."""
        calls, running = self._folder / "calls", self._folder / "running"
        calls.write_text("")
        more = {"GIT_CALLS": str(calls), "STILL_RUNNING": str(running), "END_AT": str(at), "END_BY": by}
        environment = {**os.environ, **more, "PATH": f"{self._folder}/bin:{os.environ['PATH']}"}
        reading = os.open(running, os.O_RDONLY | os.O_NONBLOCK)
        try:
            done = holdfast(root, *self.words, env=environment)
            os.set_blocking(reading, True)
            assert os.read(reading, 1) == b""  # once nobody has it open any more
        finally:
            os.close(reading)
        return done

    def places(self) -> list[tuple[int, str]]:
        """The calls from the first commit on, each with its number; earlier ones change nothing that is git's."""
        kinds = [
            next(word for word in call.split() if word.islower() and "=" not in word and word != "-c")
            for call in self.calls
        ]
        first = next(n for n, kind in enumerate(kinds) if kind in ("commit", "switch"))
        return [(n + 1, kind) for n, kind in enumerate(kinds) if n >= first]


def holdfast(root, *words, env=None):
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import runpy, sys; "
    code += "sys.argv[0] = 'holdfast'; runpy.run_module('holdfast', run_name='__main__')"
    return subprocess.run([sys.executable, "-c", code, *words], cwd=root, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)  # fmt: skip


def git(root, *words, check=True):
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0 or not check, done.stderr
    return done


def shown(root, *words):
    return git(root, *words).stdout.strip()


def takes_nothing_back(root):
    """A plain commit of the user has what they staged, and nothing else."""
    git(root, "commit", "-q", "-m", "plain")
    assert shown(root, "show", "--format=", "--name-status", "HEAD") == "A\tstaged.txt"


@pytest.mark.parametrize("name", PATHS)
def test_whatever_ends_a_command_that_commits_its_work_is_not_taken_back(tmp_path, name):
    ended = Ended(tmp_path, name)
    table = [(way, number, call) for way in WAYS for number, call in ended.places()]
    for way, number, call in rows(table, lambda row: (row[0][:2] == "9-", row[2] in ("commit", "switch"))):
        is_not_taken_back(ended, way, number, f"{way} at {call}, git {number} of {name}")


def is_not_taken_back(ended, way, number, which):
    root = ended.fresh()
    done = ended.run(root, number, way)
    assert done.returncode in (-9, -15, -1, 130, 129, 143, 0, 1), (which, done)
    assert "Traceback" not in done.stderr, (which, done)
    plain = root.with_name(f"{root.name}-plain")
    shutil.copytree(root, plain, symlinks=True)
    if git(plain, "commit", "-q", "-m", "plain", check=False).returncode == 0:
        assert shown(plain, "show", "--format=", "--name-status", "HEAD") == "A\tstaged.txt", (which, done)
    else:
        assert (plain / ".git/index.lock").exists(), (which, done)
    began = (root / ".git/holdfast-commit").exists()
    told = holdfast(root, "list")
    assert told.returncode == 0, (which, told)
    assert ("was interrupted" in told.stderr) == began, (which, told)
    left = [name for name in os.listdir(root / ".git") if name.startswith("holdfast") or name.endswith(".lock")]
    assert left == [], (which, done)
    assert shown(root, "diff", "--cached", "--name-status") == "A\tstaged.txt", (which, done)
    again = holdfast(root, *ended.words)
    assert "Traceback" not in again.stderr, (which, again)
    takes_nothing_back(root)
    shutil.rmtree(plain)
