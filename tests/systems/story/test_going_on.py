"""What is advised where a scene is still, and how its tries are counted: the same on every surface."""

from __future__ import annotations

import json

import pytest

from tests.systems.story.writing import Writer, failing


@pytest.fixture
def writer(tmp_path) -> Writer:
    return Writer(tmp_path / "novel").begin_scene().until(4)


def fail(writer, *drafts):
    """Hands in each draft, which fails the fast check."""
    for draft in drafts:
        writer.handed_in(4, draft)
        writer.handed_in(5, failing(f"{draft} is short"))


def tries(writer):
    """The number of the try, and of the last one that there may be, as each surface says it."""
    packet = writer.tool("get_resume_packet")["text"].splitlines()
    document = json.loads(writer.ok("show").out)["generation"]["steps"][3]["attempts"]
    found = {
        "get_next_step": writer.tool("get_next_step").get("try", ""),
        "packet": next((line.lower() for line in packet if line.startswith("Try ")), ""),
        "next": " ".join(writer.ok("next").out.splitlines()[0].split()[-4:]),
        "document": f"try {document['current']} of {document['max']}",
    }
    assert len(set(found.values())) == 1, found
    return found["document"]


def test_tries_are_counted_alike_after_a_person_gives_more(writer):
    fail(writer, "one", "two", "three")
    assert tries(writer) == "try 3 of 3"
    assert "try 4" not in writer.ok("status").out
    writer.tool("resume_workflow", kind="human", from_step=4)
    assert tries(writer) == "try 4 of 6"
    writer.handed_in(4, "four")
    writer.tool("update_workflow_state", step=5, status="in_progress")
    assert tries(writer) == "try 4 of 6"
    writer.handed_in(5, failing("four is short"))
    assert tries(writer) == "try 5 of 6"
    fail(writer, "five")
    assert tries(writer) == "try 6 of 6"


def test_a_cancelled_run_says_why(writer):
    writer.tool("cancel_workflow", reason="the scene is cut")
    assert writer.tool("get_next_step")["blocking_reason"] == "the workflow is cancelled: the scene is cut"
    status = writer.ok("status", "-w", writer.id).out
    assert "Now     the workflow is cancelled: the scene is cut" in status
    assert "the scene is cut" in writer.refused("update_workflow_state", step=4, status="in_progress").message


def test_what_is_used_up_and_cancelled_is_a_persons_to_resume_by_what_is_advised(writer):
    fail(writer, "one", "two", "three")
    writer.tool("cancel_workflow", reason="enough")
    said = writer.tool("get_next_step")
    assert said["required_action"].startswith("show this to a person and stop")
    assert "resume_workflow" not in said["required_action"]
    (way,) = [one["command"] for one in said["for_person"]]
    assert way.startswith("holdfast resume --from generation")
    for surface in ("next", "status"):
        assert way in writer.ok(surface, "-w", writer.id).out
    assert writer.refused("resume_workflow").code == "person_needed"
    assert writer.refused("resume_workflow", from_step=4).code == "person_needed"
    assert writer.person(*way.split()[1:]).code == 0
    assert writer.tool("get_next_step")["current_step"] == 4


def test_a_step_that_another_agent_holds_cannot_be_gone_on_with_without_its_token(writer):
    token = writer.tool("manage_agents", action="start", role="prose-writer", step=4)["token"]
    said = writer.tool("get_next_step")
    assert not said["can_proceed"]
    assert said["turn"] == "nobody"
    assert "prose-writer is at work here" in said["blocking_reason"]
    assert "token" in said["required_action"]
    refusal = writer.refused("update_workflow_state", step=4, status="in_progress")
    assert refusal.code == "lease_held"
    assert "token" in refusal.remedy
    assert writer.tool("get_next_step", token=token)["can_proceed"]
    assert writer.tool("update_workflow_state", step=4, status="in_progress", token=token)["success"]


def test_a_lease_of_another_step_keeps_nobody_from_this_one(writer):
    writer.tool("manage_agents", action="start", role="checker", step=6)
    assert writer.tool("get_next_step")["can_proceed"]
