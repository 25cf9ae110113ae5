"""A writer's project in which plans are made and scenes are written through the tools, in one process."""

from __future__ import annotations

import json
from typing import Any

from holdfast.core.remedy import typed
from holdfast.errors import HoldfastError
from holdfast.surfaces import tools
from tests.workbench import Bench

SCENE = "0204"
OF_SCENE = {"level": "scene", "act": 1, "chapter": 2, "scene": 4}
OF_CHAPTER = {"level": "chapter", "act": 1, "chapter": 2}
OF_ACT = {"level": "act", "act": 1}
PLANS = {
    "act": "acts/act-1/strategic-plan.md",
    "chapter": "acts/act-1/chapters/chapter-02/plan.md",
    "scene": "acts/act-1/chapters/chapter-02/scenes/scene-0204-blueprint.md",
}
BLUEPRINT = PLANS["scene"]
CONSTRAINED = "# Scene 0204\n\n## Constraints\n\n- 4 to 6 words\n- no rain\n"
PROSE = "She waited by the tower.\n"
PHASES = ("exploration_results", "scenarios", "path_plan", "detailed_plans", "integration_analysis")
STEPS = (
    *((), ("constraints_list",), ("verification_plan",), ("draft", "compliance_echo")),
    *(("fast_compliance_result",), ("final_validation_report",), ("final_report", "scene_content")),
)
VALIDATORS = ("plot", "voice", "timeline", "names", "places", "dialogue", "length")
PASS: dict[str, Any] = {"status": "PASS", "violations": []}
REPORT: dict[str, Any] = {
    "overall_status": "PASS",
    "validators_run": 7,
    "validators_passed": 7,
    "results": [{"validator": name, "status": "PASS"} for name in VALIDATORS],
    "blocking_issues": [],
    "non_blocking_warnings": [],
}


def failing(message: str = "it rains", *emphasis: str) -> dict[str, Any]:
    found = {"check": "weather", "severity": "critical", "found": "rain", "required": "none", "message": message}
    return {"status": "FAIL", "violations": [found], "retry_guidance": {"emphasis_needed": list(emphasis)}}


class Writer(Bench):
    """The id of the run that was started last is `id`."""

    id = ""

    def tool(self, name: str, *, kind: str = "agent", **arguments: Any) -> dict[str, Any]:
        return tools.call(self.open(kind), name, {"workflow_id": self.id, **arguments})

    def refused(self, name: str, **arguments: Any) -> HoldfastError:
        try:
            answer = self.tool(name, **arguments)
        except HoldfastError as refusal:
            return refusal
        raise AssertionError(f"{name} was not refused: {answer}")

    def scoped(self, refusal: HoldfastError) -> list[str]:
        """The commands of a refusal as they are typed here."""
        scope = self.open().wired.scope()
        return [one if isinstance(one, str) else typed(one, scope) for one in refusal.remedies]

    def begin_scene(self, session: str = "", *, blueprint: str = CONSTRAINED) -> Writer:
        if blueprint:
            self.write(BLUEPRINT, blueprint)
        return self.begin("generation", subject=SCENE, session=session)

    def begin(self, workflow: str, session: str = "", **more: Any) -> Writer:
        given = {"workflow": workflow, **more, **({"session_name": session} if session else {})}
        self.id = tools.call(self.open(), "start_workflow", given)["workflow_id"]
        return self

    def made(self, number: int, said: Any = "words\n", names: tuple[str, ...] = ()) -> dict[str, str]:
        text = said if isinstance(said, str) else json.dumps(said)
        return {name: str(self.write(f"workspace/runs/{self.id}/{name}", text)) for name in names or STEPS[number - 1]}

    def handed_in(self, number: int, said: Any = "words\n", **more: Any) -> dict[str, Any]:
        files = self.made(number, said)
        named = {"artifacts": files} if files else {}
        return self.tool("update_workflow_state", step=number, status="completed", **named, **more)

    def refused_hand_in(self, number: int, said: Any = "words\n") -> HoldfastError:
        return self.refused("update_workflow_state", step=number, status="completed", artifacts=self.made(number, said))

    def until(self, number: int) -> Writer:
        """Hands in every step before this one; the third is approved."""
        texts = {4: PROSE, 5: PASS, 6: REPORT}
        for before in range(1, number):
            self.handed_in(before, texts.get(before, "words\n"))
            if before == 3:
                self.tool("approve_step", step=3, approved=True)
        return self

    def plan(self, context: dict[str, Any], session: str = "", *, until: int = 6) -> Writer:
        """A plan whose phases are handed in before this one, and that is approved where there is none left."""
        self.begin("story/planning", session, context=context)
        for number in range(1, min(until, 6)):
            if number == 5 and not (self.root / PLANS[context["level"]]).exists():
                self.write(PLANS[context["level"]], CONSTRAINED)
            files = self.made(number, names=(PHASES[number - 1],))
            self.tool("update_workflow_state", phase=number, status="completed", artifacts=files)
            if number == 2:
                self.tool("approve_step", phase=2, approved=True, selected_variant="A")
        if until == 6:
            self.tool("approve_step", phase=5, approved=True)
        return self

    def planned(self, *contexts: dict[str, Any]) -> Writer:
        for context in contexts or (OF_ACT, OF_CHAPTER, OF_SCENE):
            self.plan(context)
        return self
