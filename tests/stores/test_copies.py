"""Copies of journals: how one stands to what is here, and how it is taken in, whatever happens meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.core.apply import replay
from holdfast.core.commands import Cancel, Note
from holdfast.engine.codec import VERSION
from holdfast.engine.ports import LARGEST_COPY, Standing, entry_of
from holdfast.errors import Broken, Conflict, NotFound, UsageError
from holdfast.stores.files import FilesStore
from holdfast.stores.index import NEWEST
from holdfast.stores.lines import FIRST, head, seal
from holdfast.stores.opened import SNAPSHOT_EVERY
from tests.stores.contract import change, create, finish, notes, revisions, ulid

REPOSITORY = Path(__file__).parents[2]
NAME = ulid(1)
LONG = 2 * SNAPSHOT_EVERY + 9

CHILD = """
import os, signal, sys
from holdfast.core.commands import Note
from holdfast.errors import Conflict
from holdfast.stores.files import FilesStore
from tests.stores.contract import change, ulid

store = FilesStore(sys.argv[1], wait=60)
data = open(sys.argv[2], "rb").read()
"""
KILLED = """
left = int(sys.argv[3])

def counted(call):
    def counting(*args, **how):
        global left
        left -= call.__name__ != "open" or bool(args[1] & os.O_CREAT)
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **how)
    return counting

for name in ("open", "pwrite", "fdatasync", "fsync", "rename", "unlink", "mkdir", "ftruncate"):
    setattr(os, name, counted(getattr(os, name)))
