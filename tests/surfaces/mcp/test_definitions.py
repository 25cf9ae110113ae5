"""What the server says of itself: few words, true ones, the same over every wire."""

from __future__ import annotations

import json

import jsonschema  # type: ignore[import-untyped]
import pytest

from holdfast.surfaces import tools
from tests.surfaces.mcp import programs
from tests.surfaces.mcp.house import EXAMPLES, LEGACY, running

MOST_TOKENS = {"": 2500, **dict.fromkeys(tools.TOOLSETS, 3500)}
"""Of the default set, and of it together with the tools of one system."""


@pytest.mark.parametrize("toolset", MOST_TOKENS)
def test_the_definitions_of_tools_that_a_client_sees_together_have_few_tokens(house, era, toolset):
    async def story() -> str:
        async with house.client(era, toolset) as client:
            listed = await client.list_tools()
            found = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]
            return json.dumps(found, ensure_ascii=False, separators=(",", ":"))

    text = running(story)
    assert len(json.loads(text)) == len(tools.listed([toolset] if toolset else []))
    assert programs.tokens("hello world") == 2
    assert programs.tokens(text) <= MOST_TOKENS[toolset]


def test_a_client_is_told_in_ten_lines_how_to_work(house, era):
    async def story() -> str:
        async with house.client(era) as client:
            return client.instructions or ""

    said = running(story)
    numbered = [line for line in said.splitlines() if line[0].isdigit()]
    assert len(numbered) == 10
    assert len(said.encode()) <= 2048
    for name in ("get_next_step", "get_resume_packet", "approve_step", "run_check"):
        assert name in said


@pytest.mark.parametrize("tool", tools.TOOLS.values(), ids=lambda tool: tool.name)
def test_the_schemas_of_a_tool_are_schemas(tool):
    for schema in (tools.input_schema(tool), tools.output_schema(tool)):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_the_convention_fit_the_schemas(name):
    tool = tools.TOOLS[name]
    jsonschema.validate(EXAMPLES[name]["input"], tools.input_schema(tool))
    jsonschema.validate(EXAMPLES[name]["output"], tools.output_schema(tool))


def test_annotations_and_titles_say_what_a_tool_may_do(house):
    async def story() -> dict:
        async with house.client(toolset="all") as client:
            return {tool.name: tool for tool in (await client.list_tools()).tools}

    found = running(story)
    assert {*found} == {*tools.TOOLS}
    assert all(tool.title for tool in found.values())
    reading = {name for name, tool in found.items() if tool.annotations.read_only_hint}
    assert reading == {
        *("get_workflow_status", "get_next_step", "validate_prerequisites", "list_workflows"),
        *("inspect_workflow", "get_workflow_metrics"),
    }
    destroying = {name for name, tool in found.items() if tool.annotations.destructive_hint}
    assert destroying == {"cancel_workflow", "story_session", "deliver_feature"}
    outside = {name for name, tool in found.items() if tool.annotations.open_world_hint}
    assert outside == {"run_check", "commit_work", "record_milestone", "deliver_feature"}


def test_the_server_names_itself_and_its_version(house, era):
    import holdfast

    async def story() -> tuple[str, str, str]:
        async with house.client(era) as client:
            info = client.server_info
            return info.name, info.version, client.protocol_version

    newest = "2025-11-25" if era == LEGACY else "2026-07-28"
    assert running(story) == ("holdfast", holdfast.__version__, newest)
