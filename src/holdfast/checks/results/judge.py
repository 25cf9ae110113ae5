"""Whether a run is the red or the green of test-driven development."""

from __future__ import annotations

import re
from _collections_abc import Callable, Iterable

from holdfast.checks.results.model import Results, function_name, is_file, matches
from holdfast.core.value import Value

_MOST_LISTED = 5


class Verdict(Value):
    """Whether the run is what was asked for, which test showed it, and why (or why not) in one sentence."""

    passed: bool
    test: str = ""
    detail: str = ""
    unnamed: bool = False
    """Whether naming a test, or another one, leads on."""


def must_fail(
    exit_ok: bool, results: Results | None, named: str, holds: Callable[[str, str], bool], output: str
) -> Verdict:
    """Red: the run failed, and the named test is what fails.

    Without a name, the only failing test is meant. `holds(file, function)` says whether a file that could not be
    loaded contains the test. `output` is the end of what was printed; it is asked only when the tool is unknown.
    """
    if exit_ok:
        return _not_red(results, named)
    if results is None:
        return _red_of_unknown_tool(named, output)
    if results.nothing_ran() and not results.broken:
        return Verdict(False, named, "no test ran")
    return _named_red(results, named, holds) if named else _only_red(results)


def must_pass(exit_ok: bool, results: Results | None, named: str) -> Verdict:
    """Green: the run succeeded, something ran, and the named test is among what passed.

    Where the tool does not print the names of passing tests, or not the files they are in, it is enough that some
    passed and what is named did not fail. Of an unknown tool only the exit code is known.
    """
    if results is None:
        return Verdict(exit_ok, named, "" if exit_ok else "the command failed")
    if results.failing or not exit_ok:
        return _not_green(results, named)
    if results.nothing_ran():
        return Verdict(False, named, "no test ran")
    if named and not results.success(named) and not results.unnamed and not _is_beyond(named, results):
        return Verdict(False, named, f"{named} did not run")
    return Verdict(True, results.success(named) or named)


def _is_beyond(named: str, results: Results) -> bool:
    """Whether what is named is a file, and the tool does not say in which files its tests are."""
    return is_file(named) and not any(is_file(name.partition("::")[0]) for name in results.passing)


def _not_red(results: Results | None, named: str) -> Verdict:
    if results is not None:
        if failing := results.failure(named):
            return Verdict(False, failing, f"{failing} fails, but the command succeeds: its exit code must tell")
        if results.nothing_ran():
            return Verdict(False, named, "no test ran")
        if named and not results.success(named) and not results.unnamed:
            return Verdict(False, named, f"{named} did not run, and no test failed")
        named = results.success(named) or named
    if named:
        return _passes_already(named)
    return Verdict(False, "", "no test failed: a test that passes at once shows nothing")


def _passes_already(test: str) -> Verdict:
    return Verdict(False, test, f"{test} passes already: a test that passes at once shows nothing")


def _red_of_unknown_tool(named: str, output: str) -> Verdict:
    if not named:
        return Verdict(False, "", "the output is of no known test tool: name the test that must fail", unnamed=True)
    if re.search(rf"(?<!\w){re.escape(named)}(?!\w)", output):
        return Verdict(True, named, "the command failed, and its output names the test")
    return Verdict(
        False,
        named,
        f"the command failed, but its output does not name {named}: "
        "let the tool print the names of failing tests, or write a JUnit XML report",
        unnamed=True,
    )


def _named_red(results: Results, named: str, holds: Callable[[str, str], bool]) -> Verdict:
    if failing := results.failure(named):
        return Verdict(True, failing, results.reason(failing) or f"{failing} fails")
    if passing := results.success(named):
        return _passes_already(passing)
    function = function_name(named)
    for file, reason in results.broken.items():
        if file == named or (_may_be_in(file, named) and holds(file, function)):
            return Verdict(True, named, reason or f"{file} cannot be loaded")
    what = _listed("these failed", results.culprits()) or _listed("these cannot be loaded", results.broken)
    return Verdict(False, named, f"{named} did not run: {what or 'no test failed'}", unnamed=bool(what))


def _may_be_in(file: str, named: str) -> bool:
    """Whether the name, where it begins with a path, is the path of this file."""
    path, parted, _ = named.partition("[")[0].partition("::")
    return not parted or "." not in path or matches(file, path) or matches(path, file)


def _only_red(results: Results) -> Verdict:
    failing = results.culprits()
    if len(failing) == 1:
        return Verdict(True, failing[0], results.reason(failing[0]) or f"{failing[0]} fails")
    if failing:
        return _unclear(_listed("these failed", failing))
    if len(results.broken) == 1:
        ((file, reason),) = results.broken.items()
        return Verdict(True, file, reason or f"{file} cannot be loaded")
    if results.broken:
        return _unclear(_listed("these cannot be loaded", results.broken))
    return Verdict(False, "", "the command failed, but no test did")


def _unclear(which: str) -> Verdict:
    return Verdict(False, "", f"name the test that must fail: {which}", unnamed=True)


def _not_green(results: Results, named: str) -> Verdict:
    if own := results.failure(named):
        return Verdict(False, own, results.reason(own) or f"{own} fails")
    if other := next(iter(results.culprits()), ""):
        reason = results.reason(other)
        return Verdict(False, results.success(named) or named, f"{other}: {reason}" if reason else f"{other} fails")
    if results.broken:
        file, reason = next(iter(results.broken.items()))
        return Verdict(False, named, f"{file}: {reason}" if reason else f"{file} cannot be loaded")
    return Verdict(False, named, "no test ran" if results.nothing_ran() else "the command failed, but no test did")


def _listed(what: str, names: Iterable[str]) -> str:
    names = list(names)
    if not names:
        return ""
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"{what}: {', '.join(names[:_MOST_LISTED])}{more}"
