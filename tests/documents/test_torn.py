"""Documents that are no JSON: fixed, read leniently where the convention has it, or kept aside."""

from __future__ import annotations

import json
import os

import pytest

from tests.losing import SCENES, Scene
from tests.workbench import Bench

EVERY = pytest.mark.parametrize("system", SCENES)


@pytest.fixture
def scene(tmp_path, system) -> Scene:
    return SCENES[system](Bench(tmp_path / "project").begun())


def reasons(scene: Scene) -> list[str]:
    folder = scene.bench.root / ".holdfast/quarantine"
    return [path.read_text().strip() for path in sorted(folder.glob("*.reason"))]


# A piece of what Holdfast wrote is fixed by the command that finds it, whenever it was written


@EVERY
@pytest.mark.parametrize("left", ["half", "half and zeros", "zeros"])
def test_a_piece_of_a_rendering_is_mended_at_once(scene, left):
    whole = scene.path.read_bytes()
    torn = {"half": whole[:200], "half and zeros": whole[:200] + bytes(400), "zeros": bytes(600)}[left]
    scene.path.write_bytes(torn)
    work = scene.look()
    assert scene.document == work.document()
    assert scene.alerts() == ["document_damaged"]
    assert reasons(scene) == ["the file was empty, torn or no JSON"]


