"""Where a host runs: a network namespace that has loopback and nothing else, with the model in it.

Started by `scene.py` under `unshare --net`. Each line of standard input is a command to run with the turns of the model
meanwhile, each line of standard output what became of it.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from typing import Any

import model  # type: ignore[import-not-found]  # started as a script: its neighbours are found by their names

SIOCSIFFLAGS = 0x8914
IFF_UP = 1


def loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def is_alone() -> bool:
    """Whether nothing but this namespace can be reached."""
    return [name for _, name in socket.if_nameindex()] == ["lo"]


class Talk(threading.Thread):
    """Says the lines of a dialogue: the next one when the program has answered the last one."""

    def __init__(self, started: subprocess.Popen[bytes], lines: list[str], answered: str) -> None:
        super().__init__(daemon=True)
        self._program, self._answered = started, answered.encode()
        self._lines = list(lines) if answered else ["".join(lines)]
        self.heard = bytearray()

    def run(self) -> None:
        self._next()
        for line in self._program.stdout:
            self.heard += line
            if self._answered and self._answered in line:
                self._next()

    def _next(self) -> None:
        try:
            if self._lines:
                self._program.stdin.write(self._lines.pop(0).encode())
                self._program.stdin.flush()
            if not self._lines:
                self._program.stdin.close()
        except (BrokenPipeError, ValueError):  # it has ended before its last word
            self._lines = []


def run(order: dict[str, Any], script: model.Script) -> dict[str, Any]:
    """Runs one command to its end, or to its deadline; then nothing is left of what it started."""
    script.begin(order["turns"], order["known"])
    with tempfile.TemporaryFile() as err:
        started = subprocess.Popen(
            order["argv"],
            cwd=order["cwd"],
            env=order["env"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=err,
            start_new_session=True,
        )
        talk = Talk(started, order["lines"], order["answered"])
        talk.start()
        late = False
        try:
            started.wait(order["deadline"])
        except subprocess.TimeoutExpired:
            late = True
        try:
            os.killpg(started.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        code = started.wait()
        talk.join()
        err.seek(0)
        said = err.read()
    requests, unheard = script.taken()
    return {
        "code": code,
        "late": late,
        "out": talk.heard.decode(errors="replace"),
        "err": said.decode(errors="replace"),
        "requests": requests,
        "unheard": unheard,
    }


def main() -> None:
    loopback_up()
    script = model.Script()
    print(json.dumps({"port": model.serve(script), "alone": is_alone()}), flush=True)
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line), script)), flush=True)


if __name__ == "__main__":
    main()
