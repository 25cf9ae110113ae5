"""The task's test, run against the tree without the task's work: a green that could not fail is none."""

from __future__ import annotations

import os
from _collections_abc import Iterator, Mapping
from contextlib import contextmanager

from holdfast.checks import test_side
from holdfast.checks.observed import Observed, observe, report_in
from holdfast.checks.results.judge import Red
from holdfast.checks.results.model import PASSED
from holdfast.checks.task import Task
from holdfast.core.definition import Check
from holdfast.core.value import Any
from holdfast.git import changes
from holdfast.git.command import git as run
from holdfast.git.private import CACHES
from holdfast.plain.digest import digest

_PACKAGES = ("node_modules", ".venv")
_OUTPUTS = frozenset({"target", "dist", "build", "out", "coverage", ".holdfast", *CACHES.difference(_PACKAGES)})
"""Ignored folders that hold what was built, perhaps from the work."""
_MOST_LISTED = 5


def contents(task: Task, red: Red) -> dict[str, str]:
    """What stands for the content of the test, and of each file beside it on its side that the task changed.

    The test is its file, or of Rust its function. Files beside a test of a unit in Rust are none of it.
    """
    if not red.file:
        return {}
    found = {red.file: digest(task.sources.text_of(red.file, red.test).encode())}
    for name, one in task.changed.items() if not _shares(red.file) else ():
        file = task.inside(name)
        if file in found:
            continue
        if test_side.is_test_side(name):
            found[name] = one.blob
        elif (said := test_side.of_tests(name, task.sources.content(file))) != test_side.of_tests(
            name, task.earlier(file)
        ):
            found[name] = digest(said.encode())
    return found


def has_work(task: Task, red: Red) -> bool:
    """Whether the task has changed more than its tests and their set-up. Of a unit in Rust nobody can tell."""
    return not _shares(red.file) and any(
        task.inside(name) != red.file
        and not test_side.is_test_side(name)
        and os.path.basename(name) not in test_side.SET_UP
        for name in task.changed
    )


def changed(red: Red, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Which of them are not as they were when the test was red, in one phrase."""
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if before and not names:
        return "it failed only together with other changes"
    if not before or red.file in names:
        return "it was changed after it was red"
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    were = "were" if len(names) > 1 else "was"
    return f"{', '.join(names[:_MOST_LISTED])}{more} {were} changed after it was red"


def refusal(check: Check, task: Task, red: Red, changed: str, how: dict[str, Any]) -> str:
    """Why a test that is not as it was when it was red shows nothing; empty when it fails without the work."""
    way = "take the work out, and show red again"
    if _shares(red.file):
        return f"{red.test} was changed after it was red, and {red.file} has tests and code: {way}"
    with without_work(task, red.file) as (folder, env):
        seen = observed_in(check, task, folder, env, how)
    called = seen.results.called(red.test) if seen.results else []
    if any(case.fails for case in called) or (seen.results and red.file in seen.results.broken):
        return ""
    if called and all(case.outcome == PASSED for case in called):
        return f"{red.test} passes without the work of this task: {changed}"
    return f"{red.test} does not run without the work, and {changed}: {way}"


def failing_before(check: Check, task: Task, names: list[str], how: dict[str, Any]) -> list[str]:
    """Of what fails beside the task's tests, that which failed when the task began: seen, where it has work already."""
    if not names or not task.repository or all(test_side.is_test_side(name) for name in task.changed):
        return names
    with without_work(task, None) as (folder, env):
        found = observed_in(check, task, folder, env, how).results
    known = {*found.failing, *found.broken} if found else set()
    return [name for name in names if name in known]


@contextmanager
def without_work(task: Task, test_file: str | None, since: str | None = None) -> Iterator[tuple[str, dict[str, str]]]:
    """A folder with the tree as the task began and, if there is a test file, the task's tests; and its variables.

    `since` is another commit in the place of that which the task began at. What git ignores is linked, since it holds
    the packages that tests need; not what may be built from the work.
    """
    import shutil
    import tempfile

    repository = task.repository
    assert repository
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        top = os.path.join(os.path.realpath(scratch), "tree")
        os.mkdir(top)
        view = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
        run(repository.top, "read-tree", changes.tree_of(repository, since or task.since), env=view)
        run(repository.top, "checkout-index", "-a", "-f", f"--prefix={top}/", env=view)
        for name, one in task.changed.items() if test_file is not None else ():
            is_set_up = os.path.basename(name) in test_side.SET_UP
            if not (is_set_up or task.inside(name) == test_file or test_side.is_test_side(name)):
                continue
            full = os.path.join(top, name)
            if one.blob:
                os.makedirs(os.path.dirname(full), exist_ok=True)
                shutil.copyfile(os.path.join(repository.top, name), full)
            elif os.path.lexists(full):
                os.unlink(full)
        _link_ignored(repository.top, top)
        folder = os.path.normpath(os.path.join(top, os.path.relpath(os.path.realpath(task.base), repository.top)))
        os.makedirs(folder, exist_ok=True)
        python = (os.path.join(folder, "src"), folder, os.environ.get("PYTHONPATH", ""))
        target = os.environ.get("CARGO_TARGET_DIR", os.path.join(repository.top, "target"))
        yield folder, {"PYTHONPATH": os.pathsep.join(filter(None, python)), "CARGO_TARGET_DIR": target}


def observed_in(check: Check, task: Task, folder: str, env: dict[str, str], how: dict[str, Any]) -> Observed:
    """A check, run in a folder that replaces that of the task."""
    before, now = os.path.join(task.base, ""), os.path.join(folder, "")
    argv = [word.replace(before, now) for word in check.run]
    return observe(argv, cwd=folder, report=report_in(check), ask=True, env=env, **how)


def _shares(file: str) -> bool:
    """Whether tests of the file are beside code, as those of units do in Rust."""
    return file.endswith(".rs") and "tests" not in file.split("/")[:-1]


def _link_ignored(top: str, folder: str) -> None:
    packages = (word for name in _PACKAGES for word in ("-x", name))
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", *packages)
    listed = run(top, *words)[1].split(b"\0")
    for name in (os.fsdecode(one).rstrip("/") for one in listed if one):
        link = os.path.join(folder, name)
        if _OUTPUTS.isdisjoint(name.split("/")) and not name.endswith(".egg-info") and not os.path.lexists(link):
            os.makedirs(os.path.dirname(link), exist_ok=True)
            os.symlink(os.path.join(top, name), link)
