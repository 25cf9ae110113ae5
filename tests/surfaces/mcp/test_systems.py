"""The tools of each system by a real client: what the command line can do, an agent does without a shell."""

from __future__ import annotations

import json

import pytest

from tests.orchestrated import TASKS
from tests.surfaces.mcp.house import House, refused, running, told


@pytest.fixture
def hall(house) -> House:
    """The same in a repository."""
    house.bench.begun()
    return house


def test_compaction_phases_reading_reminders_and_values(hall, era):
    hall.bench.write("docs/plan.md", "a plan\n")

    async def story() -> None:
        async with hall.client(era, "compaction") as client:
            given = {"workflow": "custom", "subject": "Port", "phases": ["Design", "Build"]}
            of = {"workflow_id": (await told(client, "start_workflow", **given))["workflow_id"]}
            await told(client, "brief_agents", **of, read=["docs/plan.md"], remind=["no rain"])
            await told(client, "change_workflow", **of, action="set", values={"pages": 12})
            packet = (await told(client, "get_resume_packet", **of, limit=20_000))["text"]
            assert "docs/plan.md" in packet
            assert "no rain" in packet
            await told(client, "update_workflow_state", **of, step=1, status="in_progress")
            blocked = await told(client, "change_step", **of, step=1, action="block", reason="no data")
            assert blocked["step"]["status"] == "blocked"
            leading = (await told(client, "get_next_step", **of))["required_action"]
            assert leading.endswith(
                f'change_step {{"workflow_id": "{of["workflow_id"]}", "step": "design", "action": "unblock"}}'
            )
            await told(client, "change_step", **of, step=1, action="unblock")

    running(story)


def test_orchestrator_supervision_iterations_and_commits(hall, era):
    hall.bench.write("docs/task.md", TASKS)
    hall.bench.save()

    async def story() -> None:
        async with hall.client(era, "orchestrator") as client:
            started = await told(client, "start_workflow", workflow="orchestrate", subject="docs/task.md")
            of = {"workflow_id": started["workflow_id"]}
            await told(client, "update_workflow_state", **of, step="plan", status="completed")
            await told(client, "approve_step", **of, step="plan", approved=True)
            task = await told(client, "manage_agents", **of, action="start", role="builder", step="1.1")
            token = {"token": task["token"]}
            await told(client, "update_workflow_state", **of, step="1.1", status="in_progress", **token)
            asked = await told(client, "supervise_task", **of, check_type="pre_task", task="1.1", limit=50_000)
            assert [one["text"] for one in asked["criteria"]] == ["Model updated", "Tests pass"]
            verdict = {"check_type": "pre_task", "task": "1.1", "verdict": "PASS"}
            assert (await told(client, "supervise_task", **of, **verdict, **token))["checks_performed"] == 1
            pattern = {"conflict": "pattern", "severity": "high", "resolution": "renamed it"}
            fixed = {"check_type": "on_demand", "task": "1.1", "verdict": "AUTO_FIX", **pattern}
            await told(client, "supervise_task", **of, **fixed, **token)
            kept = json.loads(hall.bench.read(".claude/agent-state.json"))["supervisor"]["interventions"]
            assert [one["severity"] for one in kept] == ["high"]
            again = {"step": "1.1", "action": "iterate", "reason": "a test fails"}
            assert (await told(client, "change_step", **of, **again, **token))["iteration"] == 2
            hall.bench.write("model.py", "x = 1\n")
            made = await told(client, "commit_work", **of, task="1.1", message="the model", paths=["model.py"], **token)
            assert made["commit"] == hall.bench.head
            assert (await refused(client, "record_milestone", **of, phase="1"))["code"] == "phase_not_done"

    running(story)


def test_gated_from_nothing_to_the_next_phase(hall, era):
    async def story() -> None:
        async with hall.client(era, "gated") as client:
            assert "docs/features.md" in (await told(client, "deliver_feature", action="init"))["made"]
            hall.bench.save()
            of = {
                "workflow_id": (await told(client, "start_workflow", workflow="feature", subject="Export"))[
                    "workflow_id"
                ]
            }
            assert (await told(client, "deliver_feature", **of, action="continue"))["workflow_id"] == of["workflow_id"]
            error = await refused(client, "deliver_feature", **of, action="finalize")
            assert error["code"] in ("gate_unmet", "not_completed")

    running(story)


def test_skill_tasks_that_are_found_on_the_way(hall, era):
    hall.bench.saved_feature()

    async def story() -> None:
        async with hall.client(era, "skill") as client:
            started = await told(client, "start_workflow", workflow="dev", subject="features/auth/user-login.md")
            of = {"workflow_id": started["workflow_id"]}
            await told(client, "change_plan", **of, action="add_task", text="Log out")
            tasks = (await told(client, "inspect_workflow", **of, view="tasks"))["tasks"]
            assert [one["text"] for one in tasks] == ["Add a form", "Log out"]
            error = await refused(client, "change_plan", **of, action="retire", step=tasks[0]["path"])
            assert error["code"] == "person_needed"

    running(story)
