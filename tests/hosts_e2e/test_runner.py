"""`holdfast run` with the real hosts: a feature from its file to the pull request, with one mistake in each task."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hosts_e2e import hosts
from tests.hosts_e2e.scene import Run, Scene, Turn, say
from tests.tiers import is_full

FEATURE = "features/greet.md"
TASKS = ("Greet", "Part", "Thank")
VARIABLES = ("LOOP_KEY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY")
PROGRAMS = {"claude-code": "claude", "codex": "codex", "opencode": "opencode"}
HOSTS = (hosts.ClaudeCode, hosts.Codex, hosts.Opencode)

KILLING = """
import os, random, signal, subprocess, sys, time
chance = random.Random(7)
for _ in range(int(sys.argv[1])):
    runner = subprocess.Popen(sys.argv[2:])
    time.sleep(chance.uniform(0.3, 4))
    runner.kill()
    runner.wait()
sys.exit(subprocess.call(sys.argv[2:]))
"""

AGENT = """
step=$(holdfast next --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["step"])')
n=$(echo $step | cut -d/ -f2); name=part$n
case $step in
*/red)
  printf "import unittest, $name\\n\\nclass T(unittest.TestCase):\\n    def test_$name(self):\\n" > test_$name.py
  printf "        self.assertEqual($name.say(), $n)\\n" >> test_$name.py
  printf 'def say():\\n    pass\\n' > $name.py
  holdfast done --test test_$name.T.test_$name ;;
*/green)
  value=0; grep -q 'return' $name.py && value=$n
  printf "def say():\\n    return $value\\n" > $name.py ;;
esac
"""


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

[runner.prices.claude]
input = 4.0
output = 20.0

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
        assert scene.typed("trust", ".holdfast/config.toml", "--yes").code == 0

    @property
    def environment(self) -> dict[str, str]:
        own = getattr(self.host, "environment", {"LOOP_KEY": "nobody"})
        program: Path = self.host.program  # type: ignore[attr-defined]
        return {**own, "PATH": f"{program.parent}:{self.scene.environment['PATH']}"}

    def run(self, turns: list[Turn], *words: str, kills: int = 0) -> Run:
        """With `kills`, the runner is killed so often in between, at any moment, and then runs to its end."""
        program = (self.scene._holdfast, "run", *words)
        killing = (sys.executable, "-S", "-c", KILLING, str(kills)) if kills else ()
        return self.scene.run(*killing, *program, turns=turns, env=self.environment)

    def task(self, number: int) -> list[Turn]:
        """A test that fails, a wrong greeting, and once the runner says what failed, the right one."""
        name = TASKS[number - 1].lower()
        test = f"import unittest, {name}\\n\\nclass T(unittest.TestCase):\\n    def test_{name}(self):\\n"
        test += f"        self.assertEqual({name}.say(), {number})\\n"
        write = self.host.shell
        return [
            write(f"printf '{test}' > test_{name}.py; printf 'def say():\\n    pass\\n' > {name}.py"),
            write(f"holdfast done --test test_{name}.T.test_{name}"),
            say("The test fails."),
            write(f"printf 'def say():\\n    return 0\\n' > {name}.py"),
            say("It should work."),
            write(f"printf 'def say():\\n    return {number}\\n' > {name}.py"),
            say("Now it does."),
            say("Nothing to tidy up."),
        ]

    def spent(self) -> int:
        """Micro-dollars in the journal."""
        records = self.scene.asked("log", "--after", "0", "--limit", "100000")["records"]
        return sum(one["micros"] for record in records for one in record["events"] if one["event"] == "spent")

    def state(self) -> dict[str, Any]:
        return self.scene.asked("status")


@pytest.fixture(params=HOSTS, ids=lambda kind: kind.name)
def play(request, tmp_path, holdfast, clients):
    with Scene(tmp_path, holdfast, clients) as scene:
        yield Play(scene, request.param)


def test_a_feature_is_developed_from_its_file_to_the_pull_request(play):
    checks = ("lint", "security_review", "code_simplifier")
    reported = play.host.shell("; ".join(f"holdfast check {name} --passed" for name in checks))
    turns = [*(turn for number in (1, 2, 3) for turn in play.task(number)), reported, say("I found nothing.")]
    run = play.run(turns, "dev", FEATURE)
    assert run.code == 3, str(run)
    assert run.unheard == [], str(run)
    state = play.state()
    done = {one["path"]: one["status"] for one in state["steps"]}
    undone = {path: word for path, word in done.items() if word != "done" and path != "pr_creation"}
    assert undone == {}, str(run)
    assert state["step"] == "pr_creation"
    subjects = play.scene.sh("git", "log", "--format=%s", "main..").splitlines()
    assert len(subjects) == 3
    prompts = [one.text for one in run.turns]
    assert sum("0 != 1" in text for text in prompts) >= 1
    each = {"claude": 4000, "codex": 1000, "opencode": 1000}[play.program]  # 900 tokens in, 20 out
    assert play.spent() == each * len(run.turns)


@pytest.mark.parametrize("play", HOSTS[:1], indirect=True, ids=["claude-code"])
def test_a_runner_that_is_killed_again_and_again_is_continued_without_repair(play):
    """What a request cost that was under way when its host was killed, nobody told; everything else is booked once."""
    play.scene.home.joinpath("agent.sh").write_text(AGENT)
    turns = [play.host.shell("bash ~/agent.sh"), say("That is all.")] * 80
    kills = 30 if is_full() else 8
    run = play.run(turns, "dev", FEATURE, "--until", "task_execution", kills=kills)
    assert run.code == 0, str(run)
    history = play.scene.asked("log", "--after", "0", "--limit", "100000")["records"]
    done = [one["step"] for record in history for one in record["events"] if one["event"] == "completed"]
    assert len(done) == len(set(done))
    assert len(play.scene.sh("git", "log", "--format=%s", "main..").splitlines()) == 3
    asked = len(run.turns)
    assert 4000 * (asked - kills) <= play.spent() <= 4000 * asked
    assert str(play.host.program) not in play.scene.sh("ps", "-eo", "args")
