"""The tools that agents work with, as functions, for programs that are agents themselves."""

from holdfast.surfaces.tools import (
    DEFAULT,
    TOOLS,
    TOOLSETS,
    Input,
    Tool,
    Watch,
    call,
    checked,
    checked_sets,
    input_schema,
    listed,
    output_schema,
    workflow_metrics,
)

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
