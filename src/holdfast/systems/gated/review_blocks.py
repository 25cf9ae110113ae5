"""A review as a row of blocks: what a reader sees of each, and which characters of it are in bold."""

from __future__ import annotations

import re
from _collections_abc import Iterator

from holdfast.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it import MarkdownIt

RULE, PARAGRAPH, ROW, MATTER = 0, 7, 8, 9
"""Levels of blocks; those of headings are between the first two. Matter is code and quotations: who wrote it is not
known, so it decides nothing, and a finding in it is one.
"""
STRUCK = "x"
"""The kind of a character that is struck out."""
_ALERT = r"(?i)\[!(?:note|tip|important|warning|caution)\][ \t]*(?=\n|$)"
"""The first line of a box that forges show: the author's own words, though it is written as a quotation."""
_WARNING = r"(?i)\[!caution\]"
_LONGEST_SOURCE = 4000  # of one text with its marks; the parser's time may grow with the square of it
_TAGGED = r"(?i)\s*</?(?!(?:pre|script|style|textarea)\b)[a-z]"
_BOLD = r"(?i)</?(?:b|strong)\b[^<>]*>"
_STRIKING = r"(?i)</?(?:del|s|strike)>"
_COMMENT = r"(?s)<!--.*?(?:-->|\Z)"


class Block(Value):
    """A piece of the document. `within` are the list items it is in; `kinds` says of each character what it is:
    `s` strong, `c` code, `x` struck out, `t` any other.
    """

    level: int
    within: tuple[int, ...]
    line: int
    text: str
    kinds: str = ""
    is_head: bool = False
    """Whether it is the row above the rows of a table."""
    is_warning: bool = False
    """Whether it begins a box that forges show as a danger."""


def blocks(text: str) -> Iterator[Block]:
    """Comments are no blocks. Links stay as they are written, since `[MAJOR]` is the beginning of one."""
    from markdown_it import MarkdownIt

    markdown = (
        MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable(["inline", "reference", "link", "image"])
    )
    tokens = markdown.parse(text)
    items: tuple[int, ...] = ()
    quotes: list[bool] = []  # of each blockquote around: whether these are others' words
    row: list[tuple[str, str]] = []
    for at, token in enumerate(tokens):
        line = token.map[0] + 1 if token.map else 1
        match token.type:
            case "list_item_open":
                items = (*items, at)
            case "list_item_close":
                items = items[:-1]
            case "blockquote_open":
                inner = tokens[at + 2].content if tokens[at + 1].type == "paragraph_open" else ""
                quotes.append(not re.match(_ALERT, inner))
            case "blockquote_close":
                quotes.pop()
            case "fence" | "code_block":
                yield Block(MATTER, items, line, token.content.strip("\n"))
            case "hr" if token.level == 0:
                yield Block(RULE, items, line, "")
            case "html_block":
                shown, kinds = _untagged(token.content)
                if shown.strip():
                    yield Block(MATTER if any(quotes) else PARAGRAPH, items, line, shown, kinds)
            case "inline" if tokens[at - 1].type in ("th_open", "td_open"):
                row.append(_plain(markdown, token.content))
                if tokens[at + 2].type == "tr_close":
                    shown, kinds = (" | ".join(part) for part in zip(*row, strict=True))
                    is_head = tokens[at - 1].type == "th_open"
                    yield Block(MATTER if any(quotes) else ROW, items, line, shown, kinds, is_head)
                    row = []
            case "inline":
                before = tokens[at - 1]
                heading = before.type == "heading_open" and before.level == 0
                level = int(before.tag[1:]) if heading else MATTER if any(quotes) else PARAGRAPH
                said = re.sub(_ALERT, "", token.content) if quotes and before.level == len(quotes) else token.content
                is_warning = said != token.content and bool(re.match(_WARNING, token.content))
                yield Block(level, items, line, *_plain(markdown, said), is_warning=is_warning)


def _plain(markdown: MarkdownIt, content: str) -> tuple[str, str]:
    """The characters that a reader sees, and the kind of each. A tag stays as it is written; a comment does not."""
    if len(content) > _LONGEST_SOURCE:
        return _unmarked(content)
    shown, kinds, strong, struck = [], [], 0, 0
    for token in markdown.inline.parse(content, markdown, {}, []):
        said = token.content
        if token.type in ("strong_open", "strong_close"):
            strong += token.nesting
        elif re.fullmatch(_BOLD, said):
            strong += -1 if said.startswith("</") else 1
        elif token.type in ("s_open", "s_close") or re.fullmatch(_STRIKING, said):
            closes = token.nesting < 0 or said.startswith("</")
            said = said or token.markup
            struck += -1 if closes else 1
        elif token.type in ("softbreak", "hardbreak"):
            said = "\n"
        elif token.type == "html_inline" and said.startswith("<!--"):
            said = "\n" * said.count("\n")
        shown.append(said)
        kind = STRUCK if struck > 0 else "s" if strong > 0 else "c" if token.type == "code_inline" else "t"
        kinds.append(kind * len(said))
    return "".join(shown), "".join(kinds)


def _untagged(content: str) -> tuple[str, str]:
    """What is to be read in a block of HTML, where markdown means nothing; a page shows its marks all the same."""
    if not re.match(_TAGGED, content):
        return "", ""
    told = re.sub(_COMMENT, lambda comment: "\n" * comment[0].count("\n"), content)
    return _unmarked(re.sub(r"<[^<>]*>", "", told))


def _unmarked(content: str) -> tuple[str, str]:
    """A text that is not parsed: any of it may be in bold."""
    shown = re.sub(r"\*\*|__", "", content)
    return shown, "s" * len(shown)
