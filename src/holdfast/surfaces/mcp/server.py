"""The server as the SDK knows it: which request is answered by whom."""

from __future__ import annotations

from _collections_abc import AsyncIterator

import anyio
from mcp import types
from mcp.server import InitializationOptions, NotificationOptions, Server, ServerRequestContext
from mcp.server.caching import CacheHint
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

from holdfast import __version__
from holdfast.core.value import Any
from holdfast.surfaces.mcp import definitions, keys
from holdfast.surfaces.mcp.calls import Calls
from holdfast.surfaces.mcp.changes import Changes
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.mcp.prompts import Prompts
from holdfast.surfaces.mcp.resources import Resources

NAME = "holdfast"
ANSWERED_WITHIN = 7 * 86_400
"""Seconds for which a question that a person was asked may be answered."""


class _Server(Server["Any"]):
    """Says in a handshake, whatever the transport, that it tells of changes of the list of resources."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *more: Any, **named: Any
    ) -> InitializationOptions:
        told = notification_options or NotificationOptions(resources_changed=True)
        return super().create_initialization_options(told, *more, **named)


class Service:
    """One server for one root, whatever the transport: over HTTP many clients share it."""

    def __init__(self, projects: Projects, *, guarded: bool = True) -> None:
        self.calls = Calls(projects, guarded=guarded)
        self.changes = Changes(projects)
        resources = Resources(projects)
        prompts = Prompts(projects)
        tools = types.ListToolsResult(tools=definitions.listed())

        async def list_tools(
            _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
        ) -> types.ListToolsResult:
            return tools

        self.server = _Server(
            NAME,
            version=__version__,
            title="Holdfast",
            description="Durable workflow state for AI agents",
            instructions=definitions.INSTRUCTIONS,
            cache_hints={"tools/list": CacheHint(3_600_000), "prompts/list": CacheHint(3_600_000)},
            lifespan=self._living,
            get_tool_input_schema={tool.name: tool.input_schema for tool in tools.tools}.get,
            on_list_tools=list_tools,
            on_call_tool=self.calls,
            on_list_resources=resources.listed,
            on_list_resource_templates=resources.templates,
            on_read_resource=resources.read,
            on_subscribe_resource=self.changes.subscribe,
            on_unsubscribe_resource=self.changes.unsubscribe,
            on_subscriptions_listen=self.changes.listen,
            on_list_prompts=prompts.listed,
            on_get_prompt=prompts.told,
            on_completion=resources.completed,
        )
        self.server.add_notification_handler("notifications/initialized", types.NotificationParams, self.changes.greet)
        sealed = RequestStateSecurity(
            codec=keys.StateCodec(projects.place, projects.require_writable), ttl=ANSWERED_WITHIN
        )
        self.server.middleware.append(RequestStateBoundary(sealed, default_audience=NAME))

    def _living(self, _: Server[Any]) -> Any:
        from contextlib import asynccontextmanager

        @asynccontextmanager
        async def lifespan() -> AsyncIterator[dict[str, Any]]:
            async with anyio.create_task_group() as group:
                group.start_soon(self.changes.watch)
                try:
                    yield {}
                finally:
                    await self.calls.ended()
                group.cancel_scope.cancel()

        return lifespan()
