"""The forms in which plans are written, brought to one: underlined headings, tables, numbers that are words."""

from __future__ import annotations

import re
from _collections_abc import Iterator

from holdfast.systems.compaction.detection import numerals, prose, words

_UNDERLINE = r" {0,3}(=+|-{2,})\s*"
_NO_HEADING = r"\s*(?:$|[-*+>|#•]|[0-9]{1,3}[.)]\s|-{3,}|(?:\*\*|__)?[\w -]{1,30}(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s)"
_PART_TITLE = rf"(?i)\s*(?:{numerals.KIND})\s*#?(?:[0-9]|\w+\s*[:：])"
_SUMMARY = (
    rf"(?i)^\s*(?:<details[^<>]*>\s*)?<summary>\s*(?:<\w+>\s*)?((?:{numerals.KIND})\s*#?(?:[0-9]|\w+\s*[:：]).*?)"
    r"\s*(?:</\w+>\s*)?</summary>.*"
)
_DELIMITER = r"[\s|:-]*-[\s|:-]*"
_LARGE = "|".join((*numerals.KINDS[:5], numerals.KINDS[5]))
_NUMBERS = ("#", "no", "no.", "nr", "nr.", "№", "number", "id")
_NAMES = r"(?i)name|title|goal|description|focus|deliverables?|scope|work|what|bezeichnung|ziel|nom|nombre"
_OF_THE_WHOLE = (
    r"(?i)plan|id|title|project|owners?|author|assignee|lead|reviewers?|(?:last )?(?:created|updated|modified|started)"
    r"|date|due(?: date)?|start|end|deadline|target|priority|version|estimate|effort|type|branch|progress"
    r"|verantwortlich|datum|priorität|fällig|auteur|propriétaire|autor|fecha|prioridad|responsable"
)
"""What is beside the status of a plan in a table that describes the plan."""
_SIGNS = {
    words.DONE: "✅",
    words.RUNNING: "🔄",
    words.OPEN: "⬜",
    words.HELD: "⏸",
    words.DROPPED: "❌",
}


def uniform(text: str) -> list[str]:
    """The lines of a plan that are no code, with headings, tables and numbers of phases as they are usually written."""
    lines = _headed([re.sub(_SUMMARY, r"## \1", line) for line in outside_fences(text)])
    letters = numerals.has_letters(lines)
    lines = [line if re.match(r" {0,3}#\s", line) else numerals.in_digits(line, letters) for line in lines]
    return list(_tabled(lines))


def outside_fences(text: str) -> Iterator[str]:
    """The lines that are no code: a plan may show in a fence how plans are written."""
    fence = ""
    for line in prose.lines_of(text):
        match = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence) and not line[match.end() :].strip():
            fence = ""
        elif not fence:
            yield line[: prose.LONGEST_LINE]


def front_matter(lines: list[str]) -> list[str]:
    """The lines between the two rules at the top of a file."""
    begin = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if lines[begin : begin + 1] != ["---"]:
        return []
    end = next((at for at in range(begin + 1, len(lines)) if lines[at].rstrip() == "---"), begin)
    return lines[begin + 1 : end]


def _headed(lines: list[str]) -> list[str]:
    """Underlined headings with signs in front. A rule below a label, an item or front matter underlines nothing."""
    out = list(lines)
    front = front_matter(lines)
    begin = lines.index("---") + len(front) + 2 if front else 1
    for at in range(max(begin, 1), len(lines)):
        rule, title = re.fullmatch(_UNDERLINE, lines[at]), out[at - 1]
        is_alone = at < 2 or not lines[at - 2].strip() or lines[at - 2].lstrip().startswith("#")
        is_title = re.match(_PART_TITLE, title) or not re.match(_NO_HEADING, title)
        if rule and is_alone and (is_title or (rule[1][0] == "=" and title.strip())):
            out[at - 1], out[at] = f"{'#' if rule[1][0] == '=' else '##'} {title.strip()}", ""
    return out


def _tabled(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        end = at + 2
        if "|" in lines[at] and "|" in "".join(lines[at + 1 : end]) and re.fullmatch(_DELIMITER, lines[at + 1]):
            while end < len(lines) and "|" in lines[end]:
                end += 1
            yield from _table(lines[at:end])
        else:
            end = at + 1
            yield lines[at]
        at = end


def _table(lines: list[str]) -> list[str]:
    """A table that has a column for a status: of the plan as a line, of its parts as rows that begin with each part."""
    head = [prose.undecorated(prose.clean(cell)).strip("*_` ") for cell in _cells(lines[0])]
    status = _column(head, rf"(?i)(?:current )?(?:{words.LABEL}|state)")
    if status < 0 or (len(head) == 2 and status == 0 and words.is_word(head[1])):
        return lines
    rows = [_cells(line) for line in lines[2:]]
    rows = [[*row, *[""] * (len(head) - len(row))] for row in rows]
    others = [cell for number, cell in enumerate(head) if number != status]
    if len(rows) == 1 and all(re.fullmatch(_OF_THE_WHOLE, one) for one in others):
        return [f"Status: {rows[0][status]}"]
    part = _column(head, rf"(?i)(?:{_LARGE})s?(?: name)?")
    signed = [_signed(row[status]) for row in rows]
    if part < 0:
        pairs = zip(rows, signed, strict=True)
        return [f"| {' | '.join([*row[:status], sign, *row[status + 1 :]])} |" for row, sign in pairs]
    named = _parts(head, rows, part, status)
    return [f"| {name} | {sign} |" for name, sign in zip(named, signed, strict=True)]


def _parts(head: list[str], rows: list[list[str]], part: int, status: int) -> list[str]:
    """What each row calls its part: the noun, a number and the name."""
    noun = head[part].split()[0].rstrip("s") if head[part].isascii() else head[part]
    counted = next((at for at, cell in enumerate(head) if cell.lower() in _NUMBERS), -1)
    rest = [at for at in range(len(head)) if at not in (part, status, counted)]
    named = next((at for at in rest if re.fullmatch(_NAMES, head[at])), -1)
    out = []
    for order, row in enumerate(rows, 1):
        said = prose.plain_name(row[part])
        own = numerals.number(said)
        count = numerals.number(prose.plain_name(row[counted])) if counted >= 0 else 0
        at = named if named >= 0 or not own else next(iter(rest), -1)
        extra = row[at] if at >= 0 else ""
        if re.match(rf"(?i)(?:{numerals.KIND})\s*#?[0-9]", said):
            out.append(f"{said}: {extra}" if extra and re.search(r"[0-9]$", said) else said)
        else:
            out.append(f"{noun} {own or count or order}: {extra if own else said}")
    return out


def _column(head: list[str], pattern: str) -> int:
    return next((at for at, cell in enumerate(head) if re.fullmatch(pattern, cell)), -1)


def _cells(line: str) -> list[str]:
    line = line.strip()
    return [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]


def _signed(cell: str) -> str:
    """What a cell says of a status, with the mark for it in front."""
    has_mark = any(c in words.MARKS for c in cell)
    sign = "" if has_mark else _SIGNS.get(words.said(cell), "")
    return f"{sign} {cell}".strip()
