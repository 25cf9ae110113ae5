"""Acts, chapters and scenes are planned: each level builds on the approved plan of the one above it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import HoldfastError, Refused
from holdfast.surfaces import tools
from tests.workbench import Bench

DATA = Path(__file__).parents[1] / "systems" / "story" / "data"
SESSION = "work-on-chapter-02"
OUTPUTS = ("exploration_results", "scenarios", "path_plan", "detailed_plans", "integration_analysis")
ACT = {"level": "act", "act": 1}
CHAPTER = {"level": "chapter", "act": 1, "chapter": 2}
SCENE = {"level": "scene", "act": 1, "chapter": 2, "scene": 4}
PLANS = {
    "act": "acts/act-1/strategic-plan.md",
    "chapter": "acts/act-1/chapters/chapter-02/plan.md",
    "scene": "acts/act-1/chapters/chapter-02/scenes/scene-0204-blueprint.md",
}


def typed(context: dict[str, Any]) -> list[str]:
    return [word for name, value in context.items() for word in ("--set", f"{name}={value}")]


class Outline(Bench):
    """A writer's project in which plans are made, the short way through the tools or by what an agent types."""

    def begin_plan(self, context: dict[str, Any], *, session: str = "", fresh: bool = False) -> str:
        how = {"session_name": session} if session else {}
        arguments = {"workflow": "story/planning", "context": context, "fresh": fresh, **how}
        return str(tools.call(self.open(), "start_workflow", arguments)["workflow_id"])

    def tool(self, name: str, id: str, **arguments: Any) -> dict[str, Any]:
        return tools.call(self.open(), name, {"workflow_id": id, **arguments})

    def hand_in(self, id: str, number: int, text: str = "text\n") -> dict[str, Any]:
        """The last phase needs the plan itself, which is written to its place if nobody has."""
        name = OUTPUTS[number - 1]
        level = id.split("-")[1]
        if number == 5 and not (self.root / PLANS[level]).exists():
            self.write(PLANS[level], f"the plan of the {level}\n")
        file = self.write(f"workspace/planning-runs/{id}/{name}.md", text)
        return self.tool("update_workflow_state", id, phase=number, status="completed", artifacts={name: str(file)})

    def choose(self, id: str, variant: str = "A") -> None:
        self.tool("approve_step", id, phase=2, approved=True, selected_variant=variant)

    def until_approval(self, context: dict[str, Any]) -> str:
        """A plan that waits for its final approval."""
        id = self.begin_plan(context)
        for number in range(1, 6):
            self.hand_in(id, number)
            if number == 2:
                self.choose(id)
        return id

    def planned(self, context: dict[str, Any]) -> str:
        id = self.until_approval(context)
        self.approve(id)
        return id

    def approve(self, id: str) -> None:
        self.tool("approve_step", id, phase=5, approved=True)

    def stored(self, id: str, session: str = "") -> dict[str, Any]:
        folder = f"workspace/sessions/{session}" if session else "workspace"
        return json.loads(self.read(f"{folder}/workflow-state/{id}.json"))

    def refusal(self, *words: str) -> dict[str, Any]:
        answer = self.agent(*words, "--json")
        assert answer.code == 3, answer
        return answer.error


@pytest.fixture
def outline(tmp_path) -> Outline:
    return Outline(tmp_path / "novel")


@pytest.fixture
def chapter(outline) -> str:
    """The id of a chapter's plan that is approved, as its act's is."""
    outline.planned(ACT)
    return outline.planned(CHAPTER)


