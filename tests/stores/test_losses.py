"""A journal that lost lines, wherever it was cut, zeroed or changed: nobody continues as if they had never been."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from holdfast.core.commands import Note
from holdfast.errors import Broken, HoldfastError
from holdfast.stores import opened
from holdfast.stores.files import FilesStore
from holdfast.stores.journal import Journal
from holdfast.stores.opened import SNAPSHOT_EVERY
from holdfast.stores.witness import Seen, Witness
from tests.stores.contract import change, create, do, finish, forget_last, ulid
from tests.tiers import is_full

LINES = 70


@pytest.fixture
def journal(home):
    """One with a snapshot in the middle."""
    store = FilesStore(home)
    name = create(store)
    for number in range(LINES - 1):
        store.commit(name, change(Note(f"note {number}")))
    return Path(store.file_of(name))


def rows(items, few):
    found = list(items)
    return found if is_full() else [*found[:few], *found[-few:]]


def refusal(home, call=lambda store: store.load(ulid(1))):
    """What a new process is told; the journal stays as it is."""
    before = Path(FilesStore(home).file_of(ulid(1))).read_bytes()
    with pytest.raises(Broken) as caught:
        call(FilesStore(home))
    assert Path(FilesStore(home).file_of(ulid(1))).read_bytes() == before
    assert caught.value.exit_code == 6
    return caught.value


def test_every_truncation_at_the_end_of_a_line_is_noticed_and_says_what_is_missing(home, journal):
    lines = journal.read_bytes().splitlines(keepends=True)
    for count in rows(range(LINES), 3):
        journal.write_bytes(b"".join(lines[:count]))
        for call in (lambda store: store.load(ulid(1)), lambda store: store.commit(ulid(1), change(Note("more")))):
            lost = refusal(home, call)
            assert (lost.code, lost.facts["seq"], lost.facts["missing"]) == ("lines_missing", count + 1, LINES - count)
        assert FilesStore(home).examine(ulid(1)).lines == count
    journal.write_bytes(b"".join(lines))
    assert FilesStore(home).load(ulid(1)).revision == LINES


@pytest.mark.parametrize("at_once", [1, 7, 35, LINES, LINES + 1])
def test_a_journal_that_is_read_piece_by_piece_is_the_same_and_so_is_what_it_lost(home, journal, monkeypatch, at_once):
    monkeypatch.setattr(opened, "AT_ONCE", at_once)
    whole = FilesStore(home).load(ulid(1))
    (Path(home, "state", journal.parent.name) / f"{ulid(1)}.json").unlink()
    assert FilesStore(home).load(ulid(1)) == whole
    (Path(home, "state", journal.parent.name) / f"{ulid(1)}.json").unlink(missing_ok=True)
    lines = journal.read_bytes().splitlines(keepends=True)
    for count in (35, 42, LINES - 1):
        journal.write_bytes(b"".join(lines[:count]))
        assert refusal(home).facts["missing"] == LINES - count
        journal.write_bytes(b"".join((*lines[: count - 1], lines[count - 1].replace(b"note", b"nota"), *lines[count:])))
        assert (refusal(home).code, refusal(home).facts["seq"]) == ("journal_damaged", count)


def test_a_truncation_is_noticed_in_a_file_with_another_inode_too(home, journal):
    data = journal.read_bytes()
    journal.unlink()
    journal.write_bytes(b"".join(data.splitlines(keepends=True)[:-1]))
    assert refusal(home).code == "lines_missing"
    journal.unlink()
    with pytest.raises(Broken):
        FilesStore(home).load(ulid(1))
    assert list(FilesStore(home).every()) == [ulid(1)]


@pytest.mark.parametrize(("taken", "known"), [("json", LINES), ("last", SNAPSHOT_EVERY)])
def test_each_witness_alone_notices_the_loss_of_what_it_knows(home, journal, taken, known):
    state = Path(home, "state", journal.parent.name)
    (state / f"{ulid(1)}.{taken}").unlink()
    Path(home, "index").unlink()
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: known - 1]))
    assert refusal(home).facts["last"] == known


def test_the_index_alone_notices_that_an_end_is_lost(home):
    store = FilesStore(home)
    name = create(store)
    finish(store, name)
    path = Path(store.file_of(name))
    forget_last(path)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert refusal(home).code == "lines_missing"


def test_an_older_journal_that_went_on_otherwise_is_not_taken_for_the_one_that_was_acknowledged(tmp_path, home):
    store = FilesStore(home)
    do(store, create(store), Note("first"))
    shutil.copytree(home, tmp_path / "backup")
    do(store, ulid(1), Note("acknowledged"))
    other = FilesStore(str(tmp_path / "backup"))
    do(other, ulid(1), Note("another"))
    shutil.copy(other.file_of(ulid(1)), store.file_of(ulid(1)))
    assert "another line is in its place" in refusal(home).message


def test_every_range_of_zeros_is_noticed(home, journal):
    data = journal.read_bytes()
    size = len(data) // LINES
    for start in rows(range(0, len(data), size), 3):
        journal.write_bytes(data[:start] + bytes(min(size, len(data) - start)) + data[start + size :])
        (Path(home, "state", journal.parent.name) / f"{ulid(1)}.json").unlink(missing_ok=True)
        refusal(home)


def test_a_byte_that_changed_anywhere_is_noticed_and_keeps_the_workflow_in_a_rebuilt_index(home, journal):
    data = journal.read_bytes()
    (Path(home, "state", journal.parent.name) / f"{ulid(1)}.json").unlink()
    for at in rows(range(0, len(data), 97), 3):
        journal.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        Path(home, "index").unlink()
        store = FilesStore(home)
        first_line = at < data.index(b"\n")
        assert [entry.active for entry in store.entries()] == ([] if first_line else [True])
        assert store.announced() == [ulid(1)]
        refusal(home)
    journal.write_bytes(data)
    healed = FilesStore(home)
    for name in healed.unsettled():
        healed.settle(healed.load(name))
    assert (FilesStore(home).unsettled(), [entry.active for entry in FilesStore(home).entries()]) == ([], [True])


def test_a_copy_that_has_what_was_acknowledged_brings_it_back_and_no_other_does(home, journal):
    data = journal.read_bytes()
    lines = data.splitlines(keepends=True)
    for left in (0, 5, LINES - 1):
        journal.write_bytes(b"".join(lines[:left]))
        with pytest.raises(Broken):
            FilesStore(home).fast_forward(b"".join(lines[:-1]))
        assert FilesStore(home).fast_forward(data).revision == LINES
        assert journal.read_bytes() == data
        assert FilesStore(home).load(ulid(1)).revision == LINES


def test_what_a_person_gives_up_is_not_asked_for_again(home, journal):
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:5]))
    store = FilesStore(home)
    store.repair(ulid(1), store.examine(ulid(1)))
    assert FilesStore(home).load(ulid(1)).revision == 5
    assert FilesStore(home).commit(ulid(1), change(Note("on"))).revision == 6
    assert FilesStore(home).examine(ulid(1)).damage is None


def test_a_writer_that_is_late_says_nothing_of_the_journal_that_took_the_place(tmp_path, home):
    """It was acknowledged on lines that a person has since replaced by those of a copy."""
    store, other = FilesStore(home), FilesStore(str(tmp_path / "other"))
    do(store, create(store), Note("shared"))
    base = store.export(ulid(1))
    other.settle(other.fast_forward(base))
    do(other, ulid(1), Note("theirs"))
    theirs = other.export(ulid(1))
    late = FilesStore(home)
    late.commit(ulid(1), change(Note("ours")))
    late.commit(ulid(1), change(Note("ours too")))
    handle = late._journals.handle(ulid(1))
    person = FilesStore(home)
    person.settle(person.supersede(theirs, "kept"))
    handle.journal.testify()
    assert FilesStore(home).load(ulid(1)).revision == 3


def test_a_record_that_is_torn_or_gone_is_no_proof_of_anything(home, journal):
    record = Path(home, "state", journal.parent.name, f"{ulid(1)}.last")
    good = record.read_bytes()
    for bad in (b"", good[:-1], good.replace(b"7", b"9"), b"\0" * len(good), good + good):
        record.write_bytes(bad)
        assert FilesStore(home).load(ulid(1)).revision == LINES
    record.unlink()
    assert FilesStore(home).commit(ulid(1), change(Note("more"))).revision == LINES + 1
    assert record.stat().st_mode & 0o777 == 0o600


STRANGE = {
    "an unknown event": (lambda body: body["events"][0].update(event="danced"), "newer_version"),
    "a field of the line": (lambda body: body.update(more=1), "newer_version"),
    "a field of the event": (lambda body: body["events"][0].update(more=1), "newer_version"),
    "a field of the actor": (lambda body: body["actor"].update(more=1), "newer_version"),
    "no events": (lambda body: body.pop("events"), "journal_damaged"),
    "no time": (lambda body: body.pop("at"), "journal_damaged"),
    "no name of the event": (lambda body: body["events"][0].pop("event"), "journal_damaged"),
    "no text": (lambda body: body["events"][0].pop("text"), "journal_damaged"),
    "events that are none": (lambda body: body.update(events=[7]), "journal_damaged"),
}


@pytest.mark.parametrize(("spoil", "code"), STRANGE.values(), ids=list(STRANGE))
def test_a_whole_line_that_says_what_is_not_known_here_is_refused_by_type(home, spoil, code):
    import json

    from holdfast.stores.journal import Journal

    store = FilesStore(home)
    do(store, create(store), Note("good"))
    body = json.loads(store.export(ulid(1)).splitlines()[-1])
    for name in ("seq", "synced", "prev", "sum"):
        del body[name]
    spoil(body)
    with Journal(store.file_of(ulid(1))) as journal:
        with journal.writing():
            journal.append(json.dumps(body).encode())
        journal.sync()
    create(store, 2)
    for one in (store, FilesStore(home)):
        for call in (one.load, lambda name, one=one: list(one.history(name)), one.export):
            with pytest.raises(Broken) as caught:
                call(ulid(1))
            assert caught.value.code == code
    os.unlink(os.path.join(home, "index"))
    assert [entry.ulid for entry in FilesStore(home).entries()] == [ulid(1), ulid(2)]
    with pytest.raises(HoldfastError):
        FilesStore(home).commit(ulid(1), change(Note("more")))


def test_the_key_of_a_start_is_found_however_many_workflows_ended_since(home):
    store = FilesStore(home)
    first = create(store, 1, key="the-first")
    finish(store, first)
    for number in range(2, 1003 if is_full() else 105):
        finish(store, create(store, number))
    for _ in range(2):
        fresh = FilesStore(home)
        found = fresh.started_with("the-first")
        assert (found.ulid, found.key, found.payload) == (first, "the-first", "words")
        assert fresh.started_with("another") is None
    with open(os.path.join(home, "keys"), "r+b") as file:
        file.truncate(30)
    assert FilesStore(home).started_with("the-first").ulid == first


def test_the_key_of_a_start_outlasts_a_thousand_keys_of_commands(home):
    store = FilesStore(home)
    name = create(store, key="the-first")
    for number in range(1005):
        store.commit(name, change(Note("n"), key=f"key-{number}"))
    store.rebuild()
    assert store.started_with("the-first").ulid == name


def test_a_reader_takes_the_snapshot_that_is_missing(home, journal):
    snapshot = Path(home, "state", journal.parent.name, f"{ulid(1)}.json")
    snapshot.unlink()
    FilesStore(home).load(ulid(1))
    assert snapshot.exists()
    os.unlink(snapshot)
    forget_last(journal)
    assert FilesStore(home).load(ulid(1)).revision == LINES
    assert b'"seq":69' in snapshot.read_bytes()  # the last line is not known to be durable


def test_one_sync_serves_the_lines_of_all_writers(tmp_path):
    """Whoever syncs does it for the lines that others wrote meanwhile, and says so."""
    path, record = str(tmp_path / "one.jsonl"), str(tmp_path / "one.last")
    first = Journal.create(path, b'{"n":1}', witness=Witness(record, 1.0))
    second = Journal(path, witness=Witness(record, 1.0))
    for writer in (second, first, second):
        with writer.writing():
            writer.append(b'{"n":0}')
    assert Witness(record, 1.0).read().seq == 1
    first.sync()
    assert Witness(record, 1.0).read() == Seen(4, second.position.sum)
    assert second.synced < 4
    second.sync()
    assert second.synced == 4
    first.close()
    second.close()
