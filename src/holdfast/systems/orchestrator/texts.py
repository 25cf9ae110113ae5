"""Tasks of a task document in words."""

from __future__ import annotations

from _collections_abc import Iterator

from holdfast.core import gates, remedies
from holdfast.core.briefing import TaskText
from holdfast.core.lifecycle import PENDING
from holdfast.core.remedy import told
from holdfast.core.state import State
from holdfast.core.tasks import TASK
from holdfast.systems.orchestrator.rules import supervision
from holdfast.systems.orchestrator.task_document.model import POST_TASK, PRE_TASK
from holdfast.systems.orchestrator.words import PLAN, REVIEW
from holdfast.systems.seam.parts import Texts


def task(state: State, path: str) -> TaskText:
    """What the document says of a task; of the plan and the review, its goal and what holds for all of it."""
    step, context = state.plan.step(path), state.context
    file = str(context.get("task_doc") or "")
    if step.kind == TASK:
        return TaskText(step.description or step.label, file, asked=tuple(_supervised(state, path)))
    review = state.plan.step(REVIEW).checks if path == PLAN and REVIEW in state.plan else ()
    text = " – ".join(filter(None, (str(context.get("goal") or ""), step.description)))
    return TaskText(text, file, at_end=tuple(check.text for check in review))


def _supervised(state: State, path: str) -> Iterator[str]:
    """The checks that the supervisor is asked for now, where they are no gates."""
    step, progress = state.plan.step(path), state.step(path)
    begun = progress.status != PENDING
    check, when = (POST_TASK, "before the task is handed in") if begun else (PRE_TASK, "before the task begins")
    is_asked = check in supervision(state).frequency and check not in (step.supervised, step.supervised_after)
    if is_asked and not gates.is_supervised(progress, check, of_work=begun):
        way = told((remedies.named("orchestrator supervise", {"check_type": check, "task": step.id}),))
        yield f"the supervisor is asked {when}: {way}"


TEXTS = Texts(task=task)
