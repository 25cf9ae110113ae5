"""What a feature file holds, block by block: sections, boxes, criteria, and what is neither.

A parser of markdown says what is what: a box in a code fence, a comment or a quotation is text like any other. Which
boxes are tasks is decided when all headings are known.
"""

from __future__ import annotations

import textwrap
from _collections_abc import Sequence

from holdfast.markdown import ends
from holdfast.markdown.text import Markdown, line_of, says_something
from holdfast.systems.skill import boxes, tables
from holdfast.systems.skill.boxes import BOX, LIKE_A_BOX, Box, indent, is_box
from holdfast.systems.skill.headings import (
    ASIDE,
    CRITERIA,
    TASKS,
    Section,
    Title,
    is_title,
    kind_of,
    says_feature,
    untitled,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST_TEXT = 1000
LONGEST_DESCRIPTION = 4000
_FOLD, _FOLD_END = r"\+\+\+ +\S.*", r"\s*\+\+\+\s*"
_ALERT = r"\s*>\s*\[!([A-Za-z]+)\]"
_SUMMARIES = ("abstract", "summary", "tldr", "quote", "cite")
_MOST_RESTORED = 20


class _Item:
    """An open list item: of a task, below one, or a group of what is in it."""

    def __init__(self, line: int, listed: int, above: _Item | None) -> None:
        self.line, self.listed, self.above = line, listed, above
        self.box: Box | None = above.box if above else None
        self.section: Section | None = above.section if above else None
        self.group: str = above.group if above else ""
        self.own = self.has_box = self.known = False
        self.is_beside = False  # it has no box, and its text is followed by boxes that are not below it
        self.unboxed: list[tuple[int, Section, int]] = []


class Blocks(Markdown):
    """Gathered in one pass. The boxes are those of all sections."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "table")
        self._lines = text.split("\n")
        self.title = Title("", "")
        self.titled: Section | None = None  # what stands directly below the title; named if that speaks of tasks
        self.summary: list[str] = []
        self._criteria: list[tuple[str, bool]] = []  # each with whether it is an item, and no paragraph
        self._headings: list[tuple[int, Section]] = [(0, Section("", "", 1))]
        self.sections: list[Section] = []
        self.boxes: list[Box] = []
        self.unboxed: list[tuple[int, Section, int]] = []
        self.groups: set[int] = set()  # the lists with items that have boxes below them
        self.hidden: list[tuple[int, str]] = []
        self.loose: list[tuple[int, Section]] = []
        self._items: list[_Item] = []
        self._lists: list[int] = []
        self._listed = 0
        self._quotes = 0
        self._is_alert = False  # a quotation that is a note in a box, such as `> [!NOTE]`
        self._past_summary = False  # which is the first quotation, unless a heading other than the title comes before
        self.without_end: list[tuple[int, str, int]] = []  # what its end would be, and the line that is read again
        self._restore()
        self._gather()

    @property
    def criteria(self) -> tuple[str, ...]:
        """The items and paragraphs. A paragraph that ends with a colon only leads to the items below it."""
        below = [*self._criteria[1:], ("", False)]
        pairs = zip(self._criteria, below, strict=False)
        return tuple(text for (text, is_item), (_, leads) in pairs if is_item or not leads or text[-1] not in ":：")

    def _restore(self) -> None:
        """What follows a block without an end is read from the next heading or box on: its author forgot the end."""
        lines, seen = self._lines, set[int]()
        while len(seen) < _MOST_RESTORED:
            found = [one for one in ends.without_end(self.tokens, lines) if line_of(one[0]) not in seen]
            if not found:
                return
            for token, lacking in found:
                first, after = line_of(token), ends.after(token, lines, self._begins)
                seen.add(first)
                self.without_end.append((first, lacking, after + 1 if after else 0))
                if after:
                    lines = [*lines[: first - 1], *[""] * (after + 1 - first), *lines[after:]]
                    self.parse("\n".join(lines))
                    self._lines = lines

    def _begins(self, line: str) -> bool:
        """Whether a line begins what is read: a box or a heading. `# …` may be a comment of the code."""
        import re

        return is_box(line) or re.match(r" {0,3}#{2,6}\s+\S", line) is not None or self._is_heading(line.strip())

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
                self._heading(int(token.tag[1:]), inner[0].content, line_of(inner[0]))
            case "blockquote_open":
                self._open_quotation(token)
            case "blockquote_close":
                self._quotes -= 1
                self._is_alert = self._is_alert and self._quotes > 0
                self._past_summary = self._past_summary or (not self._quotes and bool(self.summary))
            case "inline" if self._quotes and not self._past_summary and not self._is_alert:
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
            case "html_block" if token.content.lstrip().startswith("<!--"):
                comment = token.content.partition("-->")[0]
                if "<!--" in comment.lstrip()[4:]:
                    self._hide(token, "comment", comment)
            case "html_block":
                self._html(token)

    def _open_quotation(self, token: Token) -> None:
        import re

        source = "\n".join(self._lines[slice(*(token.map or (0, 0)))])
        alert = re.match(_ALERT, source)
        if not self._quotes:
            self._is_alert = alert is not None and alert[1].lower() not in _SUMMARIES
        if self._past_summary or self._is_alert:
            self._hide(token, "quotation", source)
        self._quotes += 1

    def _hide(self, token: Token, code: str, content: str) -> None:
        import re

        if self._quotes or self._is_below_box():
            return
        headings = re.findall(r"(?m)^ {0,3}#{1,6}\s+(\S.*)$", content) if code == "code" else ()
        if re.search(boxes.BOX_IN_TEXT, content) or any(map(kind_of, headings)):
            self._section.root.others += 1
            self.hidden.append((line_of(token), code))

    def _html(self, token: Token) -> None:
        """A heading in HTML, or the name of what is folded, is a heading; `</details>` ends its section."""
        import re

        self._hide(token, "html", token.content)
        if self._quotes or self._items:
            return
        for found in re.finditer(r"(?is)<(h[1-6]|summary)\b[^>]*>(.*?)</\1>|</details>", token.content):
            line = line_of(token) + token.content.count("\n", 0, found.start())
            name = " ".join(re.sub(r"<[^>]*>", "", found[2] or "").split())
            if name and found[1][0] in "hH":
                self._heading(int(found[1][1]), name, line)
            elif name:
                self._open_section(7, name, line, bare=True)
            else:
                self._close_sections(7)

    def _close_sections(self, level: int) -> None:
        while self._headings[-1][0] >= level:
            self._headings.pop()

    def _summary(self, token: Token) -> None:
        import re

        said = self.text(token.content, line_of(token), "summary") or ""
        self.summary.append(re.sub(r"^\[![A-Za-z]+\][+-]?\s*", "", said))

    def _heading(self, level: int, content: str, line: int) -> None:
        if not self.title.source:
            name = self.plain(content) if len(content) <= LONGEST_TEXT else ""
            also_tasks = kind_of(name) == TASKS
            if (level == 1 and is_title(name) and not (self.sections and also_tasks)) or says_feature(name):
                title = self.text(content, line, "title", LONGEST_TEXT)
                self.title = Title(untitled(title or ""), "heading")
                self.titled = Section("", name if also_tasks else "", line)
                self._headings = [self._headings[0], (level, self.titled)]
                return
        self._past_summary = True
        self._open_section(level, content, line)

    def _open_section(self, level: int, content: str, line: int, *, bare: bool = False) -> None:
        self._close_sections(level)
        name = self.plain(content) if len(content) <= LONGEST_TEXT else content[:LONGEST_TEXT]
        above = self._headings[-1][1]
        kind = kind_of(name, bare=bare)
        section = Section(kind, name, line, above, is_own=bare and bool(kind))
        self._headings.append((level, section))
        self.sections.append(section)

    def _paragraph(self, inline: Token) -> None:
        """Lines that begin with a box and have no bullet are boxes, each with what follows it up to the next."""
        import re

        lines, first = inline.content.split("\n"), line_of(inline)
        starts = [n for n, text in enumerate(lines) if is_box(text)]
        head = "\n".join(lines[: starts[0]] if starts else lines)
        rows = [n for n, text in enumerate(lines) if re.match(r"\s*\|.*(?:\[[ xX/~-]\]|[☐☑☒])", text)]
        if rows:
            self._section.root.others += 1
            self.hidden.append((first + rows[0], "table"))
        if head:
            self._prose_or_heading(head, first)
        self._boxes_of(lines, starts, first, 0, first - 1 + len(lines))

    def _boxes_of(self, lines: list[str], starts: list[int], first: int, listed: int, last: int) -> Box | None:
        """The boxes that begin at `starts` in the lines of a paragraph, which begins at the line `first`: the last one.

        Its description continues up to the line `last`.
        """
        import re

        box = None
        for start, end in zip(starts, [*starts, len(lines)][1:], strict=True):
            own = [re.sub(f"^{boxes.BULLET}", "", lines[start]), *lines[start + 1 : end]]
            line, size = first + start, boxes.title_end(own)
            if self._section.kind == CRITERIA:
                self._criterion("\n".join(own), line)
                continue
            stop = last if end == len(lines) else first - 1 + end
            said = textwrap.dedent("\n".join(self._lines[line - 1 + size : stop])).strip("\n").rstrip()
            made = self._found(line, "\n".join(own[:size]), listed, said)
            box = self.boxes[-1] = made.replace(tight=boxes.is_tight(lines[start]), joined=start > 0 and listed > 0)
        return box

    def _prose_or_heading(self, content: str, line: int) -> None:
        import re

        if re.fullmatch(_FOLD_END, content):
            self._close_sections(7)
        elif self._is_heading(content):
            self._past_summary = True
            self._open_section(7, content, line, bare=True)
        elif self._section.kind == CRITERIA:
            self._criterion(content, line, is_item=False)
        elif self._section.boxes:
            self.loose.append((line, self._section))

    def _is_heading(self, content: str) -> bool:
        """A line in bold letters, the name of a section with a colon, or what is folded: below all other headings."""
        import re

        if re.fullmatch(rf"(\*\*|__)((?:(?!\1).)+)\1:?|{_FOLD}", content.strip()):
            return True
        return len(content) < 100 and content.rstrip().endswith(":") and bool(kind_of(self.plain(content), bare=True))

    def _open_item(self, token: Token, inline: Token | None) -> None:
        import re

        above = self._items[-1] if self._items else None
        item = _Item(line_of(token), self._lists[-1], above)
        self._items.append(item)
        if inline is None:
            return
        content, line = inline.content, line_of(inline)
        if item.box is not None:
            if item.box.done and re.match(r"\[[ /~-]\]\s|☐", content):
                self.boxes[-1] = item.box.replace(open_below=item.box.open_below or line)
            return
        lines, last = content.split("\n"), (token.map or (0, 0))[1]
        heading = self._lazy_heading(lines, line, last) if above is None else ""
        lines, last = (lines[:-1], line - 2 + len(lines)) if heading else (lines, last)
        self._take_item(item, lines, line, last)
        if heading:
            self._open_section(7, heading, last + 1, bare=True)

    def _lazy_heading(self, lines: list[str], line: int, last: int) -> str:
        """A heading right below an item and as far left as its bullet: markdown takes it for text of the item."""
        end = line - 1 + len(lines)
        alone = len(lines) > 1 and not says_something("".join(self._lines[end:last]))
        return lines[-1] if alone and not indent(self._lines[end - 1]) and self._is_heading(lines[-1]) else ""

    def _take_item(self, item: _Item, lines: list[str], line: int, last: int) -> None:
        """What the first paragraph of an item says. Lines of it that begin with a box are boxes, if not indented."""
        import re

        starts = [n for n, text in enumerate(lines) if n and is_box(text)]
        deep = indent(self._lines[item.line - 1]) + 2
        beside = [n for n in starts if indent(self._lines[line - 1 + n]) < deep]
        if re.match(LIKE_A_BOX, lines[0]):
            item.own = True
            item.box = self._boxes_of(lines, [0, *beside], line, item.listed, last)
        elif self._section.kind == CRITERIA:
            self._criterion("\n".join(lines[: (beside or [len(lines)])[0]]), line)
            self._boxes_of(lines, beside, line, item.listed, last)
        else:
            own = "\n".join(lines[: (starts or [len(lines)])[0]])
            name = self.plain(own) if len(own) <= LONGEST_TEXT else ""
            item.known = (kind := kind_of(name, bare=True)) in (CRITERIA, ASIDE)
            item.section = Section(kind, name, line, self._section) if item.known else item.section
            item.group = name.rstrip(":")
            item.box = self._boxes_of(lines, starts, line, item.listed, last)
            item.is_beside = bool(beside)
            item.has_box = bool(starts) and not beside
        above = item.above
        while item.box and above:
            self.groups.add(above.listed)
            above.has_box, above = True, above.above

    def _close_item(self) -> None:
        item = self._items.pop()
        if item.own or item.known or self._section.kind == CRITERIA or (item.box is not None and not item.is_beside):
            return
        left = item.unboxed if item.has_box else [(item.line, self._section, item.listed)]
        if item.above is not None:
            item.above.unboxed += left
        else:
            self.unboxed += left
            for _, section, _ in left:
                section.root.others += 1

    def _found(self, line: int, content: str, listed: int, description: str) -> Box:
        import re

        box = re.match(BOX, content)
        text, mark = (content[box.end() :], box[1] or box[2]) if box else (content, " ")
        section = self._section
        own = self._items[-1].group if self._items else ""
        groups = tuple(name for name in (own, *section.names()) if name)
        starred = box is not None and "]*" in box[0]
        made = Box(line, text, mark, section, groups, listed, description, bad=box is None, optional=starred)
        section.boxes += 1
        section.root.boxes += section is not section.root
        self.boxes.append(made)
        return made

    def _criterion(self, content: str, line: int, *, plain: bool = False, is_item: bool = True) -> None:
        import re

        box = re.match(BOX, content)
        said = content[box.end() :] if box else content
        text = self.kept(said, line, "criterion", LONGEST_DESCRIPTION) if plain else self.text(said, line, "criterion")
        if text:
            self._criteria.append((text, is_item))

    def _table(self, tokens: Sequence[Token]) -> None:
        import re

        table = tables.Table(tokens)
        if self._section.kind == CRITERIA:
            for line, cells in table.body:
                said = [re.sub(f"^{tables.CELL}{BOX}", "", cell) for cell in cells]
                self._criterion(" – ".join(filter(None, said)), line)
            return
        self._listed += 1
        if not table.has_boxes:
            self._section.root.others += 1
            self.unboxed.append((line_of(tokens[0]), self._section, 0))
            return
        for (line, cells), at in zip(table.body, table.boxed, strict=True):
            if at < 0:
                self.unboxed.append((line, self._section, self._listed))
            else:
                content, description = table.task(cells, at)
                self._found(line, content, self._listed, description)
