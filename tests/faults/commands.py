"""Holdfast commands in processes of their own, each a fork of one that has done nothing but import.

So a command costs milliseconds, and a trace of it begins with its own first system call.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

_SERVER = """
import importlib, io, json, os, pkgutil, resource, signal, subprocess, sys
import holdfast
from holdfast.files import system
from holdfast.surfaces.cli.main import main

for found in pkgutil.walk_packages(holdfast.__path__, "holdfast."):
    if not found.name.endswith("__main__"):
        try:
            importlib.import_module(found.name)
        except ImportError:
            pass
system.here.rename("/nowhere", "/nowhere", 0)

def child(task, out, err):
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.closerange(3, 100)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")
    os.chdir(task["root"])
    if task["largest"] is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (task["largest"], task["largest"]))
    if task["strace"]:
        os.kill(os.getpid(), signal.SIGSTOP)
    code = main(task["words"])
    sys.stdout.flush()
    sys.stderr.flush()
    return code

def traced(pid, strace):
    os.waitpid(pid, os.WUNTRACED)
    tracer = subprocess.Popen([*strace, "-p", str(pid)], stderr=subprocess.PIPE)
    while b" attached" not in (line := tracer.stderr.readline()):
        assert line, "strace did not attach"
    os.kill(pid, signal.SIGCONT)
    return tracer

for line in sys.stdin:
    task = json.loads(line)
    out, err = os.pipe(), os.pipe()
    pid = os.fork()
    if not pid:
        code = 70
        try:
            code = child(task, out[1], err[1])
        except BaseException as failure:
            os.write(2, f"Traceback: {failure!r}".encode())
        finally:
            os._exit(code)
    os.close(out[1])
    os.close(err[1])
    tracer = traced(pid, task["strace"]) if task["strace"] else None
    said = []
    for end in (err[0], out[0]):
        with open(end, "rb") as file:
            said.append(file.read().decode())
    _, status = os.waitpid(pid, 0)
    if tracer:
        tracer.communicate()
    print(json.dumps({"code": os.waitstatus_to_exitcode(status), "err": said[0], "out": said[1]}), flush=True)
"""


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.out)


class Commands:
    """Runs commands one after the other."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-P", "-c", _SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": "0"},
        )

    def __call__(self, root: str, *words: str, largest: int | None = None, strace: tuple[str, ...] = ()) -> Answer:
        """One command. It may be forbidden to write files `largest` bytes long, or be watched by `strace`."""
        assert self._server.stdin
        assert self._server.stdout
        task = {"root": root, "words": words, "largest": largest, "strace": strace}
        self._server.stdin.write(json.dumps(task) + "\n")
        self._server.stdin.flush()
        return Answer(**json.loads(self._server.stdout.readline()))

    def close(self) -> None:
        assert self._server.stdin
        assert self._server.stdout
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()
