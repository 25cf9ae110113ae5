"""Running a check of a step: what the engine itself saw, as evidence."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping, Sequence

from holdfast import git
from holdfast.checks import baseline, bytecode, counterproof, earlier, neighbours, packages, started, variables
from holdfast.checks.observed import EndedError, Observed, observe, report_in
from holdfast.checks.results import judge, model
from holdfast.checks.task import Task
from holdfast.core import commands as cmd
from holdfast.core import gates, moment, provenance, refusals, remedies
from holdfast.core.definition import Check
from holdfast.core.plan import parent
from holdfast.core.remedy import quoted, shell
from holdfast.core.state import SHOWN_BY, Actor, Evidence, State
from holdfast.core.value import Any
from holdfast.engine.engine import Engine
from holdfast.engine.world import LocalWorld
from holdfast.errors import HoldfastError, Refused, UsageError
from holdfast.git import content, filters, own
from holdfast.plain.digest import digest

NAMES_KEPT = 50
"""How many names of tests, and how many files, one piece of evidence keeps of each kind."""
_WORK_BEGUN = "work_begun"
"""In the data of red: other files than tests were changed already, and may be why the test failed."""
BEFORE_KEPT = 500
"""How many failing tests can be known to have failed before the task."""


def run(
    engine: Engine,
    world: LocalWorld,
    base: str,
    state: State,
    path: str,
    name: str,
    *,
    given: Mapping[str, Any],
    actor: Actor,
    log: str,
    token: str = "",
    watch: Callable[[str, float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Evidence, content.Tree]:
    """Runs a check, if its result would be taken, and tells the tree it left. One that is `cancelled` says nothing.

    What it printed is kept in the file `log`. `watch` is told its last line and how many seconds have passed.
    Nothing is locked meanwhile. What it saw is bound to the tree it started on.
    Files that appeared meanwhile (caches, reports) are the command's own doing; a file that changed is an edit, and
    makes the evidence stale at once.
    """
    check = state.plan.step(path).check(name)
    assert check is not None
    if gates.is_lacking(check):
        raise refusals.engine_must_run(path, check)
    if not check.run:
        said = f"the check {name} has no command; somebody reports it"
        facts = {"check": name, "step": path}
        raise UsageError("nothing_to_run", said, remedy=remedies.report(name, step=path), facts=facts)
    _require_test_of_red(state, path, check, str(given.get("test") or ""))
    asking = cmd.RecordCheck(path, name, Evidence(False, "", 0, run_by="engine"))
    engine.preview(state, asking, actor, token=token)
    tree = world.tree(state, listing=True)
    if tree.id == "":
        said = "a tracked file cannot be read, so a check proves nothing about the tree"
        raise Refused("unreadable", said, remedy=shell("git", "status"))
    how: dict[str, Any] = {"watch": watch, "cancelled": cancelled, "secrets": engine.secrets, "timeout": check.timeout}
    folder = os.path.join(base, check.folder)
    begun = Task(world, folder, state) if _is_of_tests(check) else None
    here = _only_here(world, state, begun)
    if begun and begun.repository:
        bytecode.forget(begun.repository.top, begun.changed)
    try:
        seen = observe(check.run, cwd=folder, report=report_in(check), ask=_is_of_tests(check), log=log, **how)
        others = packages.left_out(state, path, check, seen.results) if seen.ran.passed else []
        found = seen.results
        seen, beside, more = packages.all_of(base, seen, others, {"log": log, **how})
        runs = [packages.ran(base, *one, is_versioned=git.find(base) is not None) for one in ((check, found), *more)]
        after = world.tree(state, listing=True)
        task = None if not check.test else begun if after.id == tree.id else Task(world, folder, state)
        verdict = _verdict(check, seen, state, path, given, task, base)
        told = _lost(check, seen, state, path, verdict)
        verdict, compared = _compared(check, seen, others, runs, state, path, world, task or begun, verdict, how)
        told |= compared
        work = task or begun
        if verdict.by_exit_code and verdict.passed and work:
            gone = packages.deleted_tests(work, state.head)
            told |= {provenance.DELETED: gone} if gone else {}
        if task and task.repository and verdict.passed and verdict.file:
            verdict, held = _held(check, seen, state, path, task, verdict, how)
            told |= held
        if task and check.test == "passes" and verdict.passed:
            broken, beside = neighbours.run(base, check, task, found, how, log)
            verdict = verdict.replace(passed=False, detail=broken) if broken else verdict
            after = world.tree(state, listing=True) if beside else after
    except EndedError:
        said = f"the check {name} was ended before it had a result; nothing is recorded"
        facts = {"check": name, "step": path}
        raise HoldfastError("check_cancelled", said, remedy=remedies.check(name), facts=facts) from None
    except KeyboardInterrupt:
        kept = f"; its output up to here: holdfast log --check {name}" if os.path.exists(log) else ""
        said = f"the check {name} was ended, with all that it had started, and nothing is recorded of it{kept}"
        raise KeyboardInterrupt(said) from None
    ran = seen.ran
    evidence = Evidence(
        passed=verdict.passed,
        at=world.now(),
        attempt=0,
        run_by="engine",
        exit_code=ran.exit_code,
        duration_ms=ran.duration_ms,
        head=tree.head,
        tree=after.id if content.only_grew(base, tree, after) else tree.id,
        dirty=tree.dirty,
        tail=ran.output_tail,
        digest=ran.output_digest,
        redacted=ran.redacted,
        detail=verdict.detail,
        data={
            **_data(check, given, seen.results, verdict, task),
            **told,
            **_uncommitted(world, base, state, tree.head),
            **_filtered(begun),
            **(here if verdict.passed else {}),
            **_surroundings(check, base, beside, begun, state),
        },
    )
    return evidence, after


def _uncommitted(world: LocalWorld, base: str, state: State, head: str | None) -> dict[str, Any]:
    """The files from before the workflow that are in the tree of the run and not in the branch."""
    repository = git.find(base) if state.dirt else None
    if repository is None:
        return {}
    names = [name for name in world.changed(repository, head, world.aside(state)) if name in state.dirt]
    return {provenance.UNCOMMITTED: {"count": len(names), "names": names[:NAMES_KEPT]}} if names else {}


def _filtered(task: Task | None) -> dict[str, Any]:
    """The files that git commits with other content than was tested."""
    names = filters.differing(task.repository, task.changed) if task and task.repository else []
    return {provenance.FILTERED: {"count": len(names), "names": names[:NAMES_KEPT]}} if names else {}


def _only_here(world: LocalWorld, state: State, task: Task | None) -> dict[str, Any]:
    """The files that no other clone has although git sees no change here, where others are to have all of the work."""
    if task is None or task.repository is None or not state.conduct.handed_whole:
        return {}
    aside = world.aside(state)
    taken = own.taken_out(task.repository, state.head, aside)
    hidden = [one for one in own.hidden(task.repository, aside, moment.to_epoch(state.created_at)) if one not in taken]
    kinds = {provenance.ONLY_HERE: hidden, provenance.TAKEN_OUT: taken}
    return {kind: {"count": len(names), "names": names[:NAMES_KEPT]} for kind, names in kinds.items() if names}


def _surroundings(check: Check, base: str, beside: list[str], task: Task | None, state: State) -> dict[str, Any]:
    """What the project's command is and stood for, what was tested beside it, and the variables that it ran with."""
    said: dict[str, Any] = {}
    folder = os.path.join(base, check.folder)
    if check.uses:
        said |= {provenance.COMMAND: " ".join(map(quoted, check.run)), **packages.stands_for(check.run, folder)}
    changed = [one for one in (provenance.replaced(check),) if one]
    changed += packages.was_another(check, folder, task, state.head) if task else []
    said |= {provenance.CHANGED: changed} if changed else {}
    found = variables.found(check.run, folder, base, os.environ) if task else {}
    said |= {provenance.VARIABLES: found} if found else {}
    return said | ({provenance.PACKAGES: beside} if beside else {})


