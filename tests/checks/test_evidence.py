"""Checks that Holdfast runs itself: what it saw of the tests, and whose commands it may run at all."""

from __future__ import annotations

import os
import sys

import pytest

from holdfast.core.provenance import how
from holdfast.core.state import Evidence
from holdfast.errors import HoldfastError, Refused, UsageError, one_line
from holdfast.project.workflow import Workflow
from tests.tiers import need
from tests.trusted import trust_file
from tests.workbench import LOGIN, Bench

PYTEST = f"{sys.executable} -m pytest -v -p no:cacheprovider"
PASSING = "from form import size\n\n\ndef test_size():\n    assert size() == 2\n"


@pytest.fixture
def bench(tmp_path, monkeypatch) -> Bench:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    made = Bench(tmp_path / "project").begun()
    monkeypatch.chdir(made.root)
    made.write("tests/test_old.py", "def test_old():\n    assert True\n")
    made.write("conftest.py", "import pathlib, sys\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n")
    made.save()
    return made


def without_python(bench: Bench) -> None:
    """Nothing is left whose results Holdfast could read."""
    bench.git("rm", "-rq", "conftest.py", "tests")
    bench.save()


def cycle(bench: Bench, command: str = PYTEST, **context) -> Workflow:
    return bench.start("tdd", "Say the size", context={"test_command": command, **context})


def ran(workflow: Workflow, name: str, **how) -> Evidence:
    return workflow.check(name, **how)


def test_red_is_a_test_that_really_fails_and_everything_about_it_is_kept(bench):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", "def test_size():\n    assert 1 == 2\n")
    seen = ran(workflow, "test_fails")
    assert (seen.passed, seen.run_by, seen.exit_code) == (True, "engine", 1)
    assert seen.data["test"] == "tests/test_form.py::test_size"
    assert seen.data["failing"] == ["tests/test_form.py::test_size"]
    assert seen.data["passing"] == ["tests/test_old.py::test_old"]
    assert (seen.data["count"], seen.data["test_file"]) == (2, "tests/test_form.py")
    assert seen.data["files"] == {"tests/test_form.py": 2}
    assert "assert 1 == 2" in seen.detail
    assert (seen.head, seen.dirty) == (bench.head, True)


def test_nothing_is_proved_of_a_tree_with_a_tracked_file_that_cannot_be_read(bench, monkeypatch):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", "def test_size():\n    assert 1 == 2\n")
    assert ran(workflow, "test_fails").passed
    monkeypatch.setattr("holdfast.git.private.PrivateIndex.read", lambda index: False)
    for act in (lambda: ran(workflow, "test_fails"), lambda: workflow.done("red")):
        with pytest.raises(Refused) as caught:
            act()
        assert caught.value.code == "unreadable"


def test_a_test_that_passes_at_once_is_not_red(bench):
    workflow = cycle(bench)
    seen = ran(workflow, "test_fails")
    assert (seen.passed, seen.exit_code) == (False, 0)
    assert "passes at once shows nothing" in seen.detail
    with pytest.raises(Refused) as caught:
        workflow.done("red")
    assert caught.value.code == "gate_unmet"


def test_a_run_that_fails_for_another_reason_than_the_named_test_is_not_red(bench):
    workflow = cycle(bench)
    bench.write("tests/test_old.py", "def test_old():\n    assert False\n")
    seen = ran(workflow, "test_fails", data={"test": "test_size"})
    assert not seen.passed
    assert "test_size was not collected" in seen.detail


def test_of_several_failing_tests_one_has_to_be_named(bench):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", "def test_a():\n    assert 0\n\n\ndef test_b():\n    assert 0\n")
    seen = ran(workflow, "test_fails")
    assert (seen.passed, seen.detail.startswith("name the test that must fail")) == (False, True)
    seen = ran(workflow, "test_fails", data={"test": "test_b"})
    assert (seen.passed, seen.data["test"]) == (True, "tests/test_form.py::test_b")


def test_a_test_of_something_that_cannot_be_imported_yet_is_red(bench):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", PASSING)
    seen = ran(workflow, "test_fails", data={"test": "test_size"})
    assert seen.passed, seen.detail
    assert seen.data["test_file"] == "tests/test_form.py"


