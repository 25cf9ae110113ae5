"""The phases of a plan: their headings, what is marked or ticked in them, and which of them is worked on."""

from __future__ import annotations

import re
from _collections_abc import Iterable

from holdfast.core.value import Value
from holdfast.systems.compaction.detection import numerals, prose, words
from holdfast.systems.compaction.detection.numerals import KINDS

_NUMBER = r"\s*#?([0-9]{1,4})(?:\s*(?:/|of\s|von\s)\s*([0-9]{1,4}))?(?![0-9a-z]|\.[0-9])(?:\s*[:：.)–—-]+)?\s*(.*)"
_NUMBERED = r"(?ai)()([0-9]{1,3})(?:[.)]|\s*[:：–—-])()\s+(\S.*)"
_HEADING = r" {0,3}(#{1,6})\s+(.*?)(?:\s#+)?\s*$"
_BOLD = r" {0,3}(?:\*\*|__)(.+?)(?:\*\*|__)(.*)$"
_ITEM = r"\s*(?:[-*+•]|[0-9]{1,3}[.)])\s+(.*)"
_BOX = r"\[(.)\](?:\s+|$)(.*)"
_POSITION = r"(?:phase|step|stage|milestone)s?"
_BOLD_LEVEL, _ITEM_LEVEL, _ROW_LEVEL = 7, 8, 9


class Outline(Value):
    """The phase that is worked on, how many there are, its name, and all names where every phase has one."""

    current: int
    total: int
    phase: str
    names: tuple[str, ...]


class _Part:
    """A phase: what its heading says of it, and what the tasks in it say."""

    def __init__(self, level: int, number: int, of: int, name: str, marked: str) -> None:
        self.level, self.number, self.of, self.name, self.marked = level, number, of, name, marked
        self.items: list[str] = []

    @property
    def status(self) -> str:
        if self.marked and (self.marked != words.OPEN or not self.items):
            return self.marked
        if not self.items or set(self.items) <= {words.OPEN}:
            return words.OPEN
        return words.DONE if set(self.items) <= {words.DONE, words.DROPPED} else words.RUNNING

    @property
    def is_over(self) -> bool:
        return self.status in (words.DONE, words.DROPPED)


def outline(lines: list[str], status: str) -> Outline:
    """`status` is what the plan's own status line says: it may name phases."""
    kind, parts = _parts(lines)
    shift = 1 if 0 in parts else 0
    stated, count, called = _stated(lines)
    total = max(1, stated, count, max(parts, default=0) + shift, *(part.of for part in parts.values()))
    over = {number + shift for number, part in parts.items() if part.is_over} | _said_to_be_over(status, kind)
    begun = {number + shift: part for number, part in parts.items() if part.status in (words.RUNNING, words.HELD)}
    open_ = [number + shift for number in sorted(parts) if number + shift not in over]
    marked = [number for number, part in sorted(begun.items()) if part.marked or words.RUNNING in part.items]
    if marked:
        current = marked[0]
    elif stated and stated not in over:
        current = stated
    else:
        last = max([*begun, *over], default=0)
        current = last if last in begun else next((one for one in open_ if one > last), (open_ or [stated or total])[0])
        current = current if parts or stated else total
        named = re.search(rf"(?ai)(?:{kind})\s*#?([0-9]{{1,4}})", status) if kind and not last else None
        current = int(named[1]) if named and 1 <= int(named[1]) <= total else current
    names = {number + shift: part.name for number, part in parts.items()}
    is_whole = len(names) == total and all(names.values())
    phase = names.get(current, "") or (called if current == stated else "")
    return Outline(current, total, phase, tuple(names[one] for one in sorted(names)) if is_whole else ())


def is_part(text: str) -> bool:
    """Whether a heading is that of a phase, or of a part of one such as `Phase 2.5`."""
    text = prose.plain_name(prose.undecorated(numerals.in_digits(text)))
    return any(re.match(rf"(?ai)(?:{kind})\s*#?[0-9]", text) for kind in KINDS)


def is_running(lines: list[str]) -> bool:
    """Whether a phase is marked as worked on, in words: by marks alone plans also explain marks."""
    for line in lines:
        match = re.match(_HEADING, line)
        tail = re.search(r"[🔄🟡]\ufe0f?\W{0,9}in[ -]progress", match[2], re.IGNORECASE) if match else None
        if tail and match and words.said(match[2][tail.start() :]) == words.RUNNING:
            return True
    return False


def level_of(line: str) -> int:
    match = re.match(_HEADING, line)
    return len(match[1]) if match else 0


def _parts(lines: list[str]) -> tuple[str, dict[int, _Part]]:
    for kind in KINDS:
        pattern = rf"(?i)({kind}){_NUMBER}"
        for levels in ((2, 3, 4), (_BOLD_LEVEL,), (_ITEM_LEVEL,), (_ROW_LEVEL,)):
            found = _filled(lines, pattern, levels)
            if found:
                by_number: dict[int, _Part] = {}
                for part in found:
                    known = by_number.setdefault(part.number, part)
                    known.name = known.name or part.name
                _marked_elsewhere(lines, pattern, levels, by_number)
                return kind, by_number
    numbered = [one for one in _filled(lines, _NUMBERED, (2, 3, 4)) if one.marked or one.items]
    return "", dict(enumerate(numbered, 1)) if len(numbered) > 1 else {}


def _marked_elsewhere(lines: list[str], pattern: str, levels: tuple[int, ...], parts: dict[int, _Part]) -> None:
    """What a list or a table of the phases says of those whose own headings and tasks say nothing."""
    rows = () if _ROW_LEVEL in levels else _filled(lines, pattern, (_ITEM_LEVEL, _ROW_LEVEL))
    for row in rows:
        part = parts.get(row.number)
        if part and not part.marked and not part.items:
            part.marked = row.marked


