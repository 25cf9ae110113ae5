"""How a review says that something is wrong, and how severely: in brackets, by a label, a sign or a line of its own."""

from __future__ import annotations

import re
from _collections_abc import Iterator, Sequence

from holdfast.core.value import Value
from holdfast.systems.gated.review_blocks import MATTER, PARAGRAPH, ROW, RULE, STRUCK, Block

_RANKS = ("high", "medium", "low", "nit", "nits", "nitpick", "hoch", "mittel", "niedrig")
"""Severities in other projects that are also words of a sentence: in front of a line they need a colon or dash."""
_LOUD = ("critical", "blocker", "blockers", "blocking", "major", "minor")
"""Severities that mark a finding in front of a line by capitals alone."""
_ELSEWHERE = {
    **dict.fromkeys(("kritisch", "crítico", "crítica", "blockierend", "bloquant", "严重", "致命"), "critical"),
    **dict.fromkeys(("schwerwiegend", "gravierend", "majeur", "hoch", "重大"), "major"),
    **dict.fromkeys(("mittel", "niedrig"), "minor"),
}
"""What reviewers write in other languages."""
_NUMBERED = "sev(?:erity)?[ -]?[0-4]"
KINDS = f"critical|blockers?|blocking|major|minor|must[ -]fix|p[0-3]|{_NUMBERED}|{'|'.join(reversed(_RANKS))}"
KINDS += f"|{'|'.join(word for word in _ELSEWHERE if word not in _RANKS)}"
_SEVERITY = f"(?P<severity>{KINDS})"
_MEANT = {
    **_ELSEWHERE,
    **dict.fromkeys(("blocker", "blockers", "blocking", "p0"), "critical"),
    **dict.fromkeys(("high", "p1", "must fix", "must-fix"), "major"),
    **dict.fromkeys(("medium", "low", "p2", "p3", "nit", "nits", "nitpick"), "minor"),
}
_BY_NUMBER = ("critical", "critical", "major", "minor", "minor")
FINDING = "(?:issues?|findings?|problems?|concerns?|bugs?|defects?)"
_GRADE = r"(?:[ \t-]+(?:severity|priority|risk)\b)?"
_BY_WHEN = r"(?:[ \t]+before[ \t]+[\w \t-]{1,30}?(?=[ \t]*[:–—]))?"
_PLACE = r"(?=[ \t]*\([^()\n]{1,80}\)[ \t]*(?:[:–—]|-[ \t]))"
"""Where it is, in brackets between the severity and the colon."""
_QUOTES = "‘’“”„«»'\""
_MARK = rf"(?i)\[\s*{_SEVERITY}(?:\s+badge)?\s*\]"
_SHORT = "s[0-2]"
"""A number of a severity that is also a number of something else: it counts in front of a line alone."""
_ICON = r":[a-z0-9_+-]{2,40}:"
_LABEL = rf"(?!p[0-3]|{_SHORT})[a-z]{{1,3}}-?\d{{1,3}}[.:)][ \t]"
"""The number of a finding, as in `C1: CRITICAL`."""
_FRONT = rf"^(?:{_ICON}|<[^<>\n]*>|{_LABEL}|[^\w\n\[]|\d+[.)]|\[[ x]\])*"
_LEADING = (
    rf"(?im){_FRONT}(?P<words>(?:(?:severity|priority)[ \t]*[:=–—-][^\w\n]*)?(?P<severity>{KINDS}|{_SHORT}))\b"
    rf"{_GRADE}(?:[ \t]+{FINDING})?{_BY_WHEN}(?:{_PLACE}|[ \t]*[:–—){_QUOTES}]?)"
)
"""A severity at the beginning of a line; it marks a finding with a colon or dash after it, or in bold."""
_LABELLED = (
    rf"(?im){_FRONT}(?P<label>(?:{FINDING}|todo|chore|suggestion|question|thought|nit(?:pick)?|note|typo|polish|quibble"
    r"|praise|comment|risk|vulnerability|task)(?:[ \t]*#?\d+)?)[ \t]*"
    rf"(?P<open>\()(?:[^()\n]*,[ \t]*)?{_SEVERITY}{_GRADE}(?:[ \t]*,[^()\n]*)?\)[ \t]*(?:[:–—]|$)"
)
"""A label with the severity behind it, as in `issue (blocking): what` and `Finding 1 (High)`."""
_SEVERE = "critical|blocker|blocking|major|must[ -]fix|p[01]|high|kritisch|schwerwiegend"
_TRAILING = (
    rf"(?im)(?:[\[(]\s*(?P<severity>{_SEVERE}){_GRADE}\s*[\])]"
    rf"|[-–—,;][ \t]+(?:severity|priority)[ \t]+(?P<named>{_SEVERE})\b"
    rf"|[–—-][ \t]+(?P<loud>(?-i:CRITICAL|BLOCKER|BLOCKING|MAJOR|HIGH|P0|P1))\b)[.\s]*$"
)
"""A severity at the end of a line."""
_HEADED = rf"(?i)[\[(]\s*{_SEVERITY}{_GRADE}\s*[\])]\W*$"
"""A severity at the end of a heading."""
_GRADED = r"(?i)\b(?:confidence|coverage|quality|cohesion|complexity|effort|value|likelihood)\W*$"
"""What is high or low and no finding."""
_NAMED = rf"(?i)\b(?:severity|priority)[ \t]*[:=][^\w\n]*{_SEVERITY}\b"
"""A severity behind what it is of."""
_SIGNS = {"🔴": "critical", "🟠": "major"}
_SIGN = rf"(?im)^(?:[^\w\n\[🔴🟠]|\d+[.)])*(?P<sign>[🔴🟠])(?!\W*(?:{KINDS}|0)\b)"
_SIGNED = rf"(?i)[🔴🟠🟡🟢]\W{{0,4}}{_SEVERITY}\b(?!\W{{0,3}}(?:0|none)\b)"
"""A sign and a severity together, wherever they are in a line."""
_CELL = rf"(?i)(?:^|(?<=\| ))[^\w|]*{_SEVERITY}{_GRADE}[^\w|]*(?= \||$)"
_SIGN_CELL = r"(?:^|(?<=\| ))[^\w|🔴🟠]*(?P<sign>[🔴🟠])[^\w|]*(?= \||$)"
_CHUNK = rf"(?im)(?:^|\|)[^\w|\n]*{_SEVERITY}{_GRADE}[^\w|\n]*(?=\||$)"
"""A severity alone between the bars of a line, as bots write it: `Potential issue | 🔴 Critical`."""
_SECTION = (
    rf"(?i)(?:[\W\d_])*(?P<named>(?:severity|priority)\W+)?{_SEVERITY}(?:[\s-]+(?:severity|priority|risk))?"
    rf"(?:\s+{FINDING})?(?:\s+before\s+[\w ]{{1,30}})?(?:[\W\d_])*"
)
"""The heading of a section of findings."""
_BEFORE_A_MARK = rf"(?:{_ICON}|<[^<>\n]*>|[\W\d_]|\[[xX]\])*"
_AFTER_A_MARK = r"(?:\s*[:–—|]|\s*-(?=\s))*\s*"
_TICKED = r"\W*\[[xX]\]"
"""The beginning of a line whose box is ticked: the task that it names is done."""
_NO_WORDS = " *_|."
_TARGET = r"\([^()\s]*\)"
_NONE_OF = (
    r"(?i)\b(?:no|zero|without|neither)\s+(?:(?:further|more|new|open|other|remaining|unresolved)\s+)?"
    rf"(?:\[\s*(?:{KINDS})\s*\][\s,/&]*(?:(?:or|and|nor)\s+)?)*$"
)
_NONE_BEHIND = rf"(?i)\b(?:no|zero|without)\s+(?:\w+\s+)?{FINDING}\s*$|{_NONE_OF[4:]}"


