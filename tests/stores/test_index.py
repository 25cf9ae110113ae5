"""The index: bounded, rebuilt from the journals whenever it is not good, and never behind what was settled."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import threading

import pytest

from holdfast.core.commands import Cancel, Note, Reopen, Resume
from holdfast.engine.ports import Entry
from holdfast.errors import HoldfastError
from holdfast.stores.files import FilesStore
from holdfast.stores.index import NEWEST, Index
from tests.core.play import PERSON
from tests.stores.contract import change, create, do, finish, started, ulid


def path(home):
    return os.path.join(home, "index")


def content(home):
    with open(path(home), "rb") as file:
        return file.read()


def told(store):
    return {entry.ulid: entry.active for entry in store.entries()}


def entry(number, *, active=True, at="2026-01-01T00:00:00Z"):
    status = "in_progress" if active else "completed"
    return Entry(ulid(number), f"release-{number}", "release", "skill", active, status, updated_at=at)


def minute(number):
    return f"2026-01-02T{number // 60:02}:{number % 60:02}:00.000Z"


def put(index, new, before=None):
    index.put(new.ulid, lambda: new, before, lambda: iter(()))


# Rebuilt when it is not good


DAMAGE = {
    "deleted": None,
    "empty": b"",
    "torn": b'{"active":[{"ulid":"01J',
    "zeros": b"\0" * 400,
    "no object": b"[]",
    "something else": b'{"active":3}',
    "of another version": b'{"active":[{"ulid":"x","invented":1}],"finished":[],"finished_count":0}',
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=list(DAMAGE))
def test_a_bad_index_is_rebuilt_from_the_journals(store, home, damage):
    for number in range(1, 4):
        create(store, number)
    do(store, ulid(2), Cancel())
    good = json.loads(content(home))
    if damage is None:
        os.unlink(path(home))
    else:
        with open(path(home), "wb") as file:
            file.write(damage)
    for one in (store, FilesStore(home)):
        assert told(one) == {ulid(1): True, ulid(2): False, ulid(3): True}
        assert one.finished_count() == 1
    assert json.loads(content(home)) == good


def test_an_index_lost_before_a_new_workflow_is_settled_has_the_old_ones_too(store, home):
    create(store, 1)
    os.unlink(path(home))
    create(store, 2)
    assert told(FilesStore(home)) == {ulid(1): True, ulid(2): True}


def test_a_rebuilt_index_says_what_others_did_since_this_process_looked(store, home):
    name = create(store)
    finish(FilesStore(home), name)
    os.unlink(path(home))
    assert told(store) == {name: False}


def test_a_reader_that_rebuilds_does_not_undo_what_is_settled_meanwhile(store, home, monkeypatch):
    """Reading the journals takes time: a workflow that starts in the middle of it must be in the index afterwards."""
    create(store, 1)
    os.unlink(path(home))
    slow, other = FilesStore(home), FilesStore(home)
    ulids, threads = slow.every, []

    def interrupted():
        yield from list(ulids())
        threads.append(threading.Thread(target=create, args=(other, 2)))
        threads[0].start()
        threads[0].join(0.3)  # it cannot end while this one writes the index; if it can, it must not be undone

    monkeypatch.setattr(slow, "every", interrupted)
    slow.entries()
    threads[0].join()
    assert told(FilesStore(home)) == {ulid(1): True, ulid(2): True}


def test_rebuilding_on_request_repairs_an_index_that_is_good_json_and_wrong(store, home):
    create(store, 1)
    with open(path(home), "w") as file:
        json.dump({"active": [], "finished": [], "finished_count": 7}, file)
    store.rebuild()
    assert (told(store), store.finished_count()) == ({ulid(1): True}, 0)


def test_without_journals_there_is_nothing_and_nothing_is_written(store, home):
    assert (store.entries(), store.finished_count()) == ([], 0)
    assert os.listdir(home) == []


# Bounded


def test_the_index_holds_the_active_ones_the_newest_hundred_finished_and_a_count(home):
    index = Index(home, 1.0)
    index.rebuild(lambda: (entry(number, active=number >= 120, at=minute(number)) for number in range(150)))
    for number in range(120, 130):
        put(index, entry(number, active=False, at=minute(number)))
    listing = Index(home, 1.0).read(lambda: iter(()))
    entries, finished = listing.all(), listing.finished_count
    assert finished == 130
    assert sorted(e.ulid for e in entries.values() if e.active) == [ulid(number) for number in range(130, 150)]
    assert sorted(e.ulid for e in entries.values() if not e.active) == [
        ulid(number) for number in range(130 - NEWEST, 130)
    ]


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """More finished workflows than the index names; the first of them has a name of its own."""
    home = tmp_path_factory.mktemp("crowd") / ".holdfast"
    home.mkdir()
    store = FilesStore(str(home))
    for number in range(NEWEST + 3):
        name = create(store, number, id="" if number else "ancient-1")
        store.settle(store.commit(name, change(Cancel(), at=minute(number))))
    return str(home)


@pytest.fixture
def crowded(crowd, home):
    shutil.copytree(crowd, home, dirs_exist_ok=True)
    return FilesStore(home)


def test_a_finished_workflow_the_index_no_longer_names_is_found(crowded, home):
    for number in range(200, 205):
        create(crowded, number)
    for one in (crowded, FilesStore(home)):
        assert ulid(0) not in told(one)
        assert [found.id for found in one.find(ulid(0))] == ["ancient-1"]
        assert [found.ulid for found in one.find("ancient")] == [ulid(0)]
        assert [found.ulid for found in one.find("release-20")][:5] == [ulid(number) for number in range(200, 205)]
        assert one.find(ulid(999)) == []
        assert one.find("release-none") == []


def test_the_count_stays_right_when_an_old_one_comes_back_and_ends_again(crowded, home):
    assert crowded.finished_count() == NEWEST + 3
    do(crowded, ulid(0), Resume())
    assert crowded.finished_count() == NEWEST + 2
    do(crowded, ulid(0), Cancel())
    assert crowded.finished_count() == NEWEST + 3
    crowded.rebuild()
    assert FilesStore(home).finished_count() == NEWEST + 3


def test_the_count_goes_down_with_the_archive(crowded):
    crowded.archive(ulid(5))
    assert crowded.finished_count() == NEWEST + 2
    assert crowded.find(ulid(5)) == []


def test_what_does_not_change_an_entry_does_not_write_the_index(store, home):
    name = create(store)
    before = os.stat(path(home))
    do(store, name, Note("n"), Note("m"))
    assert os.stat(path(home)) == before


def test_an_entry_that_comes_back_leaves_the_finished_ones(store):
    name = create(store)
    finish(store, name)
    assert (told(store), store.finished_count()) == ({name: False}, 1)
    do(store, name, Reopen("build"), by=PERSON)
    assert (told(store), store.finished_count()) == ({name: True}, 0)


# Marks


def marks(home):
    folder = os.path.join(home, "unsettled")
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def test_a_mark_taken_while_its_last_holder_removes_it_is_still_there(home, monkeypatch):
    """Between opening the file and locking it, the one before removed it: a mark nobody can see is no mark."""
    index = Index(home, 1.0)
    first, real = index.mark(ulid(1)), fcntl.flock
    pending = [first]

    def flock(fd, how):
        if how == fcntl.LOCK_SH and pending:
            pending.pop().release()
        return real(fd, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    second = index.mark(ulid(1))
    assert marks(home) == [ulid(1)]
    assert index.marked() == []
    second.abandon()
    assert index.marked() == [ulid(1)]


def test_the_last_of_several_holders_takes_the_mark_away(home):
    index = Index(home, 1.0)
    first, second = index.mark(ulid(1)), Index(home, 1.0).mark(ulid(1))
    first.release()
    assert marks(home) == [ulid(1)]
    second.release()
    assert marks(home) == []


def test_a_mark_that_cannot_be_made_is_a_refusal_and_changes_nothing(store, home):
    name = create(store)
    os.rmdir(os.path.join(home, "unsettled"))
    with open(os.path.join(home, "unsettled"), "w"):
        pass
    with pytest.raises(HoldfastError) as caught:
        store.commit(name, change(Cancel()))
    assert caught.value.code == "write_failed"
    assert FilesStore(home).load(name).revision == 1


def test_other_files_beside_the_marks_are_passed_over(store, home):
    create(store)
    with open(os.path.join(home, "unsettled", "notes.txt"), "w"):
        pass
    assert store.unsettled() == []


def test_a_new_workflow_is_named_from_its_first_record_on(store, home):
    record, state = started()
    store.create(record, state)
    assert told(FilesStore(home)) == {ulid(1): True}
    assert marks(home) == [ulid(1)]
    store.settle(state)
    assert (told(FilesStore(home)), marks(home)) == ({ulid(1): True}, [])
