"""Blocks of a markdown document that begin and have no end: code, comments and HTML that is taken as it is."""

from __future__ import annotations

from _collections_abc import Callable, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it.token import Token

_RAW = r"(?i)\s*<(pre|script|style|textarea)\b"


def without_end(tokens: Sequence[Token], lines: Sequence[str]) -> list[tuple[Token, str]]:
    """The blocks that have no end, each with what is missing, such as `the comment has no end (-->)`."""
    return [(token, lacking) for token in tokens if token.map and (lacking := _lacking(token, lines))]


def after(token: Token, lines: Sequence[str], begins: Callable[[str], bool]) -> int:
    """The first line after the one that opens a block that `begins` something, counted from 0; 0 where none does.

    A parser takes a block without an end to continue up to the end of the document, or of the item that it is in, which
    is then what its author sees too.
    """
    first, last = token.map or (0, 0)
    return next((n for n in range(first + 1, last) if begins(lines[n])), 0) if not token.level else 0


def _lacking(token: Token, lines: Sequence[str]) -> str:
    import re

    first, last = token.map or (0, 0)
    if token.type == "fence":
        end = rf"[\s>]*{re.escape(token.markup[0])}{{{len(token.markup)},}}\s*"
        is_closed = last - 1 > first and re.fullmatch(end, lines[last - 1])
        return "" if is_closed else f"the code block has no end ({token.markup})"
    if token.type != "html_block":
        return ""
    if token.content.lstrip().startswith("<!--"):
        return "" if "-->" in token.content else "the comment has no end (-->)"
    raw = re.match(_RAW, token.content)
    end = f"</{raw[1].lower()}>" if raw else ""
    return f"the HTML has no end ({end})" if end not in token.content.lower() else ""
