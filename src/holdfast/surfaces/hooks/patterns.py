"""Patterns with `*` and `?`, without `fnmatch`, which would import `re`."""

from __future__ import annotations


def matches(pattern: str, text: str) -> bool:
    """Whether a text is what a pattern describes: `*` stands for any characters, `?` for one."""
    first, *rest = pattern.split("*")
    if not rest:
        return len(first) == len(text) and _stands_at(first, text, 0)
    last = rest.pop()
    if len(text) < len(first) + len(last) or not _stands_at(first, text, 0):
        return False
    end, at = len(text) - len(last), len(first)
    for part in rest:
        if "?" not in part:
            at = text.find(part, at, end)
        else:
            at = next((i for i in range(at, end - len(part) + 1) if _stands_at(part, text, i)), -1)
        if at < 0:
            return False
        at += len(part)
    return at <= end and _stands_at(last, text, end)


def _stands_at(part: str, text: str, at: int) -> bool:
    if "?" not in part:
        return text.startswith(part, at)
    return len(text) - at >= len(part) and all(c in ("?", text[at + i]) for i, c in enumerate(part))


def expands(pattern: list[str], path: list[str], whole: bool) -> bool:
    """Whether a shell could make a path that reaches this one out of a pattern. A leading dot wants to be written."""
    if len(pattern) < len(path) and not whole:
        return False
    return all(
        matches(_without_sets(wanted), part) and not (part.startswith(".") and wanted[:1] in ("*", "?"))
        for wanted, part in zip(pattern, path, strict=False)
    )


def _without_sets(pattern: str) -> str:
    """A set of characters stands for one of them, whichever."""
    while "[" in pattern:
        before, _, rest = pattern.partition("[")
        _, closed, after = rest[1:].partition("]")
        pattern = f"{before}?{after if closed else rest}"
    return pattern
