"""The files of this package that browsers fetch."""

from __future__ import annotations

from importlib import resources

from starlette.requests import Request
from starlette.responses import Response


def packaged(name: str) -> str:
    """A file of this package."""
    return resources.files("holdfast.surfaces.web").joinpath(name).read_text("utf-8")


async def style(_: Request) -> Response:
    return Response(packaged("style.css"), media_type="text/css")


async def icon(_: Request) -> Response:
    return Response(packaged("icon.svg"), media_type="image/svg+xml")


async def script(_: Request) -> Response:
    return Response(packaged("page.js"), media_type="text/javascript")
