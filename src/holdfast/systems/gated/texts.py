"""Phases of a feature in words."""

from __future__ import annotations

from holdfast.core.briefing import TaskText
from holdfast.core.state import State
from holdfast.systems.gated import words
from holdfast.systems.seam.parts import Texts


def task(state: State, path: str) -> TaskText:
    """What the phase is for, the description that the feature began with, and the files of the phase."""
    text = " – ".join(filter(None, (state.plan.step(path).description, state.subject)))
    return TaskText(text, files=tuple(words.outputs(state, path).values()))


TEXTS = Texts(task=task, review=words.review_file)
