"""An older `.holdfast` that was reverted, or lines that were lost with every record beside them: it is noticed.

What people do with a project every day is not taken for it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.errors import Broken
from holdfast.upkeep.doctor import examine, repair
from tests.losing import SCENES, Scene
from tests.workbench import Bench


@pytest.fixture(params=list(SCENES))
def scene(request, tmp_path) -> Scene:
    return SCENES[request.param](Bench(tmp_path / "project").begun())


def home(scene: Scene) -> Path:
    return scene.bench.root / ".holdfast"


def without_copies(scene: Scene) -> None:
    """What travels with git brings the lines back by itself."""
    for path in [path for path in scene.bench.root.rglob("journal.jsonl") if ".holdfast" not in path.parts]:
        path.unlink()


def go_on(scene: Scene) -> None:
    scene.look().note("more")


def restore(scene: Scene, backup: Path) -> None:
    shutil.rmtree(home(scene))
    shutil.copytree(backup, home(scene), symlinks=True)


def lost(scene: Scene) -> list[str]:
    return [one.message for one in examine(scene.open()).findings if one.code == "lines_missing"]


def test_an_older_holdfast_is_noticed_and_the_newer_one_can_be_put_back(scene, tmp_path):
    backup, newer = tmp_path / "backup", tmp_path / "newer"
    shutil.copytree(home(scene), backup)
    before = scene.state.revision
    scene.look("human").pause("the documents of all systems show this")
    without_copies(scene)
    path, after = scene.path, scene.state.revision
    document = path.read_bytes()
    shutil.copytree(home(scene), newer)
    restore(scene, backup)
    for words in (("status",), ("note", "more")):
        said = scene.bench.agent(*words)
        assert (said.code, "is missing" in said.err) == (6, True), said
    (message,) = lost(scene)
    which = f"line {after}" if after == before + 1 else f"lines {before + 1} to {after}"
    assert f"{which}, which Holdfast had acknowledged" in message
    assert f"{path.relative_to(scene.bench.root)} shows more than these lines" in message
    assert path.read_bytes() == document
    restore(scene, newer)
    assert lost(scene) == []
    assert (scene.state.revision, scene.alerts()) == (after, [])


def test_lost_lines_are_noticed_without_any_record_in_holdfast(scene):
    without_copies(scene)
    (journal,) = home(scene).glob("journal/*/*.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    shutil.rmtree(home(scene) / "state")
    (home(scene) / "index").unlink()
    assert scene.bench.agent("status").code == 6
    assert len(lost(scene)) == 1
    repair(scene.open("human"))
    assert (scene.state.revision, lost(scene)) == (len(lines) - 1, [])


@pytest.mark.parametrize("names", [("journal", "index"), ("journal", "index", "state"), ("journal", "state")])
def test_a_journal_that_was_removed_is_not_adopted_again_from_its_document(scene, names):
    without_copies(scene)
    for name in names:
        path = home(scene) / name
        path.unlink() if path.is_file() else shutil.rmtree(path)
    scene.bench.agent("adopt")
    for words in (("status",), ("note", "more")):
        assert scene.bench.agent(*words).code == 6, words
        assert scene.journals() == []


def test_a_workflow_that_is_younger_than_the_backup_is_not_adopted_from_its_document(scene, tmp_path):
    """The backup has the journals of others."""
    without_copies(scene)
    backup = tmp_path / "backup"
    shutil.copytree(home(scene), backup)
    (journal,) = backup.glob("journal/*/*.jsonl")
    journal.unlink()
    for name in ("state", "slots"):
        shutil.rmtree(backup / name, ignore_errors=True)
    (backup / "index").unlink()
    restore(scene, backup)
    for words in (("status",), ("adopt",)):
        scene.bench.agent(*words)
        assert scene.journals() == []
    assert scene.bench.agent("doctor").code == 6
    assert len(lost(scene)) == 1
    repair(scene.open("human"))
    assert lost(scene) == []


def test_an_approval_is_not_called_forged_because_its_line_was_lost(tmp_path):
    scene = SCENES["skill"](Bench(tmp_path / "project").begun())
    scene.look().done("write").begin(scene.gate)
    shutil.copytree(home(scene), tmp_path / "backup")
    scene.look("human").approve(scene.gate)
    restore(scene, tmp_path / "backup")
    with pytest.raises(Broken):
        scene.look()
    said = [one.message for one in repair(scene.open("human")).findings if one.code == "repaired"]
    assert any("given up" in one for one in said)
    assert (scene.alerts(), scene.state.step(scene.gate).grant) == ([], None)
    assert scene.look("human").approve(scene.gate).state.step(scene.gate).grant


def stashed(scene: Scene) -> None:
    scene.bench.write("README.md", "Changed.\n")
    scene.bench.git("stash", "-u")
    scene.look()
    scene.bench.git("stash", "pop")


def at_an_older_commit(scene: Scene) -> None:
    scene.bench.git("add", "-Af")
    scene.bench.git("rm", "-rqf", "--cached", ".holdfast")
    scene.bench.git("commit", "-q", "--allow-empty", "-m", "all")
    go_on(scene)
    scene.bench.git("switch", "-qf", "--detach", "HEAD~1")
    examine(scene.open())
    scene.bench.git("switch", "-qf", "main")


def document_of_git(scene: Scene) -> None:
    scene.bench.git("add", "-Af", str(scene.path.parent))
    scene.bench.git("commit", "-q", "--allow-empty", "-m", "all")
    go_on(scene)
    if scene.path.exists():
        scene.bench.git("checkout", "HEAD", "--", str(scene.path))


def moved(scene: Scene) -> None:
    other = scene.bench.root.with_name("moved")
    os.rename(scene.bench.root, other)
    scene.bench = Bench(other)


def copied(scene: Scene) -> None:
    """Both continue, each for itself, and the copy's document comes over the other."""
    first, other = scene.bench, scene.bench.root.with_name("copied")
    shutil.copytree(first.root, other, symlinks=True)
    scene.bench = Bench(other)
    for _ in range(2):
        go_on(scene)
    assert lost(scene) == []
    theirs = scene.path
    scene.bench = first
    shutil.copy2(theirs, scene.path)


