"""A definition as a TOML file, read with the line of every mistake in it."""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.definition import Definition, Words
from holdfast.core.mistakes import Mistakes
from holdfast.core.reading import read
from holdfast.core.remedy import shell
from holdfast.core.value import Any
from holdfast.errors import NotFound, UsageError
from holdfast.machine.place import regular
from holdfast.machine.tomlplaces import NotToml, Places, parse
from holdfast.plain.digest import digest

LARGEST = 1 << 20


def load(path: str, root: str = "", words: Words | None = None) -> Definition:
    """The definition in a TOML file; one error lists every mistake as FILE:LINE, seen from the root."""
    return DefinitionFile(path, root, words).definition()


class DefinitionFile:
    """One definition file. It is parsed as soon as its name is asked for, and checked only when it is wanted."""

    def __init__(self, path: str, root: str = "", words: Words | None = None) -> None:
        self.path = path
        self._words = words
        inside = root and os.path.abspath(path).startswith(os.path.join(os.path.abspath(root), ""))
        shown = os.path.relpath(path, root) if inside else path
        self.shown = os.fsencode(shown).decode("utf-8", "replace")
        self._bytes = b""
        self._text = ""
        self._data: dict[str, Any] | None = None
        self._places: Places | None = None

    @property
    def stem(self) -> str:
        return os.path.basename(self.path).removesuffix(".toml")

    @property
    def name(self) -> str:
        """The name it gives itself; raises when the file is not even TOML."""
        name = self._parsed().get("name")
        return name if isinstance(name, str) else ""

    @property
    def full_name(self) -> str:
        return f"{self._parsed().get('dialect', 'skill')}/{self.name}"

    def definition(self) -> Definition:
        data = self._parsed()
        try:
            return read(data, self._locate, digest(self._bytes), self._words)
        except UsageError as mistakes:
            raise self._named(mistakes) from None

    def _locate(self, path: tuple[str | int, ...]) -> str:
        if self._places is None:
            self._places = Places(self._text)
        return f"{self.shown}:{self._places.line(path)}"

    def _parsed(self) -> dict[str, Any]:
        if self._data is None:
            self._bytes = _content(self.path)
            if len(self._bytes) > LARGEST:
                raise self._mistake(1, f"the file is larger than {LARGEST >> 20} MiB")
            try:
                self._text, self._data = parse(self._bytes)
            except NotToml as wrong:
                raise self._mistake(wrong.line, str(wrong)) from None
        return self._data

    def _mistake(self, line: int, message: str) -> UsageError:
        mistakes = Mistakes(lambda _: f"{self.shown}:{line}")
        mistakes.add((), message)
        return self._named(mistakes.error())

    def _named(self, error: UsageError) -> UsageError:
        import shlex

        error.remedies = (error.remedy.replace("FILE", shlex.quote(self.shown)),)
        error.facts["path"] = self.path
        return error


def _content(path: str) -> bytes:
    """The bytes of a regular file, as far as a definition may reach and one more."""
    facts = {"path": path}
    try:
        return regular(path, LARGEST + 1)
    except FileNotFoundError:
        said = f"there is no file {path}"
        raise NotFound("no_file", said, remedy=remedies.named("workflows"), facts=facts) from None
    except (OSError, ValueError) as failure:
        said = f"{path} cannot be read: {getattr(failure, 'strerror', None) or failure}"
        raise UsageError("unreadable", said, remedy=shell("ls", "-ld", path), facts=facts) from None
