"""Tasks of a task document in words."""

from __future__ import annotations

from holdfast.core.briefing import TaskText
from holdfast.core.state import State
from holdfast.core.tasks import TASK
from holdfast.systems.orchestrator.words import PLAN, REVIEW
from holdfast.systems.seam.parts import Texts


def task(state: State, path: str) -> TaskText:
    """What the document says of a task; of the plan and the review, its goal and what holds for all of it."""
    step, context = state.plan.step(path), state.context
    file = str(context.get("task_doc") or "")
    if step.kind == TASK:
        return TaskText(step.description or step.label, file)
    review = state.plan.step(REVIEW).checks if path == PLAN and REVIEW in state.plan else ()
    text = " – ".join(filter(None, (str(context.get("goal") or ""), step.description)))
    return TaskText(text, file, tuple(check.text for check in review))


TEXTS = Texts(task=task)
