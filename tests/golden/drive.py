"""Ways to ask the public surfaces: the command line, a host's hooks, a person's terminal and the MCP server.

Every command is `holdfast.surfaces.cli.main.main`, called in a fork of this process that has all modules loaded. It is
a process of its own as far as the command can tell, without the cost of starting an interpreter.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import sys
import tempfile
import termios
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from tests.forked import terminal

ENTRY = "holdfast.surfaces.cli.main"
PATIENCE_SECONDS = 120
FOREIGN = (
    "COLUMNS",
    "LINES",
    "CLAUDE",
    "CODEX",
    "COPILOT",
    "CURSOR",
    "GEMINI",
    "GH_",
    "GIT",
    "HOLDFAST",
    "MAKE",
    "OPENCODE",
    "PYTEST",
    "XDG_",
)
PROTOCOL = "2025-06-18"


class Answer:
    """What a command said and how it ended."""

    def __init__(self, code: int, out: str, err: str = "") -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def text(self) -> str:
        """Standard output, then standard error with a mark on every line, then an exit code that is not 0."""
        marked = "".join(f"2> {line}\n" for line in self.err.splitlines())
        out = self.out if not self.out or self.out.endswith("\n") else self.out + "\n"
        return out + marked + (f"exit {self.code}\n" if self.code else "")


def clean_environment() -> None:
    """Leaves nothing in the environment that says who acts, where git looks, or how output is styled."""
    for name in list(os.environ):
        if name.startswith(FOREIGN) or name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "LOGNAME"):
            del os.environ[name]
    os.environ |= {
        "PATH": os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"])),
        "TERM": "dumb",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "USER": "ada",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    for role in ("AUTHOR", "COMMITTER"):
        os.environ |= {
            f"GIT_{role}_NAME": "Ada",
            f"GIT_{role}_EMAIL": "ada@example.org",
            f"GIT_{role}_DATE": "2026-01-01T00:00:00Z",
        }
    time.tzset()


def load_everything() -> None:
    """Imports all of the package, by whatever names its modules have, so that forks need not."""
    package = importlib.import_module("holdfast")
    for module in pkgutil.walk_packages(package.__path__, "holdfast.", onerror=lambda _: None):
        if not module.name.endswith(("__main__", ".run")):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)
    gc.collect()
    gc.freeze()  # a fork need not copy what its collector would touch


def forked(argv: list[str], cwd: Path, env: dict[str, str], ends: tuple[int, int, int]) -> int:
    """Runs a command in a child whose standard streams are these; the child's process id."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        _child(argv, cwd, env, ends)
    return pid


