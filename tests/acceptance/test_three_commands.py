"""A feature of three tasks, each in three commands and two runs of its tests; and what a commit is made of."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checks.kits import KITS
from tests.workbench import LOGIN, Bench

TASKS = ("Greet", "Count", "Part")
COUNTS = "import os\nwith open(os.environ['RUNS'], 'a') as runs:\n    runs.write('run\\n')\n"
"""What a project does whenever its tests are run: outside of the tree, it counts them."""


class Project:
    """A project whose tests count their runs, and an agent whose commands are counted."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bench = Bench(root / "project").begun()
        self._runs = root / "runs"
        self._runs.touch()
        monkeypatch.setenv("RUNS", str(self._runs))
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin")
        self.commands = 0
        self.patch = monkeypatch

    @property
    def runs(self) -> int:
        return len(self._runs.read_text().splitlines())

    def do(self, *words: str, code: int = 0):
        self.commands += 1
        answer = self.bench.agent(*words)
        assert answer.code == code, answer
        return answer

    def next(self) -> str:
        return json.loads(self.bench.agent("next", "--json").out)["required_action"]


def src_pytest(project: Project) -> Callable[[int], tuple[str, str, str]]:
    write = project.bench.write
    write(
        "pyproject.toml", '[project]\nname = "shop"\nversion = "1"\n[tool.pytest.ini_options]\npythonpath = ["src"]\n'
    )
    write("conftest.py", COUNTS)
    write("src/shop/__init__.py", "")

    def task(number: int) -> tuple[str, str, str]:
        write(
            f"tests/test_{number}.py",
            f"from shop import m{number}\n\n\ndef test_{number}():\n    assert m{number}.f() == 1\n",
        )
        return f"test_{number}", f"src/shop/m{number}.py", "def f():\n    return 1\n"

    return task


def only_unittest(project: Project) -> Callable[[int], tuple[str, str, str]]:
    """Nothing declares pytest, and the project's own interpreter does not have it."""
    write = project.bench.write
    write("tests/__init__.py", COUNTS)
    import venv

    venv.create(project.bench.root / ".venv", with_pip=False, symlinks=True)
    write(".gitignore", ".venv\n")

    def task(number: int) -> tuple[str, str, str]:
        body = f"import unittest\n\n\nclass T{number}(unittest.TestCase):\n    def test_{number}(self):\n"
        write(
            f"tests/test_{number}.py", f"{body}        import m{number}\n\n        self.assertEqual(m{number}.f(), 1)\n"
        )
        return f"test_{number}", f"m{number}.py", "def f():\n    return 1\n"

    return task


def empty(project: Project) -> Callable[[int], tuple[str, str, str]]:
    """The first task brings the test tool."""
    write = project.bench.write

    def task(number: int) -> tuple[str, str, str]:
        if number == 1:
            refusal = project.bench.agent("done", "--test", "test_1")
            assert refusal.code == 3
            assert "Holdfast has no test command" in refusal.err
            write(
                "pyproject.toml",
                '[dependency-groups]\ndev = ["pytest"]\n[tool.pytest.ini_options]\npythonpath = ["."]\n',
            )
            write("conftest.py", COUNTS)
        write(f"test_{number}.py", f"import m{number}\n\n\ndef test_{number}():\n    assert m{number}.f() == 1\n")
        return f"test_{number}", f"m{number}.py", "def f():\n    return 1\n"

    return task


def go_module(project: Project) -> Callable[[int], tuple[str, str, str]]:
    """The program itself is counted: a test that does not compile runs nothing of the project."""
    write = project.bench.write
    KITS["go"].tool(project.patch, project.bench)
    real, counted = str(shutil.which("go")), project.bench.root.parent / "bin" / "go"
    counted.parent.mkdir()
    counted.write_text(f'#!/bin/sh\n[ "$1" != test ] || echo run >> "$RUNS"\nexec {shlex.quote(real)} "$@"\n')
    counted.chmod(0o755)
    project.patch.setenv("PATH", f"{counted.parent}:{os.environ['PATH']}")
    write("go.mod", "module example.com/shop\n\ngo 1.19\n")
    write("shop/shop.go", "package shop\n")

    def task(number: int) -> tuple[str, str, str]:
        body = f"func Test{number}(t *testing.T) {{\n\tif F{number}() != 1 {{\n\t\tt.Fatal()\n\t}}\n}}\n"
        write(f"shop/m{number}_test.go", f'package shop\n\nimport "testing"\n\n{body}')
        return f"Test{number}", f"shop/m{number}.go", f"package shop\n\nfunc F{number}() int {{ return 1 }}\n"

    return task


