"""A test may be named in full or by its end, in whole segments."""

from __future__ import annotations

import pytest

from holdfast.checks.results.model import Case, Results, function_name, matches


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
    whole, part = Case("TestLogin", "failed"), Case("TestLogin/a_b", "failed", reason="refused")
    results = Results(tests=(whole, part), total=2)
    assert results.culprits() == [part]
    assert results.reason(whole) == "refused"
    assert results.called("TestLogin") == [whole]


@pytest.mark.parametrize(
    "asked",
    [
        "test/form.test.js > form > gives [] at first",
        "test/form.test.js::form::gives [] at first",
        "form > gives [] at first",
        "form gives [] at first",
        "gives [] at first",
        "test/form.test.js",
    ],
)
def test_a_test_that_is_named_by_sentences_is_found_by_its_own_and_those_of_its_groups(asked):
    titles = ("form", "gives [] at first")
    case = Case("test/form.test.js > form > gives [] at first", "passed", "test/form.test.js", titles=titles)
    assert case.is_called(asked)
    for other in ("gives", "at first", "form", "", "gives [] at", "other > gives [] at first"):
        assert not case.is_called(other)


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
