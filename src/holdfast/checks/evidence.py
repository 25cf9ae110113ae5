"""Running a check of a step: what the engine itself saw, as evidence."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping

from holdfast import git
from holdfast.checks import results
from holdfast.checks import running as checks
from holdfast.checks.output import Output, logged
from holdfast.checks.results import judge, junit, model
from holdfast.core import commands as cmd
from holdfast.core import gates, refusals, remedies
from holdfast.core.definition import Check
from holdfast.core.plan import parent
from holdfast.core.state import Actor, Evidence, State
from holdfast.core.value import Any
from holdfast.engine.engine import Engine
from holdfast.engine.world import LocalWorld
from holdfast.errors import HoldfastError, UsageError
from holdfast.git import content
from holdfast.machine.place import below, read_regular

NAMES_KEPT = 50
"""How many names of tests, and how many files, one piece of evidence keeps of each kind."""
_LARGEST_SOURCE = 4 << 20


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
    token: str = "",
    watch: Callable[[str, float], None] | None = None,
    log: str = os.devnull,
    cancelled: Callable[[], bool] | None = None,
) -> tuple[Evidence, content.Tree]:
    """Runs a check, if its result would be taken, and tells the tree it left. One that is `cancelled` says nothing.

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
    asking = cmd.RecordCheck(path, name, Evidence(False, "", 0, run_by="engine"))
    engine.preview(state, asking, actor, token=token)
    reading = results.Reading()
    tree = world.tree(state, listing=True)
    report = os.path.join(base, check.report or os.devnull)
    before = _stamp(report)
    how: dict[str, Any] = {"watch": watch, "cancelled": cancelled, "output": Output(engine.secrets, reading.take)}
    folder = os.path.join(base, check.folder)
    with logged(how["output"], log, name):
        ran = checks.run(check.run, cwd=folder, timeout=check.timeout, **how)
    if ran.cancelled:
        said = f"the check {name} was ended before it had a result; nothing is recorded"
        raise HoldfastError("check_cancelled", said, remedy=remedies.check(name), facts={"check": name, "step": path})
    after = world.tree(state, listing=True)
    found = results.merged(reading.results(), _report(report, before))
    verdict = _verdict(check, ran, found, _named(state, path, given), folder)
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
        data={**given, **_figures(found, verdict), **_written(world, base, state, check, found, verdict)},
    )
    return evidence, after


def _verdict(check: Check, ran: checks.CheckRun, found: model.Results | None, named: str, base: str) -> judge.Verdict:
    if ran.error or ran.timed_out:
        return judge.Verdict(False, named, ran.error or "timed out")
    if check.test == "fails":
        return judge.must_fail(ran.passed, found, named, lambda file, word: _holds(base, file, word), ran.output_tail)
    if check.test == "passes":
        return judge.must_pass(ran.passed, found, named)
    return judge.Verdict(ran.passed)


def _named(state: State, path: str, given: Mapping[str, Any]) -> str:
    """The test in question: the one that is named now, else the one that a step beside this one showed failing."""
    said = given.get("test") or state.step(path).data.get("test_name")
    if isinstance(said, str) and said:
        return said
    for beside in state.plan.children(parent(path)):
        for check in state.plan.step(beside).checks:
            shown = state.step(beside).evidence.get(check.name)
            if beside != path and check.test == "fails" and shown is not None and shown.passed:
                return str(shown.data.get("test", ""))
    return ""


def _figures(found: model.Results | None, verdict: judge.Verdict) -> dict[str, Any]:
    said: dict[str, Any] = {"test": verdict.test} if verdict.test else {}
    said |= {"unnamed": True} if verdict.unnamed else {}
    if found is not None:
        said["count"] = found.total
        said["failing"] = [*found.failing, *found.broken][:NAMES_KEPT]
        said["passing"] = list(found.passing[:NAMES_KEPT])
    return said


def _written(
    world: LocalWorld, base: str, state: State, check: Check, found: model.Results | None, verdict: judge.Verdict
) -> dict[str, Any]:
    """For a check of a test: the files written since the work began, with their new lines; and the one it is in."""
    repository = git.find(base) if check.test else None
    if repository is None:
        return {}
    changed = world.changed(repository, state.head, world.aside(state))
    written = {name: one for name, one in changed.items() if one.blob and state.dirt.get(name) != one.blob}
    shown = dict(list(written.items())[:NAMES_KEPT])
    said: dict[str, Any] = {"files": content.added(repository, state.head, shown)}
    broken = [os.path.join(check.folder, file) for file in found.broken] if found else []
    test_file = _test_file(base, check.folder, verdict.test, (*broken, *written))
    return {**said, "test_file": test_file} if test_file else said


def _test_file(base: str, folder: str, test: str, likely: tuple[str, ...]) -> str:
    """The file of a test: as its name says, else the first of the likely ones that has the name in it."""
    if not test:
        return ""
    file = os.path.join(folder, test.partition("::")[0])
    if _holds(base, file, ""):
        return file
    return next((one for one in likely if _holds(base, one, model.function_name(test))), "")


def _holds(base: str, file: str, word: str) -> bool:
    """Whether this is a file of the project that has the word in it."""
    full = below(base, file)
    content = read_regular(full, _LARGEST_SOURCE) if full else None
    return content is not None and word.encode() in content


def _report(path: str, before: tuple[int, int] | None) -> model.Results | None:
    """What a report says, if this run wrote it."""
    if _stamp(path) in (None, before):
        return None
    data = read_regular(path, junit.MOST_BYTES)
    return None if data is None else junit.read(data)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
