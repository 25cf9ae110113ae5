"""Pictures that are written to files: `diagram --svg`, `diagram --png` and `log --timeline`."""

from __future__ import annotations

import os
from math import sqrt

from holdfast.core import refusals, remedies
from holdfast.core.drawing.svg import Picture
from holdfast.core.remedy import Remedy
from holdfast.errors import UsageError
from holdfast.files.replace import durable_write
from holdfast.machine import installer
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.cli.outputs import require_place

SVG, PNG = ".svg", ".png"
_BEGINNINGS = {SVG: lambda data: b"<svg " in data, PNG: lambda data: data.startswith(b"\x89PNG")}
"""How a picture begins, which another one may take the place of."""
SHARP = 2.0
"""How many pixels of a PNG stand for one of the picture, so that it is sharp on most screens."""
MOST_PIXELS = 25_000_000
"""A larger picture has fewer pixels: each takes four bytes while it is drawn."""


def diagram(call: Call) -> None:
    """The steps, as one file or as both."""
    args = call.args
    if args.lifecycle:
        said = "holdfast diagram: --lifecycle is text only, and cannot be given with --svg or --png"
        raise refusals.misused(said, remedies.usage("diagram"))
    from holdfast.core.drawing.steps import steps

    wanted = [(args.svg, SVG)] if args.svg else []
    wanted += [(args.png, PNG)] if args.png else []
    picture = steps(call.workflow().state)
    _write(call, picture, wanted, remedies.named("diagram", {"svg": _ending(args.png, SVG)}))


def timeline(call: Call) -> None:
    """What happened when; the ending of the file says as what."""
    path = call.args.timeline
    ending = os.path.splitext(path)[1].lower()
    if ending not in (SVG, PNG):
        said = f"{path[:200]!r} ends neither in .svg nor in .png, which says what kind of picture it is"
        other = remedies.named("log", {"timeline": _ending(path, SVG)})
        raise UsageError("bad_path", said, remedy=other, facts={"path": path[:200]})
    from holdfast.core.drawing.timeline import timeline as drawn

    workflow = call.workflow()
    picture = drawn(workflow.history(0, workflow.state.revision), call.now())
    _write(call, picture, [(path, ending)], remedies.named("log", {"timeline": _ending(path, SVG)}))


def _write(call: Call, picture: Picture, wanted: list[tuple[str, str]], other: Remedy) -> None:
    """Nothing is written unless all of it can be made."""
    made = []
    for path, kind in wanted:
        require_place(path, call.project.wired.place, kind, _BEGINNINGS[kind])
        made.append((path, png(picture, other) if kind == PNG else picture.file().encode()))
    for path, data in made:
        durable_write(path, data)
    files = [{"path": path, "bytes": len(data)} for path, data in made]
    said = {"files": files, "title": picture.title, "description": picture.description}
    call.answer(said, "\n".join(call.ok(f"wrote {path}") for path, _ in made))


def png(picture: Picture, other: Remedy) -> bytes:
    """The picture in pixels; `other` is what leads on where the package for it is missing."""
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        missing = installer.absent("resvg_py")
        missing.remedies = (*missing.remedies, other)
        raise missing from None
    zoom = min(SHARP, sqrt(MOST_PIXELS / (picture.width * picture.height)))
    return svg_to_bytes(svg_string=picture.file(), zoom=zoom)


def _ending(path: str, kind: str) -> str:
    """The same file with another ending."""
    return (os.path.splitext(path)[0] or "picture") + kind
