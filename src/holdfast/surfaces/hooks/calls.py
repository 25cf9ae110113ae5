"""One call of a tool as a host announces it, and reading what others wrote without trusting its shape."""

from __future__ import annotations

from holdfast.surfaces.hooks import writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Iterator
    from typing import Any

    from holdfast.surfaces.hooks.shell import Command

_SHOWN = 200


class Call:
    """Who makes it, which commands it runs and which files it writes."""

    def __init__(self, event: dict[str, Any], root: str, worktree: str) -> None:
        said = event.get("tool_input")
        given = said if isinstance(said, dict) else {}
        self.tool, self.root, self.worktree = text(event, "tool_name"), root, worktree
        self.session, self.agent = text(event, "session_id"), text(event, "agent_type")
        self.given = given
        self.is_shell = self.tool.lower() in writes.SHELLS
        self.line = ""
        self.commands: list[Command] = []
        self.risked: set[str] = set()
        """Folders in worktrees where git may throw away what is committed nowhere."""
        self.drops_stashes = False
        cwd = text(event, "cwd")
        folder = cwd if cwd.startswith("/") else worktree or root or "/"
        if self.is_shell:
            from holdfast.surfaces.hooks import shell

            line = writes.line_of(given)
            self.commands = shell.commands(line)
            self.line = line[: shell.LONGEST] if isinstance(line, str) else " ".join(line)[: shell.LONGEST]
            found = writes.by_shell(self.commands, writes.folder_of(given, folder))
            self.targets = [target for target in found if target.takes not in ("kept", "stashed")]
            self.risked = {target.by_git for target in found if target.by_git}
            self.drops_stashes = any(target.takes == "stashed" for target in found)
        else:
            self.targets = [writes.Target(name, folder, takes) for name, takes in writes.edited(self.tool, given)]


def clean(said: str) -> str:
    """The beginning of a text, without what a terminal would obey."""
    return "".join(c for c in said[:_SHOWN] if c.isprintable())


def text(value: dict[str, Any], key: str) -> str:
    found = value.get(key)
    return found if isinstance(found, str) else ""


def texts(value: dict[str, Any], key: str) -> list[str]:
    found = value.get(key)
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []


def rows(value: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    found = value.get(key)
    if isinstance(found, list):
        for item in found:
            if isinstance(item, dict):
                yield item


def begun(event: dict[str, Any]) -> float:
    """When a call that is over began, in seconds since 1970, at the latest; where the host does not say how long it
    took, ten seconds ago."""
    from time import CLOCK_REALTIME, clock_gettime

    said = event.get("duration_ms")
    took = said / 1000 if isinstance(said, int | float) and 0 <= said < 1e9 else 10
    return clock_gettime(CLOCK_REALTIME) - took - 2
