"""What pictures are made of: text that cannot become markup, shapes with literal colours, and the whole as SVG.

Every shape has its colours as attributes, which any reader of SVG understands. Rules for dark pages are beside them:
in the `<style>` of a file, or in the style sheet of a page, which has to serve `CSS` then.
"""

from __future__ import annotations

from _collections_abc import Iterable

from holdfast.core import lifecycle
from holdfast.core.value import Value

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', 'Liberation Sans', Arial, sans-serif"
LONGEST = 400
"""How many characters of a text from outside are looked at; what does not fit is cut anyway."""
_WIDTHS = {
    **dict.fromkeys("ijl'|!", 0.3),
    **dict.fromkeys(" .,:;/()[]tfr-\\", 0.4),
    **dict.fromkeys('sczJ_"*+?', 0.56),
    **dict.fromkeys("mw%@MW", 0.98),
    **dict.fromkeys("ABCDEFGHKNOPQRSTUVXYZ&~<>=", 0.76),
}
"""The widths of characters in the widest of the usual fonts, where 1 is its size."""
_OTHERS, _EAST = 0.64, 1.1
_JOINERS = "\u200c\u200d"
"""What letters of some scripts and pictures of several parts need between them."""

_ROLES = {
    "page": ("fill:#ffffff", "fill:#0d1117"),
    "card": ("fill:#ffffff;stroke:#8c959f", "fill:#161b22;stroke:#6e7681"),
    "frame": ("fill:#f6f8fa;stroke:#afb8c1", "fill:#11161d;stroke:#3d444d"),
    "text": ("fill:#1f2328", "fill:#e6edf3"),
    "faint": ("fill:#59636e", "fill:#9198a1"),
    "line": ("stroke:#59636e", "stroke:#9198a1"),
    "head": ("fill:#59636e", "fill:#9198a1"),
    "grid": ("stroke:#d1d9e0", "stroke:#2f3742"),
    "band": ("fill:#f0f3f6", "fill:#151b23"),
    "back": ("stroke:#cf222e", "stroke:#f85149"),
    "back-head": ("fill:#cf222e", "fill:#f85149"),
    "lease": ("fill:#b6e3ff;stroke:#54aeff", "fill:#0c2d6b;stroke:#388bfd"),
    "review": ("fill:#8250df", "fill:#a371f7"),
    "approval": ("fill:#bf8700", "fill:#d29922"),
    "sign": ("stroke:#ffffff", "stroke:#0d1117"),
    lifecycle.PENDING: ("fill:#818b98", "fill:#6e7681"),
    lifecycle.ACTIVE: ("fill:#0969da", "fill:#4493f8"),
    lifecycle.IN_REVIEW: ("fill:#8250df", "fill:#a371f7"),
    lifecycle.WAITING: ("fill:#bf8700", "fill:#d29922"),
    lifecycle.DONE: ("fill:#1a7f37", "fill:#3fb950"),
    lifecycle.FAILED: ("fill:#cf222e", "fill:#f85149"),
    lifecycle.BLOCKED: ("fill:#59636e", "fill:#9198a1"),
    lifecycle.ESCALATED: ("fill:#bc4c00", "fill:#db6d28"),
    lifecycle.SKIPPED: ("fill:#818b98", "fill:#6e7681"),
}
"""What a shape is, with its colours on a light page and on a dark one."""
_ROLES |= {
    f"{lifecycle.FAILED}-bar": ("fill:#ffc1c0", "fill:#67060c"),
    f"{lifecycle.BLOCKED}-bar": ("fill:#d1d9e0", "fill:#3d444d"),
    f"{lifecycle.ESCALATED}-bar": ("fill:#ffd8b5", "fill:#762d0a"),
}
for _status in lifecycle.OPEN | lifecycle.STUCK:
    _light, _dark = (colour.replace("fill:", "stroke:") for colour in _ROLES[_status])
    _ROLES[f"edge-{_status}"] = (_light, _dark)
CSS = (
    "@media (prefers-color-scheme: dark) {\n"
    + "".join(f".hf-{role.replace('_', '-')} {{ {dark} }}\n" for role, (_, dark) in _ROLES.items())
    + "}\n"
)
"""The rules for dark pages, for the style sheet of a page that shows fragments."""
_SIGNS = {
    lifecycle.PENDING: "",
    lifecycle.ACTIVE: "M-2 -3.5L3.5 0L-2 3.5Z",
    lifecycle.IN_REVIEW: "M-4 0Q0 -4.5 4 0Q0 4.5 -4 0M0 -.6v1.2",
    lifecycle.WAITING: "M0 -4V0L3 2",
    lifecycle.DONE: "M-3.8 .2L-1 3L4 -3",
    lifecycle.FAILED: "M-3 -3L3 3M3 -3L-3 3",
    lifecycle.BLOCKED: "M-2 -3.5V3.5M2 -3.5V3.5",
    lifecycle.ESCALATED: "M0 4V-4M-3 -1L0 -4L3 -1",
    lifecycle.SKIPPED: "M-4 -3L-.5 0L-4 3M.5 -3L4 0L.5 3",
}
"""The sign of each status, as lines around its middle: fonts differ, and may not have it."""
_SHAPES = {
    "circle": '<circle {} r="8"/>',
    "diamond": '<path {} d="M0 -9.5L9.5 0L0 9.5L-9.5 0Z"/>',
    "square": '<rect {} x="-8" y="-8" width="16" height="16" rx="3"/>',
}
_HOLE = '<circle class="hf-page" fill="#ffffff" r="5.5"/>'


