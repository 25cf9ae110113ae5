"""What notes and plans say of a known workflow: they move it, contradict it and are told, and end it only by a word."""

from __future__ import annotations

import json
import time

import pytest

from holdfast.core import queries
from holdfast.core.state import Actor
from holdfast.systems.compaction.upkeep import take_sightings
from holdfast.systems.seam.adoption import adopt_at_once
from tests.project.test_found_notes import RUNS, later, noted, planned, running, seen, standing

NOTES = "CLAUDE.local.md"
HOOK = Actor("hook", "", "hook", "S1")


def begun(house, current=2, total=5, name="Case Studies", **more):
    """A state file of an agent's, known to Holdfast."""
    phase = {"current": current, "total": total, "name": "Build", "status": "in_progress"}
    path = house.account(name, name.lower().replace(" ", "-"), phase=phase, **more)
    adopt_at_once(house.open("human").wired)
    return path


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("3/3 - Last ✅ complete", "3/5 completed"),
        ("5/5 - Deploy (done)", "5/5 in_progress"),
        ("5/5 - Deploy\nStatus: Complete", "5/5 in_progress"),
        ("6/6 - More\nStatus: ✅ Done", "6/6 in_progress"),
        ("4/5 - Test\nStatus: Complete", "4/5 completed"),
    ],
)
def test_notes_end_no_workflow(house, said, shown):
    path = begun(house)
    house.write(NOTES, f"# Workflow State\n\nWorkflow: Case Studies\nPhase: {said}\n")
    later(house, NOTES)
    (state,) = seen(house)
    phase = json.loads(house.read(path))["phase"]
    assert f"{phase['current']}/{phase['total']} {phase['status']}" == shown
    assert any(alert.message.startswith(f"{NOTES} sa") for alert in state.alerts)
    last = state.plan.children("")[-1]
    told = " ".join(alert.message for alert in state.alerts)
    assert ("notes end no workflow" in told) == (said.split(" ")[0] != "4/5")
    if "notes end" in told:
        assert told.endswith(f"holdfast done {last} -w {state.id}")
        assert state.step(last).status in ("pending", "active")


def test_notes_that_began_a_workflow_do_not_end_it_either(house):
    noted(house)
    (state,) = noted(house, "3/3 - Review ✅")
    assert list(standing(state).values()) == ["done", "done", "active"]
    assert "notes end no workflow" in state.alerts[-1].message
    house.open("human").workflow(state.id).done("phase-3")
    assert seen(house) == []


def test_notes_that_say_that_all_is_done_begin_no_workflow(house):
    assert noted(house, "3/3 - Review ✅ complete") == []
    assert house.open("human").wired.store.entries() == []


def test_what_notes_say_against_a_gate_is_told_and_not_taken(house):
    house.write(
        ".holdfast/workflows/gated.toml",
        'name = "gated"\ndialect = "compaction"\ntitle = "{subject}"\n'
        '[[step]]\nid = "plan"\napproval = { by = "human" }\n[[step]]\nid = "build"\n[[step]]\nid = "ship"\n',
    )
    house.open().start("gated", "Case Studies")
    (state,) = noted(house, "3/3 - Ship ✅", "docs/a.md")
    assert (state.step("plan").status in ("pending", "active"), state.reading) == (True, ("@docs/a.md",))
    assert "CLAUDE.local.md says phase 3/3, completed, which was not taken: " in state.alerts[-1].message


def test_what_there_is_no_room_for_is_told_and_the_position_taken(house):
    (first,) = noted(house)
    workflow = house.open("human").workflow(first.id)
    workflow.read_first(*(str(house.write(f"docs/{number}.md", "x")) for number in range(99)))
    later(house, NOTES)
    (state,) = noted(house, "3/3 - Review", *(f"new/{number}.md" for number in range(5)))
    assert (len(state.reading), queries.top_number(state)) == (99, 3)
    assert "which was not taken" in state.alerts[-1].message
