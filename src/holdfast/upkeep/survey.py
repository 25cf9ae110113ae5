"""What is in a project before Holdfast works in it: its test command, agent hosts, and files that work starts from."""

from __future__ import annotations

import os
from _collections_abc import Callable, Iterator

from holdfast.checks import tooling
from holdfast.core.value import Value
from holdfast.errors import HoldfastError
from holdfast.git import exclude
from holdfast.hosts.installing import installation
from holdfast.hosts.installing.setting import PROJECT, SCOPES, setting
from holdfast.systems.seam import unversioned
from holdfast.systems.seam.found import orphaned, told_gone
from holdfast.systems.seam.registry import subject, systems
from holdfast.systems.seam.wired import Wired

STARTS = ("features/*.md", "CLAUDE/Plan/*/PLAN.md", "workflow/*/status.json")
"""Where people keep feature files, plans and the workspaces of features."""
NOTES = ("*.md", "docs/*.md", "tasks/*.md")
"""Where people keep task documents, among others."""
MOST = 50
"""So many of these are opened."""


class Host(Value):
    name: str
    scopes: tuple[str, ...]
    """Where Holdfast is installed in it; empty for nowhere."""
    wrong: HoldfastError | None = None
    """What is wrong with its settings in the project, where nothing can be installed then."""

    @property
    def is_open(self) -> bool:
        """Whether Holdfast could be installed in it."""
        return not self.scopes and self.wrong is None


class Survey(Value):
    root: str
    is_git: bool
    test: str
    """The test command; empty where none was found."""
    source: str
    """The file that shows the test command."""
    hosts: tuple[Host, ...]
    documents: tuple[str, ...]
    """State documents that no workflow has adopted."""
    lost: tuple[str, ...]
    """What is said of journals that are gone: documents are not adopted before a person decided about them."""
    starts: tuple[str, ...]
    """Files that a workflow can start from."""
    tasks: tuple[str, ...]
    """Those of them that are task documents."""
    workflows: int
    is_prepared: bool
    """Whether `.holdfast` is there, and git ignores what is private in it."""


def survey(wired: Wired, on_path: Callable[[str], object]) -> Survey:
    """Changes nothing."""
    place = wired.place
    tool = tooling.commands(place.root, place.worktree).get("test")
    here = installation.present(setting(wired.settings, PROJECT, place.worktree, place.root), on_path)
    hosts = [_host(wired, name) for name in installation.HOSTS]
    tasks = tuple(_tasks(place.worktree))
    return Survey(
        root=place.root,
        is_git=place.repository is not None,
        test=" ".join(tool.run) if tool else "",
        source=tool.source if tool else "",
        hosts=tuple(one for one in hosts if one.name in here or one.scopes),
        documents=tuple(one.path for one in orphaned(wired)),
        lost=tuple(told_gone(wired)),
        starts=(*_starts(place.worktree), *tasks),
        tasks=tasks,
        workflows=len(wired.store.entries()) if os.path.isdir(place.home) else 0,
        is_prepared=_is_prepared(wired),
    )


def _host(wired: Wired, name: str) -> Host:
    """A host with what is in its files, of the project and of the person."""
    scopes, wrong = list[str](), None
    for scope in SCOPES if wired.settings.home else (PROJECT,):
        try:
            if installation.is_there(name, setting(wired.settings, scope, wired.place.worktree, wired.place.root)):
                scopes.append(scope)
        except HoldfastError as failure:
            wrong = failure if scope == PROJECT else wrong
    return Host(name, tuple(scopes), wrong)


def _starts(worktree: str) -> list[str]:
    from glob import glob

    return sorted(name for pattern in STARTS for name in glob(pattern, root_dir=worktree))


def _tasks(worktree: str) -> Iterator[str]:
    """The markdown files that are task documents beyond doubt: they can be read as they are."""
    from glob import glob

    names = sorted(name for pattern in NOTES for name in glob(pattern, root_dir=worktree))
    for name in names[:MOST]:
        try:
            if any(subject(card.name).understood(os.path.join(worktree, name), name, True) for card in systems()):
                yield name
        except HoldfastError:
            continue


def _is_prepared(wired: Wired) -> bool:
    repository = wired.place.repository
    if not os.path.isdir(wired.place.home):
        return False
    return repository is None or not exclude.absent(repository, unversioned.lines(wired.place, repository, ()))
