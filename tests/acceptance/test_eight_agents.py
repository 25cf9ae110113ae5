"""Eight agents as processes, each on a task with a file of its own, some of them killed at any moment."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.acceptance.side_by_side import SideBySide
from tests.tiers import is_full

AGENTS = 8
PATIENCE = 600


@pytest.mark.parametrize("way", ["worktree", pytest.param("together", marks=pytest.mark.full)])
def test_nobody_is_refused_for_a_neighbour_or_credited_with_its_work_and_every_commit_is_there_once(tmp_path, way):
    run = SideBySide(tmp_path / "house", AGENTS).begun()
    agents = {f"1.{number}": _Agent(run, f"1.{number}", way) for number in range(1, AGENTS + 1)}
    chance, kills = random.Random(8), 20 if is_full() else 4
    until = time.monotonic() + PATIENCE
    while any(agent.is_at_work for agent in agents.values()):
        assert time.monotonic() < until
        time.sleep(chance.random() / 2)
        working = [agent for agent in agents.values() if agent.is_at_work]
        if kills and working:
            kills -= chance.choice(working).killed_and_started_again()
    assert {task: agent.trouble() for task, agent in agents.items()} == dict.fromkeys(agents, "")

    run.ok("doctor", "--repair")
    assert run.subjects() == [f"feat(task-{task}): part {task}" for task in agents]
    assert run.statuses() == dict.fromkeys(agents, "done")
    done = {one["task"]: one["files_modified"] for one in run.ok("show").json["completed_tasks"]}
    assert done == {task: [f"parts/{task.partition('.')[2]}.txt"] for task in agents}
    assert {run.read(f"parts/{number}.txt") for number in range(1, AGENTS + 1)} == {"right\n"}
    assert (run.status(), run.branches(), run.pins()) == ([], ["main"], [])
    run.git("fsck", "--no-progress")


class _Agent:
    def __init__(self, run: SideBySide, task: str, way: str) -> None:
        self._argv = [sys.executable, str(Path(__file__).with_name("builder.py")), str(run.root), task, way]
        self._env = {**run.env, "CLAUDE_CODE_SESSION_ID": f"agent-{task}", "HOLDFAST_LOCK_WAIT": "120"}
        self._heard = run.root.with_name(f"heard-{task}")
        self._process = self._started()

    def _started(self) -> subprocess.Popen[bytes]:
        with self._heard.open("wb") as heard:
            return subprocess.Popen(
                self._argv, env=self._env, stdin=subprocess.DEVNULL, stdout=heard, stderr=heard, start_new_session=True
            )

    @property
    def is_at_work(self) -> bool:
        return self._process.poll() is None

    def killed_and_started_again(self) -> bool:
        """With the command that it runs; a git that this one has started continues."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        hit = self._process.wait() == -signal.SIGKILL
        if hit:
            self._process = self._started()
        return hit

    def trouble(self) -> str:
        return self._heard.read_text() if self._process.returncode else ""
