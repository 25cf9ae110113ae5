"""Review files: the markdown in which a reviewer decides on a phase and says what is wrong with it.

A parser of markdown says what is a heading and what is an item: a decision in a code fence, a comment or a quotation
decides nothing. Where an author's words leave a doubt, a file is refused rather than read as an approval.
"""

from __future__ import annotations

import os
import re
from _collections_abc import Iterator, Mapping, Sequence

from holdfast.core.gates import DECISIONS
from holdfast.core.packet_parts import short
from holdfast.core.value import Value
from holdfast.errors import NotFound, UsageError
from holdfast.markdown import feature_file
from holdfast.markdown.text import mistaken
from holdfast.systems.gated.review_blocks import MATTER, PARAGRAPH, ROW, RULE, Block, blocks

APPROVED, NEEDS_REVISION = "approved", "needs_revision"
SEVERITIES = ("critical", "major", "minor")
LARGEST = feature_file.LARGEST
LONGEST_FEEDBACK = 20_000
_BLOCKING = ("critical", "major")
_DECISION = r"(?is)[\W\d_]*(?:(?:final|overall|review|reviewer['’]?s?) )?(?:decision|verdict)\b\s*([:–—=-]?)\s*(.*)"
# Signs of refusal are no part of an approval; whatever is around the other word, work continues.
_WORDS = (
    (APPROVED, r"(?i)[\s*_`.!✅✔☑\ufe0f]*approved[\s*_`.!✅✔☑\ufe0f]*"),
    (NEEDS_REVISION, r"(?i)[\W_]*needs[\s_-]+revision[\W_]*"),
)
_FRONT = r"(?i)\s*(?:decision|verdict)\s*:\s*['\"]?(.+?)['\"]?\s*"
_EITHER = r"(?is)approved.*needs[\s_-]+revision|needs[\s_-]+revision.*approved"
_RANKS = ("high", "medium", "low")
"""Severities in other projects that are also words of a sentence: in front of a line they need a colon or dash."""
_LOUD = ("critical", "blocker", "blockers", "blocking", "major", "minor")
"""Severities that mark a finding in front of a line by capitals alone."""
_KINDS = f"critical|blockers?|blocking|major|minor|must[ -]fix|p[0-3]|{'|'.join(_RANKS)}"
_SEVERITY = f"(?P<severity>{_KINDS})"
_MEANT = {
    **dict.fromkeys(("blocker", "blockers", "blocking", "p0"), "critical"),
    **dict.fromkeys(("high", "p1", "must fix", "must-fix"), "major"),
    **dict.fromkeys(("medium", "low", "p2", "p3"), "minor"),
}
_FINDING = "(?:issues?|findings?|problems?|concerns?|bugs?|defects?)"
_MARK = rf"(?i)\[\s*{_SEVERITY}\s*\]"
_LEADING = (
    r"(?im)^(?:[^\w\n\[]|\d+[.)]|\[[ x]\])*"
    rf"(?P<words>(?:severity[ \t]*[:=–—-][ \t]*)?{_SEVERITY})\b(?:[ \t]+{_FINDING})?[ \t]*[:–—)]?"
)
"""A severity at the beginning of a line; it marks a finding with a colon or dash after it, or in bold."""
_TRAILING = r"(?im)[\[(]\s*(?P<severity>critical|blocker|blocking|major|must[ -]fix|p[01])\s*[\])][.\s]*$"
_NAMED = rf"(?i)\bseverity[ \t]*[:=][ \t]*{_SEVERITY}\b"
"""A severity behind what it is of."""
_SIGNS = {"🔴": "critical", "🟠": "major"}
_SIGN = rf"(?im)^(?:[^\w\n\[🔴🟠]|\d+[.)])*(?P<sign>[🔴🟠])(?!\W*(?:{_KINDS})\b)"
_CONDITION = (
    r"(?i)[\W_]*(?:but\s+)?(?:only\s+(?:if|once|after|when)|provided|conditional|conditionally|subject\s+to"
    r"|as\s+long\s+as|on\s+(?:the\s+)?condition)\b"
)
"""The beginning of a text that takes half of an approval back."""
_CELL = rf"(?i)(?:^|(?<=\| ))[^\w|]*{_SEVERITY}[^\w|]*(?= \||$)"
_SECTION = rf"(?i)(?:[\W\d_])*{_SEVERITY}(?:\s+{_FINDING})?(?:\s+before\s+[\w ]{{1,30}})?(?:[\W\d_])*"
"""The heading of a section of findings."""
_BEFORE_A_MARK = r"(?:<[^<>\n]*>|[\W\d_]|\[[xX]\])*"
_AFTER_A_MARK = r"(?:\s*[:–—|]|\s+-(?=\s))*\s*"
_NONE_OF = (
    r"(?i)\b(?:no|zero|without|neither)\s+(?:(?:further|more|new|open|other|remaining|unresolved)\s+)?"
    rf"(?:\[\s*(?:{_KINDS})\s*\][\s,/&]*(?:(?:or|and|nor)\s+)?)*$"
)
_NONE_BEHIND = rf"(?i)\b(?:no|zero|without)\s+(?:\w+\s+)?{_FINDING}\s*$|{_NONE_OF[4:]}"
_NOTHING = (
    r"(?i)(?:(?:issues?|findings?)\W*)?"
    rf"(?:none|0|n/?a|nothing|no (?:(?:{_KINDS}) )?(?:issues|findings|problems|concerns|bugs))"
    r"(?: (?:found|identified))?\W*"
)
_CONTROLS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_HOW = f"write {' or '.join(DECISIONS)}"
_REMEDY = (
    f"have the reviewer fix {{}}: {DECISIONS[1]}, '- **[MAJOR]** what is wrong', a line each, would do;"
    " findings of earlier reviews are told in a sentence, without their severity in front"
)


