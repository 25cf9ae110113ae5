"""Tests that ran before anybody touched them: run once more as a commit has them, where somebody did."""

from __future__ import annotations

import os
import re
from _collections_abc import Iterable, Sequence

from holdfast.checks import earlier, test_side
from holdfast.checks.counterproof import observed_in, without_work
from holdfast.checks.results.model import Results
from holdfast.checks.task import Task
from holdfast.core.definition import Check
from holdfast.core.provenance import SINCE, START
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.engine.world import LocalWorld
from holdfast.git import changes
from holdfast.git.command import git as run

_MARKS = re.compile(rb"\b(?:def|class|it|test|describe|suite|context|func|fn)\b|#\[|@")
"""What a line has that makes a test one."""
_SKIPS = re.compile(rb"(?i)skip|only|ignor|todo|xfail|xit|xdescribe|xtest|disabled|__test__|\bdel\b|go:build|cfg\(")
_LOCKS = frozenset(
    ("package-lock.json", "pnpm-lock.yaml", "yarn.lock", "uv.lock", "poetry.lock", "go.sum", "Cargo.lock")
)


def of_task(check: Check, task: Task, test: str, how: dict[str, Any]) -> list[str]:
    """What passed beside a test when the task began; looked at only where the task may have changed what runs."""
    if not _touched(task.changed, task, task.since, whole=False):
        return []
    return [name for name in _passing(check, check, task, task.since, how) if name != test]


def not_run_since_start(
    world: LocalWorld,
    state: State,
    check: Check,
    others: Sequence[Check],
    task: Task,
    results: Results,
    how: dict[str, Any],
) -> dict[str, Any]:
    """The tests that passed when the workflow began, or in a task, and that a run of the whole does not run."""
    names = earlier.known(state, check)
    changed = world.changed(task.repository, state.head, world.aside(state)) if task.repository else {}
    if _touched(changed, task, state.head, whole=True):
        names += [name for one in (check, *others) for name in _passing(one, check, task, state.head, how)]
    names = list(dict.fromkeys(names))
    if results.unnamed:
        fewer = len(names) - results.total
        return {"count": fewer, SINCE: START} if fewer > 0 else {}
    gone = earlier.told(earlier.gone(names, results))
    return {**gone, SINCE: START} if gone else {}


def _passing(check: Check, main: Check, task: Task, since: str | None, how: dict[str, Any]) -> list[str]:
    """The tests that pass in the tree of a commit, in the folder of a check; none where it cannot be told."""
    inside = os.path.relpath(check.folder or os.curdir, main.folder or os.curdir)
    with without_work(task, None, since) as (folder, env):
        folder = os.path.normpath(os.path.join(folder, inside))
        found = observed_in(check, task, folder, env, how).results if os.path.isdir(folder) else None
    return list(found.passing) if found else []


def _touched(changed: Iterable[str], task: Task, since: str | None, *, whole: bool) -> list[str]:
    """The files with tests, or that say how they run, that a commit has otherwise; none where it has no tests.

    Unless `whole`, files of tests count only where they may have lost one.
    """
    if task.repository is None or since is None:
        return []
    listed = run(task.repository.top, "ls-tree", "-r", "-z", "--name-only", "--end-of-options", since)[1]
    names = {os.fsdecode(name) for name in listed.split(b"\0")[:-1]}
    if not any(test_side.is_test(name) or name.endswith(".rs") for name in names):
        return []
    return [name for name in changed if _decides(name, task, since, is_known=name in names, whole=whole)]


def _decides(name: str, task: Task, since: str, *, is_known: bool, whole: bool) -> bool:
    file = os.path.basename(name)
    is_test = test_side.is_test(name)
    is_set_up = (file in test_side.SET_UP and file not in _LOCKS) or (test_side.is_test_side(name) and not is_test)
    is_set_up = is_set_up or file.startswith("vite.config.") or (is_test and file in ("__init__.py", "conftest.py"))
    if not (is_set_up or (is_known and (is_test or file.endswith(".rs")))):
        return False
    assert task.repository
    before = changes.content_at(task.repository, since, name)
    now = task.sources.content(task.inside(name))
    if file in ("package.json", "pyproject.toml", "setup.cfg"):
        return test_side.of_tests(name, before) != test_side.of_tests(name, now)
    return whole or is_set_up or now is None or _may_lose(before, now)


def _may_lose(before: bytes, now: bytes) -> bool:
    """Whether a line that makes a test is not there any more, or one that may skip some is new."""
    lines = {line.strip() for line in now.splitlines()}
    lost = any(_MARKS.search(line) and line.strip() not in lines for line in before.splitlines())
    return lost or len(_SKIPS.findall(now)) > len(_SKIPS.findall(before))
