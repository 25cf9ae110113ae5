"""What a reader has seen so far: bounded in memory, however many tests there are."""

from __future__ import annotations

import re

from holdfast.checks.results.model import LONGEST, Results
from holdfast.plain.terminal import CONTROLS, ESCAPES

MOST_NAMES = 5000


def plain(line: str) -> str:
    """A line without colours and control characters; tabs stay, because some tools part columns by them."""
    return re.sub(CONTROLS, "", re.sub(ESCAPES, "", line))


def short(text: str) -> str:
    """One safe line of at most 300 characters."""
    return " ".join(plain(text).split())[:LONGEST].rstrip()


def short_name(text: str) -> str:
    """A name as it is, but safe and at most 300 characters long."""
    return plain(text).replace("\t", " ").strip()[:LONGEST]


class Gathered:
    """Names and counts as they come. When there are too many names, those of failing tests are kept."""

    def __init__(self) -> None:
        self.failing: dict[str, str] = {}
        self.passing: dict[str, None] = {}
        self.broken: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        """What may be the reason of a test, should it fail."""
        self.skipped = 0
        self.ran = 0
        self.unkept = 0

    def passed(self, name: str) -> None:
        name = short_name(name)
        if name in self.passing:
            return
        if len(self.passing) + len(self.failing) < MOST_NAMES:
            self.passing[name] = None
        else:
            self.unkept += 1

    def failed(self, name: str, reason: str = "") -> None:
        """Take a failing test; the first reason that says something stays."""
        name = short_name(name)
        if name not in self.failing:
            if len(self.passing) + len(self.failing) >= MOST_NAMES:
                if not self.passing:
                    return
                self.passing.popitem()
                self.unkept += 1
            self.failing[name] = ""
        self.failing[name] = self.failing[name] or short(reason)

    def note(self, name: str, reason: str) -> None:
        if name in self.notes or len(self.notes) < MOST_NAMES:
            self.notes[name] = reason

    def broke(self, file: str, reason: str) -> None:
        file = short_name(file)
        if file and (file in self.broken or len(self.broken) < MOST_NAMES):
            self.broken[file] = self.broken.get(file) or short(reason)

    def results(self, *, total: int | None = None, unnamed: int | None = None) -> Results:
        for name in self.failing:
            self.failed(name, self.notes.get(name, ""))
        return Results(
            failing=tuple(self.failing),
            passing=tuple(name for name in self.passing if name not in self.failing),
            skipped=self.skipped,
            reasons={name: reason for name, reason in self.failing.items() if reason},
            broken=dict(self.broken),
            total=self.ran if total is None else total,
            unnamed=self.unkept if unnamed is None else unnamed,
        )
