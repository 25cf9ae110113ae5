"""A commit whose command was ended before it could record it: the same command takes it up and makes no other."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.acceptance.committing import PATHS, holdfast, left_over
from tests.orchestrated import Run
from tests.workbench import PATIENCE, Bench

HOOK = "#!/bin/sh\nkill -{} $PPID\n"
STEPS = ("task", "own-skill", "own-compaction", "own-story", "orchestrator", "phase-commit")
WAYS = (*(("task", way) for way in ("TERM", "HUP", "KILL", "INT")), *((step, "KILL") for step in STEPS[1:]))


def hook(root, text, name="post-commit"):
    path = root / ".git/hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def recorded(root):
    """The commits that the journals have, in all workflows and steps."""
    texts = [path.read_text() for path in (root / ".holdfast").rglob("*.jsonl")]
    lines = [json.loads(line) for text in texts for line in text.splitlines()]
    return {value for line in lines for value in _values(line, "commit_sha")}


def _values(value, key):
    if isinstance(value, dict):
        yield from ([value[key]] if isinstance(value.get(key), str) else [])
        for one in value.values():
            yield from _values(one, key)
    elif isinstance(value, list):
        for one in value:
            yield from _values(one, key)


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_the_interrupted_commit_is_the_one_that_counts(tmp_path, name, way):
    prepared = PATHS[name](tmp_path / "base")
    bench, words = prepared.bench, prepared.words
    path, before = hook(bench.root, HOOK.format(way)), bench.git("rev-parse", "HEAD")
    ended = holdfast(bench.root, *words)
    assert ended.returncode, ended
    path.unlink()
    own = bench.git("rev-parse", "HEAD")
    assert bench.git("rev-parse", "HEAD^") == before
    if way == "INT":
        assert own[:12] in ended.stderr, ended
    told = holdfast(bench.root, "status")
    assert own[:12] in told.stderr, told
    bench.write("mine.txt", "mine\n")
    bench.git("add", "mine.txt")
    bench.git("commit", "-q", "-m", "my own work", "--", "mine.txt")
    mine = bench.git("rev-parse", "HEAD")
    bench.write("more.txt", "more\n")
    again = holdfast(bench.root, *words)
    assert again.returncode == 0, again
    assert own[:7] in again.stdout, again
    assert bench.git("rev-parse", "HEAD") == mine, again
    if name != "phase-commit":  # whose commits no journal has
        assert recorded(bench.root) == {own}
    assert left_over(bench.root) == []
    assert "interrupt" not in holdfast(bench.root, "status").stderr


def test_an_orchestrated_task_that_is_handed_in_has_the_commit_that_was_interrupted(tmp_path):
    bench = Bench(tmp_path).begun()
    run = Run(bench).planned()
    run.look().begin("1.1")
    bench.write("work.txt", "work\n")
    path = hook(bench.root, HOOK.format("KILL"))
    holdfast(bench.root, "commit", "1.1", "-m", "the work")
    path.unlink()
    run.finish("1.1")
    assert recorded(bench.root) == {bench.head}
    assert left_over(bench.root) == []


def test_a_commit_that_was_amended_is_not_taken_up(tmp_path):
    prepared = PATHS["task"](tmp_path / "base")
    bench = prepared.bench
    path = hook(bench.root, HOOK.format("KILL"))
    holdfast(bench.root, *prepared.words)
    path.unlink()
    bench.git("commit", "-q", "--amend", "-m", "better words")
    bench.ok(*prepared.words)
    assert recorded(bench.root) == {bench.head}


WAITING = '#!/bin/sh\ntouch "$0.begun"\nwhile test -e "$0" && ! test -e "$0.go"; do sleep 0.05; done\n'
"""A hook that waits to be told to continue, and ends with the folder of a test that was interrupted."""


def reached(condition):
    """Comes back when something is so that another process does."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def started(root, *words):
    return subprocess.Popen([sys.executable, "-m", "holdfast", *words], cwd=root, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip


def waits_for_a_lock(process):
    rows = (row.split() for row in Path("/proc/locks").read_text().splitlines())
    return any("->" in row and str(process.pid) in row for row in rows)


def test_a_task_that_another_process_is_just_handing_in_is_done_once_and_both_succeed(tmp_path):
    prepared = PATHS["task"](tmp_path / "base")
    root, before = prepared.bench.root, prepared.bench.head
    path = hook(root, WAITING, "pre-commit")
    first = started(root, *prepared.words)
    reached(path.with_name("pre-commit.begun").exists)
    second = started(root, *prepared.words)
    reached(lambda: waits_for_a_lock(second))
    path.with_name("pre-commit.go").touch()
    for process in (first, second):
        assert process.wait(PATIENCE) == 0, process.communicate()
        process.communicate()
    assert prepared.bench.git("rev-list", "--count", f"{before}..HEAD") == "1"
    assert recorded(root) == {prepared.bench.head}


def test_doctor_names_the_git_that_outlived_the_command_that_started_it(tmp_path):
    prepared = PATHS["task"](tmp_path / "base")
    root, bench = prepared.bench.root, prepared.bench
    path = hook(root, WAITING, "pre-commit")
    killed = started(root, *prepared.words)
    reached(path.with_name("pre-commit.begun").exists)
    killed.kill()
    killed.communicate()
    told = next(one for one in bench.agent("doctor", "--json").json["findings"] if one["code"] == "commit_unfinished")
    pid = told["remedy"].split()[-1]
    assert "git" in Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]
    again = started(root, *prepared.words)
    reached(lambda: waits_for_a_lock(again))
    path.with_name("pre-commit.go").touch()
    assert again.wait(PATIENCE) == 0, again.communicate()
    again.communicate()
    assert recorded(root) == {bench.head}


def test_a_lock_of_another_git_is_waited_for_as_long_as_asked_and_doctor_knows_of_it(tmp_path):
    prepared = PATHS["task"](tmp_path / "base")
    root, bench = prepared.bench.root, prepared.bench
    (root / ".git/index.lock").touch()
    told = next(one for one in bench.agent("doctor", "--json").json["findings"] if one["code"] == "index_locked")
    answer = bench.agent(*prepared.words, env={"HOLDFAST_LOCK_WAIT": "1"})
    assert (answer.code, "gave up after 1 s" in answer.err) == (5, True), answer
    assert "no git was found at work here" in answer.err
    assert bench.typed(told["remedy"].partition(": ")[2]).code == 0
    bench.ok(*prepared.words)
