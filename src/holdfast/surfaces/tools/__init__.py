"""The tools that agents work with, as functions: plain values in, plain values out, the same for every dialect.

Every input is checked: unknown fields, wrong types and lengths are refused before anything is looked at. What comes
back has the fields that a tool names, so that agents can rely on them, and `redacted` where a likely secret was; before
them stands `notice`, where an edit of a document was not taken as it was written.
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.names import nearest
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, UsageError
from holdfast.project.project import Project
from holdfast.surfaces.tools.convention import workflow_metrics
from holdfast.surfaces.tools.loop import acting
from holdfast.surfaces.tools.sets import DEFAULT, TOOLS, TOOLSETS, checked_sets, listed
from holdfast.surfaces.tools.shape import Input, Tool, Watch, checked, input_schema, output_schema

__all__ = [
    "DEFAULT",
    "TOOLS",
    "TOOLSETS",
    "Input",
    "Tool",
    "Watch",
    "call",
    "checked",
    "checked_sets",
    "input_schema",
    "listed",
    "output_schema",
    "workflow_metrics",
]


def call(project: Project, name: str, arguments: Mapping[str, Any], watch: Watch | None = None) -> dict[str, Any]:
    """Runs a tool. Refusals are raised as everywhere."""
    tool = TOOLS.get(name)
    if tool is None:
        close = nearest(name, tuple(TOOLS))
        hint = f", did you mean {close}?" if close else ""
        raise UsageError("no_tool", f"there is no tool {name[:60]!r}{hint}", remedy=f"one of {', '.join(TOOLS)}")
    given = checked(tool, arguments)
    project = acting(project, token=given.get("token", ""))
    engine = project.wired.engine
    try:
        made = tool.run(project, given, watch or Watch()) if tool.watched else tool.run(project, given)
    except HoldfastError as error:
        if redacted := engine.take_redacted():
            error.facts["redacted"] = redacted
        if notices := project.wired.notices():
            error.facts["notice"] = notices
        raise
    said, redacted = project.wired.told(made), engine.take_redacted()
    return {**said, "redacted": redacted} if redacted else said
