"""What a feature file holds, block by block: sections, boxes, criteria, and what is neither.

A parser of markdown says what is what: a box in a code fence, a comment or a quotation is text like any other. Which
boxes are tasks is decided when all headings are known.
"""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast.core.value import Value
from holdfast.markdown.text import Markdown, line_of, says_something
from holdfast.systems.skill.headings import (
    ASIDE,
    CRITERIA,
    Section,
    Title,
    kind_of,
    says_feature,
    untitled,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST_TEXT = 1000
LONGEST_DESCRIPTION = 4000
_BOX = r"(?:\[([ xX])\](?:[ \t\n]+|$)|([☐☑☒])\ufe0f?[ \t]*)"
_LIKE_A_BOX = r"(?:\[\s*(?:[xX]|[^\w\s\[\]])?\ufe0f?\s*\](?![(\[:])|[☐☑☒])"
_BOX_IN_TEXT = r"(?m)^\s*(?:>\s*)*(?:(?:[-*+]|\d+[.)])\s+)?(?:\[[ xX]\]\s|[☐☑☒])|<li>\s*\[[ xX]\]"
_BULLET = r"\s*(?:[•‣◦·–—]\s*|(?:[-*+]|\d+[.)])\s+)?"
_CELL = r"(?:[-*+]\s+)?"
_TEXT_COLUMN = r"(?i)\W*(?:sub-?)?(?:tasks?|descriptions?|what|titles?|names?|items?|steps?|to-?do|summary)\W*"


class Box(Value):
    """A check box of any section; `listed` tells lists and tables apart, and `bad` is one that is not well written."""

    line: int
    content: str
    done: bool
    section: Section
    group: str
    listed: int
    description: str = ""
    bad: bool = False
    open_below: int = 0

    def boxes_within(self) -> list[int]:
        """The lines of its text that begin with a box: without a bullet they go on with the line above."""
        import re

        lines = enumerate(self.content.split("\n"), self.line)
        return [number for number, text in lines if number > self.line and re.match(_BULLET + _BOX, text)]


class _Item:
    """An open list item: of a task, below one, or a group of what lies in it."""

    def __init__(self, line: int, listed: int, above: _Item | None) -> None:
        self.line, self.listed, self.above = line, listed, above
        self.box: Box | None = above.box if above else None
        self.section: Section | None = above.section if above else None
        self.group: str = above.group if above else ""
        self.own = self.has_box = self.known = False
        self.unboxed: list[tuple[int, Section, int]] = []


class Blocks(Markdown):
    """Gathered in one pass. The boxes are those of all sections."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "table")
        self._lines = text.split("\n")
        self.title = Title("", "")
        self.summary: list[str] = []
        self._criteria: list[str] = []
        self._prose: list[str] = []  # the paragraphs among the criteria, which count where there is no list
        self._headings: list[tuple[int, Section]] = [(0, Section("", "", 1))]
        self.sections: list[Section] = []
        self.boxes: list[Box] = []
        self.unboxed: list[tuple[int, Section, int]] = []
        self.hidden: list[tuple[int, str]] = []
        self.loose: list[tuple[int, Section]] = []
        self._items: list[_Item] = []
        self._lists: list[int] = []
        self._listed = 0
        self._quotes = 0
        self._past_summary = False  # which is the first quotation, unless a heading other than the title comes before
        self._gather()

    @property
    def criteria(self) -> tuple[str, ...]:
        return tuple(self._criteria or self._prose)

    @property
    def _section(self) -> Section:
        own = self._items[-1].section if self._items else None
        return own or self._headings[-1][1]

    def _gather(self) -> None:
        at, tokens = 0, self.tokens
        while at < len(tokens):
            token = tokens[at]
            if token.type == "table_open":
                end = next(n for n in range(at, len(tokens)) if tokens[n].type == "table_close")
                if not self._quotes and not self._is_below_box():
                    self._table(tokens[at:end])
                at = end
            else:
                self._take(token, tokens[at + 1 : at + 3])
            at += 1

    def _is_below_box(self) -> bool:
        return bool(self._items) and self._items[-1].box is not None

    def _take(self, token: Token, inner: Sequence[Token]) -> None:
        match token.type:
            case "heading_open" if token.level == 0:
                self._heading(int(token.tag[1:]), inner[0])
            case "blockquote_open":
                if self._past_summary:
                    self._hide(token, "quotation", "\n".join(self._lines[slice(*(token.map or (0, 0)))]))
                self._quotes += 1
            case "blockquote_close":
                self._quotes -= 1
                self._past_summary = self._past_summary or not self._quotes
            case "inline" if self._quotes and not self._past_summary:
                self._summary(token)
            case "bullet_list_open" | "ordered_list_open":
                self._listed += 1
                self._lists.append(self._listed)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open" if not self._quotes:
                own = inner[1] if inner[0].type in ("paragraph_open", "heading_open") else None
                self._open_item(token, own)
            case "list_item_close" if not self._quotes:
                self._close_item()
            case "paragraph_open" if token.level == 0:
                self._paragraph(inner[0])
            case "fence" | "code_block" if self._section.kind == CRITERIA and not self._quotes:
                self._criterion(" ".join(token.content.split()), line_of(token), plain=True)
            case "fence" | "code_block":
                self._hide(token, "code", token.content)
            case "html_block" if not token.content.lstrip().startswith("<!--"):
                self._hide(token, "html", token.content)

    def _hide(self, token: Token, code: str, content: str) -> None:
        import re

        if not self._quotes and not self._is_below_box() and re.search(_BOX_IN_TEXT, content):
            self._section.root.others += 1
            self.hidden.append((line_of(token), code))

    def _summary(self, token: Token) -> None:
        import re

        said = self.text(token.content, line_of(token), "summary") or ""
        self.summary.append(re.sub(r"^\[![A-Za-z]+\][+-]?\s*", "", said))

    def _heading(self, level: int, inline: Token) -> None:
        line = line_of(inline)
        if not self.title.source:
            name = self.plain(inline.content) if len(inline.content) <= LONGEST_TEXT else ""
            if (level == 1 and not kind_of(name, bare=True)) or says_feature(name):
                title = self.text(inline.content, line, "title", LONGEST_TEXT)
                self.title = Title(untitled(title or ""), "heading")
                self._headings = [self._headings[0], (level, Section("", "", line))]
                return
        self._past_summary = True
        self._open_section(level, inline.content, line)

    def _open_section(self, level: int, content: str, line: int, *, bare: bool = False) -> None:
        while self._headings[-1][0] >= level:
            self._headings.pop()
        name = self.plain(content) if len(content) <= LONGEST_TEXT else content[:LONGEST_TEXT]
        section = Section(kind_of(name, bare=bare), name, line, self._headings[-1][1])
        self._headings.append((level, section))
        self.sections.append(section)

    def _paragraph(self, inline: Token) -> None:
        """Lines that begin with a box and have no bullet are boxes, each with what follows it up to the next."""
        import re

        lines, first = inline.content.split("\n"), line_of(inline)
        starts = [n for n, text in enumerate(lines) if re.match(_BULLET + _BOX, text)]
        head = "\n".join(lines[: starts[0]] if starts else lines)
        rows = [n for n, text in enumerate(lines) if re.match(r"\s*\|.*(?:\[[ xX]\]|[☐☑☒])", text)]
        if rows:
            self._section.root.others += 1
            self.hidden.append((first + rows[0], "table"))
        if head:
            self._prose_or_heading(head, first)
        for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
            text = re.sub(f"^{_BULLET}", "", "\n".join(lines[start:end]))
            if self._section.kind == CRITERIA:
                self._criterion(text, first + start)
            else:
                self._found(first + start, text, 0, "")

    def _prose_or_heading(self, content: str, line: int) -> None:
        """A line in bold letters, or the name of a section with a colon, is a heading below all others."""
        import re

        bold = re.fullmatch(r"(\*\*|__)((?:(?!\1).)+)\1:?", content.strip())
        if bold or (len(content) < 100 and content.rstrip().endswith(":") and kind_of(self.plain(content), bare=True)):
            self._past_summary = True
            self._open_section(7, content, line, bare=True)
        elif self._section.kind == CRITERIA:
            self._prose.append(self.text(content, line, "criterion") or "")
        elif self._section.boxes:
            self.loose.append((line, self._section))

    def _open_item(self, token: Token, inline: Token | None) -> None:
        import re

        above = self._items[-1] if self._items else None
        item = _Item(line_of(token), self._lists[-1], above)
        self._items.append(item)
        if inline is None:
            return
        content, line = inline.content, line_of(inline)
        if item.box is not None:
            if item.box.done and re.match(r"\[ \]\s|☐", content):
                self.boxes[-1] = item.box.replace(open_below=item.box.open_below or line)
            return
        if self._section.kind == CRITERIA:
            self._criterion(content, line)
        elif re.match(_LIKE_A_BOX, content):
            item.own = True
            item.box = self._found(line, content, item.listed, self._below(token, inline))
            while above:
                above.has_box, above = True, above.above
        else:
            name = self.plain(content) if len(content) <= LONGEST_TEXT else ""
            item.known = (kind := kind_of(name, bare=True)) in (CRITERIA, ASIDE)
            item.section = Section(kind, name, line, self._section) if item.known else item.section
            item.group = name.rstrip(":")

    def _close_item(self) -> None:
        item = self._items.pop()
        if item.own or item.known or item.box is not None or self._section.kind == CRITERIA:
            return
        left = item.unboxed if item.has_box else [(item.line, self._section, item.listed)]
        if item.above is not None:
            item.above.unboxed += left
        else:
            self.unboxed += left
            for _, section, _ in left:
                section.root.others += 1

    def _below(self, item: Token, inline: Token) -> str:
        """What stands in the item below its first paragraph, as it is written."""
        import textwrap

        end, last = (inline.map or (0, 0))[1], (item.map or (0, 0))[1]
        return textwrap.dedent("\n".join(self._lines[end:last])).strip("\n").rstrip()

    def _found(self, line: int, content: str, listed: int, description: str) -> Box:
        import re

        box = re.match(_BOX, content)
        text, mark = (content[box.end() :], box[1] or box[2]) if box else (content, " ")
        group = (self._items[-1].group if self._items else "") or self._section.name
        section = self._section
        made = Box(line, text, mark not in " ☐", section, group, listed, description, bad=box is None)
        section.boxes += 1
        section.root.boxes += section is not section.root
        self.boxes.append(made)
        return made

    def _criterion(self, content: str, line: int, *, plain: bool = False) -> None:
        import re

        box = re.match(_BOX, content)
        said = content[box.end() :] if box else content
        text = self.kept(said, line, "criterion", LONGEST_DESCRIPTION) if plain else self.text(said, line, "criterion")
        if text:
            self._criteria.append(text)

    def _table(self, tokens: Sequence[Token]) -> None:
        import re

        rows: list[tuple[int, list[str]]] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append((line_of(token), []))
            elif token.type == "inline":
                rows[-1][1].append(token.content.strip())
        (_, head), *body = rows
        if self._section.kind == CRITERIA:
            for line, cells in body:
                said = [re.sub(rf"^{_CELL}{_BOX}", "", cell) for cell in cells]
                self._criterion(" – ".join(filter(None, said)), line)
            return
        self._listed += 1
        boxed = [next((n for n, cell in enumerate(cells) if re.match(_CELL + _BOX, cell)), -1) for _, cells in body]
        if max(boxed, default=-1) < 0:
            self._section.root.others += 1
            self.unboxed.append((line_of(tokens[0]), self._section, 0))
            return
        for (line, cells), at in zip(body, boxed, strict=True):
            if at < 0:
                self.unboxed.append((line, self._section, self._listed))
            else:
                self._row(line, head, cells, at)

    def _row(self, line: int, head: list[str], cells: list[str], at: int) -> None:
        """A row with a box: the text beside it, else that of the column of tasks, else the first words."""
        import re

        box = re.sub(rf"^{_CELL}", "", cells[at])
        mark = re.match(_BOX, box)
        assert mark is not None
        others = [n for n, cell in enumerate(cells) if n != at and cell]
        where = at
        if not says_something(box[mark.end() :]):
            named = [n for n in others if n < len(head) and re.fullmatch(_TEXT_COLUMN, head[n])]
            where = next(iter(named or [n for n in others if re.search(r"[^\W\d_]", cells[n])]), at)
            box = f"{mark[0].rstrip()} {cells[where]}" if where != at else box
        rest = [n for n in others if n != where]
        said = [f"{head[n]}: {cells[n]}" if n < len(head) and head[n] else cells[n] for n in rest]
        self._found(line, box, self._listed, "\n".join(said))
