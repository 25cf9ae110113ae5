"""Documents that were lost and come back, edited on the way: no gate is passed by it."""

from __future__ import annotations

import itertools
import json
import shutil
from typing import Any

import pytest

from holdfast.core import moment
from holdfast.errors import Conflict, HoldfastError, Refused
from holdfast.systems.seam.adoption import adopt
from tests.losing import RELEASE, Scene, compaction, skill
from tests.workbench import Bench


@pytest.fixture
def scene(tmp_path) -> Scene:
    return skill(Bench(tmp_path / "project").begun())


def brought_back(scene: Scene, **changes: Any) -> None:
    """Copied, removed, looked at, changed and copied back."""
    path, document = scene.path, scene.document
    path.unlink()
    assert scene.state.cancelled
    for change in changes.values():
        change(document)
    path.write_text(json.dumps(document))


def finished(document: dict[str, Any]) -> None:
    for phase in document["state_machine"]["phases"][:2]:
        phase["status"] = "completed"
    document["state_machine"]["phases"][1]["approval"] = {"required": True, "approved": True}
    document["state_machine"]["current_phase"] = "publish"


def dated(document: dict[str, Any]) -> None:
    document["workflow"]["created_at"] = "2026-01-01T00:00:00Z"


def open_gates(scene: Scene, id: str) -> list[str]:
    """What the gate lets through for whoever continues with the workflow of this id."""
    work = scene.open().workflow(id)
    try:
        work.begin("publish").done("publish")
    except Refused:
        return []
    return ["publish"]


def test_an_unchanged_document_reopens_its_workflow_and_says_so(scene):
    brought_back(scene)
    state = scene.state
    assert (state.ulid, state.cancelled) == (scene.ulid, None)
    assert [alert.code for alert in state.alerts] == ["document_returned"]
    assert state.step("write").status == "active"
    assert scene.journals() == [scene.ulid]


def test_a_change_made_meanwhile_is_judged_as_an_edit(scene):
    brought_back(scene, forge=finished)
    state = scene.state
    assert (state.ulid, state.cancelled) == (scene.ulid, None)
    assert state.step("sign-off").status != "done"
    assert "edit_forged" in [alert.code for alert in state.alerts]
    assert open_gates(scene, scene.id) == []


def test_a_legal_change_made_meanwhile_is_taken(scene):
    brought_back(scene, more=lambda document: document["context"].update(k="mine"))
    assert scene.state.context["k"] == "mine"


def test_without_a_word_the_only_document_that_is_back_is_gone_on_with(scene):
    brought_back(scene)
    assert scene.open().workflow().ulid == scene.ulid


def test_another_time_of_creation_is_a_new_run_with_the_gates_of_the_old_one(scene):
    brought_back(scene, forge=finished, date=dated)
    work = scene.open().workflow()
    assert work.ulid != scene.ulid
    assert work.state.cancelled is None
    grant = work.state.step("sign-off").grant
    assert grant is not None
    assert grant.claimed
    assert open_gates(scene, work.ulid) == []
    scene.open("human").workflow(work.ulid).approve("sign-off")
    assert open_gates(scene, work.ulid) == ["publish"]


def test_a_copy_under_another_name_is_the_same_workflow(scene):
    path = scene.path
    copy = path.with_name("copy.json")
    path.rename(copy)
    scene.look()
    assert scene.state.cancelled is None
    assert scene.path.exists()
    assert not copy.exists()
    assert scene.journals() == [scene.ulid]


def test_what_a_person_gave_up_is_not_taken_up_by_an_old_rendering(scene):
    path, data = scene.path, scene.path.read_bytes()
    scene.look("human").cancel("enough")
    path.write_bytes(data)
    assert scene.state.cancelled
    wired = scene.open().wired
    with pytest.raises(Conflict) as caught:
        adopt(wired, [str(path.relative_to(scene.bench.root))])
    assert caught.value.code == "already_ended"
    (way,) = [one for one in caught.value.remedies if one.who == "person"]
    assert scene.bench.person(*str(way).split()[1:]).code == 0
    assert scene.state.cancelled is None
    assert scene.journals() == [scene.ulid]


