"""Each operating system answers the same questions, in its own way."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys

import pytest

from holdfast.errors import Refused
from holdfast.files import system
from holdfast.files.replace import replace
from holdfast.files.system import EXCHANGE, NOREPLACE
from holdfast.files.system.linux import Linux
from holdfast.machine import place, processes
from tests.files import mac

PS = "/bin/ps -ww -o ppid=,pgid=,tpgid=,tty=,args= -p"
PROGRAM = "/bin/ps -ww -o comm= -p"


@pytest.fixture(params=["linux", "macos"])
def here(request, monkeypatch):
    chosen = Linux() if request.param == "linux" else mac.mac()
    monkeypatch.setattr(system, "here", chosen)
    return chosen


def test_two_files_are_exchanged(here, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    assert here.rename(str(one), str(two), EXCHANGE) == 0
    assert (one.read_text(), two.read_text()) == ("2", "1")


def test_a_file_is_placed_only_where_none_is(here, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    assert here.rename(str(one), str(two), NOREPLACE) == errno.EEXIST
    two.unlink()
    assert here.rename(str(one), str(two), NOREPLACE) == 0
    assert two.read_text() == "1"


def test_a_document_is_replaced_and_the_old_bytes_come_back(here, tmp_path):
    path, slot = str(tmp_path / "document.json"), str(tmp_path / "slot")
    assert replace(path, b"one", slot) is None
    assert replace(path, b"two", slot) == b"one"


def test_boot_and_clock_are_told(here):
    assert len(here.boot()) == 36
    assert here.uptime() <= here.uptime()


def test_the_processes_of_this_machine_are_told_apart(here):
    assert here.is_running(os.getpid())
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert not here.is_running(ended.pid)


@pytest.mark.parametrize(("kind", "safe"), [(b"apfs", True), (b"hfs", True), (b"smbfs", False), (b"nfs", False)])
def test_a_share_that_a_mac_has_mounted_is_refused(tmp_path, monkeypatch, kind, safe):
    monkeypatch.setattr(system, "here", mac.mac(kind=kind))
    if safe:
        place.prepare(place.find(str(tmp_path)), insist=False)
        return
    with pytest.raises(Refused) as caught:
        place.prepare(place.find(str(tmp_path)), insist=False)
    assert caught.value.facts["file_system"] == kind.decode()


def test_a_mac_syncs_through_the_cache_of_the_drive(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(fcntl, "fcntl", lambda fd, what: asked.append(what))
    with open(tmp_path / "file", "wb") as file:
        mac.mac().flush(file.fileno())
    assert asked == [51]


def test_where_the_drive_knows_no_such_call_a_plain_sync_is_made(tmp_path, monkeypatch):
    def refused(fd, what):
        raise OSError(errno.ENOTSUP, "not supported")

    synced: list[int] = []
    monkeypatch.setattr(fcntl, "fcntl", refused)
    monkeypatch.setattr(os, "fsync", synced.append)
    with open(tmp_path / "file", "wb") as file:
        mac.mac().flush(file.fileno())
        assert synced == [file.fileno()]


def test_a_sync_that_fails_on_a_mac_is_a_failure(tmp_path, monkeypatch):
    def failed(fd, what):
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(fcntl, "fcntl", failed)
    with open(tmp_path / "file", "wb") as file, pytest.raises(OSError, match="broken"):
        mac.mac().flush(file.fileno())


def test_a_mac_tells_what_a_process_comes_from(monkeypatch):
    own, parent = os.getpid(), os.getppid()
    table = {
        f"{PS} {own}": f"{parent} {own} {own} ttys003 /opt/homebrew/bin/python3 made by.py\n",
        f"{PROGRAM} {own}": "/opt/homebrew/Cellar/python@3.12/bin/python3.12\n",
        f"{PS} {parent}": "1 1 -1 ?? /Applications/My Terminal.app/Contents/MacOS/Terminal\n",
        f"{PROGRAM} {parent}": "/Applications/My Terminal.app/Contents/MacOS/Terminal\n",
    }
    monkeypatch.setattr(system, "here", mac.mac(table))
    found = list(processes.ancestry(own))
    assert [(one.pid, one.title, one.front) for one in found] == [(own, "python3.12", own), (parent, "Terminal", -1)]
    assert found[0].words == ("/opt/homebrew/bin/python3", "made", "by.py")
    assert found[1].terminal == 0


def test_a_mac_tells_who_has_a_file_open_and_where_a_program_works():
    table = {
        "/usr/sbin/lsof -t -- /Users/ada/p/.git": f"{os.getpid()}\n77\n",
        "/usr/sbin/lsof -a -c /^git$/ -d cwd -Fpn": "p77\nfcwd\nn/Users/ada/p\np78\nfcwd\nn/tmp\n",
    }
    found = mac.mac(table)
    assert found.opened("/Users/ada/p/.git") == 77
    assert found.opened("/Users/ada/q") is None
    assert found.folders("git") == [(77, "/Users/ada/p"), (78, "/tmp")]


def test_a_mac_tells_where_a_login_comes_from(monkeypatch):
    login = "SSH_CLIENT=10.0.0.7 52011 22 SSH_CONNECTION=10.0.0.7 52011 10.0.0.2 22 TERM=xterm"
    table = {
        "/bin/ps -Eww -o command= -p 12": f"-zsh {login}\n",
        "/usr/sbin/lsof -nP -iTCP:22 -sTCP:ESTABLISHED -Fpn": "p10\nf4\nn10.0.0.2:22->10.0.0.7:52011\n",
    }
    monkeypatch.setattr(system, "here", mac.mac(table))
    shell = processes.Process(12, 10, 12, 12, 0, 12, "zsh", "/bin/zsh", ("-zsh",))
    server = processes.Process(10, 1, 10, 10, 0, -1, "sshd", "/usr/sbin/sshd", ("sshd: ada",))
    assert processes.login([shell, server]) == ["10.0.0.7", "52011", "10.0.0.2", "22"]
    assert processes.remote_clients(["10.0.0.7", "52011", "10.0.0.2", "22"]) == []
