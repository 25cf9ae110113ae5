"""Steps of scenes and plans in words."""

from __future__ import annotations

from holdfast.core.briefing import TaskText
from holdfast.core.state import State
from holdfast.systems.seam.parts import Texts
from holdfast.systems.story import project as stories
from holdfast.systems.story.words import folder


def task(state: State, path: str) -> TaskText:
    """What the step is about, and the blueprint it keeps to, once that was found; of the last phase, where the plan
    belongs, and of a step with a result, what that has to say.
    """
    steps, step = state.plan.children(""), state.plan.step(path)
    if state.loads == "plan":
        is_last = path == steps[-1] and state.subject
        plan = stories.plan_path(state.context) if is_last else ""
        own = f"{folder(state.session)}/{plan}" if state.session else plan
        return TaskText(step.description, files=(own,) if plan else ())
    from holdfast.systems.story.results import SHAPES

    shape = SHAPES.get(step.result) if state.loads == "scene" else None
    criteria = (f"{step.result} is {shape}",) if shape else ()
    return TaskText(step.description, str(state.step(steps[0]).data.get("blueprint_path") or ""), criteria)


TEXTS = Texts(task=task)