"""
AT_ONCE = """
print("ready", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def there(tmp_path):
    """The store of another clone."""
    return FilesStore(str(tmp_path / "there" / ".holdfast"))


@pytest.fixture
def home(tmp_path):
    return str(tmp_path / "here" / ".holdfast")


@pytest.fixture
def here(home):
    return FilesStore(home)


def note(store, *texts, name=NAME):
    for text in texts:
        store.settle(store.commit(name, change(Note(text))))
    return store.export(name)


def grown(store, count):
    """A journal of so many lines."""
    create(store)
    return note(store, *(f"note {number}" for number in range(2, count + 1)))


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


def files(home):
    """Everything on disk, with its content."""
    return {str(path): path.read_bytes() for path in Path(home).rglob("*") if path.is_file()}


def forged(*bodies):
    """A journal that is whole by every sum, and says what somebody wanted it to say."""
    lines, prev = [], FIRST
    for number, body in enumerate(bodies, 1):
        text = head(number, number - 1, prev) + json.dumps(body, separators=(",", ":")).encode()[1:-1]
        lines.append(text + seal(text))
        prev = json.loads(lines[-1])["sum"]
    return b"".join(lines)


def bodies(data):
    frame = ("seq", "synced", "prev", "sum")
    return [{k: v for k, v in json.loads(line).items() if k not in frame} for line in data.splitlines()]


def agreed(home):
    """The store, once what dead processes left is settled: no marks are left, and index and journals say the same."""
    store = FilesStore(home)
    for name in store.unsettled():
        store.settle(store.load(name))
    assert FilesStore(home).unsettled() == []
    assert not os.path.exists(os.path.join(home, "unsettled")) or os.listdir(os.path.join(home, "unsettled")) == []
    listed = {entry.ulid: entry for entry in store.entries()}
    assert sorted(listed) == sorted(store.every())
    for name, entry in listed.items():
        assert entry_of(replay(store.history(name))).says_the_same_as(entry)
        assert FilesStore(home).load(name) == replay(store.history(name))
    return store


# How a copy stands


def test_an_export_is_the_journal_byte_for_byte_and_without_a_torn_tail(there):
    data = grown(there, 5)
    assert data == read(there.file_of(NAME))
    with open(there.file_of(NAME), "ab") as file:
        file.write(b'{"seq":6,"syn')
    assert there.export(NAME) == data


def test_an_export_of_a_journal_that_is_damaged_below_its_snapshot_is_refused(there):
    data = grown(there, LONG)
    write(there.file_of(NAME), data[:300].replace(b"release", b"refease") + data[300:])
    with pytest.raises(Broken) as caught:
        FilesStore(os.path.dirname(os.path.dirname(os.path.dirname(there.file_of(NAME))))).export(NAME)
    assert (caught.value.code, caught.value.facts["offset"]) == ("journal_damaged", 0)


def test_what_is_not_here_cannot_be_exported(here):
    with pytest.raises(NotFound):
        here.export(NAME)


def test_every_way_a_copy_can_stand_to_what_is_here(there, here):
    short, data = grown(there, 3), note(there, "4", "5")
    assert here.compare(data) == Standing(NAME, "unknown", 0, 0, 5)
    here.fast_forward(short)
    assert here.compare(short) == Standing(NAME, "same", 3, 3, 3)
    assert here.compare(data) == Standing(NAME, "ahead", 3, 3, 5)
    assert there.compare(short) == Standing(NAME, "behind", 3, 5, 3)
    note(here, "another")
    assert here.compare(data) == Standing(NAME, "forked", 3, 4, 5)
    assert here.compare(short) == Standing(NAME, "behind", 3, 4, 3)


def test_two_that_share_only_the_first_line_or_not_even_that_are_forked(there, here):
    first = grown(there, 1)
    data = note(there, "one")
    here.fast_forward(first)
    note(here, "two")
    assert here.compare(data) == Standing(NAME, "forked", 1, 2, 2)
    other = forged({**bodies(first)[0], "at": "2026-02-02T00:00:00.000Z"})
    assert here.compare(other) == Standing(NAME, "forked", 0, 2, 1)


def test_comparing_changes_nothing(there, here, home):
    short, data = grown(there, 3), note(there, "4")
    here.compare(data)
    assert files(home) == {}
    here.settle(here.fast_forward(short))
    before = files(home)
    for copy in (short, data):
        here.compare(copy)
        FilesStore(home).compare(copy)
    assert files(home) == before


# Taking a copy in


@pytest.mark.parametrize("count", [1, 3, LONG])
def test_a_new_one_is_here_with_exactly_its_lines_and_in_the_index(there, here, home, count):
    data = grown(there, count)
    state = here.fast_forward(data)
    assert state == there.load(NAME) == FilesStore(home).load(NAME)
    assert read(here.file_of(NAME)) == data
    assert [entry.ulid for entry in FilesStore(home).entries()] == [NAME]
    here.settle(state)
    assert agreed(home).finished_count() == 0


def test_one_that_is_ahead_brings_the_missing_lines_and_the_index_learns_of_an_end(there, here, home):
    here.settle(here.fast_forward(grown(there, 4)))
    there.commit(NAME, change(Cancel()))
    data = there.export(NAME)
    state = here.fast_forward(data)
    assert (state.revision, state.cancelled is None) == (5, False)
    assert read(here.file_of(NAME)) == data
    here.settle(state)
    store = agreed(home)
    assert ([entry.status for entry in store.entries()], store.finished_count()) == (["cancelled"], 1)


def test_what_is_the_same_or_behind_changes_nothing(there, here, home):
    short, data = grown(there, 3), note(there, "4")
    here.settle(here.fast_forward(data))
    before = files(home)
    for copy in (data, short):
        assert here.fast_forward(copy).revision == 4
        assert FilesStore(home).supersede(copy, "mine").revision == 4
    assert files(home) == before


def test_a_fork_is_refused_with_what_differs_and_changes_nothing(there, here, home):
    here.settle(here.fast_forward(grown(there, 3)))
    note(here, "ours")
    data = note(there, "theirs", "and more")
    before = files(home)
    with pytest.raises(Conflict) as caught:
        here.fast_forward(data, "workflow/one/journal.jsonl")
    assert (caught.value.code, caught.value.remedy) == ("journal_forked", "holdfast feature recover")
    assert caught.value.facts == {"ulid": NAME, "common": 3, "ours": 4, "theirs": 5}
    assert "workflow/one/journal.jsonl" in caught.value.message
    assert files(home) == before


def test_work_goes_on_from_clone_to_clone_and_the_chain_holds(there, here, home):
    data = grown(there, 3)
    for turn in range(4):
        for store in (here, there):
            store.settle(store.fast_forward(data))
            data = note(store, f"turn {turn}")
    here.fast_forward(data)
    assert revisions(here, NAME) == list(range(1, 12))
    assert notes(here, NAME) == ["note 2", "note 3", *(f"turn {turn}" for turn in range(4) for _ in range(2))]
    assert here.export(NAME) == there.export(NAME) == data


def test_long_journals_are_loaded_by_a_snapshot_that_is_the_fold_of_what_came(there, here, home):
    base = grown(there, SNAPSHOT_EVERY + 6)
    here.settle(here.fast_forward(base))
    data = note(there, *(f"later {number}" for number in range(SNAPSHOT_EVERY)))
    state = here.fast_forward(data)
    snapshot = os.path.join(home, "state", NAME[-2:].lower(), f"{NAME}.json")
    kept = json.loads(read(snapshot).partition(b"\n")[2])
    assert kept["position"]["seq"] == kept["state"]["revision"] == state.revision == 2 * SNAPSHOT_EVERY + 6
    note(here, *(f"here {number}" for number in range(SNAPSHOT_EVERY)))
    assert agreed(home).load(NAME).revision == 3 * SNAPSHOT_EVERY + 6


def test_a_torn_tail_and_a_journal_without_a_first_line_give_way(there, here, home):
    short, data = grown(there, 3), note(there, "4")
    write(here.file_of(NAME), short[:40])
    assert here.compare(short).kind == "unknown"
    here.settle(here.fast_forward(short))
    assert read(here.file_of(NAME)) == short
    write(here.file_of(NAME), short + b'{"seq":4,')
    assert FilesStore(home).compare(data) == Standing(NAME, "ahead", 3, 3, 4)
    FilesStore(home).fast_forward(data)
    assert read(here.file_of(NAME)) == data


def test_a_damaged_journal_here_is_not_written_over(there, here, home):
    short, data = grown(there, 3), note(there, "4")
    here.fast_forward(short)
    damaged = short.replace(b"note 2", b"note 7")
    write(here.file_of(NAME), damaged)
    for call in (FilesStore.compare, FilesStore.fast_forward, lambda store, copy: store.supersede(copy, "x")):
        with pytest.raises(Broken) as caught:
            call(FilesStore(home), data)
        assert caught.value.code == "journal_damaged"
    assert read(here.file_of(NAME)) == damaged


def test_an_id_that_is_active_here_as_another_workflow_is_refused(there, here, home):
    data = grown(there, 2)
    create(here, 2, id="release-1")
    with pytest.raises(Conflict) as caught:
        here.fast_forward(data)
    assert caught.value.code == "already_started"
    assert list(agreed(home).every()) == [ulid(2)]


def test_an_old_finished_one_is_counted_once(there, here, home):
    create(there, at="2020-01-01T00:00:00.000Z")
    there.commit(NAME, change(Cancel(), at="2020-01-01T00:00:00.000Z"))
    for number in range(2, NEWEST + 2):
        name = create(here, number)
        here.settle(here.commit(name, change(Cancel())))
    here.settle(here.fast_forward(there.export(NAME)))
    assert NAME not in [entry.ulid for entry in here.entries()]
    assert FilesStore(home).finished_count() == NEWEST + 1


def test_what_is_written_is_for_its_owner_only(there, here, home):
    base = grown(there, LONG)
    old = os.umask(0)
    try:
        here.fast_forward(base)
        note(here, "ours")
        here.supersede(note(there, "theirs"), "kept")
    finally:
        os.umask(old)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in Path(home).rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in Path(home).rglob("*") if path.is_dir()} == {0o700}


