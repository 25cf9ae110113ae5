"""Holdfast's commands in processes of their own that cost milliseconds: forks of one that has imported everything.

That process is detached from the tests, which an agent host may have started: a command in a session of its own has a
terminal as a person has one, with nothing above it that runs agents.

A test process starts one such process when the first command comes. What goes in and out is a command's own: arguments,
environment, folder, and the ends of its pipes or its terminal. The first call of each command is no fork but a process
like any other, and so is one whose environment concerns the interpreter itself.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import tiers

PATIENCE = 120
_real: set[str] = set()
_SERVER = r"""
import fcntl, gc, importlib, json, os, pkgutil, select, signal, socket, sys, termios
if os.fork():
    os._exit(0)  # what the other one comes from is no longer to be seen
os.setsid()
import holdfast
from holdfast.surfaces.cli import main as command_line

for found in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
    if not found.name.endswith("__main__"):
        try:
            importlib.import_module(found.name)
        except ImportError:
            pass
if "mcp" in sys.modules:
    import mcp.server.stdio, mcp.server.streamable_http_manager, uvicorn  # what a server imports when it begins

gc.collect()
gc.freeze()  # a fork need not copy what its collector would touch
gc.set_threshold(command_line._OBJECTS)

def child(task, fds):
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if task["session"]:
        os.setsid()
        fcntl.ioctl(fds[0], termios.TIOCSCTTY, 0)
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
    os.closerange(3, 256)
    if not task["program"] and task["env"].get("PYTHONPATH") != os.environ.get("PYTHONPATH"):
        task["program"] = [sys.executable, "-m", "holdfast", *task["words"]]
    os.environ.clear()
    os.environ.update(task["env"])
    os.chdir(task["cwd"])
    if task["program"]:
        os.execvp(task["program"][0], task["program"])
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)
    sys.argv = ["holdfast", *task["words"]]
    code = command_line.main(task["words"])
    sys.stdout.flush()
    return code

listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(64)
reading, writing = os.pipe()
os.set_blocking(writing, False)
signal.signal(signal.SIGCHLD, lambda *_: None)
signal.set_wakeup_fd(writing)
waiting = {}
print("ready", flush=True)

while True:
    ready, _, _ = select.select([listener, reading, 0], [], [])
    if 0 in ready:
        sys.exit()
    if reading in ready:
        os.read(reading, 4096)
        while waiting:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if not pid:
                break
            os.write(1, b"%f\n" % (used.ru_utime + used.ru_stime))
            with waiting.pop(pid) as asked:
                try:
                    asked.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
                except OSError:
                    pass
    if listener in ready:
        asked, _ = listener.accept()
        data, fds, _, _ = socket.recv_fds(asked, 1 << 20, 3)
        while not data.endswith(b"\n"):
            more = asked.recv(1 << 20)
            if not more:  # the one who asked was killed
                break
            data += more
        if not data.endswith(b"\n"):
            for fd in fds:
                os.close(fd)
            asked.close()
            continue
        pid = os.fork()
        if not pid and data == b"terminal\n":
            os.set_inheritable(fds[0], True)
            words = [sys.argv[2], "-S", "-P", "-c", sys.argv[3], str(fds[0])]
            os.execve(words[0], words, {"PYTHONHOME": sys.base_prefix})
        if not pid:
            code = 70
            try:
                code = child(json.loads(data), fds)
            except BaseException as failure:
                os.write(2, f"Traceback: {failure!r}".encode())
            finally:
                os._exit(code)
        for fd in fds:
            os.close(fd)
        waiting[pid] = asked
        try:
            asked.sendall(b"%d\n" % pid)
        except OSError:
            pass
"""


_TERMINAL = r"""
import os, pty, select, signal, socket, sys
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
link = socket.socket(fileno=int(sys.argv[1]))
master, terminal = pty.openpty()
socket.send_fds(link, [b"t"], [terminal])
os.close(terminal)
while True:
    for end in select.select([link, master], [], [])[0]:
        try:
            data = os.read(end if end == master else link.fileno(), 65536)
        except OSError:
            data = b""
        if not data:
            sys.exit()
        while data:
            data = data[os.write(master if end == link else link.fileno(), data):]
"""
_CONNECTOR = r"""
import json, os, signal, socket, sys
at, *words = sys.argv[1:]
asked = socket.socket(socket.AF_UNIX)
asked.connect(at)
task = {"words": words, "env": dict(os.environ), "cwd": os.getcwd(), "session": os.isatty(0), "program": []}
data = json.dumps(task).encode() + b"\n"
rest = data[socket.send_fds(asked, [data], [0, 1, 2]):]
if rest:  # to send nothing fails as well where the command has ended already
    asked.sendall(rest)
said = asked.makefile("rb")
pid = int(said.readline())
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, lambda number, _: os.kill(pid, number))
nowhere = os.open(os.devnull, os.O_RDWR)
for number in range(3):
    os.dup2(nowhere, number)
