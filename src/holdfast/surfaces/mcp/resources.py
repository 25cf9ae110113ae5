"""Workflows as resources: where each stands, its document, its plan and its log, at addresses that stay."""

from __future__ import annotations

from _collections_abc import Callable
from collections import deque

from mcp import types
from mcp.server import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from holdfast.core import answers, lifecycle
from holdfast.core.plan import parent
from holdfast.core.remedy import described
from holdfast.core.value import Any
from holdfast.documents.lens.text import Writer
from holdfast.engine.ports import Entry
from holdfast.errors import HoldfastError
from holdfast.plain.terminal import Style
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces import render
from holdfast.surfaces.mcp.projects import Projects

BASE = "holdfast://workflow/"
PARTS = {
    "": ("its state", "application/json"),
    "document": ("its document, as its dialect writes it", "application/json"),
    "plan": ("its steps", "text/markdown"),
    "log": ("what happened, newest last", "text/plain"),
}
PAGE = 50
"""How many workflows one page of the list has."""
LOGGED = 200
COMPLETED = 100
NOT_FOUND = -32002
"""What the older protocol calls a resource that is not there; to the newer one it is a wrong parameter."""


def uri(workflow: str, part: str = "") -> str:
    from urllib.parse import quote

    return f"{BASE}{quote(workflow, safe='')}{'/' if part else ''}{part}"


class Resources:
    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    async def listed(self, _: Context[Any], params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        at = _page(params.cursor if params else None)
        entries = await self._projects.used(_entries)
        shown = entries[at : at + PAGE]
        names = [entry.id for entry in entries]
        found = [
            _resource(entry, entry.id if names.count(entry.id) == 1 else entry.ulid, part)
            for entry in shown
            for part in PARTS
        ]
        more = str(at + PAGE) if len(entries) > at + PAGE else None
        return types.ListResourcesResult(resources=found, next_cursor=more)

    async def templates(
        self, _: Context[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        found = [
            types.ResourceTemplate(
                uri_template=f"{BASE}{{workflow_id}}{'/' if part else ''}{part}",
                name=f"workflow{'-' if part else ''}{part}",
                description=f"A workflow: {about}",
                mime_type=kind,
            )
            for part, (about, kind) in PARTS.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def read(self, ctx: Context[Any], params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        address = str(params.uri)
        named = parsed(address)
        absent = types.INVALID_PARAMS if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else NOT_FOUND
        if named is None:
            raise MCPError(absent, "Resource not found", data={"uri": address[:400]})
        try:
            text = await self._projects.used(lambda project: _TEXTS[named[1]](project.workflow(named[0])))
        except HoldfastError as error:
            raise MCPError(absent, error.message, data={"uri": address[:400], **described(error)}) from None
        kind = PARTS[named[1]][1]
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=address, mime_type=kind, text=text)])

    async def completed(self, _: Context[Any], params: types.CompleteRequestParams) -> types.CompleteResult:
        """Ids of workflows, which is all that there is to complete."""
        begun = params.argument.value
        entries = await self._projects.used(_entries) if params.argument.name == "workflow_id" else []
        found = [entry.id for entry in entries if entry.id.startswith(begun)]
        told = types.Completion(values=found[:COMPLETED], total=len(found), has_more=len(found) > COMPLETED)
        return types.CompleteResult(completion=told)


def _entries(project: Project) -> list[Entry]:
    project.heal()
    return project.wired.store.entries()


def parsed(address: str) -> tuple[str, str] | None:
    """The workflow and the part of it that an address means."""
    from urllib.parse import unquote

    if not address.startswith(BASE):
        return None
    word, _, part = address[len(BASE) :].partition("/")
    return (unquote(word), part) if word and len(word) <= 600 and part in PARTS else None


def _resource(entry: Entry, word: str, part: str) -> types.Resource:
    about, kind = PARTS[part]
    name = f"{entry.id}{'/' if part else ''}{part}"
    return types.Resource(uri=uri(word, part), name=name, description=about, mime_type=kind)


def _page(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 9):
        raise MCPError(types.INVALID_PARAMS, "Invalid cursor")
    return int(cursor)


def _standing(workflow: Workflow) -> str:
    return Writer().write(answers.status(workflow.briefing())).decode()


def _document(workflow: Workflow) -> str:
    return Writer().write(workflow.document()).decode()


def _plan(workflow: Workflow) -> str:
    """The tree of steps as a list of boxes."""
    state = workflow.state
    out = [f"# {state.title or state.id}", ""]
    for path in state.plan.paths:
        step, status, deep = state.plan.step(path), state.step(path).status, 0
        above = parent(path)
        while above:
            deep, above = deep + 1, parent(above)
        box = "x" if status in lifecycle.FINISHED else " "
        called = f": {step.label}" if step.label != step.id else ""
        word = "" if status in (lifecycle.PENDING, lifecycle.DONE) else f" ({status.replace('_', ' ')})"
        out.append(f"{'  ' * deep}- [{box}] `{path}`{called}{word}".replace("\n", " "))
    return "\n".join(out) + "\n"


def _log(workflow: Workflow) -> str:
    return render.log(list(deque(workflow.history(), maxlen=LOGGED)), Style(False), 120)


_TEXTS: dict[str, Callable[[Workflow], str]] = {"": _standing, "document": _document, "plan": _plan, "log": _log}
