"""A project with hooks, and the command that a host runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from tests.surfaces.hooks.scene import Scene

RUN = Path(holdfast.__file__).parent / "surfaces" / "hooks" / "run.py"
COMMAND = (sys.executable, "-I", "-S", str(RUN))


class Project:
    """A folder with `.holdfast`, what the engine would have written there, and its hook."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / ".holdfast"

    def guard(self, *workflows, **parts):
        """Writes the view that hooks judge by: whole workflows, or one made of parts."""
        rows = list(workflows) or [{"id": "release-1", "ulid": "01U", "worktree": "", **parts}]
        (self.home / "guard").write_text(json.dumps({"version": 1, "workflows": rows}))

    def active(self, *entries):
        rows = list(entries) or [{"ulid": "01U", "id": "release-1", "title": "Release it", "subject": ""}]
        text = json.dumps({"active": rows, "finished_count": 0, "seal": "", "finished": []}, separators=(",", ":"))
        (self.home / "index").write_text(text)

    def event(self, name, **more):
        return {"hook_event_name": name, "session_id": "S1", "cwd": str(self.root), **more}

    def raw(self, data, cwd=None, **environment):
        """The bytes that come back for the bytes of an event, from a real process that must end well."""
        env = {**os.environ, **environment}
        done = subprocess.run(COMMAND, input=data, capture_output=True, cwd=cwd or self.root, env=env, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    def hook(self, name, **more):
        return self.raw(json.dumps(self.event(name, **more)).encode())

    def notes(self):
        inbox = self.home / "inbox"
        return [json.loads(line) for line in inbox.read_text().splitlines()] if inbox.exists() else []

    def logged(self):
        log = self.home / "hook.log"
        return log.read_text() if log.exists() else ""


def denied(answer):
    """The reason in an answer to a host, which must have the one shape that hosts accept."""
    said = json.loads(answer)["hookSpecificOutput"]
    assert (said["hookEventName"], said["permissionDecision"]) == ("PreToolUse", "deny")
    return said["permissionDecisionReason"]


def edit(project, path, **more):
    return project.hook("PreToolUse", tool_name="Edit", tool_input={"file_path": str(path)}, **more)


def git(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    (root / ".holdfast").mkdir(parents=True)
    return Project(root)


@pytest.fixture
def scene(tmp_path):
    root = tmp_path / "project"
    (root / ".holdfast" / "workflows").mkdir(parents=True)
    (root / "src").mkdir()
    return Scene(root)
