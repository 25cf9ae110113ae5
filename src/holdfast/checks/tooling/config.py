"""The commands a project was told to use: `[commands]` in its configuration. Every mistake is reported at once."""

from __future__ import annotations

from holdfast.checks.shell_words import needs_shell
from holdfast.checks.tooling.folder import NAMES, Tool
from holdfast.core.names import unknown_key
from holdfast.core.value import Any
from holdfast.machine import configuration
from holdfast.machine.configuration import CONFIG

_KEYS = ("run", "report")
REPORT = "report"
"""The word in place of a command by which people let others report how a check went."""
_LONGEST_PATH = 1000
_PATH = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-+@/ ")


def configured(root: str) -> dict[str, Tool]:
    """The commands of the configuration alone; without such a file there are none.

    A command without words stands for a name that the project does not want to be looked for. One UsageError
    `bad_config` lists every mistake. Other tables of the file are not looked at.
    """
    parsed = configuration.parse(root)
    if parsed is None:
        return {}
    reader = _Reader()
    tools = reader.commands(parsed.data.get("commands", {}))
    parsed.report(reader.mistakes)
    return tools


class _Reader:
    """Plain data → tools. What is wrong is noted with its place, and reading continues."""

    def __init__(self) -> None:
        self.mistakes: list[tuple[tuple[str | int, ...], str]] = []

    def commands(self, data: object) -> dict[str, Tool]:
        if not isinstance(data, dict):
            self.mistakes.append((("commands",), 'commands is a table such as [commands] with test = ["make", "test"]'))
            return {}
        self._known(data, ("commands",), NAMES)
        return {name: self._tool(data[name], ("commands", name)) for name in NAMES if name in data}

    def _tool(self, data: object, where: tuple[str, ...]) -> Tool:
        if REPORT in (data, data.get("run") if isinstance(data, dict) else None):
            return Tool(run=(), source=CONFIG, reported=True)
        if not isinstance(data, dict):
            return Tool(run=self._words(data, where), source=CONFIG)
        self._known(data, where, _KEYS)
        if "run" not in data:
            self.mistakes.append((where, f"{where[-1]} lacks run, the list of words to run"))
        run = self._words(data.get("run", []), (*where, "run"))
        return Tool(run=run, source=CONFIG, report=self._report(data.get("report", ""), (*where, "report")))

    def _words(self, data: object, where: tuple[str, ...]) -> tuple[str, ...]:
        if isinstance(data, str) and (words := _split(data)):
            if why := needs_shell(data):
                self.mistakes.append((where, f"{where[-1]} runs without a shell; {why}"))
            return words
        if not isinstance(data, list):
            said = f'{where[-1]} must be a list of words such as ["make", "lint"], or "make lint", no shell'
            self.mistakes.append((where, said))
            return ()
        for index, word in enumerate(data):
            if not isinstance(word, str) or not word or "\0" in word:
                said = f"word {index + 1} of {where[-1]} must be text, not empty, no NUL"
                self.mistakes.append(((*where, index), said))
        return tuple(data)

    def _report(self, data: object, where: tuple[str, ...]) -> str:
        if data == "" or _stays_inside(data):
            return str(data)
        said = "report must be the path of a file inside the project, of A-Z a-z 0-9 _ . - + @ / and blanks"
        self.mistakes.append((where, said))
        return ""

    def _known(self, data: dict[str, Any], where: tuple[str, ...], known: tuple[str, ...]) -> None:
        self.mistakes += [((*where, key), unknown_key(key, known)) for key in data if key not in known]


def _split(line: str) -> tuple[str, ...]:
    import shlex

    try:
        words = tuple(shlex.split(line))
    except ValueError:
        return ()
    return () if "\0" in line else words


def _stays_inside(path: object) -> bool:
    if not isinstance(path, str) or len(path) > _LONGEST_PATH or not _PATH.issuperset(path):
        return False
    return all(part.strip() and part not in (".", "..") for part in path.removeprefix("./").split("/"))
