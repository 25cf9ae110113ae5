"""A task document in a real repository, agents in processes of their own, and what the run's files say."""

from __future__ import annotations

import calendar
import json
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.acceptance.checkout import PATIENCE_SECONDS, Checkout

TASK_DOCUMENT = """\
# Task: User authentication

## Goal
Let users log in.

## Safety Bounds
**Maximum iterations per task**: 4
**Maximum cost**: $1
**Maximum time**: 2 hours

## Phases

### Phase 1: Foundation

#### Task 1.1: Update User model
**Description**: A user has a name.
**Success Criteria**:
- [ ] Model updated
- [ ] Tests pass: `python -m pytest -q tests/test_user.py`
**Agents Needed**: task-executor

#### Task 1.2: Hash passwords
**Success Criteria**:
- [ ] Nothing stored in clear

### Phase 2: Endpoints

#### Task 2.1: Create endpoints
- [ ] Endpoints there

#### Task 2.2: Add roles
- [ ] Roles there
**Dependencies**: Task 2.1

## Supervisor Checks
**Enable**: Yes
**Auto-Fix**: Yes

## Outer Ralph Loop
**Enable**: Yes
**Maximum Iterations**: 2

## Settings
**Plan approval**: relayed
"""
DOCUMENT = "docs/task.md"
STATE = ".claude/agent-state.json"
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
SPAN = re.compile(r"(?:(\d+)h )?(\d+)m (\d+)s")
WHEN, HOW_LONG = "a moment of the run", "at most as long as the run"


class Agent:
    """A process that works under a lease. What it is told continues while others are told something else."""

    def __init__(self, run: Orchestra) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("worker.py"))],
            cwd=run.root,
            env=run.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def tell(self, *words: str) -> None:
        self._process.stdin.write(json.dumps(words) + "\n")
        self._process.stdin.flush()

    def heard(self) -> tuple[int, dict[str, Any]]:
        out = self._process.stdout
        assert out
        assert select.select([out], [], [], PATIENCE_SECONDS)[0], "the agent says nothing"
        code, said = json.loads(out.readline())
        return code, said

    def does(self, *words: str) -> dict[str, Any]:
        self.tell(*words)
        code, said = self.heard()
        assert code == 0, (words, said)
        return said

    def refused(self, *words: str, code: int) -> dict[str, Any]:
        self.tell(*words)
        ended, said = self.heard()
        assert ended == code, (words, ended, said)
        return said["error"]

    def kill(self) -> None:
        self._process.kill()
        assert self._process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
        self.close()

    def close(self) -> None:
        """Its input ends, and with it the process, unless it is dead already."""
        self._process.stdin.close()
        self._process.wait(PATIENCE_SECONDS)
        self._process.stdout.close()


class Orchestra(Checkout):
    """A project with a task document, whose commands a person has read and trusted."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.write(DOCUMENT, TASK_DOCUMENT)
        self.git("add", DOCUMENT)
        self.git("commit", "-q", "-m", "What is to be done")
        self._agents: list[Agent] = []

    def start(self) -> Orchestra:
        said = self.person("trust", DOCUMENT, prompt="Trust it?", says="y")
        assert said.code == 0, said
        self.began = time.time()
        self.id = self.ok("start", "orchestrate", DOCUMENT, "--json").json["workflow_id"]
        return self

    def planned(self) -> Orchestra:
        self.ok("done", "plan")
        self.ok("approve", "plan")
        return self

    def agent_process(self) -> Agent:
        agent = Agent(self)
        self._agents.append(agent)
        return agent

    def dismiss(self) -> None:
        for agent in self._agents:
            agent.close()

    @property
    def folder(self) -> Path:
        return self.root / ".claude"

    @property
    def state(self) -> dict[str, Any]:
        """What the file itself says, without asking Holdfast."""
        return json.loads(self.read(STATE))

    def locks(self) -> dict[str, Any]:
        return json.loads(self.read(".claude/locks.json"))

    def learned(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.read(".claude/learnings.jsonl").splitlines()]

    def copies(self) -> list[str]:
        return sorted(path.name for path in self.folder.glob("checkpoint*.json"))

    def log(self) -> list[dict[str, Any]]:
        return self.ok("log", "--json", "-w", self.id).json["records"]

    def finish(self, task: str, *criteria: str, cost: str = "") -> None:
        """The criteria are reported as met, the task is handed in."""
        for name in criteria:
            self.ok("check", name, "--passed", "--step", task)
        if cost:
            self.ok("agent", "spend", cost, "--step", task)
        self.ok("task", "done", task)

    def work_of(self, task: str) -> dict[str, Any]:
        """What the commits of a task changed, as git tells it."""
        shas = self.git("log", "--format=%H", "--fixed-strings", f"--grep=feat(task-{task}):").split()
        rows = [line.split("\t") for sha in shas for line in self._numbers(f"{sha}^", sha)]
        return {"files_modified": sorted({row[2] for row in rows}), "lines_added": sum(int(row[0]) for row in rows)}

    def work_since(self, sha: str) -> dict[str, Any]:
        rows = [line.split("\t") for line in self._numbers(sha, "HEAD")]
        return {"files_modified": sorted(row[2] for row in rows), "lines_added": sum(int(row[0]) for row in rows)}

    def _numbers(self, old: str, new: str) -> list[str]:
        return self.git("diff", "--numstat", old, new).splitlines()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").strip()

    def timeless(self, value: Any) -> Any:
        """The same with every moment and span looked at: none is before the run began, none later than now."""
        if isinstance(value, dict):
            return {name: self.timeless(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.timeless(inner) for inner in value]
        if isinstance(value, str) and MOMENT.fullmatch(value):
            at = calendar.timegm(time.strptime(value, "%Y-%m-%dT%H:%M:%SZ"))
            assert int(self.began) <= at <= time.time(), value
            return WHEN
        if isinstance(value, str) and (span := SPAN.fullmatch(value)):
            hours, minutes, seconds = (int(part or 0) for part in span.groups())
            assert 3600 * hours + 60 * minutes + seconds <= time.time() - self.began, value
            return HOW_LONG
        return value


def wait_until_stale(run: Orchestra, token: int) -> None:
    """As whoever wants to take over does it: asks again and again."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        found = {one["token"]: one["stale"] for one in run.ok("agent", "list", "--json").json["agents"]}
        if found[token]:
            return
    raise AssertionError(f"the lease {token} never ran out")


def intervention(check: str, task: str, conflict: str, severity: str, action: str, resolution: str) -> dict[str, str]:
    return {
        "timestamp": WHEN,
        "check_type": check,
        "task": task,
        "conflict_type": conflict,
        "severity": severity,
        "action": action,
        "resolution": resolution,
    }


def completed(task: str, name: str, iterations: int, cost: str, run: Orchestra, **criteria: bool) -> dict[str, object]:
    return {
        "task": task,
        "name": name,
        "completed": WHEN,
        "iterations": iterations,
        "time_elapsed": HOW_LONG,
        "cost": cost,
        **run.work_of(task),
        "success_criteria_met": criteria,
    }


def learning(
    task: str, iteration: int, kind: str, lesson: str, pattern: str = "", context: str = ""
) -> dict[str, object]:
    return {
        "timestamp": WHEN,
        "task": task,
        "iteration": iteration,
        "type": kind,
        "lesson": lesson,
        "pattern": pattern,
        "context": context,
    }


def checkpoint(phase: int, task: str, sha: str, number: int) -> dict[str, object]:
    return {
        "timestamp": WHEN,
        "phase": phase,
        "task": task,
        "git_sha": sha,
        "state_snapshot": f"checkpoint-{number:03}.json",
    }
