"""Shell lines as agents type them: those that carry a person's command, however deep, and those that only look so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surfaces.hooks.scene import Scene

CORPUS = Path(__file__).parents[2] / "corpus" / "shell"


def lines(name: str) -> list[str]:
    return (CORPUS / f"{name}.txt").read_text().splitlines()


@pytest.fixture
def scene(tmp_path):
    made = Scene(tmp_path)
    made.given(human=[{"names": ["sign-off", "3"]}])
    return made


@pytest.mark.parametrize("line", lines("denied"))
def test_a_line_that_carries_a_persons_command_is_denied(scene, line):
    assert "A person does this" in scene.call("Bash", {"command": line})


@pytest.mark.parametrize("line", lines("allowed"))
def test_a_line_that_carries_none_passes(scene, line):
    assert scene.call("Bash", {"command": line}) == ""
