"""Everything is lost but a copy of the document, which comes back with progress that nobody made: no gate is passed.

It is played as an agent would, with the command line and git, in every system.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.core import gates
from tests.losing import OWN as OWNED
from tests.losing import SCENES, Scene, forgotten
from tests.workbench import LOGIN, Bench

TASKS = """# Task: Users

**Plan approval**: relayed

## Phases

### Phase 1: Foundation

#### Task 1.1: Model
- [ ] Tests pass: `false`

### Phase 2: Endpoints

#### Task 2.1: Create endpoints
- [ ] Endpoints there
"""


def _run(bench: Bench) -> Scene:
    task = bench.write("docs/task.md", TASKS)
    bench.save("the task")
    work = bench.open().start("orchestrate", str(task))
    bench.ok("approve", "plan")
    bench.ok("task", "start", "1.1")
    return Scene(bench, work.id, "phase-1/1.1", "2.1")


def _dev(bench: Bench) -> Scene:
    work = bench.start(subject=bench.saved_feature(LOGIN, "Add a form", "Check the password"))
    return Scene(bench, work.id, "task_execution/1/red", "verification")


STARTS = {**SCENES, "orchestrator": _run, "dev": _dev, "dev, no tasks": _dev}
OWN = {**OWNED, "dev": OWNED["skill"], "dev, no tasks": OWNED["skill"]}


@pytest.fixture(params=list(STARTS))
def system(request) -> str:
    return str(request.param)


@pytest.fixture
def scene(system, tmp_path) -> Scene:
    return STARTS[system](Bench(tmp_path / "project").begun())


def _skill(document: dict[str, Any]) -> None:
    for phase in document["state_machine"]["phases"][:2]:
        phase["status"] = "completed"
    document["state_machine"]["phases"][1]["approval"].update(approved=True, approved_by="ada")
    document["state_machine"]["current_phase"] = "publish"


def _story(document: dict[str, Any]) -> None:
    for step in document["generation"]["steps"][:2]:
        step["status"] = "completed"
    document["generation"]["steps"][1]["human_approval"].update(approved=True)


def _orchestrator(document: dict[str, Any]) -> None:
    """The criterion of the first task is a command that fails."""
    document["completed_tasks"].append({"task": "1.1", "name": "Model", "completed": "2026-01-01T00:00:00Z"})
    document["pending_tasks"] = [one for one in document["pending_tasks"] if one["task"] != "1.1"]
    document["active_agents"] = []


def _compaction(document: dict[str, Any]) -> None:
    document["phase"].update(current=3, name="switch", status="in_progress")


def _gated(document: dict[str, Any]) -> None:
    document["phases"]["01-requirements"].update(status="approved", completed_at="2026-01-01T00:00:00Z")
    document["current_phase"] = "02-architecture"


def _worked(document: dict[str, Any]) -> None:
    for task in document["tasks"]:
        task.update(status="completed", commit_sha="abc1234")
        task.pop("tdd_phases", None)
    document["state_machine"]["current_phase"] = "verification"


def _without_tasks(document: dict[str, Any]) -> None:
    document["tasks"] = []
    document["state_machine"]["current_phase"] = "verification"


FORGED: dict[str, Callable[[dict[str, Any]], None]] = {
    "skill": _skill,
    "story": _story,
    "orchestrator": _orchestrator,
    "compaction": _compaction,
    "gated": _gated,
    "dev": _worked,
    "dev, no tasks": _without_tasks,
}


def _rm(bench: Bench) -> None:
    shutil.rmtree(bench.root / ".holdfast")


def _clean(bench: Bench) -> None:
    bench.git("clean", "-fdxq")


def _stash(bench: Bench) -> None:
    bench.write("README.md", "Changed.\n")
    bench.git("stash", "--all", "-q")


def _checkout(bench: Bench) -> None:
    bench.git("add", "-Af")
    bench.git("commit", "-qm", "all of it")
    bench.git("checkout", "-q", "HEAD~1")


def _forgotten(bench: Bench) -> None:
    """With every record of the journals, as in a clone, and before anybody looks."""
    forgotten(bench.root)
    for folder in {*OWN.values()} - {".claude", "workflow"}:
        shutil.rmtree(bench.root / folder, ignore_errors=True)


LOSSES = {loss.__name__.strip("_"): loss for loss in (_rm, _clean, _stash, _checkout, _forgotten)}


def came_back_forged(scene: Scene, system: str, lose: Callable[[Bench], None], aside: Path) -> None:
    root, path = scene.bench.root, scene.path
    shutil.copytree(root / OWN[system], aside)
    lose(scene.bench)
    for words in (("status",), ("list",)):
        scene.bench.agent(*words)
    shutil.copytree(aside, root / OWN[system], dirs_exist_ok=True)
    for copy in (root / OWN[system]).rglob("journal.jsonl"):
        copy.unlink()
    document = json.loads(path.read_bytes())
    FORGED[system](document)
    path.write_text(json.dumps(document))


def attacks(scene: Scene) -> None:
    """All that an agent can try, whatever it is answered."""
    for words in (
        ("adopt",),
        ("status",),
        ("doctor", "--repair"),
        ("approve", scene.gate),
        ("approve", "--claimed"),
        ("begin", scene.after),
        ("task", "start", scene.after),
        ("done", scene.after),
        ("task", "done", scene.after),
    ):
        scene.bench.agent(*words)


def open_gates(scene: Scene) -> list[str]:
    """The gates that hold, and the steps behind them that are done, in any journal that is there."""
    found = []
    for ulid in scene.open().wired.store.every():
        if scene.open().wired.store.has(ulid):
            work = scene.open().workflow(ulid)
            state, facts = work.state, work.facts()
            behind = [path for path in state.plan.paths if path.rpartition("/")[2] == scene.after]
            found += [path for path in (scene.gate,) if gates.holds(state, path, facts)]
            found += [path for path in behind if state.step(path).status == "done"]
    return found


@pytest.mark.parametrize("loss", LOSSES)
def test_no_gate_is_passed(scene, system, loss, tmp_path):
    came_back_forged(scene, system, LOSSES[loss], tmp_path / "aside")
    attacks(scene)
    assert open_gates(scene) == []
