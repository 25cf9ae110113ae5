"""A clock of the year 2500, when nanoseconds no longer fit into 64 bits, and file times that no clock has shown yet."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.cli.conftest import Answer
from tests.tiers import need

HOLDFAST = str(Path(sys.executable).parent / "holdfast")
THEN = "@2500-01-01 00:00:00"
SLEEP = """
import select, time
time.sleep = lambda seconds: select.select([], [], [], seconds) and None
"""
"""With such a clock, faketime makes every call of clock_nanosleep fail. That is not what is tested here."""


@pytest.fixture
def later(project, tmp_path_factory):
    """Types commands in that year."""
    need("faketime")
    path = tmp_path_factory.mktemp("sleep")
    (path / "sitecustomize.py").write_text(SLEEP)

    def typed(*words, stdin=""):
        env = {**project.env, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "TZ": "UTC", "PYTHONPATH": str(path)}
        words = ("faketime", "-f", THEN, HOLDFAST, *words)
        done = subprocess.run(words, cwd=project.root, env=env, input=stdin, capture_output=True, text=True)
        assert "Overflow" not in done.stdout + done.stderr
        return Answer(done.returncode, done.stdout, done.stderr)

    return typed


def test_every_read_and_change_works(project, later):
    for words in ("status", "next", "list", "show", "log", "metrics", "resume-packet", "doctor"):
        assert later(words).code == 0, words
    assert later("note", "from the future").code == 0
    assert "2500-01-01T00:00" in project.ok("log", "--json").out
    assert later("start", "release", "2.0").code == 0
    assert project.ok("list", "--json").json["total"] == 2


def test_hooks_answer_and_leave_notes(project, later):
    event: dict = {"session_id": "s", "cwd": str(project.root), "source": "resume", "tool_name": "Write"}
    event["tool_input"] = {"file_path": str(project.root / "x")}
    for name in ("SessionStart", "PreCompact", "PostToolUse", "Stop"):
        assert later("hook", stdin=json.dumps({**event, "hook_event_name": name})).code == 0
    assert project.opened().workflow().id in later("statusline", stdin=json.dumps(event)).out
    assert not (project.root / ".holdfast/hook.log").exists()
    assert project.ok("status", "--json").code == 0


@pytest.mark.parametrize("year", [1901, 2300, 2446])
def test_files_may_have_any_time(project, year):
    at = (year - 1970) * 31_556_952
    for folder, _, files in os.walk(project.root):
        for name in files:
            os.utime(os.path.join(folder, name), (at, at))
    assert project.ok("status", "--json").code == 0
    assert project.ok("doctor").code == 0
