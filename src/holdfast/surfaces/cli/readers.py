"""What a typed word may be. Every word from outside is bounded and checked here, before anything is opened."""

from __future__ import annotations

from _collections_abc import Callable

from holdfast.core import remedies
from holdfast.core.moment import read_money, read_span
from holdfast.core.names import checked, checked_text, is_name, is_token
from holdfast.core.remedy import shell
from holdfast.core.value import Any
from holdfast.errors import UsageError
from holdfast.plain.plainjson import compact, parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

LONGEST_WORD = 1000
LONGEST_VALUE = 16_384
LARGEST_CONTEXT = 65_536


def reader(spec: str) -> Callable[[str], Any]:
    """`text:reason:500` → what reads a reason of at most 500 bytes."""
    kind, *rest = spec.split(":")
    return lambda text: _READERS[kind](text, *(int(one) if one.isdigit() else one for one in rest))


def _word(text: str) -> str:
    if len(text) > LONGEST_WORD:
        said = f"{text[:60]!r}… is longer than {LONGEST_WORD} characters"
        raise UsageError("too_long", said, remedy="name it by its id")
    return text


def _names(text: str) -> tuple[str, ...]:
    """`Design,Build,Test`: names for people, each of them some text."""
    parts = tuple(part.strip() for part in text.split(","))
    for part in parts:
        checked_text(part or " ", "name between commas", 500)
    return parts


def _workflow(text: str) -> str:
    return checked(text, "workflow", 200)


def _path(text: str) -> str:
    if not text or len(text) > 4096:
        raise UsageError("bad_path", f"{text[:80]!r} cannot be a path", remedy="name a file inside the project")
    return text


def _whole(text: str, least: int, most: int) -> int:
    if text.isascii() and text.isdigit() and len(text) < 11 and least <= int(text) <= most:
        return int(text)
    if is_token(text):
        said = f"a whole number from {least} to {most} belongs here, and this is the token of a lease"
        raise UsageError("bad_number", said, remedy="give the token with --token, or its number alone")
    said = f"{text[:60]!r} is not a whole number from {least} to {most}"
    facts = {"value": text[:200], "least": least, "most": most}
    raise UsageError("bad_number", said, remedy=f"write a number from {least} to {most}, in digits", facts=facts)


def _token(text: str) -> str:
    if is_token(text):
        return text
    said = "this is not the token of a lease"
    raise UsageError("bad_lease_token", said, remedy=remedies.agent_start(text="it is what this gives"))


def _money(text: str) -> int:
    return read_money(text) or _no_number(text, "an amount of money", "5 or 0.75")


def _span(text: str) -> int:
    return read_span(text) or _no_number(text, "a span of time", "90s, 10m or 2h")


def _no_number(text: str, what: str, example: str) -> NoReturn:
    said = f"{text[:60]!r} is not {what}"
    raise UsageError("bad_number", said, remedy=f"write it as {example}", facts=_value(text))


def _value(text: str) -> dict[str, object]:
    return {"value": text[:200]}


def sha(text: str) -> str:
    if not 4 <= len(text) <= 64 or not set(text) <= set("0123456789abcdefABCDEF"):
        said = f"{text[:60]!r} is not the hash of a commit"
        raise UsageError("bad_commit", said, remedy=shell("git", "rev-parse", "HEAD"), facts=_value(text))
    return text.lower()


def _commit(text: str) -> str:
    """A commit as git takes it: a hash, HEAD, a branch."""
    plain = text.isascii() and all(c.isalnum() or c in "._/~^@{}-" for c in text)
    if not plain or not 1 <= len(text) <= 200 or text.startswith("-"):
        raise UsageError("bad_commit", f"{text[:60]!r} names no commit", remedy=shell("git", "log"), facts=_value(text))
    return text


def _artifact(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals or not path:
        said = f"{text[:80]!r} does not name an output and its file"
        raise UsageError("bad_pair", said, remedy="--artifact NAME=PATH")
    return checked(name, "artifact"), _path(path)


def _pair(text: str) -> tuple[str, Any]:
    """`K=V`: what is JSON counts as JSON, everything else as text."""
    name, equals, value = text.partition("=")
    if not equals or not is_name(name):
        raise UsageError("bad_pair", f"{text[:80]!r} is not KEY=VALUE", remedy="KEY=VALUE, with a plain name as key")
    if len(value.encode()) > LONGEST_VALUE or "\0" in value:
        said = f"the value of {name} has more than {LONGEST_VALUE} bytes"
        raise UsageError("bad_text", said, remedy="put it into a file")
    return name, _json_or_text(value)


def _json_or_text(text: str) -> Any:
    try:
        value = parse(text)
        compact(value).encode()
    except (ValueError, RecursionError):
        return text
    return value


def pairs(given: list[tuple[str, Any]]) -> dict[str, Any]:
    """The values of several `K=V`, bounded together: they are written with every transition."""
    found = dict(given)
    if len(compact(found).encode()) > LARGEST_CONTEXT:
        said = f"the values have more than {LARGEST_CONTEXT} bytes together"
        raise UsageError("bad_text", said, remedy="put them into a file")
    return found


_READERS: dict[str, Callable[..., Any]] = {
    "artifact": _artifact,
    "commit": _commit,
    "money": _money,
    "name": checked,
    "names": _names,
    "pair": _pair,
    "path": _path,
    "sha": sha,
    "span": _span,
    "text": checked_text,
    "token": _token,
    "whole": _whole,
    "word": _word,
    "workflow": _workflow,
}
