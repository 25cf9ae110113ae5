"""A paragraph of ours in somebody's markdown, between two comments that nobody sees."""

from __future__ import annotations

BEGIN, END = "<!-- holdfast: begin -->", "<!-- holdfast: end -->"


def put(text: str, paragraph: str) -> str:
    """The text with the paragraph at its end, or where it already stands."""
    eol = "\r\n" if "\r\n" in text else "\n"
    block = f"{BEGIN}\n{paragraph.strip()}\n{END}".replace("\n", eol)
    found = _span(text)
    if found:
        return text[: found[0]] + block + text[found[1] :]
    gap = eol * (not text.endswith("\n")) + eol if text.strip() else ""
    return f"{text}{gap}{block}{eol}"


def take(text: str) -> str:
    """The text without the paragraph and the blank line before it."""
    found = _span(text)
    if not found:
        return text
    before, after = text[: found[0]], text[found[1] :]
    eol = "\r\n" if after.startswith("\r\n") else "\n"
    return before.removesuffix(eol) + after.removeprefix(eol)


def _span(text: str) -> tuple[int, int] | None:
    start = text.find(BEGIN)
    end = text.find(END, start)
    return (start, end + len(END)) if 0 <= start < end else None
