"""What the branch has of the work: files that are not committed, and commits that are not what was tested."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast import git
from holdfast.core import moment, provenance, remedies, tasks
from holdfast.core.remedy import Blank, Remedy, shell
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import Refused
from holdfast.git import content, filters
from holdfast.git.command import git as run
from holdfast.git.private import CACHES
from holdfast.systems.seam.registry import work
from holdfast.systems.seam.wired import Wired

_MOST_NAMED = 20
_KEPT = 50
_MOST_LOOKED_AT = 1000
_OUTPUTS = CACHES.union(
    ("target", "dist", "build", "out", "bin", "obj", "tmp", "logs", "coverage", "htmlcov", "vendor", "site-packages")
)
_SOURCES = frozenset(
    (".py", ".pyi", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".rs", ".rb", ".php", ".java",
     ".kt", ".scala", ".c", ".cc", ".cpp", ".h", ".hpp", ".cs", ".swift", ".ex", ".exs", ".lua", ".sh", ".sql",
     ".graphql", ".proto", ".json", ".yaml", ".yml", ".toml", ".ini")
)  # fmt: skip


def uncommitted(wired: Wired, state: State, repository: git.Repository) -> tuple[list[str], list[str]]:
    """The files that HEAD does not have as they are: those of the work, and those from before the workflow."""
    changed = wired.world.changed(repository, git.head(repository), wired.world.aside(state))
    marked = _marked(wired, state, repository)
    before = [name for name, one in changed.items() if _is_from_before(state, name, one, marked)]
    return [name for name in changed if name not in before], before


def _marked(wired: Wired, state: State, repository: git.Repository) -> set[str]:
    """The files in which Holdfast itself says that tasks are done, as paths from the top of the repository."""
    base = wired.place.base(state.worktree)
    return {os.path.relpath(os.path.join(base, file), repository.top) for file in work(state.dialect).marked(state)}


def _is_from_before(state: State, name: str, one: content.Changed, marked: set[str]) -> bool:
    return name in state.dirt and (state.dirt[name] == one.blob or name in marked)


def require_committed(wired: Wired, state: State, repository: git.Repository, path: str) -> None:
    """Refuses a pull request of a branch that has not all of the work: the checks saw the working tree."""
    left, _ = uncommitted(wired, state, repository)
    if not left:
        return
    are = "is" if len(left) == 1 else "are"
    said = f"{_listed(left, 8)} {are} not committed: the pull request would not have what was tested"
    at = () if os.path.realpath(os.curdir) == repository.top else ("-C", repository.top)
    files = left[:_MOST_NAMED]
    again = remedies.done(path)
    ways: tuple[Remedy, ...] = (
        shell("git", *at, "add", "--", *files),
        shell("git", *at, "commit", "-m", Blank("TEXT"), "--", *files, text="then"),
        again.replace(text="then"),
        again.replace(text="remove what does not belong to it, then"),
    )
    raise Refused("uncommitted_changes", said, remedy=ways, facts={"step": path, "paths": left[:_KEPT]})


def _listed(names: list[str], most: int) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


class Compared:
    """The working tree as it was tested, to be compared with the commit that is made of it."""

    def __init__(self, wired: Wired, state: State, repository: git.Repository, path: str, own: str = "") -> None:
        """`own` is the file in which the commit itself says that the step is done."""
        self._own = own
        self._wired, self._state, self._repository, self._path = wired, state, repository, path
        self._head = git.head(repository)
        self._tested = wired.world.changed(repository, self._head, wired.world.aside(state))

    def facts(self, sha: str) -> dict[str, Any]:
        """What of the work is not in the commit, or not as it was tested; nothing where all is."""
        marked = {*_marked(self._wired, self._state, self._repository), self._own}
        aside = self._wired.world.aside(self._state)
        made = content.between(self._repository, self._head, sha)
        left_out = [
            name
            for name, one in self._tested.items()
            if name not in made and name not in marked and not _is_from_before(self._state, name, one, marked)
        ]
        other = [
            name
            for name, one in made.items()
            if name not in marked and not _is_below(name, aside) and self._tested.get(name) != one
        ]
        other += [name for name in filters.differing(self._repository) if name in made and name not in other]
        found = {"left_out": left_out, "other": other, "ignored": self._ignored()}
        kept = {name: files[:_KEPT] for name, files in found.items() if files}
        return {provenance.UNTESTED: kept} if kept else {}

    def _ignored(self) -> list[str]:
        return ignored(self._wired, self._state, self._repository, self._path)


def ignored(wired: Wired, state: State, repository: git.Repository, path: str) -> list[str]:
    """Sources that git ignores and that were written since the task of a step began: the tests had them."""
    task = tasks.task_of(state, path)
    began = moment.to_epoch((state.step(task).started_at if task else "") or state.created_at)
    words = ("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    names = [os.fsdecode(name) for name in run(repository.top, *words)[1].split(b"\0") if name]
    aside = wired.world.aside(state)
    found: list[str] = []
    for name in (one for one in names if not _is_below(one.rstrip("/"), aside)):
        single = [name] if _is_source(name) else []
        inside = _sources_in(repository.top, name.rstrip("/")) if name.endswith("/") else single
        found += [one for one in inside if _is_since(repository.top, one, began)]
    return found


def _is_since(top: str, name: str, began: float) -> bool:
    try:
        return os.lstat(os.path.join(top, name)).st_mtime >= began
    except OSError:
        return False


def _sources_in(top: str, folder: str) -> list[str]:
    """The sources in a folder that git ignores; of one with packages or outputs none."""
    if not _is_of_project(top, folder):
        return []
    found: list[str] = []
    for here, folders, files in os.walk(os.path.join(top, folder)):
        inside = os.path.relpath(here, top)
        folders[:] = [one for one in folders if _is_of_project(top, os.path.join(inside, one))]
        found += [name for name in (os.path.join(inside, file) for file in files) if _is_source(name)]
        if len(found) > _MOST_LOOKED_AT:
            break
    return found


def _is_of_project(top: str, folder: str) -> bool:
    parts = folder.split("/")
    is_hidden = any(part.startswith(".") for part in parts)
    is_environment = os.path.exists(os.path.join(top, folder, "pyvenv.cfg"))
    return not is_hidden and _OUTPUTS.isdisjoint(parts) and not is_environment


def _is_source(name: str) -> bool:
    file = os.path.basename(name)
    is_known = os.path.splitext(file)[1] in _SOURCES or file.startswith(".env")
    return is_known and "coverage" not in file and "report" not in file


def _is_below(name: str, folders: tuple[str, ...]) -> bool:
    return any(name == one.rstrip("/") or name.startswith(one.rstrip("/") + "/") for one in folders)


def said(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """What the answer to a commit says of it."""
    return tuple(provenance.of_commit(facts))
