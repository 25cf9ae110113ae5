"""Refusals of a start or an installation: what only the reader knows is a blank, and no example is typed by mistake."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("words", "command", "blanks"),
    [
        (("start", "generation"), "holdfast start generation SCENE", ["SCENE"]),
        (("start", "custom", "x"), "holdfast start custom x --phases PHASES", ["PHASES"]),
        (("install", "nohost"), "holdfast install HOST", ["HOST"]),
    ],
)
def test_an_example_is_marked_as_a_blank(project, words, command, blanks):
    (way,) = project.agent(*words, "--json").json["error"]["remedies"]
    assert (way["command"], way["blanks"]) == (command, blanks)
