"""What a reader has seen so far: bounded in memory, however many tests there are."""

from __future__ import annotations

import re
from _collections_abc import Sequence

from holdfast.checks.results.model import ERROR, FAILED, LONGEST, PASSED, SKIPPED, Case, Results
from holdfast.plain.terminal import CONTROLS, ESCAPES

MOST_NAMES = 50_000
_WEIGHT = {FAILED: 3, ERROR: 3, PASSED: 2, SKIPPED: 1}
"""Of several outcomes under one name the heaviest counts."""


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
    """Tests and counts as they come. When there are too many names, those of failing tests are kept."""

    def __init__(self) -> None:
        self.cases: dict[str, Case] = {}
        self.broken: dict[str, str] = {}
        self.notes: dict[str, str] = {}
        """What may be the reason of a test, should it fail."""
        self.skipped = 0
        self.ran = 0
        self.unkept = 0
        self._spare: list[str] = []

    def take(self, name: str, outcome: str, reason: str = "", file: str = "", titles: Sequence[str] = ()) -> None:
        """Takes a test; the first reason that says something stays."""
        name = short_name(name)
        known = self.cases.get(name)
        if known is None and not self._has_room(outcome):
            return
        if known is not None and _WEIGHT.get(known.outcome, 0) > _WEIGHT.get(outcome, 0):
            return
        reason = (known.reason if known is not None else "") or short(reason)
        self.cases[name] = Case(name, outcome, short_name(file), reason, tuple(map(short_name, titles)))
        if outcome == PASSED and known is None:
            self._spare.append(name)

    def passed(self, name: str) -> None:
        self.take(name, PASSED)

    def failed(self, name: str, reason: str = "") -> None:
        self.take(name, FAILED, reason)

    def names(self, outcome: str) -> list[str]:
        return [name for name, case in self.cases.items() if case.outcome == outcome]

    def note(self, name: str, reason: str) -> None:
        if name in self.notes or len(self.notes) < MOST_NAMES:
            self.notes[name] = reason

    def broke(self, file: str, reason: str) -> None:
        file = short_name(file)
        if file and (file in self.broken or len(self.broken) < MOST_NAMES):
            self.broken[file] = self.broken.get(file) or short(reason)

    def results(self, *, total: int | None = None, unnamed: int | None = None) -> Results:
        for name, case in self.cases.items():
            if case.fails and not case.reason and name in self.notes:
                self.cases[name] = case.replace(reason=short(self.notes[name]))
        return Results(
            tests=tuple(self.cases.values()),
            broken=dict(self.broken),
            total=self.ran if total is None else total,
            skipped=self.skipped,
            unnamed=self.unkept if unnamed is None else unnamed,
        )

    def _has_room(self, outcome: str) -> bool:
        if len(self.cases) < MOST_NAMES:
            return True
        self.unkept += outcome == PASSED
        if outcome in (FAILED, ERROR):
            while self._spare:
                if self.cases[name := self._spare.pop()].outcome == PASSED:
                    del self.cases[name]
                    self.unkept += 1
                    return True
        return False
