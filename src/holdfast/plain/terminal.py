"""What may reach a terminal, and how: escaped text, colours where they are wanted, widths as a person sees them."""

from __future__ import annotations

import os
import sys
from _bisect import bisect_right
from _collections_abc import Callable, Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

_MARKS = "✓▶◎◐✗■▲○↷▰▱·…→↳⚠—↻"
_ASCII = str.maketrans(_MARKS, "+>?=x#!.-#--~>>!-%")
ESCAPES = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours and cursor movement
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles, links, device strings
    r"|\x1b[ -/]*[0-~]"
)
# Line separators and turns of the writing direction show what is not there; lone surrogates cannot be stored.
CONTROLS = r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"


_EDGES = (
    *(0, 0x20, 0x7F, 0xA0, 0xAD, 0xAE, 0x34F, 0x350, 0x61C, 0x61D, 0x115F, 0x1161, 0x17B4, 0x17B6, 0x180B, 0x1810),
    *(0x200B, 0x2010, 0x2028, 0x202F, 0x2060, 0x2070, 0x3164, 0x3165, 0xD800, 0xE000, 0xFE00, 0xFE10, 0xFEFF, 0xFF00),
    *(0xFFA0, 0xFFA1, 0xFFF0, 0xFFFC, 0x13430, 0x13440, 0x1BCA0, 0x1BCA4, 0x1D173, 0x1D17B, 0xE0000, 0xE1000),
)
"""Where what is obeyed or hidden begins and ends: controls, lone surrogates, and what Unicode shows as nothing."""
_PRINTABLE = frozenset(
    map(chr, (0x34F, *(0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0), *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)))
) | frozenset(map(chr, range(0xE0100, 0xE01F0)))
"""Those of them that Python takes for printable."""
_EMOJI = ((0x2600, 0x27BF), (0x1F000, 0x1FAFF))
_JOINED_LETTERS = (0x600, 0x109F)
"""From Arabic to Burmese: scripts whose words have joiners."""


def escape(text: str, *, lines: bool = False) -> str:
    """Makes visible what a terminal would obey or hide; `lines` lets line ends and tabs through.

    Controls, lone surrogates, line separators, overrides of the writing direction, and characters that show nothing:
    who reads a text sees two that differ by one of these. Within an emoji or a word they are what it is written with.
    """
    if text.isprintable() and (text.isascii() or _PRINTABLE.isdisjoint(text)):
        return text
    return "".join(
        c if not _commands(c) or (lines and c in "\n\t") or (c in _JOINERS and _is_within(text, at)) else _named(c)
        for at, c in enumerate(text)
    )


_ZWNJ, _ZWJ, _AS_EMOJI = "\u200c", "\u200d", "\ufe0f"
_JOINERS = (_ZWNJ, _ZWJ, _AS_EMOJI)


def _commands(char: str) -> bool:
    return not " " <= char <= "~" and bisect_right(_EDGES, ord(char)) % 2 == 1


def _is_within(text: str, at: int) -> bool:
    """Whether a joiner is a part of an emoji, or of a word of a script that has them."""
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if text[at] == _AS_EMOJI:
        return _is_emoji(before)
    if text[at] == _ZWJ and (_is_emoji(before) or (before == _AS_EMOJI and _is_emoji(text[at - 2 : at - 1]))):
        return _is_emoji(after)
    return all(one and _JOINED_LETTERS[0] <= ord(one) <= _JOINED_LETTERS[1] for one in (before, after))


def _is_emoji(char: str) -> bool:
    return bool(char) and any(first <= ord(char) <= last for first, last in _EMOJI)


def _named(char: str) -> str:
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(char)
    code = ord(char)
    return short or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def to_ascii(text: str) -> str:
    """Our own marks for a terminal that cannot show them, one character for one, so that columns stay."""
    return text.translate(_ASCII)