code = int(said.readline())
os._exit(code if code >= 0 else 128 - code)
"""


def terminal() -> tuple[int, int]:
    """Both ends of a terminal. A program of its own makes it, as terminal emulators do, and hands everything on."""
    ours, theirs = socket.socketpair()
    with socket.socket(socket.AF_UNIX) as asked:
        asked.connect(_server())
        socket.send_fds(asked, [b"terminal\n"], [theirs.fileno()])
        theirs.close()
        _, (made,), _, _ = socket.recv_fds(ours, 1, 1)
    return ours.detach(), made


def command(*words: str) -> list[str]:
    """For those who start a process by themselves: what to start, which hands its streams and signals on to a fork."""
    return [sys.executable, "-I", "-S", "-c", _CONNECTOR, _server(), *words]


def program(path: Path) -> None:
    """Writes the same as a program, which is called with a command's words."""
    path.write_text(f"#!{sys.executable} -IS\n{_CONNECTOR.replace('sys.argv[1:]', f'{_server()!r}, *sys.argv[1:]')}")
    path.chmod(0o755)


class Process:
    """A command that runs: a fork, or a program that takes its place."""

    def __init__(
        self,
        words: Sequence[str],
        streams: tuple[int, int, int],
        *,
        env: dict[str, str],
        cwd: Path,
        session: bool,
        program: Sequence[str] = (),
    ) -> None:
        with socket.socket(socket.AF_UNIX) as asked:
            asked.connect(_server())
            task = {"words": words, "env": env, "cwd": str(cwd), "session": session, "program": program}
            data = json.dumps(task).encode() + b"\n"
            rest = data[socket.send_fds(asked, [data], streams) :]
            if rest:  # to send nothing fails as well where the command has ended already
                asked.sendall(rest)
            asked.settimeout(PATIENCE)
            self._said = asked.makefile("rb")
        self.pid = int(self._said.readline())

    def wait(self, timeout: float = PATIENCE) -> int:
        """Its exit code; the timeout is that of the connection."""
        with self._said:
            return int(self._said.readline())

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def start(
    words: tuple[str | bytes, ...],
    streams: tuple[int, int, int],
    *,
    env: dict[str, str],
    cwd: Path,
    session: bool = False,
) -> Process | subprocess.Popen[bytes]:
    """A command that runs in a folder, with what it reads and writes; `session`: at a terminal, as a person's."""
    named = [word for word in words if isinstance(word, str)]
    real = named[:1] != [word for word in named[:1] if word in _real] or _of_python(env) != _OURS
    _real.update(named[:1])
    if session or not (real or len(named) < len(words) or not named):
        program = [sys.executable, "-m", "holdfast", *named] if real else []
        return Process(named, streams, env=env, cwd=cwd, session=session, program=program)
    stdin, stdout, stderr = streams
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast", *words], cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr
    )


def _of_python(env: Mapping[str, str]) -> dict[str, str]:
    """The part of an environment that says how the interpreter itself behaves."""
    chosen = ("PYTHON", "LANG", "LC_")
    usual = ("PYTHONDONTWRITEBYTECODE", "PYTHONUTF8")
    return {name: value for name, value in env.items() if name.startswith(chosen) and name not in usual}


_OURS = _of_python(os.environ)


def run(*words: str | bytes, env: dict[str, str], cwd: Path, stdin: bytes = b"") -> tuple[int, str, str]:
    """How a command ended and what it said, on both streams."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        streams = (given.fileno(), out.fileno(), err.fileno())
        code = start(words, streams, env=env, cwd=cwd).wait(PATIENCE)
        said = []
        for file in (out, err):
            file.seek(0)
            said.append(file.read().decode())
        return code, said[0], said[1]


@functools.cache
def _server() -> str:
    """Where the process listens that is forked."""
    folder = tempfile.mkdtemp(prefix="holdfast-fork-")
    at = os.path.join(folder, "socket")
    tests_own = _of_python(os.environ)  # a test may have given Python packages of its own
    env = {**{name: value for name, value in os.environ.items() if name not in tests_own}, **_OURS, "PYTHONUTF8": "1"}
    emulator = shutil.copy(os.path.realpath(sys.executable), os.path.join(folder, "emulator"))
    command = [sys.executable, "-P", "-c", _SERVER, at, emulator, _TERMINAL]
    process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    assert process.stdout.readline() == b"ready\n"
    os.set_blocking(process.stdout.fileno(), False)
    tiers.elsewhere(functools.partial(_spent, process.stdout.fileno(), [b"", 0.0]))
    atexit.register(_end, process, folder)
    return at


def _spent(reading: int, so_far: list[Any]) -> float:
    """Seconds of CPU time of the commands that have ended."""
    try:
        data = so_far[0] + os.read(reading, 1 << 20)
    except BlockingIOError:
        return so_far[1]
    *lines, so_far[0] = data.split(b"\n")
    so_far[1] += sum(map(float, lines))
    return so_far[1]


def _end(process: subprocess.Popen[bytes], folder: str) -> None:
    process.stdin.close()
    process.wait()
    os.set_blocking(process.stdout.fileno(), True)
    process.stdout.read()  # until it has ended, too
    process.stdout.close()
    shutil.rmtree(folder)
