"""The test command that a start names in place of the project's own: `--set test_command='pytest -q'`."""

from __future__ import annotations

from holdfast.checks import equipping, tooling
from holdfast.core import remedies
from holdfast.core.remedy import Blank
from holdfast.systems.seam.parts import Asked, Loaded

TEST_COMMAND = "test_command"
"""The value of the context that a user types in place of the project's own test command."""


def taken(asked: Asked, loaded: Loaded) -> Loaded:
    """What a workflow starts with, its test command among its tools and not among the values to remember."""
    typed = loaded.context.get(TEST_COMMAND)
    if typed is None:
        return loaded
    context = {name: value for name, value in loaded.context.items() if name != TEST_COMMAND}
    about = asked.subject or Blank("SUBJECT")
    again = remedies.start(asked.definition.name, about, values={TEST_COMMAND: Blank("'COMMAND'")})
    run = equipping.words(typed, TEST_COMMAND, again)
    return loaded.replace(context=context, tools={"test": tooling.Tool(run, "")})
