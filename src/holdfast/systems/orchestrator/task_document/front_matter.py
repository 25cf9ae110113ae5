"""The front matter of a task document: its keys as labels, and what of it is not read."""

from __future__ import annotations

import re
from _collections_abc import Iterator, Sequence

from holdfast.core.value import Value
from holdfast.systems.orchestrator.task_document import wording
from holdfast.systems.orchestrator.task_document.blocks import normal
from holdfast.systems.orchestrator.task_document.sections import field_of, means

_KEY = r"""(\s*(?:-\s+)?)["']?([A-Za-z][\w .-]*?)["']?\s*[:=]\s*(?:(["'])(.*)\3|(.*?))\s*(?:\s#.*)?"""
_EMPTY = r"\s*(?:#.*)?|---|\.\.\.|\+\+\+"
_TABLE = r"\s*\[+\s*([\w .-]+?)\s*\]+\s*(?:#.*)?"
_WAYS = {
    "iterations": "write 'max_iterations: 30'",
    "cost": "write 'max_cost: $10'",
    "time": "write 'max_time: 2h'",
    "approval": "write 'plan_approval: person'",
    "dependencies": "write '**Dependencies**: Task 1.1' in the task that waits",
}


class Front(Value):
    """The text with the settings as labels, each in its line, and what is mistaken or has no effect."""

    text: str
    mistakes: tuple[tuple[int, str], ...] = ()
    warnings: tuple[tuple[int, str], ...] = ()


def read(front: Sequence[str], text: str) -> Front:
    lines, mistakes, warnings = text.split("\n"), [], []
    for number, label, value, source in _entries(front):
        if label and value and field_of("preamble", label)[1]:
            lines[number - 1] = f"**{label}**: {value}"
        elif way := _way(label, value):
            mistakes.append((number, f"{source[:60]!r} of the front matter is not read: {way}"))
        elif value or not label:
            warnings.append((number, f"{source[:60]!r} of the front matter is not read"))
    return Front("\n".join(lines), tuple(mistakes), tuple(warnings))


def _entries(front: Sequence[str]) -> Iterator[tuple[int, str, str, str]]:
    """Each line that says something, with its label and value; a label below another one has both words."""
    above = ""
    for number, line in enumerate(front, 1):
        if re.fullmatch(_EMPTY, line):
            continue
        table, said = re.fullmatch(_TABLE, line), re.fullmatch(_KEY, line)
        if table:
            above = normal(table[1])
        elif said:
            label, value = normal(said[2]), (said[4] if said[3] else said[5]).strip()
            known = (label, normal(f"{above} {said[2]}")) if above and (said[1] or "=" in line) else (label,)
            label = next((one for one in known if field_of("preamble", one)[1]), label)
            above = label if not value and not said[1] else above if said[1] or "=" in line else ""
            yield number, label, value, line.strip()
        else:
            yield number, above if line[:1] in " \t-" else "", line.strip(" \t-"), line.strip()


def _way(label: str, value: str) -> str:
    """How to write what a label seems to mean, where that is a bound, a gate or a dependency; else empty."""
    if not label:
        return ""
    found = next((way for field, way in _WAYS.items() if means(field, label)), "")
    return found or wording.unread(label, value)