def test_a_completed_workflow_is_not_opened_by_the_document_it_once_had(tmp_path):
    bench = Bench(tmp_path / "project").begun()
    work = bench.open().start({"name": "plain", "step": [{"id": "a"}]}, "1.0")
    path = bench.root / f".claude/workflow-state/active/{work.id}.json"
    data = path.read_bytes()
    work.begin("a").done("a")
    path.write_bytes(data)
    assert bench.open().workflow(work.id).state.finished_at
    with pytest.raises(HoldfastError):
        bench.open().workflow()
    assert len(list((bench.root / ".holdfast/journal").rglob("*.jsonl"))) == 1


def test_the_folder_of_a_compaction_workflow_that_is_back_takes_up_the_work(tmp_path):
    bench = Bench(tmp_path / "project").begun()
    work = bench.open().start("custom", "Move", phases=["Copy", "Check"])
    folder = bench.root / "untracked/workflow-state/move"
    shutil.copytree(folder, tmp_path / "kept")
    shutil.rmtree(folder)
    assert bench.open().workflow(work.id).state.finished_at
    shutil.copytree(tmp_path / "kept", folder)
    state = bench.open().workflow(work.id).state
    assert (state.ulid, state.finished_at) == (work.ulid, "")
    assert state.step(state.plan.paths[0]).status == "active"
    assert json.loads(next(folder.iterdir()).read_bytes())["phase"]["current"] == 1


def test_a_workflow_that_is_named_by_its_time_began_at_that_time(tmp_path, monkeypatch):
    """However long a start takes: by both, a document that comes back is known."""
    project = Bench(tmp_path / "project").begun().open()
    seconds = itertools.count()
    monkeypatch.setattr(project.wired.world, "now", lambda: f"2026-01-01T00:00:{next(seconds):02}.000Z")
    work = project.start("custom", "Move", phases=["Copy", "Check"])
    assert work.id == f"move-{moment.compact(work.state.created_at, '_')}"


def test_a_gate_of_a_compaction_workflow_outlives_its_folder(tmp_path):
    scene = compaction(Bench(tmp_path / "project").begun())
    path, data = scene.path, scene.path.read_bytes()
    shutil.rmtree(path.parent)
    assert not scene.state.finished_at
    document = json.loads(data)
    document["phase"].update(current=3, status="in_progress")
    path.write_text(json.dumps(document))
    state = scene.state
    assert (state.ulid, state.step("approve").status == "done") == (scene.ulid, False)
    assert scene.journals() == [scene.ulid]


def test_a_second_start_goes_on_with_what_came_back(scene):
    brought_back(scene)
    with pytest.raises(Refused):
        scene.open().start(RELEASE, "1.0")
    assert scene.journals() == [scene.ulid]


def ended(document: dict[str, Any]) -> None:
    document["workflow"]["status"] = "completed"
    for phase in document["state_machine"]["phases"]:
        phase["status"] = "completed"


def test_an_end_that_is_forged_meanwhile_is_put_back_and_told(scene):
    brought_back(scene, forge=ended)
    state = scene.open().workflow().state
    assert (state.ulid, state.cancelled, state.finished_at) == (scene.ulid, None, "")
    assert state.step("sign-off").status != "done"
    assert {"document_returned", "edit_partly_refused"} <= {alert.code for alert in state.alerts}
    assert scene.document["workflow"]["status"] == "in_progress"
    assert open_gates(scene, scene.id) == []
    assert scene.journals() == [scene.ulid]


def test_a_document_that_comes_back_cancelled_stays_so(scene):
    brought_back(scene, end=lambda document: document["workflow"].update(status="cancelled"))
    assert scene.state.cancelled
