"""Terminals that an agent has made for itself, and those that people have: who has the other end is looked at."""

from __future__ import annotations

import getpass
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.surfaces.cli.desk import APPROVE, PATIENCE, Desk
from tests.tiers import need

KEPT = """
import os, pty, subprocess, sys
kept, theirs = pty.openpty()
twice = "import fcntl, os, sys, termios; os.fork() and os._exit(0); os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
twice += "os.execvp('sh', ['sh', '-c', sys.argv[1]])"
subprocess.run([sys.executable, "-c", twice, sys.argv[1]], stdin=theirs, stdout=theirs, stderr=theirs)
os.close(theirs)
try:
    while data := os.read(kept, 4096):
        if b"[y/N]" in data:
            os.write(kept, b"y\\n")
except OSError:
    pass
"""
OWN = """
import fcntl, os, sys, termios
kept, theirs = os.openpty()
fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
os.fork() or (os.dup2(theirs, 0), os.dup2(theirs, 1), os.execvp("sh", ["sh", "-c", sys.argv[1]]))
os.close(theirs)
while b"[y/N]" not in os.read(kept, 4096):
    pass
os.write(kept, b"y\\n")
os.wait()
"""
FILES = {
    "kept.py": KEPT,
    "made.py": "import pty, sys; pty.spawn(['sh', '-c', sys.argv[1]])",
    "own.py": OWN,
    "answers.exp": "spawn {*}$argv\nexpect { *y/N* { send y\\r; exp_continue } eof {} }\n",
}
ALONE = ">/dev/null 2>&1 &)"
SCRIPT = "script -qec INSIDE /dev/null"
TWICE = f"script -qec '{SCRIPT}' /dev/null"
NAMESPACE = f"unshare --pid --fork --mount-proc {SCRIPT}"
CHEATS = {
    "a terminal that the agent keeps": ("python3", "python3 kept.py INSIDE", "claude (process"),
    "script, detached": ("script", f"(yes | setsid {SCRIPT} {ALONE}", "script (process"),
    "python, detached": ("python3", f"(yes | setsid python3 made.py INSIDE {ALONE}", "python3 (process"),
    "expect, detached": ("expect", f"(setsid expect -f answers.exp INSIDE </dev/null {ALONE}", "expect (process"),
    "script in script, detached": ("script", f"(yes | setsid {TWICE} {ALONE}", "script (process"),
    "python at its own": ("python3", f"(setsid python3 own.py INSIDE </dev/null {ALONE}", "python3 (process"),
    "su, detached": ("su", f"(yes | setsid setsid su -p -P -c INSIDE {ALONE}", "su (process"),
    "pid namespace": ("unshare", NAMESPACE, "script (process"),
    "pid namespace, detached": ("unshare", f"(yes | setsid {NAMESPACE} {ALONE}", "script (process"),
    "sudo": ("sudo", "sudo -E env PATH=$PATH INSIDE", "claude (process"),
    "su": ("su", "su -p -c INSIDE", "claude (process"),
    "another title": ("python3", "python3 titled.py INSIDE", "claude (process"),
}
TITLED = "import ctypes, os, sys; ctypes.CDLL(None).prctl(15, b'bash'); os.system(sys.argv[1])"


def tries(desk: Desk, folder: Path, line: str, by: str = "claude") -> str:
    """What the command says that is typed inside: a program runs the line, and INSIDE stands for that command."""
    said = folder / "said"
    for name, text in {**FILES, "titled.py": TITLED}.items():
        (folder / name).write_text(text)
        line = line.replace(name, str(folder / name))
    inside = desk.host("inside", f"{APPROVE} 2>{said}; echo >{said}.end")
    program = desk.host("line", line.replace("INSIDE", inside))
    desk.types(f"{desk.host(by)} {program}; sleep {PATIENCE}", until=Path(f"{said}.end"))
    return said.read_text()


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_terminal_that_an_agent_made_is_no_persons(desk, tmp_path, cheat):
    program, line, why = CHEATS[cheat]
    need(program, *(("root",) if program in ("unshare", "sudo", "su") else ()))
    said = tries(desk, tmp_path, line)
    assert "this terminal is no person's: " in said
    assert why in said
    assert not desk.approved


