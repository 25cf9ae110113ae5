"""The journal: nothing acknowledged is lost silently, nothing unacknowledged is in the way."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.errors import Broken, Conflict, HoldfastError, NotFound, OutcomeUnknown, UsageError
from holdfast.plain.digest import digest
from holdfast.stores.journal import Journal
from holdfast.stores.lines import LONGEST_LINE, Line, Position
from tests.tiers import need

BODY = b'{"at":"2026-01-01","n":%d}'

CHILD = """
import sys
from holdfast.errors import HoldfastError
from holdfast.stores.journal import Journal
path = sys.argv[1]
def write(journal, number, sync=True):
    with journal.writing() as new:
        line = journal.append(b'{"n":%d}' % number)
    if sync:
        journal.sync()
    return line
def attempt(action, *arguments):
    try:
        action(*arguments)
        print("done")
    except HoldfastError as error:
        print(type(error).__name__, error.code)
"""

WRITER = """
for number in range(int(sys.argv[2])):
    line = write(journal, number)
    print(line.seq, number, flush=True)
"""


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "journal" / "ab" / "one.jsonl")


def framed(seq, synced, prev, body):
    head = f'{{"seq":{seq},"synced":{synced},"prev":"{prev}",'.encode()
    text = head + body[1:-1]
    return text + f',"sum":"{digest(text)[:16]}"}}\n'.encode()


def chain(marks, body=BODY):
    """Lines as they must be on disk, one per mark."""
    lines, prev = [], "0" * 16
    for seq, mark in enumerate(marks, 1):
        lines.append(framed(seq, mark, prev, body % seq if b"%d" in body else body))
        prev = json.loads(lines[-1])["sum"]
    return lines


def stored(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


def content(path):
    with open(path, "rb") as file:
        return file.read()


def write(journal, number, sync=True):
    with journal.writing():
        line = journal.append(BODY % number)
    if sync:
        journal.sync()
    return line


def numbers(path):
    with Journal(path) as journal:
        return [line.body["n"] for line in journal.history()]


def child(path, code, *strace, argument="0"):
    """What a process of its own printed, and its system calls on the journal where strace was asked for."""
    if strace:
        need("strace")
    log = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(path))), "trace")
    watched = "trace=pwrite64,ftruncate,fdatasync,fsync,flock"
    command = ["strace", "-f", "-y", "-o", log, "-e", watched, *strace] if strace else []
    ran = subprocess.run(
        [*command, sys.executable, "-c", CHILD + code, path, argument], check=True, capture_output=True, text=True
    )
    return ran.stdout.splitlines(), content(log).decode() if strace else ""


# --- the file ------------------------------------------------------------------------------------------------------


def test_a_line_is_framed_with_its_number_its_mark_the_sum_before_and_its_own(path):
    with Journal.create(path, BODY % 1) as journal:
        write(journal, 2)
        write(journal, 3, sync=False)
        write(journal, 4)
        write(journal, 5)
    assert content(path) == b"".join(chain([0, 1, 2, 2, 4]))


def test_a_new_journal_is_private(tmp_path, path):
    before = os.umask(0)
    try:
        Journal.create(path, BODY % 1).close()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(os.stat(place).st_mode) for place in (path, tmp_path / "journal", tmp_path / "journal/ab")]
    assert modes == [0o600, 0o700, 0o700]


def test_a_new_journal_syncs_its_line_then_every_name_on_the_way(tmp_path, path):
    shown, calls = child(path, "attempt(Journal.create, path, b'{\"n\":1}')", "-e", "signal=none")
    assert shown == ["done"]
    synced = re.findall(r"(fdatasync|fsync)\(\d+<([^>]*)>\) *= 0", calls)
    assert synced[0] == ("fdatasync", path)
    assert sorted(synced[1:]) == sorted(
        ("fsync", str(place)) for place in (tmp_path, tmp_path / "journal", tmp_path / "journal" / "ab")
    )


def test_a_journal_is_created_once(path):
    Journal.create(path, BODY % 1).close()
    with pytest.raises(Conflict) as refused:
        Journal.create(path, BODY % 2)
    assert refused.value.code == "journal_exists"
    assert numbers(path) == [1]


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ("pwrite64:error=ENOSPC", "HoldfastError disk_full"),
        ("fdatasync:error=EIO", "OutcomeUnknown sync_failed"),
        ("fsync:error=EIO", "OutcomeUnknown sync_failed"),
    ],
)
def test_a_journal_whose_creation_fails_is_removed_again(path, fault, outcome):
    shown, _ = child(path, "attempt(Journal.create, path, b'{\"n\":1}')", "-e", f"inject={fault}")
    assert shown == [outcome]
    assert not os.path.exists(path)


def test_a_journal_that_does_not_exist_is_not_found(path):
    with pytest.raises(NotFound) as refused:
        Journal(path)
    assert refused.value.code == "no_journal"


def test_a_journal_whose_creation_was_cut_short_holds_nothing_and_takes_nothing(path):
    for data in (b"", chain([0])[0][:-5], b"\0" * 100):
        with Journal(stored(path, data)) as journal:
            assert journal.read() == []
            with pytest.raises(NotFound), journal.writing():
                pass


# --- reading and writing -------------------------------------------------------------------------------------------


def test_each_handle_gets_every_line_once_whoever_wrote_it(path):
    with Journal.create(path, BODY % 1) as first, Journal(path) as second:
        assert [line.seq for line in second.read()] == [1]
        assert second.read() == []
        write(first, 2)
        with second.writing() as new:
            assert [line.body["n"] for line in new] == [2]
            second.append(BODY % 3)
            second.append(BODY % 4)
        assert second.read() == []
        assert [line.seq for line in first.read()] == [3, 4]
        assert first.position == second.position


def test_reading_when_nothing_is_new_touches_only_the_size(path):
    Journal.create(path, BODY % 1).close()
    code = "journal = Journal(path); journal.read(); write(journal, 2); [journal.read() for _ in range(50)]"
    _, calls = child(path, code, "-P", path, "-e", "trace=pread64,read,fstat,newfstatat")
    assert len(re.findall(r"pread64\(", calls)) == 2  # the first reading, and the line written again
    assert len(re.findall(r"fstat\(|newfstatat\(\d+<", calls)) >= 50


def test_a_line_says_where_it_lies(path):
    lines = chain([0, 0])
    with Journal(stored(path, b"".join(lines))) as journal:
        first, second = journal.read()
        assert (first.start, first.end, second.start, second.end) == (
            0,
            len(lines[0]),
            len(lines[0]),
            sum(map(len, lines)),
        )
        assert second == Line(
            seq=2, synced=0, body=json.loads(lines[1]), start=second.start, end=second.end, sum=second.body["sum"]
        )
        assert journal.position == Position(seq=2, start=second.start, end=second.end, sum=second.sum)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[1]",
        b'"text"',
        b'{"a":1',
        b'{"a":1}\n',
        b'{"a":\n1}',
        b'{"a":"' + b"x" * LONGEST_LINE + b'"}',
    ],
    ids=lambda body: repr(body[:20]),
)
def test_what_is_not_one_object_on_one_line_is_not_written(path, body):
    with Journal.create(path, BODY % 1) as journal:
        before = content(path)
        with journal.writing(), pytest.raises(UsageError) as refused:
            journal.append(body)
        assert refused.value.code == "unfit_line"
        assert content(path) == before
        assert write(journal, 2).seq == 2


def test_lines_are_appended_only_while_writing_and_writing_is_not_nested(path):
    with Journal.create(path, BODY % 1) as journal:
        with pytest.raises(RuntimeError):
            journal.append(BODY % 2)
        with journal.writing(), pytest.raises(RuntimeError), journal.writing():
            pass
        assert write(journal, 2).seq == 2


def test_history_starts_where_asked_and_moves_nothing(path):
    with Journal(stored(path, b"".join(chain([0, 1, 2, 3])))) as journal:
        assert [line.seq for line in journal.history()] == [1, 2, 3, 4]
        assert [line.seq for line in journal.history(after=2)] == [3, 4]
        assert journal.position is None


def test_a_journal_larger_than_a_block_is_read_whole(path):
    body = b'{"at":"' + b"x" * 300_000 + b'"}'
    with Journal(stored(path, b"".join(chain([0] * 12, body)))) as journal:
        assert [line.seq for line in journal.read()] == list(range(1, 13))


# --- positions -----------------------------------------------------------------------------------------------------


def test_a_position_taken_elsewhere_is_where_reading_goes_on(path):
    with Journal(stored(path, b"".join(chain([0, 1, 2, 3])))) as journal:
        kept = [Position(seq=li.seq, start=li.start, end=li.end, sum=li.sum) for li in journal.read()]
    for place in kept:
        with Journal(path) as journal:
            assert journal.seek(place)
            assert journal.position == place
            assert journal.synced == place.seq - 1
            assert [line.seq for line in journal.read()] == list(range(place.seq + 1, 5))


@pytest.mark.parametrize(
    "change",
    [
        {"seq": 3},
        {"sum": "0" * 16},
        {"start": 0},
        {"start": -1},
        {"end": 5},
        {"end": 10**6},
        {"end": 10**12},
        {"start": 10**6, "end": 10**6 + 10},
    ],
    ids=str,
)
def test_a_position_that_does_not_fit_leaves_the_journal_at_its_beginning(path, change):
    with Journal(stored(path, b"".join(chain([0, 1, 2])))) as journal:
        line = journal.read()[1]
    place = Position(seq=line.seq, start=line.start, end=line.end, sum=line.sum)
    with Journal(path) as journal:
        assert not journal.seek(place.replace(**change))
        assert journal.position is None
        assert len(journal.read()) == 3


def test_a_position_above_lines_that_are_lost_does_not_fit(path):
    """Lines 2 and 3 were not known to be durable when line 4 was written, and 2 did not survive."""
    lines = chain([0, 1, 1, 1])
    with Journal(stored(path, b"".join(lines))) as journal:
        journal.read()
        place = journal.position
        assert Journal(path).seek(place)
    stored(path, lines[0] + b"\0" * len(lines[1]) + lines[2] + lines[3])
    with Journal(path) as journal:
        assert not journal.seek(place)
        assert [line.seq for line in journal.read()] == [1]


# --- damage --------------------------------------------------------------------------------------------------------


def verdict(path, survivors, broken_at=None):
    """What both kinds of reading and a writer make of a file."""
    before = content(path)
    if broken_at is not None:
        offset, seq = broken_at
        for reading in (Journal.read, lambda journal: list(journal.history()), lambda journal: write(journal, 9)):
            with Journal(path) as journal, pytest.raises(Broken) as refused:
                reading(journal)
            assert refused.value.code == "journal_damaged"
            assert refused.value.remedy == "holdfast doctor"
            assert refused.value.facts == {"path": path, "offset": offset, "seq": seq}
        assert content(path) == before
        return
    with Journal(path) as journal:
        assert [line.seq for line in journal.history()] == list(range(1, len(survivors) + 1))
        assert len(journal.read()) == len(survivors)
        assert content(path) == before
        if survivors:
            write(journal, 9, sync=False)
            added = framed(len(survivors) + 1, journal.synced, json.loads(survivors[-1])["sum"], BODY % 9)
            assert content(path) == b"".join(survivors) + added


@pytest.mark.parametrize("marks", [[0, 1, 2, 3], [0, 1, 1, 1], [0, 0, 0, 2], [0, 0, 0, 0]], ids=str)
@pytest.mark.parametrize("damage", ["flip lowest bit", "flip case", "flip highest bit", "zero", "lose"])
def test_a_damaged_byte_anywhere_is_a_loss_if_its_line_was_acknowledged_and_a_torn_tail_otherwise(path, marks, damage):
    lines = chain(marks)
    whole = b"".join(lines)
    change = {
        "flip lowest bit": lambda byte: bytes([byte ^ 1]),
        "flip case": lambda byte: bytes([byte ^ 0x20]),
        "flip highest bit": lambda byte: bytes([byte ^ 0x80]),
        "zero": lambda byte: b"\0",
        "lose": lambda byte: b"",
    }[damage]
    start = 0
    for index, line in enumerate(lines):
        acknowledged = max(mark for other, mark in enumerate(marks) if other != index) >= index + 1
        for at in range(start, start + len(line)):
            stored(path, whole[:at] + change(whole[at]) + whole[at + 1 :])
            verdict(path, lines[:index], (start, index + 1) if acknowledged else None)
        start += len(line)


@pytest.mark.parametrize("tail", ["cut", "zeros"])
def test_a_journal_that_ends_early_at_any_byte_keeps_its_whole_lines(path, tail):
    lines = chain([0, 1, 2])
    whole = b"".join(lines)
    for at in range(len(whole)):
        kept = [line for number, line in enumerate(lines) if sum(map(len, lines[: number + 1])) <= at]
        stored(path, whole[:at] + (b"\0" * (len(whole) - at) if tail == "zeros" else b""))
        verdict(path, kept)


@pytest.mark.parametrize(
    "tail",
    [
        b"\0" * 4096,
        b"garbage",
        b"\n",
        b"\n\n\n",
        b"{}\n",
        b"null\n[]\n",
        b"\xff\xfe" * 500 + b"\n",
        b'{"seq":4,"syn\n{"seq":5,"synced":4,"pr',
        b'{"seq":4,"synced":3,"prev":"0123456789abcdef","n":4,"sum":"0123456789abcdef"}\n',
        framed(4, 3, "0" * 16, b'{"n":4}'),
        framed(5, 2, "0" * 16, b'{"n":5}'),
        framed(5, 2, json.loads(chain([0, 1, 2])[2])["sum"], b'{"n":5}'),
        b"\0" * 50 + framed(5, 3, "0" * 16, b'{"n":5}'),
        b"x" * (LONGEST_LINE + 10),
        b"x" * (LONGEST_LINE + 10) + b"\n",
    ],
    ids=lambda tail: f"{tail[:30]!r}-{len(tail)}",
)
def test_a_tail_that_nobody_was_promised_is_dropped_by_the_next_writer(path, tail):
    lines = chain([0, 1, 2])
    stored(path, b"".join(lines) + tail)
    verdict(path, lines)


@pytest.mark.parametrize(
    "between", [b"", b"\0" * 300, b"garbage", b"\n\n", b'{"seq":2,"synced":1,'], ids=lambda b: repr(b[:20])
)
def test_a_line_that_survives_behind_damage_proves_what_was_acknowledged(path, between):
    lines = chain([0, 1, 2, 3])
    stored(path, lines[0] + between + lines[2])
    verdict(path, lines[:1], (len(lines[0]), 2))
    unacknowledged = chain([0, 1, 1, 1])
    stored(path, unacknowledged[0] + between + unacknowledged[2])
    verdict(path, unacknowledged[:1])


def test_a_line_quoted_inside_another_proves_nothing(path):
    """An event may carry a copy of a line of some other journal."""
    quoted = framed(90, 80, "0" * 16, b'{"n":1}')[:-1]
    lines = chain([0, 1])
    torn = framed(
        3, 1, json.loads(lines[1])["sum"], b'{"copy":' + quoted + b',"list":[' + quoted + b"," + quoted + b"]}"
    )
    stored(path, b"".join(lines) + torn[:-4])
    verdict(path, lines)


def test_a_reader_leaves_a_write_under_way_alone_and_gets_the_line_when_it_is_whole(path):
    lines = chain([0, 1])
    with Journal(stored(path, lines[0])) as journal:
        journal.read()
        for at in range(1, len(lines[1])):
            stored(path, lines[0] + lines[1][:at])
            assert journal.read() == []
        stored(path, b"".join(lines))
        assert [line.seq for line in journal.read()] == [2]


def test_a_refused_reading_moves_nothing(path):
    lines = chain([0, 1, 2, 3])
    stored(path, lines[0] + lines[1][:-9] + lines[2] + lines[3])
    with Journal(path) as journal:
        with pytest.raises(Broken):
            journal.read()
        assert journal.position is None


def test_a_journal_that_became_shorter_is_a_loss_if_what_is_gone_was_durable(path):
    with Journal.create(path, BODY % 1) as journal:
        start = write(journal, 2).start
        os.truncate(path, start)
        with pytest.raises(Broken) as refused:
            journal.read()
        assert refused.value.facts["seq"] == 2
        with pytest.raises(Broken), journal.writing():
            pass


def test_what_this_handle_made_durable_itself_is_a_loss_without_any_mark_in_the_file(path):
    with Journal.create(path, BODY % 1) as journal:
        line = write(journal, 2)
        stored(path, content(path)[: line.start + 5])
        with pytest.raises(Broken) as refused:
            list(journal.history())
        assert refused.value.facts == {"path": path, "offset": line.start, "seq": 2}


def test_lines_that_changed_since_they_were_read_are_not_written_again(path):
    lines = chain([0, 0, 0])
    with Journal(stored(path, b"".join(lines))) as journal:
        journal.read()
        changed = stored(path, lines[0] + b"\0" * len(lines[1]) + lines[2])
        with pytest.raises(Conflict) as refused, journal.writing():
            pass
        assert refused.value.code == "journal_changed"
        assert content(changed) == lines[0] + b"\0" * len(lines[1]) + lines[2]


def test_a_journal_that_no_longer_holds_what_was_read_is_to_be_opened_anew(path):
    lines = chain([0, 0])
    with Journal(stored(path, b"".join(lines))) as journal:
        journal.read()
        stored(path, lines[0])
        with pytest.raises(Conflict) as refused:
            journal.read()
        assert refused.value.code == "journal_changed"


# --- moved away ----------------------------------------------------------------------------------------------------


def test_a_journal_that_was_moved_away_takes_no_more_lines(path):
    with Journal.create(path, BODY % 1) as journal:
        os.rename(path, path + ".archived")
        with pytest.raises(NotFound) as refused, journal.writing():
            pass
        assert refused.value.code == "no_journal"
    assert numbers(path + ".archived") == [1]


def test_a_journal_that_was_deleted_is_not_found_by_its_readers(path):
    with Journal.create(path, BODY % 1) as journal:
        os.unlink(path)
        with pytest.raises(NotFound):
            journal.read()


def test_a_copy_that_took_the_place_is_gone_on_with(path):
    with Journal.create(path, BODY % 1) as journal:
        write(journal, 2)
        stored(path + ".copy", content(path))
        os.rename(path + ".copy", path)
        assert write(journal, 3).seq == 3
    assert numbers(path) == [1, 2, 3]


def test_another_journal_that_took_the_place_is_not_written(path):
    with Journal.create(path, BODY % 1) as journal:
        other = b"".join(chain([0, 1], b'{"n":7}'))
        stored(path + ".other", other)
        os.rename(path + ".other", path)
        with pytest.raises(Conflict) as refused, journal.writing():
            pass
        assert refused.value.code == "journal_changed"
        assert content(path) == other


def test_a_journal_moved_while_its_lock_was_waited_for_is_seen_as_moved(path):
    Journal.create(path, BODY % 1).close()
    code = "print('up', flush=True); attempt(write, Journal(path, wait=60), 2)"
    with Journal(path) as journal:
        with journal.writing():
            waiter = subprocess.Popen([sys.executable, "-c", CHILD + code, path], stdout=subprocess.PIPE, text=True)
            inode = f":{os.stat(path).st_ino} "
            while not any("->" in row and inode in row for row in content("/proc/locks").decode().splitlines()):
                assert waiter.poll() is None
            os.rename(path, path + ".archived")
        assert waiter.communicate()[0].splitlines() == ["up", "NotFound no_journal"]


def test_a_lock_that_is_not_had_in_time_is_a_conflict_and_the_handle_can_try_again(path):
    with Journal.create(path, BODY % 1) as holder, Journal(path, wait=0.05) as other:
        with holder.writing(), pytest.raises(Conflict) as refused, other.writing():
            pass
        assert refused.value.code == "lock_timeout"
        assert write(other, 2).seq == 2


# --- a disk that refuses -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "code"),
    [("ENOSPC", "disk_full"), ("EDQUOT", "disk_full"), ("EIO", "write_failed"), ("EFBIG", "write_failed")],
)
def test_a_refused_write_changes_nothing_and_the_next_one_goes_on(path, fault, code):
    Journal.create(path, BODY % 1).close()
    code_ = "j = Journal(path); write(j, 2); attempt(write, j, 3); attempt(write, j, 4)"
    # The first write is the last line written again, the second is line 2.
    shown, calls = child(path, code_, "-e", f"inject=pwrite64:error={fault}:when=3")
    assert "INJECTED" in calls
    assert shown == [f"HoldfastError {code}", "done"]
    assert numbers(path) == [1, 2, 4]


def test_lines_that_a_failed_beginning_kept_back_are_given_by_the_next(path):
    stored(path, b"".join(chain([0, 1, 2])))
    code = """