class Share(Value):
    """The part that a finding has in a block. The line counts from 1."""

    severity: str
    line: int
    text: str
    is_section: bool = False
    """Whether it is a heading, which is no finding without a text below it."""
    only_severity: bool = False
    """Whether it only says how severe it is: what is wrong is said around it."""
    awaits: bool = False
    """Whether the words come with the next paragraph."""


class _Mark(Value):
    """A severity that a finding begins with, and where it is in the text of its block."""

    severity: str
    start: int
    end: int
    is_label: bool = False
    """Whether it belongs to a line that says nothing else, if that is so."""


def shares(block: Block) -> tuple[str, list[Share]]:
    """The findings that begin in a block, each with its share of the text, and the text before them."""
    said_so, block = block.text, block.replace(text=_folded(block.text))
    text = block.text
    section = re.fullmatch(_SECTION, text) if _is_heading(block) and "[" not in text else None
    if section:
        severity, named = _severity(section["severity"]), bool(section["named"])
        return "", [Share(severity, block.line, "", is_section=not named, only_severity=named, awaits=named)]
    marks = _marks(block)
    if not marks:
        return said_so, []
    begins = [_begin(text, mark, before) for before, mark in zip([None, *marks], marks, strict=False)]
    found, line, seen = [], block.line, 0
    for mark, begin, end in zip(marks, begins, [*begins[1:], len(text)], strict=True):
        line, seen = line + text.count("\n", seen, mark.start), mark.start
        is_image = text[: mark.start].endswith("!")
        after = re.sub(_TARGET, "", said_so[mark.end : end], count=1) if is_image else said_so[mark.end : end]
        after = re.sub(_AFTER_A_MARK, "", after, count=1)
        before_it = said_so[begin : mark.start].removesuffix("!") if is_image else said_so[begin : mark.start]
        said = f"{before_it} {after}"
        is_bare = mark.is_label and (_is_alone(text, begin, mark) or _is_badge(text, mark))
        awaits = is_bare and "\n" not in text[mark.end : end].strip()
        found.append(Share(mark.severity, line, said, only_severity=is_bare, awaits=awaits))
    before_all = said_so[: begins[0]]
    return ("" if re.fullmatch(_BEFORE_A_MARK, before_all) else before_all), found