def _filled(lines: list[str], pattern: str, levels: tuple[int, ...]) -> list[_Part]:
    """The parts that headings of some levels begin, with what is said in each of them."""
    found: list[_Part] = []
    inside: _Part | None = None
    for line in lines:
        begun = _begun(line, pattern, levels)
        if begun:
            inside = begun
            found.append(begun)
            continue
        level = level_of(line)
        if (level and inside and level <= min(inside.level, 6) and not is_part(line.lstrip("# "))) or line == "---":
            inside = None
        if inside and inside.level < _ITEM_LEVEL:
            inside.items += _item(line)
            label, value = labelled(line)
            if label and not inside.marked:
                told = words.said(value)
                inside.marked = "" if told == words.OTHER else told
    return found


def _begun(line: str, pattern: str, levels: tuple[int, ...]) -> _Part | None:
    level, text, more = level_of(line), "", ""
    if level:
        match = re.match(_HEADING, line)
        text = match[2] if match else ""
    elif _BOLD_LEVEL in levels and (match := re.match(_BOLD, line)):
        level, text, more = _BOLD_LEVEL, match[1], match[2]
    elif _ITEM_LEVEL in levels and (match := re.match(_ITEM, line)):
        level, text = _ITEM_LEVEL, match[1]
    elif _ROW_LEVEL in levels and line.lstrip().startswith("|"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        level, text, more = _ROW_LEVEL, cells[0], next((cell for cell in reversed(cells) if marked(cell)), "")
    if level not in levels:
        return None
    match = re.match(pattern, prose.undecorated(re.sub(r"^\[.\]\s*", "", prose.plain_name(text))))
    if not match:
        return None
    name = prose.progress_in(f"{match[2]}: {match[4]}")
    return _Part(level, int(match[2]), int(match[3] or 0), name[2] if name else "", marked(f"{text} {more}"))


def marked(text: str) -> str:
    """What a heading says of its phase, by a mark, a box or a word in brackets."""
    box = re.search(r"\[([ xX~/✓✔])\]", text)
    if box:
        return words.BOXES[box[1].lower()]
    mark = next((words.MARKS[c] for c in text if c in words.MARKS), "")
    if mark:
        return mark
    inner = re.findall(r"[(\[（【]([^()\[\]（）【】]*)[)\]）】]", text)
    found = [words.said(one) for one in inner if words.is_word(one)]
    shares = [int(share[1]) for one in inner if (share := re.fullmatch(r"([0-9]{1,3}) ?%", one.strip()))]
    found += [words.DONE if share == 100 else words.RUNNING if share else words.OPEN for share in shares]
    return found[-1] if found else ""


def _item(line: str) -> list[str]:
    """What a task says of itself by its box or mark: done where either says so, unless the mark says otherwise."""
    if line.lstrip().startswith("|"):
        cells = (cell.strip() for cell in line.split("|"))
        return [words.MARKS[cell[0]] for cell in cells if cell[:1] in words.MARKS][-1:]
    match = re.match(_ITEM, line)
    if not match:
        return []
    box = re.match(_BOX, match[1])
    ticked = words.BOXES.get(box[1].lower(), "") if box else ""
    mark = words.MARKS.get((box[2] if box else match[1])[:1], "")
    both = [one for one in (mark, ticked) if one]
    return [words.DONE if words.DONE in both and mark in ("", words.DONE, words.OPEN) else both[0]] if both else []


def labelled(line: str) -> tuple[str, str]:
    """The word for a status before a colon, in a cell or in a heading, and what follows it."""
    head = prose.Line.of(line)
    body = prose.undecorated(head.body.lstrip(" |"))
    prefix = r"(?:(?:current|overall|plan|project|workflow)\s+)?"
    match = re.match(rf"(?i)[*_`~]*{prefix}({words.LABEL})[*_`~]*\s*([:：|–—-]*)[*_`~]*\s*(.*)", body)
    if not match or (match[3][:1].isalnum() and not match[2]):
        return "", ""
    if not (match[2] or head.heading or match[3][:1] in words.MARKS):
        return "", ""
    return match[1], match[3].rstrip(" |")


def _stated(lines: Iterable[str]) -> tuple[int, int, str]:
    """What a line such as `Phase: 2/5` says, and zeros when there is none."""
    stated, count, called = 0, 0, ""
    for line in lines:
        match = re.match(rf"(?i)(current[\s_-]+|total[\s_-]+)?{_POSITION}[*_`]*\s*[:：]\s*(.*)", _bare(line))
        progress = prose.progress_in(prose.plain_name(prose.unquoted(match[2]))) if match else None
        if not match or not progress:
            continue
        if (match[1] or "").lower().startswith("total"):
            count = count or progress[0]
        elif not stated and (progress[1] or match[1]):
            stated, called = progress[0], progress[2]
            count = count or progress[1]
    return stated, max(stated, count), called


def _bare(line: str) -> str:
    return prose.undecorated(prose.Line.of(line).body).lstrip("*_`~")


def _said_to_be_over(status: str, kind: str) -> set[int]:
    """The phases that the plan's status calls complete: `Phases 1-2 complete`."""
    if not kind:
        return set()
    over: set[int] = set()
    for match in re.finditer(
        rf"(?ai)(?:{kind})s?\s*#?([0-9]{{1,3}})(?:\s*(?:[-–—]|and|to|,|&)\s*([0-9]{{1,3}}))?\s*(?:\w+\s+)?"
        r"(?:completed?|done|finished)",
        status,
    ):
        over |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    return over
