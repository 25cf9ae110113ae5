"""Steps of scenes and plans in words."""

from __future__ import annotations

from holdfast.core.briefing import TaskText
from holdfast.core.state import State
from holdfast.systems.seam.parts import Texts
from holdfast.systems.story import project as stories
from holdfast.systems.story.words import blueprint_file, own_path


def task(state: State, path: str) -> TaskText:
    """What the step is about, and the blueprint it keeps to, once that was found; of the last phase, where the plan
    belongs, and of a step with a result, what that has to say.
    """
    steps, step = state.plan.children(""), state.plan.step(path)
    if state.loads == "plan":
        is_last = path == steps[-1] and state.subject
        files = (own_path(stories.plan_path(state.context), state.session),) if is_last else ()
        return TaskText(step.description, files=files)
    from holdfast.systems.story.results import SHAPES

    shape = SHAPES.get(step.result) if state.loads == "scene" else None
    criteria = (f"{step.result} is {shape}",) if shape else ()
    return TaskText(step.description, blueprint_file(state), criteria)


TEXTS = Texts(task=task)
