"""Changes that others make, told to whoever wants to know: another process, the command line, a person's editor.

The journals are looked at twice a second, by their size and time. Only those of active workflows change, and the index
names them, so that a look costs one call of the system for each.
"""

from __future__ import annotations

import os
import time
from _collections_abc import Awaitable, Callable

import anyio
from mcp import types
from mcp.server import ServerRequestContext
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

from holdfast.errors import HoldfastError
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.mcp.resources import PARTS, uri

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcp.server.session import ServerSession

    Worked = Callable[[Callable[[], Any]], Awaitable[Any]]
    Stamps = dict[str, tuple[str, int, int]]

EVERY = 0.5
"""Seconds between two looks."""
SHARE = 0.05
"""How much of the time looking may take: with very many workflows the looks become rarer."""
MOST_SESSIONS = 1024


class Changes:
    """Both eras: sessions that said hello or subscribed, and streams of those that listen."""

    def __init__(self, projects: Projects, worked: Worked) -> None:
        self._projects = projects
        self._worked = worked
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self._looked = anyio.Event()
        self._sessions: dict[int, ServerSession] = {}
        self._subscribed: dict[str, dict[int, ServerSession]] = {}

    async def greet(self, ctx: ServerRequestContext[Any], _: types.NotificationParams) -> None:
        """A session of the older protocol is told of every change of the list."""
        self._sessions[_number(ctx.session)] = ctx.session
        while len(self._sessions) > MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]

    async def subscribe(
        self, ctx: ServerRequestContext[Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        await self._looked.wait()  # whatever happens from now on is a change
        held = self._subscribed.setdefault(str(params.uri), {})
        held[_number(ctx.session)] = ctx.session
        while len(held) > MOST_SESSIONS:
            del held[next(iter(held))]
        while len(self._subscribed) > MOST_SESSIONS * len(PARTS):
            del self._subscribed[next(iter(self._subscribed))]
        return types.EmptyResult()

    async def unsubscribe(
        self, ctx: ServerRequestContext[Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        held = self._subscribed.get(str(params.uri), {})
        held.pop(_number(ctx.session), None)
        if not held:
            self._subscribed.pop(str(params.uri), None)
        return types.EmptyResult()

    async def listen(
        self, ctx: ServerRequestContext[Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        await self._looked.wait()
        return await self._listening(ctx, params)

    async def watch(self) -> None:
        """Looks for changes until the server ends."""
        known: Stamps | None = None
        while True:
            began = time.monotonic()
            now: Stamps | None = await self._worked(self._look)
            if known is not None and now is not None:
                await self._tell(known, now)
            known = now if now is not None else known
            self._looked.set()
            await anyio.sleep(max(EVERY, (time.monotonic() - began) / SHARE))

    def _look(self) -> Stamps | None:
        """The id, time and size of every active workflow's journal; None while they cannot be read."""
        try:
            with self._projects.lent() as project:
                store = project.wired.store
                found: Stamps = {}
                for entry in store.active():
                    try:
                        seen = os.stat(store.path(entry.ulid))
                    except OSError:
                        continue
                    found[entry.ulid] = (entry.id, seen.st_mtime_ns, seen.st_size)
                return found
        except (HoldfastError, OSError):
            return None

    async def _tell(self, known: Stamps, now: Stamps) -> None:
        if known.keys() != now.keys():
            await self._bus.publish(ResourcesListChanged())
            for session in list(self._sessions.values()):
                await session.send_resource_list_changed()
        for ulid in {**known, **now}:
            if known.get(ulid) == now.get(ulid):
                continue
            name = (now.get(ulid) or known[ulid])[0]
            for address in (uri(word, part) for word in (name, ulid) for part in PARTS):
                await self._bus.publish(ResourceUpdated(address))
                for session in list(self._subscribed.get(address, {}).values()):
                    await session.send_resource_updated(address)


def _number(session: ServerSession) -> int:
    """Which connection a session speaks for: each request has a session of its own, and they share a connection."""
    return id(session._connection)
