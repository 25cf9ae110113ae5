"""Finding definitions by name."""

from __future__ import annotations

import os
from _collections_abc import Callable

from holdfast.core import remedies
from holdfast.core.definition import Definition, Words
from holdfast.core.names import is_name, nearest
from holdfast.core.remedy import shell
from holdfast.core.value import Value
from holdfast.definitions.file import DefinitionFile
from holdfast.errors import HoldfastError, NotFound, UsageError


class Entry(Value):
    """A definition as a list shows it. `name` is what to type for it; `trusted` is None where nobody asked."""

    name: str
    path: str
    title: str = ""
    description: str = ""
    dialect: str = ""
    steps: int = 0
    builtin: bool = False
    trusted: bool | None = None
    error: str = ""


class Catalogue:
    """The definitions a root offers: the user's own, and behind them those that come with Holdfast.

    A built-in one has a full name, `dialect/name`, and is kept in `name.toml`, or in `dialect-name.toml` where the
    short name is not enough; `builtin` are the folders that have them. `trusted` is asked about the digest and path of
    each of the user's definitions. `words` are those of the systems.
    """

    def __init__(
        self,
        root: str,
        trusted: Callable[[str, str], bool] | None = None,
        *,
        builtin: tuple[str, ...] = (),
        words: Words | None = None,
    ) -> None:
        self._words = words
        self._root = root
        self._own = os.path.join(root, ".holdfast", "workflows")
        self._builtin = builtin
        self._trusted = trusted

    def load(self, path: str) -> Definition:
        """The definition in a file, wherever it is."""
        return self._file(path).definition()

    def _file(self, path: str) -> DefinitionFile:
        return DefinitionFile(path, self._root, self._words)

    def get(self, name: str) -> Definition:
        return self._find(name).definition()

    def path_of(self, name: str) -> str | None:
        """The user's file that a name stands for; None for a built-in definition, which is trusted by its origin."""
        path = self._find(name).path
        return None if os.path.dirname(path) in self._builtin else path

    def all(self) -> list[Entry]:
        """Every definition. One that is broken is listed with its error and hides no other."""
        own, builtin = self._files(self._own), self._files(*self._builtin)
        names = [_name(file) for file in own]
        taken = set(names)
        entries = []
        for file, name in zip(own, names, strict=True):
            entry = self._entry(file, name)
            if names.count(name) > 1 and not entry.error:
                same = ", ".join(f.shown for f, n in zip(own, names, strict=True) if n == name)
                entry = entry.replace(error=f"more than one file has the name {name!r}: {same}")
            entries.append(entry)
        short = [_name(file) for file in builtin]
        for file, name in zip(builtin, short, strict=True):
            unique = name not in taken and short.count(name) == 1
            entries.append(self._entry(file, name if unique else _full_name(file), builtin=True))
        return entries

    def _entry(self, file: DefinitionFile, name: str, *, builtin: bool = False) -> Entry:
        entry = Entry(name=name, path=file.path, builtin=builtin, trusted=True if builtin else None)
        try:
            definition = file.definition()
            steps = len(definition.steps)
            entry = entry.replace(
                title=definition.title, description=definition.description, dialect=definition.dialect, steps=steps
            )
            if self._trusted and not builtin:
                entry = entry.replace(trusted=self._trusted(definition.digest, file.path))
        except HoldfastError as broken:
            return entry.replace(error=broken.message)
        return entry

    def _find(self, name: str) -> DefinitionFile:
        dialect, slash, short = name.rpartition("/")
        if is_name(short) and (is_name(dialect) or not slash):
            if not slash:
                at_hand = self._file(os.path.join(self._own, f"{name}.toml"))
                if os.path.lexists(at_hand.path) and at_hand.name == name:
                    return at_hand
                if found := [file for file in self._files(self._own) if _name(file) == name]:
                    return _only(name, found, [file.shown for file in found])
            if found := self._built_in(name, dialect, short):
                return _only(name, found, [_full_name(file) for file in found])
        raise self._unknown(name)

    def _built_in(self, name: str, dialect: str, short: str) -> list[DefinitionFile]:
        def matching(files: list[DefinitionFile]) -> list[DefinitionFile]:
            return [file for file in files if name == (_full_name(file) if dialect else _name(file))]

        files = self._files(*self._builtin)
        likely = [file for file in files if file.stem == short or file.stem.endswith(f"-{short}")]
        return matching(likely) or matching([file for file in files if file not in likely])

    def _files(self, *folders: str) -> list[DefinitionFile]:
        found = [file for folder in folders for file in self._files_of(folder)]
        return sorted(found, key=lambda file: file.stem)

    def _files_of(self, folder: str) -> list[DefinitionFile]:
        try:
            names = sorted(os.listdir(folder))
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as failure:
            said = f"{folder} cannot be read: {failure.strerror}"
            raise UsageError("unreadable", said, remedy=shell("ls", "-ld", folder)) from None
        kept = (name for name in names if name.endswith(".toml") and not name.startswith("."))
        return [self._file(os.path.join(folder, name)) for name in kept]

    def _unknown(self, name: str) -> NotFound:
        entries = self.all()
        known = tuple(dict.fromkeys(entry.name for entry in entries))
        close = nearest(name, known)
        hint = f", did you mean {close!r}?" if close else ""
        broken = [entry.path for entry in entries if entry.error]
        said = f"there is no definition {name[:80]!r}{hint}"
        facts = {"name": name[:200], "known": list(known), "broken": broken}
        return NotFound("no_definition", said, remedy=remedies.named("workflows"), facts=facts)


def _name(file: DefinitionFile) -> str:
    """The name a file gives itself, or that of the file where it is too broken to say."""
    try:
        return file.name or file.stem
    except HoldfastError:
        return file.stem


def _full_name(file: DefinitionFile) -> str:
    try:
        return file.full_name
    except HoldfastError:
        return file.stem


def _only(name: str, found: list[DefinitionFile], labels: list[str]) -> DefinitionFile:
    if len(found) > 1:
        said = f"{name!r} can mean more than one definition: {', '.join(labels)}"
        facts = {"name": name, "candidates": labels}
        raise UsageError("ambiguous_definition", said, remedy=remedies.named("workflows"), facts=facts)
    return found[0]
