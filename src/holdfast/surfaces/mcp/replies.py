"""How answers and refusals are told: as values that fit the schema, beside their text, and never too much of it."""

from __future__ import annotations

from _collections_abc import Iterator, Mapping, Sequence

from mcp import types

from holdfast.core.remedy import Scope, rendered, with_page
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.plain.plainjson import compact, parse
from holdfast.surfaces.tools import remedies

MOST = 2048
"""How many bytes a reply has, unless a call asks for more by name."""
MORE = ("limit", "tail")
"""The inputs with which a call asks for more."""
_SHORTEST = 40
REST = "rest"
_WHOLE = ("workflow_id", "packet_id", REST)
"""What other calls take: half of it would be of no use."""


def answer(
    value: Mapping[str, Any], *, whole: bool = False, first: Sequence[str] = (), rest: str = ""
) -> types.CallToolResult:
    """`first` are the fields that are cut last; `rest` is the call that gives what was cut."""
    clean = _clean(value)
    told = clean if whole or _size(clean) <= MOST else fitted({**clean, **({REST: rest} if rest else {})}, MOST, first)
    return types.CallToolResult(content=[_text(told)], structured_content=told)


def refusal(error: HoldfastError, scope: Scope) -> types.CallToolResult:
    """An error of a tool: the model reads it and does better. It has no structured form, which the schema would bind.

    What may be long is cut, the facts first: they matter least to a reader who follows the remedy.
    """
    error.remedies = with_page(error.remedies, scope)
    remedy, facts = remedies.in_tools(error.remedies, scope), _plain(rendered(error.facts, scope, remedies.in_tools))
    each = remedies.as_json(error.remedies, scope)
    notice = {"notice": facts.pop("notice")} if "notice" in facts else {}
    said = {"code": error.code, "message": error.message, "remedy": remedy, "remedies": each, "facts": facts}
    return types.CallToolResult(content=[_text(fitted(_clean({**notice, "error": said}), MOST))], is_error=True)


def _text(value: Mapping[str, Any]) -> types.TextContent:
    return types.TextContent(type="text", text=compact(value))


def _clean(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """The value without what UTF-8 cannot hold, such as half a character in the name of a file."""
    text = compact(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return dict(parse(text.encode("utf-8", "replace")))
    return value


def _plain(value: object) -> Any:
    """Facts as JSON has them."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def fitted(value: Mapping[str, Any], most: int, first: Sequence[str] = ()) -> dict[str, Any]:
    """The value in at most so many bytes: long texts end in `…`, long lists and objects lose what comes last.

    The fields in `first` are cut only where the others have nothing left to lose.
    """
    told = dict(value)
    for kept in dict.fromkeys((tuple(first), ())):
        room = most
        while _size(told) > most and room > _SHORTEST:
            room = room * 2 // 3
            told = dict(_cut_each(value, room, kept))
    return told


def _size(value: Mapping[str, Any]) -> int:
    return len(compact(value).encode())


def _cut(value: Any, room: int) -> Any:
    if isinstance(value, str):
        data = value.encode()
        return value if len(data) <= room else data[: max(0, room - 3)].decode("utf-8", "ignore") + "…"
    if isinstance(value, Mapping):
        return _first(_cut_each(value, room), room, dict)
    if isinstance(value, (list, tuple)):
        return _first((_cut(one, room) for one in value), room, list)
    return value


def _cut_each(value: Mapping[str, Any], room: int, kept: Sequence[str] = ()) -> Iterator[tuple[str, Any]]:
    return ((name, one if name in _WHOLE or name in kept else _cut(one, room)) for name, one in value.items())


def _first(items: Any, room: int, kind: type) -> Any:
    kept: list[Any] = []
    left = room
    for item in items:
        left -= len(compact(item).encode()) + 1
        if left < 0 and kept:
            break
        kept.append(item)
    return kind(kept)