# A person decides for the copy


def forks(there, here, count=3):
    """The lines here and there after a shared beginning."""
    here.settle(here.fast_forward(grown(there, count)))
    return note(here, "ours", "and ours"), note(there, "theirs")


@pytest.mark.parametrize("count", [1, SNAPSHOT_EVERY - 1, LONG])
def test_the_copy_takes_the_place_of_ours_which_is_kept(there, here, home, count):
    ours, theirs = forks(there, here, count)
    state = here.supersede(theirs, "2026-01-01.a")
    assert state == there.load(NAME) == FilesStore(home).load(NAME)
    assert read(here.file_of(NAME)) == theirs
    assert read(os.path.join(home, "archive", f"{NAME}-2026-01-01.a.jsonl")) == ours
    here.settle(state)
    note(here, "on")
    assert notes(agreed(home), NAME)[-2:] == ["theirs", "on"]


def test_the_index_learns_what_the_copy_says(there, here, home):
    here.settle(here.fast_forward(grown(there, 3)))
    finish(here, NAME)
    assert here.finished_count() == 1
    here.settle(here.supersede(note(there, "theirs"), "kept"))
    assert [entry.active for entry in agreed(home).entries()] == [True]
    assert FilesStore(home).finished_count() == 0


def test_a_decision_that_comes_again_after_work_went_on_undoes_nothing(there, here, home):
    ours, theirs = forks(there, here)
    here.settle(here.supersede(theirs, "kept"))
    after = note(here, "on")
    here.supersede(theirs, "kept")
    assert here.export(NAME) == after
    assert read(os.path.join(home, "archive", f"{NAME}-kept.jsonl")) == ours