def test_green_is_the_same_test_passing(bench):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", PASSING)
    ran(workflow, "test_fails", data={"test": "test_size"})
    workflow.done("red")
    wrong = ran(workflow, "test_passes")
    assert (wrong.passed, wrong.exit_code) == (False, 2)
    bench.write("form.py", "def size():\n    return 2\n")
    seen = ran(workflow, "test_passes")
    assert (seen.passed, seen.data["test"]) == (True, "tests/test_form.py::test_size")
    assert set(seen.data["files"]) == {"form.py", "tests/test_form.py"}
    workflow.done("green")


def test_green_is_not_shown_by_a_run_without_the_test_of_red(bench):
    workflow = cycle(bench)
    form = bench.write("tests/test_form.py", "def test_size():\n    assert 0\n")
    ran(workflow, "test_fails")
    workflow.done("red")
    form.unlink()
    seen = ran(workflow, "test_passes")
    assert (seen.passed, seen.exit_code) == (False, 0)
    assert seen.detail == "tests/test_form.py::test_size was deleted: tests/test_form.py is not there any more"


def test_refactoring_that_breaks_the_test_is_not_done(bench):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", PASSING)
    ran(workflow, "test_fails", data={"test": "test_size"})
    workflow.done("red")
    bench.write("form.py", "def size():\n    return 2\n")
    ran(workflow, "test_passes")
    workflow.done("green")
    bench.write("form.py", "def size():\n    return 3\n")
    seen = ran(workflow, "test_passes", step="refactor")
    assert (seen.passed, seen.data["test"]) == (False, "tests/test_form.py::test_size")
    with pytest.raises(Refused):
        workflow.done("refactor")


def test_an_edit_after_the_run_makes_it_stale(bench):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", "def test_size():\n    assert 0\n")
    ran(workflow, "test_fails")
    bench.write("tests/test_form.py", "def test_size():\n    assert 1\n")
    with pytest.raises(Refused) as caught:
        workflow.done("red")
    assert "'test_fails' failed: no test failed" in caught.value.message  # it was run again


def test_nobody_can_report_what_the_engine_has_to_run(bench):
    workflow = cycle(bench)
    with pytest.raises(Refused) as caught:
        workflow.check("test_fails", passed=True)
    assert caught.value.code == "engine_must_run"


def test_a_check_without_a_command_is_reported_and_cannot_be_run(bench):
    bench.saved_feature(LOGIN, "x Add login")
    workflow = bench.start()
    with pytest.raises(HoldfastError) as caught:
        workflow.check("lint")
    assert (caught.value.code, caught.value.remedy) == (
        "nothing_to_run",
        "holdfast check lint --PASSED-OR-FAILED --step verification",
    )


def test_a_command_that_is_not_there_is_no_red(bench):
    workflow = cycle(bench, "no-such-program --now")
    seen = ran(workflow, "test_fails", data={"test": "test_size"})
    assert (seen.passed, seen.exit_code) == (False, None)
    assert seen.detail


def test_an_unknown_tool_proves_its_exit_code_and_names_no_test(bench):
    without_python(bench)
    workflow = cycle(bench, "sh run.sh")
    bench.write("run.sh", "echo '1 failed: size is two'; exit 1\n")
    seen = ran(workflow, "test_fails", data={"test": "size is two"})
    assert (seen.passed, how(seen), seen.data.get("test")) == (True, "by exit code only", None)
    workflow.done("red")
    bench.write("run.sh", "echo '1 passed: size is two'\n")
    seen = ran(workflow, "test_passes")
    assert (seen.passed, how(seen), seen.data.get("test")) == (True, "by exit code only", None)


def test_an_unknown_tool_that_fails_before_anything_was_written_is_not_red(bench):
    bench.write("run.sh", "exit 1\n")
    bench.save()
    seen = ran(cycle(bench, "sh run.sh"), "test_fails")
    assert (seen.passed, "no test was written" in seen.detail) == (False, True)


def test_a_command_that_a_tool_refuses_when_it_is_asked_for_data_runs_once_more_as_it_stands(bench):
    bench.write("pytest", "#!/bin/sh\necho run >> runs.txt\n[ $# -eq 0 ] || exit 4\nexit 1\n").chmod(0o755)
    bench.write(".gitignore", "runs.txt\n")
    seen = ran(cycle(bench, "./pytest"), "test_fails")
    assert (seen.exit_code, how(seen), bench.read("runs.txt")) == (1, "by exit code only", "run\nrun\n")


