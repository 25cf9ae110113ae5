"""Between a line of the journal and the document that shows it: other writers, readers, edits and sudden ends."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from holdfast.documents import files
from holdfast.files.replace import replace as exchange
from holdfast.project.project import open_project
from tests.actors import acting


@pytest.fixture
def long_lived(desk):
    """The workflow in a process that hands its showing over, as the Python API and the MCP server do."""

    def opened():
        return open_project(str(desk.folder), settings=acting(os.environ, surface="python")).workflow(desk.id)

    return opened


@pytest.fixture
def record(desk):
    """The record of what was shown last."""

    def found():
        (path,) = (desk.folder / ".holdfast/state").glob("*/*.shown")
        return path

    return found


def notes(desk):
    return [note["text"] for note in desk.look().state.notes]


def test_who_writes_while_another_shows_goes_on_and_the_other_one_shows_it(desk, long_lived, monkeypatch):
    pending = [1]
    other = long_lived()

    def replace(path, data, slot, **how):
        if path == str(desk.path) and pending:
            pending.pop()
            before = desk.path.read_bytes()
            other.note("from the other one")
            assert desk.path.read_bytes() == before, "two renderers at once"
        return exchange(path, data, slot, **how)

    monkeypatch.setattr(files, "replace", replace)
    state = desk.look().begin("write").state
    assert pending == []
    newest = desk.open().wired
    now = newest.store.load(state.ulid)
    assert (now.revision, [note["text"] for note in now.notes]) == (3, ["from the other one"])
    assert desk.path.read_bytes() == newest.documents.render(now)
    assert newest.store.shown(state.ulid).revision == 3


def test_a_line_whose_showing_was_handed_to_a_process_that_died_is_shown_by_the_next_look(desk, long_lived):
    work = long_lived()
    holder = desk.open().wired.store.showing(work.ulid)
    work.note("one")
    work.note("two")
    before = desk.path.read_bytes()
    assert b"two" not in before
    holder.__exit__()  # without having asked the journal again
    assert desk.path.read_bytes() == before
    assert notes(desk) == ["one", "two"]
    assert desk.path.read_bytes() != before
    assert desk.commands() == ["start", "note", "note"]
    assert desk.is_clean()


def test_an_edit_of_a_document_that_is_behind_is_decided_and_the_lines_stay(desk, long_lived):
    work = long_lived()
    holder = desk.open().wired.store.showing(work.ulid)
    work.note("one")
    desk.jq(".context.k = 1")
    holder.__exit__()
    work.note("two")
    state = desk.look().state
    assert (state.context, [note["text"] for note in state.notes]) == ({"k": 1}, ["one", "two"])
    assert desk.alerts() == []
    assert desk.is_clean()


def test_a_reader_sees_a_line_before_the_document_shows_it(desk, long_lived):
    work = long_lived()
    holder = desk.open().wired.store.showing(work.ulid)
    work.note("one")
    assert [note["text"] for note in desk.open().wired.store.load(work.ulid).notes] == ["one"]
    holder.__exit__()
    assert desk.is_clean()


def test_a_command_of_the_command_line_waits_until_its_line_is_shown(desk, long_lived):
    ulid = long_lived().ulid
    holder = desk.open().wired.store.showing(ulid)
    words = [sys.executable, "-m", "holdfast", "note", "typed", "-w", desk.id]
    typed = subprocess.Popen(words, cwd=desk.folder, stdout=subprocess.DEVNULL)
    store = desk.open().wired.store
    while store.load(ulid).revision < 2:
        assert typed.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        typed.wait(0.3)
    holder.__exit__()
    assert typed.wait(30) == 0
    wired = desk.open().wired
    assert desk.path.read_bytes() == wired.documents.render(wired.store.load(ulid))


@pytest.mark.parametrize("torn", [b"", b"0" * 40, None], ids=["empty", "nonsense", "missing"])
@pytest.mark.parametrize("behind", [False, True])
def test_a_record_that_is_torn_or_missing_says_nothing(desk, record, torn, behind):
    older = desk.path.read_bytes()
    desk.look().note("one")
    if behind:
        desk.path.write_bytes(older)  # as a power cut may leave it
    if torn is None:
        record().unlink()
    else:
        record().write_bytes(torn)
    assert desk.look().note("two").state.revision == 3
    assert desk.commands() == ["start", "note", "note"]
    assert desk.is_clean()


def test_a_torn_record_of_an_older_showing_says_nothing(desk, record):
    desk.look().note("one")
    whole = record().read_bytes()
    desk.look().note("two")
    record().write_bytes(whole[:30] + record().read_bytes()[30:])
    assert desk.look().note("three").state.revision == 4
    assert desk.is_clean()


def test_the_record_of_a_journal_that_was_restored_from_a_backup_says_nothing(desk, tmp_path):
    desk.look().note("one")
    shutil.copytree(desk.folder, tmp_path / "backup", symlinks=True)
    desk.look().note("lost").begin("write")
    shutil.rmtree(desk.folder)
    shutil.copytree(tmp_path / "backup", desk.folder, symlinks=True)
    work = desk.look()
    assert desk.open().wired.store.shown(work.ulid) is None
    work.note("two")
    assert desk.commands() == ["start", "note", "note"]
    assert desk.is_clean()


def test_a_document_that_was_shown_before_the_record_could_say_so_is_ours(desk, record):
    """Killed between the exchange and the record."""
    desk.look().note("one")
    before = record().read_bytes()
    desk.look().note("two")
    record().write_bytes(before)
    assert desk.look().note("three").state.revision == 4
    assert desk.alerts() == []
    assert desk.is_clean()
