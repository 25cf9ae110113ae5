"""A project's folder, looked at without harm, and a command that its files tell of.

Regular files of at most 1 MiB are read, and what is broken shows nothing.
"""

from __future__ import annotations

import os
from _collections_abc import Callable

from holdfast.core.value import Any, Value
from holdfast.machine.place import regular

NAMES = ("lint", "test", "security_review", "code_simplifier")
LARGEST = 1 << 20


class Tool(Value):
    """A command as a list of words, run without a shell. No words: the project has none."""

    run: tuple[str, ...]
    source: str
    """The file that told of it, from the top of the worktree."""
    report: str = ""
    """Where the command writes JUnit XML, relative to the project; empty when it does not."""
    folder: str = ""
    """Where it runs, from the top of the worktree."""
    by: str = ""
    """Who typed it, where nobody found it."""
    reported: bool = False
    """Whether the configuration lets people and agents report it, as nothing is run."""


class Folder:
    """Each file is read once, so that all who ask see the same."""

    def __init__(self, top: str, inside: str = "") -> None:
        self.path = os.path.join(top, inside)
        self._top = top
        self._texts: dict[str, str] = {}

    def has(self, name: str) -> bool:
        """Whether there is such a regular file; links are followed."""
        return os.path.isfile(self._at(name))

    def first(self, *names: str) -> str:
        """The first of the files that is there, or nothing."""
        return next((name for name in names if self.has(name)), "")

    def above(self, *names: str) -> str:
        """The first of the files that this folder has, else the one around it, up to the top; relative to this one."""
        at = os.curdir
        while True:
            if found := self.first(*(os.path.normpath(os.path.join(at, name)) for name in names)):
                return found
            if os.path.normpath(os.path.join(self.path, at)) == os.path.normpath(self._top):
                return ""
            at = os.path.join(at, os.pardir)

    def occupied(self, name: str) -> bool:
        """Whether anything at all has this name."""
        return os.path.lexists(self._at(name))

    def is_program(self, name: str) -> bool:
        return self.has(name) and os.access(self._at(name), os.X_OK)

    def names(self, inside: str) -> list[str]:
        """What a folder inside this one holds, sorted."""
        try:
            return sorted(os.listdir(self._at(inside)))
        except OSError:
            return []

    def text(self, name: str) -> str:
        """The text of a file, without a byte order mark; nothing when it cannot be had."""
        if name not in self._texts:
            try:
                content = regular(self._at(name), LARGEST + 1)
                self._texts[name] = content.decode("utf-8-sig") if len(content) <= LARGEST else ""
            except (OSError, ValueError):
                self._texts[name] = ""
        return self._texts[name]

    def toml(self, name: str) -> dict[str, Any]:
        import tomllib

        return _parsed(tomllib.loads, self.text(name))

    def json(self, name: str) -> dict[str, Any]:
        import json

        return _parsed(json.loads, self.text(name))

    def sections(self, name: str) -> list[str]:
        """The `[section]` headers of an INI file."""
        lines = self.text(name).splitlines()
        return [line[1:].partition("]")[0].strip() for line in lines if line.startswith("[") and "]" in line]

    def _at(self, name: str) -> str:
        return os.path.join(self.path, name)


def _parsed(parse: Callable[[str], Any], text: str) -> dict[str, Any]:
    try:
        return table(parse(text))
    except (ValueError, RecursionError):
        return {}


def table(data: object, *keys: str) -> dict[str, Any]:
    """The table below these keys; an empty one where there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}
