"""Where a feature file is that is not where it was: by git's measure, and by the titles of its tasks."""

from __future__ import annotations

import os
from _collections_abc import Collection

from holdfast import git
from holdfast.core.state import State
from holdfast.errors import HoldfastError
from holdfast.machine.place import Place, below
from holdfast.markdown.feature_file import is_markdown
from holdfast.systems.skill import features

_MOST = 100
"""How many files are read to find the one that has the tasks."""


def located(place: Place, worktree: str, file: str) -> str:
    """Where a feature file is: where it was, or where git sees that it was moved to."""
    base = place.base(worktree)
    full = below(base, file)
    repository = git.find(base)
    if not full or os.path.lexists(full) or repository is None:
        return file
    from holdfast.git.renames import moved

    now = moved(repository, os.path.relpath(full, repository.top))
    inside = os.path.relpath(os.path.join(repository.top, now), base) if now else ""
    return inside if inside and below(base, inside) else file


def followed(state: State, place: Place, home: str, file: str, others: Collection[str]) -> str:
    """The same; where git sees nothing like it, the one file that came since and has half of its tasks, or more.

    `others` are files that are known already.
    """
    now = located(place, state.worktree, file)
    base = place.base(state.worktree)
    full = below(base, now)
    repository = git.find(base)
    if now != file or not full or os.path.lexists(full) or repository is None:
        return now if now not in others else file
    from holdfast.git.renames import added

    titles = {state.plan.step(path).name for path in state.plan.children(home)}
    found: dict[str, int] = {}
    came = [name for name in added(repository, state.head or "") if is_markdown(name)]
    for name in came[:_MOST]:
        path = os.path.relpath(os.path.join(repository.top, name), base)
        at = below(base, path)
        try:
            listed = {task.text for task in features.read(at, path).tasks} if at and path not in others else set()
        except HoldfastError:
            continue
        if len(titles & listed) * 2 >= len(titles):
            found[path] = len(titles & listed)
    best = [path for path, count in found.items() if count and count == max(found.values())]
    return best[0] if len(best) == 1 else file
