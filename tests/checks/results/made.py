"""Results for tests, said shortly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holdfast.checks.results.model import FAILED, PASSED, SKIPPED, Case, Results


def found(
    failing: Iterable[str] = (),
    passing: Iterable[str] = (),
    skipping: Iterable[str] = (),
    *,
    reasons: Mapping[str, str] | None = None,
    broken: Mapping[str, str] | None = None,
    total: int | None = None,
    skipped: int | None = None,
    unnamed: int = 0,
) -> Results:
    """What a run of these tests found; the file of a test is what its name begins with, if that is one."""
    named = {FAILED: tuple(failing), PASSED: tuple(passing), SKIPPED: tuple(skipping)}
    why = reasons or {}
    cases = tuple(
        Case(name, outcome, name.partition("::")[0] if ".py::" in name else "", why.get(name, ""))
        for outcome, names in named.items()
        for name in names
    )
    ran = len(named[FAILED]) + len(named[PASSED]) + unnamed
    skips = len(named[SKIPPED]) if skipped is None else skipped
    return Results(cases, broken or {}, ran if total is None else total, skips, unnamed)


def bare(results: Results | None) -> Results:
    """Without files and titles, and in the order of names: workers and reports give them in any order."""
    assert results is not None
    tests = (case.replace(file="", titles=()) for case in results.tests)
    return results.replace(tests=tuple(sorted(tests, key=lambda case: (case.outcome, case.id))))
