"""Toolsets: a client sees the tools of the systems it uses, and hears of those that a start adds."""

from __future__ import annotations

import subprocess

import anyio
import pytest

from holdfast.surfaces import tools
from tests.surfaces.mcp.house import LEGACY, PATIENCE, House, refused, running, told
from tests.surfaces.mcp.meanwhile import Heard, elsewhere

DEFAULT = [
    *("get_workflow_status", "get_next_step", "validate_prerequisites", "approve_step", "update_workflow_state"),
    *("list_workflows", "resume_workflow", "cancel_workflow", "start_workflow", "run_check", "record_work"),
    *("lock_files", "review_step", "get_resume_packet"),
]
SCENE = {"workflow": "generation", "subject": "0204"}


async def names(client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


def test_without_a_toolset_a_client_sees_the_fourteen_tools(house, era):
    async def story() -> list[str]:
        async with house.client(era) as client:
            return await names(client)

    assert running(story) == DEFAULT


@pytest.mark.parametrize("toolset", ["story", "gated,orchestrator", "all"])
def test_a_client_sees_the_toolsets_it_asks_for_and_no_other(house, era, toolset):
    async def story() -> list[str]:
        async with house.client(era, toolset) as client:
            return await names(client)

    found = running(story)
    assert found[:14] == DEFAULT
    own = tools.TOOLSETS if toolset == "all" else toolset.split(",")
    assert set(found[14:]) == {tool.name for name in own for tool in tools.TOOLSETS[name]}


def test_a_toolset_that_is_none_is_refused_with_those_there_are(house):
    made = subprocess.run([*house.command, "--toolset", "storry,all"], capture_output=True, text=True)
    assert made.returncode == 2
    assert "'storry', did you mean story?" in made.stderr
    assert "one of story, skill, orchestrator, compaction, gated, all" in made.stderr


def test_the_server_declares_that_its_list_of_tools_changes(house, era):
    async def story() -> object:
        async with house.client(era) as client:
            return client.server_capabilities.tools

    assert running(story).list_changed is True


def test_a_start_adds_the_tools_of_its_system_and_says_so_before_it_answers(house):
    async def story() -> None:
        heard = Heard()
        async with house.client(LEGACY, message_handler=heard) as client:
            assert "story_session" not in await names(client)
            await told(client, "start_workflow", **SCENE)
            await heard.until("notifications/tools/list_changed")
            assert {tool.name for tool in tools.TOOLSETS["story"]} <= {*await names(client)}
            before = len(heard.methods)
            await told(client, "start_workflow", workflow="generation", subject="0205")
            assert ("notifications/tools/list_changed", "") not in heard.methods[before:]

    house.bench.write("acts/act-1/chapters/chapter-02/scenes/scene-0205-blueprint.md", "# Scene\n")
    running(story)


def test_a_listener_of_the_newer_protocol_hears_of_tools_too(house):
    from mcp.shared.subscriptions import ToolsListChanged

    async def story() -> None:
        async with house.client() as client, client.listen(tools_list_changed=True) as stream:
            await told(client, "start_workflow", **SCENE)
            with anyio.fail_after(PATIENCE):
                assert await anext(stream) == ToolsListChanged()
            assert "story_session" in await names(client)

    running(story)


def test_what_another_process_starts_adds_tools_too(house):
    async def story() -> None:
        heard = Heard()
        async with house.client(LEGACY, message_handler=heard) as client:
            await anyio.to_thread.run_sync(elsewhere, house, "start", "generation", "0204")
            await heard.until("notifications/tools/list_changed")
            assert "get_workflow_metrics" in await names(client)

    running(story)


def test_a_refusal_whose_remedy_is_another_tool_adds_that_tool(house):
    async def story() -> None:
        heard = Heard()
        async with house.client(LEGACY, message_handler=heard) as client:
            error = await refused(client, "start_workflow", **SCENE, session_name="absent")
            assert error["remedy"].startswith("story_session {")
            await heard.until("notifications/tools/list_changed")
            assert "story_session" in await names(client)

    running(story)


def test_active_workflows_count_from_the_start_of_a_server(house: House, era):
    house.bench.open().start("generation", "0204")

    async def story() -> list[str]:
        async with house.client(era) as client:
            return await names(client)

    assert "story_session" in running(story)


def test_with_leases_open_an_agent_passes_its_token_with_every_call(house, era):
    async def story() -> None:
        async with house.client(era, "story") as client:
            started = await told(client, "start_workflow", **SCENE)
            of = {"workflow_id": started["workflow_id"]}
            made = await told(client, "manage_agents", **of, action="start", role="generation-coordinator", step=1)
            begun = {**of, "step": 1, "status": "in_progress"}
            assert (await refused(client, "update_workflow_state", **begun))["code"] == "lease_held"
            assert (await refused(client, "update_workflow_state", **begun, token="x"))["code"] == "bad_lease_token"
            wrong = f"99-{'0' * 32}"
            assert (await refused(client, "update_workflow_state", **begun, token=wrong))["code"] == "fenced"
            token = {"token": made["token"]}
            assert (await told(client, "update_workflow_state", **begun, **token))["success"] is True
            held = await told(client, "inspect_workflow", **of, view="agents")
            assert [one["role"] for one in held["agents"]] == ["generation-coordinator"]
            await told(client, "manage_agents", **of, action="beat", **token)
            await told(client, "manage_agents", **of, action="end", outcome="done", **token)
            assert (await told(client, "inspect_workflow", **of, view="agents"))["agents"] == []

    running(story)
