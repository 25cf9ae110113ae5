"""The outline of a task document: its sections, and in each one its prose, its criteria and what its labels say.

What stands in which section is settled here, in one pass over the blocks. What the labels mean, and whether the parts
fit together, is asked afterwards, so that one mistake hides no other.
"""

from __future__ import annotations

import re

from holdfast.markdown.text import BAD_BOX, BOX, LIKE_A_BOX, LONGEST_SOURCE, says_something, shown
from holdfast.plain.terminal import CONTROLS
from holdfast.systems.orchestrator.task_document import wording
from holdfast.systems.orchestrator.task_document.blocks import Block, Blocks, Piece, normal, pieces
from holdfast.systems.orchestrator.task_document.model import LONGEST_CRITERION, LONGEST_NAME, MOST_CRITERIA, Criterion
from holdfast.systems.orchestrator.task_document.sections import LABELS, Said, Section, bounds, has_settings, kind_of

_TOLD = ("goal", "context", "task")  # their prose is kept
_LISTS = ("agents", "dependencies")
_FORMS = {"phase": "### Phase 1: Foundation", "task": "#### Task 1.1: Update the model"}


class Outline:
    """All sections in their order, the title, and what was mistaken on the way."""

    def __init__(self, text: str) -> None:
        self.title: str | None = ""  # None: there is one, with a mistake in it
        self.title_line = 0
        self.is_feature = False
        self.sections: list[Section] = []
        self._markdown = Blocks(text)
        self.mistakes = self._markdown.mistakes
        self._stack: list[tuple[int, Section]] = []
        self._open = ("", 0)  # the label whose value may go on, and how deep in a list it stands
        for block in self._markdown.blocks():
            self._take(block)

    def of(self, *kinds: str) -> list[Section]:
        return [section for section in self.sections if section.kind in kinds]

    @property
    def _section(self) -> Section | None:
        return self._stack[-1][1] if self._stack else None

    def _take(self, block: Block) -> None:
        if block.kind == "heading":
            self._heading(block)
        elif section := self._section:
            if block.kind == "code":
                self._code(section, block)
            elif block.kind == "quote":
                self._prose(section, block.content, block.line)
            else:
                self._lines(section, block)

    def _heading(self, block: Block) -> None:
        if block.depth == 1 and not self.title_line:
            self._title(block)
            return
        content = block.content
        if len(content) > LONGEST_SOURCE:
            self.mistakes.append((block.line, f"the heading is longer than {LONGEST_SOURCE} characters"))
            content = ""
        above = [(level, section) for level, section in self._stack if level < block.depth]
        opened = self._opened(block, self._markdown.plain(content), [section for _, section in above])
        if opened is None and block.underlined:
            self._take(block.replace(kind="text", depth=0))  # a paragraph with a rule right below it
            return
        self._open, self._stack = ("", 0), above
        if opened:
            self.sections.append(opened)
            self._stack.append((block.depth, opened))
        elif section := self._section:
            field = LABELS["task"].get(normal(content)) if section.kind == "task" else None
            if field:
                self._label(section, field, Piece("", ("",), "", 0), block.line, 0)
            else:
                self._prose(section, content, block.line)

    def _title(self, block: Block) -> None:
        self.title_line = block.line
        text = self._markdown.text(block.content, block.line, "title")
        self.is_feature = bool(text and re.match(r"(?i)[\W_]*feature ?:", text))
        title = re.fullmatch(r"(?i)[\W_]*task ?:\s*(.*)", text) if text else None
        name = self._markdown.kept(title[1], block.line, "title", LONGEST_NAME) if title else ""
        self.title = None if text is None else name
        self._stack = []

    def _opened(self, block: Block, heading: str, above: list[Section]) -> Section | None:
        """The section that a heading opens. Those of the whole document are not looked for within a phase."""
        if found := wording.numbered(heading):
            return self._numbered(block, *found, above)
        kind = kind_of(heading, within_phase=any(section.kind in ("phase", "task") for section in above))
        return Section(kind, block.line) if kind else None

    def _numbered(self, block: Block, kind: str, number: str, name: str, above: list[Section]) -> Section:
        phase = next((section for section in reversed(above) if section.kind == "phase"), None)
        if not number:
            self.mistakes.append((block.line, f"the heading of a {kind} has a number and a name: '{_FORMS[kind]}'"))
        elif kind == "phase" and not 2 <= block.depth <= 4:
            self.mistakes.append((block.line, f"the heading of a phase has two to four #: '{_FORMS[kind]}'"))
        if kind == "task" and phase is None:
            message = "the task stands below no phase: its heading needs more # than that of its phase"
            self.mistakes.append((block.line, message))
        name = self._markdown.kept(name, block.line, f"name of the {kind}", LONGEST_NAME) or ""
        return Section(kind, block.line, number, name, phase)

    def _lines(self, section: Section, block: Block) -> None:
        known = LABELS.get(section.kind, {})
        for at, piece in enumerate(pieces(block.content, bare=has_settings(section.kind))):
            line = block.line + piece.offset
            begins_item = block.kind == "item" and at == 0
            if field := known.get(piece.label):
                self._label(section, field, piece, line, block.depth if begins_item else 0)
            elif piece.label.startswith("maximum ") and section.kind in ("safety", "outer"):
                self.mistakes.append((line, f"there is no bound {piece.label!r}, only {bounds(section.kind)}"))
            elif begins_item:
                self._item(section, piece.source, line, block.depth)
            elif piece.label:
                self._open = ("", 0)
                self._prose(section, piece.source, line)
            else:
                self._more(section, piece.source, line, block.depth)

    def _label(self, section: Section, field: str, piece: Piece, line: int, depth: int) -> None:
        self._open = (field, depth)
        value, rest = piece.lines[0], list(piece.lines[1:])
        if field == "description":
            self._prose(section, "\n".join((value, *rest)), line)
        elif field == "criteria":
            if value and not value.endswith(":"):
                self._criterion(section, "\n".join((value, *rest)), line)
        elif first := section.said.get(field):
            self.mistakes.append((line, f"this was said before, in line {first.line}"))
        else:
            section.said[field] = Said("", line)
            self._extend(section, field, value)
            while rest and self._goes_on(section):
                self._extend(section, field, rest.pop(0))
            self._prose(section, "\n".join(rest), line)

    def _item(self, section: Section, content: str, line: int, depth: int) -> None:
        """A list item. In a task a check box is a criterion wherever it stands, another item where they are listed."""
        if depth <= self._open[1]:
            self._open = ("", 0)
        field = self._open[0]
        boxed = section.kind == "task" and re.match(LIKE_A_BOX, content)
        if section.kind == "criteria" or boxed or field == "criteria":
            self._criterion(section, content, line)
        elif (said := section.said.get(field)) and (said.by_items or self._goes_on(section)):
            self._extend(section, field, content, by_items=field in _LISTS)
        else:
            self._prose(section, content, line, "- ")

    def _more(self, section: Section, content: str, line: int, depth: int) -> None:
        """Lines without a label. Outside of a list they end the label above, unless its criteria are still to come."""
        if self._goes_on(section):
            self._extend(section, self._open[0], content)
            return
        if depth == 0 and not (self._open[0] == "criteria" and not section.criteria):
            self._open = ("", 0)
        self._prose(section, content, line)

    def _goes_on(self, section: Section) -> bool:
        """Whether the open label still waits for its value, or for more of it."""
        said = section.said.get(self._open[0])
        return said is not None and (not said.text or said.text.endswith(","))

    def _extend(self, section: Section, field: str, content: str, *, by_items: bool = False) -> None:
        said = section.said[field]
        text = self._markdown.text(content, said.line, "value", LONGEST_CRITERION) or ""
        joined = f"{said.text}{',' if said.by_items else ''} {text}".strip()
        section.said[field] = said.replace(text=joined, by_items=by_items)

    def _criterion(self, section: Section, content: str, line: int) -> None:
        box = re.match(BOX, content)
        if not box and re.match(LIKE_A_BOX, content):
            self.mistakes.append((line, BAD_BOX))
            return
        whole = content[box.end() :] if box else content
        text = self._markdown.text(whole, line, "criterion", LONGEST_CRITERION)
        if text is None:
            return
        run: tuple[str, ...] | str = ()
        if split := wording.with_command(self._markdown.within(whole)):
            run = wording.words(split[1])
            text = wording.without_lead(shown(split[0])) or split[1]
        if isinstance(run, str):
            self.mistakes.append((line, run))
        elif not says_something(text):
            self.mistakes.append((line, "the criterion has no text"))
        else:
            self._add(section, Criterion(text, "", run, bool(box and box[1] != " "), line))

    def _add(self, section: Section, criterion: Criterion) -> None:
        position = len(section.criteria) + 1
        if position == MOST_CRITERIA + 1:
            self.mistakes.append((criterion.line, f"there are more than {MOST_CRITERIA} criteria here"))
        if position <= MOST_CRITERIA + 1:
            taken = {other.name for other in section.criteria}
            section.criteria.append(criterion.replace(name=wording.key(criterion.text, taken, position)))

    def _prose(self, section: Section, content: str, line: int, mark: str = "") -> None:
        if section.kind in _TOLD and content and (text := self._markdown.text(content, line, "text")):
            section.prose.append(mark + text)

    def _code(self, section: Section, block: Block) -> None:
        if section.kind not in _TOLD:
            return
        if re.search(CONTROLS, block.content.replace("\n", "")):
            self.mistakes.append((block.line, "the code has control characters in it"))
        else:
            section.prose.append(block.content)
