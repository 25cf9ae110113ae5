"""Check boxes as people write them, and which of the lines below one still belong to its text."""

from __future__ import annotations

from holdfast.core.value import Value
from holdfast.systems.skill.headings import Section

BOX = r"(?:\[([ xX/~-])\]\*?(?:[ \t\n]+|$)|([☐☑☒])\ufe0f?[ \t]*)"
LIKE_A_BOX = r"(?:\[\s*(?:[xX]|[^\w\s\[\]])?\ufe0f?\s*\](?![(\[:])|[☐☑☒])"
_NUMBER = r"\(?(?:\d+|[a-zA-Z])[.)]"
BOX_IN_TEXT = rf"(?m)^\s*(?:>\s*)*(?:(?:[-*+]|{_NUMBER})\s*)?(?:\[[ xX/~-]\]\s|[☐☑☒])|<li>\s*\[[ xX/~-]\]"
_DONE = "xX☑☒"
_UNDERWAY = "/~-"
"""Marks of a task that has begun, as some tools write them; others mean by the same that it was dropped."""
_MARK = rf"(?:-{{1,2}}|[*+•‣◦·・–—]|{_NUMBER})"
BULLET = rf"\s*(?:{_MARK}\s*)?"
_BOX_LINE = rf"{BULLET}{BOX}|\s*{_MARK}\s*{LIKE_A_BOX}"
_TIGHT = rf"\s*(?:[-*+]|\d+[.)])(?={LIKE_A_BOX})"
_KEYWORD = r"(?:Given|When|Then|And|But|Scenario|GIVEN|WHEN|THEN|AND|BUT)\b"
_LABEL = r"[*_]*[A-Za-z][\w /-]{0,30}:[*_]*(?:\s|$)"
_POINT = r"[•‣◦·・▪→↳]"
_NEW_SENTENCE = r"[*_\"'“‘]*[A-ZÀ-ÖØ-Þ]|[–—+-]"
_UNFINISHED = r"(?i)(?:[,(/&-]|\b(?:an?|and|as|for|from|into|of|or|than|that|the|to|via|with))$"
_FULL = 60
"""A line of this many characters may have been broken because it was full; a shorter one ends where it was meant to."""


class Box(Value):
    """A check box of any section; `listed` tells lists and tables apart, and `bad` is one that is not well written.

    `tight` is one without the blank after its bullet, `joined` one that markdown takes for text of the item above,
    `optional` one with Kiro's star. `groups` are the item above it and its headings, the nearest first.
    """

    line: int
    content: str
    mark: str
    section: Section
    groups: tuple[str, ...]
    listed: int
    description: str = ""
    bad: bool = False
    open_below: int = 0
    tight: bool = False
    joined: bool = False
    optional: bool = False

    @property
    def done(self) -> bool:
        return self.mark in _DONE

    @property
    def is_underway(self) -> bool:
        return self.mark in _UNDERWAY

    def is_numbered_within(self) -> bool:
        """Whether its text begins with the number of its heading, as `1.2 …` does below `## 1. Schema`."""
        import re

        return re.match(r"(\d+)[.)]?\s\S.*\n\1\.\d", f"{self.section.name}\n{self.content}") is not None


def is_box(line: str) -> bool:
    """Whether a line of text begins with a box, with or without a bullet, also one that is not well written."""
    import re

    return re.match(_BOX_LINE, line) is not None


def is_tight(line: str) -> bool:
    """Whether the blank between bullet and box is missing, which makes it text to markdown."""
    import re

    return re.match(_TIGHT, line) is not None


def indent(line: str) -> int:
    wide = line.expandtabs(4)
    return len(wide) - len(wide.lstrip())


def title_end(lines: list[str]) -> int:
    """How many of the lines of a box are its title: the others describe it.

    A line continues with the title where it was broken for its length or within a sentence.
    """
    return next((n for n in range(1, len(lines)) if not _goes_on(lines[n - 1].rstrip(" \\"), lines[n])), len(lines))


def _goes_on(before: str, line: str) -> bool:
    import re

    text = line.lstrip()
    if before.endswith(":") or re.match(f"{_KEYWORD}|{_LABEL}|{_POINT}", text) or is_box(text):
        return False
    if len(before) >= _FULL or re.search(_UNFINISHED, before):
        return True
    return re.match(_NEW_SENTENCE, text) is None
