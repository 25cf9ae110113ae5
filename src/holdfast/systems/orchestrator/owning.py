"""What is a task's own among files that several agents change side by side in one working tree.

It is all that changed since the task began, but for what the agents of other tasks have locked, and what was committed
for other tasks and is still as it was committed. A lock does not take away what a check of the task names, nor what lay
there changed before the lock was taken.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast import git
from holdfast.core import moment
from holdfast.core.patterns import overlap
from holdfast.core.state import BASE, COMMITS, Hold, State
from holdfast.core.tasks import TASK
from holdfast.git.content import Changed
from holdfast.git.history import changes_since
from holdfast.systems.seam.wired import Wired


def rows(wired: Wired, state: State, path: str) -> frozenset[str] | None:
    """The task's own files with their content; None for what is no task, or where git cannot tell."""
    repository = git.find(wired.place.base(state.worktree)) if wired.place.repository else None
    since = state.step(path).data.get(BASE)
    if repository is None or state.plan.step(path).kind != TASK or not isinstance(since, str):
        return None
    found = files(wired, repository, state, path, since)
    return frozenset(f"{name}\0{one.mode}\0{one.blob}" for name, one in found.items())


def files(wired: Wired, repository: git.Repository, state: State, path: str, since: str) -> dict[str, Changed]:
    return _split(wired, repository, state, path, since)[0]


def not_owned(wired: Wired, state: State, path: str) -> list[str]:
    """The changed files that count for no check of a task, as the agents of others have locked them."""
    repository = git.find(wired.place.base(state.worktree)) if wired.place.repository else None
    since = state.step(path).data.get(BASE)
    if repository is None or state.plan.step(path).kind != TASK or not isinstance(since, str):
        return []
    return _split(wired, repository, state, path, since)[1]


def _split(
    wired: Wired, repository: git.Repository, state: State, path: str, since: str
) -> tuple[dict[str, Changed], list[str]]:
    """What changed since a commit and is a task's own, and what others have locked of the rest."""
    changed = wired.world.changed(repository, since, wired.world.aside(state))
    state = wired.store.load(state.ulid)  # who changed a file had locked it before: looked at in the other order
    locked = wired.world.locked_by_others(state, path)
    others = _committed(repository, state, path, since) if changed else {}
    named = [word for check in state.plan.step(path).checks for word in check.run]
    left = {name: one for name, one in changed.items() if one.blob not in others.get(name, ())}
    taken = [
        name
        for name in (left if locked else ())
        if not any(name in word for word in named) and _is_locked(repository, name, locked)
    ]
    return {name: one for name, one in left.items() if name not in taken}, taken


def _is_locked(repository: git.Repository, name: str, locks: Mapping[str, Hold]) -> bool:
    """Whether the agent of another task has locked a file, and the file has changed since."""
    held = [hold for lock, hold in locks.items() if overlap(name, lock)]
    try:
        changed = os.lstat(os.path.join(repository.top, name)).st_ctime if held else 0
    except OSError:
        return True
    return any(changed >= moment.to_epoch(hold.at) for hold in held)


def _committed(repository: git.Repository, state: State, path: str, since: str) -> dict[str, set[str]]:
    """What was committed for other tasks since a commit: the hashes of each file."""
    tasks = (one for one in state.plan.of_kind(TASK) if one != path)
    known = {sha for task in tasks for sha in state.step(task).data.get(COMMITS, ())}
    found: dict[str, set[str]] = {}
    for sha, changed in changes_since(repository, since).items() if known else ():
        for name, blob in changed.items() if sha in known else ():
            found.setdefault(name, set()).add(blob)
    return found
