"""A compaction that takes the engine too long is given up, and counts all the same."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys

import pytest

from tests.surfaces.hooks.conftest import COMMAND, Project

ALARM = 1 << (signal.SIGALRM - 1)


@pytest.fixture
def project(tmp_path):
    """A project in which session S1 has begun a workflow."""
    made = Project(tmp_path / "project")
    made.root.mkdir()
    words = [sys.executable, "-m", "holdfast", "start", "custom", "Database Migration", "--phases", "Backup,Migrate"]
    env = {**os.environ, "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "S1"}
    subprocess.run(words, cwd=made.root, env=env, check=True, capture_output=True)
    return made


def has_open(pid, path):
    """Whether a process has opened a file, as far as it can be seen."""
    folder = f"/proc/{pid}/fd"
    try:
        return any(os.path.realpath(f"{folder}/{number}") == str(path) for number in os.listdir(folder))
    except OSError:
        return False


def is_called(pid):
    """Whether the alarm of a process that is still has gone off."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        pending = [line.split()[1] for line in status if line.startswith(("SigPnd", "ShdPnd"))]
    return any(int(signals, 16) & ALARM for signals in pending)


def locked(path):
    file = path.open("a")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def given_up(project, event, *meanwhile):
    """Sends an event and stops the hook at a lock until its alarm has gone off. Meanwhile other files are locked."""
    (journal,) = project.home.glob("journal/*/*.jsonl")
    files = [locked(journal)]
    hook = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    hook.stdin.write(json.dumps(event).encode())
    hook.stdin.close()
    while not has_open(hook.pid, journal):
        assert hook.poll() is None
    os.kill(hook.pid, signal.SIGSTOP)
    while not is_called(hook.pid):
        assert hook.poll() is None
    files += map(locked, meanwhile)
    os.kill(hook.pid, signal.SIGCONT)
    assert hook.stdout.read() == b""
    assert hook.wait(60) == 0
    hook.stdout.close()
    for file in files:
        file.close()


def test_it_leaves_a_note_of_the_compaction(project):
    given_up(project, project.event("PreCompact", trigger="auto"))
    (note,) = project.notes()
    assert isinstance(note.pop("at"), float)
    assert note == {"event": "PreCompact", "session": "S1", "trigger": "auto"}
    assert "PreCompact took too long" in project.logged()


def test_the_compaction_is_counted_later(project):
    given_up(project, project.event("PreCompact", trigger="auto"))
    words = [sys.executable, "-m", "holdfast", "log", "--json"]
    said = subprocess.run(words, cwd=project.root, check=True, capture_output=True).stdout
    assert said.count(b'"compacted"') == 1
    assert project.notes() == []


def test_without_a_session_there_is_nobody_to_note_it_of(project):
    given_up(project, project.event("PreCompact", trigger="auto", session_id=""))
    assert project.notes() == []


def test_other_events_leave_nothing(project):
    given_up(project, project.event("SessionStart", source="compact"))
    assert project.notes() == []
    assert "SessionStart took too long" in project.logged()


def test_an_inbox_that_is_locked_for_good_is_not_waited_for(project):
    given_up(project, project.event("PreCompact", trigger="auto"), project.home / "inbox")
    assert project.notes() == []
    assert "PreCompact took too long" in project.logged()