class Finding(Value):
    """Something that is wrong: how severe, and in plain text what. `line` counts from 1."""

    severity: str
    text: str
    line: int


class ReviewFile(Value):
    """What a review says. `feedback` is what the creator is told of it."""

    decision: str
    findings: tuple[Finding, ...]
    feedback: str


def read(full: str, path: str) -> ReviewFile:
    """The review in the file `full`, which messages call `path`. One error lists all mistakes of the file.

    At most `LARGEST` bytes of UTF-8, with or without a byte order mark, with any line ends. Links are not followed.
    """
    front, text = _text(full, path)
    reading = _Reading(text, _decided_in(front))
    findings = reading.findings()
    if mistakes := sorted((*reading.mistakes, *reading.contradictions(findings))):
        raise mistaken("bad_review", "review", path, mistakes, _REMEDY.replace("{}", path), path=path)
    decision = reading.decisions[0][1]
    return ReviewFile(decision, findings, _feedback(decision, findings, reading.rest))


class _Open:
    """A finding while its text is gathered."""

    def __init__(self, severity: str, line: int, block: Block, text: str, *, section: bool = False) -> None:
        self.severity, self.line, self.level, self.within = severity, line, block.level, block.within
        self.parts = [text]
        self.is_section = section  # a heading, which is no finding without a text below it

    def ends_before(self, block: Block) -> bool:
        """It lasts as long as its list item, its section, its row, or the paragraph and the lists that follow it."""
        if self.level == ROW or block.within[: len(self.within)] != self.within:
            return True
        if block.level < PARAGRAPH:
            return block.level <= self.level
        beside = self.level == block.level == PARAGRAPH and not block.within
        return beside and any(part.strip() for part in self.parts)

    def finding(self) -> Finding:
        return Finding(self.severity, _one_line(" ".join(self.parts)), self.line)