journal = Journal(path)
attempt(write, journal, 4)
print(journal.position)
with journal.writing() as new:
    print(len(new))
"""
    shown, _ = child(path, code, "-e", "inject=pwrite64:error=ENOSPC:when=1")
    assert shown == ["HoldfastError disk_full", "None", "3"]


def test_a_disk_that_takes_only_a_part_of_a_line_keeps_none_of_it(path):
    with Journal.create(path, BODY % 1) as journal:
        write(journal, 2)
        before = content(path)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
        try:
            with pytest.raises(HoldfastError) as failed:
                write(journal, 3)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert failed.value.code == "write_failed"
        assert content(path) == before
        assert write(journal, 3).seq == 3
    assert numbers(path) == [1, 2, 3]


def test_a_part_that_cannot_be_cut_off_again_is_dropped_by_the_next_writer(path):
    Journal.create(path, BODY % 1).close()
    code = """
import resource
journal = Journal(path)
write(journal, 2)
size = journal.position.end
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, resource.RLIM_INFINITY))
attempt(write, journal, 3)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(__import__("os").stat(path).st_size - size)
attempt(write, journal, 4)
"""
    shown, _ = child(path, code, "-e", "inject=ftruncate:error=EIO:when=1")
    assert shown == ["HoldfastError write_failed", "20", "done"]
    assert numbers(path) == [1, 2, 4]


def test_a_disk_that_lies_about_a_part_is_found_out_by_the_sum(path):
    """Ten bytes are said to be written and are not: a hole in the last line, a torn tail until a mark is above it."""
    Journal.create(path, BODY % 1).close()
    code = "journal = Journal(path); write(journal, 2); write(journal, 3)"
    _, calls = child(path, code, "-e", "inject=pwrite64:retval=10:when=3")
    assert "INJECTED" in calls
    assert b"\0" * 10 in content(path)
    assert numbers(path) == [1, 2]
    with Journal(path) as journal:
        assert write(journal, 4).seq == 3
    assert numbers(path) == [1, 2, 4]
    _, calls = child(path, code + "; write(journal, 4)", "-e", "inject=pwrite64:retval=10:when=3")
    with Journal(path) as journal, pytest.raises(Broken) as refused:
        journal.read()
    assert refused.value.facts["seq"] == 5


# --- syncing -------------------------------------------------------------------------------------------------------


def test_a_sync_raises_the_mark_to_what_was_read_and_appended(path):
    with Journal.create(path, BODY % 1) as first, Journal(path) as second:
        assert first.synced == 1
        write(second, 2, sync=False)
        write(second, 3, sync=False)
        assert second.synced == 0
        second.sync()
        assert second.synced == 3
        first.read()
        assert first.synced == 1
        first.sync()
        assert first.synced == 3


def test_several_lines_share_one_sync_and_a_clean_journal_needs_none(path):
    Journal.create(path, BODY % 1).close()
    code = "j = Journal(path); [write(j, n, sync=False) for n in range(5)]; j.sync(); j.sync(); j.synced_read()"
    _, calls = child(path, code, "-e", "signal=none")
    assert len(re.findall(r"fdatasync\(", calls)) == 1


def test_the_sync_happens_after_the_lock_was_released(path):
    Journal.create(path, BODY % 1).close()
    _, calls = child(path, "write(Journal(path), 2)", "-e", "signal=none")
    order = re.findall(r"(LOCK_EX|LOCK_UN|fdatasync|pwrite64)", calls)
    assert order == ["LOCK_EX", "pwrite64", "pwrite64", "LOCK_UN", "fdatasync"]


def test_a_reader_syncs_once_before_it_shows_what_may_not_be_durable_and_sets_no_mark(path):
    """Its sync may succeed without pages that an earlier, failed one gave up: enough to show, not to write down."""
    stored(path, b"".join(chain([0, 1, 1])))
    code = "j = Journal(path); print(len(j.synced_read()), j.synced); j.synced_read(); write(j, 4); print(j.synced)"
    shown, calls = child(path, code, "-e", "signal=none")
    assert shown == ["3 1", "4"]
    order = re.findall(r"(fdatasync|pwrite64)", calls)
    assert order == ["fdatasync", "pwrite64", "pwrite64", "fdatasync"]
    with Journal(path) as journal:
        assert [line.synced for line in journal.read()] == [0, 1, 1, 1]


def rewritten(calls, path):
    """Place and length of every write to the journal, in order."""
    return [
        (int(at), int(size))
        for name, size, at in re.findall(r"pwrite64\(\d+<([^>]*)>, .*, (\d+), (\d+)\) *= \d+", calls)
        if name == path
    ]


def test_a_failed_sync_is_of_unknown_outcome_and_the_next_process_writes_everything_above_the_mark_again(path):
    with Journal.create(path, BODY % 1) as journal:
        write(journal, 2)
    code = "j = Journal(path); write(j, 3, sync=False); write(j, 4, sync=False); attempt(j.sync)"
    shown, _ = child(path, code, "-e", "inject=fdatasync:error=EIO")
    assert shown == ["OutcomeUnknown sync_failed"]
    lines = content(path).splitlines(keepends=True)
    assert [json.loads(line)["synced"] for line in lines] == [0, 1, 1, 1]
    before = content(path)
    shown, calls = child(path, "journal = Journal(path); write(journal, 5); print(journal.synced)", "-e", "signal=none")
    assert shown == ["5"]
    start = len(lines[0])
    assert rewritten(calls, path)[0] == (start, len(before) - start)
    assert content(path).startswith(before)
    assert len(numbers(path)) == 5


def test_lines_written_again_are_found_below_a_position_taken_from_a_snapshot(path):
    lines = chain([0, 1, 1, 1, 1])
    with Journal(stored(path, b"".join(lines))) as journal:
        place = journal.read()[-1]
    code = f"""
