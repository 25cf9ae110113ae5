"""The embedded store on disk: snapshots that may be lost, journals that may not, and processes that die in between."""

from __future__ import annotations

import json
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.core.apply import replay
from holdfast.core.commands import Cancel, Note
from holdfast.engine import codec
from holdfast.errors import Broken, Conflict, NotFound, OutcomeUnknown, Refused
from holdfast.files import system
from holdfast.plain.digest import digest
from holdfast.stores import opened
from holdfast.stores.files import FilesStore
from holdfast.stores.journal import Journal
from holdfast.stores.journals import OPEN_AT_ONCE
from holdfast.stores.opened import SNAPSHOT_EVERY
from tests.stores.contract import change, create, do, finish, notes, revisions, started, ulid

REPOSITORY = Path(__file__).parents[2]
CHILD = """
import os, signal, sys
from holdfast.core.commands import Begin, Cancel, Done, Note
from holdfast.stores.files import FilesStore
from tests.stores.contract import change, create, do, started, ulid

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

home = sys.argv[1]
store = FilesStore(home)
"""


@pytest.fixture
def decoded(monkeypatch):
    """The revisions of the records that were decoded, as they are."""
    seen = []

    def counting(data, **how):
        seen.append(data["seq"])
        return codec.decode_record(data, **how)

    monkeypatch.setattr(opened, "decode_record", counting)
    return seen


def snapshot_path(home, name):
    return os.path.join(home, "state", name[-2:].lower(), f"{name}.json")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def noted(store, count, number=1):
    name = create(store, number)
    for turn in range(count):
        store.commit(name, change(Note(f"note {turn}")))
    return name


def sealed(body):
    return digest(body).encode() + b"\n" + body


def edited_snapshot(home, name, change):
    """A snapshot with a right seal that says something else."""
    data = json.loads(read(snapshot_path(home, name)).partition(b"\n")[2])
    change(data)
    write(snapshot_path(home, name), sealed(json.dumps(data).encode()))


def dying(home, script):
    """A process that kills itself where the script says; what it left on disk stays."""
    run = subprocess.run([sys.executable, "-c", CHILD + script, home], capture_output=True, text=True, cwd=REPOSITORY)
    assert run.returncode == -signal.SIGKILL, run.stderr


# Snapshots


def test_loading_reads_only_what_came_after_the_last_snapshot(store, home, decoded):
    name = noted(store, 2 * SNAPSHOT_EVERY + 9)
    assert store.load(name).revision == 138
    decoded.clear()
    assert FilesStore(home).load(name) == store.load(name)
    assert decoded == list(range(2 * SNAPSHOT_EVERY + 1, 139))


def test_a_snapshot_is_taken_every_64_lines_and_not_in_between(store, home):
    name = noted(store, SNAPSHOT_EVERY - 2)
    assert not os.path.exists(snapshot_path(home, name))
    do(store, name, Note("one more"))
    first = read(snapshot_path(home, name))
    do(store, name, *[Note("n")] * (SNAPSHOT_EVERY - 1))
    assert read(snapshot_path(home, name)) == first
    do(store, name, Note("one more"))
    assert read(snapshot_path(home, name)) != first


def test_a_process_that_writes_little_still_counts_on_from_the_last_snapshot(home, decoded):
    """Short-lived processes write one line each; loading must not grow with their number."""
    name = create(FilesStore(home))
    for turn in range(3 * SNAPSHOT_EVERY):
        FilesStore(home).commit(name, change(Note(f"note {turn}")))
    decoded.clear()
    assert FilesStore(home).load(name).revision == 3 * SNAPSHOT_EVERY + 1
    assert len(decoded) < SNAPSHOT_EVERY


def test_the_snapshot_is_the_fold_of_the_journal(store, home):
    name = noted(store, SNAPSHOT_EVERY + 5)
    assert FilesStore(home).load(name) == replay(store.history(name))


def test_history_is_whole_with_a_snapshot(store, home):
    name = noted(store, SNAPSHOT_EVERY + 5)
    fresh = FilesStore(home)
    fresh.load(name)
    assert revisions(fresh, name) == list(range(1, SNAPSHOT_EVERY + 7))


