"""All of `.holdfast` is gone, and git's folder knows that journals were there: a person gives them up."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.losing import SCENES, Scene
from tests.workbench import Bench

OTHER = {"name": "other", "step": [{"id": "one"}]}


@pytest.fixture(params=list(SCENES))
def scene(request, tmp_path) -> Scene:
    return without_journals(request.param, tmp_path)


def without_journals(system: str, tmp_path: Path) -> Scene:
    """Also without the copy that travels with git, which brings a journal back by itself."""
    found = SCENES[system](Bench(tmp_path / "project").begun())
    for path in found.bench.root.glob("workflow/*/journal.jsonl"):
        found.bench.git("rm", "-q", "--cached", str(path))
        path.unlink()
        found.bench.git("commit", "-qm", "no journal")
    shutil.copytree(found.bench.root / ".holdfast", tmp_path / "backup", symlinks=True)
    shutil.rmtree(found.bench.root / ".holdfast")
    return found


def test_its_document_is_not_adopted_and_the_doctor_says_what_is_gone(scene):
    for words in (("status",), ("adopt",), ("note", "more")):
        answer = scene.bench.agent(*words)
        assert (answer.code, "→ holdfast doctor" in answer.err) == (6, True), answer
    found = scene.bench.agent("doctor")
    assert found.code == 6
    assert "1 journal with " in found.out
    assert " lines that were acknowledged is gone: .holdfast/journal/" in " ".join(found.out.split())
    assert scene.journals() == []


def test_what_is_put_back_is_all_there_again(scene, tmp_path):
    scene.bench.agent("status")
    shutil.rmtree(scene.bench.root / ".holdfast", ignore_errors=True)
    shutil.copytree(tmp_path / "backup", scene.bench.root / ".holdfast", symlinks=True)
    assert scene.bench.ok("status")
    assert scene.state.ulid == scene.ulid
    assert scene.bench.agent("doctor").code == 0


def test_another_workflow_begins_and_the_loss_is_not_forgotten(scene):
    scene.open().start(OTHER, "elsewhere")
    assert scene.bench.agent("doctor").code == 6
    scene.bench.agent("adopt")
    assert len(scene.journals()) == 1
    assert scene.bench.agent("doctor", "--repair").code == 3
    assert scene.bench.agent("doctor").code == 6


def test_a_person_gives_it_up_and_the_document_is_adopted_with_what_it_claims(scene):
    assert scene.bench.agent("doctor", "--repair").code == 3
    declined = scene.bench.person("doctor", "--repair")
    assert declined.code == 1, declined
    assert "Give up 1 journal with " in declined.out
    answer = scene.bench.person("doctor", "--repair", says="y")
    assert "acknowledged is given up" in " ".join(answer.out.split()), answer
    scene.bench.ok("adopt")
    (ulid,) = scene.journals()
    assert ulid != scene.ulid
    assert scene.bench.agent("doctor").code == 0


def test_many_are_told_of_in_one_line(tmp_path):
    bench = Bench(tmp_path / "project").begun()
    for number in range(5):
        bench.open().start({**OTHER, "name": f"other{number}"}, "x").begin("one").done("one")
    shutil.rmtree(bench.root / ".holdfast")
    said = " ".join(bench.agent("doctor").out.split())
    assert said.count(" gone: ") == 1
    assert "5 journals with 15 lines that were acknowledged are gone" in said
    assert "and 4 more" in said
    assert bench.person("doctor", "--repair", says="y").code == 0
    assert bench.ok("doctor").code == 0


def test_a_copy_in_git_that_has_every_line_needs_nobody(tmp_path):
    scene = SCENES["gated"](Bench(tmp_path / "project").begun())
    ulid, copy = scene.ulid, next(scene.bench.root.glob("workflow/*/journal.jsonl"))
    copy.write_bytes(_journal(scene.bench.root).read_bytes())
    shutil.rmtree(scene.bench.root / ".holdfast")
    scene.bench.ok("status")
    assert scene.journals() == [ulid]


def test_a_copy_in_git_that_lacks_lines_is_taken_when_a_person_gives_them_up(tmp_path):
    scene = SCENES["gated"](Bench(tmp_path / "project").begun())
    ulid = scene.ulid
    shutil.rmtree(scene.bench.root / ".holdfast")
    refused = scene.bench.agent("feature", "recover", "--json")
    assert (refused.code, refused.error["code"]) == (6, "lines_missing")
    scene.bench.agent("status")
    assert scene.journals() == []
    assert scene.bench.person("doctor", "--repair", says="y").code == 0
    scene.bench.ok("status")
    assert scene.journals() == [ulid]


def test_a_person_who_recovers_a_feature_gives_up_its_journal_with_the_same_word(tmp_path):
    scene = without_journals("gated", tmp_path)
    assert scene.bench.agent("feature", "recover").code == 3
    answer = scene.bench.person("feature", "recover", says="y")
    assert "with it, a journal that is gone is given up" in " ".join(answer.out.split()), answer
    assert answer.code == 0
    assert len(scene.journals()) == 1
    assert scene.bench.agent("doctor").code == 0


def _journal(root: Path) -> Path:
    (path,) = root.glob(".holdfast/journal/*/*.jsonl")
    return path
