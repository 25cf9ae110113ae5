"""Files that a call must leave alone: Holdfast's own, a person's settings, and what another agent has locked."""

from __future__ import annotations

from holdfast.surfaces.hooks import patterns, places, writes
from holdfast.surfaces.hooks.calls import clean, rows, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.surfaces.hooks.calls import Call
    from holdfast.surfaces.hooks.writes import Target

_MOST_FOLDERS = 200
_USERS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("XDG_CONFIG_HOME", ".config", ("holdfast", "opencode/plugins/holdfast.js")),
    ("XDG_DATA_HOME", ".local/share", ("holdfast",)),
    ("CLAUDE_CONFIG_DIR", ".claude", ("settings.json", "settings.local.json", "plugins")),
    ("CODEX_HOME", ".codex", ("hooks.json", "config.toml")),
    ("COPILOT_HOME", ".copilot", ("hooks", "settings.json", "config.json", "mcp-config.json")),
    ("QWEN_HOME", ".qwen", ("settings.json",)),
    ("CLINE_DIR", ".cline", ("hooks", "data/settings")),
    ("CONTINUE_GLOBAL_DIR", ".continue", ("settings.json",)),
    ("GEMINI_CLI_HOME", "", (".gemini/settings.json",)),
    ("", "", (".cursor/hooks.json", "Documents/Cline/Hooks")),
)
"""What a person trusts and configures, and by what hosts call the hooks: a variable, a default, what is there."""
_PROJECTS = (
    *(".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json", ".codex/config.toml"),
    ".opencode/plugins/holdfast.js",
    *(".gemini/settings.json", ".qwen/settings.json", ".cursor/hooks.json", ".clinerules/hooks", ".cline/hooks"),
    *(".github/hooks", ".github/copilot/settings.json", ".github/copilot/settings.local.json"),
    *(".continue/settings.json", ".continue/settings.local.json"),
)


_RECORDS = ".git/holdfast-lines-"
_TEAM = tuple(
    f"{folder}/agents/*-{role}.{ending}"
    for folder, ending in ((".claude", "md"), (".opencode", "md"), (".codex", "toml"))
    for role in ("creator", "reviewer")
)
"""What the agents of a team are told and may do, as it was installed."""


def settings(call: Call) -> str:
    """Why a call must not write what a person set: an agent could take away what restricts it. Empty when it may."""
    if not call.targets:
        return ""
    home = writes.variable("HOME")
    bases = [
        ((name and writes.variable(name)) or f"{home}/{usual}".rstrip("/"), inside) for name, usual, inside in _USERS
    ]
    bases += [(base, _PROJECTS) for base in {call.root, call.worktree} if base]
    for base, inside in ((base, inside) for base, inside in bases if base.startswith("/")):
        for spelled in {base, places.real(base)}:
            for target in call.targets:
                reach = _Reach(target, spelled)
                if any(reach.meets(path) for path in inside) or (
                    inside is _PROJECTS and any(reach.meets_named(path) for path in _TEAM)
                ):
                    return (
                        f"{clean(target.shown)} would change settings that are a person's: Holdfast's own, or those by"
                        " which an agent host calls it. Ask the person to make the change, and wait for the answer."
                    )
    return ""


def protected(call: Call, workflows: list[dict[str, Any]], root: str) -> str:
    """Why a call must not write what it is about to, by what one project knows; empty when it may."""
    for target in call.targets:
        reaches: dict[str, _Reach] = {}
        shown = clean(target.shown)
        if root and (_reach(reaches, target, root).meets(".holdfast") or reaches[root].meets_records()):
            where = ".holdfast" if reaches[root].meets(".holdfast") else f"{_RECORDS}…"
            return (
                f"{shown} would change {where}, where Holdfast keeps its records. Use the holdfast commands"
                " (holdfast next says which); definitions and configuration are a person's: ask them to edit those."
            )
        for workflow in workflows:
            base = text(workflow, "worktree") or root
            if not base:
                continue
            reach = _reach(reaches, target, base)
            if any(reach.meets(path) for path in texts(workflow, "paths")):
                name = clean(text(workflow, "id"))
                return (
                    f"{shown} is written by Holdfast for {name} and not by hand. Report progress with holdfast begin,"
                    f" holdfast done and their like; holdfast next -w {name} says what comes now."
                )
            unread = _unread(call, reach, workflow)
            if unread:
                return unread
            held = _held(call, reach, workflow)
            if held:
                return f"{shown} may change any file here, and {held}" if target.takes == "tracked" else held
    return ""


