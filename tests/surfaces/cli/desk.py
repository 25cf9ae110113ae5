"""A person's terminal with a shell in it, detached from whatever runs the tests."""

from __future__ import annotations

import contextlib
import os
import select
import sys
import time
from pathlib import Path

from tests import forked
from tests.surfaces.cli.conftest import Project

PATIENCE = 60
APPROVE = "holdfast approve sign-off"
RUNS = '"$@"; exit $?'
"""What a host does: it runs what it is told, and stays above it."""


class Desk:
    """A person's terminal, with a shell line in it; whatever asks a question there gets an answer."""

    def __init__(self, project: Project, programs: Path) -> None:
        self.project, self.programs = project, programs
        path = f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.env = {**project.env, "PATH": path, "TERM": "xterm", "TMUX_TMPDIR": str(programs), "SHELL": "/bin/sh"}
        self.env["SCREENDIR"] = str(programs / "screens")
        (programs / "screens").mkdir(mode=0o700)

    def host(self, name: str, does: str = RUNS) -> str:
        path = self.programs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{does}\n")
        path.chmod(0o755)
        return str(path)

    def types(self, line: str, *, answer: str | None = "y", ahead: str = "", until: Path | None = None) -> str:
        """All that is shown until the line has ended, or there is a file. Without an answer, none is given."""
        primary, secondary = forked.terminal()
        if ahead:
            os.write(primary, ahead.encode())
        ends = (secondary, secondary, secondary)
        words = ["sh", "-c", line]
        process = forked.Process(words, ends, env=self.env, cwd=self.project.root, session=True, program=words)
        os.close(secondary)
        out, answered, deadline = b"", 0, time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not (until and until.exists()):
            if not select.select([primary], [], [], 0.1)[0]:
                continue
            part = os.read(primary, 65536)
            if not part:  # the other end of the terminal is gone
                break
            out += part
            if answer is not None and out.count(b"[y/N] ") + out.count(b"[Y/n] ") > answered:
                answered += 1
                os.write(primary, f"{answer}\n".encode())
        if until and until.exists():
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                process.kill()
        process.wait()
        os.close(primary)
        return out.decode(errors="replace").replace("\r\n", "\n")

    @property
    def approved(self) -> bool:
        return self.project.step("sign-off") == "done"
