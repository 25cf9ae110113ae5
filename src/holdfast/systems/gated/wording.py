"""Whether a document says anything: more than headings, comments, placeholders and the text of its template."""

from __future__ import annotations

from _collections_abc import Iterator

_PLACEHOLDERS = (
    r"(?i)\W*(?:todo|tbd|tba|tbc|fixme|wip|xxx+|placeholder|coming soo[n]|to do|work in progress|lorem ipsum[\w\s,.]*"
    r"|(?:still )?to be (?:done|written|defined|added|filled in)"
    r"|none|nothing|n/?a|not applicable|no (?:changes?|content|documentation)|empty)(?:\([^()]*\))?\W*"
)
"""A line that says that the text is missing, or that there is none, without a reason."""


def is_more(text: str, template: str) -> bool:
    """Whether a document says something that its template does not: headings and comments say nothing."""
    known = [line for line, _ in _lines(template)]
    whole = " ".join(known)
    return any(line not in known and line not in whole for line in _sayings(text))


def placeholder(text: str) -> str:
    """The first line of a document that says nothing itself and stands for what is missing; empty where none does."""
    import re

    return next((shown for line, shown in _lines(text) if re.fullmatch(_PLACEHOLDERS, shown)), "")


def _sayings(text: str) -> Iterator[str]:
    """The lines that say something, with white space made the same. A single letter is no word."""
    import re

    for line, shown in _lines(text):
        words = re.findall(r"[^\W_]+", shown)
        if any(len(word) > 1 or not word.isascii() for word in words) and not re.fullmatch(_PLACEHOLDERS, shown):
            yield line


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """The lines with letters or digits that are no headings: as they are written, and as a reader sees them."""
    import re
    from html import unescape

    plain = re.sub(r"<!--.*?(-->|\Z)", " ", text, flags=re.DOTALL)
    for line in plain.splitlines():
        written = " ".join(line.split())
        shown = re.sub(r"!?\[\]\([^()]*\)|^(?:```|~~~).*", " ", written)
        shown = " ".join(unescape(re.sub(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>", " ", shown)).split())
        if not written.startswith("#") and any(char.isalnum() for char in shown):
            yield written, shown
