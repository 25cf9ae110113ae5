"""Whatever a client sends that fits a tool's schema, or nearly does: an answer that fits, or an error with a remedy."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.surfaces import tools
from tests.surfaces.mcp.house import House, beyond, running, text_of

CALLS = 60
"""How many calls of each tool; every one of them goes through a real server."""
REFUSED = ["code", "message", "remedy", "remedies", "facts"]
FILLED = {
    "verdict": "approved",
    "passed": True,
    "note": "done",
    "reason": "no disk",
    "feedback": "shorter",
    "artifacts": {"draft": "draft.md"},
    "role": "writer",
    "message": "feat: one",
    "name": "chapter-01",
    "path": "draft.md",
    "id": "extra",
    "url": "https://example.org/1",
    "content": "words",
    "read": ["draft.md"],
    "unread": ["draft.md"],
}
"""What an agent puts in place of the blanks of a call."""
WORDS = st.sampled_from(
    [
        "release",
        "draft",
        "verify",
        "look",
        "sign-off",
        "pick",
        "1",
        "9",
        "draft.md",
        "../x",
        "tests",
        "lint",
        "A",
        "",
        " ",
    ]
)
TEXT = WORDS | st.text(max_size=40)
PLAIN = st.none() | st.booleans() | st.integers(-3, 10) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
ANY = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3), max_leaves=6
)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of which most fit a schema, with an odd one among them now and then."""
    if "anyOf" in schema:
        return st.one_of([fitting(one) for one in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"]) | TEXT
    match schema.get("type"):
        case "string":
            return TEXT
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(-2, 12) | st.integers(600, 50_000) | st.integers()
        case "number":
            return st.floats(0, 1_000_000) | st.integers(-5, 5)
        case "array":
            return st.lists(fitting(schema["items"]), max_size=4)
        case "object" if "properties" in schema:
            fields = {name: fitting(one) for name, one in schema["properties"].items()}
            required = {name: fields.pop(name) for name in schema.get("required", ())}
            return st.fixed_dictionaries(required, optional=fields)
        case "object":
            return st.dictionaries(TEXT, fitting(schema.get("additionalProperties") or {}), max_size=3)
    return ANY


def arguments(tool: tools.Tool) -> st.SearchStrategy[dict[str, Any]]:
    schema = tools.input_schema(tool)
    good = fitting(schema)
    known = st.just({"workflow_id": "release"} if "workflow_id" in schema["properties"] else {})
    right = st.tuples(good, known).map(lambda both: {**both[0], **both[1]})
    return right | good | st.dictionaries(st.sampled_from(list(schema["properties"])) | TEXT, ANY, max_size=5)


def drawn(tool: tools.Tool) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    @settings(max_examples=CALLS, suppress_health_check=list(HealthCheck))
    @given(arguments(tool))
    def draw(one: dict[str, Any]) -> None:
        found.append(one)

    draw()
    return found


def odd(tool: tools.Tool, given: dict[str, Any], result: Any) -> str:
    """What is wrong with a result; nothing if it is as it should be."""
    text = text_of(result)
    if "Traceback" in text:
        return text
    if result.is_error:
        error = json.loads(text)["error"]
        if error["code"] == "unexpected":  # the word alone may be what was given
            return text
        complete = list(error) == REFUSED and result.structured_content is None
        if not complete or not all(error[name] for name in ("code", "message", "remedy")):
            return text
        takes_calls(error["remedy"])
        return "" if all(map(is_whole, error["remedies"])) and is_told(error) else text
    said = result.structured_content
    jsonschema.validate(said, tools.output_schema(tool))
    if json.loads(text) != said:
        return text
    if tool.outputs:
        beyond(tool.name, said, tool.outputs)
    small = len(text.encode()) <= 2048 or {"limit", "tail"} & set(given)
    return "" if small else f"{len(text.encode())} bytes"


def is_whole(remedy: dict[str, Any]) -> bool:
    """Whether it says whose it is and what to do, with every blank named; a person's is a command or words."""
    shape = [name for name in ("who", "text", "command", "blanks") if name in remedy]
    command = remedy.get("command", "")
    blanks = [one for one in remedy.get("blanks", ()) if one not in command]
    takes_calls(command)
    own = remedy["who"] != "person" or not command or command.startswith("holdfast ")
    return list(remedy) == shape and all(remedy.values()) and len(shape) > 1 and not blanks and own


def is_told(error: dict[str, Any]) -> bool:
    """Whether the line for an agent is made of what is an agent's, and of nothing that is a person's."""
    line = error["remedy"]
    agents = [one for one in error["remedies"] if one["who"] != "person"]
    peoples = [one["command"] for one in error["remedies"] if one["who"] == "person" and "command" in one]
    return all(one.get("command", one.get("text", "")) in line for one in agents) and not any(
        command in line for command in peoples
    )


def takes_calls(remedy: str) -> None:
    """Every call of a tool in a remedy is one that the tool takes, once its blanks are filled in."""
    for call in re.finditer(r"\b([a-z_]+) (?={)", remedy):
        if call[1] in tools.TOOLS:
            made, _ = json.JSONDecoder().raw_decode(remedy, call.end())
            tools.checked(tools.TOOLS[call[1]], {**made, **{name: FILLED[name] for name in FILLED if name in made}})


@pytest.mark.parametrize("tool", tools.TOOLS.values(), ids=lambda tool: tool.name)
def test_a_tool_takes_whatever_it_is_given(tmp_path, tool):
    house = House(tmp_path / "project")
    house.waiting()
    calls = [*drawn(tool), {"unexpected success": ""}]
    assert len(calls) > CALLS // 2

    async def story() -> list[tuple[dict[str, Any], str]]:
        wrong = []
        async with house.client() as client:
            for one in calls:
                result = await client.call_tool(tool.name, one)
                said = odd(tool, one, result)
                wrong += [(one, said)] if said else []
            still = await client.call_tool("list_workflows", {})
            assert not still.is_error
        return wrong

    assert running(story) == []
    assert not [one for one in house.root.parent.iterdir() if one.name != "project"]