def npm_workspace(project: Project) -> Callable[[int], tuple[str, str, str]]:
    """Only the package has a test command, and the root has the tool."""
    write = project.bench.write
    KITS["vitest"].tool(project.patch, project.bench)
    write("package.json", '{"name": "shop", "private": true, "workspaces": ["packages/*"]}\n')
    write("package-lock.json", '{"name": "shop", "lockfileVersion": 3, "packages": {}}\n')
    package = {"name": "forms", "type": "module", "scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "*"}}
    write("packages/forms/package.json", json.dumps(package))
    write("packages/forms/vitest.config.js", "export default { test: { globalSetup: './count.js' } };\n")
    counts = (
        "import { appendFileSync } from 'node:fs';\nexport default () => appendFileSync(process.env.RUNS, 'run\\n');\n"
    )
    write("packages/forms/count.js", counts)

    def task(number: int) -> tuple[str, str, str]:
        head = f"import {{ expect, test }} from 'vitest';\nimport {{ f }} from '../m{number}.js';\n"
        write(f"packages/forms/test/m{number}.test.js", f"{head}\ntest('f {number}', () => expect(f()).toBe(1));\n")
        return f"f {number}", f"packages/forms/m{number}.js", "export const f = () => 1;\n"

    return task


@pytest.mark.parametrize("kind", [src_pytest, only_unittest, empty, go_module, npm_workspace])
def test_a_task_is_three_commands_and_two_runs_of_its_tests(kind, tmp_path, monkeypatch, capsys):
    project = Project(tmp_path, monkeypatch)
    bench = project.bench
    prepare = kind(project)
    bench.saved_feature(LOGIN, *TASKS)
    bench.ok("start", "dev", LOGIN)
    counted = []
    for number in (1, 2, 3):
        test, file, text = prepare(number)
        began, ran = project.commands, project.runs
        assert project.next() == "holdfast done --test NAME"
        project.do("done", "--test", test)
        assert project.next() == "holdfast done"
        bench.write(file, text)
        project.do("done")
        assert project.next() == "holdfast done"
        said = project.do("done").out
        assert f"in the run for task_execution/{number}/green: nothing changed since" in said
        assert "committed " in said
        counted.append((project.commands - began, project.runs - ran))
        assert {LOGIN, file} <= {*bench.committed()}
        assert bench.read(LOGIN).count("- [x]") == number
    with capsys.disabled():
        print(f"\n{kind.__name__}: commands and test runs of each task: {counted}")
    assert counted == [(3, 2)] * 3
    assert bench.git("log", "--format=%s", "-3").split("\n") == [*reversed(TASKS)]


def test_a_cycle_is_three_commands_and_two_runs(tmp_path, monkeypatch):
    project = Project(tmp_path, monkeypatch)
    prepare = src_pytest(project)
    project.bench.save("a project")
    project.bench.ok("start", "tdd", "Greet")
    test, file, text = prepare(1)
    project.do("done", "--test", test)
    project.bench.write(file, text)
    project.do("done")
    said = project.do("done", "-m", "Greet people").out
    assert "all steps are done" in said
    assert (project.commands, project.runs) == (3, 2)
    assert project.bench.git("log", "--format=%s", "-1") == "Greet people"


@pytest.mark.parametrize("words", [("task", "done", "1"), ("done",), ("done", "task_execution/1")])
def test_what_was_broken_after_its_tests_passed_is_not_committed(words, tmp_path, monkeypatch):
    project = Project(tmp_path, monkeypatch)
    bench, prepare = project.bench, src_pytest(project)
    bench.saved_feature(LOGIN, *TASKS)
    bench.ok("start", "dev", LOGIN)
    test, file, text = prepare(1)
    project.do("done", "--test", test)
    bench.write(file, text)
    project.do("done")
    project.do("done", "refactor")
    before, runs = bench.head, project.runs
    bench.write(file, text.replace("1", "2"))
    assert "passed before the tree changed" in " ".join(bench.ok("next").out.split())
    refusal = bench.agent(*words)
    assert refusal.code == 3
    assert "the check 'test_passes' of task_execution/1/refactor failed" in refusal.err
    assert (bench.head, bench.read(LOGIN).count("[x]"), project.runs) == (before, 0, runs + 1)
    bench.write(file, text + "# tidy\n")
    bench.ok(*words)
    assert project.runs == runs + 2
    assert "# tidy" in bench.git("show", f"HEAD:{file}")


def test_a_definition_of_ones_own_commits_only_what_was_proved(tmp_path, monkeypatch):
    project = Project(tmp_path, monkeypatch)
    bench = project.bench
    steps = '[[step]]\nid = "build"\nchecks = [{ name = "tests", run = ["sh", "check.sh"], run_by = "engine" }]\n'
    bench.write(
        ".holdfast/workflows/own.toml",
        f'name = "own"\nadvance = true\n{steps}[[step]]\nid = "keep"\naction = "commit"\n',
    )
    bench.write("check.sh", 'echo run >> "$RUNS"; grep -q good work.txt\n')
    bench.save("a definition")
    bench.person("trust", "own", says="y")
    bench.ok("start", "own", "it")
    bench.write("work.txt", "good\n")
    bench.ok("done", "build")
    bench.write("work.txt", "broken\n")
    before = bench.head
    assert bench.agent("done", "keep").code == 3
    assert (bench.head, project.runs) == (before, 2)
    bench.write("work.txt", "good again\n")
    bench.ok("done")
    assert project.runs == 3
    assert bench.git("show", "HEAD:work.txt") == "good again"


def test_a_number_that_is_a_step_and_a_task_is_refused_with_both(tmp_path, monkeypatch):
    project = Project(tmp_path, monkeypatch)
    project.bench.saved_feature(LOGIN, *TASKS)
    project.bench.ok("start", "dev", LOGIN)
    for command in ("done", "begin"):
        refusal = project.bench.agent(command, "1")
        assert refusal.code == 2
        ways = f"→ holdfast {command} load_feature · or holdfast {command} task_execution/1"
        assert ways in refusal.err