class _Reading:
    """What a text holds, gathered in one pass over its blocks."""

    def __init__(self, text: str, matter: Mapping[int, str]) -> None:
        self.decisions: list[tuple[int, str]] = []
        self.mistakes: list[tuple[int, str]] = []
        self.rest: list[str] = []  # everything but the decision
        self._found: list[_Open] = []
        self._open: list[_Open] = []
        self._awaited = 0  # the line of a heading whose decision is to be below it
        self._headings = 0
        self._is_decided = False  # by the block before this one
        for number, said in matter.items():
            self.decisions.append((number, _word(said)))
        for block in blocks(text):
            if not self._decides(block):
                self._take(block)
        self._give_up()
        if not self._headings:
            self.mistakes.append((1, f"there is no decision: {_HOW}"))

    def findings(self) -> tuple[Finding, ...]:
        """Those that say something: a reviewer may fill in a severity with 'None'."""
        found = ((each, each.finding()) for each in self._found)
        return tuple(
            one for each, one in found if not re.fullmatch(_NOTHING, one.text) and (one.text or not each.is_section)
        )

    def contradictions(self, findings: Sequence[Finding]) -> Iterator[tuple[int, str]]:
        decisions = dict.fromkeys(word for _, word in self.decisions)
        if len(decisions) > 1:
            first, word = self.decisions[0]
            line = next(line for line, other in self.decisions if other != word)
            yield line, f"the decision of line {first} is another one: {word.upper()}"
        elif APPROVED in decisions:
            for finding in findings:
                if finding.severity in _BLOCKING:
                    yield (
                        finding.line,
                        f"APPROVED has no {finding.severity.upper()} finding, and this is one: {finding.text[:60]!r}",
                    )

    def _decides(self, block: Block) -> bool:
        """Take the block if it is a decision, or the heading of one."""
        below = self._awaited and not block.within
        if below and (block.level == PARAGRAPH or (block.level < PARAGRAPH and _word(block.text))):
            self._awaited = 0
            self._decide(block)
            return True
        self._give_up()
        heading = re.fullmatch(_DECISION, block.text) if RULE < block.level < PARAGRAPH else None
        if heading is None or not (heading[1] or not heading[2] or _word(heading[2])):
            return False
        self._headings += 1
        self._open.clear()
        if heading[2]:
            self._decide(block.replace(text=heading[2]))
        else:
            self._awaited = block.line
        return True

    def _give_up(self) -> None:
        if self._awaited:
            self.mistakes.append((self._awaited, f"there is no decision below this heading: {_HOW}"))
            self._awaited = 0

    def _decide(self, block: Block) -> None:
        if word := _word(block.text):
            self.decisions.append((block.line, word))
            self._is_decided = word == APPROVED
        elif re.search(_EITHER, block.text[:200]):
            self.mistakes.append((block.line, f"the decision is still to be made, it names both: {_HOW}"))
        else:
            said = _one_line(block.text)[:60]
            self.mistakes.append((block.line, f"the decision {said!r} is neither APPROVED nor NEEDS_REVISION: {_HOW}"))

    def _take(self, block: Block) -> None:
        while self._open and self._open[-1].ends_before(block):
            self._open.pop()
        self.rest.append(block.text)
        if self._is_decided and block.level == PARAGRAPH and re.match(_CONDITION, block.text):
            said = _one_line(block.text)[:60]
            self.mistakes.append((block.line, f"an approval has no condition, and this is one: {said!r}"))
        self._is_decided = False
        if marked := list(_marked(block)):
            self._found += marked
            self._open += marked[-1:]
        elif self._open:
            self._open[-1].parts.append(block.text)


class _Mark(Value):
    """A severity that a finding begins with, and where it is in the text of its block."""

    severity: str
    start: int
    end: int


def _marked(block: Block) -> Iterator[_Open]:
    """The findings that begin in a block, each with its share of the text."""
    if block.level == MATTER:
        return
    text = block.text
    section = re.fullmatch(_SECTION, text) if RULE < block.level < PARAGRAPH and "[" not in text else None
    if section:
        yield _Open(_severity(section["severity"]), block.line, block, "", section=True)
        return
    marks = _marks(block)
    begins = [
        _begin(text, mark, before.end if before else -1) for before, mark in zip([None, *marks], marks, strict=False)
    ]
    ends = [*begins[1:], len(text)]
    line, seen = block.line, 0
    for mark, begin, end in zip(marks, begins, ends, strict=False):
        line, seen = line + text.count("\n", seen, mark.start), mark.start
        after = re.sub(_AFTER_A_MARK, "", text[mark.end : end], count=1)
        yield _Open(mark.severity, line, block, f"{text[begin : mark.start]} {after}")


def _marks(block: Block) -> list[_Mark]:
    """Severities in brackets, at the beginning of a line, or alone in a cell of a table; in their order."""
    bracketed = [mark for mark in re.finditer(_MARK, block.text) if _counts(block, mark)]
    if block.level == ROW:
        plain = list(re.finditer(_CELL, block.text)) if not bracketed else []
    else:
        plain = [mark for mark in re.finditer(_LEADING, block.text) if _leads(block, mark)]
    found = [_Mark(_severity(mark["severity"]), mark.start(), mark.end()) for mark in bracketed]
    found += [_Mark(_severity(mark["severity"]), mark.start(1), mark.end()) for mark in plain]
    if block.level == PARAGRAPH:
        found += [_Mark(_SIGNS[mark["sign"]], mark.start(1), mark.end()) for mark in re.finditer(_SIGN, block.text)]
        known = [*found]
        behind = (*re.finditer(_TRAILING, block.text), *re.finditer(_NAMED, block.text))
        found += [
            _Mark(_severity(mark["severity"]), mark.start(), mark.end())
            for mark in behind
            if not re.search(_NONE_BEHIND, block.text[: mark.start()])
            and not _is_marked(block.text, mark.start(), known)
        ]
    return sorted(found, key=lambda mark: mark.start)