BAD = {
    "empty": lambda good: b"",
    "torn": lambda good: good[: len(good) // 2],
    "without a seal": lambda good: good.partition(b"\n")[2],
    "with one byte changed": lambda good: good.replace(b"note 3", b"note 4"),
    "no JSON": lambda good: sealed(b"{"),
    "no object": lambda good: sealed(b"[]"),
    "something else": lambda good: sealed(b'{"position":{},"state":{}}'),
    "zeros": lambda good: b"\0" * len(good),
}


@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
def test_a_bad_snapshot_is_ignored_and_replaced_by_the_reader(store, home, bad, decoded):
    name = noted(store, SNAPSHOT_EVERY + 5)
    expected = store.load(name)
    write(snapshot_path(home, name), bad(read(snapshot_path(home, name))))
    decoded.clear()
    fresh = FilesStore(home)
    assert fresh.load(name) == expected
    assert decoded == list(range(1, SNAPSHOT_EVERY + 7))
    fresh.commit(name, change(Note("more")))
    decoded.clear()
    assert FilesStore(home).load(name).revision == SNAPSHOT_EVERY + 7
    assert decoded == [SNAPSHOT_EVERY + 7]


def test_a_snapshot_of_another_workflow_is_ignored(store, home):
    first, second = noted(store, SNAPSHOT_EVERY + 5, 1), noted(store, SNAPSHOT_EVERY + 5, 2)
    os.makedirs(os.path.dirname(snapshot_path(home, second)), exist_ok=True)
    write(snapshot_path(home, second), read(snapshot_path(home, first)))
    assert FilesStore(home).load(second) == store.load(second)


@pytest.mark.parametrize("version", [0, codec.VERSION + 1, None])
def test_a_snapshot_of_another_version_is_ignored(store, home, version, decoded):
    name = noted(store, SNAPSHOT_EVERY)
    edited_snapshot(home, name, lambda data: data.update(v=version) if version is not None else data.pop("v"))
    decoded.clear()
    assert FilesStore(home).load(name) == store.load(name)
    assert decoded[0] == 1


def test_a_snapshot_with_a_field_that_is_not_known_is_ignored(store, home):
    name = noted(store, SNAPSHOT_EVERY)
    edited_snapshot(home, name, lambda data: data["state"].update(invented=1))
    assert FilesStore(home).load(name) == store.load(name)


def test_a_journal_that_lost_what_the_snapshot_knew_to_be_durable_is_not_mended_silently(store, home):
    name = noted(store, SNAPSHOT_EVERY + 5)
    lines = read(store.file_of(name)).splitlines(keepends=True)
    write(store.file_of(name), b"".join(lines[:20]) + b"x" + b"".join(lines[20:]))
    with pytest.raises(Broken) as caught:
        list(FilesStore(home).history(name))
    assert caught.value.exit_code == 6


# A journal that another version wrote


def newer_line(path, version=codec.VERSION + 1):
    body = {"v": version, "at": "2026-01-01T00:00:00Z", "actor": {"kind": "agent"}, "command": "note", "events": []}
    journal = Journal(path)
    with journal.writing():
        journal.append(json.dumps(body).encode())
    journal.sync()
    journal.close()


def test_a_journal_of_a_newer_version_is_refused_each_time_and_nothing_is_written(store, home):
    """A process that lives long meets it too, after a newer one has written beside it."""
    name = noted(store, 3)
    newer_line(store.file_of(name))
    before = read(store.file_of(name))
    for one in (store, FilesStore(home)):
        for _ in range(2):
            with pytest.raises(Broken) as caught:
                one.load(name)
            assert (caught.value.code, caught.value.exit_code) == ("newer_version", 6)
            with pytest.raises(Broken):
                one.commit(name, change(Note("n")))
    assert read(store.file_of(name)) == before


def test_one_journal_that_cannot_be_read_hides_no_other(store, home):
    noted(store, 3, 1), noted(store, 3, 2)
    newer_line(store.file_of(ulid(1)))
    os.unlink(os.path.join(home, "index"))
    assert [entry.ulid for entry in FilesStore(home).entries()] == [ulid(1), ulid(2)]


# Processes that die


def test_a_workflow_whose_process_died_before_settling_is_settled_by_the_next(home):
    dying(home, "record, state = started()\nstore.create(record, state)\ndie()")
    store = FilesStore(home)
    assert store.unsettled() == [ulid(1)]
    store.settle(store.load(ulid(1)))
    assert [entry.active for entry in FilesStore(home).entries()] == [True]
    assert FilesStore(home).unsettled() == []
    assert os.listdir(os.path.join(home, "unsettled")) == []


def test_an_end_whose_process_died_before_settling_reaches_the_index(home):
    dying(home, "name = create(store)\nstore.commit(name, change(Cancel()))\ndie()")
    store = FilesStore(home)
    assert [entry.active for entry in store.entries()] == [True]
    assert store.unsettled() == [ulid(1)]
    store.settle(store.load(ulid(1)))
    assert [(entry.active, entry.status) for entry in FilesStore(home).entries()] == [(False, "cancelled")]
    assert FilesStore(home).finished_count() == 1


def test_an_entry_is_marked_before_the_journal_has_the_line(home):
    script = "from holdfast.stores.journal import Journal\nJournal.append = die\nstore.commit(name, change(Cancel()))"
    dying(home, f"name = create(store)\n{script}")
    store = FilesStore(home)
    assert store.unsettled() == [ulid(1)]
    assert store.load(ulid(1)).revision == 1
    store.settle(store.load(ulid(1)))
    assert ([entry.active for entry in store.entries()], FilesStore(home).unsettled()) == ([True], [])


def test_a_process_that_died_before_its_journal_was_there_left_nothing(home):
    dying(home, "store.file_of = die\nstore.create(*started())")
    store = FilesStore(home)
    assert (store.unsettled(), store.entries()) == ([], [])
    assert os.listdir(os.path.join(home, "unsettled")) == []
    create(store)


def test_a_process_that_died_inside_a_change_changed_nothing_and_blocks_nobody(home):
    dying(home, "name = create(store)\nstore.commit(name, die)")
    store = FilesStore(home, wait=0)
    assert store.commit(ulid(1), change(Note("n"))).revision == 2


def test_a_process_that_died_while_writing_the_index_lost_nothing(home):
    script = "import holdfast.stores.index as index\nindex.durable_write = die\ncreate(store, 2)"
    dying(home, f"create(store, 1)\n{script}")
    store = FilesStore(home)
    assert store.unsettled() == [ulid(2)]
    store.settle(store.load(ulid(2)))
    assert [entry.ulid for entry in store.entries()] == [ulid(1), ulid(2)]


def test_a_torn_line_of_a_dead_process_is_dropped_by_the_next_writer(home):
    name = create(FilesStore(home))
    path = FilesStore(home).file_of(name)
    with open(path, "ab") as file:
        file.write(b'{"seq":2,"synced":1,"prev":"')
    assert FilesStore(home).load(name).revision == 1
    assert FilesStore(home).commit(name, change(Note("n"))).revision == 2
    assert revisions(FilesStore(home), name) == [1, 2]


def test_a_mark_of_a_living_process_is_left_to_it(home):
    living, other = FilesStore(home), FilesStore(home)
    record, state = started()
    living.create(record, state)
    assert other.unsettled() == []
    living.settle(state)
    assert other.unsettled() == []


def test_two_processes_may_settle_the_same_dead_one(home):
    dying(home, "store.create(*started())\ndie()")
    first, second = FilesStore(home), FilesStore(home)
    assert first.unsettled() == [ulid(1)]
    assert second.unsettled() == []
    first.settle(first.load(ulid(1)))
    assert [entry.ulid for entry in second.entries()] == [ulid(1)]


def test_after_a_failed_sync_the_outcome_is_open_and_the_next_process_knows(home, monkeypatch):
    """The disk itself fails here: what the sync says is what the test decides."""
    store = FilesStore(home)
    name = create(store)

    def broken(fd):
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(system.here, "flush", broken)
        with pytest.raises(OutcomeUnknown, match="may or may not"):
            store.commit(name, change(Cancel()))
    other = FilesStore(home)
    for left in other.unsettled():
        other.settle(other.load(left))
    (entry,) = other.entries()
    assert entry.active == (other.load(name).cancelled is None)


def test_of_several_processes_one_keeps_the_state(home):
    stores = [FilesStore(home) for _ in range(3)]
    name = create(stores[0])
    for store in stores:  # each reads from the first line on, and keeps the state once
        do(store, name, *[Note("n")] * SNAPSHOT_EVERY)
        for other in stores:
            other.load(name)
    kept: list[int] = []
    for turn in range(3 * SNAPSHOT_EVERY):
        do(stores[turn % 3], name, Note("n"))
        for other in stores:
            other.load(name)
            found = os.stat(snapshot_path(home, name)).st_ino  # it is exchanged when one is written
            kept += [found] if found not in kept[-1:] else []
    assert len(kept) <= 4
    assert FilesStore(home).load(name) == replay(stores[0].history(name))


def test_a_writer_reads_what_is_not_durable_yet_and_makes_it_so_with_its_own_line(home, monkeypatch):
    """The disk itself is watched here."""
    store, other = FilesStore(home), FilesStore(home)
    synced: list[int] = []
    name = create(store)
    other.load(name)
    with monkeypatch.context() as patch:
        patch.setattr(system.here, "flush", lambda fd: (_ for _ in ()).throw(OSError(5, "Input/output error")))
        with pytest.raises(OutcomeUnknown):
            store.commit(name, change(Note("first")))
        assert other.newest(name).revision == 2
        with pytest.raises(OutcomeUnknown):
            other.load(name)
    monkeypatch.setattr(system.here, "flush", synced.append)
    third = FilesStore(home)
    assert third.newest(name).revision == 2
    assert synced == []
    assert third.commit(name, change(Note("second"))).revision == 3
    assert synced
    assert [line.seq for line in Journal(store.file_of(name)).history()] == [1, 2, 3]


# Archive


def test_an_archived_journal_is_out_of_the_way_and_whole(store, home):
    name = noted(store, SNAPSHOT_EVERY + 3)
    finish(store, name)
    kept = list(store.history(name))
    target = store.archive(name)
    assert target == os.path.join(home, "archive", f"{name}.jsonl")
    assert not os.path.exists(store.file_of(name))
    assert [codec.decode_record(line.body) for line in Journal(target).history()] == kept
    assert not os.path.exists(snapshot_path(home, name))
    for one in (store, FilesStore(home)):
        assert (one.entries(), one.finished_count(), one.find(name)) == ([], 0, [])
        with pytest.raises(NotFound):
            one.load(name)


def test_an_active_workflow_is_not_archived(store, home):
    name = create(store)
    other = FilesStore(home)
    finish(other, name)
    do(other, name, Note("seen by nobody else"))
    assert store.archive(name)
    second = create(store, 2)
    with pytest.raises(Refused) as caught:
        store.archive(second)
    assert caught.value.code == "still_active"
    assert store.load(second).revision == 1


def test_a_process_that_had_an_archived_workflow_open_cannot_write_to_it(store, home):
    name, other = create(store), FilesStore(home)
    do(store, name, Cancel())
    other.load(name)
    target = store.archive(name)
    before = read(target)
    with pytest.raises(NotFound):
        other.commit(name, change(Note("n")))
    assert read(target) == before


# Files


def test_journals_states_and_index_are_for_their_owner_only(home):
    old = os.umask(0)
    try:
        store = FilesStore(home)
        name = noted(store, SNAPSHOT_EVERY)
        do(store, name, Cancel())
        create(store, 2)
        store.archive(name)
        record, state = started(3)
        store.create(record, state)
    finally:
        os.umask(old)
    seen = {}
    for folder, _, names in os.walk(home):
        seen[os.path.relpath(folder, home)] = stat.S_IMODE(os.stat(folder).st_mode)
        for name in names:
            path = os.path.join(folder, name)
            seen[os.path.relpath(path, home)] = stat.S_IMODE(os.stat(path).st_mode)
    assert {"index", f"archive/{ulid(1)}.jsonl", f"unsettled/{ulid(3)}", "state", "journal"} <= seen.keys()
    folders = {path for path in seen if os.path.isdir(os.path.join(home, path))}
    assert {path: oct(mode) for path, mode in seen.items() if mode != (0o700 if path in folders else 0o600)} == {}


def test_journals_are_spread_over_folders_by_the_random_end_of_their_name(store):
    assert store.file_of(ulid(7)).endswith(f"/journal/07/{ulid(7)}.jsonl")


@pytest.mark.parametrize("name", ["", "x", "../" * 9 + "x" * 8, ulid(1).lower(), ulid(1) + "\n", "8" + ulid(1)[1:]])
def test_what_is_no_ulid_is_no_path(store, name):
    with pytest.raises(NotFound):
        store.file_of(name)


def test_files_that_are_no_journals_are_passed_over(store, home):
    create(store)
    write(os.path.join(home, "journal", "01", "notes.txt"), b"mine")
    write(os.path.join(home, "journal", "01", f"{ulid(1)}.jsonl.bak"), b"mine")
    os.mkdir(os.path.join(home, "journal", "zz"))
    os.unlink(os.path.join(home, "index"))
    assert [entry.ulid for entry in FilesStore(home).entries()] == [ulid(1)]


def test_a_lock_that_is_held_is_a_conflict_and_not_a_wait_for_ever(store, home):
    name = create(store)
    other = FilesStore(home, wait=0)

    def second_writer(state):
        with pytest.raises(Conflict) as caught:
            other.commit(name, change(Note("n")))
        assert (caught.value.code, caught.value.exit_code) == ("lock_timeout", 5)

    store.commit(name, second_writer)
    assert other.commit(name, change(Note("n"))).revision == 2


def test_many_workflows_do_not_use_up_the_descriptors(store, home):
    for number in range(100):
        create(store, number)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    fresh = FilesStore(home)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + OPEN_AT_ONCE + 10, hard))
    try:
        for number in range(100):
            fresh.load(ulid(number))
        for number in range(100):
            assert fresh.commit(ulid(number), change(Note("n"))).revision == 2
        assert notes(fresh, ulid(0)) == ["n"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_store_that_nobody_uses_any_more_holds_no_files(home):
    create(FilesStore(home))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        FilesStore(home).load(ulid(1))
    assert len(os.listdir("/proc/self/fd")) == before
