"""Whose call it is: a host says which session it is in, and a shell of that session is no stranger to the tools."""

from __future__ import annotations

import subprocess

import pytest
from mcp.types import Implementation

from tests.surfaces.mcp.house import refused, running, told

SESSION = "01a1e344-7818-72b2-984b-d20f5d8d3d67"
OPENCODE = {"client_info": Implementation(name="opencode", version="1.18.33")}


@pytest.mark.parametrize("how", ["beside the arguments", "among the arguments"])
def test_a_call_is_of_the_session_that_the_host_names(house, era, how):
    more = {"_session": SESSION} if how == "among the arguments" else {}
    meta = {} if more else {"threadId": SESSION}

    async def story() -> None:
        async with house.client(era, **(OPENCODE if more else {})) as client:
            made = await client.call_tool(
                "start_workflow", {"workflow": "release", "subject": "1.4", **more}, meta=meta
            )
            assert not made.is_error, made.content

    running(story)
    workflow = house.bench.open().latest()
    assert SESSION in workflow.state.seats


def test_the_shell_and_the_tools_of_one_session_do_not_shut_each_other_out(house, monkeypatch):
    """A session that starts a workflow in its shell holds it; its calls of tools are its own."""
    monkeypatch.setenv("CODEX_THREAD_ID", SESSION)
    words = [*house.command[:3], "start", "release", "1.4"]
    subprocess.run(words, cwd=house.root, check=True, capture_output=True)
    monkeypatch.delenv("CODEX_THREAD_ID")
    id_ = house.bench.open().latest().id
    begun = {"workflow_id": id_, "step": "draft", "status": "in_progress"}

    async def story() -> None:
        async with house.client() as client:
            assert (await refused(client, "update_workflow_state", **begun))["code"] == "lease_held"
        async with house.client(**OPENCODE) as client:
            assert (await told(client, "update_workflow_state", **begun, _session=SESSION))["success"] is True

    running(story)


def test_a_session_among_the_arguments_is_no_argument_where_the_host_is_not_opencode(house, era):
    async def story() -> dict:
        async with house.client(era) as client:
            return await refused(client, "start_workflow", workflow="release", subject="1.4", _session=SESSION)

    assert running(story)["code"] == "bad_arguments"
