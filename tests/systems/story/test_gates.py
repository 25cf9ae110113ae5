"""The gates of plans and scenes: what is approved is there as a file, and what is built on has to hold."""

from __future__ import annotations

import pytest

from holdfast.errors import HoldfastError, Refused
from tests.systems.story.writing import (
    BLUEPRINT,
    CONSTRAINED,
    OF_ACT,
    OF_CHAPTER,
    OF_SCENE,
    PASS,
    PLANS,
    PROSE,
    REPORT,
    Writer,
    failing,
)


@pytest.fixture
def writer(tmp_path) -> Writer:
    return Writer(tmp_path / "novel")


def test_the_last_phase_is_not_handed_in_without_the_plan_at_its_place(writer):
    writer.plan(OF_ACT, until=5)
    files = writer.made(5, names=("integration_analysis",))
    refusal = writer.refused("update_workflow_state", phase=5, status="completed", artifacts=files)
    assert refusal.code == "no_plan"
    assert f"write {PLANS['act']}" in refusal.remedy
    writer.write(PLANS["act"], " \n")
    assert "is empty" in writer.refused("update_workflow_state", phase=5, status="completed", artifacts=files).message
    elsewhere = {**files, "plan": str(writer.write("plan.md", "the plan"))}
    refusal = writer.refused("update_workflow_state", phase=5, status="completed", artifacts=elsewhere)
    assert (refusal.code, refusal.facts["path"]) == ("plan_elsewhere", PLANS["act"])
    writer.write(PLANS["act"], "the plan\n")
    writer.tool("update_workflow_state", phase=5, status="completed", artifacts=files)
    assert writer.tool("get_workflow_status")["artifacts"]["plan"] == PLANS["act"]


def test_the_next_step_names_the_file_of_the_plan(writer):
    writer.plan(OF_ACT, until=5)
    assert writer.tool("get_next_step")["task"]["files"] == [PLANS["act"]]


def test_a_plan_that_an_edit_of_the_document_hands_in_is_there_too(writer):
    writer.plan(OF_ACT, until=5)
    files = writer.made(5, names=("integration_analysis",))
    writer.tool("update_workflow_state", phase=5, status="in_progress", artifacts=files)
    path = f"workspace/workflow-state/{writer.id}.json"
    before, _, last = writer.read(path).rpartition('"in_progress"')
    writer.write(path, f'{before}"waiting_approval"{last}')
    assert writer.tool("get_workflow_status")["waiting_for_approval"] is False
    assert "'plan' is not named" in str(writer.tool("get_workflow_status")["blockers"])


def test_what_is_approved_is_the_plan_as_it_lies_there(writer):
    writer.plan(OF_ACT)
    act = writer.id
    writer.write(PLANS["act"], "another plan\n")
    with pytest.raises(Refused) as refused:
        writer.begin("story/planning", context=OF_CHAPTER)
    assert refused.value.code == "parent_not_approved"
    assert "has changed, and is not approved any more" in refused.value.message
    assert "holdfast approve integration" in " ".join(writer.scoped(refused.value))
    (writer.root / PLANS["act"]).unlink()
    with pytest.raises(Refused) as refused:
        writer.begin("story/planning", context=OF_CHAPTER)
    assert PLANS["act"] in refused.value.remedy
    writer.write(PLANS["act"], "another plan\n")
    writer.id = act
    writer.tool("approve_step", phase=5, approved=True)
    writer.begin("story/planning", context=OF_CHAPTER)


def test_a_parent_that_needs_revalidation_is_reported_as_that_with_what_helps(writer):
    writer.plan(OF_ACT)
    act = writer.id
    writer.plan(OF_CHAPTER)
    chapter = writer.id
    writer.write(PLANS["act"], "another plan\n")

    def refused() -> HoldfastError:
        with pytest.raises(Refused) as refusal:
            writer.begin("story/planning", context=OF_SCENE)
        assert refusal.value.code == "parent_requires_revalidation"
        assert "the plan of chapter-02 requires revalidation itself" in refusal.value.message
        return refusal.value

    assert f"holdfast approve integration -w {act}" in " ".join(writer.scoped(refused()))
    writer.id = act
    writer.tool("approve_step", phase=5, approved=True)
    assert f"holdfast revalidate -w {chapter}" in " ".join(writer.scoped(refused()))
    writer.ok("revalidate", "-w", chapter)
    writer.begin("story/planning", context=OF_SCENE)


