"""`holdfast run` with the real hosts: a feature from its file to the pull request, with one mistake in each task."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hosts_e2e import hosts
from tests.hosts_e2e.scene import Run, Scene, Turn, say

FEATURE = "features/greet.md"
TASKS = ("Greet", "Part", "Thank")
VARIABLES = ("LOOP_KEY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY")
PROGRAMS = {"claude-code": "claude", "codex": "codex", "opencode": "opencode"}
HOSTS = (hosts.ClaudeCode, hosts.Codex, hosts.Opencode)


class Play:
    """A project with a feature of three tasks, and a host that `holdfast run` starts."""

    def __init__(self, scene: Scene, kind: type[hosts.Host]) -> None:
        self.scene, self.host = scene, kind(scene)
        self.host.settle()
        self.program = PROGRAMS[self.host.name]
        names = [*VARIABLES, *(f"OPENCODE_DISABLE_{name}" for name in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD"))]
        scene.write(
            ".holdfast/config.toml",
            f"""[commands]
test = ["python3", "-m", "unittest", "-v"]
lint = []
security_review = []
code_simplifier = []

[runner]
host = "{self.program}"
env = {json.dumps([*names, "OPENCODE_DISABLE_DEFAULT_PLUGINS"])}
allow = ["Bash(printf *)", "Bash(echo *)", "Bash(sleep *)"]

[runner.prices.codex]
input = 1.0
output = 5.0

[runner.prices.opencode]
input = 1.0
output = 5.0
""",
        )
        boxes = "\n".join(f"- [ ] {task}" for task in TASKS)
        scene.write(FEATURE, f"# Feature: Greetings\n\n## Tasks\n\n{boxes}\n")
        scene.write(".gitignore", "__pycache__/\n")
        scene.sh("git", "config", "user.name", "tester")
        scene.sh("git", "config", "user.email", "t@example.org")
        scene.commit("first")
        assert scene.typed("trust", ".holdfast/config.toml").code == 0

    @property
    def environment(self) -> dict[str, str]:
        own = getattr(self.host, "environment", {"LOOP_KEY": "nobody"})
        program: Path = self.host.program  # type: ignore[attr-defined]
        return {**own, "PATH": f"{program.parent}:{self.scene.environment['PATH']}"}

    def run(self, turns: list[Turn], *words: str) -> Run:
        return self.scene.run(self.scene._holdfast, "run", *words, turns=turns, env=self.environment)

    def task(self, number: int) -> list[Turn]:
        """A test that fails, a wrong greeting, and once the runner says what failed, the right one."""
        name = TASKS[number - 1].lower()
        test = f"import unittest, {name}\\n\\nclass T(unittest.TestCase):\\n    def test_{name}(self):\\n"
        test += f"        self.assertEqual({name}.say(), {number})\\n"
        write = self.host.shell
        return [
            write(f"printf '{test}' > test_{name}.py"),
            write(f"holdfast done --test test_{name}.T.test_{name}"),
            say("The test fails."),
            write(f"printf 'def say():\\n    return 0\\n' > {name}.py"),
            say("It should work."),
            write(f"printf 'def say():\\n    return {number}\\n' > {name}.py"),
            say("Now it does."),
            say("Nothing to tidy up."),
        ]

    def state(self) -> dict[str, Any]:
        return self.scene.asked("status")


@pytest.fixture(params=HOSTS, ids=lambda kind: kind.name)
def play(request, tmp_path, holdfast, clients):
    with Scene(tmp_path, holdfast, clients) as scene:
        yield Play(scene, request.param)


def test_a_feature_is_developed_from_its_file_to_the_pull_request(play):
    turns = [turn for number in (1, 2, 3) for turn in play.task(number)]
    run = play.run(turns, "dev", FEATURE)
    assert run.code == 3, str(run)
    assert run.unheard == [], str(run)
    state = play.state()
    done = {one["path"]: one["status"] for one in state["steps"]}
    assert {word for path, word in done.items() if path.startswith(("task_execution", "verification"))} == {"done"}
    assert state["step"] == "pr_creation"
    subjects = play.scene.sh("git", "log", "--format=%s", "main..").splitlines()
    assert len(subjects) == 3
    prompts = [one.text for one in run.turns]
    assert sum("0 != " in text for text in prompts) >= 3
