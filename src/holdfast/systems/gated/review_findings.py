"""The findings of a review, each with all that is said of it, and the text that belongs to none of them."""

from __future__ import annotations

import re
from _collections_abc import Iterator, Sequence

from holdfast.core.value import Value
from holdfast.systems.gated.review_blocks import MATTER, PARAGRAPH, ROW, RULE, Block
from holdfast.systems.gated.review_marks import FINDING, KINDS, Share, shares

SEVERITIES = ("critical", "major", "minor")
_NOTHING = (
    r"(?i)(?:(?:issues?|findings?)\W*)?"
    rf"(?:none|0|n/?a|nothing|no (?:(?:{KINDS}) )?(?:issues|findings|problems|concerns|bugs))"
    r"(?: (?:found|identified))?\W*"
)
_PLAIN_TITLE = (
    r"(?i)[\W\d_]*(?:(?:all|open|new|the|review|my)\s+)*"
    rf"(?:review|{FINDING}|comments?|notes?|remarks?|details|summary|overview)[\W\d_]*"
)
"""A heading that names no single finding."""
_LOOKED_AT = r"(?i)[\W\d_]*what was looked at\W*"
"""The section of the template that says how the reviewer worked, and asks for nothing."""
_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_TAG = r"(?i)</?(?:sub|sup|b|i|em|strong|code|kbd|a|span|p|div|font|u|s|del|img|br|details|summary)\b[^<>]*>"


class Finding(Value):
    """Something that is wrong: how severe, and in plain text what. `line` counts from 1."""

    severity: str
    text: str
    line: int


class _Open:
    """A finding while its text is gathered."""

    def __init__(self, share: Share, block: Block) -> None:
        self.severity, self.line, self.level, self.within = share.severity, share.line, block.level, block.within
        self.parts = [share.text]
        self.is_section = share.is_section
        self.awaits = share.awaits  # the paragraph after it, too
        self.is_bare = share.only_severity
        self.context = ""  # the words around it, which are its own if it has no others

    def ends_before(self, block: Block) -> bool:
        """It lasts as long as its list item, its section, its row, or the paragraph and the lists that follow it."""
        if self.level in (ROW, MATTER) or block.within[: len(self.within)] != self.within:
            return True
        if block.level < PARAGRAPH:
            return block.level <= self.level
        beside = self.level == block.level == PARAGRAPH and not block.within
        return beside and not self.awaits and any(part.strip() for part in self.parts)

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.awaits = False

    def finding(self) -> Finding:
        text = one_line(re.sub(_TAG, "", " ".join(self.parts)))
        if not text and not self.is_section:
            text = one_line(self.context)
        return Finding(self.severity, text, self.line)


class _Left:
    """A text that belongs to no finding, and the heading that it is below."""

    def __init__(self, block: Block, text: str, heading: Block | None) -> None:
        self.text, self.within, self.heading, self.level = text, block.within, heading, block.level
        self.is_head, self.is_taken = block.is_head, False


class Gathering:
    """Takes the blocks of a review, one after the other."""

    def __init__(self) -> None:
        self._found: list[_Open] = []
        self._open: list[_Open] = []
        self._left: list[_Left] = []
        self._heading: Block | None = None
        self._used: Block | None = None  # the heading that is the beginning of a finding
        self._aside = 0  # the level of the section that asks for nothing

    def close(self) -> None:
        """The decision ends every finding."""
        self._open.clear()
        self._heading, self._aside = None, 0

    def take(self, block: Block) -> None:
        while self._open and self._open[-1].ends_before(block):
            self._open.pop()
        before, found = shares(block)
        if RULE < block.level < PARAGRAPH and not self._open:
            self._enter(block, is_finding=bool(found))
        if before.strip():
            self._add(block, before)
        for share in found:
            self._begin(share, block)

    def _enter(self, block: Block, *, is_finding: bool) -> None:
        """A heading begins another section."""
        if self._aside and block.level <= self._aside:
            self._aside = 0
        if re.fullmatch(_LOOKED_AT, block.text):
            self._aside = block.level
        is_nested = is_finding and self._heading is not None and self._heading.level < block.level
        self._heading = self._heading if is_nested else None if is_finding else block

    def _add(self, block: Block, text: str) -> None:
        if self._open:
            self._open[-1].add(text)
        elif (block.level >= PARAGRAPH or self._heading is not block) and not self._aside:
            self._left.append(_Left(block, text, self._heading))

    def _begin(self, share: Share, block: Block) -> None:
        one = _Open(share, block)
        own = self._around(block)
        if share.only_severity:
            if self._open and not own and not self._open[-1].is_bare:
                self._more(share)
                return
            if self._open and self._open[-1].is_bare:
                self._open.pop()
            self._adopt(one, block, own)
        elif own:
            one.context = " ".join(left.text for left in own)
        elif self._heading and not re.fullmatch(_PLAIN_TITLE, self._heading.text):
            one.context = self._heading.text
        self._found.append(one)
        self._open[len(self._open) - bool(self._open and self._open[-1].line == one.line) :] = [one]

    def _more(self, share: Share) -> None:
        """A finding that has its words already is as severe as a line of its own says."""
        open_ = self._open[-1]
        open_.severity = min(open_.severity, share.severity, key=SEVERITIES.index)
        open_.add(share.text)

    def _around(self, block: Block) -> list[_Left]:
        """What was said in the innermost list item that the block is in, and that has words."""
        for size in range(len(block.within), 0, -1):
            own = [one for one in self._left if not one.is_taken and one.within[:size] == block.within[:size]]
            if own:
                return own
        return []

    def _adopt(self, one: _Open, block: Block, own: Sequence[_Left]) -> None:
        """A line that only says how severe something is belongs to its item, else to its section."""
        heading = self._heading
        if own:
            one.within = min((left.within for left in own), key=len)
        elif heading and heading is not self._used and not re.fullmatch(_PLAIN_TITLE, heading.text):
            own = [left for left in self._left if left.heading is heading and not left.is_taken]
            one.within, one.level, self._used = (), heading.level, heading
            one.parts.insert(0, heading.text)
        else:
            return
        for left in own:
            left.is_taken = True
        at = len(one.parts) - 1
        one.parts[at:at] = [left.text for left in own]

    def findings(self) -> tuple[Finding, ...]:
        """Those that say something: a reviewer may fill in a severity with 'None'."""
        found = ((each, each.finding()) for each in self._found)
        return tuple(
            one for each, one in found if not re.fullmatch(_NOTHING, one.text) and (one.text or not each.is_section)
        )

    def left(self) -> Iterator[str]:
        """What is said beside the findings, with the headings that it is below."""
        shown: Block | None = None
        head = ""
        for one in self._left:
            if one.is_taken or not one.text.strip() or re.fullmatch(_NOTHING, one_line(one.text)):
                continue
            if one.is_head:
                head = one.text
                continue
            if one.heading and one.heading.level > 1 and one.heading is not shown and one.heading is not self._used:
                shown = one.heading
                yield shown.text
            if head and one.level == ROW:
                yield head
            head = ""
            yield one.text


def plain(text: str) -> str:
    return re.sub(_CONTROLS, "", text).strip()


def one_line(text: str) -> str:
    return re.sub(_CONTROLS, "", re.sub(r"\s+", " ", text)).strip(" |")
