"""Hosts that are set up by files alone. Those that need a login are held against what their documentation asks for."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from holdfast.hosts.installing import cards, texts
from holdfast.surfaces.hooks import foreign, quick
from tests.hosts.installing.conftest import SERVER

BY_NAME = {card.name: card for card in cards.CARDS}
STARTED = {"command": SERVER[0], "args": list(SERVER[1:])}


@pytest.mark.parametrize("name", [card.name for card in cards.CARDS if card.events and card.name != "cline"])
def test_every_event_that_is_asked_for_is_one_that_the_hook_knows(name):
    assert set(BY_NAME[name].events) <= {*quick.REACTIONS, *foreign.GEMINI, *foreign.CURSOR}


def test_gemini_counts_in_milliseconds_and_has_commands_in_toml(room):
    room.install("gemini")
    settings = room.json(".gemini/settings.json")
    hooks = {event: groups[0]["hooks"][0] for event, groups in settings["hooks"].items()}
    assert {event: hook["timeout"] for event, hook in hooks.items() if event != "SessionEnd"} == dict.fromkeys(
        set(hooks) - {"SessionEnd"}, 10_000
    )
    assert hooks["SessionEnd"]["timeout"] == 3_000
    assert settings["mcpServers"]["holdfast"] == STARTED
    for path in (room.root / ".gemini/commands").iterdir():
        command = tomllib.loads(path.read_text())
        assert command["description"]
        assert "$ARGUMENTS" not in command["prompt"]
    assert "{{args}}" in tomllib.loads((room.root / ".gemini/commands/dev.toml").read_text())["prompt"]


def test_gemini_is_not_asked_before_a_compression_which_it_announces_with_every_request():
    assert "PreCompress" not in BY_NAME["gemini"].events


def test_copilot_gets_a_file_of_hooks_and_a_server_with_all_its_tools(room):
    room.install("copilot")
    hooks = room.json(".github/hooks/holdfast.json")
    assert hooks["version"] == 1
    line = room.setting().hook_line
    assert hooks["hooks"]["PreToolUse"] == [{"type": "command", "bash": line, "timeoutSec": 10}]
    assert room.json(".github/mcp.json")["mcpServers"]["holdfast"] == {**STARTED, "type": "local", "tools": ["*"]}


def test_cursor_gets_hooks_a_server_a_rule_that_always_applies_and_commands_without_front_matter(room):
    room.install("cursor")
    hooks = room.json(".cursor/hooks.json")
    assert hooks["version"] == 1
    assert [one["command"] for one in hooks["hooks"]["preToolUse"]] == [room.setting().hook_line]
    assert room.json(".cursor/mcp.json")["mcpServers"]["holdfast"] == STARTED
    assert "\nalwaysApply: true\n---\n" in (room.root / ".cursor/rules/holdfast.mdc").read_text()
    for path in (room.root / ".cursor/commands").iterdir():
        assert not path.read_text().startswith("---")
        assert "$ARGUMENTS" not in path.read_text()


def test_cline_gets_a_program_for_each_event_that_answers_by_itself(room):
    plan = room.install("cline")
    assert any("--scope user" in said for said in plan.said)
    script = room.root / ".clinerules/hooks/PreToolUse"
    assert script.stat().st_mode & stat.S_IXUSR
    assert f"\n{room.setting().hook_line}\n" in script.read_text()
    (room.root / ".holdfast").mkdir()
    call = {"name": "write_to_file", "input": {"path": ".holdfast/index"}}
    event = {"hookName": "tool_call", "taskId": "t", "workspaceRoots": [str(room.root)], "tool_call": call}
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    done = subprocess.run([script], input=json.dumps(event), capture_output=True, text=True, check=True, env=env)
    assert json.loads(done.stdout)["cancel"] is True
    assert (room.root / ".clinerules/holdfast.md").read_text().startswith("## Workflows")
    assert {path.stem for path in (room.root / ".clinerules/workflows").iterdir()} == set(texts.commands())
    room.install("cline", "user")
    servers = json.loads((room.home / ".cline/data/settings/cline_mcp_settings.json").read_text())["mcpServers"]
    assert servers["holdfast"] == {**STARTED, "disabled": False}


def test_amp_gets_a_server_under_its_own_key_a_paragraph_and_a_skill(room):
    room.install("amp")
    assert room.json(".amp/settings.json") == {"amp.mcpServers": {"holdfast": STARTED}}
    assert "This project uses Holdfast" in (room.root / "AGENTS.md").read_text()
    assert (room.root / ".agents/skills/workflow-state/SKILL.md").exists()
    room.install("amp", "user")
    assert (Path(os.environ["XDG_CONFIG_HOME"]) / "amp/settings.json").exists()


def test_continue_gets_hooks_as_claude_code_has_them_and_blocks_of_its_own(room):
    room.install("continue")
    hooks = room.json(".continue/settings.json")["hooks"]
    assert hooks["PreToolUse"][0]["hooks"][0]["command"] == room.setting().hook_line
    assert room.json(".continue/mcpServers/holdfast.json") == {"mcpServers": {"holdfast": STARTED}}
    assert "\ninvokable: true\n---\n" in (room.root / ".continue/prompts/dev.md").read_text()
    assert "\nalwaysApply: true\n---\n" in (room.root / ".continue/rules/holdfast.md").read_text()


def test_a_person_s_folders_are_where_the_variables_of_the_hosts_say(room, monkeypatch, tmp_path):
    said = {"qwen": "QWEN_HOME", "copilot": "COPILOT_HOME", "cline": "CLINE_DIR", "continue": "CONTINUE_GLOBAL_DIR"}
    for host, variable in said.items():
        monkeypatch.setenv(variable, str(tmp_path / host))
        room.install(host, "user")
        assert any((tmp_path / host).iterdir())
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path))
    room.install("gemini", "user")
    assert (tmp_path / ".gemini/settings.json").exists()


def test_what_cline_cannot_do_for_a_project_is_said_there_and_not_where_it_was_done(room):
    assert room.install("cline").said == (
        "Cline supports MCP servers only in user scope: holdfast install cline --scope user",
    )
    assert room.install("cline", "user").said == ()
