"""What a reader has seen so far: bounded in memory, however many tests there are."""

from __future__ import annotations

from holdfast.checks.results.model import LONGEST, Results

MOST_NAMES = 5000
_ESCAPES = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]"
# Besides control characters: marks that turn the direction of text, and halves of characters that JSON can spell.
_UNSAFE = r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"


def plain(line: str) -> str:
    """A line without colours and control characters; tabs stay, because some tools part columns by them."""
    import re

    return re.sub(_UNSAFE, "", re.sub(_ESCAPES, "", line))


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

    def broke(self, file: str, reason: str) -> None:
        file = short_name(file)
        if file and (file in self.broken or len(self.broken) < MOST_NAMES):
            self.broken[file] = self.broken.get(file) or short(reason)

    def results(self, *, total: int | None = None, unnamed: int | None = None) -> Results:
        return Results(
            failing=tuple(self.failing),
            passing=tuple(name for name in self.passing if name not in self.failing),
            skipped=self.skipped,
            reasons={name: reason for name, reason in self.failing.items() if reason},
            broken=dict(self.broken),
            total=self.ran if total is None else total,
            unnamed=self.unkept if unnamed is None else unnamed,
        )
