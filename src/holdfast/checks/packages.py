"""The packages of a project: those that a task's tests are in, and those that a run of the whole leaves out."""

from __future__ import annotations

import os
import re
from _collections_abc import Iterable, Sequence

from holdfast.checks import earlier, logs, tooling
from holdfast.checks.counterproof import without_work
from holdfast.checks.observed import Observed, observe, report_in
from holdfast.checks.results import asking, model
from holdfast.checks.results.judge import Verdict
from holdfast.checks.results.sources import Sources
from holdfast.checks.task import Task
from holdfast.checks.test_side import is_test
from holdfast.core import provenance
from holdfast.core.definition import Check
from holdfast.core.remedy import quoted
from holdfast.core.state import State
from holdfast.core.tasks import task_of
from holdfast.core.value import Any
from holdfast.git import changes

_LISTED = 50
_RUST_TEST = rb"#\[\s*(?:\w+::)*(?:test|rstest)\b"


def own_tests(base: str, files: Sequence[str], test: str = "") -> list[str]:
    """Of a task's files those that decide where its tests run: the one that is named, else its tests."""
    sources = Sources(base, files)
    path = test.partition("::")[0]
    if os.path.splitext(path)[1] and "/" in path and os.path.isfile(os.path.join(base, path)):
        return [path]
    tests = [file for file in files if _is_test(file, sources)]
    named = [file for file in tests if test and (f"/{file}".endswith(f"/{path}") or sources.may_have(file, test))]
    return named or tests


def _is_test(file: str, sources: Sources) -> bool:
    """By its name or that of a folder around it; of Rust also by what is in it."""
    is_rust = file.endswith(".rs") and re.search(_RUST_TEST, sources.content(file) or b"") is not None
    return is_rust or is_test(file)


def is_chosen(check: Check) -> bool:
    """Whether a person said which command counts."""
    return check.source == tooling.CONFIG or provenance.is_person(check.by)


def unread(base: str, check: Check, task: Task, head: str | None) -> Verdict | None:
    """Why an exit code alone is no red: a package nearest to a file has a tool whose results can be read, or had one.

    None where there is none, or where a person said which command counts.
    """
    if is_chosen(check):
        return None
    tool = _readable(base, task.paths_in(base), check)
    if tool is not None:
        typed = f"set that command: holdfast set test_command={quoted(' '.join(map(quoted, tool.run)))}"
        way = "write the test in one package, or name it with --test" if check.source else typed
        said = f"{_ALONE}, as Holdfast can read the results of {_told(tool)}: {way}"
        return Verdict(False, "", said, by_exit_code=True, unnamed=bool(check.source))
    if task.repository is None or asking.known(check.run, os.path.join(base, check.folder)):
        return None
    for commit in dict.fromkeys(filter(None, (task.since, head))):
        tool = _readable_at(commit, base, task)
        if tool is not None:
            when = "the task" if commit == task.since else "the workflow"
            said = f"{_ALONE}, as Holdfast could read the results of {_told(tool)} when {when} began"
            return Verdict(False, "", said, by_exit_code=True, unread=True)
    return None


_ALONE = "an exit code alone is no red here"


def _readable(base: str, files: Iterable[str], but: Check | None = None) -> tooling.Tool | None:
    """The first command nearest to one of the files whose results can be read; not that of a check."""
    for folder in dict.fromkeys(os.path.dirname(file) for file in files):
        tool = tooling.nearest(base, [os.path.join(folder, "_")]).get("test")
        if tool is None or (but is not None and (tool.run, tool.folder) == (but.run, but.folder)):
            continue
        if asking.known(tool.run, os.path.join(base, tool.folder)):
            return tool
    return None


def _readable_at(commit: str, base: str, task: Task) -> tooling.Tool | None:
    """The same in the tree of a commit; looked at only where what shows the commands has changed since."""
    changed = task.changed_since(commit)
    if all(one.blob and os.path.basename(name) not in tooling.MANIFESTS for name, one in changed.items()):
        return None
    with without_work(task, None, commit) as (folder, _):
        top = os.path.normpath(os.path.join(folder, os.path.relpath(base, task.base)))
        return _readable(top, task.paths_in(base, gone=True))


