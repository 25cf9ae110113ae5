"""The same tools for every dialect, and every revision of the protocol that hosts still speak."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from tests.surfaces.mcp.house import PATIENCE, House, Person, refused, running, told
from tests.surfaces.mcp.meanwhile import LONG, all_gone, pids
from tests.trusted import trust_file

TASKS = """\
# Task: Greeting
**Plan approval**: relayed

### Phase 1: Words

#### Task 1.1: Greet

- [ ] it greets: `{python} check.py`
"""


@pytest.fixture
def house(house) -> House:
    """In a git repository."""
    house.bench.begun()
    return house


@pytest.mark.parametrize(
    ("workflow", "subject", "dialect"),
    [
        ("dev", "features/auth/user-login.md", "skill"),
        ("generation", "0204", "story"),
        ("implementation", "A feature", "compaction"),
        ("orchestrate", "tasks.md", "orchestrator"),
        ("release", "1.4.0", "skill"),
    ],
)
def test_a_workflow_of_any_dialect_is_started_looked_at_worked_on_and_given_up(house, workflow, subject, dialect):
    house.bench.saved_feature()
    house.bench.write("tasks.md", TASKS)
    house.bench.save()

    async def story() -> None:
        async with house.client() as client:
            begun = await told(client, "start_workflow", workflow=workflow, subject=subject)
            run = {"workflow_id": begun["workflow_id"]}
            begun.pop("said", None)  # about the start, as the new branch of `dev`
            assert begun == await told(client, "get_workflow_status", **run)
            next_step = await told(client, "get_next_step", **run)
            assert next_step["current_step"] == begun["current_step"]
            assert (await told(client, "validate_prerequisites", **run, step=1))["required_steps"] == []
            await told(client, "record_work", **run, note="a decision", cost_usd=0.5)
            packet = await told(client, "get_resume_packet", **run)
            assert run["workflow_id"] in packet["text"]
            document = await client.read_resource(f"holdfast://workflow/{run['workflow_id']}/document")
            assert json.loads(document.contents[0].text)
            assert (await told(client, "list_workflows"))["total"] == 1
            ended = await told(client, "cancel_workflow", **run, reason="enough")
            assert ended["cleanup_performed"] is True

    running(story)
    assert house.bench.open().list()[0].state.dialect == dialect


def test_handing_in_a_task_runs_its_criteria_and_can_be_cancelled(house):
    import sys

    import anyio

    house.bench.write("tasks.md", TASKS.replace("{python}", sys.executable))
    house.bench.write("check.py", "raise SystemExit(1)\n")  # it is also run when the task begins
    house.bench.save()
    person = house.bench.open("human")
    workflow = person.start("orchestrate", str(house.root / "tasks.md"))
    trust_file(person, str(house.root / "tasks.md"))
    run = {"workflow_id": workflow.id}

    async def story() -> None:
        async with house.client(elicitation_callback=Person(decision="approve")) as client:
            at = house.bench.open().workflow(workflow.id)
            if at.state.step("plan").status != "done":
                await told(client, "approve_step", **run, step="plan", approved=True)
            await told(client, "update_workflow_state", **run, step="phase-1/1.1", status="in_progress")
            house.bench.write("check.py", LONG)
            async with anyio.create_task_group() as group:
                given = {**run, "step": "phase-1/1.1", "status": "completed"}
                group.start_soon(client.call_tool, "update_workflow_state", given)
                started = await pids(house)
                group.cancel_scope.cancel()
            await all_gone(started)
            unmet = await refused(client, "run_check", **run, check="nothing")
            assert unmet["code"] == "no_check"

    running(story)
    assert house.step(workflow.id, "phase-1/1.1").status == "active"


class Wire:
    """Messages as they are, line by line."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self.say(method, id=1, **params)
        return json.loads(self.process.stdout.readline())

    def say(self, method: str, id: int | None = None, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": id} if id is not None else {})
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.communicate(timeout=PATIENCE)


@pytest.mark.parametrize("version", HANDSHAKE_PROTOCOL_VERSIONS)
def test_every_older_revision_is_answered_in_its_own(house, version):
    id = house.at("draft")
    wire = Wire(house.command)
    client = {"name": "test", "version": "1"}
    said = wire.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=client)["result"]
    assert said["protocolVersion"] == version
    assert "get_next_step" in said["instructions"]
    wire.say("notifications/initialized")
    tools = wire.ask("tools/list")["result"]["tools"]
    assert {"approve_step", "run_check"} <= {tool["name"] for tool in tools}
    result = wire.ask("tools/call", name="get_workflow_status", arguments={"workflow_id": id})["result"]
    assert json.loads(result["content"][0]["text"])["workflow_id"] == id
    error = wire.ask("tools/call", name="get_workflow_status", arguments={})["result"]
    assert error["isError"] is True
    wire.close()


def test_a_revision_that_nobody_knows_gets_the_newest_that_is_known(house):
    wire = Wire(house.command)
    client = {"name": "test", "version": "1"}
    said = wire.ask("initialize", protocolVersion="1999-01-01", capabilities={}, clientInfo=client)["result"]
    assert said["protocolVersion"] == HANDSHAKE_PROTOCOL_VERSIONS[-1]
    wire.close()