def _is_of_tests(check: Check) -> bool:
    return bool(check.test) or check.uses == "test"


def _verdict(
    check: Check, seen: Observed, state: State, path: str, given: Mapping[str, Any], task: Task | None, base: str
) -> judge.Verdict:
    ran, results = seen.ran, seen.results
    _, shown = _red(state, path)
    if task is None:
        unknown = results is None and _is_of_tests(check) and not ran.error
        said = judge.UNKNOWN if unknown and ran.passed else ""
        if results is not None and not ran.passed:
            said = judge.failure(results)
        if ran.passed and started.ran_nothing(ran.output_tail):
            return judge.Verdict(False, detail="no test ran")
        return judge.Verdict(ran.passed, detail=ran.error or said, by_exit_code=unknown)
    named = str(given.get("test") or state.step(path).data.get("test_name") or "")
    named = named.removeprefix(os.path.join(check.folder, ""))  # somebody may name it from the top
    if ran.error or ran.timed_out or ran.exit_code is None:
        said = ran.error or ("timed out" if ran.timed_out else f"ended by signal {ran.signal}")
        return judge.Verdict(False, named, said, not_started=bool(ran.error))
    if results is None and check.report:
        return judge.Verdict(False, named, f"the command did not write its report {check.report}")
    unread = packages.unread(base, check, task, state.head) if results is None and check.test == "fails" else None
    if unread is not None:
        return unread
    if (
        results is None
        and ran.exit_code
        and (why := started.why_not(check.run, os.path.join(base, check.folder), ran.output_tail))
    ):
        return judge.Verdict(False, named, f"no test ran: {why}", by_exit_code=True, not_started=True)
    if check.test == "fails":
        return judge.must_fail(ran.exit_code, results, named, task.sources)
    red = judge.Red(named) if shown is None else judge.Red(*_known(shown, check.folder))
    return judge.must_pass(ran.exit_code, results, red, task.sources)


