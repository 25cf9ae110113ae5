"""A project's folder, looked at without harm: regular files of at most 1 MiB, and what is broken shows nothing."""

from __future__ import annotations

import os

from holdfast.core.value import Any
from holdfast.machine.place import regular

LARGEST = 1 << 20


class Folder:
    """Each file is read once, so that all who ask see the same."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._texts: dict[str, str] = {}
        self._tables: dict[str, dict[str, Any]] = {}

    def has(self, name: str) -> bool:
        """Whether there is such a regular file; links are followed."""
        return os.path.isfile(self._at(name))

    def first(self, *names: str) -> str:
        """The first of the files that is there, or nothing."""
        return next((name for name in names if self.has(name)), "")

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
                content = read(self._at(name))
                self._texts[name] = content.decode("utf-8-sig") if len(content) <= LARGEST else ""
            except (OSError, ValueError):
                self._texts[name] = ""
        return self._texts[name]

    def toml(self, name: str) -> dict[str, Any]:
        if name not in self._tables:
            import tomllib

            try:
                self._tables[name] = tomllib.loads(self.text(name))
            except (ValueError, RecursionError):
                self._tables[name] = {}
        return self._tables[name]

    def json(self, name: str) -> dict[str, Any]:
        import json

        try:
            data = json.loads(self.text(name))
        except (ValueError, RecursionError):
            return {}
        return data if isinstance(data, dict) else {}

    def sections(self, name: str) -> list[str]:
        """The `[section]` headers of an INI file."""
        lines = self.text(name).splitlines()
        return [line[1:].partition("]")[0].strip() for line in lines if line.startswith("[") and "]" in line]

    def _at(self, name: str) -> str:
        return os.path.join(self.path, name)


def read(path: str) -> bytes:
    """The bytes of a regular file, as far as LARGEST and one more."""
    return regular(path, LARGEST + 1)


def table(data: object, *keys: str) -> dict[str, Any]:
    """The table below these keys; an empty one where there is none."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}
