"""Calls of tools: in a thread of their own, with progress while they run and an end when nobody wants them any more."""

from __future__ import annotations

import time
from _collections_abc import Mapping

import anyio
from mcp import types
from mcp.server import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError

from holdfast.checks.running import GRACE_SECONDS
from holdfast.core import queries
from holdfast.core.refusals import unexpected
from holdfast.core.remedy import ANYWHERE, Scope
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.plain.plainjson import spaced
from holdfast.project.project import Project
from holdfast.surfaces import tools
from holdfast.surfaces.mcp import replies
from holdfast.surfaces.mcp.approval import Approvals
from holdfast.surfaces.mcp.projects import Projects

WHOLE = 20_000
"""The limit that an answer which was cut names for the rest."""
BEAT = 1.0
"""Seconds between two signs of progress."""
_SHOWN = 120
_LOOK = 0.05


class Calls:
    """Answers `tools/call`. Everything that touches the disk happens in a worker thread."""

    def __init__(self, projects: Projects, *, guarded: bool = True) -> None:
        self._projects = projects
        self._approvals = Approvals(projects, guarded=guarded)
        self._running: dict[int, list[bool]] = {}

    def end(self) -> None:
        """Ends the commands that still run."""
        for flag in list(self._running.values()):
            flag[0] = True

    async def ended(self) -> None:
        """Ends them, and waits for them to be gone."""
        with anyio.move_on_after(2 * GRACE_SECONDS, shield=True):
            while self._running:
                self.end()
                await anyio.sleep(_LOOK)

    async def __call__(
        self, ctx: Context[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        tool = tools.TOOLS.get(params.name)
        arguments = dict(params.arguments or {})
        session = _session(ctx, params, arguments)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:80]}", data={"tools": list(tools.TOOLS)})
        try:
            if tool.name == "approve_step":
                asked = await self._approvals.handled(ctx, params, tools.checked(tool, arguments))
                if asked is not None:
                    return asked if isinstance(asked, types.InputRequiredResult) else replies.answer(asked)
            made = await (self._watched if tool.watched else self._run)(ctx, tool, arguments, session)
        except HoldfastError as error:
            return replies.refusal(error, await self._scope(arguments, session))
        except Exception as error:  # noqa: BLE001 - whatever it is, a model gets a sentence and not a broken call
            return replies.refusal(unexpected(error), ANYWHERE)
        more = any(field.name == "limit" for field in tool.inputs) and tool.name != "list_workflows"
        rest = f"{tool.name} {spaced({**arguments, 'limit': WHOLE})}" if more else ""
        whole = any(name in arguments for name in replies.MORE)
        return replies.answer(made, whole=whole, first=("notice", *tool.outputs), rest=rest)

    async def _scope(self, arguments: Mapping[str, Any], session: str) -> Scope:
        named = arguments.get("workflow_id")
        about = named if isinstance(named, str) else ""
        try:
            return await self._projects.used(lambda project: project.scope(about), session)
        except (HoldfastError, OSError):
            return ANYWHERE

    async def _run(
        self, _: Context[Any], tool: tools.Tool, arguments: Mapping[str, Any], session: str
    ) -> dict[str, Any]:
        return await self._projects.used(lambda project: tools.call(project, tool.name, arguments), session)

    async def _watched(
        self, ctx: Context[Any], tool: tools.Tool, arguments: Mapping[str, Any], session: str
    ) -> dict[str, Any]:
        """A call that may take long says every second that it goes on; when it is cancelled, so is what it runs."""
        last, ended = [""], [False]
        limit = await self._patience(arguments) if "check" in arguments else None

        def watch(line: str, _: float) -> None:
            last[0] = line

        def work(project: Project) -> dict[str, Any]:
            self._running[id(ended)] = ended
            try:
                return tools.call(project, tool.name, arguments, tools.Watch(watch, lambda: ended[0]))
            finally:
                del self._running[id(ended)]

        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_beat, ctx, last, limit)
                made = await self._projects.used(work, session)
                group.cancel_scope.cancel()
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None
        finally:
            ended[0] = True
        return made

    async def _patience(self, arguments: Mapping[str, Any]) -> float | None:
        """How long the check may take, so that progress has an end to go to; what is wrong with it is said later."""
        try:
            word = str(arguments.get("workflow_id", ""))
            state = await self._projects.used(lambda project: project.workflow(word).state)
        except HoldfastError:
            return None
        found = [state.plan.step(path).check(str(arguments.get("check"))) for path in queries.open_steps(state)]
        return next((check.timeout for check in found if check is not None and check.run), None)


async def _beat(ctx: Context[Any], last: list[str], limit: float | None) -> None:
    began = time.monotonic()
    while True:
        await anyio.sleep(BEAT)
        said = "".join(c for c in last[0] if c.isprintable())[-_SHOWN:]
        await ctx.session.report_progress(time.monotonic() - began, limit, said or "at work")


def _session(ctx: Context[Any], params: types.CallToolRequestParams, arguments: dict[str, Any]) -> str:
    """The host's session: Codex says it beside each call, opencode's plugin among the arguments.

    In another host nobody but the model could have written it there, and it is no argument of any tool.
    """
    client = ctx.session.client_params
    among = arguments.pop("_session", "") if client and "opencode" in client.client_info.name.lower() else ""
    for said in ((params.meta or {}).get("threadId"), among):
        if isinstance(said, str) and said.isprintable() and said:
            return said[:100]
    return ""
