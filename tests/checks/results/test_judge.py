"""Red counts only when the named test is what fails; green only when something ran and the named test passed."""

from __future__ import annotations

import pytest

from holdfast.checks.results.judge import Verdict, must_fail, must_pass
from holdfast.checks.results.model import Results

A, B = "tests/test_a.py::test_login", "tests/test_b.py::test_logout"
FAILS = Results(failing=(A,), passing=(B,), reasons={A: "assert 1 == 2"}, total=2)
BOTH = Results(failing=(A, B), reasons={B: "no"}, total=2)
MANY = Results(failing=tuple(f"t.py::test_{n}" for n in range(7)), total=7)
PASSES = Results(passing=(A, B), total=2)
QUIET = Results(total=2, unnamed=2)
BROKEN = Results(broken={"tests/test_a.py": "ImportError: no auth"})
TWO_BROKEN = Results(broken={"tests/test_a.py": "ImportError: no auth", "tests/test_c.py": ""})
PARTS = Results(failing=("TestLogin", "TestLogin/a_b"), reasons={"TestLogin/a_b": "refused"}, total=2)
NOTHING = Results()


def holds(file: str, function: str) -> bool:
    return (file, function) in {("tests/test_a.py", "test_login"), ("auth_test.go", "TestLogin")}


def red(passed: bool, test: str, detail: str) -> Verdict:
    unnamed = not passed and (detail.startswith("name the test") or " did not run: these " in detail)
    return Verdict(passed=passed, test=test, detail=detail, unnamed=unnamed)


AT_ONCE = "passes already: a test that passes at once shows nothing"


@pytest.mark.parametrize(
    ("exit_ok", "results", "named", "expected"),
    [
        # the named test fails
        (False, FAILS, "test_login", red(True, A, "assert 1 == 2")),
        (False, BOTH, "test_login", red(True, A, f"{A} fails")),
        (False, PARTS, "TestLogin", red(True, "TestLogin", "refused")),
        # it passes, whatever the others do
        (True, PASSES, "test_login", red(False, A, f"{A} {AT_ONCE}")),
        (True, QUIET, "test_login", red(False, "test_login", f"test_login {AT_ONCE}")),
        (True, None, "test_login", red(False, "test_login", f"test_login {AT_ONCE}")),
        (False, FAILS, "test_logout", red(False, B, f"{B} {AT_ONCE}")),
        (True, PASSES, "", red(False, "", "no test failed: a test that passes at once shows nothing")),
        (True, None, "", red(False, "", "no test failed: a test that passes at once shows nothing")),
        (True, FAILS, "test_login", red(False, A, f"{A} fails, but the command succeeds: its exit code must tell")),
        # it did not run
        (True, PASSES, "test_x", red(False, "test_x", "test_x did not run, and no test failed")),
        (False, FAILS, "test_x", red(False, "test_x", f"test_x did not run: these failed: {A}")),
        (False, PASSES, "test_x", red(False, "test_x", "test_x did not run: no test failed")),
        (True, NOTHING, "test_login", red(False, "test_login", "no test ran")),
        (False, NOTHING, "test_login", red(False, "test_login", "no test ran")),
        (False, NOTHING, "", red(False, "", "no test ran")),
        (False, Results(skipped=2), "test_login", red(False, "test_login", "no test ran")),
        # its file cannot be loaded
        (False, BROKEN, "test_login", red(True, "test_login", "ImportError: no auth")),
        (False, BROKEN, "TestX::test_login[ada]", red(True, "TestX::test_login[ada]", "ImportError: no auth")),
        (False, BROKEN, A, red(True, A, "ImportError: no auth")),
        (
            False,
            BROKEN,
            "tests/test_c.py::test_login",
            red(
                False,
                "tests/test_c.py::test_login",
                "tests/test_c.py::test_login did not run: these cannot be loaded: tests/test_a.py",
            ),
        ),
        (
            False,
            BROKEN,
            "test_logout",
            red(False, "test_logout", "test_logout did not run: these cannot be loaded: tests/test_a.py"),
        ),
        (
            False,
            Results(broken={"auth_test.go": "undefined: Renew"}),
            "TestLogin/empty",
            red(True, "TestLogin/empty", "undefined: Renew"),
        ),
        # no test is named
        (False, FAILS, "", red(True, A, "assert 1 == 2")),
        (False, PARTS, "", red(True, "TestLogin/a_b", "refused")),
        (False, BROKEN, "", red(True, "tests/test_a.py", "ImportError: no auth")),
        (False, BOTH, "", red(False, "", f"name the test that must fail: these failed: {A}, {B}")),
        (
            False,
            MANY,
            "",
            red(
                False,
                "",
                "name the test that must fail: these failed: t.py::test_0, t.py::test_1, t.py::test_2, t.py::test_3, "
                "t.py::test_4 and 2 more",
            ),
        ),
        (
            False,
            TWO_BROKEN,
            "",
            red(False, "", "name the test that must fail: these cannot be loaded: tests/test_a.py, tests/test_c.py"),
        ),
        (False, PASSES, "", red(False, "", "the command failed, but no test did")),
    ],
)
def test_red_is_the_named_test_failing(exit_ok, results, named, expected):
    assert must_fail(exit_ok, results, named, holds, "") == expected


