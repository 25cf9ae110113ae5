"""Plans of a project, `CLAUDE/Plan/*/PLAN.md`: what their status is, and at which of their phases they are."""

from __future__ import annotations

import re
from _collections_abc import Iterable, Iterator

from holdfast.systems.compaction.detection import prose, words
from holdfast.systems.compaction.detection.outline import is_part, is_running, labelled, level_of, outline

FOLDER = "CLAUDE/Plan"
_MENTION = (
    rf"(?<![A-Za-z0-9_./-])(?:\./)?((?:CLAUDE|\.claude)/[{prose.PATH_SIGN}]{{1,{prose.LONGEST_PATH}}}?\.md)"
    r"(?![A-Za-z0-9_/-]|\.[A-Za-z0-9])"
)
_FORMAL = r"(?i)phase|workflow|step|stage|milestone|sprint|task|フェーズ|阶段|étape|schritt|etapa|\[[ xX~]\]"
"""What a plan speaks of that is worked on in parts."""


def planned(folder: str, source: str, text: str) -> prose.Sighting | None:
    """What a plan says; None where it says nothing of its status."""
    lines = list(_outside_fences(text))
    value, said = _status(lines)
    if not said or not re.search(_FORMAL, text):
        return None
    match = re.fullmatch(r"([0-9]{1,9})(?:[-_. ]+(.*))?", folder)
    number, rest = (match[1], match[2] or "") if match else ("", folder)
    name = _title(lines) or prose.clean(rest) or prose.clean(folder)
    paths = (mention[1] for mention in re.finditer(_MENTION, text))
    reading = [f"@{source}", *(f"@{path}" for path in paths if ".." not in path.split("/"))]
    found = outline(lines, value)
    return prose.Sighting(
        source=source,
        workflow=prose.clean(f"Plan {number}: {name}" if number else f"Plan: {name}"),
        type="implementation",
        current=found.current,
        total=found.total,
        phase=found.phase,
        names=found.names,
        status=words.HELD if said == words.OTHER else said,
        reason=prose.clean(value),
        reading=tuple(dict.fromkeys(reading))[: prose.MOST_READING],
        context={"plan_number": int(number), "plan_name": name} if number else {"plan_name": name},
    )


def _status(lines: list[str]) -> tuple[str, str]:
    """What a plan says of itself: the first line about its status that is in no phase; else a mark of a phase."""
    inside = 0
    for number, line in enumerate(lines):
        level = level_of(line)
        if level > 1 and is_part(line.lstrip("# ")):
            inside = inside or level
        elif line == "---" or 0 < level <= inside:
            inside = 0
        if inside:
            continue
        label, value = labelled(line)
        if label and not value and level:
            value = next((one for one in lines[number + 1 :] if one.strip()), "")
        value = value if label else _begins(line, level)
        if value and (said := words.said(value)):
            return value, said
    return ("", words.RUNNING) if is_running(lines) else ("", "")


def _begins(line: str, level: int) -> str:
    """What a line says that begins with a mark, or a title that ends with one."""
    mark = re.search(r"[🔄🟡]\ufe0f?\W*in[ -]progress", line, re.IGNORECASE)
    head = prose.Line.of(line[: mark.start()]) if mark else None
    if not mark or not head or (not level and (head.item or re.search(r"[^\s*_`>(]", head.body))):
        return ""
    return line[mark.start() :] if level < 2 else ""


def _outside_fences(text: str) -> Iterator[str]:
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


def _title(lines: Iterable[str]) -> str:
    title = next((line for line in lines if level_of(line) == 1), "")
    title = re.sub(r"\s#+\s*$", "", title.lstrip().removeprefix("#"))
    return re.sub(r"(?ai)^plan(?: #?[0-9]+)?(?: ?[:：]| [–—-]+ |$) ?", "", prose.plain_name(title))
