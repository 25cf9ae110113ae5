"""The server as the SDK knows it: which request is answered by whom."""

from __future__ import annotations

from _collections_abc import AsyncIterator

import anyio
from mcp import types
from mcp.server import InitializationOptions, NotificationOptions, Server
from mcp.server import ServerRequestContext as Context
from mcp.server.caching import CacheHint
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

from holdfast import __version__
from holdfast.core.value import Any
from holdfast.surfaces import tools
from holdfast.surfaces.mcp import keys
from holdfast.surfaces.mcp.calls import Calls
from holdfast.surfaces.mcp.changes import Changes
from holdfast.surfaces.mcp.offer import Offer
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.mcp.prompts import Prompts
from holdfast.surfaces.mcp.resources import Resources

NAME = "holdfast"
ANSWERED_WITHIN = 7 * 86_400
"""Seconds for which a question that a person was asked may be answered."""
INSTRUCTIONS = """\
Holdfast keeps long work in its place: steps with gates, which survive crashes and a lost context.
1. list_workflows shows what is under way; start_workflow begins something new.
2. Lost your context? get_resume_packet tells where you are; do what it asks before anything else.
3. get_next_step says what to do now; its required_action is the call that leads on.
4. update_workflow_state status=in_progress begins a step, status=completed hands it in with its artifacts.
5. Steps go in order. A refusal has code, message, remedy: do what the remedy says, do not try another way round.
6. run_check runs a step's checks; what the engine can run, it runs itself, and your word does not replace it.
7. A step in waiting_approval is a person's: show them the work and stop; approve_step passes on what they say.
8. record_work keeps decisions, lessons, files, cost; lock_files keeps files to one agent. With a lease, pass its token.
9. Resources holdfast://workflow/ID, and below it /document, /plan and /log, have the rest.
10. Paths are from the top of the project; ids may be cut to a beginning that is unique."""


class _Server(Server["Any"]):
    """Says in a handshake, whatever the transport, that it tells of changes of the lists of resources and tools."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *more: Any, **named: Any
    ) -> InitializationOptions:
        told = notification_options or NotificationOptions(resources_changed=True, tools_changed=True)
        return super().create_initialization_options(told, *more, **named)


class Service:
    """One server for one root, whatever the transport: over HTTP many clients share it."""

    def __init__(self, projects: Projects, *, guarded: bool = True) -> None:
        offer = Offer(projects)
        self.changes = Changes(projects, offer)
        self.calls = Calls(projects, self.changes.announce, guarded=guarded)
        resources = Resources(projects)
        prompts = Prompts(projects)
        defined = {name: _definition(tool) for name, tool in tools.TOOLS.items()}

        async def list_tools(_: Context[Any], __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
            return types.ListToolsResult(tools=[defined[tool.name] for tool in await offer.tools()])

        self.server = _Server(
            NAME,
            version=__version__,
            title="Holdfast",
            description="Durable workflow state for AI agents",
            instructions=INSTRUCTIONS,
            cache_hints={"prompts/list": CacheHint(3_600_000)},
            lifespan=self._living,
            get_tool_input_schema={name: tool.input_schema for name, tool in defined.items()}.get,
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
        codec = keys.StateCodec(projects.place, projects.require_writable)
        sealed = RequestStateSecurity(codec=codec, ttl=ANSWERED_WITHIN)
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


def _told(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of outputs without the list of required ones, which all are: every model reads it."""
    return {name: value for name, value in schema.items() if name != "required"}


def _definition(tool: tools.Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=tools.input_schema(tool),
        output_schema=_told(tools.output_schema(tool)) if tool.outputs else None,
        annotations=types.ToolAnnotations(
            read_only_hint=True if tool.reads else None,
            destructive_hint=None if tool.reads else tool.destroys,
            open_world_hint=tool.external,
        ),
    )