@pytest.mark.parametrize(
    ("named", "output", "passed"),
    [
        ("test_login", "not ok 1 - test_login\n", True),
        ("logs in (twice)", "✗ logs in (twice)", True),
        ("test_login", "not ok 1 - test_login_again\n", False),
        ("test_login", "", False),
        ("", "not ok 1 - test_login\n", False),
    ],
)
def test_an_unknown_tool_must_fail_and_print_the_name_as_a_whole_word(named, output, passed):
    verdict = must_fail(False, None, named, holds, output)
    assert verdict.passed is passed
    assert verdict.detail
    assert not must_fail(True, None, named, holds, output).passed


def test_an_unknown_tool_without_a_name_is_told_to_name_the_test():
    assert "name the test" in must_fail(False, None, "", holds, "").detail


@pytest.mark.parametrize(
    ("exit_ok", "results", "named", "expected"),
    [
        (True, PASSES, "test_login", red(True, A, "")),
        (True, PASSES, "", red(True, "", "")),
        (True, QUIET, "test_login", red(True, "test_login", "")),
        (True, None, "test_login", red(True, "test_login", "")),
        (False, None, "test_login", red(False, "test_login", "the command failed")),
        (True, PASSES, "test_x", red(False, "test_x", "test_x did not run")),
        (True, NOTHING, "", red(False, "", "no test ran")),
        (False, NOTHING, "test_login", red(False, "test_login", "no test ran")),
        (False, FAILS, "test_login", red(False, A, "assert 1 == 2")),
        (True, FAILS, "test_login", red(False, A, "assert 1 == 2")),
        (False, FAILS, "test_logout", red(False, B, f"{A}: assert 1 == 2")),
        (False, FAILS, "", red(False, "", f"{A}: assert 1 == 2")),
        (False, MANY, "", red(False, "", "t.py::test_0 fails")),
        (False, BROKEN, "test_login", red(False, "test_login", "tests/test_a.py: ImportError: no auth")),
        (False, PASSES, "test_login", red(False, "test_login", "the command failed, but no test did")),
    ],
)
def test_green_is_a_good_run_in_which_the_named_test_passed(exit_ok, results, named, expected):
    assert must_pass(exit_ok, results, named) == expected


def test_what_could_not_be_loaded_is_green_once_something_of_it_passes():
    assert must_pass(True, PASSES, "tests/test_a.py") == Verdict(True, A)
    assert must_pass(True, PASSES, "tests/test_gone.py") == Verdict(
        False, "tests/test_gone.py", "tests/test_gone.py did not run"
    )
    unattributed = Results(passing=("auth::tests::login",), total=1)
    assert must_pass(True, unattributed, "tests/auth.rs") == Verdict(True, "tests/auth.rs")
