"""learnings.jsonl: every learning of every run, one line each, written once whatever happens in between."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.core.state import KEPT
from holdfast.errors import UsageError
from tests.orchestrated import Run, example, invalid
from tests.workbench import Bench

OTHER = {"timestamp": "2025-01-01T00:00:00Z", "task": "", "type": "insight", "lesson": "x" * 200, "run": "0" * 26}
KILLED = """
import runpy, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
sys.argv = ["holdfast", *sys.argv[1:]]
runpy.run_module("holdfast", run_name="__main__")
"""
"""Python ignores the signal for a file that grows too large; this process dies of it."""


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "project").begun()


@pytest.fixture
def run(bench):
    return Run(bench).planned()


@pytest.fixture
def log(run):
    return run.folder / "learnings.jsonl"


def lessons(log: Path) -> list[str]:
    return [json.loads(line)["lesson"] for line in log.read_bytes().splitlines()]


def torn_after(log: Path, count: int) -> None:
    """As a crash in mid-write leaves it: so many bytes of the last line, and no more."""
    *whole, last = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(whole) + last[:count])


def killed(root: Path, most: int, *words: str) -> int:
    """Runs a command in a process that dies as soon as it writes more than so many bytes into one file."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", KILLED, *words],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    return done.returncode


class TestALine:
    def test_says_what_the_document_says_and_which_learning_of_which_run_it_is(self, run, log):
        workflow = run.look().begin("1.1")
        workflow.learn("no secrets", "antipattern", pattern="environment variables", context="tokens", step="1.1")
        (said,) = run.document["learnings"]
        (line,) = run.learnings()
        state = run.state
        assert line == {**said, "run": state.ulid, "revision": state.revision, "number": 1}
        assert (said["task"], said["iteration"], said["type"]) == ("1.1", 1, "antipattern")

    def test_is_one_line_whatever_was_learned(self, run, log):
        lesson = 'two\nlines, a "quote", \u2028 and ünïcödé'
        run.look().learn(lesson)
        assert log.read_bytes().count(b"\n") == 1
        assert lessons(log) == [lesson]

    def test_is_there_once_however_often_the_run_is_looked_at(self, run, log):
        run.look().learn("look first")
        for _ in range(3):
            run.look().note("again")
        assert lessons(log) == ["look first"]

    def test_several_of_one_edit_are_all_there(self, run, log):
        run.edit(lambda d: d["learnings"].extend({"lesson": f"lesson {number}"} for number in range(3)))
        run.look()
        assert lessons(log) == ["lesson 0", "lesson 1", "lesson 2"]
        revisions = {line["revision"] for line in run.learnings()}
        assert (len(revisions), [line["number"] for line in run.learnings()]) == (1, [1, 2, 3])

    def test_stays_when_the_run_goes_back(self, run, log):
        run.finish("1.1")
        run.look().learn("after the first")
        run.look("human").restore(1)
        run.look().learn("after going back")
        assert lessons(log) == ["after the first", "after going back"]
        assert [one["lesson"] for one in run.document["learnings"]] == ["after the first", "after going back"]


def test_the_document_has_the_newest_and_the_file_all(run, log):
    workflow = run.look()
    for number in range(KEPT + 5):
        workflow.learn(f"lesson {number}")
    assert [one["lesson"] for one in run.document["learnings"]] == [f"lesson {n}" for n in range(5, KEPT + 5)]
    assert lessons(log) == [f"lesson {number}" for number in range(KEPT + 5)]
    assert invalid(run.document) == []


