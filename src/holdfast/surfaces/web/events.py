"""Changes as a stream that browsers listen to. One task looks for all of them."""

from __future__ import annotations

import asyncio
from _collections_abc import AsyncGenerator

import anyio
from starlette.responses import StreamingResponse

from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.runs import Turns
from holdfast.surfaces.watching import Watcher

MOST = 64
"""How many browsers listen at once."""
BEAT = 15
"""Seconds after which a stream says something, so that a connection that is gone is noticed."""
AGAIN = 1000
"""Milliseconds after which a browser tries again."""


class Events:
    """Says "change" to every listener when a workflow got a line, came or went, or an agent's turn changed."""

    def __init__(self, projects: Projects) -> None:
        self._watcher = Watcher(lambda: projects.opened().wired.store)
        self._turned = Turns(projects.place.home)
        self._projects = projects
        self._listeners: set[asyncio.Event] = set()
        self._wanted = asyncio.Event()
        self._ended = False

    async def watch(self) -> None:
        """Looks for changes until the server ends, as long as somebody listens."""
        await self._projects.worked(self._watcher.look)  # what happens from now on is a change
        while not self._ended:
            await self._wanted.wait()
            changes = await self._projects.worked(self._watcher.look)
            if self._turned() or (changes is not None and (changes.moved or changes.listed)):
                self._wake()
            await anyio.sleep(self._watcher.pause)

    def end(self) -> None:
        """Ends every stream, so that the server need not wait for them."""
        self._ended = True
        self._wanted.set()
        self._wake()

    def _wake(self) -> None:
        for one in self._listeners:
            one.set()

    @property
    def is_full(self) -> bool:
        return len(self._listeners) >= MOST

    def answer(self) -> StreamingResponse:
        return StreamingResponse(self._stream(), media_type="text/event-stream")

    async def _stream(self) -> AsyncGenerator[str, None]:
        """The first event is for those who missed something while there was no connection."""
        heard = asyncio.Event()
        self._listeners.add(heard)
        self._wanted.set()
        try:
            yield f"retry: {AGAIN}\ndata: begin\n\n"
            while not self._ended:
                with anyio.move_on_after(BEAT):
                    await heard.wait()
                said = "data: change\n\n" if heard.is_set() else ": here\n\n"
                heard.clear()
                if not self._ended:
                    yield said
        finally:
            self._listeners.discard(heard)
            if not self._listeners and not self._ended:
                self._wanted.clear()
