"""Steps of scenes and plans in words."""

from __future__ import annotations

from holdfast.core.briefing import TaskText
from holdfast.core.state import State
from holdfast.systems.seam.parts import Texts


def task(state: State, path: str) -> TaskText:
    """What the step is about, and the blueprint it keeps to, once that was found."""
    first = state.plan.children("")[0]
    return TaskText(state.plan.step(path).description, str(state.step(first).data.get("blueprint_path") or ""))


TEXTS = Texts(task=task)
