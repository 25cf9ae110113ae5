"""How authors word the values of a task document: numbers, spans, yes and no, commands, lists.

Each reader gives None, or a sentence where it says so, for words it does not know: a bound that was guessed would be
worse than a document that is refused.
"""

from __future__ import annotations

import re
import shlex
from _collections_abc import Container, Sequence

from holdfast.core import moment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from markdown_it.token import Token

_YES, _NO = ("yes", "y", "true", "on", "enabled"), ("no", "n", "false", "off", "disabled")
_NOTHING = ("none", "n/a", "no limit", "unlimited", "-", "–", "—")
_SPAN = r"([0-9]{1,9}) ?(d|days?|h|hrs?|hours?|m|mins?|minutes?|s|secs?|seconds?)(?![a-z])"
_HEADING = r"(?i)[\W_]*(phase|task)\b\s*(.*)"
_NUMBERED = {"phase": r"([0-9]{1,6})\s*[:–—-]\s*(.+)", "task": r"([0-9]{1,6}(?:\.[0-9]{1,6}){1,3})\s*[:–—-]\s*(.+)"}
_LIKE_NUMBERED = r"(?i)[0-9#]|[a-z]{0,3}\s*:"
_DEPENDENCY = r"(?i)(?:tasks?\s*)?#?([0-9]{1,6}(?:\.[0-9]{1,6}){1,3})(?:\s*:\s.*)?"
_BETWEEN = r"(?i)[,;&]|\sand\s"
# What a shell takes as it stands: escaped, in single quotes, or in double quotes with nothing to put in.
_QUOTED = r"""\\.|'[^']*'|"(?:\\.|[^"\\$`])*\""""
_LONGEST_KEY = 64


def yes_or_no(text: str) -> bool | None:
    word = _bare(text)
    return True if word in _YES else False if word in _NO else None


def count(text: str) -> int | None:
    """`30`, `30 iterations`: a whole number above zero."""
    number = re.fullmatch(r"([0-9]{1,6})(?: (?:iterations?|times))?", _bare(text))
    return int(number[1]) or None if number else None


def cost(text: str) -> int | None:
    """Micro-dollars of `$10`, `10.50`, `10 USD`; None when it is no amount above zero."""
    return moment.read_money(re.sub(r"^\$ | ?(?:usd|dollars?)$", "", _bare(text))) or None


def span(text: str) -> int | None:
    """Seconds of `2 hours`, `1h 30m`, `90 minutes`. A number alone is none: nobody can tell its unit."""
    bare = _bare(text)
    if re.sub(rf"{_SPAN}|[ ,]|\band\b", "", bare):
        return None
    return moment.read_span(" ".join(number + unit[0] for number, unit in re.findall(_SPAN, bare)))


def is_nothing(text: str) -> bool:
    return _bare(text) in _NOTHING


def listed(text: str) -> list[str]:
    """The members of a list in a line, without what is said of them in brackets; none for `None`."""
    members = (part.strip().removesuffix(".") for part in re.split(_BETWEEN, re.sub(r"\([^()]*\)", "", text)))
    return [member for member in members if member and not is_nothing(member)]


def dependency(text: str) -> str | None:
    """The number in `Task 1.1`, `1.1` or `Task 1.1: Name`."""
    number = re.fullmatch(_DEPENDENCY, text)
    return _number(number[1]) if number else None


def numbered(heading: str) -> tuple[str, str, str] | None:
    """The heading of a phase or a task: its kind, its number and its name, which are empty when they are mistaken."""
    match = re.fullmatch(_HEADING, heading)
    if match is None:
        return None
    kind, rest = match[1].lower(), match[2]
    if parts := re.fullmatch(_NUMBERED[kind], rest):
        return kind, _number(parts[1]), parts[2]
    return (kind, "", "") if re.match(_LIKE_NUMBERED, rest) else None


def with_command(tokens: Sequence[Token]) -> tuple[Sequence[Token], str] | None:
    """The parts of a criterion before its command, and the command: `…: code` or `… (run: code)`, at its end."""
    at = max((at for at, token in enumerate(tokens) if token.type == "code_inline"), default=-1)
    if at < 0:
        return None
    after = "".join(token.content for token in tokens[at + 1 :]).strip()
    before = "".join(token.content for token in tokens[:at]).rstrip()
    led = before.endswith(":") and after in ("", ".")
    bracketed = re.search(r"(?i)\(\s*run\s*:?$", before) and after in (")", ").")
    if not led and not bracketed:
        return None
    return tokens[:at], tokens[at].content.strip()


def without_lead(text: str) -> str:
    """What a criterion says before its command, without the words that lead to it; nothing if there is no more."""
    return re.sub(r"(?i)\(\s*run\s*:?$|^run\s*:$|:$", "", text).rstrip(" :–—-")


def words(command: str) -> tuple[str, ...] | str:
    """The words of a command that runs without a shell, or why it does not."""
    if found := re.search(r"[|<>;&$`]", re.sub(_QUOTED, "", command)):
        return f"the command needs a shell for its {found[0]!r}: put it into a script and name that"
    try:
        split = tuple(shlex.split(command))
    except ValueError:
        return "the quotes of the command do not match"
    if not split or not split[0]:
        return "the command is empty"
    if re.match(r"[A-Za-z_][A-Za-z0-9_]*=", split[0]):
        return "the command needs a shell to set a variable: write 'env NAME=value …'"
    return split


def key(text: str, taken: Container[str], position: int) -> str:
    """A key that is not yet taken, from the letters and digits of a text: `Tests pass!` → `tests_pass`."""
    base = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:_LONGEST_KEY].rstrip("_") or f"criterion_{position}"
    name, again = base, 1
    while name in taken:
        again += 1
        name = f"{base[: _LONGEST_KEY - len(str(again)) - 1]}_{again}"
    return name


def _bare(text: str) -> str:
    """In lower case, without a remark in brackets at the end."""
    return re.sub(r"\([^()]*\)$", "", text).strip().lower()


def _number(text: str) -> str:
    return ".".join(str(int(part)) for part in text.split("."))
