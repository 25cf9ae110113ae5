"""Hosts that are set up by files alone: where each keeps them, and in which form. One card for each host."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping

from holdfast.core.value import Any, Value
from holdfast.hosts.installing import texts
from holdfast.hosts.installing.host import Host
from holdfast.hosts.installing.paragraph import Paragraph
from holdfast.hosts.installing.parts import MARK, Entry, FlatHooks, Hooks, OwnEntry, Part, Plugin, Whole
from holdfast.hosts.installing.setting import File, Setting

_WRITING = "[Ss]hell|[Bb]ash|[Ww]rite|[Ee]dit|[Cc]reate|[Pp]atch|[Rr]eplace|[Dd]elete|[Mm]ove|[Rr]ename"
"""Tools after which a hook is run: a call that can write no file is noted by nobody."""
_AGENTS = ("SubagentStart", "SubagentStop")
CLAUDE_LIKE = {
    **dict.fromkeys(("SessionStart", "UserPromptSubmit", "PreToolUse"), ""),
    "PostToolUse": _WRITING,
    **dict.fromkeys((*_AGENTS, "PreCompact", "Stop", "SessionEnd"), ""),
}


def _toml(_: str, text: str) -> str:
    """A command in TOML, whose literal strings hold all but three single quotes in a row."""
    head, body = texts.split(text)
    return f"# {MARK}\ndescription = {texts.quoted(head['description'])}\nprompt = '''\n{_args(body)}'''\n"


def _markdown(_: str, text: str) -> str:
    return _args(texts.without(text, "allowed-tools", "argument-hint"))


def _plain(_: str, text: str) -> str:
    """For a host that only puts what is typed behind the command: it has no front matter and no arguments."""
    return _after(texts.split(text)[1])


def _invokable(name: str, text: str) -> str:
    head, body = texts.split(text)
    return f"---\nname: {name}\ndescription: {texts.quoted(head['description'])}\ninvokable: true\n---\n{_after(body)}"


def _args(text: str) -> str:
    return text.replace("$ARGUMENTS", "{{args}}")


def _after(text: str) -> str:
    if "$ARGUMENTS" not in text:
        return text
    return f"ARGUMENTS is what was typed behind the command.\n\n{text.replace('$ARGUMENTS', 'ARGUMENTS')}"


class Place(Value):
    """A file, or a folder of them: in a project, and in the folder of a person or, with `~/`, of their home. Empty
    where the host has none."""

    project: str = ""
    user: str = ""

    def path(self, at: Setting, folder: str) -> str:
        if not at.is_user:
            return self.project and os.path.join(at.base, self.project)
        base = at.home if self.user.startswith("~/") else folder
        return self.user and os.path.join(base, self.user.removeprefix("~/"))


class Card(Value):
    name: str
    program: str
    traces: tuple[str, ...]
    """What a project has that works with it."""
    server: Place
    rules: Place
    hooks: Place = Place()
    commands: Place = Place()
    skill: Place = Place()
    events: Mapping[str, str] = {}
    """The host's names of the events, with the tools that a hook is run for."""
    hooked: Callable[[str, Mapping[str, str]], Part] | None = Hooks
    """How hooks are in their file; None where each event has a program of its own, in a folder."""
    entry: tuple[str, ...] = ("mcpServers", "holdfast")
    """Where a server is in its file."""
    served: Mapping[str, Any] = {}
    """What a server has beside the command."""
    comments: bool = False
    """Whether its settings may have comments."""
    heading: str | None = None
    """What is before the rules where they have a file of their own; None where they are a paragraph."""
    command: Callable[[str, str], str] | None = None
    """How a command is written down, by its name and text."""
    ending: str = ".md"
    asks: str = ""
    asks_in_project: str = ""


def _in_milliseconds(line: str, events: Mapping[str, str]) -> Part:
    return Hooks(line, events, second=1000, comments=True)


def _with_comments(line: str, events: Mapping[str, str]) -> Part:
    return Hooks(line, events, comments=True)


def _flat(key: str, time: str) -> Callable[[str, Mapping[str, str]], Part]:
    return lambda line, events: FlatHooks(line, events, key, time)


