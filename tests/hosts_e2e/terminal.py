"""A person at a terminal: waits for what the screen shows and types, as a list of steps says. Run as a program.

`terminal.py --alone PROGRAM …` answers every question with Enter, in a terminal that nothing above it has started: as
a person has one. Its code is the program's.

`terminal.py STEPS PROGRAM …`, where STEPS is JSON: `[["what the screen has to show", "what is typed then"], …]`. Prints
all that was shown; the code is 0 when every step was taken.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

PATIENCE = 120
"""Seconds that the screen may stay without what is waited for."""
ROWS, COLUMNS = 50, 160
_CONTROLS = re.compile(rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[\[>][0-9;?>=]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[78=>]")
_PAUSE = 0.3
"""Seconds in which the screen has to be still before anything is typed: programs drop keys while they draw."""
_RESTLESS = 10
"""Seconds after which a screen that is never still is taken as it is: something on it turns."""


class Screen:
    """Everything that the program has shown so far, as text in the order of its coming."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._raw = bytearray()

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", _CONTROLS.sub(b" ", bytes(self._raw)).decode(errors="replace"))

    def read(self, seconds: float) -> bool:
        """Whether anything came; False also when the program has ended."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return False
        try:
            self._raw += os.read(self._fd, 1 << 16)
        except OSError:
            return False
        return True

    def wait(self, shown: str, start: int) -> int:
        """The place behind a text, when it is there and the screen is still; -1 when it never comes."""
        until = time.monotonic() + PATIENCE
        while (at := self.text.find(shown, start)) < 0:
            self.read(_PAUSE)
            if time.monotonic() > until:
                return -1
        until = time.monotonic() + _RESTLESS
        while self.read(_PAUSE) and time.monotonic() < until:
            pass
        return at + len(shown)


def alone(program: list[str]) -> int:
    reading, writing = os.pipe()
    if os.fork() == 0:
        if os.fork():
            os._exit(0)  # what the other one comes from is no longer to be seen
        pid, fd = pty.fork()
        if pid == 0:
            os.environ.pop("PYTHONHOME", None)
            os.execv(program[0], program)
        while True:
            try:
                shown = os.read(fd, 1 << 16)
            except OSError:  # the other end is closed
                break
            os.write(1, shown)
            if shown.endswith(b"] "):
                os.write(fd, b"\n")
        os.write(writing, b"%d" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        os._exit(0)
    os.close(writing)
    os.wait()
    return int(os.read(reading, 10))


def main() -> int:
    if sys.argv[1] == "--alone":
        return alone(sys.argv[2:])
    steps, program = json.loads(sys.argv[1]), sys.argv[2:]
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(program[0], program)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen, at = Screen(fd), 0
    for shown, typed in steps:
        at = screen.wait(shown, at)
        if at < 0:
            break
        os.write(fd, typed.encode())
    print(screen.text)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return 0 if at >= 0 else 1


if __name__ == "__main__":
    sys.exit(main())
