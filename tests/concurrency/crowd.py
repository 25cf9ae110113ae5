"""Real processes on one root. What each was told is in a file of its own, written after the call returned."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from holdfast.machine import settings
from holdfast.project.project import Project, open_project

PREAMBLE = """
import os, sys
from holdfast.machine import settings
from holdfast.errors import HoldfastError
from holdfast.project.project import open_project

root, number, told = sys.argv[1], int(sys.argv[2]), os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
surface = "python" if number % 2 else "test"  # some hand the showing of their lines over
how = settings.read({"HOME": root, "HOLDFAST_LOCK_WAIT": "60"}, terminal=False, surface=surface)
project = open_project(root, settings=how)

def tell(*words):
    os.write(told, (" ".join(map(str, words)) + "\\n").encode())

print("ready", flush=True)
sys.stdin.readline()
"""


class Crowd:
    """Processes that wait for each other and then begin at once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root.parent / "told"
        self.folder.mkdir(exist_ok=True)
        self.processes: list[subprocess.Popen[str]] = []

    def add(self, script: str, number: int) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", PREAMBLE + script, str(self.root), str(number), str(self.told_by(number))]
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.processes.append(process)
        return process

    def told_by(self, number: int) -> Path:
        return self.folder / str(number)

    def begin(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.stderr.read() if process.stderr else ""
        process.stdin.write("go\n")
        process.stdin.flush()

    def run(self, script: str, count: int) -> None:
        """So many processes, all at once; each must end well."""
        crowd = [self.add(script, number) for number in range(count)]
        for process in crowd:
            self.begin(process)
        self.join(crowd)

    def join(self, crowd: list[subprocess.Popen[str]]) -> None:
        for process in crowd:
            _, complaint = process.communicate(timeout=120)
            assert process.returncode == 0, complaint

    def told(self, number: int) -> list[list[str]]:
        """What a process was told, oldest first. A line a killed one was writing counts only when it is whole."""
        path = self.told_by(number)
        whole = path.read_text().rpartition("\n")[0] if path.exists() else ""
        return [line.split(" ") for line in whole.split("\n") if line]

    def open(self) -> Project:
        return open_project(
            str(self.root), settings=settings.read({"HOME": str(self.root)}, terminal=False, surface="test")
        )

    def end(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()


def document(root: Path, name: str) -> Path:
    return root / ".claude/workflow-state/active" / f"{name}.json"


def notes(records) -> dict[int, str]:
    """Every note by its revision."""
    return {record.revision: event.text for record in records for event in record.events if hasattr(event, "text")}
