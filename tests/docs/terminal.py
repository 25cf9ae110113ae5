"""Running what a page shows: as a person at a terminal, or as an agent without one."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

from tests import forked

PATIENCE = 60
QUESTIONS = (b"[y/N] ", b"[Y/n] ", b"[1/2] ")
CARRIED = ("GIT_", "LANG", "LC_", "PYTHONPATH")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_KEPT = """\
set -a; [ -f "$KEPT/variables" ] && . "$KEPT/variables"; cd "$(cat "$KEPT/folder")"
eval "$TYPED"
code=$?; unset TYPED; export -p > "$KEPT/variables"; pwd > "$KEPT/folder"; exit $code
"""


class Terminal:
    """One project and one home; folder and variables go from command to command as in a shell."""

    def __init__(self, project: Path, home: Path) -> None:
        self.project = project
        self._kept = home / ".kept"
        self._kept.mkdir(parents=True)
        (self._kept / "folder").write_text(f"{project}\n")
        programs = home / ".programs"
        programs.mkdir()
        forked.program(programs / "holdfast")
        self._environment = {
            **{name: value for name, value in os.environ.items() if name.startswith(CARRIED)},
            "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(home),
            "USER": "ada",
            "TERM": "dumb",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONUTF8": "1",
            "KEPT": str(self._kept),
        }
        project.mkdir(exist_ok=True)
        self.as_agent("git init -q -b main . && git add . && git commit -q --allow-empty -m 'A beginning'")

    def write(self, name: str, content: str) -> None:
        path = Path((self._kept / "folder").read_text().rstrip("\n"), name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def as_agent(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-c", _KEPT],
            env={**self._environment, "TYPED": command},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PATIENCE,
        )
        return done.returncode, done.stdout.decode()

    def as_person(self, command: str, answers: list[str]) -> tuple[int, str]:
        """On a pseudo-terminal; each question, such as one that ends in `[y/N]`, gets the next answer.

        It does not say how wide it is: the pages show each sentence in one line.
        """
        ours, theirs = forked.terminal()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 0, 0, 0))
        process = subprocess.Popen(
            ["bash", "-c", _KEPT],
            env={**self._environment, "TYPED": command},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        try:
            seen = _listen(ours, list(answers))
        finally:
            os.close(ours)
        return process.wait(PATIENCE), seen


def _listen(terminal: int, answers: list[str]) -> str:
    heard, deadline = b"", time.monotonic() + PATIENCE
    while True:
        ready, _, _ = select.select([terminal], [], [], deadline - time.monotonic())
        assert ready, f"nothing more came, and it has not ended:\n{heard.decode(errors='replace')}"
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other end is closed
            chunk = b""
        if not chunk:
            return _COLOUR.sub("", heard.decode().replace("\r\n", "\n"))
        heard += chunk
        if heard.endswith(QUESTIONS):
            assert answers, f"nobody expected a question:\n{heard.decode()}"
            os.write(terminal, answers.pop(0).encode() + b"\n")


def answers(expected: str) -> list[str]:
    return re.findall(r"(?:\[y/N\]|\[Y/n\]|\[1/2\])(?: (.*))?$", expected, flags=re.MULTILINE)
