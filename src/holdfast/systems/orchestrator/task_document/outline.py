"""The outline of a task document: its sections, and in each one its prose, its criteria and what its labels say.

What is in which section is settled here, in one pass over the blocks. What the labels mean, and whether the parts
fit together, is asked afterwards, so that one mistake hides no other. Nothing is dropped in silence: what has no effect
is a warning, and a mistake where it could be a bound, a gate or a dependency.
"""

from __future__ import annotations

import re

from holdfast.markdown.text import LONGEST_SOURCE
from holdfast.plain.terminal import CONTROLS
from holdfast.systems.orchestrator.task_document import seeming, wording
from holdfast.systems.orchestrator.task_document.blocks import (
    Block,
    Blocks,
    Piece,
    has_box,
    is_title,
    normal,
    pieces,
    without_struck,
)
from holdfast.systems.orchestrator.task_document.criteria import Criteria
from holdfast.systems.orchestrator.task_document.model import LONGEST_CRITERION, LONGEST_NAME
from holdfast.systems.orchestrator.task_document.sections import SETTINGS, Said, Section, field_of, kind_of

_TOLD = ("goal", "context", "preamble", "task", "phase", "stray", "supervisor", "outer")  # their prose is kept
_WITH_BOXES = ("task", "phase", "criteria", "outer")
_LISTS = ("agents", "dependencies")
_FORMS = {"phase": "### Phase 1: Foundation", "task": "#### Task 1.1: Update the model"}
_NOWHERE = "this check box belongs to no task, phase or success criteria"
_WHOLE_RUN = "this is no bound of one task or phase: bounds are those of the whole run, below '## Safety Bounds'"


