"""opencode: a plugin that hands its events to the hook, the MCP server, commands and a skill."""

from __future__ import annotations

import os

from holdfast.hosts.installing import claude_code, team, texts
from holdfast.hosts.installing.host import Host
from holdfast.hosts.installing.parts import Entry, Plugin
from holdfast.hosts.installing.setting import File, Setting

NAME = "opencode"
_CONFIGS = ("opencode.jsonc", "opencode.json")


def files(at: Setting) -> list[File]:
    folder = at.opencode if at.is_user else os.path.join(at.base, ".opencode")
    server = {"type": "local", "command": list(at.server), "enabled": True}
    entry = Entry("MCP server", ("mcp", "holdfast"), server, comments=True)
    found = [File(_config(at), (entry,))]
    plugin = Plugin(texts.plugin(list(at.hook)), at.hook_line)
    found.append(File(os.path.join(folder, "plugins", "holdfast.js"), (plugin,)))
    prompts = claude_code.prompts(folder, "allowed-tools", "argument-hint")
    return [*found, *prompts, *team.agents(at, folder, NAME), *team.skills(at, folder)]


def traces(at: Setting) -> list[str]:
    if at.is_user:
        return [at.opencode]
    return [os.path.join(at.base, name) for name in (".opencode", *_CONFIGS)]


def _config(at: Setting) -> str:
    """The file that is there: comments may be in either."""
    folder = at.opencode if at.is_user else at.base
    paths = [os.path.join(folder, name) for name in _CONFIGS]
    return next((path for path in paths if os.path.lexists(path)), paths[-1])


HOST = Host(NAME, NAME, files, traces)