from holdfast.stores.lines import Position
journal = Journal(path)
print(journal.seek(Position(seq=5, start={place.start}, end={place.end}, sum={place.sum!r})))
write(journal, 6)
"""
    shown, calls = child(path, code, "-e", "signal=none")
    assert shown == ["True"]
    assert rewritten(calls, path)[0] == (len(lines[0]), len(b"".join(lines[1:])))
    assert content(path).startswith(b"".join(lines))


@pytest.mark.parametrize("then", ["write(journal, 3)", "journal.sync()"])
def test_a_poisoned_handle_opens_anew_and_writes_again_before_it_acknowledges(path, then):
    with Journal.create(path, BODY % 1) as journal:
        first = journal.position.end
    code = f"""
journal = Journal(path)
write(journal, 2, sync=False)
attempt(journal.sync)
print(journal.synced)
{then}
print(journal.synced == journal.position.seq)
"""
    shown, calls = child(path, code, "-e", "inject=fdatasync:error=EIO:when=1")
    assert shown == ["OutcomeUnknown sync_failed", "0", "True"]
    _, failed = calls.split("INJECTED", 1)
    line_two = next(iter(Journal(path).history(after=1)))
    assert rewritten(failed, path)[0] == (0, line_two.end)
    assert line_two.start == first
    assert "fdatasync" in failed


def test_a_sync_that_fails_again_stays_of_unknown_outcome(path):
    Journal.create(path, BODY % 1).close()
    code = "j = Journal(path); write(j, 2, sync=False); attempt(j.sync); attempt(j.sync); attempt(j.synced_read)"
    shown, _ = child(path, code, "-e", "inject=fdatasync:error=EIO")
    assert shown == ["OutcomeUnknown sync_failed"] * 3


def test_a_poisoned_handle_whose_line_is_gone_does_not_build_on_it(path):
    """The kernel dropped the page it could not write, and what is read now is what was on the disk before."""
    journal = Journal.create(path, BODY % 1)
    line = write(journal, 2, sync=False)
    journal.close()
    os.truncate(path, line.start)
    with pytest.raises(OutcomeUnknown):
        journal.sync()
    with pytest.raises(Conflict) as refused, journal.writing():
        pass
    assert refused.value.code == "journal_changed"
    with Journal(path) as fresh_start:
        assert write(fresh_start, 3).seq == 2


# --- many at once --------------------------------------------------------------------------------------------------


def test_eight_processes_write_a_hundred_lines_each_and_none_is_lost_or_doubled(path):
    Journal.create(path, b'{"n":-1}').close()
    command = [sys.executable, "-c", CHILD + "journal = Journal(path, wait=60)" + WRITER, path, "100"]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    told = [tuple(map(int, row.split())) for worker in workers for row in worker.communicate()[0].splitlines()]
    assert [worker.returncode for worker in workers] == [0] * 8
    assert sorted(seq for seq, _ in told) == list(range(2, 802))
    with Journal(path) as journal:
        assert [(line.seq, line.body["n"]) for line in journal.history()] == [(1, -1), *sorted(told)]


def test_a_writer_killed_at_any_moment_takes_nothing_acknowledged_with_it(path):
    Journal.create(path, b'{"n":-1}').close()
    acknowledged = {}
    command = [sys.executable, "-c", CHILD + "journal = Journal(path, wait=60)" + WRITER, path, "100000"]
    for round_ in range(12):
        victim = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        witness = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for _ in range(1 + 3 * round_):
            seq, number = victim.stdout.readline().split()
            acknowledged[int(seq)] = int(number)
        for process in (victim, witness):
            process.send_signal(signal.SIGKILL)
            rows = process.communicate()[0].split("\n")[:-1]  # the last row may be cut short
            acknowledged |= {int(seq): int(number) for seq, number in map(str.split, rows)}
        with Journal(path) as journal:
            journal.synced_read()
            write(journal, -2)
    with Journal(path) as journal:
        found = {line.seq: line.body["n"] for line in journal.history()}
    assert list(found) == list(range(1, len(found) + 1))
    assert acknowledged.items() <= found.items()
    assert len(acknowledged) > 12


def test_what_came_after_a_late_line_is_read_without_what_came_before(tmp_path, monkeypatch):
    """The chain is checked from there on: a line that was put in place of another is found out."""
    from holdfast.stores import lines

    path = str(tmp_path / "one.jsonl")
    with Journal.create(path, b'{"n":0}') as made:
        for number in range(1, 3000):
            with made.writing():
                made.append(b'{"n":%d}' % number)
            if number % 500 == 499 or number > 2980:
                made.sync()
    parsed, seen = lines.parsed, list[int]()

    def counted(raw: bytes, start: int) -> Line | None:
        seen.append(start)
        return parsed(raw, start)

    monkeypatch.setattr("holdfast.stores.journal.parsed", counted)
    with Journal(path) as journal:
        journal.synced_read()
        seen.clear()
        assert [line.body["n"] for line in journal.history(2990)] == list(range(2990, 3000))
        assert len(seen) == 10
        assert [line.seq for line in journal.history(2999)] == [3000]
        assert [line.seq for line in journal.history(3000)] == []
        assert len(list(journal.history(1))) == 2999
        assert len(list(journal.history())) == 3000
        texts = Path(path).read_bytes().splitlines(keepends=True)
        with open(path, "r+b") as file:
            file.seek(sum(map(len, texts[:2995])))
            file.write(texts[2995].replace(b'"n":2995', b'"n":2994'))
        with pytest.raises(Broken):
            list(journal.history(2990))