CARDS = (
    Card(
        "gemini",
        "gemini",
        (".gemini", "GEMINI.md"),
        server=Place(".gemini/settings.json", "settings.json"),
        rules=Place("GEMINI.md", "GEMINI.md"),
        hooks=Place(".gemini/settings.json", "settings.json"),
        commands=Place(".gemini/commands", "commands"),
        events={
            **dict.fromkeys(("SessionStart", "BeforeAgent", "BeforeTool"), ""),
            "AfterTool": _WRITING,
            **dict.fromkeys(("BeforeModel", "AfterAgent", "SessionEnd"), ""),
        },
        hooked=_in_milliseconds,
        comments=True,
        command=_toml,
        ending=".toml",
    ),
    Card(
        "qwen",
        "qwen",
        (".qwen", "QWEN.md"),
        server=Place(".qwen/settings.json", "settings.json"),
        rules=Place("QWEN.md", "QWEN.md"),
        hooks=Place(".qwen/settings.json", "settings.json"),
        commands=Place(".qwen/commands", "commands"),
        skill=Place(".qwen/skills", "skills"),
        events={**CLAUDE_LIKE, "PostCompact": ""},
        hooked=_with_comments,
        comments=True,
        command=_markdown,
    ),
    Card(
        "copilot",
        "copilot",
        (".github/copilot", ".github/hooks", ".github/copilot-instructions.md", ".github/mcp.json"),
        server=Place(".github/mcp.json", "mcp-config.json"),
        rules=Place("AGENTS.md", "copilot-instructions.md"),
        hooks=Place(".github/hooks/holdfast.json", "hooks/holdfast.json"),
        skill=Place(".github/skills", "skills"),
        events=CLAUDE_LIKE,
        hooked=_flat("bash", "timeoutSec"),
        served={"type": "local", "tools": ["*"]},
        asks="Copilot CLI loads hooks and servers of a folder only when a person trusts it: start copilot here once",
    ),
    Card(
        "cursor",
        "cursor-agent",
        (".cursor",),
        server=Place(".cursor/mcp.json", "mcp.json"),
        rules=Place(".cursor/rules/holdfast.mdc"),
        hooks=Place(".cursor/hooks.json", "hooks.json"),
        commands=Place(".cursor/commands", "commands"),
        events={
            **dict.fromkeys(("sessionStart", "beforeSubmitPrompt", "preToolUse"), ""),
            "postToolUse": _WRITING,
            **dict.fromkeys(("preCompact", "stop", "sessionEnd"), ""),
        },
        hooked=_flat("command", "timeout"),
        heading="---\ndescription: Workflows of this project\nalwaysApply: true\n---\n",
        command=_plain,
    ),
    Card(
        "cline",
        "cline",
        (".clinerules", ".cline"),
        server=Place("", "data/settings/cline_mcp_settings.json"),
        rules=Place(".clinerules/holdfast.md", "rules/holdfast.md"),
        hooks=Place(".clinerules/hooks", "hooks"),
        commands=Place(".clinerules/workflows", "workflows"),
        skill=Place(".cline/skills", "skills"),
        events=dict.fromkeys(("UserPromptSubmit", "PreToolUse", "PostToolUse", "SessionShutdown"), ""),
        hooked=None,
        served={"disabled": False},
        heading="",
        command=_plain,
        asks_in_project="Cline supports MCP servers only in user scope: holdfast install cline --scope user",
    ),
    Card(
        "amp",
        "amp",
        (".amp",),
        server=Place(".amp/settings.json", "settings.json"),
        rules=Place("AGENTS.md", "AGENTS.md"),
        skill=Place(".agents/skills", "skills"),
        entry=("amp.mcpServers", "holdfast"),
        comments=True,
    ),
    Card(
        "continue",
        "cn",
        (".continue",),
        server=Place(".continue/mcpServers/holdfast.json", "mcpServers/holdfast.json"),
        rules=Place(".continue/rules/holdfast.md", "rules/holdfast.md"),
        hooks=Place(".continue/settings.json", "settings.json"),
        commands=Place(".continue/prompts", "prompts"),
        events=CLAUDE_LIKE,
        heading="---\nname: Workflows\nalwaysApply: true\n---\n",
        command=_invokable,
    ),
)


def files(card: Card, at: Setting) -> list[File]:
    """The files of a host. One that has several parts is named once."""
    folder, parts = _folder(card, at), dict[str, list[Part]]()
    if path := card.hooks.path(at, folder):
        for inner, part in _hooks(card, at):
            parts.setdefault(os.path.join(path, inner) if inner else path, []).append(part)
    if path := card.server.path(at, folder):
        entry = OwnEntry if os.path.basename(path).startswith("holdfast.") else Entry
        server = {"command": at.server[0], "args": list(at.server[1:]), **card.served}
        parts.setdefault(path, []).append(entry("MCP server", card.entry, server, comments=card.comments))
    if path := card.rules.path(at, folder):
        parts.setdefault(path, []).append(_rules(card))
    written = card.command
    if written and (path := card.commands.path(at, folder)):
        for name, text in texts.commands().items():
            parts[os.path.join(path, f"{name}{card.ending}")] = [Whole(f"command /{name}", written(name, text))]
    if path := card.skill.path(at, folder):
        parts[os.path.join(path, texts.SKILL, "SKILL.md")] = [Whole(f"skill {texts.SKILL}", texts.skill())]
    return [File(path, tuple(held), 0o755 if _is_script(held) else 0) for path, held in parts.items()]


def traces(card: Card, at: Setting) -> list[str]:
    return [_folder(card, at)] if at.is_user else [os.path.join(at.base, name) for name in card.traces]


def _hooks(card: Card, at: Setting) -> list[tuple[str, Part]]:
    """What runs the hook: lines in a file, or where the host has a folder of programs, one for each event."""
    if card.hooked:
        return [("", card.hooked(at.hook_line, card.events))]
    script = f"#!/bin/sh\n# {MARK}\n{at.hook_line}\n"
    return [(event, Plugin(script, at.hook_line, "hooks")) for event in card.events]


def _folder(card: Card, at: Setting) -> str:
    return at.folders.get(card.name) or os.path.join(at.home, f".{card.name}")


def _is_script(parts: list[Part]) -> bool:
    return any(isinstance(part, Plugin) for part in parts)


def _rules(card: Card) -> Part:
    if card.heading is None:
        return Paragraph(texts.paragraph())
    return Whole("rules", f"{card.heading}{texts.paragraph().strip()}\n\n<!-- {MARK} -->\n")


def _host(card: Card) -> Host:
    return Host(
        card.name,
        card.program,
        lambda at: files(card, at),
        lambda at: traces(card, at),
        card.asks,
        card.asks_in_project,
    )


HOSTS = [_host(card) for card in CARDS]
