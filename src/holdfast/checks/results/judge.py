"""Whether a run is the red or the green of test-driven development."""

from __future__ import annotations

from _collections_abc import Iterable, Sequence

from holdfast.checks.results.model import FILTERED, PASSED, SKIPPED, Case, Results, is_file
from holdfast.checks.results.sources import Sources
from holdfast.core.value import Value

_MOST_LISTED = 5
_NOT_RUN = (126, 127)
"""How a shell ends that could not start the command."""
UNKNOWN = "by exit code only: the output is of no known test tool"


class Verdict(Value):
    """Whether the run is what was asked for, which test showed it, and why (or why not) in one sentence."""

    passed: bool
    test: str = ""
    detail: str = ""
    unnamed: bool = False
    """Whether naming a test, or another one, leads on."""
    by_exit_code: bool = False
    """Whether nothing is known but how the command ended."""
    file: str = ""
    """The file of the test."""
    not_started: bool = False
    """Whether the command came to no test: its program, or what it is to run, is not there."""
    unread: bool = False
    """Whether results could be read before the command became another one: only a person may let that count."""


class Red(Value):
    """The test that was seen to fail, its file, and what else failed when the task began."""

    test: str = ""
    file: str = ""
    before: tuple[str, ...] = ()


def must_fail(exit_code: int, results: Results | None, named: str, sources: Sources) -> Verdict:
    """Red: a test that is new or changed in this task was collected, and fails as a test.

    Without a name, the only such test is meant. A file that cannot be loaded is red only if it is a test file of the
    task, and for a test that is named and is in it.
    """
    if results is None:
        return _red_by_exit_code(exit_code, sources)
    if named:
        return _named_red(exit_code, results, named, sources)
    found = [case for case in results.culprits() if sources.is_own(case)]
    own = [case for case in found if not case.passes_unexpectedly]
    if len(own) == 1:
        return _shown(exit_code, results, own[0], sources)
    if found and not own:
        return Verdict(False, found[0].id, _marked(found[0]))
    if own:
        return _unclear(_listed("these failed", [case.id for case in own]))
    broken = [file for file in results.broken if sources.is_own_test(file)]
    if broken:
        return _unclear(_listed("these cannot be loaded", broken))
    return Verdict(False, "", _nothing_red(exit_code, results))


def _named_red(exit_code: int, results: Results, named: str, sources: Sources) -> Verdict:
    called = results.called(named)
    failing = [case for case in called if case.fails and not case.passes_unexpectedly]
    own = [case for case in failing if sources.is_own(case)]
    if own:
        return _shown(exit_code, results, own[0], sources)
    if failing:
        return Verdict(False, failing[0].id, f"{failing[0].id} fails, but it is not new or changed in this task")
    for file, reason in results.broken.items():
        if sources.is_own_test(file) and not is_file(named) and sources.may_have(file, named):
            return Verdict(True, named, reason or f"{file} cannot be loaded", file=file)
    for case in called:
        said = _marked(case) if case.passes_unexpectedly else _why_not_run(case) or _at_once(case.id)
        return Verdict(False, case.id, said)
    if results.unnamed and not exit_code:
        return Verdict(False, named, f"no test failed: {_at_once(named)}")
    what = _listed("these failed", [case.id for case in results.culprits()])
    what = what or _listed("these cannot be loaded", results.broken)
    said = _nothing_red(exit_code, results) if results.nothing_ran() and not what else f"{named} was not collected"
    return Verdict(False, named, f"{said}: {what}" if what else said, unnamed=bool(what))


def _shown(exit_code: int, results: Results, case: Case, sources: Sources) -> Verdict:
    if not exit_code:
        return Verdict(False, case.id, f"{case.id} fails, but the command succeeds: its exit code must tell")
    return Verdict(True, case.id, results.reason(case), file=sources.file_of(case))


def _nothing_red(exit_code: int, results: Results) -> str:
    if others := [case.id for case in results.culprits()]:
        return _listed("no test failed that is new or changed in this task; these failed", others)
    if results.broken:
        return _listed("no test of this task failed; these cannot be loaded", results.broken)
    if results.nothing_ran():
        return "no test ran"
    return "the command failed, but no test did" if exit_code else f"no test failed: {_SHOWS_NOTHING}"


