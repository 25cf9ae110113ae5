"""The packages of a project: those that a task's tests are in, and those that a run of the whole leaves out."""

from __future__ import annotations

import os
import re
from _collections_abc import Iterable, Sequence

from holdfast.checks import logs, tooling
from holdfast.checks.observed import Observed, observe, report_in
from holdfast.checks.results import asking, model
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


def unread(base: str, check: Check, files: Iterable[str]) -> str:
    """Why an exit code alone shows nothing: a package nearest to a file has a tool whose results can be read.

    Empty where there is none, or where a person said which command counts.
    """
    if check.source == tooling.CONFIG or provenance.is_person(check.by):
        return ""
    for folder in dict.fromkeys(os.path.dirname(file) for file in files):
        tool = tooling.nearest(base, [os.path.join(folder, "_")]).get("test")
        if tool is None or (tool.run, tool.folder) == (check.run, check.folder):
            continue
        if asking.known(tool.run, os.path.join(base, tool.folder)):
            near = provenance.command(Check("", tool.run, source=tool.source, folder=tool.folder))
            typed = f"set that command: holdfast set test_command={quoted(' '.join(map(quoted, tool.run)))}"
            way = "write the test in one package, or name it with --test" if check.source else typed
            return f"an exit code alone is no red here, as Holdfast can read the results of {near}: {way}"
    return ""


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
    """The commands that proved tasks in other packages, of which a run outside of tasks shows no test."""
    if check.uses != "test" or task_of(state, path):
        return []
    proved: dict[str, Check] = {}
    for step in state.plan.paths:
        for other in state.plan.step(step).checks if task_of(state, step) else ():
            evidence = state.step(step).evidence.get(other.name)
            seen = evidence is not None and evidence.passed and evidence.run_by == "engine" and not evidence.claimed
            if seen and other.uses == check.uses and other.run and other.folder != check.folder:
                proved[other.folder] = other
    return [other for folder, other in proved.items() if not _has_tests(found, folder, check.folder)]


def _has_tests(found: model.Results | None, folder: str, seen_from: str) -> bool:
    inside = os.path.join(os.path.relpath(folder or os.curdir, seen_from or os.curdir), "")
    return found is not None and any(case.file.startswith(inside) for case in found.tests)


def all_of(base: str, main: Observed, others: Sequence[Check], how: dict[str, Any]) -> tuple[Observed, list[str]]:
    """A run together with those of the packages that it left out, and a line about each of these.

    The first that fails is what is told of all. A package that is gone is not tested, and that is said.
    """
    said: list[str] = []
    for check in others:
        folder = os.path.join(base, check.folder)
        if not os.path.isdir(folder):
            said.append(f"not tested, as the folder is gone: {check.folder}")
            continue
        with logs.added(how["log"], f"{check.folder or 'the top'}: {' '.join(map(quoted, check.run))}"):
            seen = observe(check.run, cwd=folder, report=report_in(check), ask=True, **how)
        said.append(f"{'passed' if seen.ran.passed else 'failed'} too: {provenance.command(check)}")
        both = [one for one in (main.results, seen.results) if one is not None]
        main = Observed(main.ran if seen.ran.passed else seen.ran, model.together(both) if len(both) > 1 else None)
        if not seen.ran.passed:
            break
    return main, said
