"""Checkpoints: copies of agent-state.json after every task, and what putting one in its place means."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from typing import Any

import pytest

from holdfast.core import lifecycle
from holdfast.documents.checkpoints import LOOKED_AT
from holdfast.errors import HoldfastError
from tests.losing import forgotten
from tests.orchestrated import Run, invalid
from tests.workbench import Bench


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path / "project").begun()


@pytest.fixture
def run(bench):
    return Run(bench).planned()


@pytest.fixture
def half(run):
    """The first phase is done."""
    return run.finish("1.1", "1.2")


def timeless(document: dict[str, Any]) -> dict[str, Any]:
    """What a document says, but for the time that passes."""
    bounds = {name: said for name, said in document["safety_bounds"].items() if name != "elapsed_time"}
    return {**document, "safety_bounds": bounds}


def statuses(run: Run) -> dict[str, str]:
    state = run.state
    return {state.plan.step(path).id: state.step(path).status for path in state.plan.of_kind("task")}


class TestTheCopies:
    def test_there_is_one_after_every_task_and_one_more_of_the_newest(self, run):
        assert list(run.folder.glob("checkpoint*")) == []
        for number, task in enumerate(("1.1", "1.2", "2.2", "2.1"), 1):
            run.finish(task)
            assert run.checkpoint().read_bytes() == run.checkpoint(number).read_bytes()
            assert run.document["checkpoints"][-1]["state_snapshot"] == run.checkpoint(number).name
            assert run.document["checkpoints"][-1]["task"] == task
        assert len(list(run.folder.glob("checkpoint-*"))) == 4

    def test_one_is_the_document_of_that_moment_before_it_named_the_copy(self, run):
        run.finish("1.1")
        run.look().begin("1.2")
        run.finish("1.2")
        document = run.document
        document["checkpoints"].pop()
        copy = json.loads(run.checkpoint(2).read_bytes())
        assert copy == document
        assert invalid(copy) == []

    def test_a_copy_stays_as_it_is_whatever_comes_after(self, half):
        before = half.checkpoint(1).read_bytes(), half.checkpoint(2).read_bytes()
        half.look().learn("look first").spend(100_000)
        half.finish("2.1")
        half.look("human").reopen("1.1")
        assert (half.checkpoint(1).read_bytes(), half.checkpoint(2).read_bytes()) == before

    def test_a_task_that_is_skipped_leaves_none(self, run):
        run.look("human").skip("1.1", "not needed")
        assert list(run.folder.glob("checkpoint*")) == []
        assert run.document["checkpoints"] == []

    def test_those_that_are_missing_are_made_again_as_they_were(self, half):
        half.finish("2.1")
        names = ("checkpoint-001.json", "checkpoint-002.json", "checkpoint-003.json", "checkpoint.json")
        were = {name: (half.folder / name).read_bytes() for name in names}
        for name in names:
            (half.folder / name).unlink()
        half.look().note("what happened here")
        assert {name: (half.folder / name).read_bytes() for name in names} == were

    def test_a_crash_before_the_newest_was_written_leaves_none_out(self, half):
        """The one for everybody is written first, so where the numbered one is missing, that may be too old."""
        newest = half.checkpoint(2).read_bytes()
        half.checkpoint(2).unlink()
        half.checkpoint().write_bytes(half.checkpoint(1).read_bytes())
        half.look().note("after the crash")
        assert half.checkpoint(2).read_bytes() == newest
        assert half.checkpoint().read_bytes() == newest

    def test_of_many_only_the_newest_are_looked_after(self, bench):
        tasks = "".join(f"\n### Task 1.{number}: Piece {number}\nText.\n" for number in range(1, LOOKED_AT + 3))
        run = Run(bench, f"# Task: Pieces\n**Plan approval**: relayed\n\n## Phase 1: All\n{tasks}").planned()
        run.finish(*(f"1.{number}" for number in range(1, LOOKED_AT + 3)))
        for number in (2, 3, LOOKED_AT):
            run.checkpoint(number).unlink()
        run.look().note("what happened here")
        assert [run.checkpoint(number).exists() for number in (1, 2, 3, LOOKED_AT)] == [True, False, True, True]

    def test_where_a_copy_cannot_be_written_the_work_counts_all_the_same(self, run):
        run.checkpoint(1).mkdir(parents=True)
        run.finish("1.1")
        assert statuses(run)["1.1"] == lifecycle.DONE
        run.checkpoint(1).rmdir()
        run.look().note("there is room again")
        assert run.checkpoint(1).read_bytes() == run.checkpoint().read_bytes()

    def test_nobody_counts_them_as_work(self, half):
        half.look().begin("2.1")
        half.finish("2.1")
        assert half.document["completed_tasks"][-1]["files_modified"] == []


def after_this_second() -> None:
    """A document tells one run from another by the second in which it began."""
    now = int(time.time())
    while int(time.time()) == now:
        time.sleep(0.01)


class TestPuttingOneInPlaceOfTheDocument:
    def test_goes_back_to_it_and_keeps_the_history(self, half):
        before = list(half.look().history())
        shutil.copy(half.checkpoint(1), half.path)
        assert statuses(half) == {"1.1": "done", "1.2": "pending", "2.1": "pending", "2.2": "pending"}
        records = list(half.look().history())
        assert records[: len(before)] == before
        (restored,) = records[len(before) :]
        assert (restored.command, restored.actor.kind) == ("restore", "file")
        assert half.alerts() == []
        assert half.quarantined() == {}

    def test_the_document_then_says_what_the_copy_said_and_names_all_copies(self, half):
        checkpoints = half.document["checkpoints"]
        shutil.copy(half.checkpoint(1), half.path)
        half.look()
        copy = json.loads(half.checkpoint(1).read_bytes())
        copy["orchestrator"]["ralph_iteration"] = 1  # tries stay counted
        assert timeless(half.document) == timeless({**copy, "checkpoints": checkpoints})

    def test_means_the_same_as_the_command(self, half):
        shutil.copy(half.checkpoint(1), half.path)
        by_hand = half.state
        half.look("human").restore(2)
        half.look("human").restore(1)
        assert half.state.progress == by_hand.progress

    def test_the_newest_one_goes_back_to_the_last_task(self, half):
        half.look().begin("2.1")
        shutil.copy(half.checkpoint(), half.path)
        assert statuses(half) == {"1.1": "done", "1.2": "done", "2.1": "pending", "2.2": "pending"}
        assert half.commands()[-1] == "restore"

    def test_one_that_is_written_down_otherwise_is_the_same(self, half):
        line = "jq . .claude/checkpoint-001.json > t && mv t .claude/agent-state.json"
        subprocess.run(line, shell=True, cwd=half.bench.root, check=True)
        assert half.path.read_bytes() != half.checkpoint(1).read_bytes()
        assert statuses(half)["1.2"] == "pending"
        assert half.commands()[-1] == "restore"

    def test_of_a_broken_document_mends_it(self, half):
        half.path.write_text('{"orchestrator": {"stat')
        shutil.copy(half.checkpoint(2), half.path)
        assert statuses(half)["1.2"] == "done"
        assert (half.commands()[-1], half.alerts()) == ("restore", [])

    def test_the_run_goes_on_from_there_with_the_next_number(self, half):
        shutil.copy(half.checkpoint(1), half.path)
        half.look()
        half.finish("1.2")
        assert [taken["state_snapshot"] for taken in half.document["checkpoints"]] == [
            "checkpoint-001.json",
            "checkpoint-002.json",
            "checkpoint-003.json",
        ]
        copy = json.loads(half.checkpoint(3).read_bytes())
        assert (copy["completed_tasks"][-1]["task"], copy["completed_tasks"][-1]["iterations"]) == ("1.2", 2)

    @pytest.mark.parametrize(
        "forge",
        [
            lambda d: d["completed_tasks"][0].update(cost="$0.00", iterations=0),
            lambda d: d["completed_tasks"].append({"task": "2.1", "success_criteria_met": {"endpoints_there": True}}),
            lambda d: d["supervisor"].update(checks_performed=9),
            lambda d: d["safety_bounds"].update(max_cost="$500"),
            lambda d: d.update(learnings=[{"lesson": "trust me"}]),
        ],
    )
    @pytest.mark.parametrize("number", [1, 2])
    def test_of_a_forged_one_nothing_goes_back(self, half, forge, number):
        before, was = half.state, half.document
        document = json.loads(half.checkpoint(number).read_bytes())
        forge(document)
        forged = json.dumps(document).encode()
        half.path.write_bytes(forged)
        after = half.state
        assert {path: after.progress[path] for path in before.progress} == before.progress
        assert set(half.alerts()) <= {"edit_refused", "edit_partly_refused", "edit_forged"}
        assert "reverted: " in half.quarantined()[forged]
        now = half.document
        for part in ("supervisor", "checkpoints", "milestones"):
            assert now[part] == was[part] or now[part][: len(was[part])] == was[part]
        assert now["safety_bounds"]["max_cost"] == was["safety_bounds"]["max_cost"]
        assert now["completed_tasks"][:2] == was["completed_tasks"][:2]

    def test_a_changed_file_beside_the_document_does_nothing(self, half):
        """What a copy says is read from the journal, never from the copy."""
        document = json.loads(half.checkpoint(1).read_bytes())
        document["completed_tasks"] = []
        half.checkpoint(1).write_text(json.dumps(document))
        half.look("human").restore(1)
        assert statuses(half)["1.1"] == "done"

    def test_where_only_a_person_may_go_back_it_is_refused(self, half):
        workflow = half.look().begin("2.1")
        for reason in ("red", "red again", "red for good"):
            workflow.iterate("2.1", reason)
        shutil.copy(half.checkpoint(1), half.path)
        assert statuses(half)["1.2"] == "done"
        assert half.alerts() == ["edit_refused"]

    def test_one_of_another_run_is_none_of_this_one(self, half):
        half.finish("2.1", "2.2")
        half.look().begin("review").done("review")
        half.look("human").skip("pull_request", "not wanted")
        after_this_second()
        half.id = half.start().id
        archived = next(half.folder.glob("archive/*/checkpoint-002.json"))
        shutil.copy(archived, half.path)
        assert set(statuses(half).values()) == {"pending"}
        assert half.alerts() == ["edit_refused"]


class TestABrokenDocument:
    BROKEN = b'{"orchestrator": {"status": "exec'

    def test_is_made_again_from_the_journal(self, half):
        was = half.document
        half.path.write_bytes(self.BROKEN)
        half.age()
        state = half.state
        assert timeless(half.document) == timeless(was)
        assert state.alerts[-1].code == "document_damaged"
        assert half.quarantined() == {self.BROKEN: "the file was empty, torn or no JSON"}

    def test_that_is_deleted_is_made_again(self, half):
        was = half.path.read_bytes()
        half.path.unlink()
        half.look()
        assert half.path.read_bytes() == was

    @pytest.fixture
    def lost(self, half):
        """The journal is gone, and the document cannot be read."""
        forgotten(half.bench.root)
        half.path.write_bytes(self.BROKEN)
        half.age()
        return half

    def test_without_a_journal_the_newest_copy_is_adopted(self, lost):
        copy = json.loads(lost.checkpoint(2).read_bytes())
        answer = lost.bench.ok("adopt")
        assert lost.id in answer.out
        assert lost.document == copy
        assert statuses(lost) == {"1.1": "done", "1.2": "done", "2.1": "pending", "2.2": "pending"}
        assert self.BROKEN in lost.quarantined()

    def test_a_copy_that_is_broken_too_is_passed_over(self, lost):
        lost.checkpoint(2).write_bytes(self.BROKEN)
        lost.bench.ok("adopt")
        assert statuses(lost) == {"1.1": "done", "1.2": "pending", "2.1": "pending", "2.2": "pending"}
        assert lost.document == json.loads(lost.checkpoint(1).read_bytes())

    def test_the_run_goes_on_from_there_and_its_copies_are_its_own(self, lost):
        lost.checkpoint(2).write_bytes(self.BROKEN)
        lost.bench.ok("adopt")
        lost.look("human").approve("plan")
        lost.finish("1.2")
        taken = lost.document["checkpoints"][-1]
        copy = json.loads((lost.folder / taken["state_snapshot"]).read_bytes())
        assert [done["task"] for done in copy["completed_tasks"]] == ["1.1", "1.2"]
        assert json.loads(lost.checkpoint().read_bytes()) == copy
        assert invalid(lost.document) == []

    def test_with_no_copy_left_it_is_set_aside_and_said(self, lost):
        for path in lost.folder.glob("checkpoint*"):
            path.unlink()
        answer = lost.bench.agent("adopt")
        assert answer.code != 0
        assert "cannot be read" in answer.err
        assert not lost.path.exists()
        with pytest.raises(HoldfastError):
            lost.look()
