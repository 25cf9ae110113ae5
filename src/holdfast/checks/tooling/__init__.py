"""Which commands a project uses to lint, test, review and simplify: those it was told, then those its files show."""

from __future__ import annotations

import os
from _collections_abc import Iterable

from holdfast.checks.tooling import manifests, python
from holdfast.checks.tooling.config import configured
from holdfast.checks.tooling.folder import NAMES, Folder, Tool
from holdfast.machine.configuration import CONFIG

__all__ = ["CONFIG", "MANIFESTS", "NAMES", "Tool", "commands", "configured", "nearest"]

_FINDERS = (python.find, manifests.node, manifests.cargo, manifests.go, manifests.make)
MANIFESTS = (
    *(python.PYPROJECT, "setup.py", "setup.cfg", "tox.ini", "pytest.ini"),
    *(manifests.PACKAGE, manifests.MANIFEST, manifests.MODULE, manifests.WORKSPACE, *manifests.MAKEFILES),
)
"""The files by which a folder is a package of its own."""


def commands(root: str, worktree: str = "", files: Iterable[str] = ()) -> dict[str, Tool]:
    """The command of every name that has one. The configuration is in the root; the rest is found in the worktree.

    What is found is that of the package nearest to the `files`, paths from the top of the worktree; without any, that
    of the top. Of several that provide a name, the configuration comes first, then Python, Node, Rust, Go and make.
    A file that is broken, unreadable or larger than 1 MiB shows nothing. Only a mistake in the configuration is an
    error.
    """
    told, near = configured(root), nearest(worktree or root, files)
    chosen = {**near, **told}
    return {name: chosen[name] for name in NAMES if name in chosen and chosen[name].run}


def nearest(top: str, files: Iterable[str] = ()) -> dict[str, Tool]:
    """What the package nearest to all of the files shows; where they are of several, the one around these."""
    packages = _Packages(top)
    folders = dict.fromkeys(os.path.dirname(file) for file in files) or {"": None}
    found = {name: packages.around(name, folders) for name in NAMES}
    return {name: tool for name, tool in found.items() if tool}


class _Packages:
    """The packages of a worktree, each looked at once."""

    def __init__(self, top: str) -> None:
        self._top = top
        self._tools: dict[str, dict[str, Tool]] = {}

    def around(self, name: str, folders: Iterable[str]) -> Tool | None:
        owners = {owner for owner in (self._owner(name, folder) for folder in folders) if owner is not None}
        if len(owners) > 1:
            common = self._owner(name, os.path.commonpath([f"/{owner}" for owner in owners])[1:])
            owners = set() if common is None else {common}
        return self._shown(owners.pop())[name] if owners else None

    def _owner(self, name: str, folder: str) -> str | None:
        """The folder itself or the nearest around it that shows a command of this name."""
        while name not in self._shown(folder):
            if not folder:
                return None
            folder = os.path.dirname(folder)
        return folder

    def _shown(self, folder: str) -> dict[str, Tool]:
        if folder not in self._tools:
            looked, found = Folder(self._top, folder), dict[str, Tool]()
            if not folder or looked.first(*MANIFESTS):
                for find in reversed(_FINDERS):
                    found.update(find(looked))
            self._tools[folder] = {
                name: tool.replace(folder=folder, source=os.path.join(folder, tool.source))
                for name, tool in found.items()
            }
        return self._tools[folder]
