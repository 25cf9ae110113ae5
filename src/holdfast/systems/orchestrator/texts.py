"""Tasks of a task document in words."""

from __future__ import annotations

from holdfast.core.briefing import TaskText
from holdfast.core.state import State
from holdfast.core.tasks import TASK
from holdfast.systems.seam.parts import Texts


def task(state: State, path: str) -> TaskText:
    """What the document says of a task; of the plan and the review, its goal and what holds for all of it."""
    step, context = state.plan.step(path), state.context
    file = str(context.get("task_doc") or "")
    if step.kind == TASK:
        return TaskText(step.description or step.label, file)
    wanted = context.get("success_criteria")
    text = " – ".join(filter(None, (str(context.get("goal") or ""), step.description)))
    return TaskText(text, file, tuple(map(str, wanted)) if isinstance(wanted, (list, tuple)) else ())


TEXTS = Texts(task=task)