def test_a_plan_whose_parent_needs_revalidation_says_what_helps_first(writer):
    writer.planned(OF_ACT, OF_CHAPTER)
    chapter = writer.id
    writer.begin("story/planning", context=OF_SCENE)
    writer.write(PLANS["act"], "another plan\n")
    refusal = writer.refused("update_workflow_state", phase=1, status="in_progress")
    assert refusal.code == "requires_revalidation"
    assert "holdfast approve integration -w planning-act-1-" in " ".join(writer.scoped(refusal))
    act = writer.open().list(type="planning", status="completed")
    writer.id, scene = next(one.id for one in act if "act" in one.id), writer.id
    writer.tool("approve_step", phase=5, approved=True)
    writer.id = scene
    refusal = writer.refused("update_workflow_state", phase=1, status="in_progress")
    assert f"holdfast revalidate -w {chapter}" in " ".join(writer.scoped(refusal))


def test_a_scene_without_a_planning_run_is_not_refused(writer):
    writer.begin_scene().until(8)
    assert writer.tool("get_workflow_status")["status"] == "completed"


def test_a_scene_waits_for_its_plan(writer):
    writer.planned(OF_ACT, OF_CHAPTER).plan(OF_SCENE, until=3)
    plan = writer.id
    writer.begin_scene()
    for answer in (writer.tool("get_next_step"), writer.tool("get_workflow_status")):
        assert f"{plan} is at Path Planning" in str(answer)
    assert writer.tool("get_next_step")["can_proceed"] is False
    refusal = writer.refused("update_workflow_state", step=1, status="in_progress")
    assert (refusal.code, refusal.facts["unmet"][0]) == ("ground_unmet", "plan")
    assert f"holdfast next -w {plan}" in " ".join(writer.scoped(refusal))


def test_an_agent_that_cancels_a_plan_is_still_held_to_it(writer):
    writer.planned(OF_ACT, OF_CHAPTER).plan(OF_SCENE, until=5)
    files = writer.made(5, names=("integration_analysis",))
    writer.write(BLUEPRINT, CONSTRAINED)
    writer.tool("update_workflow_state", phase=5, status="completed", artifacts=files)
    writer.tool("approve_step", phase=5, approved=False, modifications={"ending": "open"})
    plan = writer.id
    writer.begin_scene()
    scene = writer.id
    assert writer.refused_hand_in(1).code == "ground_unmet"
    writer.tool("cancel_workflow", workflow_id=plan)
    refusal = writer.refused_hand_in(1)
    assert (refusal.code, refusal.facts["unmet"]) == ("ground_unmet", ["plan"])
    ways = " ".join(writer.scoped(refusal))
    assert f"holdfast resume -w {plan}" in ways
    assert f"holdfast cancel {plan}" in ways
    writer.tool("cancel_workflow", workflow_id=plan)
    writer.refused_hand_in(1)
    assert writer.person("cancel", plan).code == 0
    writer.id = scene
    writer.until(3)


def test_a_plan_that_a_person_cancels_holds_nobody_up(writer):
    writer.planned(OF_ACT, OF_CHAPTER).plan(OF_SCENE, until=3)
    writer.tool("cancel_workflow", kind="human")
    writer.begin_scene().until(3)


def test_a_plan_that_was_approved_once_outweighs_one_that_was_cancelled(writer):
    writer.planned().begin("story/planning", context=OF_SCENE)
    writer.tool("cancel_workflow")
    writer.begin("generation", subject="0204").until(3)


