"""Documents as text: UTF-8 unescaped, two-space indent, small flat objects on one line.

The standard encoder falls back to slow Python code as soon as it indents. Documents are written on every transition,
so lines that were written before are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from json import JSONEncoder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WIDTH = 110
_line = JSONEncoder(ensure_ascii=False, check_circular=False).encode
_ATOMS = (str, int, float, bool, type(None))


class Writer:
    """Writes documents of one workflow after another; entries of histories are encoded once."""

    def __init__(self, kept: int = 4000) -> None:
        self._kept = kept
        self._lines: dict[int, tuple[Any, str]] = {}

    def write(self, document: Mapping[str, Any]) -> bytes:
        return (self._value(document, "") + "\n").encode()

    def _value(self, value: Any, indent: str) -> str:
        if isinstance(value, Mapping):
            if not value:
                return "{}"
            flat = self._flat(value, indent)
            if flat:
                return flat
            deeper = indent + "  "
            rows = [f"{deeper}{_line(str(name))}: {self._value(item, deeper)}" for name, item in value.items()]
            return "{\n" + ",\n".join(rows) + "\n" + indent + "}"
        if isinstance(value, (list, tuple)):
            if not value:
                return "[]"
            if all(isinstance(item, _ATOMS) for item in value):
                text = _line(value)
                if len(text) + len(indent) <= WIDTH:
                    return text
            deeper = indent + "  "
            return "[\n" + ",\n".join([deeper + self._value(item, deeper) for item in value]) + "\n" + indent + "]"
        return _line(value)

    def _flat(self, value: Mapping[str, Any], indent: str) -> str:
        """A flat object below the top level, on one line if it fits."""
        if len(indent) < 2:
            return ""
        known = self._lines.get(id(value))
        if known and known[0] is value:
            return known[1]
        for item in value.values():
            if not isinstance(item, _ATOMS):
                return ""
        text = _line(value)
        if len(text) + len(indent) > WIDTH and len(indent) < 4:
            return ""
        if "at" in value:
            if len(self._lines) >= self._kept:
                self._lines.clear()
            self._lines[id(value)] = (value, text)
        return text
