"""What notes and plans say of a known workflow: they move it, contradict it and are told, and end it only by a word."""

from __future__ import annotations

import json
import time

import pytest

from holdfast.core import queries
from holdfast.errors import Refused
from holdfast.systems.seam.adoption import adopt_at_once
from tests.project.test_found_notes import later, noted, seen, standing

NOTES = "CLAUDE.local.md"


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


# Which workflow a plan is about

BILLING = "CLAUDE/Plan/001-billing/PLAN.md"
PHASES = "## Phase 1: A\n- [x] a\n## Phase 2: B\n- [ ] b\n"


def plan(house, title, status="In Progress", path=BILLING):
    house.write(path, f"# Plan 001: {title}\n\n**Status**: {status}\n\n{PHASES}")
    later(house, path)
    return seen(house)


@pytest.mark.parametrize(
    ("name", "context"),
    [
        ("User Auth", {"plan_number": 1}),
        ("Feature Implementation (User Auth)", {"plan_number": 1, "feature_name": "user-auth"}),
        ("Feature Implementation", {"plan_number": 1, "feature_name": "user-auth"}),
        ("Plan 001: User Auth", {"plan_number": 1}),
    ],
)
def test_a_plan_that_only_has_the_number_of_a_workflow_neither_moves_nor_ends_it(house, name, context):
    path = begun(house, 3, name=name, context=context)
    before = json.loads(house.read(path))["phase"]
    assert [state.title for state in plan(house, "Billing rework")] == [name, "Plan 001: Billing rework"]
    assert [state.title for state in plan(house, "Billing rework", "Complete")] == [name]
    assert json.loads(house.read(path))["phase"] == before


def test_a_workflow_whose_number_another_plan_has_gets_no_twin_of_its_own(house):
    begun(house, 3, name="User Auth", context={"plan_number": 1})
    plan(house, "Billing rework")
    found = plan(house, "User Auth", path="CLAUDE/Plan/001-user-auth/PLAN.md")
    assert [state.title for state in found] == ["User Auth", "Plan 001: Billing rework"]


@pytest.mark.parametrize(
    ("name", "more"),
    [
        ("Billing", {"context": {"plan_number": 1}}),
        ("Rework of bills", {"context": {"plan_number": 1}}),
        ("Feature implementation", {"context": {"plan_number": "001"}}),
        ("Money", {"context": {"plan_number": 1, "feature_name": "billing"}}),
        ("Billing rework", {"context": {}}),
        ("Money", {"context": {"plan_number": 1}, "required_reading": [f"@{BILLING}"]}),
    ],
)
def test_a_plan_with_the_number_and_a_name_that_agrees_is_the_workflow_s_own(house, name, more):
    begun(house, 1, 2, name=name, **more)
    assert [state.title for state in plan(house, "Billing rework")] == [name]
    assert plan(house, "Billing rework", "Complete") == []


def test_a_plan_of_another_number_is_another_one_whatever_its_title(house):
    begun(house, name="Billing rework", context={"plan_number": 2})
    assert len(plan(house, "Billing rework")) == 2


# A plan that was set to complete by mistake


@pytest.mark.parametrize("word", ["Complete", "Cancelled"])
def test_a_plan_that_goes_on_after_all_takes_its_workflow_up_again_with_what_is_known(house, word):
    (first,) = plan(house, "Auth")
    house.open("human").workflow(first.id).remind("never touch prod")
    assert plan(house, "Auth", word) == []
    house.write(BILLING, f"# Plan 001: Auth\n\n**Status**: In Progress\n\n{PHASES}## Phase 3: C\n- [ ] c\n")
    later(house, BILLING, 60)
    (state,) = seen(house)
    assert (state.ulid, state.reminders, queries.top_number(state)) == (first.ulid, ("never touch prod",), 2)
    assert len(state.plan.paths) == 3
    told = [alert.message for alert in house.open("human").workflow(state.id).briefing().alerts]
    assert told == [f"{BILLING} says: In Progress, so {state.id}, which had ended by it, continues"]


def test_what_a_plan_ended_is_resumed_by_command_and_stays_while_the_plan_says_the_same(house):
    (first,) = plan(house, "Auth")
    assert plan(house, "Auth", "Complete") == []
    resumed = house.open().workflow(first.id).resume()
    assert (resumed.status()["status"], queries.top_number(resumed.state)) == ("in_progress", 2)
    assert [state.ulid for state in seen(house)] == [first.ulid]
    assert not any("ended" in alert.message for alert in resumed.briefing().alerts)


def test_what_a_command_finished_is_not_resumed(house):
    (first,) = plan(house, "Auth")
    workflow = house.open("human").workflow(first.id)
    workflow.done("phase-2")
    with pytest.raises(Refused, match="nothing that could be resumed"):
        house.open("human").workflow(first.id).resume()


# Words of a plan that change


def test_a_plan_that_is_blocked_anew_after_somebody_unblocked_it_blocks_with_its_reason(house):
    plan(house, "Auth")
    (state,) = plan(house, "Auth", "On Hold")
    assert queries.status(state) == "blocked"
    house.open("human").workflow(state.id).unblock("phase-2")
    (state,) = plan(house, "Auth", "On Hold")
    assert queries.status(state) == "in_progress"
    house.write(BILLING, f"# Plan 001: Auth\n\n**Status**: Blocked - waiting for DBA\n\n{PHASES}")
    later(house, BILLING, 60)
    (state,) = seen(house)
    assert queries.status(state) == "blocked"
    assert state.step("phase-2").reason == f"{BILLING} says: Blocked - waiting for DBA"


def test_a_plan_that_gives_another_reason_is_blocked_for_that_one(house):
    plan(house, "Auth")
    plan(house, "Auth", "On Hold")
    (state,) = plan(house, "Auth", "Blocked - waiting for DBA")
    assert state.step("phase-2").reason.endswith("waiting for DBA")


def test_what_notes_said_of_another_position_is_told_until_a_phase_moves(house):
    begun(house)
    (state,) = noted(house, "4/5 - Test")
    workflow = house.open("human").workflow(state.id)
    assert any("the newer was taken" in alert.message for alert in workflow.briefing().alerts)
    time.sleep(0.01)
    workflow.done("phase-4")
    assert not any("the newer was taken" in alert.message for alert in workflow.briefing().alerts)


def test_notes_that_begin_a_blocked_workflow_say_why(house):
    house.write(NOTES, "# Workflow State\n\nWorkflow: Job\nPhase: 2/3 - X\nStatus: Blocked - waiting for DBA\n")
    (state,) = seen(house)
    assert queries.status(state) == "blocked"
    assert state.step("phase-2").reason == "CLAUDE.local.md says: Blocked - waiting for DBA"