def _told(tool: tooling.Tool) -> str:
    return provenance.command(Check("", tool.run, source=tool.source, folder=tool.folder))


def deleted_tests(task: Task, head: str | None) -> dict[str, Any]:
    """The files of tests that were there when the workflow began and are gone: how many, and the first names."""
    changed = task.changed_since(head) if head else {}
    names = [name for name, one in changed.items() if not one.blob and is_test(name)]
    return {"count": len(names), "names": names[:_LISTED]} if names else {}


def stands_for(argv: Sequence[str], folder: str) -> dict[str, str]:
    """What a command starts here: the script of `package.json`, or the program with the file that it is."""
    import shutil

    if said := asking.script(argv, folder):
        return {provenance.SCRIPT: said}
    found = os.path.join(folder, argv[0]) if "/" in argv[0] else shutil.which(argv[0])
    if not found or not os.path.exists(found):
        return {}
    real = os.path.realpath(found)
    return {provenance.PROGRAM: found if real == found else f"{found} ({real})"}


def was_another(check: Check, folder: str, task: Task, head: str | None) -> list[str]:
    """What is said of a command that started another script of `package.json` when the workflow began."""
    now = asking.script(check.run, folder)
    if not now or task.repository is None or head is None:
        return []
    name = os.path.relpath(os.path.join(os.path.realpath(folder), "package.json"), task.repository.top)
    before = asking.script(check.run, folder, changes.content_at(task.repository, head, name))
    if before in ("", now):
        return []
    words = " ".join(map(quoted, check.run))
    return [f"{words} runs another script than when the workflow began: {now}; then: {before}"]


def left_out(state: State, path: str, check: Check, found: model.Results | None) -> list[Check]:
    """The commands that proved tasks, in other packages or here, of which a run outside of tasks shows no test."""
    if check.uses != "test" or task_of(state, path):
        return []
    proved: dict[tuple[tuple[str, ...], str], Check] = {}
    for step in state.plan.paths:
        for other in state.plan.step(step).checks if task_of(state, step) else ():
            evidence = state.step(step).evidence.get(other.name)
            seen = evidence is not None and evidence.passed and evidence.run_by == "engine" and not evidence.claimed
            if seen and other.uses == check.uses and other.run:
                proved[other.run, other.folder] = other
    proved.pop((check.run, check.folder), None)
    return [other for other in proved.values() if not has_tests(found, other.folder, check.folder)]


def has_tests(found: model.Results | None, folder: str, seen_from: str) -> bool:
    """Whether a run in one folder ran tests of another one."""
    inside = "" if folder == seen_from else os.path.join(os.path.relpath(folder or ".", seen_from or "."), "")
    return found is not None and any(case.file.startswith(inside) for case in found.tests)


def ran(base: str, check: Check, found: model.Results | None, *, is_versioned: bool) -> earlier.Run:
    """A run of a check as later ones are compared with it."""
    sources = Sources(os.path.join(base, check.folder), () if is_versioned else None)
    return earlier.Run(check, found, sources, is_chosen(check))


def all_of(
    base: str, main: Observed, others: Sequence[Check], how: dict[str, Any]
) -> tuple[Observed, list[str], list[tuple[Check, model.Results | None]]]:
    """A run together with those of the packages that it left out, a line about each of these, and what each found.

    The first that fails is what is told of all. A package that is gone is not tested, and that is said.
    """
    said: list[str] = []
    runs: list[tuple[Check, model.Results | None]] = []
    for check in others:
        folder = os.path.join(base, check.folder)
        if not os.path.isdir(folder):
            said.append(f"not tested, as the folder is gone: {check.folder}")
            continue
        with logs.added(how["log"], f"{check.folder or 'the top'}: {' '.join(map(quoted, check.run))}"):
            seen = observe(check.run, cwd=folder, report=report_in(check), ask=True, **how)
        said.append(f"{'passed' if seen.ran.passed else 'failed'} too: {provenance.command(check)}")
        runs.append((check, seen.results))
        both = [one for one in (main.results, seen.results) if one is not None]
        main = Observed(main.ran if seen.ran.passed else seen.ran, model.together(both) if len(both) > 1 else None)
        if not seen.ran.passed:
            break
    return main, said, runs
