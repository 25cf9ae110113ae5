"""A run whose file is destroyed, whose journal is lost, or whose process is killed in the middle of a task's end."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from tests.acceptance.orchestra import DOCUMENT, STATE, Orchestra
from tests.faults.commands import Answer, Commands
from tests.faults.tracing import Call, Tracer
from tests.losing import forgotten

KILLS = 12
HAND_IN = ("task", "done", "1.2", "--key", "the-end")
NEWEST, FIRST, SECOND = "checkpoint.json", "checkpoint-001.json", "checkpoint-002.json"


@pytest.fixture
def run(tmp_path):
    """The second task is as good as done; the first one's checkpoint and a learning are there."""
    made = Orchestra(tmp_path / "house")
    made.write(DOCUMENT, made.read(DOCUMENT).replace(": `python -m pytest -q tests/test_user.py`", ""))
    made.git("commit", "-q", "-am", "No commands")
    made.began = time.time()
    made.id = made.ok("start", "orchestrate", DOCUMENT, "--json").json["workflow_id"]
    made.planned()
    made.ok("task", "start", "1.1")
    made.finish("1.1", "model_updated", "tests_pass", cost="0.20")
    made.ok("learn", "look first", "--type", "pattern", "--step", "1.1")
    made.ok("task", "start", "1.2")
    made.ok("check", "nothing_stored_in_clear", "--passed", "--step", "1.2")
    return made


@pytest.fixture
def commands():
    made = Commands()
    yield made
    made.close()


@pytest.mark.parametrize("broken", ["", "half", "nonsense"])
def test_a_file_that_is_destroyed_is_made_again_from_the_journal(run, broken):
    before = run.read(STATE)
    _destroy(run, {"": "", "half": before[: len(before) // 2], "nonsense": "\x00" * 4096}[broken])
    said = run.ok("status", "--json").json
    assert [alert["code"] for alert in said["alerts"]] == ["document_damaged"]
    assert _without_elapsed(json.loads(before)) == _without_elapsed(run.state)
    run.ok("task", "done", "1.2")
    assert _finished(run.state) == ["1.1", "1.2"]


def test_without_a_journal_the_newest_checkpoint_that_can_be_read_takes_the_place_of_a_destroyed_file(run):
    run.ok(*HAND_IN)
    kept = json.loads(run.read(f".claude/{FIRST}"))
    forgotten(run.root)
    _destroy(run, "{")
    (run.folder / SECOND).write_text("{")
    run.ok("adopt")
    assert _finished(run.state) == ["1.1"]
    assert run.state["completed_tasks"] == kept["completed_tasks"]
    assert run.state["safety_bounds"]["cost_so_far"] == "$0.20"
    assert [one["task"] for one in run.state["pending_tasks"]] == ["1.2", "2.1", "2.2"]
    assert "only claimed" in run.refused("task", "start", "1.2")["message"]
    assert run.person("approve", "--claimed", "--yes").code == 0
    run.ok("task", "start", "1.2")
    run.ok("check", "nothing_stored_in_clear", "--passed", "--step", "1.2")
    run.ok("task", "done", "1.2")
    assert _finished(run.state) == ["1.1", "1.2"]
    assert [one["phase"] for one in run.state["milestones"]] == [0]


def test_a_checkpoint_that_is_copied_over_a_destroyed_file_is_where_the_run_goes_on(run):
    run.ok(*HAND_IN)
    revisions = len(run.log())
    _destroy(run, "{")
    shutil.copyfile(run.folder / FIRST, run.root / STATE)
    run.ok("status")
    assert _finished(run.state) == ["1.1"]
    assert run.log()[-1]["command"] == "restore"
    assert len(run.log()) > revisions
    run.ok("task", "start", "1.2")


def test_a_process_that_is_killed_while_a_task_is_handed_in_leaves_it_done_or_not_done(run, commands, tmp_path):
    outcomes = set()
    tracer = _Alone(commands, HAND_IN, str(tmp_path / "log"))
    calls = [call for call in tracer.calls(_twin(run, tmp_path / "traced")) if call.changes]
    chosen = calls[-1 :: -max(1, len(calls) // KILLS)]
    assert len(chosen) >= KILLS
    for number, call in enumerate(chosen):
        root, answer = _killed(tracer, call, run, tmp_path / str(number))
        outcomes.add(_judged(commands, root, acknowledged=bool(answer.out)))
    assert outcomes == {("1.1",), ("1.1", "1.2")}


class _Alone(Tracer):
    """Looks at the command itself, without the processes that it starts."""

    def _traced(self, root: str, *expressions: str) -> Answer:
        options = [word for expression in expressions for word in ("-e", expression)]
        return self._commands(root, *self._words, strace=("strace", "-y", "-s", "0", "-o", self._log, *options))


def _killed(tracer: Tracer, call: Call, run: Orchestra, folder: Path) -> tuple[str, Answer]:
    """A copy of the project in which the command died before a call. One run may make a call more than another."""
    for attempt, shift in enumerate((0, -1, 1, -2, 2, 0)):
        root = _twin(run, folder / str(attempt))
        answer = tracer.killed_before(call._replace(when=call.when + shift), root)
        if answer:
            return root, answer
    raise AssertionError(f"the command never came to {call}")


def _judged(commands: Commands, root: str, *, acknowledged: bool) -> tuple[str, ...]:
    """The tasks that the run was left with; everything agrees with them when the next thing has happened."""
    folder = os.path.join(root, ".claude")
    found = _read(folder, "agent-state.json")
    assert _finished(found) in (["1.1"], ["1.1", "1.2"])
    assert json.loads(commands(root, "show").out) == found or _finished(found) == ["1.1"]
    if acknowledged:
        assert _finished(found) == ["1.1", "1.2"]
        _checkpoints_are_complete(folder, found)
    left_with = _finished(_read(folder, "agent-state.json"))

    for words in (HAND_IN, ("task", "start", "2.1")):
        answer = commands(root, *words)
        assert answer.code == 0, answer
    state = _read(folder, "agent-state.json")
    assert (_finished(state), state["orchestrator"]["current_phase"]) == (["1.1", "1.2"], 1)
    assert [one["name"] for one in state["milestones"]] == ["Foundation"]
    _checkpoints_are_complete(folder, state)
    with open(os.path.join(folder, "learnings.jsonl"), encoding="utf-8") as file:
        assert [json.loads(line)["lesson"] for line in file] == ["look first"]
    assert {name for name in os.listdir(folder) if name.startswith("checkpoint")} == {NEWEST, FIRST, SECOND}
    return tuple(left_with)


def _checkpoints_are_complete(folder: str, state: dict) -> None:
    names = [one["state_snapshot"] for one in state["checkpoints"]]
    assert names == [FIRST, SECOND][: len(_finished(state))]
    for number, name in enumerate(names, 1):
        copy = _read(folder, name)
        assert (len(_finished(copy)), copy.keys()) == (number, state.keys())
    assert _read(folder, NEWEST) == _read(folder, names[-1])


def _read(folder: str, name: str) -> dict:
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def _twin(run: Orchestra, folder: Path) -> str:
    return str(shutil.copytree(run.root, folder, symlinks=True))


def _destroy(run: Orchestra, text: str) -> None:
    """A while ago: what was written just now may still be being written."""
    run.write(STATE, text)
    then = time.time() - 5
    os.utime(run.root / STATE, (then, then))


def _finished(state: dict) -> list[str]:
    return [one["task"] for one in state["completed_tasks"]]


def _without_elapsed(state: dict) -> dict:
    return {**state, "safety_bounds": {**state["safety_bounds"], "elapsed_time": None}}