def _red(state: State, path: str) -> tuple[str, Evidence | None]:
    """The step beside this one that showed a test failing, and what it showed."""
    for beside in state.plan.children(parent(path)):
        for check in state.plan.step(beside).checks:
            shown = state.step(beside).evidence.get(check.name)
            if beside != path and check.test == "fails" and shown is not None and shown.passed and not shown.claimed:
                return beside, shown
    return "", None


def _require_test_of_red(state: State, path: str, check: Check, named: str) -> None:
    """Refuses a name that is not the test that was red: green and what follows are about that one."""
    beside, shown = _red(state, path)
    test = str(shown.data.get("test") or "") if shown else ""
    if check.test != "passes" or not named or not test or model.matches(test, named) or model.matches(named, test):
        return
    said = f"the test of this task is {test}, not {named!r}"
    ways = (remedies.check(check.name), remedies.reopen(beside, text="to take another test"))
    raise UsageError("other_test", said, remedy=ways, facts={"test": test, "named": named, "shown_by": beside})


def _lost(check: Check, seen: Observed, state: State, path: str, verdict: judge.Verdict) -> dict[str, Any]:
    """The step that has to show red again, where its test was not collected any more."""
    beside, shown = _red(state, path)
    test = str(shown.data.get("test") or "") if shown else ""
    found = seen.results
    is_gone = bool(test) and found is not None and not found.called(test) and not found.broken
    return {SHOWN_BY: beside} if is_gone and not verdict.passed and check.test == "passes" else {}


def _compared(
    check: Check,
    seen: Observed,
    others: Sequence[Check],
    runs: Sequence[earlier.Run],
    state: State,
    path: str,
    world: LocalWorld,
    task: Task | None,
    verdict: judge.Verdict,
    how: dict[str, Any],
) -> tuple[judge.Verdict, dict[str, Any]]:
    """The verdict, compared with the tests from before: a run without one that proved an earlier task does not pass."""
    results = seen.results
    is_unclear = not check.test and not verdict.detail
    if task is None or not (verdict.passed or is_unclear):
        return verdict, {}
    if check.test == "fails":
        if results is None:
            return verdict, {}
        before = baseline.of_task(check, task, verdict.test, how)
        gone = earlier.told(earlier.gone(before, results)) if not results.broken else {}
        kept = {provenance.PASSING: earlier.passing(results, verdict.test, before)}
        return verdict, kept | ({provenance.NOT_RUN: gone} if gone else {})
    told_of = runs if verdict.passed else [run for run in runs if run.results is not None]
    whole = verdict.passed and not check.test
    lost, unseen = earlier.lost(state, path, told_of, whole=whole) if told_of else (None, [])
    if lost:
        verdict = verdict.replace(passed=False, detail=lost.why, unread=lost.is_unread)
        return verdict, {provenance.LOST: lost.step}
    told: dict[str, Any] = {provenance.UNSEEN: unseen} if unseen else {}
    if results is None or not verdict.passed:
        return verdict, told
    if check.test and not earlier.has_baseline(state, path, check):
        told[provenance.PASSING] = earlier.passing(results, "")
    if check.test:
        gone = earlier.not_run(state, path, check, results)
    else:
        gone = baseline.not_run_since_start(world, state, check, others, task, results, how)
    if gone:
        told[provenance.NOT_RUN] = gone
        said = provenance.remarks(Evidence(True, "", 0, data=told))[0]
        verdict = verdict.replace(detail=f"{verdict.detail}; {said}" if verdict.detail else said)
    return verdict, told


