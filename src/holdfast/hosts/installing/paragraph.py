"""A paragraph of ours in somebody's markdown, between two comments that nobody sees."""

from __future__ import annotations

from holdfast.hosts.installing.jsontext import broken
from holdfast.hosts.installing.parts import Part

BEGIN, END = "<!-- holdfast: begin -->", "<!-- holdfast: end -->"


class Paragraph(Part):
    about = "paragraph"

    def __init__(self, text: str) -> None:
        self.text = text

    def put(self, text: str, name: str, said: list[str]) -> str:
        """The text with the paragraph at its end, or where it already stands."""
        eol = "\r\n" if "\r\n" in text else "\n"
        block = f"{BEGIN}\n{self.text.strip()}\n{END}".replace("\n", eol)
        found = _span(text, name)
        if found:
            return text[: found[0]] + block + text[found[1] :]
        gap = eol * (not text.endswith("\n")) + eol if text.strip() else ""
        return f"{text}{gap}{block}{eol}"

    def take(self, text: str, name: str) -> str:
        """The text without the paragraph and the blank line before it."""
        found = _span(text, name)
        if not found:
            return text
        before, after = text[: found[0]], text[found[1] :]
        eol = "\r\n" if after.startswith("\r\n") else "\n"
        return before.removesuffix(eol) + after.removeprefix(eol)


def _span(text: str, name: str) -> tuple[int, int] | None:
    """Where the paragraph stands. With a mark lost or doubled nobody knows what is between them: it may be theirs."""
    start, end = text.find(BEGIN), text.find(END)
    if start < 0 and end < 0:
        return None
    if 0 <= start < end and text.count(BEGIN) == text.count(END) == 1:
        return start, end + len(END)
    first = min(at for at in (start, end) if at >= 0)
    sentence = f"{BEGIN} and {END} have to be there once each, in this order: fix it by hand"
    raise broken(name, text.count("\n", 0, first) + 1, sentence)
