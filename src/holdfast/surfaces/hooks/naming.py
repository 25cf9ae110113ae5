"""Which workflow a person means: the one whose name is in what they typed."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Iterator

TYPED = 2_000
"""Characters that a person may well have typed. What is longer was pasted, and names things in passing."""
SHORTEST = 2
COMMON = 6
"""Characters below which a title in ASCII may be any word of a sentence."""
_QUOTES = "'\"`«»‹›“”„‘’‚「」『』"
_WORD = "workflow"
_RUN_ON = (  # scripts that put no blanks between words, or hang endings on them
    *((0x0E00, 0x11FF), (0x1780, 0x17FF), (0x2E80, 0xA4CF), (0xA960, 0xA97F), (0xAC00, 0xD7FF)),
    *((0xF900, 0xFAFF), (0xFF66, 0xFFDC), (0x1B000, 0x1B16F), (0x20000, 0x3FFFF)),
)


def meant(prompt: str, entries: object) -> tuple[str, str]:
    """The ULID of the entry whose name is in a prompt, and whether an `id` or a `name` says so.

    An id or ULID counts for more than a title or subject, and a longer one for more than a shorter one.
    """
    lower, best, found = prompt.lower(), (False, 0), ""
    for entry in entries if isinstance(entries, list) else []:
        ulid = entry.get("ulid") if isinstance(entry, dict) else None
        if isinstance(ulid, str):
            for name, exact in _names(entry):
                if (exact, len(name)) > best and (_is_id_in(prompt, name) if exact else _is_title_in(lower, name)):
                    best, found = (exact, len(name)), ulid
    return found, ("id" if best[0] else "name") if found else ""


def _names(entry: dict[str, object]) -> Iterator[tuple[str, bool]]:
    """What a workflow may be called, and whether it is its id, whose capitals count."""
    for key in ("id", "ulid", "title", "subject"):
        name, exact = entry.get(key), key in ("id", "ulid")
        if isinstance(name, str) and len(name) >= (1 if exact else SHORTEST):
            yield (name if exact else name.lower()), exact


def _is_id_in(prompt: str, name: str) -> bool:
    return any(True for _ in _places(prompt, name))


def _is_title_in(prompt: str, name: str) -> bool:
    """A short title in ASCII has to be pointed out as one."""
    if len(prompt) > TYPED:
        return False
    is_common = name.isascii() and len(name) < COMMON
    return any(not is_common or _is_pointed_out(prompt, at, at + len(name)) for at in _places(prompt, name))


def _is_pointed_out(text: str, start: int, end: int) -> bool:
    """Whether it is in quotes, or the word `workflow` beside it."""
    before, after = text[:start], text[end:]
    if before[-1:] and after[:1] and before[-1] in _QUOTES and after[0] in _QUOTES:
        return True
    before, after = before.rstrip(" :\t\n"), after.lstrip(" \t\n")
    follows = before.endswith(_WORD) and not _continues(before[: -len(_WORD)][-1:], _WORD[0])
    return follows or (after.startswith(_WORD) and not _continues(after[len(_WORD) :][:1], _WORD[-1]))


def _places(text: str, name: str) -> Iterator[int]:
    """Where it is by itself and not as a part of a longer name."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not _continues(text[max(0, at - 1) : at], name[0]) and not _continues(text[end : end + 1], name[-1]):
            yield at
        at = text.find(name, at + 1)


def _continues(neighbour: str, edge: str) -> bool:
    """Whether the character beside the edge of a name makes it a longer one."""
    if not neighbour or neighbour in "-_":
        return bool(neighbour)
    return not _runs_on(edge) and not _runs_on(neighbour) and ("a" + neighbour).isidentifier()


def _runs_on(c: str) -> bool:
    return not c.isascii() and any(first <= ord(c) <= last for first, last in _RUN_ON)
