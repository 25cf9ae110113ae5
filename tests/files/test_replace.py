"""Replacing a file: at once or not at all, and what was displaced comes back."""

from __future__ import annotations

import os
import re
import resource
import stat
import subprocess
import sys

import pytest

from holdfast.errors import HoldfastError, OutcomeUnknown, UsageError
from holdfast.files.replace import make_directories, read_file, replace
from tests.tiers import need

ONE = """
import sys
from holdfast.errors import HoldfastError
from holdfast.files.replace import durable_write, replace
kind, path, slot, data = sys.argv[1:]
try:
    if kind == "replace":
        print(replace(path, data.encode(), slot))
    else:
        durable_write(path, data.encode())
        print("written")
except HoldfastError as error:
    print(type(error).__name__, error.code)
"""


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "document.json")


@pytest.fixture
def slot(tmp_path):
    return str(tmp_path / ".holdfast" / "slot")


def traced(tmp_path, *options, kind="replace", path, slot, data="new"):
    """What one call in a process of its own printed, and the system calls it made."""
    need("strace")
    log = tmp_path / "trace"
    calls = "trace=openat,pwrite64,fsync,fdatasync,rename,renameat2,link,linkat"
    shown = subprocess.run(
        ["strace", "-f", "-y", "-o", log, "-e", calls, *options, sys.executable, "-c", ONE, kind, path, slot, data],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    return shown, log.read_text()


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_a_new_file_displaces_nothing(path, slot):
    assert replace(path, b"one", slot) is None
    assert read_file(path) == b"one"


def test_each_replacement_returns_what_was_there_and_keeps_it_in_the_slot(path, slot):
    replace(path, b"one, which is long", slot)
    assert replace(path, b"two", slot) == b"one, which is long"
    assert read_file(slot) == b"one, which is long"
    assert replace(path, b"three is longer", slot) == b"two"
    assert replace(path, b"", slot) == b"three is longer"
    assert read_file(path) == b""


def test_an_edit_made_in_between_comes_back(path, slot):
    replace(path, b"one", slot)
    with open(path, "wb") as file:
        file.write(b"edited")
    assert replace(path, b"two", slot) == b"edited"


def test_the_slot_is_reused_and_nothing_else_is_left(tmp_path, path, slot):
    replace(path, b"one", slot)
    replace(path, b"two", slot)
    inodes = {os.stat(path).st_ino, os.stat(slot).st_ino}
    replace(path, b"three", slot)
    assert {os.stat(path).st_ino, os.stat(slot).st_ino} == inodes
    assert sorted(os.listdir(tmp_path)) == [".holdfast", "document.json"]
    assert os.listdir(tmp_path / ".holdfast") == ["slot"]


def test_the_document_has_the_mode_asked_for_whatever_the_slot_had(path, slot):
    replace(path, b"one", slot)
    assert mode(path) == 0o600
    replace(path, b"two", slot, mode=0o644)
    assert mode(path) == 0o644
    replace(path, b"three", slot, mode=0o640)
    assert mode(path) == 0o640
    replace(path, b"four", slot)
    assert mode(path) == 0o600


def test_missing_directories_are_made_and_private_only_inside_holdfast(tmp_path):
    before = os.umask(0o022)
    try:
        path, slot = tmp_path / "a" / "b" / "document", tmp_path / ".holdfast" / "spare" / "slot"
        replace(str(path), b"one", str(slot))
        shared = tmp_path / "c" / "d" / "document"
        replace(str(shared), b"one", str(slot), dir_mode=0o750)
    finally:
        os.umask(before)
    assert [mode(folder) for folder in (tmp_path / "a", path.parent)] == [0o755] * 2
    assert [mode(folder) for folder in (tmp_path / ".holdfast", slot.parent)] == [0o700] * 2
    assert mode(shared.parent) == 0o750


def test_the_directories_made_are_told_innermost_first(tmp_path):
    (tmp_path / "a").mkdir()
    made = make_directories(str(tmp_path / "a" / "b" / "c"), 0o700)
    assert made == [str(tmp_path / "a" / "b" / "c"), str(tmp_path / "a" / "b")]
    assert make_directories(str(tmp_path / "a" / "b" / "c"), 0o700) == []


def test_a_symbolic_link_is_refused_and_what_it_leads_to_is_untouched(tmp_path, path, slot):
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    os.symlink(target, path)
    with pytest.raises(UsageError) as refused:
        replace(path, b"new", slot)
    assert refused.value.code == "symlink"
    assert os.path.islink(path)
    assert target.read_bytes() == b"precious"


def test_a_directory_in_the_place_of_the_document_is_refused(path, slot):
    os.mkdir(path)
    with pytest.raises(UsageError) as refused:
        replace(path, b"new", slot)
    assert refused.value.code == "not_a_file"
    assert os.path.isdir(path)


def test_a_slot_that_is_a_symbolic_link_is_not_followed(tmp_path, path, slot):
    replace(path, b"one", slot)
    target = tmp_path / "target"
    target.write_bytes(b"precious")
    if os.path.exists(slot):
        os.unlink(slot)
    os.symlink(target, slot)
    assert replace(path, b"two", slot) == b"one"
    assert target.read_bytes() == b"precious"
    assert read_file(path) == b"two"


def test_a_second_name_of_the_displaced_file_keeps_its_content(tmp_path, path, slot):
    replace(path, b"one", slot)
    kept = tmp_path / "kept"
    os.link(path, kept)
    replace(path, b"two", slot)
    replace(path, b"three", slot)
    assert kept.read_bytes() == b"one"


def test_a_slot_that_is_a_pipe_is_done_away_with(path, slot):
    replace(path, b"one", slot)
    if os.path.exists(slot):
        os.unlink(slot)
    os.mkfifo(slot)
    assert replace(path, b"two", slot) == b"one"


@pytest.mark.parametrize("failure", ["EINVAL", "ENOSYS", "EXDEV"])
def test_without_an_exchange_a_file_beside_it_is_renamed(tmp_path, path, slot, failure):
    with open(path, "wb") as file:
        file.write(b"old")
    shown, calls = traced(tmp_path, "-e", f"inject=renameat2:error={failure}", path=path, slot=slot)
    assert shown == "b'old'"
    assert "INJECTED" in calls
    assert read_file(path) == b"new"
    assert mode(path) == 0o600
    assert sorted(os.listdir(tmp_path)) == [".holdfast", "document.json", "trace"]


def test_without_an_exchange_a_new_file_is_linked_into_place(tmp_path, path, slot):
    shown, calls = traced(tmp_path, "-e", "inject=renameat2:error=ENOSYS", path=path, slot=slot)
    assert shown == "None"
    assert re.search(r"link(at)?\(.*= 0", calls)
    assert read_file(path) == b"new"
    assert os.stat(path).st_nlink == 1
    assert sorted(os.listdir(tmp_path)) == [".holdfast", "document.json", "trace"]


def test_a_slot_on_another_file_system_works(tmp_path, path):
    here = os.stat(tmp_path).st_dev
    elsewhere = next(folder for folder in ("/dev/shm", "/var/tmp") if os.stat(folder).st_dev != here)
    slot = f"{elsewhere}/holdfast-{os.getpid()}"
    try:
        assert replace(path, b"one", slot) is None
        assert replace(path, b"two", slot) == b"one"
        assert read_file(path) == b"two"
    finally:
        os.unlink(slot)


def test_a_file_that_appears_just_before_a_new_one_is_placed_comes_back(tmp_path, path, slot):
    """The first look is told that nothing is there; the file is exchanged all the same, not overwritten."""
    with open(path, "wb") as file:
        file.write(b"appeared")
    blind = ("-P", path, "-e", "trace=newfstatat,lstat,renameat2", "-e", "inject=newfstatat,lstat:error=ENOENT:when=1")
    shown, calls = traced(tmp_path, *blind, path=path, slot=slot)
    assert "INJECTED" in calls
    assert re.search(r"RENAME_NOREPLACE\) = -1 EEXIST", calls)
    assert re.search(r"RENAME_EXCHANGE\) = 0", calls)
    assert shown == "b'appeared'"
    assert read_file(path) == b"new"


@pytest.mark.parametrize(
    ("failure", "code"), [("ENOSPC", "disk_full"), ("EDQUOT", "disk_full"), ("EIO", "write_failed")]
)
@pytest.mark.parametrize("kind", ["replace", "durable"])
def test_a_failed_write_leaves_the_document_as_it_was(tmp_path, path, slot, failure, code, kind):
    with open(path, "wb") as file:
        file.write(b"old")
    shown, _ = traced(tmp_path, "-e", f"inject=pwrite64:error={failure}", kind=kind, path=path, slot=slot)
    assert shown == f"HoldfastError {code}"
    assert read_file(path) == b"old"
    assert [name for name in os.listdir(tmp_path) if name.endswith(".tmp")] == []


def test_a_disk_that_takes_only_a_part_leaves_the_document_as_it_was(path, slot):
    """The limit of the file size makes the kernel write a part first and refuse the rest."""
    replace(path, b"old", slot)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(HoldfastError) as failed:
            replace(path, b"x" * 3000, slot)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert failed.value.code == "write_failed"
    assert read_file(path) == b"old"
    assert replace(path, b"new", slot) == b"old"
    assert read_file(path) == b"new"


def test_a_reader_during_a_replacement_sees_the_old_document_or_the_new_one_whole(path, slot):
    replace(path, b"a" * 50_000, slot)
    reader = """
import sys
for _ in sys.stdin:
    data = open(sys.argv[1], "rb").read()
    print(len(data), *set(data.decode()), flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", reader, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        for number in range(300):
            old, new = "abc"[number % 3], "abc"[(number + 1) % 3]
            process.stdin.write("\n")
            process.stdin.flush()
            assert replace(path, new.encode() * 50_000, slot) == old.encode() * 50_000
            assert process.stdout.readline() in {f"50000 {old}\n", f"50000 {new}\n"}
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def test_a_durable_file_and_its_new_directories_are_synced_in_order(tmp_path):
    folder = tmp_path / ".holdfast" / "quarantine"
    path = str(folder / "document")
    shown, calls = traced(tmp_path, kind="durable", path=path, slot="")
    assert shown == "written"
    order = re.findall(r"(fdatasync|fsync|rename)\w*\((?:\d+<([^>]*)>)?.*= 0", calls)
    assert order[0][0] == "fdatasync"
    assert order[1][0] == "rename"
    assert {place for call, place in order[2:] if call == "fsync"} == {
        str(folder),
        str(folder.parent),
        str(tmp_path),
    }
    assert read_file(path) == b"new"
    assert mode(path) == 0o600
    assert [mode(place) for place in (folder, folder.parent)] == [0o700] * 2
    assert os.listdir(folder) == ["document"]


def test_a_durable_file_whose_content_cannot_be_synced_never_appears(tmp_path, path):
    shown, _ = traced(tmp_path, "-e", "inject=fdatasync:error=EIO", kind="durable", path=path, slot="")
    assert shown == "HoldfastError write_failed"
    assert os.listdir(tmp_path) == ["trace"]


def test_a_durable_file_whose_name_cannot_be_synced_is_of_unknown_outcome(tmp_path, path):
    shown, _ = traced(tmp_path, "-e", "inject=fsync:error=EIO", kind="durable", path=path, slot="")
    assert shown == f"{OutcomeUnknown.__name__} sync_failed"
