"""Where a host is to be set up: for one project or for a person, and what it is to run."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core.value import Value
from holdfast.hosts.installing import lines
from holdfast.hosts.installing.parts import Part
from holdfast.machine.settings import Settings

PROJECT, USER = "project", "user"
SCOPES = (PROJECT, USER)


class Setting(Value):
    """`base` is the project's folder, or the person's. A person's lines name the interpreter of this installation, and
    those of a project, which others may share, programs on the path.
    """

    scope: str
    base: str
    claude: str
    """Claude Code's own folder of the person."""
    opencode: str
    codex: str
    folders: Mapping[str, str] = {}
    """Those of the other hosts, by name."""
    home: str = ""
    root: str = ""
    """The project whose own texts take the place of shipped ones; empty for a person."""
    team: bool = True
    """Whether the agents of the team are part of it."""
    hook: tuple[str, ...] = ()
    status: tuple[str, ...] = ()
    server: tuple[str, ...] = ()

    @property
    def is_user(self) -> bool:
        return self.scope == USER

    @property
    def hook_line(self) -> str:
        return lines.line_of(self.hook)


class File(Value):
    """A file of a host and what goes into it."""

    path: str
    parts: tuple[Part, ...]
    mode: int = 0
    """Of a new one; 0 for the usual one of this person."""

    @property
    def nothing(self) -> str:
        return self.parts[0].nothing


def setting(settings: Settings, scope: str, worktree: str, root: str = "", *, team: bool = True) -> Setting:
    shared = scope == PROJECT
    return Setting(
        scope=scope,
        base=settings.home if scope == USER else worktree,
        home=settings.home,
        root="" if scope == USER else root,
        team=team,
        claude=settings.claude_dir,
        opencode=os.path.join(settings.config_dir, "opencode"),
        codex=settings.codex_dir,
        folders=settings.host_dirs,
        hook=tuple(lines.hook_words(shared=shared)),
        status=tuple(lines.status_words(shared=shared)),
        server=tuple(lines.server_words(shared=shared)),
    )
