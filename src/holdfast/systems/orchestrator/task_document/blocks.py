"""Markdown as a row of blocks, and the `**Label**: value` lines within one.

A paragraph swallows the lines below it, and so does the last item of a list. Labels are therefore looked for in every
line of a block: authors rarely leave the blank line that would set them apart.
"""

from __future__ import annotations

import re
from _collections_abc import Iterator, Sequence

from holdfast.core.value import Value
from holdfast.markdown.text import Markdown, line_of

_BOLD_LABEL = r"\s*(\*\*|__)\s*([A-Za-z][^*_:\n]{0,60})(?::\s*\1|\1(?:\s*\([^()\n]*\))?\s*:)(.*)"
_BARE_LABEL = r"\s*()([A-Za-z][A-Za-z -]{0,60}):(.*)"
_NEXT_LABEL = r"[\s,;|·](?=(?:\*\*|__)[A-Za-z][A-Za-z -]{0,60}(?::\*\*|\*\*\s?:|:__|__\s?:))"


class Block(Value):
    """A piece of the document: a `heading`, the first lines of a list `item`, other `text`, a `quote` or `code`.

    `depth` is the level of a heading, or how many list items the block is in. A heading may be `underlined`.
    """

    kind: str
    depth: int
    content: str
    line: int
    underlined: bool = False


class Piece(Value):
    """Lines of a block that belong together: those of one label, in lower case, or those before the first one."""

    label: str
    lines: tuple[str, ...]  # with a label: its value, and what follows it
    source: str
    offset: int


class Blocks(Markdown):
    """The blocks of a document, in their order."""

    def blocks(self) -> Iterator[Block]:
        items = quotes = 0
        fresh = False  # nothing of the innermost item has been seen
        for before, token in zip(self.tokens[:1] + self.tokens, self.tokens, strict=False):
            match token.type:
                case "list_item_open" | "list_item_close":
                    fresh = token.nesting > 0
                    items += token.nesting
                case "blockquote_open" | "blockquote_close":
                    quotes += token.nesting
                case "fence" | "code_block":
                    fresh = False
                    yield Block("code", items, token.content.strip("\n"), line_of(token))
                case "inline" if before.type == "heading_open" and before.level == 0:
                    yield Block("heading", int(before.tag[1:]), token.content, line_of(token), before.markup == "-")
                case "inline":
                    kind = "quote" if quotes else "item" if fresh else "text"
                    fresh = False
                    yield Block(kind, items, token.content, line_of(token))


def pieces(content: str, *, bare: bool = False) -> Sequence[Piece]:
    """The content of a block, a new piece at each label; `bare` ones are not in bold. Nothing is left out."""
    found: list[tuple[Piece, list[str]]] = []
    for offset, line in enumerate(content.split("\n")):
        if labelled := _labelled(line, bare=bare):
            found += ((piece.replace(offset=offset), []) for piece in labelled)
        elif found:
            found[-1][1].append(line)
        else:
            found.append((Piece("", (line,), line, offset), []))
    whole = ((piece, (*piece.lines, *more), "\n".join((piece.source, *more))) for piece, more in found)
    return [piece.replace(lines=lines, source=source) for piece, lines, source in whole]


def _labelled(line: str, *, bare: bool) -> list[Piece]:
    """The labels of a line that begins with one, each with its value."""

    def matched(text: str) -> re.Match[str] | None:
        return re.fullmatch(_BOLD_LABEL, text) or (re.fullmatch(_BARE_LABEL, text) if bare else None)

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
