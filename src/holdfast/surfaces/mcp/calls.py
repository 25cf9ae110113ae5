"""Calls of tools: in a thread of their own, with progress while they run and an end when nobody wants them any more."""

from __future__ import annotations

import time
from _collections_abc import Awaitable, Callable, Mapping, Sequence

import anyio
from mcp import types
from mcp.server import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError

from holdfast.checks.running import GRACE_SECONDS
from holdfast.core import queries
from holdfast.core.answers import FACTS
from holdfast.core.refusals import unexpected
from holdfast.core.remedy import ANYWHERE, Scope
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.machine import installer
from holdfast.plain.plainjson import spaced
from holdfast.project.project import Project
from holdfast.surfaces import tools
from holdfast.surfaces.mcp import replies
from holdfast.surfaces.mcp.approval import Approval
from holdfast.surfaces.mcp.asking import Forms
from holdfast.surfaces.mcp.consent import Resumption, SessionCommit
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.tools import remedies

WHOLE = 20_000
"""The limit that an answer which was cut names for the rest."""
BEAT = 1.0
"""Seconds between two signs of progress."""
_BEGIN = ("start_workflow", "resume_workflow")
"""Tools after which a workflow may be active that was not."""
_CHANGING = ("verdict", "confirm", "content", "reason")
"""With these, a tool that is asked for the rest of its answer would change something once more."""
_SHOWN = 120
_LOOK = 0.05


class Calls:
    """Answers `tools/call`. Everything that touches the disk happens in a worker thread.

    `announce` is called before a start is answered, and before a refusal with the tools that its remedies name.
    """

    def __init__(
        self, projects: Projects, announce: Callable[[Sequence[str]], Awaitable[None]], *, guarded: bool = True
    ) -> None:
        self._projects = projects
        self._announce = announce
        self._forms = Forms(
            projects,
            {
                "approve_step": Approval(projects, guarded=guarded),
                "resume_workflow": Resumption(projects, guarded=guarded),
                "story_session": SessionCommit(projects),
            },
        )
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
            asked = None
            if self._forms.has(tool.name):
                asked = await self._forms.handled(ctx, params, tools.checked(tool, arguments))
            if isinstance(asked, types.InputRequiredResult):
                return asked
            run = self._watched if tool.watched else self._run
            made = await run(ctx, tool, arguments, session) if asked is None else asked
            if tool.name in _BEGIN:
                await self._announce(())
        except HoldfastError as error:
            scope = await self._scope(arguments, session)
            if named := remedies.named(error.remedies, scope):
                await self._announce(named)
            return replies.refusal(error, scope)
        except Exception as error:  # noqa: BLE001 - whatever it is, a model gets a sentence and not a broken call
            return replies.refusal(installer.diagnosed(error) or unexpected(error), ANYWHERE)
        limited = any(field.name == "limit" for field in tool.inputs) and tool.name != "list_workflows"
        more = limited and not any(name in arguments for name in _CHANGING)
        rest = f"{tool.name} {spaced({**arguments, 'limit': WHOLE})}" if more else ""
        whole = any(name in arguments for name in replies.MORE)
        return replies.answer(made, whole=whole, first=("notice", *tool.outputs, *FACTS), rest=rest)

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
        """A call that may take long says every second that it continues; when it is cancelled, so is what it runs."""
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
