"""Which commands a project uses to lint, test, review and simplify: those it was told, then those its files show."""

from __future__ import annotations

from holdfast.checks.tooling import manifests, python
from holdfast.checks.tooling.config import configured
from holdfast.checks.tooling.folder import NAMES, Folder, Tool
from holdfast.machine.configuration import CONFIG

__all__ = ["CONFIG", "NAMES", "Tool", "commands", "configured"]

_FINDERS = (python.find, manifests.node, manifests.cargo, manifests.go, manifests.make)


def commands(root: str, worktree: str = "") -> dict[str, Tool]:
    """The command of every name that has one. The configuration lies in the root; the rest is found in the worktree.

    Of several that provide a name, the configuration comes first, then Python, Node, Rust, Go and make. Nothing is
    run, and a file that is broken, unreadable or larger than 1 MiB shows nothing. Only a mistake in the configuration
    is an error.
    """
    chosen = configured(root)
    folder = Folder(worktree or root)
    for find in _FINDERS:
        for name, tool in find(folder).items():
            chosen.setdefault(name, tool)
    return {name: chosen[name] for name in NAMES if name in chosen and chosen[name].run}
