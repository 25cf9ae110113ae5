"""Shell lines as agents type them: a person's command, files that are not the agent's, and what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.hooks.conftest import git
from tests.surfaces.hooks.scene import Scene, lock

CORPUS = Path(__file__).parents[2] / "corpus" / "shell"


def lines(name: str) -> list[str]:
    return (CORPUS / f"{name}.txt").read_text().splitlines()


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    git(tmp_path, "init", "-q")
    made.given(human=[{"names": ["sign-off", "3"]}], locks=[lock("src/locked.py")])
    return made


@pytest.mark.parametrize("line", lines("denied"))
def test_a_line_that_carries_a_persons_command_is_denied(scene, line):
    assert "A person does this" in scene.call("Bash", {"command": line})


@pytest.mark.parametrize("line", lines("written"))
def test_a_line_that_writes_what_is_not_the_agents_is_denied(scene, line):
    said = scene.call("Bash", {"command": line})
    assert "where Holdfast keeps its records" in said or "src/locked.py is locked by coder" in said


@pytest.mark.parametrize("line", lines("allowed"))
def test_a_line_that_carries_none_passes(scene, line):
    assert scene.call("Bash", {"command": line}) == ""