class Picture(Value):
    """A picture that is laid out: its size, what it says in words, and its shapes."""

    width: float
    height: float
    title: str
    description: str
    shapes: str

    def file(self) -> str:
        """A file of its own, with its rules for dark pages."""
        return f'<?xml version="1.0" encoding="UTF-8"?>\n{self._svg("picture", f"<style>{CSS}</style>")}\n'

    def fragment(self, name: str) -> str:
        """The same inside of an HTML page, which has `CSS` in its style sheet; `name` is unique on the page."""
        return self._svg(name, "")

    def _svg(self, name: str, style: str) -> str:
        w, h = _n(self.width), _n(self.height)
        named = f'role="img" aria-labelledby="{name}-title {name}-description"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" {named} '
            f'font-family="{FONT}" font-size="13"><title id="{name}-title">{literal(self.title)}</title>'
            f'<desc id="{name}-description">{literal(self.description)}</desc>{style}'
            f"{rect('page', 0, 0, self.width, self.height)}{self.shapes}</svg>"
        )


def literal(text: str) -> str:
    """Text of anybody as text of XML."""
    shown = _visible(text)
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        shown = shown.replace(char, entity)
    return shown


def _visible(text: str) -> str:
    """In one line. What cannot be seen, is no character of XML or turns others around is written as an escape."""
    line = " ".join(text[:LONGEST].split())
    return line if line.isprintable() else "".join(c if c.isprintable() or c in _JOINERS else _named(c) for c in line)


def _named(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def wide(text: str, size: float = 13) -> float:
    """How wide a text is at most, more or less."""
    return size * sum(_WIDTHS.get(c, _OTHERS if c < "\u2e80" else _EAST) for c in text)


def clipped(text: str, room: float, size: float = 13, *, bold: bool = False) -> str:
    """As much of a text as fits, in characters that can be seen."""
    room = room / 1.1 if bold else room
    shown = _visible(text)
    if wide(shown, size) <= room:
        return shown
    room -= wide("…", size)
    at = 0
    while at < len(shown) and room >= (more := wide(shown[at], size)):
        room, at = room - more, at + 1
    return shown[:at].rstrip() + "…"


def text(role: str, x: float, y: float, said: str, *, size: float = 13, bold: bool = False, anchor: str = "") -> str:
    weight = ' font-weight="600"' if bold else ""
    at = f' text-anchor="{anchor}"' if anchor else ""
    sized = f' font-size="{_n(size)}"' if size != 13 else ""
    return f'<text {_as(role)} x="{_n(x)}" y="{_n(y)}"{sized}{weight}{at}>{literal(said)}</text>'


def rect(role: str, x: float, y: float, w: float, h: float, *, corner: float = 0, more: str = "") -> str:
    corners = f' rx="{_n(corner)}"' if corner else ""
    return f'<rect {_as(role)} x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}"{corners}{more}/>'


def outline(status: str, x: float, y: float, w: float, h: float, *, corner: float = 0) -> str:
    """A thick border in the colour of a status."""
    name = f"edge-{status}"
    return rect(name, x, y, w, h, corner=corner, more=' fill="none" stroke-width="2.5"')


def stroke(role: str, path: str, *, width: float = 1.5, dashed: bool = False) -> str:
    dashes = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<path {_as(role)} d="{path}" fill="none" stroke-width="{_n(width)}"{dashes}/>'


def route(points: Iterable[tuple[float, float]], corner: float = 6) -> str:
    """A line through points, with round corners."""
    at = list(points)
    out = f"M{_n(at[0][0])} {_n(at[0][1])}"
    for before, here, after in zip(at, at[1:], at[2:], strict=False):
        first, last = _towards(here, before, corner), _towards(here, after, corner)
        out += f"L{_n(first[0])} {_n(first[1])}Q{_n(here[0])} {_n(here[1])} {_n(last[0])} {_n(last[1])}"
    return out + f"L{_n(at[-1][0])} {_n(at[-1][1])}"


def arrowhead(role: str, x: float, y: float, *, right: bool = False) -> str:
    """A head whose tip is here, and which points down or to the right."""
    x_, y_ = _n(x), _n(y)
    return f'<path {_as(role)} d="M{x_} {y_}{"l-8 -4.5v9z" if right else "l-4.5 -8h9z"}"/>'


def mark(status: str, x: float, y: float, *, role: str = "", shape: str = "circle", size: float = 8) -> str:
    """The sign of a status in a circle, or another shape, around a point."""
    filled = _as(role or status)
    body = _SHAPES[shape].format(filled)
    drawn = _SIGNS[status]
    sign = f'<path {_as("sign")} d="{drawn}" fill="none" stroke-width="1.8"/>' if drawn else _HOLE
    scale = f" scale({_n(size / 8)})" if size != 8 else ""
    return f'<g transform="translate({_n(x)} {_n(y)}){scale}">{body}{sign}</g>'


def group(said: str, *shapes: str) -> str:
    """Shapes that belong together, with what a reader is told of them."""
    return f"<g><title>{literal(said)}</title>{''.join(shapes)}</g>"


def _as(role: str) -> str:
    colours = "".join(f' {name}="{value}"' for name, _, value in (c.partition(":") for c in _ROLES[role][0].split(";")))
    return f'class="hf-{role.replace("_", "-")}"{colours}'


def _towards(here: tuple[float, float], there: tuple[float, float], corner: float) -> tuple[float, float]:
    dx, dy = there[0] - here[0], there[1] - here[1]
    far = max(abs(dx), abs(dy)) or 1
    part = min(corner, far / 2) / far
    return here[0] + dx * part, here[1] + dy * part


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")
