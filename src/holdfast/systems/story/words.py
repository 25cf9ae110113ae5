"""The words of the story dialect, and how they stand for the engine's."""

from __future__ import annotations

from holdfast.core import lifecycle
from holdfast.core.state import State
from holdfast.documents.lens.fields import spelled, words

STEP_WORDS = spelled(
    pending=(lifecycle.PENDING,),
    in_progress=(lifecycle.ACTIVE, lifecycle.IN_REVIEW, lifecycle.BLOCKED),
    waiting_approval=(lifecycle.WAITING,),
    completed=(lifecycle.DONE, lifecycle.SKIPPED),
    failed=(lifecycle.FAILED, lifecycle.ESCALATED),
)
PHASE_WORDS = {**STEP_WORDS, lifecycle.FAILED: "in_progress", lifecycle.ESCALATED: "in_progress"}
WORKFLOW_WORDS = spelled(
    in_progress=("in_progress", "waiting", "paused", "blocked"),
    failed=("failed", "escalated"),
    completed=("completed", "finalized"),
    cancelled=("cancelled",),
)
STEP = words(STEP_WORDS)
PHASE = words(PHASE_WORDS)
WORKFLOW = words(WORKFLOW_WORDS, {"waiting_approval": "in_progress"})


def is_planning(state: State) -> bool:
    return state.loads == "plan"


def folder(session: str) -> str:
    """Where the runs of a session lie, or those of the project."""
    return f"workspace/sessions/{session}" if session else "workspace"