def _red_by_exit_code(exit_code: int, sources: Sources) -> Verdict:
    if exit_code in _NOT_RUN:
        return Verdict(False, "", f"the command could not be run: it ended with {exit_code}", by_exit_code=True)
    if exit_code and sources.is_untouched:
        return Verdict(False, "", "the command failed, but no test was written: no file changed", by_exit_code=True)
    said = UNKNOWN if exit_code else f"the command succeeds: {_SHOWS_NOTHING}"
    return Verdict(bool(exit_code), "", said, by_exit_code=True)


def must_pass(exit_code: int, results: Results | None, red: Red, sources: Sources) -> Verdict:
    """Green: the test that was red was collected, ran and passed, and nothing fails that did not fail before the task.

    What failed before is listed and not held against the task. Of a tool that does not name what passes, only the exit
    code is known.
    """
    if results is None and not red.test:
        said = UNKNOWN if not exit_code else f"the command failed with {exit_code}"
        return Verdict(not exit_code, "", said, by_exit_code=True)
    if results is None:
        return Verdict(False, red.test, f"the run does not tell whether {red.test} passed")
    called = [case for case in results.called(red.test) if not red.file or case.file in ("", red.file)]
    if refusal := _not_green(exit_code, results, red, called, sources):
        return Verdict(False, called[0].id if called else red.test, refusal)
    before = _listed("failed before", [*results.failing, *results.broken])
    if not red.test or called:
        return Verdict(True, called[0].id if called else "", before, file=red.file)
    return Verdict(True, "", "by exit code only: the tool does not name the tests that pass", by_exit_code=True)


def _not_green(exit_code: int, results: Results, red: Red, called: Sequence[Case], sources: Sources) -> str:
    """Why it is not green; empty when it is."""
    if own := next((case for case in called if case.fails), None):
        return results.reason(own)
    if new := failure(results, red.before):
        return new
    if unrun := next((case for case in called if case.outcome != PASSED), None):
        return _why_not_run(unrun)
    if red.test and not called:
        if gone := sources.why_gone(red.file, red.test):
            return f"{red.test} {gone}"
        if not results.unnamed:
            return f"{red.test} was not collected" if not results.nothing_ran() else "no test ran"
    if results.nothing_ran():
        return "no test ran"
    return "the command failed, but no test did" if exit_code and not results.failing and not results.broken else ""


def failure(results: Results, before: Sequence[str] = ()) -> str:
    """The first test that fails, or file that cannot be loaded, and did not `before`: its name and why."""
    if new := next((case for case in results.culprits() if case.id not in before), None):
        return f"{new.id}: {new.reason}" if new.reason else f"{new.id} fails"
    if file := next((file for file in results.broken if file not in before), ""):
        return f"{file}: {results.broken[file]}" if results.broken[file] else f"{file} cannot be loaded"
    return ""


def before(results: Results | None, red: str, sources: Sources) -> list[str]:
    """What fails beside the task's own tests when it shows red: it failed before."""
    if results is None:
        return []
    others = [case.id for case in results.tests if case.fails and case.id != red and not sources.is_own(case)]
    return [*others, *(file for file in results.broken if not sources.has(file))]


_SHOWS_NOTHING = "a test that passes at once shows nothing"


def _at_once(test: str) -> str:
    return f"{test} passes already: {_SHOWS_NOTHING}"


def _marked(case: Case) -> str:
    return f"{_at_once(case.id)}; it fails only because it is marked as expected to fail"


def _why_not_run(case: Case) -> str:
    if case.outcome == SKIPPED:
        return f"{case.id} is skipped: a test that does not run shows nothing"
    return (
        f"{case.id} is filtered out by the command: a test that does not run shows nothing"
        if (case.outcome == FILTERED)
        else ""
    )


def _unclear(which: str) -> Verdict:
    return Verdict(False, "", f"name the test that must fail: {which}", unnamed=True)


def _listed(what: str, names: Iterable[str]) -> str:
    names = list(names)
    if not names:
        return ""
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"{what}: {', '.join(names[:_MOST_LISTED])}{more}"
