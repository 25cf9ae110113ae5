"""Variables that make a test tool load other code are named with the run that they were set for."""

from __future__ import annotations

import json
import os
import sys

import pytest

from holdfast.checks import variables
from tests.workbench import LOGIN, Bench


@pytest.mark.parametrize(
    ("argv", "name"),
    [
        (("python3", "-m", "pytest"), "PYTEST_PLUGINS"),
        (("pytest",), "PYTEST_ADDOPTS"),
        (("python3", "-m", "unittest"), "PYTHONPATH"),
        (("npx", "jest"), "NODE_OPTIONS"),
        (("go", "test", "./..."), "GOFLAGS"),
        (("cargo", "test"), "RUSTC_WRAPPER"),
        (("cargo", "test"), "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"),
        (("make", "test"), "NODE_OPTIONS"),
        (("make", "test"), "LD_PRELOAD"),
    ],
)
def test_a_variable_that_tells_on_the_tool_is_found(tmp_path, argv, name):
    assert variables.found(argv, str(tmp_path), str(tmp_path), {name: "/elsewhere"}) == {name: "/elsewhere"}


@pytest.mark.parametrize("name", ["NODE_OPTIONS", "GOFLAGS", "PATH", "VIRTUAL_ENV", "CARGO_TARGET_DIR"])
def test_one_of_another_tool_is_not(tmp_path, name):
    assert variables.found(("pytest",), str(tmp_path), str(tmp_path), {name: "/elsewhere"}) == {}


def test_of_a_search_path_only_what_is_outside_of_the_project_is_named(tmp_path):
    within = {"PYTHONPATH": f"src:{tmp_path}/lib:/elsewhere"}
    assert variables.found(("pytest",), str(tmp_path), str(tmp_path), within) == {"PYTHONPATH": "/elsewhere"}
    assert variables.found(("pytest",), str(tmp_path), str(tmp_path), {"PYTHONPATH": "src"}) == {}


def test_the_answer_the_status_and_the_pull_request_name_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    bench = Bench(tmp_path / "project").begun()
    bench.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    bench.write("test_old.py", "def test_old():\n    pass\n\n\ndef test_more():\n    pass\n")
    bench.saved_feature(LOGIN, "x Everything")
    bench.ok("start", "dev", LOGIN)
    for check in ("lint", "security_review", "code_simplifier"):
        bench.ok("check", check, "--passed")
    answer = bench.ok("done", env={"PYTEST_ADDOPTS": "-k old"}).out
    assert "run with PYTEST_ADDOPTS=-k old in the environment" in answer
    said = "checks were run with PYTEST_ADDOPTS in the environment"
    assert said in " ".join(bench.ok("status").out.split())
    assert said in json.dumps(bench.open().workflow().briefing().proof)
    bench.git("remote", "add", "origin", "https://example.com/ada/engine.git")
    bench.agent("done")
    text = next(bench.root.glob(".holdfast/checks/*/pull-request.md")).read_text()
    assert f"- {said}" in text
    assert "-k old" not in text
