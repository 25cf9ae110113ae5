"""Which fields of an edited document had a likely secret in them: its author is told, as the value is not kept."""

from __future__ import annotations

from _collections_abc import Iterator, Mapping

from holdfast.core.rules.edits import listed, one_line
from holdfast.core.value import Any

CODE = "edit_redacted"
_MARK = "[redacted: "


def told(path: str, written: Mapping[str, Any], taken: Mapping[str, Any]) -> str:
    """What is said of it; empty where nothing was redacted."""
    fields = [one_line(field) for field in dict.fromkeys(_fields(written, taken, ""))]
    if not fields:
        return ""
    return f"likely secrets in the edit of {path} were redacted, and their values are not kept: {listed(fields)}"


def _fields(written: Any, taken: Any, name: str) -> Iterator[str]:
    if written is taken:
        return
    if isinstance(taken, Mapping) and isinstance(written, Mapping):
        for key, value in taken.items():
            inner = f"{name}.{key}" if name else key
            if key in written:
                yield from _fields(written[key], value, inner)
            elif _MARK in key:
                yield inner
    elif isinstance(taken, (list, tuple)) and isinstance(written, (list, tuple)):
        for number, (one, value) in enumerate(zip(written, taken, strict=False), 1):
            yield from _fields(one, value, f"{name}[{number}]")
    elif isinstance(taken, str) and _MARK in taken and taken != written:
        yield name
