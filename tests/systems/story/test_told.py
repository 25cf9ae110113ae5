"""What people decided and what a try was refused for reaches the agent, whichever way it asks."""

from __future__ import annotations

import json

import pytest

from tests.systems.story.writing import OF_ACT, PASS, PLANS, PROSE, Writer, failing

SURFACES = {
    "next": ("next",),
    "next --json": ("next", "--json"),
    "status": ("status",),
    "status --json": ("status", "--json"),
    "packet": ("resume-packet",),
    "get_next_step": (),
    "get_workflow_status": (),
}


@pytest.fixture
def writer(tmp_path) -> Writer:
    return Writer(tmp_path / "novel")


def asked(writer: Writer, surface: str) -> str:
    words = SURFACES[surface]
    told = writer.ok(*words, "-w", writer.id).out if words else json.dumps(writer.tool(surface))
    return " ".join(told.split())


def failed(writer: Writer) -> None:
    writer.begin_scene().until(4)
    writer.handed_in(4, "It rained.\n")
    writer.handed_in(5, failing("it rains in line 3", "a dry evening"))


def chosen(writer: Writer) -> None:
    writer.plan(OF_ACT, until=2)
    writer.tool("update_workflow_state", phase=2, status="completed", artifacts=writer.made(2, names=("scenarios",)))
    writer.tool("approve_step", phase=2, approved=True, selected_variant="B", modifications={"ending": "left open"})


def rejected(writer: Writer) -> None:
    writer.plan(OF_ACT, until=2)
    writer.tool("update_workflow_state", phase=2, status="completed", artifacts=writer.made(2, names=("scenarios",)))
    changes = {"feedback": "all three are too kind", "modifications": {"stakes": "twice as high"}}
    writer.tool("approve_step", phase=2, approved=False, **changes)


FACTS = {
    "the variant": (chosen, "B was chosen"),
    "what an approval modified": (chosen, "left open"),
    "what a rejection asked for": (rejected, "all three are too kind"),
    "what a rejection modified": (rejected, "twice as high"),
    "that a rejected file is unchanged": (rejected, "you have not changed scenarios since the rejection"),
    "the violations": (failed, "weather (critical): it rains in line 3; found rain, required none"),
    "the emphasis": (failed, "a dry evening"),
    "that the draft is unchanged": (failed, "you have not changed draft since the last try failed"),
}


@pytest.mark.parametrize("surface", SURFACES)
@pytest.mark.parametrize("fact", FACTS)
def test_every_surface_tells_every_fact(writer, fact, surface):
    play, text = FACTS[fact]
    play(writer)
    told = asked(writer, surface)
    if text == "B was chosen":
        assert text in told or '"variant": "B"' in told
    else:
        assert text in told


def test_draft_that_failed_is_not_handed_in_unchanged(writer):
    failed(writer)
    refusal = writer.refused_hand_in(4, "It rained.\n")
    assert refusal.code == "unchanged"
    assert "you have not changed draft since the last try failed" in refusal.message
    assert refusal.remedy.endswith("holdfast done generation --unchanged REASON")
    same = writer.made(4, "It rained.\n")
    echo = {**same, "compliance_echo": str(writer.write("echo.md", "another echo\n"))}
    assert (
        "you have not changed"
        in writer.refused("update_workflow_state", step=4, status="completed", artifacts=echo).message
    )
    moved = {**same, "draft": str(writer.write("moved.md", "It rained.\n"))}
    assert (
        "you have not changed"
        in writer.refused("update_workflow_state", step=4, status="completed", artifacts=moved).message
    )
    blank = writer.refused("update_workflow_state", step=4, status="completed", artifacts=same, unchanged="REASON")
    assert blank.code == "bad_arguments"
    assert writer.agent("done", "4", "-w", writer.id).code == 3
    writer.handed_in(4, PROSE)
    assert "unchanged" not in writer.tool("get_next_step")


@pytest.mark.parametrize("way", ["tool", "command line", "python"])
def test_work_that_is_right_as_it_is_is_handed_in_with_a_reason_that_others_see(writer, way):
    failed(writer)
    match way:
        case "tool":
            writer.handed_in(4, "It rained.\n", unchanged="the check misread line 3")
        case "command line":
            writer.ok("done", "4", "-w", writer.id, "--unchanged", "the check misread line 3")
        case _:
            writer.open().workflow(writer.id).done("4", unchanged="the check misread line 3")
    for surface in SURFACES:
        assert "generation was handed in unchanged: the check misread line 3" in asked(writer, surface)
    writer.handed_in(5, PASS)