def test_a_test_of_an_earlier_task_is_not_red_again(bench):
    bench.saved_feature(LOGIN, "Add a form", "Add a button")
    bench.write("pytest.ini", "[pytest]\n")
    bench.save()
    work = bench.start(context={"test_command": PYTEST})
    bench.write("tests/test_form.py", PASSING)
    ran(work, "test_fails", data={"test": "test_size"})
    work.done("task_execution/1/red")
    bench.write("form.py", "def size():\n    return 2\n")
    for step in ("green", "refactor"):
        assert ran(work, "test_passes", step=f"task_execution/1/{step}").passed
        work.done(f"task_execution/1/{step}")
    work.done("task_execution/1")
    bench.write("form.py", "def size():\n    return 3\n")
    seen = ran(work, "test_fails", data={"test": "test_size"})
    assert (seen.passed, seen.detail) == (
        False,
        "tests/test_form.py::test_size fails, but it is not new or changed in this task",
    )


def test_what_failed_before_the_task_is_listed_and_not_held_against_it(bench):
    bench.write("tests/test_sad.py", "def test_sad():\n    assert False\n")
    bench.save()
    workflow = cycle(bench)
    bench.write("tests/test_form.py", PASSING)
    bench.write("form.py", "def size():\n    return 1\n")
    seen = ran(workflow, "test_fails")
    assert (seen.passed, seen.data["before"]) == (True, ["tests/test_sad.py::test_sad"])
    workflow.done("red")
    bench.write("form.py", "def size():\n    return 2\n")
    seen = ran(workflow, "test_passes")
    assert (seen.passed, seen.exit_code) == (True, 1)
    assert seen.detail == "failed before: tests/test_sad.py::test_sad"
    bench.write("tests/test_old.py", "def test_old():\n    assert False\n")
    assert not ran(workflow, "test_passes").passed


def test_green_is_about_the_test_of_red_and_another_name_is_refused(bench):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", PASSING + "\n\ndef test_other():\n    assert True\n")
    bench.write("form.py", "def size():\n    return 1\n")
    assert ran(workflow, "test_fails", data={"test": "test_size"}).passed
    workflow.done("red")
    with pytest.raises(UsageError) as caught:
        ran(workflow, "test_passes", data={"test": "test_other"})
    assert "the test of this task is tests/test_form.py::test_size, not 'test_other'" in caught.value.message
    bench.write("form.py", "def size():\n    return 2\n")
    for name in ("test_size", "test_form.py::test_size", "tests/test_form.py", "project/tests/test_form.py::test_size"):
        assert ran(workflow, "test_passes", data={"test": name}).data["test"] == "tests/test_form.py::test_size"
    for step in ("green", "refactor"):
        assert bench.agent("done", step, "--test", "test_sise").code == 2
        assert bench.ok("done", step, "--test", "test_size").code == 0


def test_what_the_command_itself_leaves_out_is_not_green(bench):
    workflow = cycle(bench, PYTEST + " -m 'not slow'")
    bench.write("pytest.ini", "[pytest]\nmarkers = slow\n")
    form = "from form import size\nimport pytest\n\n\n{}def test_size():\n    assert size() == 2\n"
    bench.write("tests/test_form.py", form.format(""))
    bench.write("form.py", "def size():\n    return 1\n")
    assert ran(workflow, "test_fails").passed
    workflow.done("red")
    bench.write("tests/test_form.py", form.format("@pytest.mark.slow\n"))
    seen = ran(workflow, "test_passes")
    assert (seen.passed, "is filtered out by the command" in seen.detail) == (False, True)


def test_a_report_counts_only_when_this_run_wrote_it(bench):
    report = (
        '<testsuite tests="1"><testcase classname="t" name="test_size"><failure message="no"/></testcase></testsuite>'
    )
    bench.write("run.py", "import sys\nsys.exit(1)\n")
    bench.write("report.xml", report)
    bench.write(
        ".holdfast/config.toml",
        f'[commands.test]\nrun = ["{sys.executable}", "run.py"]\nreport = "report.xml"\n',
    )
    bench.save()
    config = str(bench.root / ".holdfast/config.toml")
    project = bench.open()
    trust_file(project, config)
    workflow = bench.start("tdd", "Say the size")
    bench.write("tests/test_size.xx", "test_size\n")
    seen = ran(workflow, "test_fails")
    assert (seen.passed, seen.detail) == (False, "the command did not write its report report.xml")
    bench.write("run.py", f"import sys\nopen('report.xml', 'w').write('''{report} ''')\nsys.exit(1)\n")
    seen = ran(workflow, "test_fails")
    assert (seen.passed, seen.data["failing"]) == (True, ["t::test_size"])