@pytest.mark.parametrize("line", ["INSIDE", SCRIPT])
@pytest.mark.parametrize("daemon", ["cron", "atd"])
def test_what_the_clock_starts_is_no_person(desk, tmp_path, daemon, line):
    assert f"this terminal is no person's: {daemon} (process" in tries(desk, tmp_path, line, by=daemon)
    assert not desk.approved


PEOPLES = {
    "script": ("script", SCRIPT),
    "a Python program": ("python3", "python3 made.py INSIDE"),
    "sudo": ("sudo", "sudo -E env PATH=$PATH INSIDE"),
    "su": ("su", "su -p -c INSIDE"),
    "an editor": ("script", SCRIPT),
}


@pytest.mark.parametrize("way", PEOPLES)
def test_what_a_person_opens_in_their_terminal_is_theirs(desk, tmp_path, way):
    program, line = PEOPLES[way]
    need(program, *(("root",) if program in ("sudo", "su") else ()))
    assert tries(desk, tmp_path, line, by="code" if way == "an editor" else "make") == ""
    assert desk.approved


@pytest.fixture
def ssh(tmp_path):
    """The words that log in at a server on loopback, with a terminal."""
    need("sshd", "ssh-keygen", "root")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)], check=True)
    shutil.copy(tmp_path / "user.pub", tmp_path / "allowed")
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    told = {"ListenAddress": "127.0.0.1", "HostKey": tmp_path / "host", "AuthorizedKeysFile": tmp_path / "allowed"}
    told |= {"PidFile": "none", "StrictModes": "no", "UsePAM": "no", "PermitRootLogin": "yes"}
    Path("/run/sshd").mkdir(exist_ok=True)
    options = [word for name, value in told.items() for word in ("-o", f"{name}={value}")]
    server = subprocess.Popen(["/usr/sbin/sshd", "-D", "-p", str(port), *options],
                              stderr=subprocess.DEVNULL)  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with socket.socket() as tried:
            if not tried.connect_ex(("127.0.0.1", port)):
                break
        time.sleep(0.05)
    quiet = "-q -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    yield f"ssh {quiet} -tt -i {tmp_path}/user -p {port} {getpass.getuser()}@127.0.0.1"
    server.kill()
    server.wait()


def logs_in(desk: Desk, ssh: str, before: str = "") -> str:
    kept = " ".join(f"{name}='{desk.env[name]}'" for name in ("PATH", "HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"))
    return f"""{ssh} "cd {desk.project.root} && {before} env {kept} INSIDE" """


@pytest.mark.parametrize("by", ["claude", "make"])
def test_who_logs_in_from_this_machine_is_looked_at(desk, tmp_path, ssh, by):
    """A login over the network is a person's, unless an agent host on this machine has its other end."""
    said = tries(desk, tmp_path, logs_in(desk, ssh), by=by)
    assert ("claude (process" in said) is (by == "claude")
    assert desk.approved is (by == "make")


LOGINS = {
    "nohup": (f"(yes | nohup LOGIN {ALONE}", "was detached"),
    "setsid": (f"(yes | setsid setsid LOGIN {ALONE}", "ssh (process"),
    "a shared connection": ("SHARED -fNM >/dev/null 2>&1; yes | LOGIN; SHARED -O exit", "ssh (process"),
}


@pytest.mark.parametrize("way", LOGINS)
def test_a_login_from_this_machine_takes_a_client_at_a_persons_terminal(desk, tmp_path, ssh, way):
    line, why = LOGINS[way]
    ssh = ssh.replace("ssh ", f"ssh -S {tmp_path}/shared ", 1)
    line = line.replace("LOGIN", logs_in(desk, ssh)).replace("SHARED", ssh)
    said = tries(desk, tmp_path, line)
    assert "this terminal is no person's: " in said
    assert why in said
    assert not desk.approved


def test_a_login_that_hides_where_it_comes_from_is_no_persons(desk, tmp_path, ssh):
    line = logs_in(desk, ssh, before="exec env -u SSH_CONNECTION")
    assert "where the login comes from cannot be told" in tries(desk, tmp_path, f"(yes | setsid setsid {line} {ALONE}")
    assert not desk.approved
