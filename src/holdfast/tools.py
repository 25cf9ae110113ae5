"""The tools that agents work with, as functions, for programs that are agents themselves."""

from holdfast.surfaces.tools import (
    TOOLS,
    Input,
    Tool,
    Watch,
    call,
    checked,
    input_schema,
    output_schema,
    workflow_metrics,
)

__all__ = ["TOOLS", "Input", "Tool", "Watch", "call", "checked", "input_schema", "output_schema", "workflow_metrics"]