def wants_colour(stream_is_tty: bool, environ: Mapping[str, str]) -> bool:
    if environ.get("NO_COLOR"):
        return False
    if any(environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream_is_tty and environ.get("TERM") != "dumb"


class Style:
    """Colours by name; without `enabled`, the text as it is."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled

    def _paint(self, on: int, off: int, text: str) -> str:
        return f"\x1b[{on}m{text}\x1b[{off}m" if self.enabled and text else text

    def bold(self, text: str) -> str:
        return self._paint(1, 22, text)

    def dim(self, text: str) -> str:
        return self._paint(2, 22, text)

    def red(self, text: str) -> str:
        return self._paint(31, 39, text)

    def green(self, text: str) -> str:
        return self._paint(32, 39, text)

    def yellow(self, text: str) -> str:
        return self._paint(33, 39, text)

    def cyan(self, text: str) -> str:
        return self._paint(36, 39, text)


def paint(style: Style, status: str) -> Callable[[str], str]:
    """The colour of a status, of a step or of the whole workflow."""
    if status in ("done", "completed", "finalized", "passed", "approved"):
        return style.green
    if status in ("active", "in_review", "in_progress"):
        return style.cyan
    if status in ("waiting", "blocked", "escalated", "paused", "stale", "claimed"):
        return style.yellow
    if status == "failed":
        return style.red
    return style.dim


def bar(style: Style, percent: int) -> str:
    """`▰▰▰▱▱▱▱▱▱▱`: how far something is."""
    filled = percent // 10
    return style.green("▰" * filled) + style.dim("▱" * (10 - filled))


def columns(text: str) -> int:
    """How many columns escaped, uncoloured text takes."""
    return len(text) if text.isascii() else sum(_columns(c) for c in text)


def _columns(char: str) -> int:
    if char < "\u0300" or char in _MARKS:  # what is certainly narrow needs no table of all characters
        return 1
    import unicodedata

    if unicodedata.category(char) in ("Mn", "Me", "Cf") or 0x1160 <= ord(char) <= 0x11FF:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clip(text: str, width: int) -> str:
    """At most so many columns, with a mark where something was cut off."""
    if width <= 0:
        return ""
    if len(text) * 2 <= width or columns(text) <= width:
        return text
    used, out = 0, ""
    for char in text:
        used += _columns(char)
        if used > width - 1:
            break
        out += char
    return out.rstrip() + "…"


def pad(text: str, width: int) -> str:
    return text + " " * max(0, width - columns(text))


def wrap(text: str, width: int, most: int) -> list[str]:
    """Lines of words, at most so many; the last one is clipped when there was more."""
    out: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split():
            longer = f"{line} {word}" if line else word
            if columns(longer) <= width:
                line = longer
                continue
            out += [line] if line else []
            line = word
        out += [line] if line else []
    if len(out) > most:
        out = [*out[: most - 1], f"{out[most - 1]} …"]
        if columns(out[-1]) > width:
            out[-1] = clip(out[-1], width)
    return [clip(line, width) for line in out]


def width_of(stream: TextIO, environ: Mapping[str, str]) -> int:
    """How many columns a terminal has, where `COLUMNS` does not say otherwise; 0 where nobody knows, or it is none."""
    if not stream.isatty():
        return 0
    said = environ.get("COLUMNS", "")
    return (int(said) if said.isdecimal() else 0) or os.get_terminal_size(stream.fileno()).columns


def fold(text: str, width: int) -> str:
    """Text whose lines break between words where they are wider than a terminal; `width` 0 leaves them as they are.

    A command never breaks, because what is copied from two lines would run as two commands: the one in parentheses at
    the end of a line, each of those after an arrow, and one with which a line ends, gets a line of its own.
    """
    if not width:
        return text
    out: list[str] = []
    for line in text.split("\n"):
        out += [line] if columns(_uncoloured(line)) <= width else _folded(line, width)
    return "\n".join(out)


def _folded(line: str, width: int) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip(" ")))
    below = f"{indent}  "
    if _uncoloured(line).lstrip(" ")[:1] in ("→", ">"):
        first, *others = line.split(" · or ")
        return [first, *(f"{below}or {other}" for other in others)]
    words, command = line, ""
    import re  # only where a terminal is narrow

    behind = re.fullmatch(r"( *\S.*)  ((?:\x1b\[[0-9;]*m)*\(.*)", line) if _uncoloured(line).endswith(")") else None
    if behind:
        words, command = behind[1], behind[2]
    lead, rest = _cells(words, indent)
    hang = " " * columns(_uncoloured(lead)) if lead.strip() else below
    out, now = [], lead
    for number, word in enumerate(_words(rest)):
        longer = f"{now} {word}" if number else f"{now}{word}"
        if columns(_uncoloured(longer)) > width and (number or lead.strip()):
            out.append(now)
            longer = f"{hang if columns(hang) <= width // 2 else below}{word}"
        now = longer
    return [*out, now, *([f"{below}{command}"] if command else [])]


def _words(text: str) -> list[str]:
    """The words between which text may break: a command of ours up to the end of the line, or the next one, is one."""
    text = text.strip()
    if "holdfast " not in text or "  " in text or text.endswith("."):
        return text.split()
    import re

    command = r"(?:^|(?<=: )|(?<= or ))((?:\x1b\[[0-9;]*m)*holdfast [^·]*?)(?= ·|$)"
    parts = re.split(command, text)
    return [word for n, part in enumerate(parts) for word in ([part] if n % 2 else part.split())]


def _cells(line: str, indent: str) -> tuple[str, str]:
    """The first cell of a row with the gap behind it, and the rest; a line that is no row begins with its indent."""
    _, gap, rest = line.lstrip(" ").partition("  ")
    if not gap or not rest.strip():
        return indent, line
    text = rest.lstrip(" ")
    return line[: len(line) - len(text)], text


def _uncoloured(text: str) -> str:
    if "\x1b" not in text:
        return text
    first, *rest = text.split("\x1b[")
    return first + "".join(part.partition("m")[2] for part in rest)


class Unwritten(OSError):
    """The answer itself could not be written; whatever was asked for is done."""


def write(text: str) -> None:
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise Unwritten(failure.errno, failure.strerror) from None
