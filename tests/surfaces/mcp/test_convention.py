"""The eight tools of the convention, through a real client, in both eras of the protocol."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.surfaces.mcp.house import BLUEPRINT, EXAMPLES, SESSION, House, beyond, running, told

OLD_ID = "generation-scene-0204-20251110-143000"


def wanted(tool: str, id: str) -> dict[str, Any]:
    """What the convention shows, with the id of the run in it."""
    return json.loads(json.dumps(EXAMPLES[tool]["output"]).replace(OLD_ID, id))


def given(tool: str, id: str) -> dict[str, Any]:
    return json.loads(json.dumps(EXAMPLES[tool]["input"]).replace(OLD_ID, id))


def place(id: str, name: str) -> str:
    return f"workspace/sessions/{SESSION}/generation-runs/{id}/{name}"


def file(house: House, id: str, name: str) -> str:
    house.bench.write(place(id, name), "[]\n")
    return place(id, name)


def test_the_eight_examples_go_through_a_client_as_they_stand(house, era):
    house.bench.ok("session", "create", SESSION)

    async def story() -> None:
        async with house.client(era) as client:
            begun = await told(client, "start_workflow", workflow="generation", subject="0204", session_name=SESSION)
            id = begun["workflow_id"]
            for step, name in ((1, ""), (2, "constraints-list.json"), (3, "verification-plan.md")):
                output = {2: "constraints_list", 3: "verification_plan"}.get(step)
                artifacts = {"artifacts": {output: file(house, id, name)}} if output else {}
                await told(client, "update_workflow_state", workflow_id=id, step=step, status="completed", **artifacts)

            status = await told(client, "get_workflow_status", **given("get_workflow_status", id))
            plan = status["artifacts"].pop("verification_plan")
            assert re.fullmatch(r"workspace/.+/verification-plan\.md", plan)
            expected = wanted("get_workflow_status", id)
            del expected["artifacts"]["verification_plan"]
            more = beyond("get_workflow_status", status, expected)
            assert status == {**expected, "workflow_id": id, **more}
            assert more == {
                "finished_percentage": 28,
                "title": "Scene 0204",
                "step": "verification-plan",
                "turn": "person",
                "blockers": ["the approval by a person is needed; an agent may report the decision"],
            }
            following = await told(client, "get_next_step", **given("get_next_step", id))
            expected = wanted("get_next_step", id)
            more = beyond("get_next_step", following, expected)
            assert following == {**expected, **more}
            assert more == {
                "until_decided": "show verification-plan to a person and stop, "
                "or in a shell: holdfast wait --for person",
                "step": "verification-plan",
                "agents": ["verification-planner"],
                "turn": "person",
                "task": {"text": "Create human-readable plan for approval", "file": BLUEPRINT},
                "conditions": [
                    {"kind": "output", "name": "verification_plan", "verdict": "passed"},
                    {"kind": "approval", "name": "approval", "verdict": "waiting"},
                ],
                "inputs": [
                    {
                        "step": "blueprint-validation",
                        "name": "constraints_list",
                        "path": place(id, "constraints-list.json"),
                    }
                ],
                "for_person": [{"who": "person", "command": "holdfast approve verification-plan"}],
            }
            listed = await told(client, "list_workflows", **EXAMPLES["list_workflows"]["input"])
            assert [row.pop("finished_percentage") for row in listed["workflows"]] == [28]
            assert listed == wanted("list_workflows", id)
            assert await told(client, "approve_step", **given("approve_step", id)) == wanted("approve_step", id)
            ready = await told(client, "validate_prerequisites", **given("validate_prerequisites", id))
            assert ready == wanted("validate_prerequisites", id)
            update = given("update_workflow_state", id)
            update["artifacts"] = {"draft": file(house, id, "scene-0204-draft.md")}
            moved = await told(client, "update_workflow_state", **update)
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", moved.pop("updated_at"))
            assert moved == {"success": True, "workflow_id": id}
            assert await told(client, "cancel_workflow", **given("cancel_workflow", id)) == wanted(
                "cancel_workflow", id
            )
            assert await told(client, "resume_workflow", **given("resume_workflow", id)) == wanted(
                "resume_workflow", id
            )

    running(story)
