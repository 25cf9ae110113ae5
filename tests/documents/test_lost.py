"""Documents that are gone: what somebody decided is done, and what was an accident is reverted and said once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.losing import SCENES, Scene, wiped
from tests.workbench import Bench

EVERY = pytest.mark.parametrize("system", SCENES)
KEPT_BY_GIT = ("gated",)


@pytest.fixture
def scene(tmp_path, system) -> Scene:
    return SCENES[system](Bench(tmp_path / "project").begun())


def unharmed(scene: Scene) -> None:
    """The workflow runs as before, its document says so, and no other one came to be."""
    journals = scene.journals()
    work = scene.look()
    assert work.ulid == scene.ulid
    assert work.state.cancelled is None
    assert not work.state.finished_at
    assert scene.document == work.document()
    assert scene.journals() == journals == [scene.ulid]
    assert not scene.bench.open().wired.troubles


# What git does by accident


@EVERY
@pytest.mark.parametrize("looked", [True, False], ids=["looked at in between", "not looked at"])
def test_a_stash_of_everything_and_its_pop_change_nothing(scene, system, looked):
    scene.bench.write("notes.txt", "mine\n")
    scene.bench.git("stash", "-u")
    assert not (scene.bench.root / "notes.txt").exists()
    if looked and system in KEPT_BY_GIT:
        scene.bench.ok("status")  # what git tracks and would be written again, git itself does not write over
    elif looked:
        unharmed(scene)
    scene.bench.git("stash", "pop")
    assert (scene.bench.root / "notes.txt").read_text() == "mine\n"
    unharmed(scene)
    assert "document_restored" not in scene.alerts()


@EVERY
def test_cleaning_twice_passes_by_what_holdfast_wrote(scene):
    for _ in range(2):
        scene.bench.write("notes.txt", "mine\n")
        scene.bench.git("clean", "-fdq")
        assert not (scene.bench.root / "notes.txt").exists()
        unharmed(scene)
    assert scene.alerts() == []


@EVERY
def test_another_branch_and_back_changes_nothing(scene):
    here = scene.bench.branch
    scene.bench.git("stash", "-q", "-u")
    scene.bench.git("checkout", "-q", "-b", "other", "main")
    scene.bench.write("README.md", "other\n")
    scene.bench.save("other")
    assert scene.look().state.cancelled is None
    scene.bench.git("checkout", "-q", here)
    scene.look()
    if scene.bench.git("stash", "list"):
        scene.bench.git("stash", "pop", "-q")
    unharmed(scene)


@EVERY
def test_a_hard_reset_changes_nothing(scene):
    scene.bench.write("README.md", "changed\n")
    scene.bench.git("reset", "-q", "--hard")
    unharmed(scene)
    scene.look().note("and on")
    unharmed(scene)


# What git does where the files are no secret to it: the lines were taken out of its list


@pytest.mark.parametrize("system", [name for name in SCENES if name not in KEPT_BY_GIT])
@pytest.mark.parametrize("words", [("stash", "-u"), ("clean", "-fdq")], ids=" ".join)
def test_files_that_git_took_are_written_again_and_it_is_said_once(scene, words):
    (scene.bench.root / ".git/info/exclude").write_text("")
    path = scene.path
    scene.bench.git(*words)
    assert not path.exists()
    unharmed(scene)
    assert scene.alerts() == ["document_restored"]
    unharmed(scene)
    assert scene.alerts() == ["document_restored"]
    assert (scene.bench.root / ".git/info/exclude").read_text() == ""


# What people do by accident


@EVERY
def test_everything_that_a_system_wrote_and_was_removed_is_written_again(scene, system):
    wiped(scene, system)
    unharmed(scene)
    assert scene.alerts() == ["document_restored"]
    said = " ".join(scene.bench.ok("status").out.split())
    assert said.count("was missing and is written again") == 1


@pytest.mark.parametrize("system", ["skill", "compaction"])
def test_an_accident_takes_no_second_workflow_with_it(scene, system):
    """The first one that is looked at brings back the sign by which a deletion is told from an accident."""
    other = scene.open().start({"name": "other", "dialect": system, "step": [{"id": "a"}]}, "Other")
    wiped(scene, system)
    scene.look()
    assert scene.open().workflow(other.id).state.cancelled is None
    assert not scene.open().workflow(other.id).state.finished_at
    assert [alert.code for alert in scene.open().workflow(other.id).state.alerts] == ["document_restored"]


@pytest.mark.parametrize("system", ["skill", "compaction"])
def test_a_start_after_an_accident_ends_nothing(scene, system):
    wiped(scene, system)
    scene.open().start({"name": "other", "dialect": system, "step": [{"id": "a"}]}, "Other")
    assert scene.look().state.cancelled is None
    assert not scene.look().state.finished_at
    assert scene.alerts() == ["document_restored"]
    assert scene.path.exists()


@pytest.mark.parametrize("system", ["story", "orchestrator", "gated"])
def test_one_document_that_was_removed_is_written_again(scene):
    scene.path.unlink()
    unharmed(scene)
    assert scene.alerts() == ["document_restored"]


@pytest.mark.parametrize("system", ["compaction"])
def test_a_file_removed_from_its_folder_is_an_accident(scene):
    scene.path.unlink()
    unharmed(scene)
    assert scene.alerts() == ["document_restored"]


# What is a decision


@pytest.fixture
def plain(tmp_path, system) -> Scene:
    """Without a gate."""
    bench = Bench(tmp_path / "project").begun()
    step = {"id": "a", "optional": True}
    work = bench.open().start({"name": "plain", "dialect": system, "step": [step]}, "Plain")
    return Scene(bench, work.id, "", "")


@pytest.mark.parametrize("system", ["compaction"])
def test_a_folder_removed_beside_the_others_is_work_that_is_done(plain):
    shutil.rmtree(plain.path.parent)
    state = plain.state
    assert state.finished_at
    assert state.alerts == ()
    assert (plain.bench.root / "untracked/workflow-state").is_dir()


@pytest.mark.parametrize("system", ["skill"])
@pytest.mark.parametrize("how", ["each file", "the folder"])
def test_all_active_documents_removed_beside_the_list_are_given_up(plain, how):
    other = plain.open().start({"name": "other", "step": [{"id": "a"}]}, "Other")
    folder = plain.path.parent
    if how == "the folder":
        shutil.rmtree(folder)
    else:
        for path in folder.iterdir():
            path.unlink()
    assert plain.state.cancelled
    assert plain.open().workflow(other.id).state.cancelled


# Lost, and brought back


def lost(scene: Scene, system: str) -> tuple[Path, bytes]:
    """The document is taken away in the way that ends a workflow where anything does, and looked at."""
    path, data = scene.path, scene.path.read_bytes()
    if system == "compaction":
        shutil.rmtree(path.parent)
    elif system in ("skill", "story", "orchestrator"):
        path.unlink()
    else:
        shutil.rmtree(path.parent)
    scene.look()
    return path, data


@EVERY
def test_a_document_that_was_lost_and_came_back_is_the_same_workflow_with_its_gates(scene, system):
    path, data = lost(scene, system)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    work = scene.look()
    assert work.ulid == scene.ulid
    assert work.state.cancelled is None
    assert not work.state.finished_at
    assert scene.journals() == [scene.ulid]
    assert work.state.plan == scene.open().wired.store.load(scene.ulid).plan
    assert not work.state.step(work.path(scene.gate)).grant
    assert scene.document == work.document()


@EVERY
@pytest.mark.parametrize("words", [("status",), ("list",), ("resume-packet",), ("doctor",)], ids=" ".join)
def test_a_tracked_document_that_is_stashed_comes_back_after_a_look(scene, words):
    bench, path = scene.bench, scene.path
    bench.git("add", "-Af", str(path.parent))
    bench.git("commit", "-q", "--allow-empty", "-m", "the document")
    scene.look("human").pause("every document shows this")
    after, shown = scene.state.revision, path.read_bytes()
    if bench.git("status", "--porcelain", "--untracked-files=no") == "":
        return  # a workspace that is committed with each change has nothing to stash
    bench.git("stash", "-q")
    assert path.read_bytes() != shown
    bench.agent(*words)
    bench.git("stash", "pop", "-q")
    assert path.read_bytes() == shown
    assert (scene.state.revision, scene.alerts()) == (after, [])


@EVERY
def test_a_change_while_a_document_is_stashed_is_shown(scene):
    bench = scene.bench
    bench.git("add", "-Af", str(scene.path.parent))
    bench.git("commit", "-q", "--allow-empty", "-m", "the document")
    scene.look("human").pause("every document shows this")
    bench.git("stash", "-q")
    scene.look("human").resume()
    assert (scene.state.paused, scene.alerts()) == (None, [])
    assert scene.document == scene.look().document()
