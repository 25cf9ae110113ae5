"""HTML from functions. What is no markup yet is escaped, and controls are made visible."""

from __future__ import annotations

from _collections_abc import Iterable

from holdfast.plain.terminal import escape

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


class Markup(str):
    """HTML that needs no escaping any more: only functions of this package make it."""

    __slots__ = ()


TYPE_CHECKING = False
if TYPE_CHECKING:
    Child = str | int | None | Iterable["Child"]
else:
    Child = object


def text(said: str) -> Markup:
    """Words of anybody. Controls and turns of the writing direction are made visible."""
    return said if isinstance(said, Markup) else Markup(escape(said, lines=True).translate(_ENTITIES))


def typed(said: str) -> Markup:
    """What a person typed themselves, exactly as it was, for the field in which they continue."""
    return Markup(said.translate(_ENTITIES))


def el(tag: str, *children: Child, **attributes: str | int | bool | None) -> Markup:
    """An element. `class_` and `for_` are written without the underscore, and `data_x` as `data-x`."""
    given = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _VOID:
        return Markup(f"<{tag}{given}>")
    return Markup(f"<{tag}{given}>{joined(*children)}</{tag}>")


def joined(*children: Child) -> Markup:
    """Markup and words one after the other."""
    return Markup("".join(_each(children)))


def _each(children: Iterable[Child]) -> Iterable[str]:
    for one in children:
        if isinstance(one, str):
            yield text(one)
        elif isinstance(one, int):
            yield str(one)
        elif one is not None:
            yield from _each(one)


def _attribute(name: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    written = name.rstrip("_").replace("_", "-")
    return f" {written}" if value is True else f' {written}="{text(str(value))}"'


def spaced(*children: Child) -> Markup:
    """The same with a space between them; what is empty is left out."""
    return Markup(" ".join(one for one in map(joined, children) if one))
