"""The words of prose that anybody may have written: made safe, short and plain, and read for how far a workflow is."""

from __future__ import annotations

LONGEST_NAME, LONGEST_TEXT = 200, 500

# Besides control characters: what is invisible or turns the direction of text. Joiners stay, as scripts need them.
UNSAFE = (
    r"[\x00-\x08\x0a-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f]"
)
MARKS = "🔄🟡✅☑✔⬜⏳🔲🟢🔴⏸🚧❌⭕📋🎯⚪🔵🟠\ufe0f"
_STATUS_WORDS = r"(?i:completed?|done|finished|in[ -]progress|not started|pending|blocked|current|active|skipped)"
_EDGES = " -–—:：|"
_PROGRESS = (
    r"(?ai)(?:phase\s+)?#?([0-9]{1,4})(?:\s*(?:/|of\s)\s*([0-9]{1,4}))?(?![0-9a-z]|\.[0-9])(?:\s*[:：.–—-]+)?\s*(.*)"
)


def progress_in(name: str) -> tuple[int, int, str] | None:
    """`4/10 - Name` as its parts. Without a total it is zero; without a number there is nothing."""
    import re

    match = re.match(_PROGRESS, name)
    if not match:
        return None
    name = match[3].strip(_EDGES)
    if name.startswith("(") and name.find(")") == len(name) - 1:
        name = name[1:-1]
    return int(match[1]), int(match[2] or 0), clean(name)


def plain_name(text: str) -> str:
    """A name without the marks and the words in brackets that say how far it is."""
    import re

    def bracketed(match: re.Match[str]) -> str:
        inner = match[1].strip()
        box = match[0].lower() in ("[ ]", "[x]")
        said = box or any(mark in inner for mark in MARKS) or re.fullmatch(_STATUS_WORDS, inner)
        return "" if said else match[0]

    text = re.sub(r"[(\[（【]([^()\[\]（）【】]*)[)\]）】]", bracketed, clean(text, LONGEST_TEXT))
    text = re.sub(rf"[{MARKS}]\s*{_STATUS_WORDS}$", "", text)
    return clean(clean(re.sub(f"[{MARKS}]", "", text)).strip(_EDGES))


def clean(text: str, most: int = LONGEST_NAME) -> str:
    """One line of plain text: no control characters, no emphasis around it, at most so long."""
    import re

    text = " ".join(re.sub(UNSAFE, "", text).replace("**", "").replace("~~", "").split())
    for mark in ("`", "__", "_", "*", "`"):
        inner = text[len(mark) : -len(mark)]
        if inner and text.startswith(mark) and text.endswith(mark) and mark not in inner:
            text = inner.strip()
    return text[:most].strip()