def test_in_a_session_a_scene_is_held_to_the_blueprint_that_was_approved(writer):
    writer.planned()
    writer.ok("session", "create", "s")
    own = f"workspace/sessions/s/{BLUEPRINT}"
    writer.write(own, CONSTRAINED.replace("no rain", "no snow"))
    writer.begin("generation", "s", subject="0204")
    refusal = writer.refused_hand_in(1)
    assert (refusal.code, refusal.facts["unmet"]) == ("ground_unmet", ["plan"])
    assert own in refusal.message
    assert f"holdfast session drop {BLUEPRINT} --session s" in writer.scoped(refusal)[0]
    writer.ok("session", "drop", BLUEPRINT, "--session", "s")
    writer.until(4)
    writer.write(own, CONSTRAINED.replace("no rain", "no snow"))
    assert writer.refused("update_workflow_state", step=4, status="in_progress").facts["unmet"] == ["plan", "blueprint"]
    assert own in writer.tool("get_next_step")["blocking_reason"]


def test_a_plan_that_is_approved_in_the_session_lets_its_blueprint_be_used(writer):
    writer.planned()
    writer.ok("session", "create", "s")
    own = f"workspace/sessions/s/{BLUEPRINT}"
    writer.write(own, CONSTRAINED.replace("no rain", "no snow"))
    writer.begin("generation", "s", subject="0204")
    scene = writer.id
    way = next(one for one in writer.scoped(writer.refused_hand_in(1)) if "start story/planning" in one)
    assert "--session s" in way
    writer.plan(OF_SCENE, "s")
    writer.id = scene
    writer.until(4)
    writer.write(own, CONSTRAINED)
    writer.refused_hand_in(4)


@pytest.mark.parametrize("level", ["act", "chapter"])
def test_in_a_session_a_plan_builds_on_the_plan_that_was_approved(writer, level):
    child = {"act": OF_CHAPTER, "chapter": OF_SCENE}[level]
    writer.planned(*{"act": (OF_ACT,), "chapter": (OF_ACT, OF_CHAPTER)}[level])
    writer.ok("session", "create", "s")
    own = f"workspace/sessions/s/{PLANS[level]}"
    writer.write(own, "another plan\n")
    with pytest.raises(Refused) as refused:
        writer.begin("story/planning", "s", context=child)
    assert (refused.value.code, own in refused.value.message) == ("parent_not_approved", True)
    drop = writer.scoped(refused.value)[0]
    assert drop.endswith(f"holdfast session drop {PLANS[level]} --session s")
    writer.ok("session", "drop", PLANS[level], "--session", "s")
    writer.begin("story/planning", "s", context=child)
    writer.write(own, "another plan\n")
    refusal = writer.refused("update_workflow_state", phase=1, status="in_progress")
    assert (refusal.code, own in refusal.message) == ("ground_unmet", True)
    writer.ok("session", "drop", PLANS[level], "--session", "s")
    writer.tool("update_workflow_state", phase=1, status="in_progress")


def test_a_blueprint_that_is_named_is_held_to_the_plan_too(writer):
    writer.planned().begin("generation", subject="0204")
    writer.write("notes/another.md", CONSTRAINED.replace("no rain", "no snow"))
    writer.tool("update_workflow_state", step=1, status="completed", artifacts={"blueprint_path": "notes/another.md"})
    refusal = writer.refused_hand_in(2)
    assert (refusal.code, refusal.facts["unmet"]) == ("ground_unmet", ["plan"])
    assert "holdfast reopen file-check" in writer.scoped(refusal)[0]
    writer.ok("reopen", "file-check", "-w", writer.id)
    writer.until(4)


def test_where_the_blueprint_changed_nobody_is_told_to_approve(writer):
    writer.begin_scene().until(3)
    writer.handed_in(3)
    said = writer.tool("get_next_step")
    assert said["required_action"] == "User must approve or modify verification plan"
    writer.write(BLUEPRINT, CONSTRAINED.replace("no rain", "no snow"))
    said = writer.tool("get_next_step")
    assert "has changed since it was validated" in said["blocking_reason"]
    assert "approve" not in said["required_action"]
    assert "blueprint-validation" in said["required_action"]
    asked = writer.tool("validate_prerequisites", step=4)
    assert (asked["prerequisites_met"], BLUEPRINT in str(asked["blocking_issues"])) == (False, True)
    assert writer.refused("approve_step", step=3, approved=True).code == "ground_unmet"