def settled(value: Any, id: str, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: settled(one, id, name) for name, one in value.items()}
    if isinstance(value, list):
        return [settled(one, id) for one in value]
    if isinstance(value, str) and key.endswith("_at"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", value)
        return "a time"
    return value.replace(id, "planning-scene-0204-20251110-150000") if isinstance(value, str) else value


@pytest.mark.usefixtures("chapter")
def test_when_phase_three_is_under_way_the_state_is_that_of_the_convention(outline):
    outline.ok("session", "create", SESSION)
    words = ("start", "story/planning", *typed(SCENE), "--session", SESSION, "--json")
    id = outline.ok(*words).json["workflow_id"]
    assert re.fullmatch(r"planning-scene-0204-\d{8}-\d{6}", id)
    folder = f"workspace/sessions/{SESSION}/planning-runs/{id}"
    for number, name in ((1, "exploration_results"), (2, "scenarios")):
        file = outline.write(f"{folder}/{name.replace('_', '-')}.md", "text\n")
        outline.ok("begin", str(number), "-w", id)
        outline.ok("done", str(number), "-w", id, "--artifact", f"{name}={file}")
    outline.ok("approve", "2", "-w", id, "--variant", "A")
    outline.ok("begin", "3", "-w", id)
    wanted = json.loads((DATA / "planning.json").read_text())
    assert settled(outline.stored(id, SESSION), id) == settled(wanted, id)


@pytest.mark.parametrize(
    ("context", "id"),
    [(ACT, "planning-act-1-"), (CHAPTER, "planning-chapter-02-"), (SCENE, "planning-scene-0204-")],
    ids=["act", "chapter", "scene"],
)
def test_every_level_is_planned_in_the_same_five_phases(outline, context, id):
    for above in (ACT, CHAPTER):
        if above is context:
            break
        if context["level"] != "act":
            outline.planned(above)
    made = outline.planned(context)
    assert made.startswith(id)
    document = outline.stored(made)
    assert document["status"] == "completed"
    assert document["planning"]["level"] == context["level"]
    assert document["planning"]["context"] == {name: value for name, value in context.items() if name != "level"}
    assert [one["name"] for one in document["planning"]["phases"]] == [
        *("Exploration", "Scenarios", "Path Planning", "Detailing", "Integration")
    ]
    assert [one["status"] for one in document["planning"]["phases"]] == ["completed"] * 5
    assert document["planning"]["phases"][4]["artifacts"]["plan"] == PLANS[context["level"]]


def test_a_level_starts_only_when_the_plan_above_it_is_approved(outline):
    start = ("start", "story/planning")
    for context, needed in ((SCENE, CHAPTER), (CHAPTER, ACT)):
        refusal = outline.refusal(*start, *typed(context))
        assert refusal["code"] == "parent_not_approved"
        assert refusal["remedy"] == f"holdfast start story/planning {' '.join(typed(needed))}"
    outline.planned(ACT)
    assert outline.refusal(*start, *typed(SCENE))["code"] == "parent_not_approved"
    running = outline.until_approval(CHAPTER)
    refusal = outline.refusal(*start, *typed(SCENE))
    assert refusal["code"] == "parent_not_approved"
    assert refusal["remedy"] == "holdfast next"
    assert f"{running} is at Integration" in refusal["message"]
    assert refusal["facts"]["running"] == running
    outline.approve(running)
    assert outline.begin_plan(SCENE).startswith("planning-scene-0204-")


@pytest.mark.usefixtures("chapter")
def test_the_approved_chapter_of_another_act_is_not_the_one_a_scene_builds_on(outline):
    with pytest.raises(Refused) as refused:
        outline.begin_plan({**SCENE, "act": 2})
    assert refused.value.code == "parent_not_approved"
    assert "--set act=2" in refused.value.remedy


def test_a_cancelled_plan_is_no_ground_to_build_on(outline):
    act = outline.until_approval(ACT)
    outline.tool("cancel_workflow", act)
    assert outline.refusal("start", "story/planning", *typed(CHAPTER))["code"] == "parent_not_approved"


def outdated(outline: Outline, id: str) -> None:
    """The work is refused in every way, and everybody is told why."""
    status = outline.ok("status", "-w", id)
    assert "revalidat" in status.out, status
    assert outline.stored(id)["status_detail"] == "requires-revalidation"
    for words in (("begin", "2"), ("done", "2")):
        assert outline.refusal(*words, "-w", id)["code"] == "requires_revalidation"
    with pytest.raises(HoldfastError) as refused:
        outline.hand_in(id, 2)
    assert refused.value.code == "requires_revalidation"
    found = outline.tool("get_next_step", id)
    assert found["can_proceed"] is False
    assert "requires revalidation" in found["blocking_reason"]
    ground = outline.tool("validate_prerequisites", id, step=2)
    assert (ground["prerequisites_met"], ground["can_start_step"]) == (False, False)
    assert ground["blocking_issues"]


def goes_on(outline: Outline, id: str) -> None:
    assert "status_detail" not in outline.stored(id)
    outline.hand_in(id, 2)
    assert outline.tool("get_workflow_status", id)["waiting_for_approval"] is True


def test_a_scene_whose_chapter_plan_was_edited_is_validated_again_before_work_goes_on(outline, chapter):
    scene = outline.begin_plan(SCENE)
    outline.hand_in(scene, 1)
    outline.write(PLANS["chapter"], "another plan of the chapter\n")
    outdated(outline, scene)
    assert outline.refusal("revalidate", "-w", scene)["code"] == "parent_undone"
    outline.approve(chapter)
    outdated(outline, scene)
    call = f'change_workflow {{"workflow_id": "{scene}", "action": "revalidate"}}'
    assert outline.tool("get_next_step", scene)["required_action"] == call
    outline.tool("change_workflow", scene, action="revalidate")
    goes_on(outline, scene)


def test_a_scene_whose_chapter_plan_was_opened_again_is_validated_again_before_work_goes_on(outline, chapter):
    scene = outline.begin_plan(SCENE)
    outline.hand_in(scene, 1)
    outline.ok("reopen", "5", "-w", chapter)
    outdated(outline, scene)
    assert outline.refusal("revalidate", "-w", scene)["code"] == "parent_undone"
    outline.hand_in(chapter, 5, "another analysis\n")
    outline.approve(chapter)
    outdated(outline, scene)
    outline.ok("revalidate", "-w", scene)
    goes_on(outline, scene)


def test_a_change_of_the_act_reaches_its_scenes(outline):
    act = outline.planned(ACT)
    chapter = outline.planned(CHAPTER)
    scene = outline.begin_plan(SCENE)
    outline.hand_in(scene, 1)
    outline.write(PLANS["act"], "another plan of the act\n")
    assert outline.refusal("begin", "2", "-w", scene)["code"] == "requires_revalidation"
    outline.approve(act)
    assert outline.refusal("revalidate", "-w", scene)["code"] == "parent_undone"
    outline.ok("revalidate", "-w", chapter)
    outline.ok("revalidate", "-w", scene)
    goes_on(outline, scene)


def test_a_finished_scene_plan_is_marked_when_its_chapter_changes(outline, chapter):
    scene = outline.planned(SCENE)
    outline.write(PLANS["chapter"], "another plan of the chapter\n")
    outline.ok("status", "-w", scene)
    assert outline.stored(scene)["status_detail"] == "requires-revalidation"
    outline.approve(chapter)
    outline.ok("revalidate", "-w", scene)
    assert "status_detail" not in outline.stored(scene)
    assert outline.stored(scene)["status"] == "completed"


def test_a_plan_that_builds_on_none_has_nothing_to_revalidate(outline):
    act = outline.begin_plan(ACT)
    assert outline.refusal("revalidate", "-w", act)["code"] == "no_parent"


def test_a_rejected_choice_and_a_rejected_plan_are_worked_on_again(outline):
    act = outline.begin_plan(ACT)
    outline.hand_in(act, 1)
    outline.hand_in(act, 2)
    outline.ok("reject", "2", "-w", act)
    assert outline.stored(act)["planning"]["phases"][1]["status"] == "in_progress"
    outline.hand_in(act, 2, "A, B or C\n")
    outline.choose(act, "C")
    for number in (3, 4, 5):
        outline.hand_in(act, number)
    outline.ok("reject", "5", "-w", act, "--feedback", "raise the stakes")
    assert outline.stored(act)["planning"]["phases"][4]["status"] == "in_progress"
    assert outline.ok("next", "-w", act, "--json").json["feedback"] == ["raise the stakes"]
    assert outline.refusal("start", "story/planning", *typed(CHAPTER))["code"] == "parent_not_approved"
    outline.write(PLANS["act"], "higher stakes\n")
    outline.hand_in(act, 5, "higher stakes\n")
    outline.approve(act)
    document = outline.stored(act)
    assert document["status"] == "completed"
    assert document["planning"]["phases"][1]["human_approval"]["selected_variant"] == "C"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], "bad_level"),
        (["--set", "level=book"], "bad_level"),
        (["--set", "level=scene", "--set", "act=1"], "bad_number"),
        (["--set", "level=act", "--set", "act=0"], "bad_number"),
    ],
)
def test_a_start_that_does_not_say_what_is_planned_is_refused(outline, words, code):
    answer = outline.agent("start", "story/planning", *words, "--json")
    assert answer.code == 2, answer
    assert answer.error["code"] == code
    assert not (outline.root / "workspace").exists()


def test_a_scene_is_written_from_the_blueprint_that_its_plan_left(outline, chapter):
    assert chapter
    outline.write(PLANS["scene"], "# Scene\n\n## Constraints\n\n- no rain\n")
    outline.planned(SCENE)
    id = outline.ok("start", "generation", "0204", "--json").json["workflow_id"]
    outline.ok("begin", "1", "-w", id)
    outline.ok("done", "1", "-w", id)
    assert outline.stored(id)["generation"]["artifacts"]["blueprint_path"] == PLANS["scene"]