def detached(argv: list[str], cwd: Path, env: dict[str, str], ends: tuple[int, int, int]) -> int:
    """The same at a terminal, with nothing above it that may run agents; where its exit code is read."""
    sys.stdout.flush()
    sys.stderr.flush()
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        if os.fork():
            os._exit(0)
        pid = os.fork()
        if pid == 0:
            _child(argv, cwd, env, ends, terminal=True)
        for end in set(ends):
            os.close(end)
        os.write(writing, b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        os._exit(0)
    os.waitpid(between, 0)
    os.close(writing)
    return reading


def _child(
    argv: list[str], cwd: Path, env: dict[str, str], ends: tuple[int, int, int], *, terminal: bool = False
) -> NoReturn:
    code = 70
    try:
        os.setsid()
        if terminal:
            fcntl.ioctl(ends[0], termios.TIOCSCTTY, 0)
        for number, end in enumerate(ends):
            os.dup2(end, number)
        os.closerange(3, 256)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(env)
        sys.argv = ["holdfast", *argv]
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False, buffering=1)
        main: Callable[[list[str]], int] = importlib.import_module(ENTRY).main
        code = main(argv)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:  # noqa: BLE001 - nothing of the parent may run in the child
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def command(argv: list[str], cwd: Path, env: dict[str, str], stdin: str = "") -> Answer:
    """What an agent types: no terminal is attached."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        pid = forked(argv, cwd, env, (given.fileno(), out.fileno(), err.fileno()))
        code = _ended(pid)
        out.seek(0)
        err.seek(0)
        return _checked(argv, Answer(code, out.read().decode(), err.read().decode()))


def typed(argv: list[str], cwd: Path, env: dict[str, str], says: str) -> Answer:
    """What a person types at a terminal of their own; `says` answers a question."""
    mine, theirs = terminal()
    ended = detached(argv, cwd, env, (theirs, theirs, theirs))
    os.close(theirs)
    heard, said, deadline = b"", False, time.monotonic() + PATIENCE_SECONDS
    while select.select([mine], [], [], max(deadline - time.monotonic(), 0))[0]:
        part = b""
        with contextlib.suppress(OSError):  # the other end of a terminal is gone
            part = os.read(mine, 65536)
        if not part:
            break
        heard += part
        if heard.endswith(b"] "):
            os.write(mine, f"{'' if said else says}\n".encode())
            said = True
    with open(ended, "rb") as code_of:
        code = int(code_of.read())
    os.close(mine)
    return _checked(argv, Answer(code, heard.decode().replace("\r\n", "\n")))


def _ended(pid: int) -> int:
    handle = os.pidfd_open(pid)
    try:
        if not select.select([handle], [], [], PATIENCE_SECONDS)[0]:
            os.kill(pid, signal.SIGKILL)
    finally:
        os.close(handle)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _checked(argv: list[str], answer: Answer) -> Answer:
    assert "Traceback (most recent" not in answer.out + answer.err, (argv, answer.text)
    return answer


class Server:
    """`holdfast mcp` over standard input and output, and a client that can show a form."""

    def __init__(self, cwd: Path, env: dict[str, str]) -> None:
        theirs_in, self._to = os.pipe()
        self._from, theirs_out = os.pipe()
        self._err = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the server
        self._pid = forked(["mcp"], cwd, env, (theirs_in, theirs_out, self._err.fileno()))
        os.close(theirs_in)
        os.close(theirs_out)
        self._buffer, self._number = b"", 0
        self.asked: list[dict[str, Any]] = []
        """What a person was asked by form while the last call continued; each was declined."""
        hello = {"protocolVersion": PROTOCOL, "clientInfo": {"name": "golden", "version": "1"}}
        self.instructions = self.request("initialize", {**hello, "capabilities": {"elicitation": {}}})["instructions"]
        self._send({"method": "notifications/initialized"})

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        self.asked = []
        self._send({"id": self._number, "method": method, "params": params})
        for message in self._messages():
            if message.get("id") == self._number and "method" not in message:
                return message["result"] if "result" in message else {"error": message["error"]}
            if message.get("method") == "elicitation/create":
                self.asked.append(message["params"])
                self._send({"id": message["id"], "result": {"action": "decline"}})
        raise AssertionError(f"no answer to {method}: {self._complaint()}")

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The object that a tool answers with, or its error."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if "structuredContent" in result:
            assert json.loads(result["content"][0]["text"]) == result["structuredContent"], result
            return result["structuredContent"]
        return json.loads(result["content"][0]["text"]) if "content" in result else result

    def close(self) -> None:
        os.close(self._to)
        os.close(self._from)
        _ended(self._pid)
        self._err.close()

    def _send(self, message: dict[str, Any]) -> None:
        os.write(self._to, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def _messages(self) -> Iterator[dict[str, Any]]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            line, newline, rest = self._buffer.partition(b"\n")
            if newline:
                self._buffer = rest
                yield json.loads(line)
                continue
            if not select.select([self._from], [], [], max(deadline - time.monotonic(), 0))[0]:
                return
            part = os.read(self._from, 65536)
            if not part:
                return
            self._buffer += part

    def _complaint(self) -> str:
        self._err.seek(0)
        return self._err.read().decode()
