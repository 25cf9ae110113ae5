"""Markdown as a row of blocks, and within one its boxes, its tables and its `**Label**: value` lines.

A paragraph swallows the lines below it, and so does the last item of a list. Labels and boxes are therefore looked for
in every line of a block: authors rarely leave the blank line that would set them apart.
"""

from __future__ import annotations

import re
from _collections_abc import Callable, Iterator, Sequence

from holdfast.core.value import Value
from holdfast.markdown.text import Markdown, line_of

_SIGN = r"\s*(?:[^\w\s*_`\[|☐☑☒⬜-]+\s+)?"
_BOLD_LABEL = _SIGN + r"(\*{1,3}|_{1,3})\s*([A-Za-z][^*_:\n]{0,60})(?::\s*\1|\1(?:\s*\([^()\n]*\))?\s*:)(.*)"
_BARE_LABEL = _SIGN + r"()([A-Za-z][A-Za-z _-]{0,60})(?:\s*\([^()\n]*\))?:(?!//)(.*)"
_NEXT_LABEL = r"[\s,;|·](?=(?:\*\*|__)[A-Za-z][A-Za-z -]{0,60}(?::\*\*|\*\*\s?:|:__|__\s?:))"
_BOX = r"\s*(?:[-*+]\s*)?(?:\[\s*([xX✓✔]?)\s*\](?![(\[:])|([☐☑☒⬜]))\s*"
LONGEST_UNDERLINED = 60
_ROW = r"\s*\|(.*)\|\s*"
_RULE = r"[\s|:-]+"
_STRUCK = r"~~(?=\S)[^~`\n]+(?<=\S)~~"
_STRUCK_LINE = rf"\s*(?:[-*+]\s+)?(?:\[[^\]]?\]\s*)?{_STRUCK}[\s.]*"


class Block(Value):
    """A piece of the document: a `heading`, the first lines of a list `item`, other `text`, `code` or `html`.

    `depth` is the level of a heading, or how many list items the block is in. A heading may be `underlined`.
    """

    kind: str
    depth: int
    content: str
    line: int
    underlined: bool = False


class Piece(Value):
    """Lines of a block that belong together: those of one label, in lower case, of one box, or those before them.

    `box` is a space where it is empty and `x` where it is ticked. `row`: it is one of a table, as is what `heads` one.
    """

    label: str
    lines: tuple[str, ...]  # with a label or a box: its value, and what follows it
    source: str
    offset: int
    box: str = ""
    row: bool = False
    heads: bool = False


class Blocks(Markdown):
    """The blocks of a document, in their order."""

    def blocks(self) -> Iterator[Block]:
        items = 0
        fresh = False  # nothing of the innermost item has been seen
        for before, token in zip(self.tokens[:1] + self.tokens, self.tokens, strict=False):
            match token.type:
                case "list_item_open" | "list_item_close":
                    fresh = token.nesting > 0
                    items += token.nesting
                case "code_block" if re.match(_BOX, token.content):
                    fresh = False
                    yield Block("text", items, token.content.strip("\n"), line_of(token))
                case "fence" | "code_block":
                    fresh = False
                    yield Block("code", items, token.content.strip("\n"), line_of(token))
                case "html_block" if not token.content.lstrip().startswith("<!--"):
                    yield Block("html", items, token.content, line_of(token))
                case "inline" if before.type == "heading_open" and before.level == 0:
                    yield Block("heading", int(before.tag[1:]), token.content, line_of(token), before.markup == "-")
                case "inline":
                    kind, fresh = "item" if fresh else "text", False
                    yield Block(kind, items, token.content, line_of(token))


def without_struck(block: Block) -> tuple[list[Block], list[int]]:
    """The block in parts without the text that is struck through, and the lines where such text stood."""
    parts: list[tuple[int, list[str]]] = [(0, [])]
    struck = []
    for at, line in enumerate(block.content.split("\n")):
        if re.search(_STRUCK, line):
            struck.append(block.line + at)
        if re.fullmatch(_STRUCK_LINE, line):
            parts.append((at + 1, []))
        else:
            parts[-1][1].append(re.sub(rf"\s*{_STRUCK}", "", line))
    rest = (
        block.replace(kind=block.kind if at == 0 else "text", content="\n".join(lines), line=block.line + at)
        for at, lines in parts
    )
    return [part for part in rest if part.content], struck


def is_title(content: str) -> bool:
    """Whether an underlined line is a heading, and no paragraph with a rule right below it."""
    return len(content) <= LONGEST_UNDERLINED and not re.search(r"[\n:`|]|[.!?…,;]$", content) and not has_box(content)


def has_box(content: str) -> bool:
    return any(re.match(_BOX, line) for line in content.split("\n"))


def pieces(content: str, is_label: Callable[[str], bool], *, bare: bool = False) -> Sequence[Piece]:
    """The content of a block, a new piece at each box, row or label; nothing is left out.

    A label that is not in bold counts if it is known, and in some sections in any case (`bare`).
    """
    found: list[tuple[Piece, list[str]]] = []
    lines = content.split("\n")
    for offset, line in enumerate(lines):
        if (row := re.fullmatch(_ROW, line)) and not re.fullmatch(_RULE, line):
            cells = [re.sub(r"^[*_`\s]+|[*_`:\s]+$", "", cell) for cell in row[1].split("|")]
            heads = any(re.fullmatch(_RULE, below) and "-" in below for below in lines[offset + 1 : offset + 2])
            found.append((Piece(normal(cells[0]), (cells[1] if cells[1:] else "",), line, offset, "", True, heads), []))
        elif row:
            continue
        elif box := re.match(_BOX, line):
            ticked = "x" if box[1] or box[2] in ("☑", "☒") else " "
            found.append((Piece("", (line[box.end() :],), line[box.end() :], offset, ticked), []))
        elif labelled := _labelled(line, is_label, bare=bare):
            found += ((piece.replace(offset=offset), []) for piece in labelled)
        elif found and not found[-1][0].row:
            found[-1][1].append(line)
        else:
            found.append((Piece("", (line,), line, offset), []))
    whole = ((piece, (*piece.lines, *more), "\n".join((piece.source, *more))) for piece, more in found)
    return [piece.replace(lines=lines, source=source) for piece, lines, source in whole]


def _labelled(line: str, is_label: Callable[[str], bool], *, bare: bool) -> list[Piece]:
    """The labels of a line that begins with one, each with its value."""

    def matched(text: str) -> re.Match[str] | None:
        if found := re.fullmatch(_BOLD_LABEL, text):
            return found if len(found[1]) > 1 or is_label(normal(found[2])) else None
        found = re.fullmatch(_BARE_LABEL, text)
        return found if found and (bare or is_label(normal(found[2]))) else None

    if not matched(line):
        return []
    parts = re.split(_NEXT_LABEL, line)
    labels = [label for label in map(matched, parts) if label]
    if len(labels) < len(parts):
        labels = [label for label in (matched(line),) if label]
    values = [label[3].strip().removesuffix("\\").rstrip() for label in labels]
    values[:-1] = [value.rstrip(" ,;|·") for value in values[:-1]]
    return [Piece(normal(label[2]), (value,), label[0], 0) for label, value in zip(labels, values, strict=True)]


def normal(label: str) -> str:
    """A label as it is looked up: `Auto-Fix` → `auto fix`, `Max. cost (USD)` → `maximum cost`."""
    words = re.sub(r"[\s_-]+", " ", re.sub(r"\([^()]*\)", "", label)).strip(" :").lower()
    return re.sub(r"^max\b\.?", "maximum", words)
