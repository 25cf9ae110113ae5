"""Changes that others make, reported to subscribers: of another process, the command line, an editor."""

from __future__ import annotations

from _collections_abc import Iterable

import anyio
from mcp import types
from mcp.server import ServerRequestContext as Context
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated, ToolsListChanged

from holdfast.core.value import Any
from holdfast.engine.ports import Changes as StoreChanges
from holdfast.surfaces.mcp.offer import Offer
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.mcp.resources import PARTS, uri
from holdfast.surfaces.watching import Watcher

MOST_SESSIONS = 1024


class Changes:
    """Both eras: sessions that said hello or subscribed, and streams of those that listen."""

    def __init__(self, projects: Projects, offer: Offer) -> None:
        self._projects = projects
        self._offer = offer
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        self._looked = anyio.Event()
        self._watcher = Watcher(projects.store)
        self._sessions: dict[int, ServerSession] = {}
        self._subscribed: dict[str, dict[int, ServerSession]] = {}

    async def greet(self, ctx: Context[Any], _: types.NotificationParams) -> None:
        """A session of the older protocol is told of every change of the lists."""
        self._sessions[_number(ctx.session)] = ctx.session
        while len(self._sessions) > MOST_SESSIONS:
            del self._sessions[next(iter(self._sessions))]

    async def subscribe(self, ctx: Context[Any], params: types.SubscribeRequestParams) -> types.EmptyResult:
        await self._looked.wait()  # whatever happens from now on is a change
        held = self._subscribed.setdefault(str(params.uri), {})
        held[_number(ctx.session)] = ctx.session
        while len(held) > MOST_SESSIONS:
            del held[next(iter(held))]
        while len(self._subscribed) > MOST_SESSIONS * len(PARTS):
            del self._subscribed[next(iter(self._subscribed))]
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context[Any], params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        held = self._subscribed.get(str(params.uri), {})
        held.pop(_number(ctx.session), None)
        if not held:
            self._subscribed.pop(str(params.uri), None)
        return types.EmptyResult()

    async def listen(
        self, ctx: Context[Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        await self._looked.wait()
        return await self._listening(ctx, params)

    async def watch(self) -> None:
        """Looks for changes until the server ends."""
        while True:
            changes = await self._projects.worked(self._watcher.look)
            if changes is not None:
                await self._tell(changes)
            self._looked.set()
            await anyio.sleep(self._watcher.pause)

    async def announce(self, named: Iterable[str] = ()) -> None:
        """Tells clients that there are more tools, where a workflow or a refusal names some that they do not have."""
        if await self._offer.has_grown(named):
            await self._bus.publish(ToolsListChanged())
            for session in list(self._sessions.values()):
                await session.send_tool_list_changed()

    async def _tell(self, changes: StoreChanges) -> None:
        if changes.listed:
            await self.announce()
            await self._bus.publish(ResourcesListChanged())
            for session in list(self._sessions.values()):
                await session.send_resource_list_changed()
        for ulid, name in changes.moved.items():
            for address in (uri(word, part) for word in (name, ulid) for part in PARTS):
                await self._bus.publish(ResourceUpdated(address))
                for session in list(self._subscribed.get(address, {}).values()):
                    await session.send_resource_updated(address)


def _number(session: ServerSession) -> int:
    """Which connection a session speaks for: each request has a session of its own, and they share a connection."""
    return id(session._connection)
