"""opencode: a plugin that hands its events to the hook, the MCP server, commands and a skill."""

from __future__ import annotations

import os

from holdfast.hosts.installing import texts
from holdfast.hosts.installing.parts import Entry, Plugin, Whole
from holdfast.hosts.installing.setting import File, Setting

NAME = PROGRAM = "opencode"
ASKS = ""
_CONFIGS = ("opencode.jsonc", "opencode.json")


def files(at: Setting) -> list[File]:
    folder = at.opencode if at.is_user else os.path.join(at.base, ".opencode")
    server = {"type": "local", "command": list(at.server), "enabled": True}
    entry = Entry("MCP server", ("mcp", "holdfast"), server, comments=True)
    found = [File(_config(at), (entry,), is_server=True)]
    plugin = Plugin(texts.plugin(list(at.hook)), at.hook_line)
    found.append(File(os.path.join(folder, "plugins", "holdfast.js"), (plugin,)))
    for name, text in texts.commands().items():
        own = Whole(f"command /{name}", texts.without(text, "allowed-tools", "argument-hint"))
        found.append(File(os.path.join(folder, "commands", f"{name}.md"), (own,)))
    skill = os.path.join(folder, "skills", texts.SKILL, "SKILL.md")
    return [*found, File(skill, (Whole(f"skill {texts.SKILL}", texts.skill()),))]


def own_folder(at: Setting) -> str:
    """The person's, for all their projects."""
    return at.opencode


def traces(at: Setting) -> list[str]:
    if at.is_user:
        return [at.opencode]
    return [os.path.join(at.base, name) for name in (".opencode", *_CONFIGS)]


def _config(at: Setting) -> str:
    """The file that is there: comments may be in either."""
    folder = at.opencode if at.is_user else at.base
    paths = [os.path.join(folder, name) for name in _CONFIGS]
    return next((path for path in paths if os.path.lexists(path)), paths[-1])
