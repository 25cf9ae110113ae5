"""A long text at a person's terminal, in the pager of their choice."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Mapping

_USUAL = "less"
_ROWS = 24
_NONE = ("", "cat")
"""What people set as their pager where they want none."""


def pager(environ: Mapping[str, str]) -> list[str]:
    """The program and its arguments, which no shell reads; empty where the text is printed, as without a program."""
    said = environ.get("PAGER", _USUAL).strip()
    if not sys.stdout.isatty() or environ.get("TERM", "dumb") == "dumb" or said in _NONE:
        return []
    import shlex
    import shutil

    try:
        words = shlex.split(said)
    except ValueError:
        return []
    return words if words and shutil.which(words[0], path=environ.get("PATH")) else []


def is_long(text: str) -> bool:
    """Whether a text and a question below it do not fit on the terminal."""
    size = os.get_terminal_size(sys.stdout.fileno())
    wide = size.columns or 80
    return sum(1 + len(line) // wide for line in text.splitlines()) + 2 > (size.lines or _ROWS)


def show(text: str, words: list[str]) -> None:
    """Shows a text until the person leaves the pager."""
    import subprocess

    sys.stdout.flush()
    environment = {"LESS": "FRX", **os.environ}
    subprocess.run(words, input=text.encode("utf-8", "replace"), env=environment, check=False)