def trusted(bench: Bench) -> None:
    project = bench.open("human")
    path = str(bench.root / ".holdfast/config.toml")
    trust_file(project, path)


def configured(bench: Bench, marker: str = "ran") -> None:
    code = f"open('{marker}', 'w').close(); print('not ok - size'); raise SystemExit(1)"
    words = ", ".join(f'"{word}"' for word in (sys.executable, "-c", code))
    bench.write(".holdfast/config.toml", f"[commands]\ntest = [{words}]\n")


def test_a_command_of_the_projects_configuration_runs_only_when_somebody_trusted_the_file(bench):
    configured(bench)
    bench.save()
    workflow = bench.start("tdd", "Say the size")
    with pytest.raises(Refused) as caught:
        ran(workflow, "test_fails", data={"test": "size"})
    assert caught.value.code == "untrusted"
    assert caught.value.remedy == "show this to a person and stop"
    assert one_line(caught.value.remedies, person=True).endswith("holdfast trust .holdfast/config.toml")
    assert not (bench.root / "ran").exists()
    trusted(bench)
    assert ran(workflow, "test_fails", data={"test": "size"}).passed
    assert (bench.root / "ran").exists()


def test_a_configuration_that_changed_is_not_trusted_any_more(bench):
    configured(bench)
    bench.save()
    trusted(bench)
    workflow = bench.start("tdd", "Say the size")
    bench.write(".holdfast/config.toml", bench.read(".holdfast/config.toml") + "# one more word\n")
    with pytest.raises(Refused) as caught:
        ran(bench.open().workflow(workflow.id), "test_fails", data={"test": "size"})
    assert caught.value.code == "untrusted"
    assert not (bench.root / "ran").exists()
    trusted(bench)
    assert ran(bench.open().workflow(workflow.id), "test_fails", data={"test": "size"}).passed


def test_what_the_configuration_says_now_is_what_runs_once_a_person_trusted_it(bench):
    configured(bench, "old")
    bench.save()
    workflow = bench.start("tdd", "Say the size")
    configured(bench, "new")
    with pytest.raises(Refused) as caught:
        ran(bench.open().workflow(workflow.id), "test_fails", data={"test": "size"})
    assert caught.value.code == "untrusted"
    trusted(bench)
    ran(bench.open().workflow(workflow.id), "test_fails", data={"test": "size"})
    assert (bench.root / "new").exists()
    assert not (bench.root / "old").exists()


def test_a_command_that_was_found_or_typed_needs_no_trust(bench):
    assert ran(cycle(bench), "test_fails").exit_code == 0
    bench.open("human").workflow().cancel()
    workflow = bench.start("tdd", "Something else")
    check = workflow.state.plan.step("red").check("test_fails")
    assert check.source == "conftest.py"
    assert ran(workflow, "test_fails").run_by == "engine"


def test_in_a_definition_of_ones_own_a_command_of_the_configuration_needs_its_own_trust(bench):
    configured(bench)
    bench.write(
        ".holdfast/workflows/own.toml",
        'name = "own"\n[[step]]\nid = "a"\nchecks = [{ name = "tests", uses = "test" }]\n',
    )
    bench.save()
    workflow = bench.start("own", "x").begin("a")
    with pytest.raises(Refused):
        ran(workflow, "tests")
    trusted(bench)
    assert ran(workflow, "tests").exit_code == 1


def test_while_another_session_holds_the_work_nothing_is_run(bench):
    bench.write("run.sh", "touch ran; exit 1\n")
    bench.save()
    held = bench.open(session="one").start("tdd", "Say the size", context={"test_command": "sh run.sh"})
    assert held.join() is None
    with pytest.raises(HoldfastError) as caught:
        ran(bench.open(session="two").workflow(held.id), "test_fails", data={"test": "size"})
    assert caught.value.code == "lease_held"
    assert not (bench.root / "ran").exists()


