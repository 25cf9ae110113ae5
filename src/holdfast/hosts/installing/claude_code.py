"""Claude Code: hooks and the status line in its settings, the MCP server where it looks for servers, commands."""

from __future__ import annotations

import os
import shlex

from holdfast.hosts.installing import team, texts
from holdfast.hosts.installing.host import Host
from holdfast.hosts.installing.parts import Entry, Hooks, Part, StatusLine, Whole
from holdfast.hosts.installing.setting import File, Setting

NAME = "claude-code"
EVENTS = {
    **dict.fromkeys(("SessionStart", "UserPromptSubmit"), ""),
    "PreToolUse": "*",
    "PostToolUse": "Bash|[Ww]rite|[Ee]dit|[Cc]reate|[Pp]atch|[Rr]eplace|[Dd]elete|[Mm]ove|[Rr]ename",
    **dict.fromkeys(("SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Stop", "SessionEnd"), ""),
}
"""Every event that a hook answers, with the tools it is run for: a call that can write no file is noted by nobody."""


def files(at: Setting) -> list[File]:
    folder = at.claude if at.is_user else os.path.join(at.base, ".claude")
    settings: tuple[Part, ...] = (Hooks(at.hook_line, EVENTS), StatusLine(shlex.join(at.status)))
    found = [File(os.path.join(folder, "settings.json"), settings)]
    server = {"type": "stdio", "command": at.server[0], "args": list(at.server[1:]), "alwaysLoad": True}
    entry = Entry("MCP server", ("mcpServers", "holdfast"), server)
    found.append(File(_servers(at), (entry,)))
    return [*found, *prompts(folder), *team.agents(at, folder, NAME), *team.skills(at, folder)]


def prompts(folder: str, *unknown: str) -> list[File]:
    """The commands and the skill, which opencode keeps in the same way, but with keys `unknown` to it."""
    found = []
    for name, text in texts.commands().items():
        command = Whole(f"command /{name}", texts.without(text, *unknown))
        found.append(File(os.path.join(folder, "commands", f"{name}.md"), (command,)))
    skill = os.path.join(folder, "skills", texts.SKILL, "SKILL.md")
    return [*found, File(skill, (Whole(f"skill {texts.SKILL}", texts.skill()),))]


def traces(at: Setting) -> list[str]:
    """What a person or project has that works with it: of a person, the folder that the host keeps for them."""
    return [at.claude] if at.is_user else [os.path.join(at.base, name) for name in (".claude", ".mcp.json")]


def _servers(at: Setting) -> str:
    if not at.is_user:
        return os.path.join(at.base, ".mcp.json")
    own = os.path.join(at.home, ".claude")
    return os.path.join(at.home if at.claude == own else at.claude, ".claude.json")


HOST = Host(NAME, "claude", files, traces)