@EVERY
def test_a_piece_of_an_older_rendering_is_mended_too(scene):
    older = scene.path.read_bytes()
    scene.look().note("one more")
    scene.path.write_bytes(older[: len(older) // 2])
    scene.look()
    assert scene.alerts() == ["document_damaged"]


@pytest.mark.parametrize("system", [name for name in SCENES if name != "compaction"])
def test_another_text_is_left_for_a_second_and_then_kept_aside(scene):
    text = b"I am not done writing this: {"
    scene.path.write_bytes(text)
    scene.look()
    assert scene.path.read_bytes() == text
    assert reasons(scene) == []
    scene.age(scene.path)
    scene.look()
    assert scene.document == scene.look().document()
    assert reasons(scene) == ["the file was empty, torn or no JSON"]


# What an agent writes by hand


LOOSE = {
    "a comma at the end": lambda text: text.replace("\n}", ",\n}"),
    "a comment": lambda text: text.replace("{\n", "{ // my notes\n", 1),
    "single quotes": lambda text: text.replace('"Check the backup"', "'Check the backup'"),
    "a code fence": lambda text: f"```json\n{text}\n```\n",
    "a byte order mark": lambda text: f"\ufeff{text}",
}


@pytest.mark.parametrize("system", ["compaction"])
@pytest.mark.parametrize("fault", LOOSE)
def test_a_text_whose_meaning_is_beyond_doubt_is_an_edit_and_told(scene, fault):
    document = {**scene.document, "key_reminders": ["Check the backup"]}
    text = LOOSE[fault](json.dumps(document, indent=2)).encode()
    scene.path.write_bytes(text)
    state = scene.state
    assert state.reminders == ("Check the backup",)
    assert scene.document["key_reminders"] == ["Check the backup"]
    (alert,) = state.alerts
    assert alert.code == "document_understood"
    assert fault in alert.message
    assert (scene.bench.root / alert.kept).read_bytes() == text
    assert len(scene.state.alerts) == 1


@EVERY
def test_in_every_system_it_is_read_and_written_again_as_json(scene):
    document = scene.document
    scene.path.write_text("\ufeff// kept by hand\n" + json.dumps(document, indent=2))
    assert [alert.code for alert in scene.state.alerts] == ["document_understood"]
    assert scene.document.keys() == document.keys()


PROSE = {
    "before": "Here is the document:\n\n{}",
    "after": "{}\n\nThat is all.\n",
    "around a code fence": "Done:\n```json\n{}\n```\nTell me if more is needed.\n",
}


@EVERY
@pytest.mark.parametrize("where", PROSE)
def test_an_object_with_prose_around_it_is_an_edit(scene, where):
    document = {**scene.document, "mine": "x"}
    scene.path.write_text(PROSE[where].replace("{}", json.dumps(document, indent=2)))
    state = scene.state
    assert [alert.code for alert in state.alerts] == ["document_understood"]
    assert "text around the object" in state.alerts[0].message
    assert scene.document["mine"] == "x"


@pytest.mark.parametrize("system", ["compaction"])
@pytest.mark.parametrize("text", ["{} {}", "{}\n]", "<<<<<<< a\n{}\n=======\n>>>>>>> b\n", "see {}: {}", "{}\n\0\0"])
def test_an_object_that_may_not_be_the_whole_is_not_guessed(scene, text):
    document = json.dumps({**scene.document, "key_reminders": ["x"]})
    scene.path.write_text(text.replace("{}", document))
    scene.age(scene.path)
    assert scene.state.reminders == ()
    is_cut_off = text in ("{}\n]", "{}\n\0\0")
    assert scene.alerts() == ["document_damaged" if is_cut_off else "edit_unread"]


@pytest.mark.parametrize("system", ["compaction"])
def test_a_text_that_nobody_wrote_to_the_end_is_not_guessed(scene):
    text = json.dumps({**scene.document, "key_reminders": ["x"]})[:-1] + ","
    scene.path.write_bytes(text.encode())
    scene.age(scene.path)
    assert scene.state.reminders == ()
    assert scene.alerts() == ["document_damaged"]


def test_a_loose_text_without_a_journal_is_adopted_and_told(tmp_path):
    bench = Bench(tmp_path / "project").begun()
    path = bench.write(
        "untracked/workflow-state/move/state-move-20260101_080000.json",
        """{
  // where I am
  'workflow': 'Move',
  "workflow_type": "custom",
  "phase": {"current": 2, "total": 3, "name": "Copy", "status": "in_progress",},
  "created_at": "2026-01-01T08:00:00Z",
}
""",
    )
    text = path.read_bytes()
    state = bench.open().workflow("move").state
    assert state.id == "move-20260101_080000"
    (alert,) = state.alerts
    assert "a comment, single quotes, a comma at the end" in alert.message
    assert (bench.root / alert.kept).read_bytes() == text
    assert json.loads(path.read_bytes())["phase"]["current"] == 2


# What is beside the documents


@EVERY
def test_doctor_puts_back_every_view_that_is_missing_or_torn(scene, system):
    if system == "orchestrator":
        scene.look("human").done("plan")
        scene.look("human").approve("plan")
        for _ in range(4):
            scene.look().snapshot("again")
        scene.look().learn("Roles come last", type="antipattern")
    root = scene.bench.root
    tracked = {"workflow/sign-in-by-key/00-feature", "workflow/sign-in-by-key/journal.jsonl"}
    views = [
        path
        for folder in (".claude", "workspace", "untracked", "workflow")
        for path in root.joinpath(folder).rglob("*")
        if path.is_file()
        and path != scene.path
        and not (system == "gated" and path.suffix == ".md")  # the documents of phases are their creators'
        and not any(str(path.relative_to(root)).startswith(one) for one in tracked)
    ]
    before = {path: path.read_bytes() for path in views}
    assert before or system == "compaction"
    for harm in ("missing", "torn"):
        for path in views:
            os.unlink(path)
            if harm == "torn" and path.suffix == ".json":
                path.write_bytes(before[path][: len(before[path]) // 2])
        found = json.loads(scene.bench.agent("doctor", "--json").out)["findings"]
        said = {one["path"] for one in found if one["code"] == "view_missing"}
        assert said == {str(path.relative_to(root)) for path in views}
        scene.bench.ok("doctor", "--repair")
        for path in views:
            assert path.exists(), (harm, path)
            assert path.suffix != ".json" or isinstance(json.loads(path.read_bytes()), dict), (harm, path)
        assert {path for path in views if path.suffix == ".jsonl" and path.read_bytes() != before[path]} == set()
        assert scene.document == scene.look().document()
        assert scene.state.cancelled is None