def restored_as_a_whole(scene: Scene) -> None:
    backup = scene.bench.root.with_name("backup")
    shutil.copytree(scene.bench.root, backup, symlinks=True)
    go_on(scene)
    shutil.rmtree(scene.bench.root)
    os.rename(backup, scene.bench.root)


def with_a_new_repository(scene: Scene) -> None:
    shutil.rmtree(scene.bench.root / ".git")
    scene.bench.begun()


def archived(scene: Scene) -> None:
    scene.look("human").cancel("no more")
    scene.open().wired.store.archive(scene.ulid)
    assert scene.journals() == []


MOVES: dict[str, Callable[[Scene], None]] = {
    move.__name__: move
    for move in (
        stashed,
        at_an_older_commit,
        document_of_git,
        moved,
        copied,
        restored_as_a_whole,
        with_a_new_repository,
        archived,
    )
}


@pytest.mark.parametrize("move", MOVES)
def test_what_people_do_every_day_is_no_loss(scene, move):
    go_on(scene)
    MOVES[move](scene)
    assert lost(scene) == []
    assert scene.bench.agent("list").code == 0
    assert scene.bench.agent("status").code != 6
    assert lost(scene) == []


def test_a_folder_of_git_that_cannot_be_written_stops_no_work(tmp_path):
    bench = Bench(tmp_path / "project").begun()
    scene = SCENES["skill"](bench)
    (folder,) = bench.root.glob(".git/holdfast-lines-*")
    shutil.rmtree(folder)
    folder.write_text("")  # root writes everywhere, but not below a file
    go_on(scene)
    assert lost(scene) == []
