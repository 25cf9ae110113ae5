"""Tasks of a task document in words."""

from __future__ import annotations

import shlex
from _collections_abc import Iterator

from holdfast.core import gates, moment, remedies
from holdfast.core.briefing import TaskText
from holdfast.core.definition import Step
from holdfast.core.lifecycle import PENDING
from holdfast.core.remedy import told
from holdfast.core.state import State
from holdfast.core.tasks import TASK
from holdfast.systems.orchestrator.rules import supervision
from holdfast.systems.orchestrator.task_document.model import POST_TASK, PRE_TASK
from holdfast.systems.orchestrator.words import PHASE, PLAN, REVIEW
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


def plan(state: State, path: str) -> list[str]:
    """What a person approves with the plan: phases, tasks, criteria and bounds."""
    if path != PLAN:
        return []
    out: list[str] = []
    for above in state.plan.children(""):
        step = state.plan.step(above)
        if step.kind not in (PHASE, REVIEW):
            continue
        rounds = f" (at most {step.retry.max} rounds)" if step.retry else ""
        out += ["", f"{above}: {step.label}{rounds}", *_criteria(step, "  ")]
        for below in state.plan.children(above):
            task = state.plan.step(below)
            needs = [one for one in task.requires or () if one]
            more = [f"agents: {', '.join(task.agents)}"] if task.agents else []
            more += [f"after {', '.join(needs)}"] if needs else []
            beside = f" ({'; '.join(more)})" if more else ""
            out += [f"  {task.id} {task.label}{beside}", *_criteria(task, "    ")]
    bounds = state.bounds
    limits = [
        f"cost {moment.money(bounds.max_cost)}" if bounds.max_cost else "",
        f"time {moment.span(bounds.max_time)}" if bounds.max_time else "",
        f"{bounds.max_iterations} tries for each task" if bounds.max_iterations else "",
    ]
    return [*out, "", f"bounds: {', '.join(filter(None, limits)) or 'none'}"]


def _criteria(step: Step, indent: str) -> Iterator[str]:
    """Each criterion in words, with the command that Holdfast runs for it."""
    for check in step.checks:
        yield f"{indent}- {check.text or check.name}{f': {shlex.join(check.run)}' if check.run else ' (reported)'}"


TEXTS = Texts(task=task, approved=plan)