class TestAFileThatOutlivesEveryRun:
    def test_the_next_run_adds_to_it(self, bench, log, run):
        run.look().learn("of the first")
        first = log.read_bytes()
        run.look("human").cancel("enough")
        run.id = run.start(fresh=True).id
        run.look().learn("of the second")
        assert log.read_bytes().startswith(first)
        assert lessons(log) == ["of the first", "of the second"]
        assert len({line["run"] for line in run.learnings()}) == 2
        assert [one["lesson"] for one in run.document["learnings"]] == ["of the second"]

    def test_a_run_that_comes_back_after_another_writes_nothing_twice(self, run, log):
        run.look().learn("of the first")
        log.write_bytes(log.read_bytes() + f"{json.dumps(OTHER)}\n".encode() * 3000)
        assert log.stat().st_size > 600_000
        run.look().learn("of the first again")
        found = lessons(log)
        assert [lesson for lesson in found if not lesson.startswith("xxx")] == ["of the first", "of the first again"]
        assert len(found) == 3002

    def test_lines_that_somebody_else_wrote_stay_and_need_not_be_json(self, run, log):
        log.parent.mkdir(exist_ok=True)
        log.write_text('by hand\n{"lesson": 7}\n[1]\n\n')
        run.look().learn("look first")
        assert log.read_text().startswith('by hand\n{"lesson": 7}\n[1]\n\n')
        assert json.loads(log.read_text().splitlines()[-1])["lesson"] == "look first"

    def test_one_that_was_taken_away_is_written_again_for_this_run(self, run, log):
        run.look().learn("look first")
        log.unlink()
        run.look().learn("then leap")
        assert lessons(log) == ["look first", "then leap"]

    def test_what_an_adopted_document_had_learned_is_not_claimed_as_new(self, bench):
        bench.write(".claude/agent-state.json", json.dumps(example()))
        bench.open().workflow().learn("tests first")
        (line,) = (bench.root / ".claude/learnings.jsonl").read_text().splitlines()
        assert (json.loads(line)["lesson"], json.loads(line)["number"]) == ("tests first", 3)

    def test_a_link_in_its_place_is_not_followed(self, run, log, tmp_path):
        elsewhere = tmp_path / "elsewhere"
        elsewhere.write_text("mine\n")
        log.symlink_to(elsewhere)
        with pytest.raises(UsageError) as refused:
            run.look().learn("look first")
        assert refused.value.code == "symlink"
        assert elsewhere.read_text() == "mine\n"
        assert not run.look().state.learnings


class TestAfterACrash:
    @pytest.mark.parametrize("count", [1, 20, 60, -2, -1])
    def test_a_line_that_was_cut_off_is_completed(self, run, log, count):
        workflow = run.look().learn("look first")
        workflow.learn("then leap")
        whole = log.read_bytes()
        torn_after(log, count)
        run.look().note("back again")
        run.look().learn("and land")
        assert log.read_bytes().startswith(whole)
        assert lessons(log) == ["look first", "then leap", "and land"]

    def test_one_of_somebody_else_is_ended_first(self, run, log):
        run.look().learn("look first")
        log.write_bytes(log.read_bytes() + b'{"lesson": "half a')
        run.look().learn("then leap")
        first, half, last = log.read_text().splitlines()
        assert half == '{"lesson": "half a'
        assert [json.loads(first)["lesson"], json.loads(last)["lesson"]] == ["look first", "then leap"]

    def test_of_several_in_one_edit_only_what_is_missing_is_added(self, run, log):
        run.edit(lambda d: d["learnings"].extend({"lesson": f"lesson {number}"} for number in range(4)))
        run.look()
        whole = log.read_bytes()
        log.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
        run.look().note("back again")
        assert log.read_bytes() == whole

    def test_where_the_file_could_not_be_written_it_is_made_up_for(self, run, log):
        log.mkdir(parents=True)
        run.look().learn("look first")
        log.rmdir()
        run.look().learn("then leap")
        assert lessons(log) == ["look first", "then leap"]

    @pytest.mark.parametrize("room", [0, 40])
    def test_a_process_killed_in_the_middle_of_its_line_leaves_nothing_out_and_nothing_twice(self, run, log, room):
        log.write_bytes(f"{json.dumps(OTHER)}\n".encode() * 3000)
        full = log.read_bytes()
        most = len(full) + room
        assert killed(run.bench.root, most, "learn", "by one that dies") == -signal.SIGXFSZ
        assert (log.stat().st_size, log.read_bytes()[: len(full)]) == (most, full)
        run.look().learn("by the next")
        assert lessons(log)[3000:] == ["by one that dies", "by the next"]