class Outline:
    """All sections in their order, the title, and what was mistaken or has no effect."""

    def __init__(self, text: str, path: str) -> None:
        self.title: str | None = ""  # None: there is one, with a mistake in it
        self.title_line = 0
        self.is_feature = False
        self.sections: list[Section] = []
        self.warnings: list[tuple[int, str]] = []
        self._markdown = Blocks(text)
        self.mistakes = self._markdown.mistakes
        self._criteria = Criteria(self._markdown, path, self.warnings)
        self._stack: list[tuple[int, Section]] = [(0, self._of("preamble", 1))]
        self._open = ("", 0)  # the label whose value may continue, and how deep in a list it stands
        self._target = self._section  # the section that label is of
        self._by_paragraphs = False  # no list has come below the criteria that are open
        self._past: Section | None = None  # a sentence ended the criteria of this section
        for block in self._markdown.blocks():
            self._take(block)

    def of(self, *kinds: str) -> list[Section]:
        return [section for section in self.sections if section.kind in kinds]

    def first(self, kind: str) -> Section | None:
        return next(iter(self.of(kind)), None)

    @property
    def _section(self) -> Section:
        return self._stack[-1][1]

    def _of(self, kind: str, line: int) -> Section:
        """The one section of its kind: settings may be said in several places."""
        found = self.first(kind)
        if found is None:
            found = Section(kind, line)
            self.sections.append(found)
        return found

    def _take(self, block: Block) -> None:
        if block.kind == "heading":
            self._heading(block)
        elif block.kind == "code":
            self._code(self._section, block)
        elif block.kind == "html":
            found = self.mistakes if has_box(block.content) else self.warnings
            found.append((block.line, "this is HTML, which is not read: write it as markdown"))
        else:
            parts, struck = without_struck(block)
            self.warnings += ((line, "this is struck through, and is not read") for line in struck)
            for part in parts:
                self._lines(self._section, part)

    def _heading(self, block: Block) -> None:
        if block.depth == 1 and not self.title_line:
            self._title(block)
            return
        content = block.content
        if len(content) > LONGEST_SOURCE:
            self.mistakes.append((block.line, f"the heading is longer than {LONGEST_SOURCE} characters"))
            content = ""
        above = [(level, section) for level, section in self._stack if level < block.depth]
        plain = self._markdown.plain(content)
        known = (above[-1][1] if above else self._stack[0][1]).kind
        owner, field = field_of(known, normal(plain)) if known in _WITH_BOXES else ("", "")
        opened = None if field else self._opened(block, plain, [section for _, section in above])
        if not opened and not field and block.underlined and not is_title(content):
            self._take(block.replace(kind="text", depth=0))  # a paragraph with a rule right below it
            return
        self._open, self._past, self._stack = ("", 0), None, above or self._stack[:1]
        if opened:
            self._stack.append((block.depth, opened))
        elif field:
            self._label(self._section, owner, field, Piece("", ("",), plain, 0), block.line, 0)
        else:
            self._other(block, plain)

    def _other(self, block: Block, heading: str) -> None:
        """A heading that opens none of the known sections."""
        section = self._section
        if section.kind == "phase":
            self._stack.append((block.depth, Section("stray", block.line, name=heading, phase=section)))
            section.told.append((block.line, heading))
        elif section.kind in ("preamble", "container"):
            self.warnings.append((block.line, f"the section {heading[:60]!r} is not read: it is for the reader only"))
            self._stack.append((block.depth, Section("other", block.line, name=heading)))
        else:
            self._unread(section, Piece(normal(heading), ("",), heading, 0), block.line)
            self._prose(section, block.content, block.line)

    def _title(self, block: Block) -> None:
        self.title_line = block.line
        text = self._markdown.text(block.content, block.line, "title")
        self.is_feature = bool(text and re.match(r"(?i)[\W_]*feature ?:", text))
        form = r"(?i)[\W_]*(?:unified |workflow |orchestrator )?task(?: document| doc)?\s*[:–—-]\s*(.*)"
        title = re.fullmatch(form, text) if text else None
        name = self._markdown.kept(title[1], block.line, "title", LONGEST_NAME) if title else ""
        self.title = None if text is None else name
        del self._stack[1:]

    def _opened(self, block: Block, heading: str, above: list[Section]) -> Section | None:
        """The section that a heading opens. Those of the whole document are not looked for within a phase."""
        kinds = {section.kind for section in above}
        in_phase, in_task = "phase" in kinds, "task" in kinds
        if found := wording.numbered(heading, in_phase=in_phase, in_task=in_task):
            return self._numbered(block, *found, above)
        kind = kind_of(heading, within_phase=in_phase)
        if kind in SETTINGS:
            section = self._of(kind, block.line)
            section.line = max(section.line, block.line)
            return section
        return self._added(Section(kind, block.line)) if kind else None

    def _added(self, section: Section) -> Section:
        self.sections.append(section)
        return section

    def _numbered(self, block: Block, kind: str, number: str, name: str, above: list[Section]) -> Section:
        phase = next((section for section in reversed(above) if section.kind == "phase"), None)
        if not number:
            self.mistakes.append((block.line, f"the heading of a {kind} has a number and a name: '{_FORMS[kind]}'"))
        elif kind == "phase" and not 2 <= block.depth <= 4:
            self.mistakes.append((block.line, f"the heading of a phase has two to four #: '{_FORMS[kind]}'"))
        if kind == "task" and phase is None:
            message = "the task is below no phase: its heading needs more # than that of its phase"
            self.mistakes.append((block.line, message))
        name, wanted = wording.titled(name) if kind == "task" else (name, "")
        name = self._markdown.kept(name, block.line, f"name of the {kind}", LONGEST_NAME) or ""
        made = self._added(Section(kind, block.line, number, name, phase))
        if wanted:
            made.said["dependencies"] = Said(wanted, block.line)
        return made

    def _lines(self, section: Section, block: Block) -> None:
        kind = section.kind

        def is_label(label: str) -> bool:
            return bool(field_of(kind, label)[1] or (kind in ("task", "phase") and wording.unread(label, "")))

        found = pieces(block.content, is_label, bare=kind in ("safety", "settings"))
        tabled = any(piece.row and field_of(kind, piece.label)[1] for piece in found)
        for at, piece in enumerate(found):
            line = block.line + piece.offset
            begins_item = block.kind == "item" and at == 0
            owner, field = field_of(kind, piece.label) if piece.label else ("", "")
            depth = block.depth if begins_item else 0
            if piece.box:
                self._box(section, piece, line, block.depth)
            elif field:
                self._label(section, owner, field, piece, line, depth)
            elif piece.heads and (tabled or kind in SETTINGS):
                continue
            elif piece.row and self._lists_criteria(section, piece):
                self.mistakes.append((line, "criteria in a table are not read: write each as '- [ ] …'"))
            elif begins_item:
                self._item(section, piece, line, block.depth)
            elif piece.label:
                self._open = ("", 0)
                self._unread(section, piece, line)
                self._text(section, piece, line)
            else:
                self._more(section, piece, line, block.depth)

    def _lists_criteria(self, section: Section, row: Piece) -> bool:
        if row.heads and section.kind in _WITH_BOXES and seeming.is_criteria(row.source):
            return True
        return self._open[0] == "criteria" or section.kind == "criteria"

    def _box(self, section: Section, piece: Piece, line: int, depth: int) -> None:
        """A check box is a criterion wherever it stands, unless it says that something is enabled."""
        self._open = ("", 0) if depth <= self._open[1] else self._open
        self._by_paragraphs = False
        label = normal(self._markdown.plain(piece.source)) if section.kind in ("supervisor", "settings") else ""
        owner, field = field_of(section.kind, label) if label else ("", "")
        if field in ("enable", "auto_fix", "required"):
            said = piece.replace(lines=("yes" if piece.box == "x" else "no",))
            self._label(section, owner, field, said, line, 0)
        elif section.kind == "stray":
            form = "write '#### Task 1.2: …', or its boxes below '#### Phase Success Criteria'"
            self.mistakes.append((section.line, f"{section.name[:60]!r} is no task, but has criteria: {form}"))
        elif self._open[0] == "criteria" or section.kind in _WITH_BOXES:
            whose = self._target if self._open[0] == "criteria" else section
            self._criteria.take(whose, piece.source, line, depth, box=piece.box)
        else:
            self.mistakes.append((line, f"{_NOWHERE}: write it below '## Success Criteria', or without the box"))

    def _label(self, section: Section, owner: str, field: str, piece: Piece, line: int, depth: int) -> None:
        """What a label says is of its own section, of the phase around it, or of the settings that it names."""
        value, rest = piece.lines[0], list(piece.lines[1:])
        section = section.phase or section if section.kind == "stray" or field == "phase_criteria" else section
        target = section if owner in (section.kind, "task", "stray") else self._of(owner, line)
        if target is not section and section.kind in ("task", "phase"):
            self.mistakes.append((line, _WHOLE_RUN))
            return
        field = field.removeprefix("phase_")
        self._open, self._target, self._past = (field, depth), target, None
        self._by_paragraphs = field == "criteria" and not value
        if field in ("description", "goal"):
            self._open = ("", 0)
            self._prose(target, "\n".join((value, *rest)), line)
        elif field == "criteria":
            if wording.is_nothing(value):
                self.warnings.append((line, "there are no criteria here"))
            elif value and not value.endswith(":"):
                self._criteria.take(target, "\n".join((value, *rest)), line, depth)
        elif field == "reverse":
            label = normal(piece.label).capitalize()
            said = f"{label!r} is not read: say in the other task '**Dependencies**: Task {section.number or '1.1'}'"
            self.mistakes.append((line, said))
        elif first := target.said.get(field):
            self.mistakes.append((line, f"this was said before, in line {first.line}"))
        else:
            target.said[field] = Said("", line)
            self._extend(target, field, value)
            while rest and self._goes_on():
                self._extend(target, field, rest.pop(0))
            for at, more in enumerate(rest, len(piece.lines) - len(rest)):
                self._text(section, Piece("", (more,), more, 0), line + at)

    def _item(self, section: Section, piece: Piece, line: int, depth: int) -> None:
        """A list item: a criterion where they are listed, a part of one that it is below, or a value."""
        if depth <= self._open[1]:
            self._open = ("", 0)
        field, content = self._open[0], piece.source
        whose = self._target if field else section
        if self._criteria.goes_on(whose, depth):
            self._criteria.extend(content)
        elif field == "criteria" or section.kind == "criteria":
            self._by_paragraphs = False
            self._criteria.take(whose, content, line, depth)
        elif (said := whose.said.get(field)) and (said.by_items or self._goes_on()):
            self._extend(whose, field, content, by_items=field in _LISTS)
        else:
            if self._past is section:
                after = "this list comes after a sentence below the criteria, and is kept as text only"
                self.warnings.append((line, f"{after}: write each criterion as '- [ ] …'"))
            self._text(section, piece, line, "- ")

    def _more(self, section: Section, piece: Piece, line: int, depth: int) -> None:
        """Lines without a label. Outside of a list they end the label above, unless its criteria are still to come."""
        content, to_come = piece.source, self._open[0] == "criteria" and self._by_paragraphs
        if self._goes_on():
            self._extend(self._target, self._open[0], content)
        elif (
            depth == 0
            and not content.rstrip("* ").endswith(":")
            and (to_come or (section.kind == "criteria" and not section.criteria))
        ):
            self._criteria.take(self._target if to_come else section, content, line, depth)
        else:
            if depth == 0 and not to_come:
                self._past = section if self._open[0] == "criteria" else self._past
                self._open = ("", 0)
            self._text(section, piece, line)

    def _goes_on(self) -> bool:
        """Whether the open label still waits for its value, or for more of it."""
        said = self._target.said.get(self._open[0])
        return said is not None and (not said.text or said.text.endswith(","))

    def _extend(self, section: Section, field: str, content: str, *, by_items: bool = False) -> None:
        said = section.said[field]
        text = self._markdown.text(content, said.line, "value", LONGEST_CRITERION) or ""
        joined = f"{said.text}{',' if said.by_items else ''} {text}".strip()
        section.said[field] = said.replace(text=joined, by_items=by_items)

    def _unread(self, section: Section, piece: Piece, line: int) -> None:
        """A label of a task that would be a gate, a bound or an order, and is none."""
        if section.kind not in ("task", "phase") or piece.row:
            return
        if way := wording.unread(piece.label, piece.lines[0]):
            self.mistakes.append((line, f"{piece.label.capitalize()!r} is not read here: {way}"))
        elif re.fullmatch(wording.PARALLEL, piece.label):
            self.warnings.append((line, "tasks that do not wait for each other are parallel anyway: this is not read"))

    def _text(self, section: Section, piece: Piece, line: int, mark: str = "") -> None:
        """What is no label, box or value: kept as prose, else told."""
        source = piece.source
        if section.kind in ("safety", "outer", "settings") and piece.label.startswith("maximum"):
            self.mistakes.append((line, f"there is no bound {piece.label!r}, only iterations, cost and time"))
        elif section.kind in _TOLD:
            if section.kind in ("task", "phase") and not piece.row and (said := seeming.gate_or_bound(source)):
                self.warnings.append((line, said))
            self._prose(section, source, line, mark)
        elif section.kind == "safety" and seeming.is_approval(source):
            self.mistakes.append((line, f"{self._markdown.plain(source[:60])!r} is not read here: {wording.GATED}"))
        elif section.kind == "safety" and seeming.is_bound(source):
            text = self._markdown.plain(source[:LONGEST_SOURCE])[:60]
            form = wording.bound_form(text)
            self.mistakes.append((line, f"{text!r} may be a bound, and is not read: write {form}"))
        elif section.kind != "other" and not (section.kind == "criteria" and source.rstrip("* ").endswith(":")):
            self.warnings.append((line, f"{self._markdown.plain(source[:LONGEST_SOURCE])[:60]!r} is not read"))

    def _prose(self, section: Section, content: str, line: int, mark: str = "") -> None:
        kept = section.phase if section.kind == "stray" and section.phase else section
        if kept.kind in _TOLD and content and (text := self._markdown.text(content, line, "text")):
            kept.told.append((line, mark + text))

    def _code(self, section: Section, block: Block) -> None:
        if section.kind not in _TOLD:
            return
        if re.search(CONTROLS, block.content.replace("\n", "")):
            self.mistakes.append((block.line, "the code has control characters in it"))
        else:
            section.told.append((block.line, block.content))
