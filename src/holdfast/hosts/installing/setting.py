"""Where a host is to be set up: for one project or for a person, and what it is to run."""

from __future__ import annotations

import os
import shlex

from holdfast.core.value import Value
from holdfast.hosts.installing import lines
from holdfast.hosts.installing.parts import Part
from holdfast.machine.settings import Settings

PROJECT, USER = "project", "user"
SCOPES = (PROJECT, USER)


class Setting(Value):
    """`base` is the project's folder, or the person's. Lines are those of this installation."""

    scope: str
    base: str
    claude: str
    """Claude Code's own folder of the person."""
    opencode: str
    codex: str
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
        return shlex.join(self.hook)


class File(Value):
    """A file of a host and what goes into it."""

    path: str
    parts: tuple[Part, ...]

    @property
    def nothing(self) -> str:
        return self.parts[0].nothing


def setting(settings: Settings, scope: str, worktree: str, root: str = "", *, team: bool = True) -> Setting:
    return Setting(
        scope=scope,
        base=settings.home if scope == USER else worktree,
        home=settings.home,
        root="" if scope == USER else root,
        team=team,
        claude=settings.claude_dir,
        opencode=os.path.join(settings.config_dir, "opencode"),
        codex=settings.codex_dir,
        hook=tuple(lines.hook_words()),
        status=tuple(lines.status_words()),
        server=tuple(lines.server_words()),
    )