@pytest.mark.parametrize("change", ["another", "gone"])
@pytest.mark.parametrize("step", [5, 6, 7])
def test_what_is_checked_is_the_draft_that_was_handed_in(writer, step, change):
    writer.begin_scene().until(step)
    draft = writer.root / f"workspace/runs/{writer.id}/draft"
    if change == "gone":
        draft.unlink()
    else:
        draft.write_text("It rained on the tower.\n")
    refusal = writer.refused_hand_in(step, {5: PASS, 6: REPORT}.get(step, "words\n"))
    assert (refusal.code, refusal.facts["unmet"]) == ("ground_unmet", ["draft"])
    assert "the draft" in writer.tool("get_next_step")["blocking_reason"]
    assert writer.tool("get_next_step")["can_proceed"] is False
    draft.write_text("It rained on the tower.\n")
    writer.ok("reopen", "generation", "-w", writer.id)
    for again in range(4, 8):
        writer.handed_in(again, {4: PROSE, 5: PASS, 6: REPORT}.get(again, "words\n"))
    assert writer.tool("get_workflow_status")["status"] == "completed"


def test_a_warning_about_plans_says_nothing_of_the_draft(writer):
    writer.begin_scene().until(6)
    writer.write(".holdfast/config.toml", '[story]\nplan = "warn"\n')
    writer.person("trust", ".holdfast/config.toml", "--yes")
    writer.write(f"workspace/runs/{writer.id}/draft", "It rained on the tower.\n")
    assert writer.refused_hand_in(6, REPORT).facts["unmet"] == ["draft"]


@pytest.mark.parametrize(("step", "name"), [(2, "constraints_list"), (4, "draft"), (7, "scene_content")])
def test_an_output_of_a_scene_has_text(writer, step, name):
    writer.begin_scene().until(step)
    files = writer.made(step)
    writer.write(f"workspace/runs/{writer.id}/{name}", " \n")
    refusal = writer.refused("update_workflow_state", step=step, status="completed", artifacts=files)
    assert (refusal.code, f"the output {name!r} is empty" in refusal.message) == ("gate_unmet", True)
    assert f"write workspace/runs/{writer.id}/{name}, then: holdfast done" in refusal.remedy
    writer.handed_in(step, PROSE)


def test_a_scene_stops_when_its_blueprint_is_not_what_was_approved(writer):
    writer.planned()
    plan = writer.id
    writer.begin("generation", subject="0204").until(4)
    writer.write(BLUEPRINT, CONSTRAINED.replace("no rain", "no snow"))
    refusal = writer.refused("update_workflow_state", step=4, status="in_progress")
    assert (refusal.code, refusal.facts["unmet"][0]) == ("ground_unmet", "plan")
    assert f"holdfast approve integration -w {plan}" in " ".join(writer.scoped(refusal))
    scene, writer.id = writer.id, plan
    writer.tool("approve_step", phase=5, approved=True)
    writer.id = scene
    refusal = writer.refused("update_workflow_state", step=4, status="in_progress")
    assert (refusal.code, refusal.facts["unmet"]) == ("ground_unmet", ["blueprint"])
    writer.ok("reopen", "2", "-w", scene)
    writer.handed_in(2)
    writer.handed_in(3, "another plan of the check\n")
    writer.tool("approve_step", step=3, approved=True)
    writer.handed_in(4, PROSE)


@pytest.mark.parametrize("step", [3, 4, 5, 6, 7])
def test_from_its_validation_on_the_blueprint_stays_as_it_is(writer, step):
    writer.begin_scene().until(step)
    writer.write(BLUEPRINT, CONSTRAINED.replace("no rain", "no snow"))
    refusal = writer.refused_hand_in(step, {5: PASS, 6: REPORT}.get(step, "words\n"))
    assert (refusal.code, BLUEPRINT in refusal.message) == ("ground_unmet", True)
    assert BLUEPRINT in writer.tool("get_next_step")["blocking_reason"]
    (writer.root / BLUEPRINT).unlink()
    assert "is not there any more" in writer.tool("get_next_step")["blocking_reason"]
    writer.write(BLUEPRINT, CONSTRAINED)
    writer.handed_in(step, {5: PASS, 6: REPORT}.get(step, "words\n"))


