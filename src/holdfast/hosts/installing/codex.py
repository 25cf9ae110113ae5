"""Codex: hooks and agents in files of their own, the MCP server in its configuration, a paragraph in AGENTS.md."""

from __future__ import annotations

import os

from holdfast.hosts.installing import claude_code, team, texts
from holdfast.hosts.installing.host import Host
from holdfast.hosts.installing.paragraph import Paragraph
from holdfast.hosts.installing.parts import Hooks, Table
from holdfast.hosts.installing.setting import File, Setting

NAME = "codex"
EVENTS = dict.fromkeys(claude_code.EVENTS, "")
ASKS = "Codex ignores new hooks silently until a person trusts them: start codex here and look at /hooks"


def files(at: Setting) -> list[File]:
    folder = at.codex if at.is_user else os.path.join(at.base, ".codex")
    found = [File(os.path.join(folder, "hooks.json"), (Hooks(at.hook_line, EVENTS),))]
    server: dict[str, str | list[str]] = {"command": at.server[0], "args": list(at.server[1:])}
    table = Table(("mcp_servers", "holdfast"), server)
    found.append(File(os.path.join(folder, "config.toml"), (table,)))
    agents = os.path.join(folder if at.is_user else at.base, "AGENTS.md")
    found.append(File(agents, (Paragraph(texts.paragraph()),)))
    skills = os.path.join(at.home if at.is_user else at.base, ".agents")
    return [*found, *team.agents(at, folder, NAME), *team.skills(at, skills)]


def traces(at: Setting) -> list[str]:
    return [at.codex] if at.is_user else [os.path.join(at.base, ".codex")]


HOST = Host(NAME, NAME, files, traces, ASKS)
