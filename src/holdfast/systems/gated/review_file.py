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
from holdfast.systems.gated.review_blocks import MATTER, PARAGRAPH, RULE, STRUCK, Block, blocks
from holdfast.systems.gated.review_findings import SEVERITIES, Finding, Gathering, one_line, plain

APPROVED, NEEDS_REVISION = "approved", "needs_revision"
LARGEST = feature_file.LARGEST
LONGEST_FEEDBACK = 20_000
BESIDE = "The review also says:"
"""What is above the text of a review that is in none of its findings."""
_BLOCKING = ("critical", "major")
_DECISION = r"(?is)[\W\d_]*(?:(?:final|overall|review|reviewer['’]?s?) )?(?:decision|verdict)\b\s*([:–—=-]?)\s*(.*)"
# Signs of refusal are no part of an approval; whatever is around the other word, work continues.
_WORDS = (
    (APPROVED, r"(?i)[\s*_`.!✅✔☑\ufe0f]*approved[\s*_`.!✅✔☑\ufe0f]*"),
    (NEEDS_REVISION, r"(?i)[\W_]*needs[\s_-]+revision[\W_]*"),
)
_FRONT = r"(?i)\s*(?:decision|verdict)\s*:\s*['\"]?(.+?)['\"]?\s*"
_EITHER = r"(?is)approved.*needs[\s_-]+revision|needs[\s_-]+revision.*approved"
_IF = (
    r"(?:only\s+(?:if|once|after|when)|provided|conditional|conditionally|subject\s+to"
    r"|as\s+long\s+as|(?:on|under)\s+(?:the\s+|one\s+)?condition)\b"
)
_CONDITION = rf"(?i)[\W_]*(?:but\s+)?{_IF}"
"""The beginning of a text that takes half of an approval back."""
_CONDITIONAL = (
    r"(?i)\b(?:approv(?:ed|e|al)|lgtm)\b\W+(?:(?:it|this|is|but|them)\W+){0,2}"
    rf"(?:{_IF}|if\b|once\b(?!\s+(?:again|more|before)\b)|with\s+(?:(?!no\b)\w+\s+)?(?:conditions?|reservations?)\b)"
    r"|\bconditional(?:ly)?\s+approv"
)
"""The same in a sentence that names the approval, wherever it is."""
_REFUSAL = (
    r"[\W_]*(?:\[[xX]\][\W_]*)?(?:NEEDS[\s_-]+REVISION|(?i:not\s+(?:yet\s+)?approved))\b"
    r"(?!\W*(?:APPROVED|was|were|of|in|from|by|on|none)\b)"
)
"""The beginning of a text that decides otherwise, and does not speak of an earlier review."""
_OPEN_BOX = r"\W*\[ \]"
_HOW = f"write {' or '.join(DECISIONS)}"
_REMEDY = (
    f"have the reviewer fix {{}}: {DECISIONS[1]}, '- **[MAJOR]** what is wrong', a line each, would do;"
    " mention earlier findings in a sentence, without [MAJOR] in front"
)


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
    findings = reading.gathered.findings()
    if mistakes := sorted((*reading.mistakes, *reading.contradictions(findings))):
        raise mistaken("bad_review", "review", path, mistakes, _REMEDY.replace("{}", path), path=path)
    decision = reading.decisions[0][1]
    rest = [*reading.gathered.left()] if findings else reading.rest
    return ReviewFile(decision, findings, _feedback(decision, findings, rest))


class _Reading:
    """What a text holds, gathered in one pass over its blocks."""

    def __init__(self, text: str, matter: Mapping[int, str]) -> None:
        self.decisions: list[tuple[int, str]] = []
        self.mistakes: list[tuple[int, str]] = []
        self.rest: list[str] = []  # everything but the decision
        self.gathered = Gathering()
        self._conditions: list[tuple[int, str]] = []
        self._refusals: list[tuple[int, str]] = []
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

    def contradictions(self, findings: Sequence[Finding]) -> Iterator[tuple[int, str]]:
        decisions = dict.fromkeys(word for _, word in self.decisions)
        if len(decisions) > 1:
            first, word = self.decisions[0]
            line = next(line for line, other in self.decisions if other != word)
            yield line, f"the decision of line {first} is another one: {word.upper()}"
        elif APPROVED in decisions:
            for line, said in self._conditions:
                yield line, f"an approval has no condition, and this is one: {said!r}"
            for line, said in self._refusals:
                yield line, f"the decision is APPROVED, and this is none: {said!r}"
            for finding in findings:
                if finding.severity in _BLOCKING:
                    said = f"this is one: {finding.text[:60]!r}" if finding.text else "here is one without words"
                    yield finding.line, f"APPROVED has no {finding.severity.upper()} finding, and {said}"

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
        self.gathered.close()
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
            said = one_line(block.text)[:60]
            self.mistakes.append((block.line, f"the decision {said!r} is neither APPROVED nor NEEDS_REVISION: {_HOW}"))

    def _take(self, block: Block) -> None:
        self.rest.append(block.text)
        begins = self._is_decided and block.level == PARAGRAPH and re.match(_CONDITION, block.text)
        if begins or (block.level != MATTER and re.search(_CONDITIONAL, block.text)):
            self._conditions.append((block.line, one_line(block.text)[:60]))
        elif block.level <= PARAGRAPH and _refuses(block):
            self._refusals.append((block.line, one_line(block.text)[:60]))
        self._is_decided = False
        self.gathered.take(block)


def _refuses(block: Block) -> bool:
    """Whether a text begins with the other decision, and that is neither struck out nor a box without a tick."""
    said = None if re.match(_OPEN_BOX, block.text) else re.match(_REFUSAL, block.text)
    return said is not None and STRUCK not in block.kinds[: said.end()]


def _word(text: str) -> str:
    return next((word for word, pattern in _WORDS if re.fullmatch(pattern, text)), "")


def _feedback(decision: str, findings: Sequence[Finding], rest: Sequence[str]) -> str:
    """What the creator is told: the findings, the most severe first, then all else that the review says."""
    by_severity = sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity))
    lines = [f"[{finding.severity.upper()}] {finding.text}".rstrip() for finding in by_severity]
    others = [*filter(None, map(plain, rest))] if decision == NEEDS_REVISION else []
    if lines and others:
        lines.append(BESIDE)
    return short("\n".join(filter(None, (*lines, *others))), LONGEST_FEEDBACK)


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