def _held(
    check: Check, seen: Observed, state: State, path: str, task: Task, verdict: judge.Verdict, how: dict[str, Any]
) -> tuple[judge.Verdict, dict[str, Any]]:
    """The verdict once more: a green counts only for a test that was seen to fail without the work, as it is now.

    With it goes what later runs are held against: the test's content, and after red what failed before the task.
    """
    red = judge.Red(verdict.test, verdict.file)
    contents = counterproof.contents(task, red)
    content = digest("\0".join(word for row in sorted(contents.items()) for word in row).encode())
    told: dict[str, Any] = {"test_hash": content}
    if len(contents) <= NAMES_KEPT:
        told["test_contents"] = contents
    if check.test == "fails":
        others = judge.before(seen.results, red.test, task.sources)[:BEFORE_KEPT]
        before = counterproof.failing_before(check, task, others, how)
        told |= {_WORK_BEGUN: True} if counterproof.has_work(task, red) else {}
        return verdict, told | ({"before": before} if before else {})
    around = (one for beside in state.plan.children(parent(path)) for one in state.step(beside).evidence.values())
    seen_without = (one for one in around if one.passed and not one.claimed and not one.data.get(_WORK_BEGUN))
    if any(one.data.get("test_hash") == content for one in seen_without):
        return verdict, told
    beside, shown = _red(state, path)
    known = shown.data.get("test_contents") if shown else None
    which = counterproof.changed(red, known if isinstance(known, Mapping) else {}, contents)
    why = counterproof.refusal(check, task, red, which, how)
    return (verdict.replace(passed=False, detail=why), {SHOWN_BY: beside}) if why else (verdict, told)


def _known(red: Evidence, folder: str) -> tuple[str, str, tuple[str, ...]]:
    """The test, its file as seen from the folder that it runs in, and what failed before the task."""
    data = red.data
    file = str(data.get("test_file") or "")
    before = data.get("before")
    named = tuple(map(str, before)) if isinstance(before, (list, tuple)) else ()
    return str(data.get("test") or ""), os.path.relpath(file, folder or os.curdir) if file else "", named


def _data(
    check: Check,
    given: Mapping[str, Any],
    found: model.Results | None,
    verdict: judge.Verdict,
    task: Task | None,
) -> dict[str, Any]:
    said = {name: value for name, value in given.items() if name != "test" or not check.test}
    said |= {"test": verdict.test} if verdict.test else {}
    said |= {"unnamed": True} if verdict.unnamed else {}
    said |= {provenance.NOT_STARTED: True} if verdict.not_started else {}
    said |= {provenance.UNREAD: True} if verdict.unread else {}
    said |= {provenance.BY_EXIT_CODE: True} if verdict.by_exit_code else {}
    if found is not None:
        said["count"] = found.total
        said |= {provenance.NO_TEST: True} if not verdict.passed and found.nothing_ran() and not found.broken else {}
        said["failing"] = [*found.failing, *found.broken][:NAMES_KEPT]
        said["passing"] = list(found.passing[:NAMES_KEPT])
    if task is None:
        return said
    said |= task.written(NAMES_KEPT)
    return said | ({"test_file": os.path.join(check.folder, verdict.file)} if verdict.file else {})