def test_whoever_was_given_the_token_of_the_lease_may_run_a_check(bench):
    without_python(bench)
    bench.write("run.sh", "echo 'not ok - size'; exit 1\n")
    bench.save()
    held = bench.open(session="one").start("tdd", "Say the size", context={"test_command": "sh run.sh"})
    token = held.start_agent("coder")
    helper = bench.open(session="two", token=token).workflow(held.id)
    bench.write("size.test", "size is two\n")
    assert ran(helper, "test_fails", data={"test": "size"}).passed


def test_every_surface_says_what_is_known_by_the_exit_code_only(bench):
    without_python(bench)
    workflow = cycle(bench, "sh run.sh")
    bench.write("run.sh", "echo '1 failed: size is two'; exit 1\n")
    said = "by exit code only"
    answer = bench.ok("check", "test_fails", "--set", "test=size is two")
    assert said in answer.out
    assert "size is two" not in answer.out
    bench.ok("done", "red")
    for words in (("next",), ("status", "-w", workflow.id), ("log",), ("show",), ("next", "--json")):
        answer = bench.ok(*words)
        assert said in answer.out, words
        assert "size is two" not in answer.out, words
    assert said in bench.open().workflow(workflow.id).packet()


def test_a_source_with_the_size_and_time_that_its_compiled_code_knows_is_read_again(bench, monkeypatch):
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE")
    bench.write("form.py", "def size():\n    return 1\n")
    bench.save()
    workflow = cycle(bench)
    bench.write("tests/test_form.py", PASSING)
    assert ran(workflow, "test_fails").passed
    workflow.done("red")
    file = bench.write("form.py", "def size():\n    return 2\n")
    assert ran(workflow, "test_passes").passed
    compiled_at = file.stat().st_mtime_ns
    file.write_text("def size():\n    return 3\n")
    os.utime(file, ns=(compiled_at, compiled_at))
    assert not ran(workflow, "test_passes").passed


def test_a_strict_xfail_that_passes_is_not_red(bench):
    workflow = cycle(bench)
    mark = "import pytest\n\n\n@pytest.mark.xfail(strict=True, reason='not there yet')\n"
    bench.write("tests/test_form.py", f"{mark}def test_size():\n    assert True\n")
    for named in ({}, {"test": "test_size"}):
        seen = ran(workflow, "test_fails", data=named)
        assert (seen.passed, seen.exit_code, "passes already" in seen.detail) == (False, 1, True), seen.detail


HELPED = "import os\n\n\ndef test_size():\n    assert os.environ.get('SIZE') == '2'\n"


@pytest.mark.parametrize("place", ["conftest.py", "tests/conftest.py"])
def test_a_fixture_that_changes_after_red_makes_no_green_without_the_work(bench, place):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", HELPED)
    ran(workflow, "test_fails")
    workflow.done("red")
    before = bench.read(place) if (bench.root / place).exists() else ""
    bench.write(place, before + "import os\nos.environ['SIZE'] = '2'\n")
    seen = ran(workflow, "test_passes")
    assert not seen.passed
    assert seen.detail == (
        f"tests/test_form.py::test_size passes without the work of this task: {place} was changed after it was red"
    )


def test_a_helper_that_changes_after_red_needs_a_test_that_still_fails_without_the_work(bench):
    text = "from tests import helper\nfrom form import size\n\n\ndef test_size():\n    assert size() == helper.TWO\n"
    bench.write("tests/__init__.py", "")
    bench.write("tests/helper.py", "TWO = 2\n")
    bench.write("form.py", "def size():\n    return 1\n")
    bench.save()
    workflow = cycle(bench)
    bench.write("tests/test_form.py", text)
    ran(workflow, "test_fails", data={"test": "test_size"})
    workflow.done("red")
    bench.write("tests/helper.py", "TWO = 1\n")
    assert "tests/helper.py was changed after it was red" in ran(workflow, "test_passes").detail
    bench.write("tests/helper.py", "TWO = 1 + 1\n")
    bench.write("form.py", "def size():\n    return 2\n")
    seen = ran(workflow, "test_passes")
    assert seen.passed, seen.detail


def test_how_tests_run_may_not_change_after_red_either(bench):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", "def test_size(pytestconfig):\n    assert pytestconfig.getini('minversion')\n")
    ran(workflow, "test_fails")
    workflow.done("red")
    bench.write("pyproject.toml", "[tool.pytest.ini_options]\nminversion = '1'\n")
    seen = ran(workflow, "test_passes")
    assert (seen.passed, "pyproject.toml was changed after it was red" in seen.detail) == (False, True), seen.detail


