"""Red is a test of the task that fails as a test; green is the same test passing, and nothing that newly fails."""

from __future__ import annotations

import pytest

from holdfast.checks.results.judge import Red, Verdict, before, must_fail, must_pass
from holdfast.checks.results.model import FILTERED, Case, Results
from holdfast.checks.results.sources import Sources
from tests.checks.results.made import found

A, B, OLD = "tests/test_a.py::test_login", "tests/test_a.py::test_logout", "tests/test_old.py::test_old"
FAILS = found((A,), (B, OLD), reasons={A: "assert 1 == 2"})
BOTH = found((A, B), (OLD,))
PASSES = found((), (A, B, OLD))
QUIET = found(unnamed=2)
QUIET_FAILS = found((A,), unnamed=2)
OLD_FAILS = found((OLD,), (A,), reasons={OLD: "no"})
BROKEN = found(broken={"tests/test_a.py": "ImportError: no auth"})
OLD_BROKEN = found(broken={"tests/test_old.py": "SyntaxError"})
NOTHING = found()
ELSEWHERE = found((), ("tests/test_b.py::test_login",))
SKIPPED = found((), (OLD,), (A,))
FILTERS = Results((Case(A, FILTERED, "tests/test_a.py"),))
AT_ONCE = "a test that passes at once shows nothing"


