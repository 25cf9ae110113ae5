"""Where things are in a TOML text: `tomllib` says nothing of lines, and a mistake wants to be found."""

from __future__ import annotations

import re
from _collections_abc import Iterator

from holdfast.core.value import Any

Path = tuple[str | int, ...]

# The alternatives begin differently, so that nothing is tried twice. Possessive quantifiers would say so, but the first
# releases of Python 3.11 match them wrongly.
_TOKEN = (
    r'"""(?:\\.|[^\\"]|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:\\.|[^\\"\n])*"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[\]{},=\n]"
    r"|[^\s\[\]{},=\"'\#]+"
    r"|[\"']"
)


class _Statement:
    """A table header, or a key with its value; `items` are the lines on which the items of a list begin."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.text = ""
        self.key = ""
        self.items: list[int] = []


class Places:
    """The line of every table, key and list item of a text, by its path in the data."""

    def __init__(self, text: str) -> None:
        self._lines: dict[Path, int] = {(): 1}
        self._counts: dict[Path, int] = {}
        here: Path = ()
        for statement in _statements(text.replace("\r\n", "\n")):
            if statement.key:
                path = (*here, *_keys(f"{statement.key} = 0"))
                self._note(path, statement.line)
                for index, line in enumerate(statement.items):
                    self._lines[(*path, index)] = line
            else:
                here = self._table(statement)
                self._note(here, statement.line)

    def line(self, path: Path) -> int:
        """The line of a path, or of the nearest thing around it that has one."""
        while path not in self._lines:
            path = path[:-1]
        return self._lines[path]

    def _note(self, path: Path, line: int) -> None:
        for end in range(1, len(path) + 1):
            self._lines.setdefault(path[:end], line)

    def _table(self, statement: _Statement) -> Path:
        """What a header means: `[[step.step]]` is one more child of the newest step."""
        keys = _keys(statement.text)
        path: Path = ()
        for key in keys[:-1]:
            path = (*path, key)
            if path in self._counts:
                path = (*path, self._counts[path] - 1)
        path = (*path, keys[-1])
        if statement.text.startswith("[["):
            self._counts[path] = self._counts.get(path, 0) + 1
            path = (*path, self._counts[path] - 1)
        return path


class NotToml(Exception):
    """What is wrong, and on which line."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


def parse(content: bytes) -> tuple[str, dict[str, Any]]:
    """The text of a file and its data; raises NotToml."""
    import tomllib

    try:
        text = content.decode()
    except UnicodeDecodeError as wrong:
        raise NotToml(content.count(b"\n", 0, wrong.start) + 1, "this is not UTF-8") from None
    try:
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        message, _, place = str(wrong).rpartition(" (at ")
        number = place.removeprefix("line ").partition(",")[0]
        line = int(number) if number.isdigit() else text.rstrip().count("\n") + 1
        raise NotToml(line, f"not TOML: {message}") from None
    except (ValueError, RecursionError) as wrong:
        reason = "nested too deeply" if isinstance(wrong, RecursionError) else str(wrong)
        raise NotToml(_unparsable(text), f"not TOML: {reason}") from None


def _unparsable(text: str) -> int:
    """The line of the first statement that cannot be read by itself, for errors that name no line."""
    import tomllib

    for statement in _statements(text.replace("\r\n", "\n")):
        try:
            tomllib.loads(statement.text)
        except (ValueError, RecursionError):
            return statement.line
    return 1


def _keys(statement: str) -> list[str]:
    """`[a."b c"]` → a, b c. The parser itself says what the quotes and dots mean."""
    import tomllib

    data: Any = tomllib.loads(statement)
    keys = []
    while isinstance(data, dict) and data:
        ((key, data),) = data.items()
        keys.append(key)
    return keys


def _statements(text: str) -> Iterator[_Statement]:
    """Statements end with the line, except inside brackets."""
    line, depth, start = 1, 0, 0
    found: _Statement | None = None
    item_due = in_list = False
    for match in re.finditer(_TOKEN, text, re.DOTALL):
        token = match[0]
        if token == "\n":
            if found and depth <= 0:
                found.text = text[start : match.start()]
                yield found
                found, depth = None, 0
        elif token[0] != "#":
            if found is None:
                found, start = _Statement(line), match.start()
                item_due = in_list = False
            if token == "=" and not found.key and depth == 0:
                found.key = text[start : match.start()]
            elif found.key and depth == 0 and not in_list:
                item_due = in_list = token == "["
            elif token == "," and depth == 1 and in_list:
                item_due = True
            elif item_due and token != "]":
                found.items.append(line)
                item_due = False
            depth += (token in "[{") - (token in "]}")
        line += token.count("\n")
    if found:
        found.text = text[start:]
        yield found