def _unread(call: Call, reach: _Reach, workflow: dict[str, Any]) -> str:
    """Where a session has to catch up before it writes, that goes for the document too."""
    ack = workflow.get("ack")
    if not isinstance(ack, dict) or call.session in texts(ack, "sessions") or not reach.meets(text(ack, "document")):
        return ""
    name = clean(text(workflow, "id"))
    return (
        f"This session has not read the resume packet of {name}, so it may not change its document yet. Read it:"
        f" holdfast resume-packet -w {name}, then: holdfast ack ID -w {name}"
    )


def other_roots(call: Call) -> list[str]:
    """Projects that the call does not belong to, and writes into all the same."""
    folders: dict[str, None] = {}
    for target in call.targets:
        for spot in target.spots:
            if len(folders) < _MOST_FOLDERS:
                folders[spot if target.takes != "file" else spot.rpartition("/")[0] or "/"] = None
    found = dict.fromkeys(places.find(folder)[0] for folder in folders)
    return [root for root in found if root and root != call.root]


class _Reach:
    """What a target touches below a folder, made once so that a thousand paths can be held against it."""

    def __init__(self, target: Target, base: str) -> None:
        self.whole, self.tracked = target.takes == "folder", target.takes == "tracked"
        self.all = False
        self.names: list[str] = []
        self.above: set[str] = set()
        self.patterns: list[list[str]] = []
        for spot in target.spots:
            if spot == base or (base.startswith(spot.rstrip("/") + "/") and self._is_one_tree(spot, base)):
                self.all = True
            inside = places.below(base, spot)
            if inside:
                self.names.append(inside)
                parts = inside.split("/")
                self.above.update("/".join(parts[:end]) for end in range(1, len(parts) + 1))
                if any(c in inside for c in "*?["):
                    self.patterns.append(parts)
        self.inside = tuple(name + "/" for name in self.names)

    def _is_one_tree(self, spot: str, base: str) -> bool:
        """Git leaves alone what is below a folder and belongs to another worktree."""
        return not self.tracked or places.top(spot) == places.top(base)

    def meets(self, path: str) -> bool:
        """Whether the target is this path, is below it, or takes it away with the folder it is in."""
        return self._meets(path, self.whole)

    def meets_records(self) -> bool:
        """Whether it touches what git's own folder keeps of the journals."""
        parts = _RECORDS.split("/")
        named = any(name.startswith(_RECORDS) or (self.whole and name == parts[0]) for name in self.names)
        return named or any(patterns.expands(one, parts, True) for one in self.patterns)

    def meets_named(self, pattern: str) -> bool:
        """The same for every path that a pattern describes."""
        return self.meets(pattern) or any(patterns.matches(pattern, name) for name in self.names)

    def meets_locked(self, path: str) -> bool:
        """The same for a locked file, which git may well have tracked."""
        if self._meets(path, self.whole or self.tracked):
            return True
        if self.tracked and any(patterns.matches("/".join(parts), path) for parts in self.patterns):
            return True  # a pattern of git's goes down into folders
        return ("*" in path or "?" in path) and any(patterns.matches(path, name) for name in self.names)

    def _meets(self, path: str, whole: bool) -> bool:
        if (whole and self.all) or path in self.above or (whole and self.inside and path.startswith(self.inside)):
            return True
        return any(patterns.expands(parts, path.split("/"), whole) for parts in self.patterns)


def _reach(known: dict[str, _Reach], target: Target, base: str) -> _Reach:
    if base not in known:
        known[base] = _Reach(target, base)
    return known[base]


def _held(call: Call, reach: _Reach, workflow: dict[str, Any]) -> str:
    """Why another agent's lock forbids it; empty when none does."""
    if not reach.names and not reach.all:
        return ""
    for lock in rows(workflow, "locks"):
        path = lock.get("path")
        if not isinstance(path, str) or not path or not reach.meets_locked(path.rstrip("/")):
            continue
        agent, session = text(lock, "agent"), text(lock, "session")
        if session == call.session and not (agent and call.agent and agent != call.agent):
            continue
        if not _has_expired(lock):
            holder = clean(agent or "another agent") + (f" (session {clean(session)})" if session else "")
            typed = f"'{clean(path)}'" if any(mark in path for mark in "*? ") else clean(path)
            return (
                f"{clean(path)} is locked by {holder}. Pick another file or wait until the lock is given back;"
                f" its holder does that with: holdfast unlock {typed}"
            )
    return ""


def _has_expired(lock: dict[str, Any]) -> bool:
    """A deadline counts the seconds of one boot, so after another one nobody holds the lock any more."""
    from holdfast.files import system

    deadline = lock.get("deadline")
    if not isinstance(deadline, int | float) or system.here.uptime() > deadline:
        return True
    return system.here.boot() != text(lock, "boot").strip()
