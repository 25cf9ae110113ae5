"""The other packages that a task changed work in: their tests run before its commit."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.checks import logs, packages, test_side, tooling
from holdfast.checks.counterproof import observed_in, without_work
from holdfast.checks.observed import Observed, observe
from holdfast.checks.results import judge, model
from holdfast.checks.task import Task
from holdfast.checks.tooling.manifests import EACH
from holdfast.core import provenance
from holdfast.core.definition import Check
from holdfast.core.remedy import quoted
from holdfast.core.value import Any

_TEXTS = (".md", ".rst", ".txt", ".adoc")


def run(
    base: str, check: Check, task: Task, found: model.Results | None, how: Mapping[str, Any], log: str
) -> tuple[str, list[str]]:
    """Runs the tests of the packages that a task changed and that the run of its own tests left out.

    Gives why one of them fails that did not when the task began, and a line about each. A command that a person chose
    stands for all.
    """
    said: list[str] = []
    for other in _changed(base, check, task, found):
        with logs.added(log, f"{other.folder or 'the top'}: {' '.join(map(quoted, other.run))}"):
            seen = observe(other.run, cwd=os.path.join(base, other.folder), ask=True, log=log, **how)
        why = _broken(base, other, task, seen, dict(how))
        if why:
            return f"{why} ({provenance.command(other)})", [*said, f"failed too: {provenance.command(other)}"]
        said.append(f"{'passed' if seen.ran.passed else _as_before(seen)} too: {provenance.command(other)}")
    return "", said


def _as_before(seen: Observed) -> str:
    is_empty = seen.results is not None and seen.results.nothing_ran() and not seen.results.broken
    return "no test to run" if is_empty else "failed before, and now"


def _changed(base: str, check: Check, task: Task, found: model.Results | None) -> list[Check]:
    if packages.is_chosen(check) or task.repository is None:
        return []
    tools: dict[str, tooling.Tool] = {}
    for file in task.paths_in(base, gone=True):
        if not file.endswith(_TEXTS):
            tool = tooling.nearest(base, [os.path.join(os.path.dirname(file), "_")]).get("test")
            if tool is not None and tool.folder not in tools and _counts(file, tool.folder, check.folder):
                tools[tool.folder] = tool
    return [
        Check(check.name, tool.run, timeout=check.timeout, uses=check.uses, source=tool.source, folder=tool.folder)
        for folder, tool in tools.items()
        if not packages.has_tests(found, folder, check.folder) and not _is_around(check, folder)
    ]


def _counts(file: str, folder: str, own: str) -> bool:
    """Whether a file is work of another package. Around the task's own one, settings and lock files are of no one."""
    if folder == own:
        return False
    is_around = not folder or f"{own}/".startswith(f"{folder}/")
    name = os.path.basename(file)
    return not is_around or not (file.startswith(".") or name in test_side.SET_UP or name in tooling.MANIFESTS)


def _is_around(check: Check, folder: str) -> bool:
    """Whether the command that ran tests all packages of a workspace, with the one in a folder."""
    return check.run in EACH.values() and (not check.folder or folder.startswith(f"{check.folder}/"))


def _broken(base: str, check: Check, task: Task, seen: Observed, how: dict[str, Any]) -> str:
    """What fails in a package and did not when the task began; empty where nothing does."""
    found = seen.results
    if seen.ran.passed or (found is not None and found.nothing_ran() and not found.broken):
        return ""
    inside = os.path.relpath(os.path.join(base, check.folder), task.base)
    with without_work(task, None) as (folder, env):
        folder = os.path.normpath(os.path.join(folder, inside))
        before = observed_in(check, task, folder, env, how) if os.path.isdir(folder) else None
    if before is not None and before.results is not None and found is not None and judge.failure(found):
        return judge.failure(found, (*before.results.failing, *before.results.broken))
    if before is not None and not before.ran.passed:
        return ""
    return (
        judge.failure(found) if found is not None else ""
    ) or "a test of another package that the task changed fails"
