"""Changes that other processes make reach clients, in both eras; and checks that run long say so and can be ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError

from holdfast.core import lifecycle
from tests.surfaces.mcp.house import LEGACY, PATIENCE, refused, running, told
from tests.surfaces.mcp.meanwhile import LONG, Heard, all_gone, elsewhere, pids


@pytest.mark.filterwarnings("ignore:resources/(un)?subscribe is removed")
def test_a_session_of_the_older_protocol_hears_of_new_workflows_and_of_those_it_subscribed_to(house):
    id = house.at("draft")
    plan = f"holdfast://workflow/{id}/plan"

    async def story() -> None:
        heard = Heard()
        async with house.client(LEGACY, message_handler=heard) as client:
            await client.session.subscribe_resource(plan)
            await anyio.to_thread.run_sync(elsewhere, house, "note", "a decision", "-w", id)
            await heard.until("notifications/resources/updated", plan)
            await anyio.to_thread.run_sync(elsewhere, house, "start", "release", "2.0.0")
            await heard.until("notifications/resources/list_changed")
            await client.session.unsubscribe_resource(plan)
            others = {uri for method, uri in heard.methods if method == "notifications/resources/updated"}
            assert others == {plan}

    running(story)


def test_a_listener_of_the_newer_protocol_hears_what_it_asked_for(house):
    from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

    id = house.at("draft")
    log = f"holdfast://workflow/{id}/log"

    async def story() -> None:
        asked = {"resources_list_changed": True, "resource_subscriptions": [log]}
        async with house.client() as client, client.listen(**asked) as stream:
            await anyio.to_thread.run_sync(elsewhere, house, "note", "a decision", "-w", id)
            with anyio.fail_after(PATIENCE):
                assert await anext(stream) == ResourceUpdated(log)
                await anyio.to_thread.run_sync(elsewhere, house, "start", "release", "2.0.0")
                while await anext(stream) != ResourcesListChanged():
                    pass

    running(story)


def test_a_check_that_runs_long_tells_how_it_goes(house, era):
    house.bench.write("check.py", "import time\nprint('warming up', flush=True)\ntime.sleep(2.5)\nprint('done')\n")
    id = house.at("verify")
    seen: list[tuple[float, float | None, str | None]] = []

    async def progress(at: float, total: float | None, message: str | None) -> None:
        seen.append((at, total, message))

    async def story() -> Any:
        async with house.client(era) as client:
            given = {"workflow_id": id, "check": "tests"}
            return await client.call_tool("run_check", given, progress_callback=progress)

    result = running(story)
    assert result.structured_content["passed"] is True
    assert result.structured_content["run_by"] == "engine"
    assert [at for at, _, _ in seen] == sorted({at for at, _, _ in seen})
    assert {total for _, total, _ in seen} == {600}
    assert "warming up" in {message for _, _, message in seen}


def test_a_cancelled_check_ends_with_everything_it_started_and_records_nothing(house, era):
    house.bench.write("check.py", LONG)
    id = house.at("verify")

    async def story() -> None:
        async with house.client(era) as client:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "run_check", {"workflow_id": id, "check": "tests"})
                started = await pids(house)
                group.cancel_scope.cancel()
            await all_gone(started)
            assert (await told(client, "get_workflow_status", workflow_id=id))["current_step"] == 2

    running(story)
    assert house.step(id, "verify").evidence == {}
    assert house.step(id, "verify").status == lifecycle.ACTIVE


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_server_that_is_told_to_end_ends_its_checks_first(house, number):
    house.bench.write("check.py", LONG)
    id = house.at("verify")

    async def story() -> None:
        async with house.client_of(house.command) as client:
            mine = [int(pid) for pid in children(os.getpid())]
            async with anyio.create_task_group() as group:
                group.start_soon(_call, client, id)
                started = await pids(house)
                (server,) = mine
                os.kill(server, number)
                await all_gone([*started, server])
                group.cancel_scope.cancel()

    running(story)


async def _call(client: Any, id: str) -> None:
    try:
        await client.call_tool("run_check", {"workflow_id": id, "check": "tests"})
    except (MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError):
        pass


def children(pid: int) -> list[str]:
    out = subprocess.run(["pgrep", "-P", str(pid), "-f", "holdfast mcp"], capture_output=True, text=True)
    return out.stdout.split()


def test_a_server_whose_host_is_gone_ends(house):
    process = subprocess.Popen(house.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.communicate(b"", timeout=PATIENCE)
    assert (process.returncode, out, err) == (0, b"", b"")


def test_what_is_no_message_is_answered_or_passed_over_and_never_a_traceback(house):
    lines = b'{"broken\n[]\n{}\n{"jsonrpc":"2.0","id":1,"method":"nothing"}\n\xff\xfe\n'
    process = subprocess.Popen(house.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    _, err = process.communicate(lines, timeout=PATIENCE)
    assert process.returncode == 0
    assert b"Traceback" not in err


def test_a_check_that_nobody_trusted_is_not_run(house):
    house.bench.write("check.py", LONG)
    workflow = house.bench.open().start("release", "1.4.0")
    draft = str(house.bench.write("draft.md", "x"))
    workflow.begin("draft").done("draft", {"draft": draft}).begin("verify")

    async def story() -> dict:
        async with house.client() as client:
            return await refused(client, "run_check", workflow_id=workflow.id, check="tests")

    error = running(story)
    assert error["code"] == "untrusted"
    assert error["remedy"] == "show this to a person and stop"
    assert error["remedies"][1]["command"].endswith("holdfast trust release")
    assert not (house.root / "pids").exists()


def test_what_hooks_noted_while_the_server_runs_is_there_for_the_next_call(house):
    """A hook only notes in passing; whoever comes next writes it into the journal, and that may be the server."""
    id = house.at("draft")
    event = {"session_id": "s1", "transcript_path": "/t", "cwd": str(house.root), "hook_event_name": "SessionEnd"}

    async def story() -> None:
        async with house.client() as client:
            await told(client, "get_workflow_status", workflow_id=id)
            words = [sys.executable, "-m", "holdfast", "hook"]
            subprocess.run(words, cwd=house.root, input=json.dumps(event).encode(), check=True)
            assert (house.root / ".holdfast" / "inbox").stat().st_size
            await told(client, "get_workflow_status", workflow_id=id)

    running(story)
    left = [path for path in (house.root / ".holdfast").glob("inbox*") if path.stat().st_size]
    assert left == []
