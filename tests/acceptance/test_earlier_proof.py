"""What proved an earlier task continues proving it, and tests that are not run any more are named."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.acceptance.test_three_commands import TASKS, Project, src_pytest
from tests.workbench import LOGIN

Prepare = Callable[[int], tuple[str, str, str]]
FIRST, SECOND = "tests/test_1.py::test_1", "tests/test_2.py::test_2"


@pytest.fixture
def project(tmp_path, monkeypatch) -> Project:
    return Project(tmp_path, monkeypatch)


def begun(project: Project, *tasks: str, old: str = "") -> Prepare:
    prepare = src_pytest(project)
    project.bench.write(".gitignore", "__pycache__/\n")
    if old:
        project.bench.write("tests/test_old.py", old)
    project.bench.saved_feature(LOGIN, *(tasks or TASKS))
    project.bench.ok("start", "dev", LOGIN)
    return prepare


def red(project: Project, prepare: Prepare, number: int) -> None:
    test, file, text = prepare(number)
    project.do("done", "--test", test)
    project.bench.write(file, text)


def task(project: Project, prepare: Prepare, number: int) -> None:
    red(project, prepare, number)
    project.do("done")
    project.do("done")


SKIPPED = "import pytest\n\n\n@pytest.mark.skip\ndef test_1():\n    assert 0\n"
INI = "[pytest]\npythonpath = src\naddopts ="
HURT = {
    "deleted with its file": (("tests/test_1.py", None), "was deleted: tests/test_1.py is not there any more"),
    "deleted": (("tests/test_1.py", "def test_other():\n    pass\n"), "was deleted: it is no longer in"),
    "skipped": (("tests/test_1.py", SKIPPED), "is skipped"),
    "filtered": (("pytest.ini", f"{INI} -k 'not test_1'\n"), "is filtered out"),
    "not collected": (
        ("pytest.ini", f"{INI} --ignore=tests/test_1.py\n"),
        "was not collected",
    ),
}


@pytest.mark.parametrize("harm", HURT)
def test_the_test_of_an_earlier_task_has_to_run_at_green(project, harm):
    prepare = begun(project)
    task(project, prepare, 1)
    red(project, prepare, 2)
    (file, text), why = HURT[harm]
    if text is None:
        (project.bench.root / file).unlink()
    else:
        project.bench.write(file, text)
    refusal = project.bench.agent("done")
    assert refusal.code == 3
    assert f"{FIRST}, which proved task_execution/1, {why}" in refusal.err
    assert "bring the test back, then: holdfast done" in refusal.err
    assert "holdfast reopen task_execution/1/red" in refusal.err
    project.bench.git("checkout", "--", "tests")
    (project.bench.root / "pytest.ini").unlink(missing_ok=True)
    project.do("done")


def test_it_has_to_run_at_verification_too_and_the_other_way_out_is_another_test(project):
    prepare = begun(project, "Greet")
    task(project, prepare, 1)
    for check in ("lint", "security_review", "code_simplifier"):
        project.bench.ok("check", check, "--passed")
    (project.bench.root / "tests/test_1.py").unlink()
    project.bench.write("tests/test_other.py", "def test_other():\n    pass\n")
    refusal = project.bench.agent("done")
    assert refusal.code == 3
    assert f"{FIRST}, which proved task_execution/1, was deleted" in refusal.err
    project.bench.ok("reopen", "task_execution/1/red")
    project.bench.write("src/shop/m1.py", "def f():\n    return 2\n")
    project.bench.write("tests/test_new.py", "from shop import m1\n\n\ndef test_new():\n    assert m1.f() == 1\n")
    project.do("done", "--test", "test_new")
    project.bench.write("src/shop/m1.py", "def f():\n    return 1\n\n\nTIDY = True\n")
    project.do("done")
    project.do("done")
    assert "tests/test_1.py" not in project.bench.git("ls-files")
    for check in ("lint", "security_review", "code_simplifier"):
        project.bench.ok("check", check, "--passed")
    assert "✓ test passed" in project.do("done").out


def test_a_test_that_moved_goes_on_proving_its_task(project):
    prepare = begun(project)
    task(project, prepare, 1)
    red(project, prepare, 2)
    project.bench.git("mv", "tests/test_1.py", "tests/test_moved.py")
    project.do("done")


def test_a_run_in_another_folder_tells_nothing_of_it(project):
    bench = project.bench
    for name in ("a", "b"):
        bench.write(f"{name}/pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['.']\n")
        bench.write(f"{name}/test_old.py", "def test_old():\n    pass\n")
    bench.saved_feature(LOGIN, *TASKS)
    bench.ok("start", "dev", LOGIN)
    for name in ("a", "b"):
        bench.write(f"{name}/test_{name}.py", f"def test_{name}():\n    import m{name}\n")
        project.do("done", "--test", f"test_{name}")
        bench.write(f"{name}/m{name}.py", "")
        project.do("done")
        project.do("done")
        (bench.root / "a/test_a.py").unlink(missing_ok=True)


@pytest.mark.parametrize("loads", [True, False])
def test_tests_that_passed_before_the_task_and_are_not_run_any_more_are_named(project, loads):
    """Also where nothing could be loaded when the task was red: then the task before it has seen them."""
    old = "def test_a():\n    pass\n\n\ndef test_b():\n    pass\n"
    prepare = begun(project, old=old)
    task(project, prepare, 1)
    red(project, prepare, 2)
    if loads:
        project.bench.write("tests/test_2.py", "def test_2():\n    from shop import m2\n\n    assert m2.f() == 1\n")
        (project.bench.root / "src/shop/m2.py").unlink()
        project.bench.ok("reopen", "task_execution/2/red")
        project.do("done", "--test", "test_2")
        project.bench.write("src/shop/m2.py", "def f():\n    return 1\n")
    project.bench.write("tests/test_old.py", old.replace("def test_a", "def not_a_test"))
    when = "at red" if loads else "before this task"
    said = f"1 test that passed {when} is not run any more: tests/test_old.py::test_a"
    answer = json.loads(project.do("done", "--json").out)
    assert said in answer["evidence"][0]["detail"]
    assert "passing_before" not in answer["evidence"][0]
    assert said in project.do("done").out


def test_of_more_than_500_tests_the_counts_are_compared(project):
    old = "import pytest\n\n\n@pytest.mark.parametrize('n', range(MANY))\ndef test_old(n):\n    pass\n"
    begun(project, old=old.replace("MANY", "600"))
    project.bench.write("tests/test_2.py", "def test_2():\n    from shop import m2\n\n    assert m2.f() == 1\n")
    project.do("done", "--test", "test_2")
    kept = project.bench.open().workflow().state.step("task_execution/1/red").evidence["test_fails"].data
    assert kept["passing_before"] == {"count": 600}
    project.bench.write("src/shop/m2.py", "def f():\n    return 1\n")
    project.bench.write("tests/test_old.py", old.replace("MANY", "90"))
    assert "509 tests that passed at red are not run any more" in project.do("done").out


OLD_CODE = "def old():\n    return 1\n"
OLD_TEST = "from old import old\n\n\ndef test_old():\n    assert old() == 1\n"


@pytest.mark.parametrize("name", ["tests/test_new.py", "tests/test_old.py"])
def test_a_test_that_failed_because_other_code_was_broken_is_no_green_once_that_is_mended(project, name):
    project.bench.write("src/old.py", OLD_CODE)
    begun(project, old=OLD_TEST)
    project.bench.write(
        name, f"{OLD_TEST}# more\n".replace("test_old()", f"test_{'new' if 'new' in name else 'old'}()")
    )
    project.bench.write("src/old.py", OLD_CODE.replace("1", "20"))
    test = "test_new" if "new" in name else "test_old"
    project.bench.ok("done", "--test", test)
    project.bench.write("src/old.py", OLD_CODE)
    refused = project.bench.agent("done")
    assert refused.code == 3
    assert (
        f"{name}::{test} passes without the work of this task: it failed only together with other changes"
        in refused.err
    )
    assert "holdfast reopen task_execution/1/red" in refused.err


def test_work_that_was_begun_before_red_is_no_obstacle(project):
    prepare = begun(project)
    test, file, text = prepare(1)
    project.bench.write(file, text.replace("1", "7"))
    project.do("done", "--test", test)
    project.bench.write(file, text)
    assert "done" in project.do("done").out


OLD = "def test_a():\n    pass\n\n\ndef test_b():\n    pass\n"
STOPPED = {
    "deleted with its file": ("tests/test_old.py", None),
    "skipped": ("tests/test_old.py", f"import pytest\n\n\n@pytest.mark.skip\n{OLD}"),
    "filtered": ("pytest.ini", f"{INI} -k 'not test_a'\n"),
    "not collected": ("conftest.py", "collect_ignore = ['tests/test_old.py']\n"),
}


def stopped(project: Project, harm: str) -> None:
    file, text = STOPPED[harm]
    if text is None:
        (project.bench.root / file).unlink()
    else:
        project.bench.write(file, text)


@pytest.mark.parametrize("harm", STOPPED)
def test_tests_that_stop_running_before_the_first_red_are_named_there_and_at_green(project, harm):
    prepare = begun(project, old=OLD)
    stopped(project, harm)
    test, file, text = prepare(1)
    project.bench.write(f"tests/{test}.py", f"def {test}():\n    from shop import m1\n\n    assert m1.f() == 1\n")
    gone = "tests/test_old.py::test_a"
    assert gone in project.do("done", "--test", test).out
    assert gone in project.bench.ok("status").out
    project.bench.write(file, text)
    assert gone in project.do("done").out


@pytest.mark.parametrize("harm", STOPPED)
def test_tests_that_stop_running_before_verification_are_named_everywhere(project, harm):
    prepare = begun(project, "Greet", old=OLD)
    task(project, prepare, 1)
    stopped(project, harm)
    project.bench.save("less")
    for check in ("lint", "security_review", "code_simplifier"):
        project.bench.ok("check", check, "--passed")
    gone = "that passed earlier"
    said = project.do("done").out
    assert gone in said
    assert "tests/test_old.py::test_a" in said
    for words in (("status",), ("next",)):
        assert gone in " ".join(project.bench.ok(*words).out.split()), words
    project.bench.git("remote", "add", "origin", "https://example.com/ada/engine.git")
    project.bench.agent("done")
    assert gone in next(project.bench.root.glob(".holdfast/checks/*/pull-request.md")).read_text()


def test_a_feature_without_tests_of_its_own_that_removes_some_names_them(project):
    begun(project, "Greet (no tests)", old=OLD)
    stopped(project, "deleted with its file")
    project.bench.write("notes.md", "more\n")
    project.do("done")
    project.bench.write("tests/test_new.py", "def test_new():\n    pass\n")
    project.bench.save("other")
    for check in ("lint", "security_review", "code_simplifier"):
        project.bench.ok("check", check, "--passed")
    assert "2 tests that passed earlier are not run any more" in project.do("done").out


def test_a_test_that_is_added_to_a_file_costs_no_run_more(project):
    begun(project, old=OLD)
    project.bench.write("tests/test_old.py", f"{OLD}\n\ndef test_c():\n    from shop import m1\n")
    before = project.runs
    project.do("done", "--test", "test_c")
    assert project.runs == before + 1
