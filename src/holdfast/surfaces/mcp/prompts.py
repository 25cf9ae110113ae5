"""Prompts for people to pick in their host: take a workflow up again, see where it stands, see what is next."""

from __future__ import annotations

from _collections_abc import Awaitable, Callable

from mcp import types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from holdfast.core.remedy import described
from holdfast.errors import HoldfastError
from holdfast.surfaces.mcp.projects import Projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.project.workflow import Workflow

    Worked = Callable[[Callable[[], Any]], Awaitable[Any]]

_WIDE = 100
_NAMED = types.PromptArgument(name="workflow_id", description="the one last worked on, if not named", required=False)
_PROMPTS = {
    "resume": ("Resume a workflow", "Everything an agent needs to go on"),
    "status": ("Workflow status", "Where a workflow stands and what is in the way"),
    "next": ("Next step", "What the current step asks for"),
}


class Prompts:
    def __init__(self, projects: Projects, worked: Worked) -> None:
        self._projects = projects
        self._worked = worked

    async def listed(
        self, _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        found = [
            types.Prompt(name=name, title=title, description=about, arguments=[_NAMED])
            for name, (title, about) in _PROMPTS.items()
        ]
        return types.ListPromptsResult(prompts=found)

    async def told(self, _: ServerRequestContext[Any], params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name not in _PROMPTS:
            raise MCPError(
                types.INVALID_PARAMS, f"Unknown prompt: {params.name[:80]}", data={"prompts": list(_PROMPTS)}
            )
        word = (params.arguments or {}).get("workflow_id", "")
        try:
            text = await self._worked(lambda: self._text(params.name, word))
        except HoldfastError as error:
            raise MCPError(types.INVALID_PARAMS, error.message, data=described(error)) from None
        said = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=_PROMPTS[params.name][1], messages=[said])

    def _text(self, name: str, word: str) -> str:
        with self._projects.lent() as project:
            workflow = project.workflow(word) if word else project.latest(finished=True)
            return _TEXTS[name](workflow)


def _status(workflow: Workflow) -> str:
    from holdfast.plain.terminal import Style
    from holdfast.surfaces import render

    shown = render.status(workflow.state, workflow.facts(), Style(False), _WIDE)
    return f"This is where the workflow {workflow.id} stands. Tell me in a few sentences what it means.\n\n{shown}"


def _next(workflow: Workflow) -> str:
    from holdfast.plain.terminal import Style
    from holdfast.surfaces import render

    shown = render.next_step(workflow.state, workflow.facts(), Style(False), _WIDE)
    return f"Do the next step of the workflow {workflow.id}, with the tools of Holdfast.\n\n{shown}"


_TEXTS: dict[str, Callable[[Workflow], str]] = {
    "resume": lambda workflow: workflow.packet(),
    "status": _status,
    "next": _next,
}
