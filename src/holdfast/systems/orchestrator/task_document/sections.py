"""The sections of a task document: by which headings they open, and which labels count in each."""

from __future__ import annotations

import re

from holdfast.core.value import Value
from holdfast.systems.orchestrator.task_document.model import Criterion

LABELS = {
    "task": {
        "description": "description",
        "success criteria": "criteria",
        "acceptance criteria": "criteria",
        "agents needed": "agents",
        "agents": "agents",
        "complexity": "complexity",
        "dependencies": "dependencies",
        "depends on": "dependencies",
        "estimated effort": "effort",
        "effort": "effort",
    },
    "safety": {
        "maximum iterations per task": "iterations",
        "maximum iterations": "iterations",
        "maximum cost": "cost",
        "maximum time": "time",
    },
    "supervisor": {"enable": "enable", "enabled": "enable", "frequency": "frequency", "auto fix": "auto_fix"},
    "outer": {"enable": "enable", "enabled": "enable", "maximum iterations": "iterations"},
}
_OF_THE_WHOLE = {
    "goal": r"goals?|objectives?",
    "context": r"context|background",
    "criteria": r"(?:global |overall )?success criteria",
}
_SETTINGS = {
    "safety": r"safety(?: bounds?| limits?)?",
    "supervisor": r"supervisor(?: checks?)?",
    "outer": r"outer (?:ralph )?loop",
}


class Said(Value):
    """The value of a label, in plain text, and its line."""

    text: str
    line: int
    by_items: bool = False  # the list below the label is its value


class Section:
    """A part of the document below its heading. One that has a mistake in its heading has no number."""

    def __init__(self, kind: str, line: int, number: str = "", name: str = "", phase: Section | None = None) -> None:
        self.kind, self.line, self.number, self.name, self.phase = kind, line, number, name, phase
        self.prose: list[str] = []
        self.criteria: list[Criterion] = []
        self.said: dict[str, Said] = {}

    def text(self) -> str:
        """The prose, a blank line between paragraphs and none between the items of a list."""
        out = ""
        for before, part in zip(["", *self.prose], self.prose, strict=False):
            close = before.startswith("- ") and part.startswith("- ")
            out += ("\n" if close else "\n\n" if out else "") + part
        return out


def kind_of(heading: str, *, within_phase: bool) -> str:
    """The kind of section that a heading opens, if any. Settings count wherever they stand, so that none is lost."""
    known = _SETTINGS if within_phase else _SETTINGS | _OF_THE_WHOLE
    forms = ((kind, rf"[\W\d_]*(?:{words}) ?(?:\(.*\))? ?:?") for kind, words in known.items())
    return next((kind for kind, form in forms if re.fullmatch(form, heading.lower())), "")


def has_settings(kind: str) -> bool:
    return kind in _SETTINGS


def bounds(kind: str) -> str:
    """The bounds that can be set in such a section, for a message."""
    return ", ".join(label for label in LABELS[kind] if label.startswith("maximum "))
