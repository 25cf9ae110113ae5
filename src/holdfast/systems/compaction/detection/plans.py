"""Plans of a project, `CLAUDE/Plan/*/PLAN.md`: what their status is, and at which of their phases they are."""

from __future__ import annotations

import re

from holdfast.systems.compaction.detection import prose, words
from holdfast.systems.compaction.detection.forms import front_matter, uniform
from holdfast.systems.compaction.detection.outline import is_part, is_running, labelled, level_of, outline

FOLDER = "CLAUDE/Plan"
_MENTION = (
    rf"(?<![A-Za-z0-9_./-])(?:\./)?((?:CLAUDE|\.claude)/[{prose.PATH_SIGN}]{{1,{prose.LONGEST_PATH}}}?\.md)"
    r"(?![A-Za-z0-9_/-]|\.[A-Za-z0-9])"
)
_FORMAL = (
    r"(?i)phase|workflow|step|stage|milestone|sprint|task|フェーズ|阶段|階段|段階|단계|步|этап|fase|étape|schritt|etapa"
    r"|\[[ xX~]\]"
)
"""What a plan speaks of that is worked on in parts."""
_HEAD, _OWN, _WHOLE, _OTHER, _QUOTED = range(5)
"""Where a status stands: what comes first counts most."""
_DESCRIBES = r"(?i)overview|summary|metadata|about|progress|header|info|übersicht|überblick|zusammenfassung|обзор"


def planned(folder: str, source: str, text: str) -> prose.Sighting | None:
    """What a plan says; None where it says nothing of its status."""
    lines = uniform(text)
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
    """What a plan says of itself, outside of its phases: at its head, else in a section about its status, else in one
    that describes the whole. What another section says is about that section, and ends nothing. Else a mark of a phase.
    """
    inside, rank = 0, _HEAD
    best = (_QUOTED + 1, "", "")
    for number, line in enumerate(lines):
        level = level_of(line)
        label, value = labelled(line)
        if level > 1:
            rank = _OWN if label else _WHOLE if re.search(_DESCRIBES, line) else _OTHER
        elif line == "---" and rank:
            rank = _OWN
        if level > 1 and is_part(line.lstrip("# ")):
            inside = inside or level
        elif line == "---" or 0 < level <= inside:
            inside = 0
        if inside:
            continue
        if label and rank and re.match(r"\s*>", line):
            continue  # a quotation
        is_plain = bool(label) and not rank and re.match(r"\s*>\s*[^*_\s]", line)
        weight = _QUOTED if is_plain else rank  # at the head it may be a block of labels
        if label and not value and level:
            value = next((one for one in lines[number + 1 :] if one.strip()), "")
        value = value if label else _begins(line, level)
        said = words.said(value) if value and weight < best[0] else ""
        if said and not (weight >= _OTHER and said in (words.DONE, words.DROPPED)):
            best = weight, value, said
    return best[1:] if best[2] else ("", words.RUNNING if is_running(lines) else "")


def _begins(line: str, level: int) -> str:
    """What a line says that begins with a mark, or a title that ends with one."""
    mark = re.search(r"[🔄🟡]\ufe0f?\W{0,9}in[ -]progress", line, re.IGNORECASE)
    head = prose.Line.of(line[: mark.start()]) if mark else None
    if not mark or not head or (not level and (head.item or re.search(r"[^\s*_`>(]", head.body))):
        return ""
    return line[mark.start() :] if level < 2 else ""


def _title(lines: list[str]) -> str:
    """The first heading, else what front matter calls the title."""
    titled = (match[1] for line in front_matter(lines) if (match := re.match(r"(?i)title\s*:\s*(.+)", line)))
    title = next((line for line in lines if level_of(line) == 1), "") or prose.unquoted(next(titled, "").strip())
    title = re.sub(r"\s#+\s*$", "", title.lstrip().removeprefix("#"))
    title = prose.undecorated(prose.plain_name(title))
    return re.sub(r"(?ai)^plan(?: #?[0-9]+)?(?: ?[:：]| [–—-]+ |$) ?", "", title)
