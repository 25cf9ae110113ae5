"""A definition as a TOML file, read with the line of every mistake in it."""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.definition import Definition
from holdfast.core.mistakes import Mistakes
from holdfast.core.reading import read
from holdfast.core.remedy import shell
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.machine.place import regular
from holdfast.plain.digest import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Mapping
    from typing import Any

    from holdfast.core.conduct import Conduct
    from holdfast.machine.tomlplaces import Places

LARGEST = 1 << 20


def load(path: str, root: str = "", loads: Mapping[str, Conduct] | None = None) -> Definition:
    """The definition in a TOML file; one error lists every mistake as FILE:LINE, seen from the root."""
    return DefinitionFile(path, root, loads).definition()


class DefinitionFile:
    """One definition file. It is parsed as soon as its name is asked for, and checked only when it is wanted."""

    def __init__(self, path: str, root: str = "", loads: Mapping[str, Conduct] | None = None) -> None:
        self.path = path
        self._loads = loads
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
            return read(data, self._locate, digest(self._bytes), self._loads)
        except UsageError as mistakes:
            raise self._named(mistakes) from None

    def _locate(self, path: tuple[str | int, ...]) -> str:
        if self._places is None:
            from holdfast.machine.tomlplaces import Places

            self._places = Places(self._text)
        return f"{self.shown}:{self._places.line(path)}"

    def _parsed(self) -> dict[str, Any]:
        if self._data is None:
            self._bytes = _content(self.path)
            if len(self._bytes) > LARGEST:
                raise self._mistake(1, f"the file is larger than {LARGEST >> 20} MiB")
            try:
                self._text = self._bytes.decode()
            except UnicodeDecodeError as wrong:
                raise self._mistake(self._bytes.count(b"\n", 0, wrong.start) + 1, "this is not UTF-8") from None
            self._data = self._toml()
        return self._data

    def _toml(self) -> dict[str, Any]:
        import tomllib

        try:
            return tomllib.loads(self._text)
        except tomllib.TOMLDecodeError as wrong:
            message, _, place = str(wrong).rpartition(" (at ")
            number = place.removeprefix("line ").partition(",")[0]
            line = int(number) if number.isdigit() else self._text.rstrip().count("\n") + 1
            raise self._mistake(line, f"not TOML: {message}") from None
        except (ValueError, RecursionError) as wrong:
            from holdfast.machine.tomlplaces import unparsable

            reason = "nested too deeply" if isinstance(wrong, RecursionError) else str(wrong)
            raise self._mistake(unparsable(self._text), f"not TOML: {reason}") from None

    def _mistake(self, line: int, message: str) -> UsageError:
        mistakes = Mistakes(lambda _: f"{self.shown}:{line}")
        mistakes.add((), message)
        try:
            mistakes.report()
        except UsageError as found:
            return self._named(found)
        raise AssertionError(message)

    def _named(self, error: UsageError) -> UsageError:
        import shlex

        error.remedies = (error.remedy.replace("FILE", shlex.quote(self.shown)),)
        error.facts["path"] = self.path
        return error


def _content(path: str) -> bytes:
    """The bytes of a regular file, as far as a definition may reach and one more."""
    try:
        return regular(path, LARGEST + 1)
    except (OSError, ValueError) as failure:
        raise _unreadable(path, failure) from None


def _unreadable(path: str, failure: OSError | ValueError) -> HoldfastError:

    facts = {"path": path}
    if isinstance(failure, FileNotFoundError):
        return NotFound("no_file", f"there is no file {path}", remedy=remedies.named("workflows"), facts=facts)
    reason = (failure.strerror if isinstance(failure, OSError) else None) or str(failure)
    return UsageError("unreadable", f"{path} cannot be read: {reason}", remedy=shell("ls", "-ld", path), facts=facts)
