"""A test may be named in full or by its end, in whole segments."""

from __future__ import annotations

import pytest

from holdfast.checks.results.model import Results, function_name, matches


@pytest.mark.parametrize(
    ("full", "asked"),
    [
        ("tests/test_auth.py::test_login", "tests/test_auth.py::test_login"),
        ("tests/test_auth.py::test_login", "test_auth.py::test_login"),
        ("tests/test_auth.py::test_login", "test_login"),
        ("tests/test_auth.py::TestX::test_login", "test_login"),
        ("tests/test_auth.py::TestX::test_login", "TestX::test_login"),
        ("tests/test_auth.py::test_login[ada]", "test_login"),
        ("tests/test_auth.py::test_login[x::y/z]", "test_login[x::y/z]"),
        ("test_login[param]", "test_login"),
        ("auth::tests::test_login", "test_login"),
        ("auth::tests::test_login", "tests::test_login"),
        ("TestLogin", "TestLogin"),
        ("TestLogin/empty", "TestLogin"),
        ("TestLogin/empty/deep", "TestLogin/empty"),
        ("TestLogin/empty", "empty"),
        ("example.com/auth::TestLogin/empty", "TestLogin"),
        ("com.acme.LoginTest::empty", "LoginTest::empty"),
        ("src/lib.rs - login (line 3)", "src/lib.rs - login (line 3)"),
    ],
)
def test_a_name_or_the_end_of_it_means_the_test(full, asked):
    assert matches(full, asked)


@pytest.mark.parametrize(
    ("full", "asked"),
    [
        ("tests/test_auth.py::test_login", "login"),
        ("tests/test_auth.py::test_login_again", "test_login"),
        ("tests/test_auth.py::test_login", "test_auth.p"),
        ("tests/test_auth.py::test_login", "tests"),
        ("tests/test_auth.py::test_login", "py::test_login"),
        ("test_auth.py::test_login", "py::test_login"),
        ("tests/test_auth.py::TestX::test_login", "TestX"),
        ("tests/test_auth.py::test_login[x::y/z]", "y/z]"),
        ("tests/test_auth.py::test_login[ada]", "test_login[bob]"),
        ("auth::tests::test_login", "auth::tests"),
        ("TestLoginAgain", "TestLogin"),
        ("TestLogin/empty", "Login/empty"),
        ("TestLogin", ""),
    ],
)
def test_a_part_of_a_segment_or_a_beginning_means_nothing(full, asked):
    assert not matches(full, asked)


def test_a_test_that_fails_by_its_part_has_the_reason_of_the_part_and_is_no_culprit():
    results = Results(failing=("TestLogin", "TestLogin/a_b"), reasons={"TestLogin/a_b": "refused"}, total=2)
    assert results.culprits() == ("TestLogin/a_b",)
    assert results.reason("TestLogin") == "refused"
    assert results.failure("TestLogin") == "TestLogin"


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("tests/test_auth.py::TestX::test_login[x::y/z]", "test_login"),
        ("test_login", "test_login"),
        ("auth::tests::test_login", "test_login"),
        ("TestLogin/empty", "TestLogin"),
        ("example.com/auth::TestLogin/empty/deep", "TestLogin"),
    ],
)
def test_a_source_file_knows_a_test_by_its_function(name, function):
    assert function_name(name) == function


def test_a_file_stands_for_the_tests_in_it():
    assert matches("tests/test_auth.py::TestX::test_login", "tests/test_auth.py")
    assert not matches("tests/test_auth.py::test_login", "tests/test_other.py")
