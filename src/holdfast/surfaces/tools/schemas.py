"""What a tool takes and gives, as JSON Schema: short, because a model reads it with every conversation.

How long a text may be is left out: no model counts characters, and a refusal names the limit. Inputs have one `type`
each, because some providers of models know no other form.
"""

from __future__ import annotations

from holdfast.core.value import Any
from holdfast.surfaces.tools.shape import MOST_PATHS, Input, Tool

_OUTPUTS: dict[str, dict[str, Any]] = {
    "integers": {"type": "array", "items": {"type": "integer"}},
    "strings": {"type": "array", "items": {"type": "string"}},
    "objects": {"type": "array", "items": {"type": "object"}},
}


def input_schema(tool: Tool) -> dict[str, Any]:
    required = [field.name for field in tool.inputs if field.required]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field.name: _property(field) for field in tool.inputs},
        "additionalProperties": False,
    }
    return {**schema, "required": required} if required else schema


def output_schema(tool: Tool) -> dict[str, Any]:
    """Every field is always there."""
    return {
        "type": "object",
        "properties": {name: _output(kind) for name, kind in tool.outputs.items()},
        "required": list(tool.outputs),
    }


def _output(kind: str) -> dict[str, Any]:
    if kind.endswith("?"):
        return {"type": [kind[:-1], "null"]}
    return _OUTPUTS.get(kind, {"type": kind})


def _property(field: Input) -> dict[str, Any]:
    about = {"description": field.about} if field.about else {}
    match field.kind:
        case "step":
            return {"anyOf": [{"type": "integer"}, {"type": "string"}], **about}
        case "paths":
            return {"type": "object", "additionalProperties": {"type": "string"}, **about}
        case "files":
            return {"type": "array", "items": {"type": "string"}, "maxItems": MOST_PATHS, **about}
        case "integer" | "number":
            return {"type": field.kind, "minimum": field.least, "maximum": field.most, **about}
        case "string" if field.among:
            return {"type": "string", "enum": list(field.among), **about}
    return {"type": field.kind, **about}