@pytest.fixture
def sources(tmp_path) -> Sources:
    """The task wrote one test file and one that is none; another test file was there before."""
    for name, text in {
        "tests/test_a.py": "def test_login():\n    pass\n\n\nclass TestX:\n    def test_logout(self):\n        pass\n",
        "tests/test_old.py": "def test_old():\n    pass\n",
        "auth.py": "def login():\n    pass\n",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return Sources(str(tmp_path), {"tests/test_a.py": None, "auth.py": None})


@pytest.mark.parametrize(
    ("results", "named", "test", "reason"),
    [
        (FAILS, "test_login", A, "assert 1 == 2"),
        (FAILS, "", A, "assert 1 == 2"),
        (BOTH, "test_logout", B, f"{B} fails"),
        (found((A, OLD), ()), "", A, f"{A} fails"),
        (QUIET_FAILS, "", A, f"{A} fails"),
        (BROKEN, "test_login", "test_login", "ImportError: no auth"),
        (BROKEN, "TestX::test_logout[ada]", "TestX::test_logout[ada]", "ImportError: no auth"),
        (BROKEN, A, A, "ImportError: no auth"),
        # an old test has the same name, and its file can be loaded
        (ELSEWHERE.replace(broken=BROKEN.broken), "test_login", "test_login", "ImportError: no auth"),
    ],
)  # fmt: skip
def test_red_is_a_test_of_the_task_that_fails(sources, results, named, test, reason):
    assert must_fail(1, results, named, sources) == Verdict(True, test, reason, file="tests/test_a.py")


@pytest.mark.parametrize(
    ("exit_code", "results", "named", "detail"),
    [
        (0, PASSES, "test_login", f"{A} passes already: {AT_ONCE}"),
        (1, FAILS, "test_logout", f"{B} passes already: {AT_ONCE}"),
        (0, PASSES, "", f"no test failed: {AT_ONCE}"),
        (0, QUIET, "test_login", f"no test failed: test_login passes already: {AT_ONCE}"),
        (0, FAILS, "test_login", f"{A} fails, but the command succeeds: its exit code must tell"),
        (1, SKIPPED, "test_login", f"{A} is skipped: a test that does not run shows nothing"),
        (1, FILTERS, "test_login", f"{A} is filtered out by the command: a test that does not run shows nothing"),
        (1, OLD_FAILS, "test_old", f"{OLD} fails, but it is not new or changed in this task"),
        (1, OLD_FAILS, "", f"no test failed that is new or changed in this task; these failed: {OLD}"),
        (1, OLD_BROKEN, "", "no test of this task failed; these cannot be loaded: tests/test_old.py"),
        (1, OLD_BROKEN, "test_old", "test_old was not collected: these cannot be loaded: tests/test_old.py"),
        (1, OLD_BROKEN, "test_login", "test_login was not collected: these cannot be loaded: tests/test_old.py"),
        (1, BROKEN, "tests/test_a.py", "tests/test_a.py was not collected: these cannot be loaded: tests/test_a.py"),
        (1, BROKEN, "login", "login was not collected: these cannot be loaded: tests/test_a.py"),
        (1, BROKEN, "", "name the test that must fail: these cannot be loaded: tests/test_a.py"),
        (1, BOTH, "", f"name the test that must fail: these failed: {A}, {B}"),
        (1, FAILS, "Snapshots", f"Snapshots was not collected: these failed: {A}"),
        (1, PASSES, "", "the command failed, but no test did"),
        (1, NOTHING, "", "no test ran"),
        (1, NOTHING, "test_login", "no test ran"),
    ],
)  # fmt: skip
def test_nothing_else_is_red(sources, exit_code, results, named, detail):
    verdict = must_fail(exit_code, results, named, sources)
    assert (verdict.passed, verdict.detail) == (False, detail)


def test_a_tool_that_nobody_knows_proves_its_exit_code_and_names_no_test(sources, tmp_path):
    red = must_fail(1, None, "test_login", sources)
    assert (red.passed, red.test, red.by_exit_code) == (True, "", True)
    assert not must_fail(0, None, "test_login", sources).passed
    assert not must_fail(127, None, "", sources).passed
    assert must_fail(1, None, "", Sources(str(tmp_path), {})).detail == (
        "the command failed, but no test was written: no file changed"
    )
    green = must_pass(0, None, Red(), sources)
    assert (green.passed, green.test, green.by_exit_code) == (True, "", True)
    assert not must_pass(1, None, Red(), sources).passed


RED = Red(A, "tests/test_a.py")


@pytest.mark.parametrize(
    ("exit_code", "results", "red", "detail"),
    [
        (0, PASSES, RED, ""),
        (0, PASSES, Red("test_login", "tests/test_a.py"), ""),
        (1, OLD_FAILS, RED.replace(before=(OLD,)), f"failed before: {OLD}"),
        (1, found((), (A,), broken={"old.py": "no"}), RED.replace(before=("old.py",)), "failed before: old.py"),
    ],
)
def test_green_is_the_same_test_passing(sources, exit_code, results, red, detail):
    assert must_pass(exit_code, results, red, sources) == Verdict(True, A, detail, file="tests/test_a.py")


@pytest.mark.parametrize(
    ("exit_code", "results", "red", "detail"),
    [
        (1, FAILS, RED, "assert 1 == 2"),
        (0, FAILS, RED, "assert 1 == 2"),
        (1, OLD_FAILS, RED, f"{OLD}: no"),
        (1, BROKEN, RED, "tests/test_a.py: ImportError: no auth"),
        (1, PASSES, RED, "the command failed, but no test did"),
        (0, SKIPPED, RED, f"{A} is skipped: a test that does not run shows nothing"),
        (0, FILTERS, RED, f"{A} is filtered out by the command: a test that does not run shows nothing"),
        (0, found((), (OLD,)), RED, f"{A} was not collected"),
        (0, found((), (OLD,)), Red(A, "test_gone.py"), f"{A} was deleted: test_gone.py is not there any more"),
        (0, QUIET, Red("test_gone", "tests/test_a.py"),
         "test_gone was deleted: it is no longer in tests/test_a.py"),
        (0, ELSEWHERE, Red("test_login", "tests/test_a.py"), "test_login was not collected"),
        (0, NOTHING, RED, "no test ran"),
        (0, None, RED, f"the run does not tell whether {A} passed"),
    ],
)  # fmt: skip
def test_nothing_else_is_green(sources, exit_code, results, red, detail):
    verdict = must_pass(exit_code, results, red, sources)
    assert (verdict.passed, verdict.detail) == (False, detail)


def test_a_tool_that_does_not_name_what_passes_proves_only_its_exit_code(sources):
    verdict = must_pass(0, QUIET, RED, sources)
    assert (verdict.passed, verdict.test, verdict.by_exit_code) == (True, "", True)


def test_what_fails_beside_the_tests_of_the_task_failed_before(sources):
    results = found((A, B, OLD), (), broken={"tests/test_old.py": "", "tests/test_a.py": ""})
    assert before(results, A, sources) == [OLD, "tests/test_old.py"]


RUST = "pub fn size() -> i32 {\n    1\n}\n\nmod tests {\n    #[test]\n    fn old() {\n        size();\n    }\n}\n"
GAINED = RUST.replace("    #[test]", "    #[test]\n    fn new() {\n        let x = 1;\n    }\n\n    #[test]", 1)


def test_a_file_of_rust_is_a_test_file_of_the_task_when_it_gains_a_test(tmp_path):
    sources = Sources(str(tmp_path), {"lib.rs": None}, lambda _: RUST.encode())
    (tmp_path / "lib.rs").write_text(RUST.replace("    1\n", "    2\n"))
    assert (sources.is_own_test("lib.rs"), sources.file_of(Case("forms::tests::old", "failed"))) == (False, "")
    (tmp_path / "lib.rs").write_text(GAINED)
    assert sources.is_own_test("lib.rs")
    assert sources.file_of(Case("forms::tests::new", "failed")) == "lib.rs"
    assert sources.file_of(Case("forms::tests::old", "failed")) == ""


@pytest.mark.parametrize(
    "reason",
    [
        "[XPASS(strict)] not there yet",
        "[XPASS(strict)]",
        "unexpected success",
        "Error: Failing test passed even though it was supposed to fail. Remove `.failing` to remove error.",
        "Error: Expect test to fail",
    ],
)
def test_a_test_that_was_expected_to_fail_and_passes_is_not_red(sources, reason):
    results = found((A,), (OLD,), reasons={A: reason})
    for named in ("", "test_login"):
        verdict = must_fail(1, results, named, sources)
        assert (verdict.passed, "passes already" in verdict.detail) == (False, True), verdict
    assert not must_pass(1, results, Red(A, "tests/test_a.py"), sources).passed
    other = must_fail(1, found((A, B), (OLD,), reasons={A: reason, B: "assert 0"}), "", sources)
    assert (other.passed, other.test) == (True, B)
