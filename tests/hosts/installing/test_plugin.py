"""The plugin of Claude Code in this repository has the same texts and events as what `holdfast install` puts in."""

from __future__ import annotations

import json
import re
from pathlib import Path

import holdfast
from holdfast.hosts.installing import claude_code, codex, lines, texts
from holdfast.surfaces.cli.table import COMMANDS

ROOT = Path(__file__).resolve().parents[3]
PLUGIN = ROOT / "plugin"
NAMES = {
    *("dev", "tdd", "workflow", "workflow-start", "workflow-continue", "workflow-status", "workflow-list"),
    *("workflow-approve", "workflow-reset", "workflow-cancel", "workflow-finalize"),
    *("resume-workflow", "plan-scene", "generate-scene"),
}


ANEW = ".venv/bin/python tools/plugin-texts"


def test_the_commands_are_those_that_people_know_and_the_same_everywhere():
    assert set(texts.commands()) == NAMES
    there = {path.stem: path.read_text() for path in (PLUGIN / "commands").iterdir()}
    assert there == texts.commands(), ANEW
    assert (PLUGIN / "skills" / texts.SKILL / "SKILL.md").read_text() == texts.skill()


def typed(text: str) -> list[str]:
    """The commands of Holdfast that a text names, each of which exists with all its options and words."""
    found = []
    for line in re.findall(r"`holdfast ([^`]*)`", " ".join(text.split())):
        words = re.sub(r'"[^"]*"', "WORD", line).split()
        name = next(name for many in (2, 1) if (name := " ".join(words[:many])) in COMMANDS)
        command = COMMANDS[name]
        flags = {flag: option for option in command.options for flag in option.flags.split() if option.is_flag}
        common = {"-w": True} if "w" in command.takes else {}
        rest, free = iter(words[len(name.split()) :]), 0
        for word in rest:
            if word.startswith("-"):
                assert word in flags or word in common, (line, word)
                if word in common or flags[word].type:
                    assert next(rest, ""), (line, word)
            else:
                free += 1
        assert free <= sum(not option.is_flag for option in command.options), line
        found.append(name)
    return found


def test_a_command_is_short_and_what_it_says_to_type_exists():
    for name, text in {**texts.commands(), "skill": texts.skill(), "paragraph": texts.paragraph()}.items():
        assert len(text.splitlines()) <= 25, name
        assert typed(text), name


def test_hooks_and_server_are_those_of_an_installation_on_any_machine():
    hooks = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    assert {event: groups[0].get("matcher", "") for event, groups in hooks.items()} == claude_code.EVENTS
    assert {hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"]} == {
        lines.line_of([lines.LAUNCHER])
    }
    server = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["holdfast"]
    assert [server["command"], *server["args"]] == ["holdfast", "mcp"]


def test_the_marketplace_leads_to_the_plugin_and_versions_agree():
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    (entry,) = market["plugins"]
    manifest = json.loads((ROOT / entry["source"] / ".claude-plugin" / "plugin.json").read_text())
    assert (manifest["name"], manifest["version"]) == (entry["name"], holdfast.__version__)


def test_codex_has_only_events_that_there_are():
    assert set(codex.EVENTS) <= set(claude_code.EVENTS)
