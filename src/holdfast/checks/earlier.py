"""Tests from before: those that proved earlier tasks have to run still, and of all others it is told if they do not."""

from __future__ import annotations

import os
from _collections_abc import Container, Iterable, Iterator, Mapping, Sequence

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
    is_unread: bool = False
    """Whether it may have run: the command that should tell tells an exit code only."""


class Run(Value):
    """A command that was run, what it found, and the files in its folder."""

    check: Check
    results: Results | None
    sources: Sources
    is_chosen: bool = False
    """Whether a person said that this command counts."""


class Proof(Value):
    """The test that proved a task, its file, and the check that saw it pass."""

    task: str
    check: Check
    test: str
    file: str


def lost(state: State, path: str, runs: Sequence[Run], *, whole: bool) -> tuple[Lost | None, list[str]]:
    """The first test of an earlier task that these runs should have run and have not.

    Also those of which nobody can tell, as a person chose a command that tells an exit code only. A run that does not
    cover the test's folder, as one of another package, tells nothing of it; of the `whole` each test has to be seen.
    """
    own, unseen = tasks.task_of(state, path), []
    proofs = list(_proofs(state))
    for proof in proofs:
        if proof.task == own:
            continue
        covering = [run for run in runs if _covers(run, proof)]
        known = _known(state, proof, proofs)
        reasons = [_why_lost(run, proof, known) for run in covering] or [_never_seen(runs[0], proof) if whole else ""]
        if not all(reasons):
            continue
        if any(run.results is None and run.is_chosen for run in covering):
            unseen.append(f"{proof.test}, which proved {proof.task}")
            continue
        said = f"{proof.test}, which proved {proof.task}, {reasons[0]}"
        is_unread = any(run.results is None for run in covering)
        return Lost(said, _shows_red(state, proof.task), is_unread), unseen
    return None, unseen


def _proofs(state: State) -> Iterator[Proof]:
    for task in state.plan.of_kind(tasks.TASK):
        shown = _proof(state, task) if state.step(task).status == DONE else None
        if shown is not None:
            yield Proof(task, shown[0], str(shown[1].data["test"]), str(shown[1].data["test_file"]))


def _covers(run: Run, proof: Proof) -> bool:
    """Whether a run tells of a test: it is the command that saw it, or it runs what is beside it."""
    file = _seen_from(run, proof)
    if _is_same(proof.check, run.check):
        return True
    if run.results is None:
        return run.check.folder == proof.check.folder
    return not file.startswith("../") and any(_is_beside(case, proof.test, file) for case in run.results.tests)


def _seen_from(run: Run, proof: Proof) -> str:
    return os.path.relpath(proof.file, run.check.folder or os.curdir)


def _why_lost(run: Run, proof: Proof, known: Container[str]) -> str:
    if run.results is None:
        return f"was not seen to run: {provenance.command(run.check)} tells an exit code only"
    return _why_not_run(run.results, proof.test, _seen_from(run, proof), run.sources, known)


def _never_seen(run: Run, proof: Proof) -> str:
    """What is said of a test that no run is about, as that of a package which is gone."""
    gone = run.sources.why_gone(_seen_from(run, proof), proof.test)
    return gone or "was not seen to run"


def _known(state: State, proof: Proof, proofs: Sequence[Proof]) -> set[str]:
    """The tests in the same package that were there beside the one of a task: none of them is the one, moved."""
    known = {one.test for one in proofs if one != proof and one.check.folder == proof.check.folder}
    for step in (proof.task, *state.plan.below(proof.task)):
        kept = (one.data.get(provenance.PASSING) for one in state.step(step).evidence.values())
        known |= {str(name) for one in kept if isinstance(one, Mapping) for name in one.get("names") or ()}
    return known


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


def _why_not_run(results: Results, test: str, file: str, sources: Sources, known: Container[str]) -> str:
    called = [case for case in results.called(test) if case.file in ("", file)]
    if any(_ran(case) for case in called) or _is_elsewhere(results, test, known):
        return ""
    if any(case.outcome == SKIPPED for case in called):
        return "is skipped"
    if any(case.outcome == FILTERED for case in called):
        return "is filtered out by the command"
    gone = sources.why_gone(file, test)
    return gone or ("" if results.unnamed else "was not collected")


def _is_elsewhere(results: Results, test: str, known: Container[str]) -> bool:
    """Whether a test of the same name runs that was not there, as after a move to another file."""
    name = _own_name(test)
    ran = (case for case in results.tests if _ran(case) and case.id not in known)
    return any(name == (case.titles[-1] if case.titles else _own_name(case.id)) for case in ran)


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
    before, of_red = _baseline(state, path, check)
    since = {provenance.SINCE: provenance.RED} if of_red else {}
    if not before:
        return {}
    names = before.get("names")
    if not isinstance(names, (list, tuple)) or results.unnamed:
        now = sum(map(_ran, results.tests)) + results.unnamed
        fewer = int(before.get("count") or 0) - now
        return {"count": fewer, **since} if fewer > 0 else {}
    found = told(gone(list(map(str, names)), results))
    return {**found, **since} if found else {}


def gone(names: Sequence[str], results: Results) -> list[str]:
    """Of these tests those that a run did not run, also not by the same name elsewhere."""
    known, ran = set(names), {case.id for case in results.tests if _ran(case)}
    moved = {_own_name(name) for name in ran - known}
    return [name for name in names if name not in ran and _own_name(name) not in moved]


def told(names: Sequence[str]) -> dict[str, Any]:
    return {"count": len(names), "names": list(names[:LISTED])} if names else {}


def _baseline(state: State, path: str, check: Check) -> tuple[Mapping[str, Any], bool]:
    """What passed when the task was red; where nothing could be loaded then, what passed at the end of the last one.

    With it goes whether all of it passed at red: what had stopped before, passed before the task.
    """
    newest: tuple[str, Mapping[str, Any]] = "", {}
    own = state.plan.children(parent(path))
    for step, other, one in _seen(state):
        kept = one.data.get(provenance.PASSING)
        if not _is_same(other, check) or not isinstance(kept, Mapping) or step == path:
            continue
        if step in own and other.test == "fails" and kept.get("count"):
            return kept, provenance.NOT_RUN not in one.data
        if step not in own and one.at > newest[0]:
            newest = one.at, kept
    return newest[1], False


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
