"""The Test Anything Protocol, as bats, prove, tape and others print it."""

from __future__ import annotations

import re

from holdfast.checks.results.gathered import Gathered
from holdfast.checks.results.model import FAILED, PASSED, SKIPPED, Results


class TapOutput:
    """Follows the lines at the left margin; those of sub-tests are indented. Without a plan it is not TAP."""

    def __init__(self) -> None:
        self._plan = re.compile(r"1\.\.(\d+)(?:\s*#.*)?$")
        self._point = re.compile(r"(not )?ok\b(?:\s+\d+)?(?:\s+-)?\s*(.*)$")
        self._directive = re.compile(r"\s*#\s*(skip|todo)\b.*$", re.IGNORECASE)
        self._gathered = Gathered()
        self._planned = False
        self._points = 0

    def take(self, line: str) -> None:
        if self._plan.match(line):
            self._planned = True
        elif point := self._point.match(line):
            self._points += 1
            name = self._directive.sub("", point[2])
            outcome = SKIPPED if name != point[2] else FAILED if point[1] else PASSED
            self._gathered.skipped += outcome == SKIPPED
            self._gathered.ran += outcome != SKIPPED
            self._gathered.take(name or f"test {self._points}", outcome, titles=(name,) if name else ())

    def results(self) -> Results | None:
        return self._gathered.results() if self._planned else None
