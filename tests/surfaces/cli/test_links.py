"""Symbolic links that lead out of the project, where a system keeps its documents or a host its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.orchestrated import TASKS
from tests.surfaces.cli.test_reading_only import SYSTEMS
from tests.workbench import Bench

FOLDERS = {
    "skill": ".claude",
    "orchestrator": ".claude",
    "compaction": "untracked",
    "gated": "workflow",
    "story": "workspace",
}


@pytest.fixture
def bench(tmp_path) -> Bench:
    made = Bench(tmp_path / "project").begun()
    made.write("task.md", TASKS)
    made.saved_feature()
    return made


@pytest.fixture
def outside(tmp_path) -> Path:
    folder = tmp_path / "out side"
    folder.mkdir()
    (folder / "mine").write_text("mine\n")
    return folder


def listed(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_system_writes_through_one_and_the_remedy_works(bench, outside, system):
    (bench.root / FOLDERS[system]).symlink_to(outside)
    answer = bench.agent("start", *SYSTEMS[system], "--json")
    assert (answer.code, answer.error["code"]) == (2, "symlink"), answer
    assert str(outside) in answer.error["message"]
    assert listed(outside) == ["mine"]
    assert bench.ok("list", "--all", "--json").json["total"] == 0
    typed = next(one["command"] for one in answer.error["remedies"] if one["who"] == "person")
    assert bench.typed(typed).code == 0
    bench.git("reset", "-q", "--hard")
    bench.ok("start", *SYSTEMS[system])
    assert listed(outside) == ["mine"]
    assert (bench.root / FOLDERS[system] / "mine").read_text() == "mine\n"


def test_one_that_stays_inside_is_fine(bench):
    (bench.root / "kept").mkdir()
    (bench.root / ".claude").symlink_to("kept")
    bench.ok("start", *SYSTEMS["skill"])
    assert list((bench.root / "kept/workflow-state/active").iterdir())


def test_a_document_that_became_one_is_refused_and_the_remedy_works(bench, outside):
    workflow = bench.start()
    document = bench.root / ".claude/workflow-state/active" / f"{workflow.id}.json"
    document.rename(outside / "document.json")
    document.symlink_to(outside / "document.json")
    before = (outside / "document.json").read_bytes()
    answer = bench.agent("note", "x", "--json")
    assert (answer.code, answer.error["code"]) == (2, "symlink")
    assert bench.typed(answer.error["remedies"][-1]["command"]).code == 0
    bench.ok("note", "x")
    assert (outside / "document.json").read_bytes() == before


def test_a_document_behind_one_is_not_adopted(bench, outside):
    workflow = bench.start()
    (bench.root / ".claude").rename(outside / "claude")
    (bench.root / ".claude").symlink_to(outside / "claude")
    (bench.root / ".holdfast").rename(outside / "holdfast")
    assert bench.agent("adopt", "--json").error["code"] == "symlink"
    assert bench.agent("status", "-w", workflow.id).code != 0


def test_the_home_of_another_project_is_not_written_through_one(bench, outside):
    other = Bench(outside / "other").begun()
    other.start("qa-loop", "Nightly QA")
    (bench.root / ".holdfast").symlink_to(other.root / ".holdfast")
    before = other.everything()
    assert bench.agent("start", *SYSTEMS["skill"], "--json").error["code"] == "symlink"
    assert bench.agent("note", "x", "--json").error["code"] == "symlink"
    assert other.everything() == before


def test_nothing_is_installed_through_one_and_the_remedy_works(bench, outside):
    (bench.root / ".claude").symlink_to(outside)
    answer = bench.agent("install", "claude-code", "--json")
    assert (answer.code, answer.error["code"]) == (2, "symlink")
    assert listed(outside) == ["mine"]
    assert bench.typed(answer.error["remedies"][-1]["command"]).code == 0
    bench.ok("install", "claude-code")
    assert listed(outside) == ["mine"]


BESIDE = (".claude/locks.json", ".claude/learnings.jsonl", ".claude/checkpoint.json", ".claude/agent-state.json")


@pytest.mark.parametrize("path", BESIDE)
def test_a_file_beside_a_document_that_leads_out_is_no_silent_success(bench, outside, path):
    bench.ok("start", *SYSTEMS["orchestrator"])
    place = bench.root / path
    place.unlink(missing_ok=True)
    place.symlink_to(outside / "mine")
    answer = bench.agent("lock", "src/*", "--agent", "a", "--json")
    assert (answer.code, answer.error["code"]) == (2, "symlink"), answer
    assert (outside / "mine").read_text() == "mine\n"
    told = bench.agent("doctor")
    assert "leads out of the project" in told.out + told.err, told


def test_a_change_that_no_file_could_show_is_told(bench):
    bench.ok("start", *SYSTEMS["orchestrator"])
    place = bench.root / ".claude/locks.json"
    place.unlink(missing_ok=True)
    place.mkdir()
    (place / "mine").write_text("mine\n")
    answer = bench.ok("lock", "src/*", "--agent", "a")
    assert "could not be written" in answer.err, answer
    assert "locks.json" in answer.err, answer
