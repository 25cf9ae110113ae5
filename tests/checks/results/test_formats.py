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
from holdfast.checks.results.model import SKIPPED, Results
from tests.checks.results.made import bare, found
from tests.tiers import examples

DATA = Path(__file__).parent / "data"
CASES = ("all_pass", "one_fails", "one_skipped", "parametrised", "cannot_load", "nothing_ran")
AUTH = "tests/test_auth.py::"
SPACED = AUTH + "test_login[a b [c] - d]"
IMPORT = {"tests/test_auth.py": "ModuleNotFoundError: No module named 'auth'"}


def without_names(results: Results) -> Results:
    """What a quiet run tells: failing tests by name, the others by number."""
    return results.replace(tests=tuple(case for case in results.tests if case.fails), unnamed=len(results.passing))


def within(owner: str, results: Results) -> Results:
    """What is told where each name is preceded by that of its package or crate."""
    return results.replace(tests=tuple(case.replace(id=f"{owner}::{case.id}") for case in results.tests))


PYTEST = {
    "all_pass": found(passing=(AUTH + "test_login", AUTH + "TestToken::test_renew"), total=2),
    "one_fails": found(
        failing=(AUTH + "TestToken::test_login",),
        passing=(AUTH + "test_logout",),
        reasons={AUTH + "TestToken::test_login": "AssertionError: assert 'guest' == 'ada'"},
        total=2,
    ),
    "one_skipped": found(passing=(AUTH + "test_login",), skipping=(AUTH + "test_remote",)),
    "parametrised": found(
        failing=(SPACED,),
        passing=(AUTH + "test_login[ada]", AUTH + "test_login[x::y/z]"),
        reasons={SPACED: "AssertionError: spaces are refused"},
        total=3,
    ),
    "cannot_load": found(broken=IMPORT),
    "nothing_ran": found(),
}
# Workers run on where a single process stops at the file that it cannot load.
PYTEST_PARALLEL = {
    **PYTEST,
    "cannot_load": found(passing=("tests/test_other.py::test_other",), broken=IMPORT, total=1),
}
CARGO = {
    "all_pass": found(passing=("tests::logs_in", "test_renew", "src/lib.rs - login (line 3)"), total=3),
    "one_fails": found(
        failing=("tests::test_login",),
        passing=("tests::test_logout",),
        reasons={"tests::test_login": "assertion `left == right` failed: the name is kept"},
        total=2,
    ),
    "one_skipped": found(passing=("tests::test_login",), skipping=("tests::test_remote",)),
    "parametrised": found(
        failing=("tests::test_login::spaces",),
        passing=("tests::test_login::ada", "tests::test_login::empty"),
        reasons={"tests::test_login::spaces": "spaces are refused"},
        total=3,
    ),
    "cannot_load": found(
        broken={"tests/auth.rs": "no method named `login` found for struct `Auth` in the current scope"}
    ),
    "nothing_ran": found(),
}
GO = {
    "all_pass": found(passing=("TestLogin", "TestLogout"), total=2),
    "one_fails": found(
        failing=("TestLogin",),
        passing=("TestLogout",),
        reasons={"TestLogin": 'Login(ada) = "guest", want ada'},
        total=2,
    ),
    "one_skipped": found(passing=("TestLogin",), skipping=("TestRemote",)),
    "parametrised": found(
        failing=("TestLogin", "TestLogin/a_b"),
        passing=("TestLogin/guest", "TestLogin/#00"),
        reasons={"TestLogin/a_b": "spaces are refused"},
        total=4,
    ),
    "cannot_load": found(broken={"auth_test.go": "undefined: Renew"}),
    "nothing_ran": found(),
}
# Plain `go test` tells of what failed; of what passed or was skipped it says no more than that the package is well.
GO_PLAIN = {
    **GO,
    "all_pass": found(unnamed=1),
    "one_fails": without_names(GO["one_fails"]).replace(total=1, unnamed=0),
    "one_skipped": found(unnamed=1),
    "parametrised": without_names(GO["parametrised"]).replace(total=2, unnamed=0),
}


def in_crate(results: Results) -> Results:
    """Cargo says which binary it runs: of unit tests that is the crate, of others their file, of examples nothing."""
    owners = {"test_renew": "tests/token.rs::", "src/lib.rs - login (line 3)": ""}
    return results.replace(
        tests=tuple(case.replace(id=owners.get(case.id, "auth::") + case.id) for case in results.tests)
    )


FORMATS = {
    "pytest_verbose": PYTEST,
    "pytest_coloured": PYTEST,
    "pytest_parallel": PYTEST_PARALLEL,
    "pytest_quiet": {case: without_names(results) for case, results in PYTEST.items()},
    "cargo": {case: in_crate(results) for case, results in CARGO.items()},
    "cargo_quiet": {case: without_names(results) for case, results in CARGO.items()},
    "go_verbose": GO,
    "go_json": {case: within("example.com/auth", results) for case, results in GO.items()},
    "go_plain": GO_PLAIN,
    "junit_pytest_xunit1": PYTEST,
    "junit_pytest_xunit2": PYTEST,
    "junit_gotestsum": {case: within("example.com/auth", results) for case, results in GO.items()},
}


def captured(kind: str, case: str) -> bytes:
    (path,) = (DATA / kind).glob(f"{case}.*")
    return path.read_bytes()


def followed(*chunks: bytes) -> Results | None:
    reading = Reading()
    for chunk in chunks:
        reading.take(chunk)
    return reading.results()


def test_every_format_tells_every_case():
    assert {path.name for path in DATA.iterdir()} == set(FORMATS)
    for kind, expected in FORMATS.items():
        assert set(expected) == set(CASES)
        assert {path.stem for path in (DATA / kind).iterdir()} >= set(CASES), kind


def told(kind: str, results: Results | None) -> Results:
    """Without the names of skipped tests where a tool leaves them out."""
    shown = bare(results)
    unnamed = kind in ("pytest_coloured", "pytest_quiet", "cargo_quiet")
    return shown.replace(tests=tuple(case for case in shown.tests if case.outcome != SKIPPED or not unnamed))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_case_reads_the_same_in_every_format(kind, case):
    data = captured(kind, case)
    results = read_junit(data) if kind.startswith("junit") else followed(data)
    assert told(kind, results) == told(kind, FORMATS[kind][case])


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
    results = found(failing=("TestLogin",), reasons={"TestLogin": "panic: assignment to entry in nil map"})
    assert followed(captured(kind, "panics")) == (within("example.com/auth", results) if kind == "go_json" else results)
