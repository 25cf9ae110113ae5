"""Whatever a client sends that fits a tool's schema, or nearly does: an answer that fits, or an error with a remedy."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.surfaces import tools
from tests.surfaces.mcp.house import House, running, text_of

CALLS = 60
"""How many calls of each tool; every one of them goes through a real server."""
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
            return st.integers(schema.get("minimum", -2), schema.get("maximum", 12)) | st.integers()
        case "number":
            return st.floats(schema["minimum"], schema["maximum"]) | st.integers(-5, 5)
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
    if "Traceback" in text or "unexpected" in text:
        return text
    if result.is_error:
        error = json.loads(text)["error"]
        complete = set(error) - {"for_person"} == {"code", "message", "remedy", "facts"} and all(
            error[name] for name in ("code", "message")
        )
        complete = complete and bool(error["remedy"]) and result.structured_content is None
        return "" if complete and callable_(error["remedy"]) else text
    jsonschema.validate(result.structured_content, tools.output_schema(tool))
    if not set(result.structured_content) >= set(tool.outputs) or json.loads(text) != result.structured_content:
        return text
    small = len(text.encode()) <= 2048 or {"limit", "tail"} & set(given)
    return "" if small else f"{len(text.encode())} bytes"


def callable_(remedy: str) -> bool:
    """Whether a remedy that is the call of a tool is one that the tool takes, once its placeholders are filled in."""
    name, _, given = remedy.partition(" ")
    if name not in tools.TOOLS or not given.startswith("{"):
        return True
    filled = json.loads(given.partition("}, ")[0] + ("}" if "}, " in given else ""))
    filled.update({name: value for name, value in {"verdict": "approved", "passed": True}.items() if name in filled})
    return bool(tools.checked(tools.TOOLS[name], filled) or filled == {})


@pytest.mark.parametrize("tool", tools.TOOLS.values(), ids=lambda tool: tool.name)
def test_a_tool_takes_whatever_it_is_given(tmp_path, tool):
    house = House(tmp_path / "project")
    house.waiting()
    calls = drawn(tool)
    assert len(calls) >= CALLS // 2

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
