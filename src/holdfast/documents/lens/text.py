"""Documents as text: UTF-8 unescaped, two-space indent, small flat objects on one line.

The standard encoder falls back to slow Python code as soon as it indents. Documents are written on every transition,
so the text of parts that did not change is kept.
"""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core.value import Any
from holdfast.plain.plainjson import quote as _text
from holdfast.plain.plainjson import spaced as _line

WIDTH = 110
_ATOMS = (str, int, float, bool, type(None))
_PLAIN = frozenset(_ATOMS)


def _are_atoms(values: Iterable[Any]) -> bool:
    return all(kind in _PLAIN or issubclass(kind, _ATOMS) for kind in set(map(type, values)))


class Kept(dict):  # type: ignore[type-arg]
    """An object of a document that will never change. It remembers its own text, which goes with it."""

    text = ""


class KeptList(list):  # type: ignore[type-arg]
    """A list of a document that will never change, with its text likewise."""

    text = ""


class Entries(list):  # type: ignore[type-arg]
    """A list of objects that are each on a line of their own. `lines` has their text."""

    def __init__(self, entries: Iterable[Mapping[str, Any]] = (), lines: list[str] | None = None) -> None:
        super().__init__(entries)
        self.lines = [_line(entry) for entry in self] if lines is None else lines

    def grown(self, entries: list[Mapping[str, Any]], count: int) -> Entries:
        """The newest `count` of these and more."""
        lines = [*self.lines, *[_line(entry) for entry in entries]]
        return Entries([*self, *entries][len(lines) - count :], lines[len(lines) - count :])


class Writer:
    """Writes documents."""

    def write(self, document: Mapping[str, Any]) -> bytes:
        return (self._value(document, "") + "\n").encode()

    def _value(self, value: Any, indent: str) -> str:
        kind = type(value)
        if kind is str:
            return _text(value)
        if kind is int:
            return str(value)
        if kind is Kept or kind is KeptList:
            value.text = value.text or (self._object(value, indent) if kind is Kept else self._list(value, indent))
            return str(value.text)
        if isinstance(value, dict):
            return self._object(value, indent)
        if isinstance(value, (list, tuple)):
            return self._list(value, indent)
        return _line(value)

    def _object(self, value: dict[str, Any], indent: str) -> str:
        if not value:
            return "{}"
        if indent and _are_atoms(value.values()):
            text = _line(value)
            if len(indent) >= 4 or len(text) + len(indent) <= WIDTH:
                return text
        deeper = indent + "  "
        rows = [
            f"{_text(str(name))}: {_text(item) if type(item) is str else self._value(item, deeper)}"
            for name, item in value.items()
        ]
        between = ",\n" + deeper
        return "{\n" + deeper + between.join(rows) + "\n" + indent + "}"

    def _list(self, value: list[Any] | tuple[Any, ...], indent: str) -> str:
        if not value:
            return "[]"
        deeper = indent + "  "
        if isinstance(value, Entries):
            rows = value.lines
        else:
            if _are_atoms(value):
                text = _line(value)
                if len(text) + len(indent) <= WIDTH:
                    return text
            rows = [getattr(item, "text", "") or self._value(item, deeper) for item in value]
        between = ",\n" + deeper
        return "[\n" + deeper + between.join(rows) + "\n" + indent + "]"
