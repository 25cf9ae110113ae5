"""A server that an agent starts in its shell would take the agent's answers for a person's."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    "line",
    [
        "holdfast mcp",
        "echo '{}' | holdfast mcp --root .",
        "python -m holdfast mcp --http --no-token",
        "cd /tmp && nohup .venv/bin/holdfast -w release mcp &",
    ],
)
def test_an_agent_starts_no_server_in_its_shell(scene, line):
    assert "A person does this" in scene.bash(line)


@pytest.mark.parametrize("line", ["holdfast status", "claude mcp list", "holdfast note mcp", "grep mcp README.md"])
def test_other_commands_go_ahead(scene, line):
    assert scene.bash(line) == ""
