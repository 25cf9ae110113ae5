"""The words of the skill dialect, and how they stand for the engine's."""

from __future__ import annotations

from holdfast.core import lifecycle
from holdfast.documents.lens.fields import words

FOLDER = ".claude/workflow-state"
FIGURES = ("count", "findings", "issues", "pr_number", "pr_url")
"""What can go with a checkpoint."""

PHASE_WORDS = {
    lifecycle.PENDING: "pending",
    lifecycle.ACTIVE: "in_progress",
    lifecycle.IN_REVIEW: "in_progress",
    lifecycle.WAITING: "in_progress",
    lifecycle.DONE: "completed",
    lifecycle.FAILED: "in_progress",
    lifecycle.BLOCKED: "in_progress",
    lifecycle.ESCALATED: "in_progress",
    lifecycle.SKIPPED: "completed",
}
WORKFLOW_WORDS = {
    "in_progress": "in_progress",
    "waiting": "in_progress",
    "paused": "in_progress",
    "blocked": "blocked",
    "failed": "blocked",
    "escalated": "blocked",
    "completed": "completed",
    "finalized": "completed",
    "cancelled": "abandoned",
}
PHASE = words(PHASE_WORDS, {"blocked": lifecycle.BLOCKED})
WORKFLOW = words(WORKFLOW_WORDS)
