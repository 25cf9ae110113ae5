"""The boxes of tasks that an edit of the document finished."""

from __future__ import annotations

from holdfast.core import lifecycle, tasks
from holdfast.core.state import State
from holdfast.errors import HoldfastError
from holdfast.machine.place import below
from holdfast.systems.seam.wired import Wired
from holdfast.systems.skill import features
from holdfast.systems.skill.commits import where


def tick(wired: Wired, before: State, after: State) -> None:
    """Ticks the box of each task whose gates held when an edit called it done. It goes with the next commit."""
    for path in after.plan.paths:
        step = after.plan.step(path)
        is_new = after.step(path).status == lifecycle.DONE and before.step(path).status != lifecycle.DONE
        file = where(wired.place, after, path) if is_new and step.action == "commit" else ""
        text = step.name if step.kind == tasks.TASK else str(after.context.get("task_description") or "")
        full = below(wired.place.base(after.worktree), file) if file and text else ""
        if not full:
            continue
        try:
            features.tick(full, text, 0)
        except HoldfastError as failure:
            wired.troubles.append(failure.message)
