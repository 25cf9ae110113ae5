"""What a name may look like. Every name that comes from outside is checked here, whole and in ASCII."""

from __future__ import annotations

from holdfast.errors import UsageError

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_NAME = _LETTERS | frozenset("_.-")
LONGEST_ID = 200
_ULID = frozenset("0123456789ABCDEFGHJKMNPQRSTVWXYZ")


def is_name(text: object, limit: int = 64) -> bool:
    """A step id, check, artifact or role: a letter or digit, then letters, digits, `_`, `.`, `-`."""
    return isinstance(text, str) and 0 < len(text) <= limit and text[0] in _LETTERS and _NAME.issuperset(text)


def is_ulid(text: object) -> bool:
    return isinstance(text, str) and len(text) == 26 and _ULID.issuperset(text) and text[0] <= "7"


def is_token(text: str) -> bool:
    """Whether this can be the token of a lease: its number, and a secret of 32 hexadecimal digits."""
    number, _, secret = text.partition("-")
    is_number = number.isascii() and number.isdigit() and len(number) < 10
    return is_number and len(secret) == 32 and not set(secret) - set("0123456789abcdef")


def checked(text: str, what: str, limit: int = 64) -> str:
    if not is_name(text, limit):
        said = f"{text[:80]!r} cannot be the name of a {what}"
        way = f"use 1 to {limit} of the characters A-Z a-z 0-9 _ . - and begin with a letter or digit"
        raise UsageError("bad_name", said, remedy=way, facts={"value": text[:200], "what": what})
    return text


def checked_id(text: str) -> str:
    """The id of a workflow is part of the paths of its files: one name, that stays in its folder."""
    stays = text.isprintable() and "/" not in text and text[:1] not in ("", ".")
    if not stays or len(text.encode()) > LONGEST_ID:
        said = f"{text[:80]!r} cannot be the id of a workflow"
        way = "name the subject in at most 100 printable characters, without /"
        raise UsageError("bad_name", said, remedy=way, facts={"value": text[:200], "what": "workflow"})
    return text


def checked_text(text: str, what: str, limit: int = 4000) -> str:
    """Free text: bounded, valid Unicode, no NUL."""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise UsageError("bad_text", f"the {what} is not valid UTF-8", remedy="write it in UTF-8") from None
    if not text.strip():
        said = f"the {what} has no text"
        raise UsageError("bad_text", said, remedy="write some text", facts={"what": what, "bytes": size})
    if size > limit or "\0" in text:
        said = f"the {what} must have 1 to {limit} bytes of text, and has {size}"
        way = "shorten it, or put it into a file and name the file as an artifact"
        raise UsageError("bad_text", said, remedy=way, facts={"what": what, "bytes": size, "limit": limit})
    return text


def optional_text(text: str, what: str, limit: int = 4000) -> str:
    """Free text that may be left out."""
    return checked_text(text, what, limit) if text else ""


def fitting(text: str, limit: int = 20_000) -> str:
    """The text, cut where it has more bytes than a command takes."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= limit else data[: limit - 3].decode("utf-8", "ignore") + "…"


def nearest(word: str, known: tuple[str, ...]) -> str:
    """The known word that shares most with this one, or nothing when none is close. Swapped letters are one slip."""
    word = word[:40]
    best = min(known, key=lambda k: _slips(word, k), default="")
    most = max(2 if len(word) > 3 else 1, len(best) // 3)
    return best if best and _slips(word, best) <= most else ""


def unknown_key(key: str, known: tuple[str, ...]) -> str:
    """What is said of a key that nobody knows."""
    close = nearest(key, known)
    hint = f", did you mean {close!r}?" if close else f"; known are {', '.join(known)}"
    return f"unknown key {key[:60]!r}{hint}"


def _slips(a: str, b: str) -> int:
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (x != y))
            if i > 1 and j > 1 and (x, a[i - 2]) == (b[j - 2], y):
                cost = min(cost, rows[-2][j - 2] + 1)
            row.append(cost)
        rows.append(row)
    return rows[-1][-1]
