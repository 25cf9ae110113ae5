"""The lock: exclusive, waited for in the kernel's queue, bounded in time, and honest about who holds it."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import threading

import pytest

from holdfast.errors import Conflict
from holdfast.files.locks import locked, unlock
from tests.tiers import need_own_system

HOLD = """
import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(fd, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.readline()
"""

COUNT = """
import os, sys
from holdfast.files.locks import locked, unlock
fd = os.open(sys.argv[1], os.O_RDWR)
for _ in range(int(sys.argv[2])):
    locked(fd, sys.argv[1], 60)
    number = int(os.pread(fd, 20, 0) or b"0") + 1
    os.pwrite(fd, b"%d" % number, 0)
    unlock(fd)
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "file"
    file.touch()
    return str(file)


@pytest.fixture
def opened(path):
    descriptors = []

    def opening():
        descriptors.append(os.open(path, os.O_RDWR))
        return descriptors[-1]

    yield opening
    for fd in descriptors:
        os.close(fd)


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock until a line is written to it."""
    (tmp_path / "hold").write_text(HOLD)
    process = subprocess.Popen(
        [sys.executable, "hold", "file", "bell\a\x1b[31m"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()
    process.stdin.close()
    process.stdout.close()


def let_go(holder):
    holder.stdin.write("\n")
    holder.stdin.flush()


def queued(path):
    """Whether the kernel shows someone waiting for the lock of the file."""
    inode = f":{os.stat(path).st_ino} "
    with open("/proc/locks") as table:
        return any("->" in row and inode in row for row in table)


def when_queued(path, action):
    def watch():
        while not queued(path):
            pass
        action()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def is_free(path):
    fd = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


def test_a_lock_excludes_others_until_it_is_released(path, opened):
    fd = opened()
    locked(fd, path, 1)
    assert not is_free(path)
    unlock(fd)
    assert is_free(path)


@pytest.mark.parametrize("wait", [0, 0.05])
def test_a_time_out_names_the_process_that_holds_the_lock_with_its_control_characters_escaped(
    path, opened, holder, wait
):
    need_own_system()
    with pytest.raises(Conflict) as refused:
        locked(opened(), path, wait)
    assert refused.value.code == "lock_timeout"
    assert refused.value.facts["pid"] == holder.pid
    assert f"process {holder.pid} (" in refused.value.message
    assert r"bell\x07\x1b[31m" in refused.value.message
    assert refused.value.message.isprintable()
    assert refused.value.remedy == f"ps -fp {holder.pid}"


def test_a_lock_that_is_released_in_time_is_taken(path, opened, holder):
    fd = opened()
    release = when_queued(path, lambda: let_go(holder))
    locked(fd, path, 60)
    release.join()
    assert not is_free(path)


def test_a_waiter_that_gave_up_lets_go_at_once_when_its_turn_comes(path, opened, holder):
    """Its descriptor is closed and the number taken by another file, which the late lock must not touch."""
    fd = os.open(path, os.O_RDWR)
    with pytest.raises(Conflict):
        locked(fd, path, 0.05)
    os.close(fd)
    let_go(holder)
    locked(opened(), path, 60)


def test_a_waiter_that_gave_up_lets_go_even_if_a_child_has_the_descriptor(path, opened, holder):
    fd = os.open(path, os.O_RDWR)
    heir = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[fd])
    try:
        with pytest.raises(Conflict):
            locked(fd, path, 0.05)
        os.close(fd)
        let_go(holder)
        while queued(path):
            pass
        locked(opened(), path, 10)
    finally:
        heir.communicate()


def test_an_interrupted_wait_leaves_no_lock_behind(path, opened, holder):
    class Interrupted(Exception):
        pass

    def interrupt(*_):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    fd = os.open(path, os.O_RDWR)
    try:
        alarm = when_queued(path, lambda: os.kill(os.getpid(), signal.SIGALRM))
        with pytest.raises(Interrupted):
            locked(fd, path, 60)
        alarm.join()
    finally:
        signal.signal(signal.SIGALRM, before)
        os.close(fd)
    let_go(holder)
    locked(opened(), path, 60)


def test_signals_that_are_handled_do_not_end_the_wait(path, opened, holder):
    seen = []

    def count(*_):
        seen.append(1)
        if len(seen) == 5:
            signal.setitimer(signal.ITIMER_REAL, 0)
            let_go(holder)

    before = signal.signal(signal.SIGALRM, count)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
        locked(opened(), path, 60)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(seen) == 5
    assert not is_free(path)


def test_a_descriptor_that_cannot_be_locked_says_so(path):
    fd = os.open(path, os.O_RDWR)
    os.close(fd)
    with pytest.raises(OSError, match="Bad file descriptor"):
        locked(fd, path, 1)


def test_eight_processes_take_turns_and_none_is_lost(path):
    workers = [subprocess.Popen([sys.executable, "-c", COUNT, path, "100"]) for _ in range(8)]
    assert [worker.wait() for worker in workers] == [0] * 8
    with open(path) as file:
        assert file.read() == "800"
