"""How a file begins and what is different in it, as much as a person is shown at once, and how they see the rest."""

from __future__ import annotations

import os
from _collections_abc import Sequence
from difflib import unified_diff

from holdfast.core.remedy import quoted
from holdfast.core.value import Value
from holdfast.machine.place import Place

NARROW = 160
"""How many characters of a line a terminal or a form shows."""
_READ = 256 << 10
"""How many bytes of a file are looked at for its beginning."""
COMPARED = 256 << 10
"""How large a file may be that is compared line by line, which takes long where lines are many and alike."""


class Excerpt(Value):
    """Lines of a file, or of what is different in it, and whether they are all there is."""

    lines: tuple[str, ...]
    is_whole: bool = False


class Room(Value):
    """How many lines of a file are shown, how many of what is different in it, and how much of a line."""

    first: int
    changed: int
    wide: int = NARROW


class Ways(Value):
    """The commands that show all of a file, and what is different in it since git has it; empty without such."""

    whole: str = ""
    changes: str = ""


def ways(place: Place, base: str, file: str) -> Ways:
    """As they can be typed where this process is."""
    here = os.path.realpath(os.curdir) == os.path.realpath(base)
    named = f"./{file}" if file.startswith(("-", "+")) else file  # less would take it for an option or a command
    whole = f"less {quoted(named if here else os.path.join(base, file))}"
    git = "git" if here else f"git -C {quoted(base)}"
    changes = f"{git} diff HEAD -- {quoted(file)}, {git} log -p -- {quoted(file)}" if place.repository else ""
    return Ways(whole, changes)


def compare(how: Ways) -> str:
    """The sentence for a file of which the earlier content was not kept, or that is too large now."""
    return f"  its differences cannot be shown here; to compare: {', '.join(filter(None, (how.changes, how.whole)))}"


def beginning(content: bytes, most: int, whole: str, wide: int = NARROW) -> Excerpt:
    found = _text(content[:_READ])
    if found is None:
        return Excerpt((f"  {len(content)} bytes that are no text",))
    count = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
    if len(content) > _READ and len(found) > 1:
        found = found[:-1]  # its end was not read
    shown = [line.removesuffix("\r") for line in found[:most]]
    more = f"  | … {count - len(shown)} more line{'s' if count - len(shown) > 1 else ''}" if count > len(shown) else ""
    is_cut = any(len(line) > wide for line in shown)
    out = [*(f"  | {_narrow(line, wide)}" for line in shown), *_rest(more, whole, is_cut=is_cut)]
    return Excerpt(tuple(out), is_whole=not (more or is_cut or len(content) > _READ) and _is_text(content))


def difference(old: bytes, new: bytes, most: int, whole: str, wide: int = NARROW) -> Excerpt:
    before, after = _text(old), _text(new)
    if before is None or after is None:
        return Excerpt((f"  {len(old)} bytes before, {len(new)} now",))
    found = [*unified_diff(before, after, n=1, lineterm="")][2:]
    if not found:
        return Excerpt(("  only the line end of its last line is different",), is_whole=_is_text(old) and _is_text(new))
    is_cut = any(len(line) > wide for line in found[:most])
    more = f"  … {len(found) - most} more lines" if len(found) > most else ""
    out = [*(f"  {_narrow(line, wide)}" for line in found[:most]), *_rest(more, whole, is_cut=is_cut)]
    return Excerpt(tuple(out), is_whole=not (more or is_cut) and _is_text(old) and _is_text(new))


def _rest(more: str, whole: str, *, is_cut: bool) -> Sequence[str]:
    """What was left out, and the command that shows it."""
    if more:
        return [f"{more}: {whole}" if whole else more]
    return [f"  … long lines are cut: {whole}"] if is_cut and whole else []


def _text(content: bytes) -> list[str] | None:
    """Its lines. What was read may end in the middle of a character."""
    try:
        text = content.decode()
    except UnicodeDecodeError as odd:
        if odd.start < len(content) - 3:
            return None
        text = content[: odd.start].decode()
    return text.removesuffix("\n").split("\n") if text else []


def _is_text(content: bytes) -> bool:
    """Whether its last character is there, too."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _narrow(line: str, wide: int) -> str:
    return line if len(line) <= wide else f"{line[:wide]}…"