def _is_marked(text: str, at: int, marks: Sequence[_Mark]) -> bool:
    """Whether the line of a place has a mark already."""
    first = text.rfind("\n", 0, at) + 1
    last = text.find("\n", at)
    return any(first <= mark.start < (last if last >= 0 else len(text)) for mark in marks)


def _severity(word: str) -> str:
    return _MEANT.get(word.lower(), word.lower())


def _leads(block: Block, mark: re.Match[str]) -> bool:
    """Whether a severity at the beginning of a line speaks of a finding, and does not begin a sentence."""
    kinds, end = block.kinds[mark.start(1) : mark.end(1)], block.text[mark.end(1) :]
    before = block.text[mark.start() : mark.start(1)]
    is_named = mark["words"] != mark["severity"] or (before.endswith("(") and end.startswith(")"))
    follows = re.match(rf"(?i)(?:[ \t]+{_FINDING})?[ \t]*(?:[:–—]|-[ \t])", end)
    if block.level < PARAGRAPH:
        return bool(follows)
    is_loud = mark["severity"].isupper() and mark["severity"].lower() in _LOUD
    return is_named or bool(follows) or is_loud or (set(kinds) == {"s"} and mark["severity"].lower() not in _RANKS)


def _counts(block: Block, mark: re.Match[str]) -> bool:
    """In bold anywhere, and as it is at the beginning of a line; but not where the text says that there is none."""
    before = block.text[max(0, mark.start() - 120) : mark.start()]
    kind = block.kinds[mark.start(1)]
    leads = kind == "t" and re.fullmatch(_BEFORE_A_MARK, before[before.rfind("\n") + 1 :])
    return bool(kind == "s" or leads) and not re.search(_NONE_OF, before)


def _begin(text: str, mark: _Mark, last: int) -> int:
    """Where the text of a finding begins: at its mark, or with the words that are before it."""
    line = text.rfind("\n", max(last, 0), mark.start) + 1
    if line < last or re.fullmatch(_BEFORE_A_MARK, text[line : mark.start]):
        return mark.start
    return line if last >= 0 else 0


def _word(text: str) -> str:
    return next((word for word, pattern in _WORDS if re.fullmatch(pattern, text)), "")


def _feedback(decision: str, findings: Sequence[Finding], rest: Sequence[str]) -> str:
    """What the creator is told, the most severe first; a review without findings has to speak for itself."""
    by_severity = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    lines = [f"[{finding.severity.upper()}] {finding.text}".rstrip() for finding in by_severity]
    if not lines and decision == NEEDS_REVISION:
        lines = [re.sub(_CONTROLS, "", text).strip() for text in rest]
    return short("\n".join(filter(None, lines)), LONGEST_FEEDBACK)


def _one_line(text: str) -> str:
    return re.sub(_CONTROLS, "", re.sub(r"\s+", " ", text)).strip(" |")


def _decided_in(front: Sequence[str]) -> dict[int, str]:
    """The decision that front matter has, by the number of its line."""
    found = ((number, re.fullmatch(_FRONT, line)) for number, line in enumerate(front, 1))
    return {number: match[1] for number, match in found if match and _word(match[1])}


def _text(full: str, path: str) -> tuple[list[str], str]:
    """The front matter and the text of the file; what makes it unfit is reported as of a review."""
    try:
        return feature_file.load(full, path).parts(path)
    except NotFound as error:
        here = os.path.abspath(path)
        remedy = f"move {here} to {full}" if os.path.isfile(here) else f"have the reviewer write {path}"
        raise NotFound("no_review", error.message, remedy=remedy, facts={"path": path}) from None
    except UsageError as error:
        remedy = f"have the reviewer write {path} again, as a text of at most {LARGEST} bytes"
        facts = {"path": path, "reason": error.facts["reason"], "mistakes": []}
        raise UsageError("bad_review", error.message, remedy=remedy, facts=facts) from None
