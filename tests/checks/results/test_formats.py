"""Every format tells the same six stories: captured from the tools themselves, and read into one model.

The reports of gotestsum are written after its documented form; everything else was printed by the tool.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.checks.results import Reading
from holdfast.checks.results.junit import read as read_junit
from holdfast.checks.results.model import Results
from tests.tiers import examples

DATA = Path(__file__).parent / "data"
CASES = ("all_pass", "one_fails", "one_skipped", "parametrised", "cannot_load", "nothing_ran")
AUTH = "tests/test_auth.py::"
SPACED = AUTH + "test_login[a b [c] - d]"
IMPORT = {"tests/test_auth.py": "ModuleNotFoundError: No module named 'auth'"}

PYTEST = {
    "all_pass": Results(passing=(AUTH + "test_login", AUTH + "TestToken::test_renew"), total=2),
    "one_fails": Results(
        failing=(AUTH + "TestToken::test_login",),
        passing=(AUTH + "test_logout",),
        reasons={AUTH + "TestToken::test_login": "AssertionError: assert 'guest' == 'ada'"},
        total=2,
    ),
    "one_skipped": Results(passing=(AUTH + "test_login",), skipped=1, total=1),
    "parametrised": Results(
        failing=(SPACED,),
        passing=(AUTH + "test_login[ada]", AUTH + "test_login[x::y/z]"),
        reasons={SPACED: "AssertionError: spaces are refused"},
        total=3,
    ),
    "cannot_load": Results(broken=IMPORT),
    "nothing_ran": Results(),
}
# Workers run on where a single process stops at the file that it cannot load.
PYTEST_PARALLEL = {
    **PYTEST,
    "cannot_load": Results(passing=("tests/test_other.py::test_other",), broken=IMPORT, total=1),
}
CARGO = {
    "all_pass": Results(passing=("tests::logs_in", "test_renew", "src/lib.rs - login (line 3)"), total=3),
    "one_fails": Results(
        failing=("tests::test_login",),
        passing=("tests::test_logout",),
        reasons={"tests::test_login": "assertion `left == right` failed: the name is kept"},
        total=2,
    ),
    "one_skipped": Results(passing=("tests::test_login",), skipped=1, total=1),
    "parametrised": Results(
        failing=("tests::test_login::spaces",),
        passing=("tests::test_login::ada", "tests::test_login::empty"),
        reasons={"tests::test_login::spaces": "spaces are refused"},
        total=3,
    ),
    "cannot_load": Results(
        broken={"tests/auth.rs": "no method named `login` found for struct `Auth` in the current scope"}
    ),
    "nothing_ran": Results(),
}
GO = {
    "all_pass": Results(passing=("TestLogin", "TestLogout"), total=2),
    "one_fails": Results(
        failing=("TestLogin",),
        passing=("TestLogout",),
        reasons={"TestLogin": 'Login(ada) = "guest", want ada'},
        total=2,
    ),
    "one_skipped": Results(passing=("TestLogin",), skipped=1, total=1),
    "parametrised": Results(
        failing=("TestLogin", "TestLogin/a_b"),
        passing=("TestLogin/guest", "TestLogin/#00"),
        reasons={"TestLogin/a_b": "spaces are refused"},
        total=4,
    ),
    "cannot_load": Results(broken={"auth_test.go": "undefined: Renew"}),
    "nothing_ran": Results(),
}
# Plain `go test` tells of what failed; of what passed or was skipped it says no more than that the package is well.
GO_PLAIN = {
    **GO,
    "all_pass": Results(total=1, unnamed=1),
    "one_fails": GO["one_fails"].replace(passing=(), total=1),
    "one_skipped": Results(total=1, unnamed=1),
    "parametrised": GO["parametrised"].replace(passing=(), total=2),
}


def without_names(results: Results) -> Results:
    """What a quiet run tells: failing tests by name, the others by number."""
    return results.replace(passing=(), unnamed=len(results.passing))


def of_package(package: str, results: Results) -> Results:
    """What a report tells, where each name is preceded by its package."""
    return results.replace(
        failing=tuple(f"{package}::{name}" for name in results.failing),
        passing=tuple(f"{package}::{name}" for name in results.passing),
        reasons={f"{package}::{name}": reason for name, reason in results.reasons.items()},
    )


FORMATS = {
    "pytest_verbose": PYTEST,
    "pytest_coloured": PYTEST,
    "pytest_parallel": PYTEST_PARALLEL,
    "pytest_quiet": {case: without_names(results) for case, results in PYTEST.items()},
    "cargo": CARGO,
    "cargo_quiet": {case: without_names(results) for case, results in CARGO.items()},
    "go_verbose": GO,
    "go_json": GO,
    "go_plain": GO_PLAIN,
    "junit_pytest_xunit1": PYTEST,
    "junit_pytest_xunit2": PYTEST,
    "junit_gotestsum": {case: of_package("example.com/auth", results) for case, results in GO.items()},
}


def captured(kind: str, case: str) -> bytes:
    (path,) = (DATA / kind).glob(f"{case}.*")
    return path.read_bytes()


def followed(*chunks: bytes) -> Results | None:
    reading = Reading()
    for chunk in chunks:
        reading.take(chunk)
    return reading.results()


def in_order(results: Results | None) -> Results:
    """Names sorted: workers and reports give them in any order."""
    assert results is not None
    return results.replace(failing=tuple(sorted(results.failing)), passing=tuple(sorted(results.passing)))


def test_every_format_tells_every_case():
    assert {path.name for path in DATA.iterdir()} == set(FORMATS)
    for kind, expected in FORMATS.items():
        assert set(expected) == set(CASES)
        assert {path.stem for path in (DATA / kind).iterdir()} >= set(CASES), kind


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_case_reads_the_same_in_every_format(kind, case):
    data = captured(kind, case)
    results = read_junit(data) if kind.startswith("junit") else followed(data)
    assert in_order(results) == in_order(FORMATS[kind][case])


OUTPUTS = [kind for kind in FORMATS if not kind.startswith("junit")]


@settings(max_examples=examples(60), deadline=None)
@given(st.sampled_from(OUTPUTS), st.sampled_from(CASES), st.data())
def test_wherever_the_output_is_cut_the_results_are_the_same(kind, case, data):
    whole = captured(kind, case)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=20)))
    pieces = [whole[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert followed(*pieces) == followed(whole)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", OUTPUTS)
def test_line_ends_of_another_system_change_nothing(kind, case):
    data = captured(kind, case)
    assert followed(data.replace(b"\n", b"\r\n")) == followed(data)


@pytest.mark.parametrize("kind", ["go_plain", "go_json"])
def test_a_panic_is_the_reason_of_the_test_that_it_ended(kind):
    results = followed(captured(kind, "panics"))
    assert results == Results(
        failing=("TestLogin",), reasons={"TestLogin": "panic: assignment to entry in nil map"}, total=1
    )
