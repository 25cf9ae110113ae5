"""Tests from before: those that proved earlier tasks have to run still, and of all others it is told if they do not."""

from __future__ import annotations

import os
from _collections_abc import Iterable, Iterator, Mapping, Sequence

from holdfast.checks.results.model import FILTERED, PASSED, SKIPPED, Case, Results, function_name
from holdfast.checks.results.sources import Sources
from holdfast.core import provenance, tasks
from holdfast.core.definition import Check
from holdfast.core.lifecycle import DONE
from holdfast.core.plan import parent
from holdfast.core.state import Evidence, State
from holdfast.core.value import Any, Value

KEPT = 500
"""How many names of passing tests a task keeps to compare later runs with."""
LISTED = 50


class Lost(Value):
    """A test that proved an earlier task and does not run any more: why, and the step that shows another one."""

    why: str
    step: str


def lost(state: State, path: str, check: Check, results: Results, sources: Sources) -> Lost | None:
    """The first test of an earlier task that this run should have run and has not.

    A run that does not cover the test's folder, as one of another package, tells nothing of it.
    """
    own = tasks.task_of(state, path)
    for task in state.plan.of_kind(tasks.TASK):
        shown = _proof(state, task) if task != own and state.step(task).status == DONE else None
        if shown is None:
            continue
        before, evidence = shown
        test, file = str(evidence.data["test"]), os.path.relpath(str(evidence.data["test_file"]), check.folder or ".")
        same = _is_same(before, check)
        if file.startswith("../") or not (same or any(_is_beside(case, test, file) for case in results.tests)):
            continue
        why = _why_not_run(results, test, file, sources)
        if why:
            return Lost(f"{test}, which proved {task}, {why}", _shows_red(state, task))
    return None


def _shows_red(state: State, task: str) -> str:
    below = ((step, state.plan.step(step).checks) for step in state.plan.below(task))
    return next((step for step, checks in below if any(one.test == "fails" for one in checks)), task)


def _proof(state: State, task: str) -> tuple[Check, Evidence] | None:
    """The check that saw the test of a task pass, test by test."""
    found = None
    for step in (task, *state.plan.below(task)):
        for check in state.plan.step(step).checks if state.step(step).status == DONE else ():
            one = state.step(step).evidence.get(check.name)
            if check.test == "passes" and one and one.passed and not provenance.how(one) and one.data.get("test_file"):
                found = check, one
    return found


def _why_not_run(results: Results, test: str, file: str, sources: Sources) -> str:
    called = [case for case in results.called(test) if case.file in ("", file)]
    if any(_ran(case) for case in called) or _is_elsewhere(results, test):
        return ""
    if any(case.outcome == SKIPPED for case in called):
        return "is skipped"
    if any(case.outcome == FILTERED for case in called):
        return "is filtered out by the command"
    gone = sources.why_gone(file, test)
    return gone or ("" if results.unnamed else "was not collected")


def _is_elsewhere(results: Results, test: str) -> bool:
    """Whether a test of the same name runs, as after a move to another file or with other parameters."""
    name = _own_name(test)
    return any(
        _ran(case) and name == (case.titles[-1] if case.titles else _own_name(case.id)) for case in results.tests
    )


def _own_name(test: str) -> str:
    return test.rpartition(" > ")[2] if " > " in test else function_name(test).rpartition(".")[2]


def _ran(case: Case) -> bool:
    return case.outcome == PASSED or case.fails


def _is_beside(case: Case, test: str, file: str) -> bool:
    """Whether a test is in the folder, or where the tool names no files in the package, of another one."""
    if case.file:
        return os.path.dirname(case.file) == os.path.dirname(file)
    package = test.rpartition("::")[0]
    return bool(package) and case.id.rpartition("::")[0] == package


def passing(results: Results, test: str, more: Iterable[str] = ()) -> dict[str, Any]:
    """What passes beside the task's own test, or did so before: names, and where there are too many only how many."""
    names = list(dict.fromkeys((*(name for name in results.passing if name != test), *more)))
    count = len(names) + results.unnamed
    return {"count": count} if count > KEPT or results.unnamed else {"count": count, "names": names}


def not_run(state: State, path: str, check: Check, results: Results) -> dict[str, Any]:
    """The tests that passed before the task and are not run any more: how many, and their names where known."""
    before = _baseline(state, path, check)
    if not before:
        return {}
    names = before.get("names")
    if not isinstance(names, (list, tuple)) or results.unnamed:
        now = sum(map(_ran, results.tests)) + results.unnamed
        fewer = int(before.get("count") or 0) - now
        return {"count": fewer} if fewer > 0 else {}
    return told(gone(list(map(str, names)), results))


def gone(names: Sequence[str], results: Results) -> list[str]:
    """Of these tests those that a run did not run, also not by the same name elsewhere."""
    known, ran = set(names), {case.id for case in results.tests if _ran(case)}
    moved = {_own_name(name) for name in ran - known}
    return [name for name in names if name not in ran and _own_name(name) not in moved]


def told(names: Sequence[str]) -> dict[str, Any]:
    return {"count": len(names), "names": list(names[:LISTED])} if names else {}


def _baseline(state: State, path: str, check: Check) -> Mapping[str, Any]:
    """What passed when the task was red; where nothing could be loaded then, what passed at the end of the last one."""
    newest: tuple[str, Mapping[str, Any]] = "", {}
    own = state.plan.children(parent(path))
    for step, other, one in _seen(state):
        kept = one.data.get(provenance.PASSING)
        if not _is_same(other, check) or not isinstance(kept, Mapping) or step == path:
            continue
        if step in own and other.test == "fails" and kept.get("count"):
            return kept
        if step not in own and one.at > newest[0]:
            newest = one.at, kept
    return newest[1]


def known(state: State, check: Check) -> list[str]:
    """The names of all tests that were seen to pass with a command, as far as they are kept."""
    kept = (one.data.get(provenance.PASSING) for _, other, one in _seen(state) if _is_same(other, check))
    return [str(name) for one in kept if isinstance(one, Mapping) for name in one.get("names") or ()]


def has_baseline(state: State, path: str, check: Check) -> bool:
    """Whether red saw tests pass: later tasks can be compared with that."""
    own = state.plan.children(parent(path))
    kept = (one.data.get(provenance.PASSING) for step, other, one in _seen(state) if step in own and other is not check)
    return any(isinstance(one, Mapping) and one.get("count") for one in kept)


def _seen(state: State) -> Iterator[tuple[str, Check, Evidence]]:
    for step in state.plan.paths:
        for check in state.plan.step(step).checks:
            one = state.step(step).evidence.get(check.name)
            if one is not None and one.passed and not one.claimed:
                yield step, check, one


def _is_same(one: Check, other: Check) -> bool:
    return (one.run, one.folder) == (other.run, other.folder)