def test_what_was_kept_before_is_never_written_over(there, here, home):
    ours, theirs = forks(there, here)
    archive = write(os.path.join(home, "archive", f"{NAME}-kept.jsonl"), theirs)
    with pytest.raises(Conflict) as caught:
        here.supersede(theirs, "kept")
    assert caught.value.code == "archive_exists"
    assert (read(archive), here.export(NAME)) == (theirs, ours)


@pytest.mark.parametrize("kept", ["", "../x", "a/b", ".x", "a\nb", "ä", "x" * 65])
def test_a_bad_name_for_what_is_kept_is_refused(there, here, home, kept):
    ours, theirs = forks(there, here)
    with pytest.raises(UsageError) as caught:
        here.supersede(theirs, kept)
    assert caught.value.code == "bad_name"
    assert here.export(NAME) == ours


# Others who have the journal open


def test_who_has_it_open_goes_on_after_a_fast_forward(there, here, home):
    here.settle(here.fast_forward(grown(there, 3)))
    reader, writer = FilesStore(home), FilesStore(home)
    reader.load(NAME), writer.load(NAME)
    data = note(there, "4", "5")
    here.settle(here.fast_forward(data))
    assert reader.load(NAME) == there.load(NAME)
    assert note(writer, "6").startswith(data)
    assert [reader.load(NAME).revision, here.load(NAME).revision] == [6, 6]


@pytest.mark.parametrize(
    "call",
    [lambda store: store.load(NAME), lambda store: store.commit(NAME, change(Note("n")))],
    ids=["load", "commit"],
)
def test_who_read_what_was_superseded_is_told_so_once_and_then_sees_the_copy(there, here, home, call):
    _, theirs = forks(there, here)
    other = FilesStore(home)
    other.load(NAME)
    here.settle(here.supersede(theirs, "kept"))
    with pytest.raises(Conflict) as caught:
        call(other)
    assert (caught.value.code, caught.value.remedy) == ("journal_changed", "run the command again")
    assert read(here.file_of(NAME)) == theirs
    call(other)
    assert notes(agreed(home), NAME)[2] == "theirs"