def test_work_whose_name_only_looks_like_a_test_is_work(bench):
    """`latest.py` and `spec.py` are no tests: a counterproof that took them along would never see the test fail."""
    workflow = cycle(bench)
    text = "def test_size():\n    from latest import size\n    from spec import two\n\n    assert size() == two()\n"
    bench.write("tests/test_form.py", text)
    ran(workflow, "test_fails")
    workflow.done("red")
    bench.write("latest.py", "def size():\n    return 2\n")
    bench.write("spec.py", "def two():\n    return 2\n")
    bench.write("tests/test_form.py", text + "# tidy\n")
    seen = ran(workflow, "test_passes")
    assert seen.passed, seen.detail


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("sh t/rum.sh", "there is no file t/rum.sh to run"),
        ("python3 test.py", "there is no file test.py to run"),
        ("python3 -m pytst", "the Python module pytst is not installed for python3"),
        ("make test", "there is no Makefile"),
        ("go test ./...", "go told no result of a test"),
    ],
)
def test_a_command_that_starts_no_test_is_not_red(tmp_path, monkeypatch, command, why):
    """Nor does it bind the command: whoever typed it may type another one."""
    if command.startswith("go "):
        need("go")
    bench = Bench(tmp_path / "project").begun()
    monkeypatch.chdir(bench.root)
    workflow = cycle(bench, command)
    bench.write("notes.txt", "nothing\n")
    seen = ran(workflow, "test_fails")
    assert (seen.passed, seen.detail) == (False, f"no test ran: {why}")
    bench.write("check.sh", "exit 1\n")
    bench.ok("set", "test_command=sh check.sh")
    assert ran(workflow, "test_fails").passed


def test_a_failing_test_is_named_where_no_single_test_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    bench = Bench(tmp_path / "project").begun()
    bench.write("pyproject.toml", "[tool.pytest.ini_options]\n")
    bench.write("test_old.py", "def test_old():\n    assert 1 == 2\n\n\ndef test_more():\n    assert 0\n")
    bench.saved_feature(LOGIN, "x Everything")
    bench.ok("start", "dev", LOGIN)
    failed = bench.agent("check", "test")
    assert "test_old.py::test_old: assert 1 == 2" in failed.out + failed.err
    assert "test_old.py::test_old: assert 1 == 2" in " ".join(bench.ok("next").out.split())


MARKED = """import unittest


class Size(unittest.TestCase):
    @unittest.expectedFailure
    def test_size(self):
        pass
"""


def test_a_test_of_unittest_that_is_marked_to_fail_and_passes_is_not_red(bench):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", MARKED)
    seen = ran(workflow, "test_fails")
    assert not seen.passed
    assert "marked as expected to fail" in seen.detail


def test_a_test_that_was_written_and_deleted_within_the_task_passed_at_red(bench):
    workflow = cycle(bench)
    bench.write("tests/test_form.py", "def test_size():\n    import form\n\n\ndef test_more():\n    pass\n")
    assert ran(workflow, "test_fails", data={"test": "test_size"}).passed
    workflow.done("red")
    bench.write("tests/test_form.py", "def test_size():\n    import form\n")
    bench.write("form.py", "")
    said = "1 test that passed at red is not run any more: tests/test_form.py::test_more"
    assert said in ran(workflow, "test_passes").detail


def test_where_there_is_no_test_at_all_a_person_may_let_it_be_reported(tmp_path, monkeypatch):
    bench = Bench(tmp_path / "empty").begun()
    monkeypatch.chdir(bench.root)
    bench.write("pytest.ini", "[pytest]\naddopts = -p no:cacheprovider\n")
    bench.saved_feature(LOGIN, "Write it down (no tests)")
    bench.ok("start", "dev", LOGIN)
    bench.write("notes.md", "more\n")
    bench.ok("done")
    for check in ("lint", "security_review", "code_simplifier"):
        bench.ok("check", check, "--passed")
    bench.agent("check", "test")
    refused = bench.agent("done", "verification")
    assert refused.code == 3
    way = next(line for line in refused.err.splitlines() if "to allow reports: " in line)
    assert way.startswith("for a person: ")
    bench.write(".holdfast/config.toml", '[commands.test]\nrun = "report"\n')
    trusted(bench)
    bench.ok("check", "test", "--passed")
    bench.ok("done", "verification")
