"""A project with a workflow, and a host that is a script: what it does in a turn is a line of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.cli.conftest import Answer
from tests.trusted import trust_file
from tests.workbench import Bench

RELEASE = """
name = "release"
title = "Release {subject}"
{bounds}

[[step]]
id = "write"
description = "Write NOTES.md"
outputs = ["notes"]
retry = { max = 4 }

[[step]]
id = "verify"
checks = [ { name = "good", run = ["grep", "-q", "good", "NOTES.md"], run_by = "engine" } ]
retry = { max = 3, back_to = "write" }

[[step]]
id = "sign-off"
approval = { by = "human" }
"""
PATIENCE = 60


class Stage:
    """Each turn of the host runs the next of the scripts, and later ones the last again."""

    def __init__(self, folder: Path) -> None:
        self.bench = Bench(folder / "project").begun()
        self.root = self.bench.root
        self.turns = folder / "turns"
        self.turns.mkdir()

    def define(self, text: str = RELEASE, bounds: str = "", name: str = "release") -> None:
        path = self.bench.write(f".holdfast/workflows/{name}.toml", text.replace("{bounds}", bounds))
        trust_file(self.bench.open(), str(path))

    def host(self, *scripts: str, more: str = "", cost: str = "usage.cost_usd", is_sum: bool = False) -> None:
        for number, script in enumerate(scripts, 1):
            (self.turns / f"{number}.sh").write_text(script)
        self.bench.write(
            "host.sh",
            f"""#!/bin/bash
n=$(ls {self.turns} | grep -c asked); n=$((n + 1))
cat > {self.turns}/$n.asked
env > {self.turns}/$n.env
script={self.turns}/$n.sh; [ -e $script ] || script={self.turns}/{len(scripts)}.sh
. $script
""",
        ).chmod(0o755)
        config = f"""
[runner]
host = "mine"
{more}

[runner.hosts.mine]
run = ["./host.sh"]
cost = "{cost}"
sum = {json.dumps(is_sum)}
"""
        path = self.bench.write(".holdfast/config.toml", config)
        trust_file(self.bench.open(), str(path))

    def begin(self, definition: str = "release", subject: str = "1.0") -> str:
        return str(self.bench.open().start(definition, subject).id)

    def run(self, *words: str, env: dict[str, str] | None = None) -> Answer:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        return self.bench.agent("run", *words, env={"PATH": path, **(env or {})})

    def events(self, *words: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.run(*words, "--json").out.splitlines()]

    def started(self, *words: str) -> subprocess.Popen[bytes]:
        """A runner that is a process of its own."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        hosted = ("CLAUDE", "CODEX", "OPENCODE")
        env = {name: value for name, value in os.environ.items() if not name.startswith(hosted)}
        argv = [sys.executable, "-m", "holdfast", "run", *words]
        pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(argv, cwd=self.root, env={**env, "PATH": path}, **pipes)

    def asked(self, turn: int) -> str:
        """The prompt of a turn."""
        return (self.turns / f"{turn}.asked").read_text()

    def environment(self, turn: int) -> dict[str, str]:
        rows = (line.partition("=") for line in (self.turns / f"{turn}.env").read_text().splitlines())
        return {name: value for name, _, value in rows}

    @property
    def many(self) -> int:
        return len(list(self.turns.glob("*.asked")))

    @property
    def state(self) -> Any:
        return self.bench.open().latest(finished=True).state

    def until(self, path: Path) -> None:
        wait_for(path.exists)


def wait_for(happened: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)
