"""Patterns over paths: `*` stands for any characters, `?` for one."""

from __future__ import annotations


def is_pattern(text: str) -> bool:
    return "*" in text or "?" in text


def matches(pattern: str, text: str) -> bool:
    """Whether the whole text fits. Linear in the text for each `*`, so that no pattern can keep anybody waiting."""
    at, star, mark, here = 0, -1, 0, 0
    while here < len(text):
        if at < len(pattern) and (pattern[at] == "?" or (pattern[at] == text[here] != "*")):
            at, here = at + 1, here + 1
        elif at < len(pattern) and pattern[at] == "*":
            star, mark, at = at, here, at + 1
        elif star >= 0:
            mark += 1
            at, here = star + 1, mark
        else:
            return False
    return pattern[at:].strip("*") == ""


def overlap(one: str, other: str) -> bool:
    """Whether two paths or patterns can mean the same file. A path also means all that is below it."""
    if not is_pattern(one) and not is_pattern(other):
        return one == other or one.startswith(other + "/") or other.startswith(one + "/")
    return any(_meet(a, b) for a in _forms(one) for b in _forms(other))


def _forms(path: str) -> tuple[str, ...]:
    """What a path stands for. One with an ending is taken for a file, as nobody looks whether it is a folder."""
    name = path.rpartition("/")[2].lstrip(".")
    return (path,) if is_pattern(path) or "." in name else (path, f"{path}/*")


def _meet(one: str, other: str) -> bool:
    """Whether there is a text that fits both patterns: from the end, which rests of them do."""
    row = [False] * (len(other) + 1)
    for at in range(len(one), -1, -1):
        below, row = row, [False] * (len(other) + 1)
        for here in range(len(other), -1, -1):
            a, b = one[at : at + 1], other[here : here + 1]
            if not a and not b:
                row[here] = True
            elif a == "*":
                row[here] = below[here] or (b != "" and row[here + 1])
            elif b == "*":
                row[here] = row[here + 1] or (a != "" and below[here])
            elif a and b and (a == b or "?" in (a, b)):
                row[here] = below[here + 1]
    return row[0]
