"""What was written since a task began: its files, told by git."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.checks.results.sources import Sources
from holdfast.core import tasks
from holdfast.core.lifecycle import DONE
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.engine.world import LocalWorld
from holdfast.git import changes, content


class Task:
    """The work since the last task was committed, or since the workflow began; without git nobody can tell it."""

    def __init__(self, world: LocalWorld, base: str, state: State) -> None:
        self.base = base
        self.repository = git.find(base)
        self.since = since(self.repository, state) if self.repository else None
        self._world, self._state = world, state
        self.changed = self.changed_since(self.since)
        own = {self.inside(name): None for name, one in self.changed.items() if one.blob}
        self.sources = Sources(base, own if self.repository else None, self.earlier)

    def changed_since(self, commit: str | None) -> dict[str, content.Changed]:
        """Every path that differs from a commit; not what was already changed when the workflow began."""
        if self.repository is None:
            return {}
        found = self._world.changed(self.repository, commit, self._world.aside(self._state))
        return {name: one for name, one in found.items() if self._state.dirt.get(name) != one.blob}

    def inside(self, name: str) -> str:
        """A path from the top of the repository, as one from the folder of the project."""
        assert self.repository
        return os.path.relpath(os.path.join(self.repository.top, name), os.path.realpath(self.base))

    def paths_in(self, folder: str, *, gone: bool = False) -> list[str]:
        """The files that are there, or also those that are gone, as paths from a folder, without those beside it."""
        top = self.repository.top if self.repository else folder
        there = (name for name, one in self.changed.items() if one.blob or gone)
        inside = (os.path.relpath(os.path.join(top, name), os.path.realpath(folder)) for name in there)
        return [name for name in inside if not name.startswith("../")]

    def written(self, most: int) -> dict[str, Any]:
        """The files, with their new lines."""
        if self.repository is None:
            return {}
        shown = [(name, one) for name, one in self.changed.items() if one.blob][:most]
        return {"files": content.added(self.repository, self.since, dict(shown))}

    def earlier(self, file: str) -> bytes:
        """What a file held when the task began."""
        assert self.repository
        name = os.path.relpath(os.path.join(os.path.realpath(self.base), file), self.repository.top)
        return changes.content_at(self.repository, self.since, name) if self.since else b""


def since(repository: git.Repository, state: State) -> str | None:
    """The commit that the work of a task begins at."""
    done = (state.step(path) for path in state.plan.paths if state.step(path).status == DONE)
    made = [(one.finished_at, str(one.data[tasks.COMMIT])) for one in done if one.data.get(tasks.COMMIT)]
    last = max(made)[1] if made else ""
    return changes.resolve(repository, last) if last and changes.contains(repository, last) else state.head