def test_who_read_only_what_both_share_goes_on_with_the_copy(there, here, home):
    other = FilesStore(home)
    here.settle(here.fast_forward(grown(there, 3)))
    other.load(NAME)
    note(here, "ours")
    here.settle(here.supersede(note(there, "theirs"), "kept"))
    note(other, "on")
    assert notes(agreed(home), NAME) == ["note 2", "note 3", "theirs", "on"]


# Several processes at once


def child(home, script, data, *more):
    words = [sys.executable, "-c", CHILD + script, home, data, *more]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(words, text=True, cwd=REPOSITORY, **pipes)


def at_once(*processes):
    """Lets processes that wait continue together; what each said."""
    try:
        for process in processes:
            assert process.stdout.readline() == "ready\n", process.stderr.read()
        for process in processes:
            process.stdin.write("go\n")
            process.stdin.flush()
        said = [process.communicate(timeout=120) for process in processes]
        assert [process.returncode for process in processes] == [0] * len(processes), said
        return [out for out, _ in said]
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_processes_that_bring_the_same_workflow_at_once_end_with_the_longest(tmp_path, there, home):
    copies = [grown(there, 20)] + [note(there, *map(str, range(turn, turn + 20))) for turn in (20, 40, 60)]
    script = AT_ONCE + "store.settle(store.fast_forward(data))"
    for turn in range(3):
        paths = [write(str(tmp_path / f"{number}.jsonl"), data) for number, data in enumerate(copies)]
        at_once(*(child(home, script, path) for path in paths))
        assert agreed(home).export(NAME) == copies[-1], turn
        shutil.rmtree(home)


def test_a_fast_forward_beside_commits_ends_in_one_chain(tmp_path, there, home):
    """Either the copy came first and the notes follow it, or a note came first and the copy is refused."""
    base = grown(there, 10)
    path = write(str(tmp_path / "copy.jsonl"), note(there, *map(str, range(20))))
    forward = """
try:
    store.settle(store.fast_forward(data))
    print("taken")
except Conflict as refusal:
    print(refusal.code)
"""
    commits = 'for turn in range(20):\n    store.settle(store.commit(ulid(1), change(Note(f"mine {turn}"))))'
    for _ in range(4):
        store = FilesStore(home)
        store.settle(store.fast_forward(base))
        loaded = "store.load(ulid(1))" + AT_ONCE
        said, _ = at_once(child(home, loaded + forward, path), child(home, loaded + commits, path))
        after = agreed(home).export(NAME)
        taken = said == "taken\n"
        assert taken or said == "journal_forked\n"
        assert after.startswith(read(path) if taken else base)
        mine = [text for text in notes(FilesStore(home), NAME) if text.startswith("mine")]
        assert mine == [f"mine {turn}" for turn in range(20)]
        assert after.count(b"\n") == (50 if taken else 30)
        shutil.rmtree(home)


def test_a_decision_made_by_several_processes_at_once_is_made_once(tmp_path, there, here, home):
    ours, theirs = forks(there, here)
    path = write(str(tmp_path / "copy.jsonl"), theirs)
    script = AT_ONCE + 'store.settle(store.supersede(data, "kept"))'
    at_once(*(child(home, script, path) for _ in range(3)))
    assert agreed(home).export(NAME) == theirs
    assert read(os.path.join(home, "archive", f"{NAME}-kept.jsonl")) == ours


# Processes that die


def killed_before_every_call(tmp_path, base, script, data):
    """What is left of a home when a process is killed before each call that may change something, in turn."""
    path = write(str(tmp_path / "copy.jsonl"), data)
    for number in range(200):
        home = str(tmp_path / "killed" / ".holdfast")
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(base, home)
        process = child(home, KILLED + script, path, str(number))
        _, complaint = process.communicate(timeout=60)
        if process.returncode == 0:
            assert number > 10
            return
        assert process.returncode == -signal.SIGKILL, complaint
        yield home
    raise AssertionError("the process never came to its end")