def _folded(text: str) -> str:
    """A text whose letters of other widths and styles are plain ones; every character stays where it is."""
    if text.isascii():
        return text
    from unicodedata import normalize

    plain = (normalize("NFKC", char) for char in text)
    return "".join(one if len(one) == 1 else char for one, char in zip(plain, text, strict=True))


def _is_heading(block: Block) -> bool:
    return RULE < block.level < PARAGRAPH


def _is_alone(text: str, begin: int, mark: _Mark) -> bool:
    """Whether the line of a mark says nothing else, and no line above it is of the same finding."""
    return not text[begin : mark.start].strip(" *_\n|") and not text[mark.end :].partition("\n")[0].strip(_NO_WORDS)


def _is_badge(text: str, mark: _Mark) -> bool:
    """Whether a line is a row of labels, which the words follow."""
    return "|" in _line(text, mark.start) and not text[mark.end :].strip()


def _marks(block: Block) -> list[_Mark]:
    """Severities in brackets, at the beginning of a line, or alone in a cell of a table; in their order."""
    text = block.text
    if block.level == MATTER and not block.kinds:
        code = [_mark(mark) for mark in re.finditer(_MARK, text) if _leads_line(text, mark.start())]
        return [mark for mark in code if not _is_settled(block, mark)]
    bracketed = [mark for mark in re.finditer(_MARK, text) if _counts(block, mark)]
    found = [_mark(mark) for mark in bracketed]
    if block.level == ROW:
        cells = list(re.finditer(_CELL, text)) if not bracketed else []
        found += [_Mark(_severity(mark["severity"]), mark.start("severity"), mark.end()) for mark in cells]
        signs = list(re.finditer(_SIGN_CELL, text)) if not found else []
        found += [_Mark(_SIGNS[mark["sign"]], mark.start("sign"), mark.end()) for mark in signs]
    else:
        found += _in_prose(block, found)
    found += [_Mark("major", 0, 0, is_label=True)] if block.is_warning and not found else []
    kept = (mark for mark in found if not _is_settled(block, mark))
    return sorted(kept, key=lambda mark: mark.start)


def _mark(found: re.Match[str]) -> _Mark:
    return _Mark(_severity(found["severity"]), found.start(), found.end())


def _in_prose(block: Block, bracketed: Sequence[_Mark]) -> Iterator[_Mark]:
    """The marks of a paragraph or a heading that have no brackets; a line is marked once, in the clearest way."""
    text, known = block.text, [*bracketed]
    for mark in re.finditer(_LABELLED, text):
        start = mark.start("open" if any(char.isdigit() for char in mark["label"]) else 0)
        known.append(_Mark(_severity(mark["severity"]), start, mark.end()))
        yield known[-1]
    for mark in re.finditer(_LEADING, text):
        if _leads(block, mark) and not _is_marked(text, mark.start(1), known[len(bracketed) :]):
            named = mark["words"] != mark["severity"]
            known.append(_Mark(_severity(mark["severity"]), mark.start(1), mark.end(), is_label=named))
            yield known[-1]
    for mark in re.finditer(_SIGN, text):
        known.append(_Mark(_SIGNS[mark["sign"]], mark.start(1), mark.end()))
        yield known[-1]
    for mark, is_label in _behind(block):
        if not re.search(_NONE_BEHIND, text[: mark.start()]) and not _is_marked(text, mark.start(), known):
            said = next(filter(None, mark.groups()))
            known.append(_Mark(_severity(said), mark.start(), mark.end(), is_label=is_label))
            yield known[-1]


