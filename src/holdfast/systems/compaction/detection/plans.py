"""Plans of a project, `CLAUDE/Plan/*/PLAN.md`: whether one is worked on, and at which of its phases."""

from __future__ import annotations

import re
from _collections_abc import Iterable, Iterator

from holdfast.systems.compaction.detection import prose

FOLDER = "CLAUDE/Plan"
RUNNING = "🔄🟡"
STATUS_MARKS = frozenset(prose.MARKS) - frozenset("📋🎯\ufe0f")
_LABELS = ("status", "current status", "workflow status")
_NO_WORDS = rf"[{prose.MARKS}\s*_`~#>|:：()\[\]+•–—-]+"
_MENTION = (
    rf"(?<![A-Za-z0-9_./-])(?:\./)?((?:CLAUDE|\.claude)/[{prose.PATH_SIGN}]{{1,{prose.LONGEST_PATH}}}?\.md)"
    r"(?![A-Za-z0-9_/-]|\.[A-Za-z0-9])"
)


def is_running(text: str) -> bool:
    """Whether a line about the status of a plan with phases says that it is worked on."""
    lower = text.lower()
    if "phase" not in lower and "workflow" not in lower:
        return False
    return any(map(_says_running, _outside_fences(lower)))


def _says_running(line: str) -> bool:
    """A line with marks of several statuses explains them, and an item of a list or table speaks of something else."""
    mark = re.search(f"[{RUNNING}]", line)
    if not mark or "in progress" not in line[mark.end() :] or len(set(line) & STATUS_MARKS) > 1:
        return False
    before = line[: mark.start()]
    said = " ".join(re.sub(_NO_WORDS, " ", before).split())
    if said:
        return prose.Line.of(before).heading or said in _LABELS
    return not prose.Line.of(before).item and "|" not in before


def planned(folder: str, source: str, text: str) -> prose.Sighting:
    lines = list(_outside_fences(text))
    match = re.fullmatch(r"([0-9]{1,9})(?:[-_. ]+(.*))?", folder)
    number, rest = (match[1], match[2] or "") if match else ("", folder)
    name = _title(lines) or prose.clean(rest) or prose.clean(folder)
    paths = (mention[1] for mention in re.finditer(_MENTION, text))
    reading = [f"@{source}", *(f"@{path}" for path in paths if ".." not in path.split("/"))]
    current, total, phase, names = _phases(lines)
    return prose.Sighting(
        source=source,
        workflow=prose.clean(f"Plan {number}: {name}" if number else f"Plan: {name}"),
        type="implementation",
        current=current,
        total=total,
        phase=phase,
        names=names,
        reading=tuple(dict.fromkeys(reading))[: prose.MOST_READING],
        context={"plan_number": int(number), "plan_name": name} if number else {"plan_name": name},
    )


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


def _headings(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    for line in lines:
        if match := re.match(r" {0,3}(#{1,6})\s+(.*)", line):
            yield len(match[1]), re.sub(r"\s#+\s*$", "", match[2])


def _title(lines: Iterable[str]) -> str:
    title = next((text for level, text in _headings(lines) if level == 1), "")
    return re.sub(r"(?ai)^plan(?: #?[0-9]+)?(?: ?[:：]| [–—-]+ |$) ?", "", prose.plain_name(title))


def _phases(lines: list[str]) -> tuple[int, int, str, tuple[str, ...]]:
    """The phase that is worked on, how many there are, its name, and the names of all where every one has a heading.

    Where a plan counts from zero, its first phase is still the first.
    """
    names: dict[int, str] = {}
    done: set[int] = set()
    running: list[int] = []
    stated, count, words = _stated(lines)
    for level, text in _headings(lines):
        plain = prose.plain_name(text) if 2 <= level <= 4 else ""
        progress = prose.progress_in(plain) if plain.lower().startswith("phase ") else None
        if progress:
            number, of, name = progress
            names[number] = names.get(number) or name
            count = max(count, of)
            running += [number] if "🔄" in text or "🟡" in text else []
            done |= {number} if "✅" in text or "[x]" in text.lower() else set()
    shift = 1 if 0 in names else 0
    total = max(1, stated, count, max(names, default=0) + shift)
    undone = [number + shift for number in sorted(names) if number not in done]
    current = [*(number + shift for number in running), *([stated] if stated else undone), total][0]
    whole = len(names) == total and all(names.values())
    phase = names.get(current - shift) or (words if current == stated else "")
    return current, total, phase, tuple(names[number] for number in sorted(names)) if whole else ()


def _stated(lines: Iterable[str]) -> tuple[int, int, str]:
    """What a line such as `Phase: 2/5` says, and zeros when there is none."""
    for line in lines:
        label, value = prose.Line.of(line).label() if "phase" in line.lower() else ("", "")
        progress = prose.progress_in(prose.plain_name(value)) if label == "phase" else None
        if progress and progress[1]:
            return progress[0], max(progress[0], progress[1]), progress[2]
    return 0, 0, ""