def repeated(home, take):
    """Does again what a killed process was at; nothing unfinished is left."""
    agreed(home)
    store = FilesStore(home)
    store.settle(take(store))
    assert [path for path in files(home) if os.path.basename(path).startswith(".")] == []
    return agreed(home)


def journal(home):
    path = FilesStore(home).file_of(NAME)
    return read(path) if os.path.exists(path) else None


def test_a_killed_process_brought_all_of_a_new_workflow_or_nothing(tmp_path, there, home):
    data = grown(there, SNAPSHOT_EVERY + 1)
    create(FilesStore(home), 2)
    seen = set()
    for left in killed_before_every_call(tmp_path, home, "store.settle(store.fast_forward(data))", data):
        seen.add(journal(left))
        assert repeated(left, lambda store: store.fast_forward(data)).export(NAME) == data
    assert seen == {None, data}


def test_a_killed_process_brought_all_missing_lines_or_none(tmp_path, there, here, home):
    base = grown(there, 3)
    here.settle(here.fast_forward(base))
    note(there, "4")
    there.commit(NAME, change(Cancel()))
    data = there.export(NAME)
    seen = set()
    for left in killed_before_every_call(tmp_path, home, "store.settle(store.fast_forward(data))", data):
        seen.add(journal(left))
        store = repeated(left, lambda store: store.fast_forward(data))
        assert (store.export(NAME), store.finished_count()) == (data, 1)
    assert seen == {base, data}


def test_a_killed_process_never_leaves_ours_lost_and_its_decision_can_be_repeated(tmp_path, there, here, home):
    ours, theirs = forks(there, here, SNAPSHOT_EVERY)
    seen = set()
    for left in killed_before_every_call(tmp_path, home, 'store.settle(store.supersede(data, "kept"))', theirs):
        archive = os.path.join(left, "archive", f"{NAME}-kept.jsonl")
        kept = read(archive) if os.path.exists(archive) else None
        seen.add((journal(left), kept))
        store = repeated(left, lambda store: store.supersede(theirs, "kept"))
        assert (store.export(NAME), read(archive)) == (theirs, ours)
    assert seen == {(ours, None), (ours, ours), (theirs, ours)}


# Copies that cannot be believed


def refused(store, data):
    with pytest.raises(Broken) as caught:
        store.compare(data, "a copy")
    assert (caught.value.code, caught.value.facts["name"]) == ("copy_damaged", "a copy"), caught.value
    return caught.value.facts["offset"], caught.value.facts["line"]


def test_a_byte_that_changed_anywhere_is_found_with_its_line(there, here):
    data = grown(there, 3)
    starts = [0, *(number + 1 for number, byte in enumerate(data) if byte == ord("\n"))]
    for number in range(len(data)):
        line = sum(start <= number for start in starts)
        flipped = data[:number] + bytes([data[number] ^ 1]) + data[number + 1 :]
        assert refused(here, flipped) == (starts[line - 1], line), number


def test_a_copy_that_was_cut_is_damaged_unless_whole_lines_are_left(there, here):
    data = grown(there, 3)
    for number in range(len(data)):
        if number and data[number - 1] == ord("\n"):
            assert there.compare(data[:number]).kind == "behind"
        else:
            offset, line = refused(here, data[:number])
            assert (offset, line) == (data.rfind(b"\n", 0, number) + 1, data.count(b"\n", 0, number) + 1)


def test_lines_out_of_order_missing_twice_or_of_another_journal_are_damage(there, here):
    one, two, three, four = grown(there, 4).splitlines(keepends=True)
    create(there, 2)
    foreign = note(there, "2", "3", name=ulid(2)).splitlines(keepends=True)
    for lines, number in (
        ([one, three, two, four], 2),
        ([one, two, four], 3),
        ([one, two, two, three], 3),
        ([one, two, foreign[2], four], 3),
        ([one, two, foreign[2]], 3),
        ([foreign[0], two, three], 2),
        ([two, three, four], 1),
        ([one, b"\n", two], 2),
        ([one, two, three, four, b"\n"], 5),
        ([b"\xef\xbb\xbf" + one, two], 1),
        ([one.replace(b"\n", b"\r\n"), two.replace(b"\n", b"\r\n")], 1),
    ):
        assert refused(here, b"".join(lines)) == (sum(map(len, lines[: number - 1])), number)


