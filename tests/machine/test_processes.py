"""What tells a terminal of people from one that a tool made."""

from __future__ import annotations

import os
import pty
import sys

import pytest

from holdfast.machine import processes
from holdfast.machine.agent_hosts import is_tool

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

TOOLS = [
    ("/usr/bin/python3.11", ("python3", "made.py")),
    ("/bin/dash", ("sh",)),
    ("/usr/bin/script", ("script", "-q")),
    ("/usr/bin/expect", ("expect",)),
    ("/usr/bin/node", ("node", "server.js")),
]
PEOPLES = [
    ("/usr/bin/xterm", ("xterm",)),
    ("/usr/libexec/gnome-terminal-server", ("gnome-terminal-server",)),
    ("/usr/share/code/code", ("code", "--type=utility")),
    ("/home/ada/.vscode-server/bin/1a2b/node", ("node", "ptyHostMain.js")),
    ("/usr/bin/python3.11", ("python3", "/usr/bin/terminator")),
    ("/usr/sbin/sshd", ("sshd: ada@pts/0",)),
    ("/usr/bin/mosh-server", ("mosh-server",)),
    ("", ("login",)),
]


@pytest.mark.parametrize(("program", "words"), TOOLS)
def test_an_interpreter_makes_terminals_for_programs(program, words):
    assert is_tool(program, words)


@pytest.mark.parametrize(("program", "words"), PEOPLES)
def test_a_terminal_emulator_an_editor_and_a_login_make_them_for_people(program, words):
    assert not is_tool(program, words)


def test_who_has_the_other_end_of_a_terminal_is_found():
    pid, primary = pty.fork()
    if not pid:
        os.write(1, b"ready")
        os.read(0, 1)
        os._exit(0)
    try:
        assert os.read(primary, 5) == b"ready"
        assert processes.owners(list(processes.ancestry(pid))) == [os.getpid()]
    finally:
        os.write(primary, b"\n")
        os.waitpid(pid, 0)
        os.close(primary)
