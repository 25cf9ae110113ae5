"""The notes an agent keeps for itself in `CLAUDE.local.md`: which workflow it is at, the phase, what to read."""

from __future__ import annotations

import re
from itertools import islice

from holdfast.systems.compaction.adoption import TYPES
from holdfast.systems.compaction.detection import numerals, prose, words
from holdfast.systems.compaction.detection.forms import outside_fences
from holdfast.systems.compaction.detection.outline import marked

FILE = "CLAUDE.local.md"
_INLINE = r"(?i)[*_`]*(required reading|reading|read|key reminders|reminders|context)[*_`]*\s*[:：][*_`]*+\s*+(\S.*)"
_MOST_BLOCKS, _MOST_REMINDERS, _MOST_CONTEXT = 20, 20, 50


def noted(text: str) -> list[prose.Sighting]:
    plain = re.sub(r"[*`]+", "", text.lower()).replace("：", ":")
    if not re.search(r"workflow[ _-]stat(?:e|us)", plain):
        return []
    outside = list(outside_fences(text))
    found = _sightings(outside)
    # Notes may be in a fence as a whole; beside other text, a fence may show how notes are written.
    shows = re.search(r"(?i)\bno (?:active )?workflow|template|example|\bform(?:at)?\b", "\n".join(outside))
    return found if found or shows else _sightings(prose.lines_of(text))


def _sightings(lines: list[str]) -> list[prose.Sighting]:
    reader = _Reader()
    for raw in lines:
        if not re.fullmatch(r"\W*?~~.*~~\W*", raw):  # what is struck out is over
            reader.take(prose.Line.of(raw[: prose.LONGEST_LINE]))
    seen = (sighting for block in reader.blocks if (sighting := block.sighting()))
    return list(islice(seen, _MOST_BLOCKS))


class _Block:
    """What the notes say of one workflow, gathered line by line."""

    def __init__(self, name: str) -> None:
        self.name = prose.clean(prose.undecorated(name)).strip("\"'")
        self.said: dict[str, str] = {}
        self.reading: dict[str, None] = {}
        self.context: dict[str, str | int] = {}
        self.reminders: list[str] = []

    def item(self, section: str, body: str) -> None:
        if section == "reminders":
            self.reminders.append(body)
            return
        key, _, value = body.replace("：", ":", 1).partition(":")
        key, value = key.strip(" *`"), prose.clean(value.lstrip("*`"), prose.LONGEST_TEXT)
        if value and re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", key) and len(self.context) < _MOST_CONTEXT:
            self.context.setdefault(key, int(value) if re.fullmatch(r"-?[0-9]{1,15}", value) else value)

    def inline(self, body: str) -> bool:
        """Whether a line is a whole list behind its name: `Key reminders: never push; use pnpm`."""
        match = re.match(_INLINE, prose.undecorated(body))
        if not match:
            return False
        name, value = match[1].lower(), match[2]
        if name.startswith("re") and not name.startswith("rem"):
            paths = [path for word in re.split(r"[,;\s]+", value) if (path := prose.Line.of(word).path())]
            self.reading.update(dict.fromkeys(paths))
            return bool(paths)
        section = "context" if name == "context" else "reminders"
        for one in re.split(r"[;,]\s*" if section == "context" else r";\s*", value):
            self.item(section, one.replace("=", ":", 1) if section == "context" else one)
        return True

    def sighting(self) -> prose.Sighting | None:
        """Nothing when the name or the phase is missing: then it was prose about workflows."""
        said = self.said.get("phase", "")
        named = _in_digits(prose.plain_name(said))
        if prose.is_blank(self.name) or prose.is_blank(named):
            return None
        current, total, phase = prose.progress_in(named) or (1, 1, named)
        status = words.said(self.said.get("status", "")) or marked(said)
        reminders = (prose.clean(one, prose.LONGEST_TEXT) for one in self.reminders)
        return prose.Sighting(
            source=FILE,
            workflow=self.name,
            type=self._type(),
            current=max(current, 1),
            total=max(total, current, 1),
            phase=phase,
            names=(),
            status=status if status in (words.DONE, words.OPEN, words.HELD) else words.RUNNING,
            reason=prose.clean(self.said.get("status", "")),
            reading=tuple(f"@{path}" for path in self.reading)[: prose.MOST_READING],
            context=self.context,
            reminders=tuple(one for one in reminders if one)[:_MOST_REMINDERS],
        )

    def _type(self) -> str:
        said = self._word("type", "-")
        if said in TYPES:
            return said
        return "qa-loop" if re.search(r"(?ai)(?<![a-z0-9])qa(?![a-z0-9])", self.name) else "custom"

    def _word(self, label: str, sign: str) -> str:
        """What was said as one word, its parts joined as Holdfast joins them."""
        said = prose.clean(self.said.get(label, "")).strip(prose.MARKS + " ").lower()
        return sign.join(said.replace("-", " ").replace("_", " ").split())


def _in_digits(phase: str) -> str:
    """`two of five` as `2/5`. A word with no total behind it may be the name of a phase."""
    match = re.match(r"(\w+)\s*(?:/|of\s)\s*(\w+)", phase)
    counted = [numerals.number(one.strip()) for one in match.groups()] if match else [0]
    return f"{counted[0]}/{counted[1]}{phase[match.end() :]}" if match and all(counted) else phase


class _Reader:
    """Goes through notes line by line, and knows which workflow and which list in it a line belongs to.

    Below a heading a list continues until the next heading. Below a label it ends with the list, and where the label is
    an item itself, with the first item that is not deeper.
    """

    def __init__(self) -> None:
        self.blocks: list[_Block] = []
        self._section = ""
        self._headed = False
        self._depth = -1
        self._after_blank = False

    def take(self, line: prose.Line) -> None:
        after_blank, self._after_blank = self._after_blank, not line.body
        if not line.body:
            return
        listed = self._section != "" and line.item and line.indent > self._depth
        label, value = line.label()
        if label == "workflow" and (after_blank or not listed):
            self.blocks.append(_Block(value))
            self._section = ""
        elif self.blocks:
            block = self.blocks[-1]
            if path := line.path():
                block.reading[path] = None
            elif not listed and block.inline(line.body):
                self._section = ""
            elif listed:
                block.item(self._section, line.body)
            elif self._goes_on(line, block) and not label and not after_blank:
                block.reminders[-1] = f"{block.reminders[-1]} {line.body}"[: prose.LONGEST_LINE]
            else:
                self._turn(line, label)
                if value:
                    block.said.setdefault(label, value)

    def _goes_on(self, line: prose.Line, block: _Block) -> bool:
        """Whether this is the next line of a reminder that was too long for one."""
        wrapped = line.indent > 0 and not line.item and not line.heading
        return wrapped and self._section == "reminders" and bool(block.reminders) and not line.list_name()

    def _turn(self, line: prose.Line, label: str) -> None:
        name = line.list_name()
        if name or label or line.heading or not self._headed:
            self._section, self._headed = name, line.heading
            self._depth = line.indent if line.item else -1