def test_a_session_that_changes_its_copy_of_the_blueprint_has_another_blueprint(writer):
    writer.ok("session", "create", "s")
    writer.begin_scene("s").until(4)
    writer.write(f"workspace/sessions/s/{BLUEPRINT}", CONSTRAINED)
    writer.tool("update_workflow_state", step=4, status="in_progress")
    writer.write(f"workspace/sessions/s/{BLUEPRINT}", CONSTRAINED.replace("no rain", "no snow"))
    assert writer.refused_hand_in(4).facts["unmet"] == ["blueprint"]


@pytest.mark.parametrize("is_planned", [False, True])
def test_after_a_failure_a_person_resumes_with_a_mended_blueprint(writer, is_planned):
    if is_planned:
        writer.planned().begin("generation", subject="0204")
    else:
        writer.begin_scene()
    writer.until(4)
    for number in (1, 2, 3):
        writer.handed_in(4, f"It rained {number} times.\n")
        writer.handed_in(5, failing(f"it rains {number} times"))
    assert writer.tool("get_workflow_status")["status"] == "failed"
    writer.write(BLUEPRINT, "# Scene\n\nNothing.\n")
    assert writer.refused("resume_workflow", kind="human", from_step=4).code == "no_constraints"
    mended = CONSTRAINED.replace("no rain", "rain")
    writer.write(BLUEPRINT, mended)
    assert writer.refused("resume_workflow", from_step=4).code == "person_needed"
    assert writer.tool("resume_workflow", kind="human", from_step=4)["resumed_from_step"] == 4
    writer.handed_in(4, "It rained for long.\n")
    writer.handed_in(5, PASS)
    writer.write(BLUEPRINT, CONSTRAINED)
    assert "blueprint" in writer.tool("get_next_step")["blocking_reason"]
    writer.write(BLUEPRINT, mended)
    writer.handed_in(6, REPORT)


def test_an_agent_that_opens_prose_again_does_not_take_another_blueprint_with_it(writer):
    writer.begin_scene().until(5)
    writer.write(BLUEPRINT, CONSTRAINED.replace("no rain", "no snow"))
    writer.ok("reopen", "4", "-w", writer.id)
    assert writer.refused_hand_in(4, "Snow fell on it.\n").facts["unmet"] == ["blueprint"]


def test_where_a_trusted_configuration_says_so_a_changed_blueprint_is_a_warning(writer):
    writer.begin_scene().until(4)
    writer.write(BLUEPRINT, CONSTRAINED.replace("no rain", "no snow"))
    writer.write(".holdfast/config.toml", '[story]\nplan = "warn"\n')
    assert writer.refused_hand_in(4).facts["unmet"] == ["blueprint"]
    assert "story · plan" in writer.person("trust", ".holdfast/config.toml", "--yes").out
    for words in (("next",), ("status",), ("next", "--json"), ("status", "--json"), ("resume-packet",)):
        answer = writer.ok(*words, "-w", writer.id).out
        assert "has changed since it was validated" in " ".join(answer.split())
    assert "has changed since it was validated" in str(writer.tool("get_next_step"))
    writer.handed_in(4, PROSE)
    writer.write(".holdfast/config.toml", '[story]\nplan = "never"\n')
    assert writer.agent("next", "-w", writer.id, "--json").error["code"] == "bad_config"


@pytest.mark.parametrize("text", ["", " \n"])
@pytest.mark.parametrize("when", ["waiting", "approved"])
def test_a_plan_that_was_emptied_is_not_approved(writer, when, text):
    writer.plan(OF_ACT, until=5)
    writer.write(PLANS["act"], "the plan\n")
    files = writer.made(5, names=("integration_analysis",))
    writer.tool("update_workflow_state", phase=5, status="completed", artifacts=files)
    if when == "approved":
        writer.tool("approve_step", phase=5, approved=True)
    writer.write(PLANS["act"], text)
    refusal = writer.refused("approve_step", phase=5, approved=True)
    assert (refusal.code, f"is empty: {PLANS['act']}" in refusal.message) == ("gate_unmet", True)
    assert writer.person("approve", "5", "-w", writer.id).code == 3
    writer.write(PLANS["act"], "another plan\n")
    writer.tool("approve_step", phase=5, approved=True)
