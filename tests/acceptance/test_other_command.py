"""A test command that becomes one whose results nobody can read is no way around red, and stays named."""

from __future__ import annotations

import os
import sys

import pytest

from tests.tiers import need
from tests.workbench import LOGIN, Bench

OLD = "def test_a():\n    pass\n\n\ndef test_b():\n    pass\n"
PYTEST = "python3 -m pytest -v (from pytest.ini)"


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    """A project with pytest."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    made = Bench(tmp_path / "project").begun()
    monkeypatch.chdir(made.root)
    made.write("tests/test_old.py", OLD)
    made.write("pytest.ini", "[pytest]\naddopts = -p no:cacheprovider\n")
    return made


def begun(bench: Bench, *tasks: str) -> None:
    bench.saved_feature(LOGIN, *(tasks or ("One", "Two")))
    bench.ok("start", "dev", LOGIN)


def by_make(bench: Bench) -> None:
    bench.write("Makefile", "test:\n\t@sh run.sh\n.PHONY: test\n")


def by_npm(bench: Bench) -> None:
    need("npm")
    bench.write("package.json", '{"scripts": {"test": "sh run.sh"}}')


def by_set(bench: Bench) -> None:
    bench.agent("set", "test_command=sh run.sh")
    by_make(bench)


def point_at_a_script(bench: Bench, how=by_make) -> None:
    bench.git("rm", "-qr", "tests", "pytest.ini")
    how(bench)
    bench.write("run.sh", "test -f flag\n")


@pytest.mark.parametrize("how", [by_make, by_npm, by_set])
def test_a_script_in_the_place_of_deleted_tests_is_no_red(bench, how):
    begun(bench)
    point_at_a_script(bench, how)
    refused = bench.agent("done")
    assert refused.code == 3
    assert "an exit code alone is no red here" in refused.err
    assert f"as Holdfast could read the results of {PYTEST} when the task began" in refused.err
    assert "bring the tests and their command back, then: holdfast done --test NAME" in refused.err
    assert "for a person: to choose the command that counts: holdfast set test_command='COMMAND'" in refused.err
    assert bench.agent("set", "test_command=sh run.sh", "--json").error["code"] == "person_needed"


def test_a_task_without_tests_before_it_is_no_way_around(bench):
    begun(bench, "One (no tests)", "Two")
    point_at_a_script(bench)
    bench.ok("done")
    bench.write("more.txt", "more\n")
    refused = bench.agent("done")
    assert refused.code == 3
    assert f"as Holdfast could read the results of {PYTEST} when the workflow began" in refused.err


def test_another_script_behind_the_same_command_is_no_red_either(bench):
    need("npm")
    bench.git("init", "-q")
    for name in ("pytest.ini", "tests/test_old.py"):
        (bench.root / name).unlink()
    bench.write("package.json", '{"scripts": {"test": "node --test"}}')
    begun(bench)
    bench.write("package.json", '{"scripts": {"test": "sh run.sh"}}')
    bench.write("run.sh", "test -f flag\n")
    refused = bench.agent("done")
    assert refused.code == 3
    assert "could read the results of npm test --silent (from package.json) when the task began" in refused.err


def test_a_command_that_a_person_chose_counts_and_the_change_and_the_deleted_tests_stay_named(bench):
    begun(bench, "One")
    point_at_a_script(bench)
    assert bench.person("set", "test_command=sh run.sh").code == 0
    assert "by exit code only" in bench.ok("done").out
    bench.write("flag", "")
    bench.ok("done")
    bench.ok("done")
    for check in ("lint", "security_review", "code_simplifier"):
        bench.ok("check", check, "--passed")
    bench.ok("done")
    bench.git("remote", "add", "origin", "https://example.com/ada/engine.git")
    bench.agent("done")
    request = next(bench.root.glob(".holdfast/checks/*/pull-request.md")).read_text()
    status = " ".join(bench.ok("status").out.split())
    for said in (
        "1 file of tests from before this workflow deleted: tests/test_old.py",
        "the test command changed: sh run.sh (set by human",
        f"before: {PYTEST}",
    ):
        assert said in request
        assert said in status
        assert said in " ".join(bench.open().workflow().briefing().proof)


def test_a_command_that_comes_back_is_not_named(bench):
    begun(bench, "One")
    (bench.root / "pytest.ini").rename(bench.root / "kept")
    by_make(bench)
    (bench.root / "tests").rename(bench.root / "kept-tests")
    bench.agent("done")
    (bench.root / "kept").rename(bench.root / "pytest.ini")
    (bench.root / "kept-tests").rename(bench.root / "tests")
    (bench.root / "Makefile").unlink()
    bench.write("tests/test_new.py", "def test_new():\n    import new\n")
    bench.ok("done", "--test", "test_new")
    plan = bench.open().workflow().state.plan
    assert [check.was for path in plan.paths for check in plan.step(path).checks if check.was] == []


NEW = "def test_new():\n    import new\n"


def proved(bench: Bench, script: str = "") -> None:
    """The first task, proved by pytest, or by a script of `package.json`."""
    if script:
        need("npm")
        for name in ("pytest.ini", "tests/test_old.py"):
            (bench.root / name).unlink()
        bench.write("package.json", f'{{"scripts": {{"test": "{script}"}}}}')
    begun(bench, "One", "Two (no tests)")
    if script:
        text = "import test from 'node:test';\ntest('new', async () => { await import('./new.mjs'); });\n"
        bench.write("new.test.mjs", text)
        bench.ok("done", "--test", "new")
        bench.write("new.mjs", "export const one = 1;\n")
    else:
        bench.write("tests/test_new.py", NEW)
        bench.write("pytest.ini", "[pytest]\npythonpath = .\naddopts = -p no:cacheprovider\n")
        bench.ok("done", "--test", "test_new")
        bench.write("new.py", "")
    bench.ok("done")
    bench.ok("done")


def test_a_run_by_exit_code_does_not_show_that_an_earlier_proof_ran(bench):
    proved(bench, "node --test")
    (bench.root / "new.test.mjs").unlink()
    bench.write("package.json", '{"scripts": {"test": "sh run.sh"}}')
    bench.write("run.sh", "true\n")
    bench.ok("done")
    refused = bench.agent("check", "test")
    assert refused.code == 3
    lost = (
        "which proved task_execution/1, was not seen to run: npm test --silent (from package.json) tells an exit code"
    )
    assert lost in refused.out
    for check in ("lint", "security_review", "code_simplifier"):
        bench.ok("check", check, "--passed")
    refused = bench.agent("done")
    assert "holdfast reopen task_execution/1/red" in refused.err
    assert "for a person: to choose the command that counts" in refused.err


def test_of_a_command_that_a_person_chose_it_is_named_everywhere(bench):
    proved(bench)
    bench.write("run.sh", "true\n")
    (bench.root / "tests/test_new.py").unlink()
    bench.ok("done")
    assert bench.person("set", "test_command=sh run.sh").code == 0
    for check in ("lint", "security_review", "code_simplifier"):
        bench.ok("check", check, "--passed")
    said = "not seen to run: tests/test_new.py::test_new, which proved task_execution/1"
    assert said in bench.ok("done").out
    bench.git("remote", "add", "origin", "https://example.com/ada/engine.git")
    bench.agent("done")
    assert said in next(bench.root.glob(".holdfast/checks/*/pull-request.md")).read_text()
    assert said in " ".join(bench.ok("status").out.split())


def test_where_the_command_that_proved_it_is_still_there_it_runs_beside(bench):
    proved(bench)
    bench.git("mv", "pytest.ini", "setup.cfg")
    bench.write("setup.cfg", "[tool:pytest]\npythonpath = .\naddopts = -p no:cacheprovider\n")
    bench.ok("done")
    bench.ok("check", "test")
