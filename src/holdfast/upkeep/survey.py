"""What is in a project before Holdfast works in it: its test command, agent hosts, and files that work starts from."""

from __future__ import annotations

import os
from _collections_abc import Callable

from holdfast.checks import tooling
from holdfast.core.value import Value
from holdfast.errors import HoldfastError
from holdfast.git import exclude
from holdfast.hosts.installing import installation
from holdfast.hosts.installing.setting import PROJECT, SCOPES, setting
from holdfast.systems.seam import unversioned
from holdfast.systems.seam.found import orphaned
from holdfast.systems.seam.wired import Wired

STARTS = ("features/*.md", "CLAUDE/Plan/*/PLAN.md", "workflow/*/status.json")
"""Where people keep feature files, plans and the workspaces of features."""


class Host(Value):
    name: str
    scopes: tuple[str, ...]
    """Where Holdfast is installed in it; empty for nowhere."""


class Survey(Value):
    root: str
    is_git: bool
    test: str
    """The test command; empty where none was found."""
    source: str
    """The file that shows the test command."""
    hosts: tuple[Host, ...]
    documents: tuple[str, ...]
    """State documents that no workflow has taken over."""
    starts: tuple[str, ...]
    """Files that a workflow can start from."""
    workflows: int
    is_prepared: bool
    """Whether `.holdfast` is there, and git ignores what is private in it."""


def survey(wired: Wired, on_path: Callable[[str], object]) -> Survey:
    """Changes nothing."""
    place = wired.place
    tool = tooling.commands(place.root, place.worktree).get("test")
    found = installation.present(setting(wired.settings, PROJECT, place.worktree, place.root), on_path)
    return Survey(
        root=place.root,
        is_git=place.repository is not None,
        test=" ".join(tool.run) if tool else "",
        source=tool.source if tool else "",
        hosts=tuple(Host(name, _scopes(wired, name)) for name in found),
        documents=tuple(one.path for one in orphaned(wired)),
        starts=tuple(_starts(place.worktree)),
        workflows=len(wired.store.entries()) if os.path.isdir(place.home) else 0,
        is_prepared=_is_prepared(wired),
    )


def _scopes(wired: Wired, host: str) -> tuple[str, ...]:
    found = []
    for scope in SCOPES if wired.settings.home else (PROJECT,):
        try:
            if installation.is_there(host, setting(wired.settings, scope, wired.place.worktree, wired.place.root)):
                found.append(scope)
        except HoldfastError:
            continue  # a file that cannot be read: installing says what is wrong with it
    return tuple(found)


def _starts(worktree: str) -> list[str]:
    from glob import glob

    return sorted(name for pattern in STARTS for name in glob(pattern, root_dir=worktree))


def _is_prepared(wired: Wired) -> bool:
    repository = wired.place.repository
    if not os.path.isdir(wired.place.home):
        return False
    return repository is None or not exclude.absent(repository, unversioned.lines(wired.place, repository, ()))
