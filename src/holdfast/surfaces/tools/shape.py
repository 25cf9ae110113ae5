"""What a tool looks like: what it takes and gives, both as JSON Schema, and how what it is given is checked."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core.remedy import is_blank, unfilled
from holdfast.core.value import Any, Value
from holdfast.errors import UsageError
from holdfast.plain.plainjson import require

MOST_PATHS = 100
_OUTPUTS: dict[str, dict[str, Any]] = {
    "integers": {"type": "array", "items": {"type": "integer"}},
    "strings": {"type": "array", "items": {"type": "string"}},
    "objects": {"type": "array", "items": {"type": "object"}},
}


class Input(Value):
    """A field that a tool takes.

    `kind` is a JSON type; `step`: a number from 1, or the id of a step; `paths`: files by name; `files`: a list of
    them; `texts`: a list of texts. `most` is how long a text is or how large a number; `least` is for numbers.
    """

    name: str
    kind: str
    required: bool = False
    most: int = 0
    least: int = 0
    among: tuple[str, ...] = ()
    about: str = ""


class Watch(Value):
    """Who waits for a call that takes long: is told the last line it printed, and may want it no more."""

    told: Callable[[str, float], None] | None = None
    cancelled: Callable[[], bool] | None = None


class Tool(Value):
    """A tool: what it is for, what it takes and gives, and the function that does it and gives it its name.

    `outputs` has the JSON type of each field; `?` stands for one that may be null, and a plural for a list.
    """

    title: str
    about: str
    inputs: tuple[Input, ...]
    outputs: Mapping[str, str]
    run: Callable[..., dict[str, Any]]
    reads: bool = False
    """Nothing is changed by it."""
    destroys: bool = False
    """What it does may cost somebody their work."""
    watched: bool = False
    """It may take long, and takes a Watch."""
    external: bool = False
    """It runs commands of the project."""

    @property
    def name(self) -> str:
        return self.run.__name__


def typed(said: str) -> dict[str, str]:
    """`total:integer text:string` → the fields that a tool gives, each with its type."""
    return {name: kind for name, _, kind in (field.partition(":") for field in said.split())}


def checked(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, if they are what the tool takes; every mistake at once otherwise. `phase` may be for `step`."""
    require(dict(arguments), "arguments")
    known = {field.name: field for field in tool.inputs}
    given = dict(arguments)
    if "step" in known and "phase" in given and "step" not in given:
        given["step"] = given.pop("phase")
    wrong = [f"unknown field {name[:80]!r}" for name in given if name not in known]
    wrong += [f"{name} is missing" for name, field in known.items() if field.required and given.get(name) is None]
    wrong += [
        f"{name} {reason}"
        for name, value in given.items()
        if name in known and value is not None and (reason := _wrong(known[name], value))
    ]
    if wrong:
        said = f"{tool.name}: {'; '.join(wrong)}"
        way = f"{tool.name} takes {', '.join(known) or 'nothing'}"
        raise UsageError("bad_arguments", said, remedy=way, facts={"tool": tool.name, "mistakes": wrong})
    return {name: value for name, value in given.items() if value is not None}


def _wrong(field: Input, value: Any) -> str:
    given = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    blank = next((one for one in given if isinstance(one, str) and is_blank(one)), None)
    if blank is not None:
        return f"is not filled in: {unfilled(blank)}"
    match field.kind:
        case "string":
            if not isinstance(value, str) or not 1 <= len(value) <= (field.most or 1000):
                return f"must be text of 1 to {field.most or 1000} characters"
            return f"is one of {', '.join(field.among)}" if field.among and value not in field.among else ""
        case "boolean":
            return "" if isinstance(value, bool) else "must be true or false"
        case "integer" | "number":
            kinds = (int, float) if field.kind == "number" else (int,)
            fits = isinstance(value, kinds) and not isinstance(value, bool) and field.least <= value <= field.most
            return "" if fits else f"must be a number from {field.least} to {field.most}"
        case "object":
            return "" if isinstance(value, Mapping) else "must be an object"
        case "paths":
            if not isinstance(value, Mapping):
                return "must be an object"
            return "" if all(isinstance(one, str) and one for one in value.values()) else "must be an object of paths"
        case "files" | "texts":
            most = field.most or 1000
            fits = isinstance(value, list) and 1 <= len(value) <= MOST_PATHS
            fits = fits and all(isinstance(one, str) and 1 <= len(one) <= most for one in value)
            what = "paths" if field.kind == "files" else f"texts of 1 to {most} characters"
            return "" if fits else f"must be a list of 1 to {MOST_PATHS} {what}"
    number = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    named = isinstance(value, str) and 1 <= len(value) <= 200
    return "" if number or named else "must be the number of a step, from 1, or its id"


def input_schema(tool: Tool) -> dict[str, Any]:
    """JSON Schema, short, because a model reads it with every conversation.

    How long a text and how large a number may be is left out: no model counts characters, and a refusal names the
    limit. Inputs have one `type` each, because some providers of models know no other form.
    """
    required = [field.name for field in tool.inputs if field.required]
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field.name: _property(field) for field in tool.inputs},
        "additionalProperties": False,
    }
    return {**schema, "required": required} if required else schema


def output_schema(tool: Tool) -> dict[str, Any]:
    """Every field is always there. One that names none answers as its command does with `--json`."""
    if not tool.outputs:
        return {"type": "object"}
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
        case "files" | "texts":
            return {"type": "array", "items": {"type": "string"}, **about}
        case "string" if field.among:
            return {"type": "string", "enum": list(field.among), **about}
    return {"type": field.kind, **about}
