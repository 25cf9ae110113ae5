"""What a project's command is: its words, and the file that speaks for it."""

from __future__ import annotations

from holdfast.core.value import Value

NAMES = ("lint", "test", "security_review", "code_simplifier")


class Tool(Value):
    """A command as a list of words, run without a shell in the project's folder. No words: the project has none."""

    run: tuple[str, ...]
    source: str
    """The file that told of it, relative to the folder it was found in."""
    report: str = ""
    """Where the command writes JUnit XML, relative to the project; empty when it does not."""