def nested(depth):
    value: object = "x"
    for _ in range(depth):
        value = {"x": value}
    return value


FORGERIES = {
    "no ULID": lambda first, second: [{**first, "events": [{**first["events"][0], "ulid": "../../etc/passwd"}]}],
    "a ULID in small letters": lambda first, second: [
        {**first, "events": [{**first["events"][0], "ulid": NAME.lower()}]}
    ],
    "a ULID that is a number": lambda first, second: [{**first, "events": [{**first["events"][0], "ulid": 7}]}],
    "nothing that starts": lambda first, second: [second],
    "a start that comes late": lambda first, second: [{**first, "events": [*second["events"], *first["events"]]}],
    "no events": lambda first, second: [{**first, "events": []}],
    "no command": lambda first, second: [{k: v for k, v in first.items() if k != "command"}],
    "an id that is no text": lambda first, second: [{**first, "events": [{**first["events"][0], "id": 7}]}],
    "a title that is no Unicode": lambda first, second: [
        {**first, "events": [{**first["events"][0], "title": "\ud800"}]}
    ],
    "a context that is too deep": lambda first, second: [
        {**first, "events": [{**first["events"][0], "context": nested(900)}]}
    ],
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=list(FORGERIES))
def test_whole_lines_that_say_what_no_journal_says_are_refused(there, here, home, forge):
    data = forged(*forge(*bodies(grown(there, 2))))
    assert refused(here, data) == (0, 1)
    for call in (here.fast_forward, lambda copy: here.supersede(copy, "kept")):
        with pytest.raises(Broken):
            call(data)
    assert files(home) == {}


def test_a_second_workflow_in_the_same_journal_is_refused(there, here):
    first, second = bodies(grown(there, 2))
    other = {**first, "events": [{**first["events"][0], "ulid": ulid(2)}]}
    assert refused(here, forged(first, second, other))[1] == 3
    assert refused(here, forged(first, second, first))[1] == 3
    assert refused(here, forged({**first, "events": first["events"] + other["events"]}))[1] == 1


def test_a_forged_journal_that_says_something_possible_is_as_good_as_any(there, here):
    """What keeps the forgeries above honest: nothing but what they say is wrong with them."""
    here.settle(here.fast_forward(forged(*bodies(grown(there, 3)))))
    assert notes(here, NAME) == ["note 2", "note 3"]


@pytest.mark.parametrize(("version", "code"), [(VERSION + 1, "newer_version"), (1, "older_version")])
def test_a_copy_of_another_version_is_refused_and_says_which(there, here, version, code):
    first, second = bodies(grown(there, 2))
    with pytest.raises(Broken) as caught:
        here.fast_forward(forged(first, {**second, "v": version}))
    assert caught.value.code == code


@pytest.mark.parametrize("where", ["line", "event", "value"])
def test_a_copy_with_a_field_that_is_not_known_here_is_of_a_newer_version(there, here, where):
    first, second = bodies(grown(there, 2))
    held = {"line": second, "event": second["events"][0], "value": second["actor"]}[where]
    held["invented"] = 1
    with pytest.raises(Broken) as caught:
        here.fast_forward(forged(first, second))
    assert caught.value.code == "newer_version"


def test_a_copy_that_is_too_large_is_refused_before_it_is_read(here):
    assert refused(here, bytes(LARGEST_COPY + 1)) == (LARGEST_COPY, 1)


def test_the_name_of_a_copy_cannot_write_to_a_terminal(here):
    with pytest.raises(Broken) as caught:
        here.compare(b"", "a\x1b[2J\nb")
    assert "a\\x1b[2J\\nb is damaged" in caught.value.message