def _behind(block: Block) -> Iterator[tuple[re.Match[str], bool]]:
    """The severities that are not in front of a line, each with whether it can be a line's only word."""
    text = block.text
    at = 0
    for line in text.split("\n"):
        end = at + len(line)
        for chunk in re.compile(_CHUNK).finditer(text, at, end) if "|" in line else ():
            yield chunk, True
        if sum(line.count(sign) for sign in "🔴🟠🟡🟢") == 1:  # more of them are a legend
            for signed in re.compile(_SIGNED).finditer(text, at, end):
                yield signed, False
        at = end + 1
    if _is_heading(block):
        headed = re.search(_HEADED, text)
        if headed and not re.search(_GRADED, text[: headed.start()]):
            yield headed, False
        return
    for mark in re.finditer(_TRAILING, text):
        if not re.search(_GRADED, text[: mark.start()]):
            yield mark, False
    for mark in re.finditer(_NAMED, text):
        yield mark, True


def _line(text: str, at: int) -> str:
    """The line that a place is in."""
    first, last = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    return text[first : last if last >= 0 else len(text)]


def _is_marked(text: str, at: int, marks: Sequence[_Mark]) -> bool:
    """Whether the line of a place has a mark already."""
    first = text.rfind("\n", 0, at) + 1
    last = text.find("\n", at)
    return any(first <= mark.start < (last if last >= 0 else len(text)) for mark in marks)


def _is_settled(block: Block, mark: _Mark) -> bool:
    """Whether the words of a mark are struck out, or the box of its line is ticked: somebody settled it."""
    if re.match(_TICKED, _line(block.text, mark.start)):
        return True
    kinds = zip(block.text[mark.start : mark.end], block.kinds[mark.start : mark.end], strict=False)
    return any(kind == STRUCK for char, kind in kinds if not char.isspace())


def _severity(word: str) -> str:
    if re.fullmatch(f"{_NUMBERED}|{_SHORT}", word.lower()):
        return _BY_NUMBER[int(word[-1])]
    return _MEANT.get(word.lower(), word.lower())


def _leads(block: Block, mark: re.Match[str]) -> bool:
    """Whether a severity at the beginning of a line speaks of a finding, and does not begin a sentence."""
    kinds, end = block.kinds[mark.start(1) : mark.end(1)], block.text[mark.end(1) :]
    before = block.text[mark.start() : mark.start(1)]
    is_named = mark["words"] != mark["severity"] or (before.endswith("(") and end.startswith(")"))
    is_named = is_named or (mark["severity"].isupper() and before[-1:] in (*_QUOTES,) and end[:1] in (*_QUOTES,))
    follows = re.match(rf"(?i){_GRADE}(?:[ \t]+{FINDING})?{_BY_WHEN}(?:{_PLACE}|[ \t]*(?:[:–—]|-[ \t]))", end)
    said = mark["severity"].lower()
    if block.level < PARAGRAPH:
        return is_named or (bool(follows) and not re.fullmatch(_SHORT, said))
    is_loud = mark["severity"].isupper() and (said in _LOUD or bool(re.fullmatch(_NUMBERED, said)))
    return is_named or bool(follows) or is_loud or (set(kinds) == {"s"} and said not in _RANKS)


def _counts(block: Block, mark: re.Match[str]) -> bool:
    """In bold anywhere, and as it is at the beginning of a line; but not where the text says that there is none."""
    before = block.text[max(0, mark.start() - 120) : mark.start()]
    is_bold = block.kinds[mark.start(1)] == "s"
    return (is_bold or _leads_line(block.text, mark.start())) and not re.search(_NONE_OF, before)


def _leads_line(text: str, at: int) -> bool:
    """Whether nothing is said in the line before a place."""
    return bool(re.fullmatch(_BEFORE_A_MARK, text[text.rfind("\n", 0, at) + 1 : at]))


def _begin(text: str, mark: _Mark, before: _Mark | None) -> int:
    """Where the text of a finding begins: at its mark, or with the words that are before it.

    A line that only says how severe it is follows what that is of.
    """
    last = before.end if before else -1
    line = text.rfind("\n", max(last, 0), mark.start) + 1
    if mark.is_label and not text[mark.end :].partition("\n")[0].strip(_NO_WORDS) and line > 0:
        if before is None:
            return 0
        above = text.rfind("\n", last, line - 1) + 1
        return above if before.is_label and above > 0 else line
    if line < last or re.fullmatch(_BEFORE_A_MARK, text[line : mark.start]):
        return mark.start
    return line if last >= 0 else 0
