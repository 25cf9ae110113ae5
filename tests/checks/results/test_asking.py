"""A known tool is asked for data wherever it is plain that it runs, and a command that hides it stays as it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from holdfast.checks.results.asking import asked
from holdfast.checks.results.reports import lines

PLUGIN = ["-p", "holdfast_pytest"]


def words(command: str, folder, **scripts: str):
    (folder / "package.json").write_text(json.dumps({"scripts": scripts}))
    found = asked(command.split(), str(folder), str(folder / "scratch"), {})
    return None if found is None else (found.tool, [word.replace(str(folder), ".") for word in found.argv])


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "scratch").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        ".venv/bin/pytest",
        "python3 -m pytest tests",
        "uv run pytest",
        "uv run --with requests python -m pytest -x",
        "poetry run pytest",
        "coverage run -m pytest",
        "python -m coverage run --branch -m pytest",
        "env A=b pytest",
    ],
)
def test_pytest_gets_a_plugin_wherever_it_is_started(folder, command):
    assert words(command, folder) == ("pytest", [*command.split(), *PLUGIN])


@pytest.mark.parametrize(
    ("command", "tool", "argv"),
    [
        ("pytest tests -- a", "pytest", "pytest tests -p holdfast_pytest -- a"),
        ("python3 -m unittest -v", "unittest", "python3 -m holdfast_unittest -v"),
        ("python3 manage.py test -v 2 app", "django", "python3 -m holdfast_unittest manage.py test -v 2 app"),
        ("uv run python manage.py test", "django", "uv run python -m holdfast_unittest manage.py test"),
        ("coverage run manage.py test", "django", "coverage run -m holdfast_unittest manage.py test"),
        ("npx jest a", "jest", "npx jest a --json --outputFile=./scratch/report"),
        ("node node_modules/.bin/jest", "jest", "node node_modules/.bin/jest --json --outputFile=./scratch/report"),
        ("go test ./...", "go", "go test -json ./..."),
        ("go test -json ./...", "go", "go test -json ./..."),
        ("cargo test -- --nocapture", "cargo", "cargo test --no-fail-fast -- --nocapture"),
        ("node --test --import tsx", "node", "node --test --import tsx"),
    ],
)
def test_each_tool_is_asked_in_its_own_way(folder, command, tool, argv):
    assert words(command, folder) == (tool, argv.split())


@pytest.mark.parametrize(
    ("command", "script", "end"),
    [
        ("npm test --silent", "jest", "-- --json --outputFile=./scratch/report"),
        ("npm test -- -t a", "jest", "--json --outputFile=./scratch/report"),
        ("npm run test", "NODE_OPTIONS=--experimental-vm-modules jest", "-- --json --outputFile=./scratch/report"),
        ("pnpm run test", "cross-env CI=1 jest", "--json --outputFile=./scratch/report"),
        ("yarn test", "jest --coverage", "--json --outputFile=./scratch/report"),
        ("npm test", 'mocha "test/**/*.js"', "-- --reporter ./scratch/reporters/mocha.cjs"),
    ],
)
def test_a_script_that_is_one_plain_command_passes_the_words_on(folder, command, script, end):
    assert words(command, folder, test=script)[1] == [*command.split(), *end.split()]


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("make test", ""),
        ("sh run.sh", ""),
        ("python run.py pytest", ""),
        ("uv run python run.py pytest", ""),
        ("python -c pytest", ""),
        ("python manage.py migrate", ""),
        ("go vet", ""),
        ("npm test", "tsc && jest"),
        ("npm test", "jest | tee out"),
        ("npm test", "jest; true"),
        ("npm test", "npm run unit"),
        ("npm test", "echo jest"),
        ("npm test", "jest 'a"),
        ("npm run other", "jest"),
        ("npm exec jest", ""),
    ],
)
def test_a_command_that_hides_its_tool_stays_as_it_is(folder, command, script):
    assert words(command, folder, test=script) is None


SUITE = """
import os, pytest, unittest

@pytest.fixture
def user():
    raise RuntimeError("no user")

def test_setup(user): ...

@pytest.mark.parametrize("word", ["a b", "c::d"])
def test_words(word):
    assert word == "a b"

@pytest.mark.xfail
def test_expected():
    assert False

def test_clean():
    assert "HOLDFAST_REPORT" not in os.environ and "PYTHONPATH" not in os.environ
"""


@pytest.mark.parametrize("more", [[], ["-n", "2"]], ids=["one process", "workers"])
def test_the_plugin_tells_of_every_test_also_from_workers(folder, monkeypatch, more):
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_many.py").write_text(SUITE)
    (folder / "test_torn.py").write_text("def test_x(:\n    pass\n")
    command = [sys.executable, "-m", "pytest", "--continue-on-collection-errors", "-k", "not nothing", *more]
    monkeypatch.delenv("PYTHONPATH", raising=False)
    found = asked(command, str(folder), str(folder / "scratch"), {})
    subprocess.run(found.argv, cwd=folder, env={**os.environ, **found.env}, capture_output=True)
    results = lines((folder / "scratch/report").read_bytes(), str(folder))
    told = {case.id.partition("::")[2]: (case.outcome, case.file) for case in results.tests}
    assert told == {
        "test_setup": ("error", "test_many.py"),
        "test_words[a b]": ("passed", "test_many.py"),
        "test_words[c::d]": ("failed", "test_many.py"),
        "test_expected": ("skipped", "test_many.py"),
        "test_clean": ("passed", "test_many.py"),
    }
    assert list(results.broken) == ["test_torn.py"]