def test_a_reason_for_unchanged_work_has_text(writer):
    failed(writer)
    refusal = writer.refused("update_workflow_state", step=4, status="completed", unchanged=" ")
    assert (refusal.code, refusal.message) == ("bad_text", "the reason for unchanged work has no text")


def test_a_reason_for_unchanged_work_counts_for_one_try(writer):
    failed(writer)
    writer.handed_in(4, "It rained.\n", unchanged="the check misread line 3")
    writer.handed_in(5, failing("it rains in line 3"))
    assert "not changed" in writer.refused_hand_in(4, "It rained.\n").message
    assert "was handed in unchanged" not in str(writer.tool("get_next_step"))


def test_a_draft_that_was_named_again_before_it_is_handed_in_is_no_other_one(writer):
    failed(writer)
    writer.tool("update_workflow_state", step=4, status="in_progress", artifacts=writer.made(4, "It rained.\n"))
    assert "not changed" in writer.refused_hand_in(4, "It rained.\n").message


def test_after_a_person_resumed_the_agent_still_knows_what_failed(writer):
    writer.begin_scene().until(4)
    for number in (1, 2, 3):
        writer.handed_in(4, f"It rained {number} times.\n")
        writer.handed_in(5, failing(f"it rains {number} times", "dry"))
    writer.tool("resume_workflow", kind="human", from_step=4)
    found = writer.tool("get_next_step")
    assert "it rains 3 times" in found["blocking_reason"]
    assert found["emphasis"] == ["dry"]
    assert "not changed" in writer.refused_hand_in(4, "It rained 3 times.\n").message


def test_a_plan_that_was_sent_back_has_to_change(writer):
    rejected(writer)
    files = writer.made(2, names=("scenarios",))
    assert (
        "you have not changed"
        in writer.refused("update_workflow_state", phase=2, status="completed", artifacts=files).message
    )
    files = writer.made(2, "harsher\n", names=("scenarios",))
    writer.tool("update_workflow_state", phase=2, status="completed", artifacts=files)


def test_a_draft_that_failed_once_is_not_taken_as_a_later_try(writer):
    writer.begin_scene().until(4)
    for text in ("It rained.\n", "It poured.\n"):
        writer.handed_in(4, text)
        writer.handed_in(5, failing("it rains"))
    refusal = writer.refused_hand_in(4, "It rained.\n")
    assert (refusal.code, "draft is as in an earlier try that failed" in refusal.message) == ("unchanged", True)
    assert "since the last try failed" in writer.refused_hand_in(4, "It poured.\n").message
    writer.handed_in(4, "It rained.\n", unchanged="the check misread it")


def test_a_plan_that_was_rejected_is_what_has_to_change(writer):
    writer.plan(OF_ACT, until=5)
    writer.write(PLANS["act"], "the plan\n")
    files = writer.made(5, names=("integration_analysis",))
    writer.tool("update_workflow_state", phase=5, status="completed", artifacts=files)
    writer.tool("approve_step", phase=5, approved=False, modifications={"ending": "open"})
    files = writer.made(5, "another analysis\n", names=("integration_analysis",))
    refusal = writer.refused("update_workflow_state", phase=5, status="completed", artifacts=files)
    assert (refusal.code, "you have not changed plan since the rejection" in refusal.message) == ("unchanged", True)
    writer.write(PLANS["act"], "another plan\n")
    writer.tool("update_workflow_state", phase=5, status="completed", artifacts=files)
    assert writer.tool("get_workflow_status")["waiting_for_approval"] is True


def test_a_short_packet_tells_what_to_stress_before_the_context(writer):
    writer.begin_scene().until(4)
    writer.handed_in(4, "It rained.\n")
    writer.handed_in(5, failing("it rains in every line of the scene", "keep it dry", "the tower stays shut"))
    for limit in (1800, 2000, 2500):
        said = writer.ok("resume-packet", "-w", writer.id, "--limit", str(limit)).out
        for text in ("it rains in every line", "keep it dry", "have not changed draft"):
            assert text in said, limit
        assert "{\n>>>" not in said
