"""Prompts for people to pick in their host: take a workflow up again, see its state, see what is next."""

from __future__ import annotations

from mcp import types
from mcp.server import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError

from holdfast.core.remedy import described
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.plain.terminal import Style
from holdfast.project import seats
from holdfast.project.project import Project
from holdfast.surfaces import render
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.tools.remedies import CALLED, in_tools

_WIDE = 100
_NAMED = types.PromptArgument(name="workflow_id", description="the one last worked on, if not named", required=False)
_PROMPTS = {
    "resume": ("Resume a workflow", "Everything an agent needs to continue"),
    "status": ("Workflow status", "The state of a workflow and what blocks it"),
    "next": ("Next step", "What the current step asks for"),
}


class Prompts:
    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    async def listed(self, _: Context[Any], __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        found = [
            types.Prompt(name=name, title=title, description=about, arguments=[_NAMED])
            for name, (title, about) in _PROMPTS.items()
        ]
        return types.ListPromptsResult(prompts=found)

    async def told(self, _: Context[Any], params: types.GetPromptRequestParams) -> types.GetPromptResult:
        if params.name not in _PROMPTS:
            unknown = f"Unknown prompt: {params.name[:80]}"
            raise MCPError(types.INVALID_PARAMS, unknown, data={"prompts": list(_PROMPTS)})
        word = (params.arguments or {}).get("workflow_id", "")
        try:
            text = await self._projects.used(lambda project: _text(project, params.name, word))
        except HoldfastError as error:
            raise MCPError(types.INVALID_PARAMS, error.message, data=described(error)) from None
        said = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=_PROMPTS[params.name][1], messages=[said])


def _text(project: Project, name: str, word: str) -> str:
    """As the command line shows it, but with calls of tools."""
    workflow, others = seats.named_or_chosen(project, word, project.wired.settings.actor.session, finished=True)
    if name == "resume":
        return project.take_up(workflow).packet(others=others, voice=CALLED)
    draw = render.status if name == "status" else render.next_step
    scope = project.scope(workflow.ulid).replace(person=False)
    shown = draw(workflow.briefing(), Style(False), _WIDE, scope=scope, tell=in_tools)
    return f"{_ASKED[name].format(workflow.id)}\n\n{shown}"


_ASKED = {
    "status": "This is the state of the workflow {}. Tell me in a few sentences what it means.",
    "next": "Do the next step of the workflow {}, with the tools of Holdfast.",
}
