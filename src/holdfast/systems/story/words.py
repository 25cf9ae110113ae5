"""The words of the story dialect, and how they stand for the engine's."""

from __future__ import annotations

from holdfast.core import lifecycle
from holdfast.core.state import State
from holdfast.documents.lens.fields import words

STEP_WORDS = {
    lifecycle.PENDING: "pending",
    lifecycle.ACTIVE: "in_progress",
    lifecycle.IN_REVIEW: "in_progress",
    lifecycle.WAITING: "waiting_approval",
    lifecycle.DONE: "completed",
    lifecycle.FAILED: "failed",
    lifecycle.BLOCKED: "in_progress",
    lifecycle.ESCALATED: "failed",
    lifecycle.SKIPPED: "completed",
}
PHASE_WORDS = {**STEP_WORDS, lifecycle.FAILED: "in_progress", lifecycle.ESCALATED: "in_progress"}
WORKFLOW_WORDS = {
    "in_progress": "in_progress",
    "waiting": "in_progress",
    "paused": "in_progress",
    "blocked": "in_progress",
    "failed": "failed",
    "escalated": "failed",
    "completed": "completed",
    "finalized": "completed",
    "cancelled": "cancelled",
}
STEP = words(STEP_WORDS)
PHASE = words(PHASE_WORDS)
WORKFLOW = words(WORKFLOW_WORDS, {"waiting_approval": "in_progress"})


def is_planning(state: State) -> bool:
    return state.loads == "plan"


def folder(session: str) -> str:
    """Where the runs of a session lie, or those of the project."""
    return f"workspace/sessions/{session}" if session else "workspace"
