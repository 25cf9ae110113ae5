"""The words of the skill dialect, and how they stand for the engine's."""

from __future__ import annotations

from holdfast.core import lifecycle
from holdfast.documents.lens.fields import spelled, words

FOLDER = ".claude/workflow-state"
FIGURES = ("count", "findings", "issues", "pr_number", "pr_url")
"""What can go with a checkpoint."""

PHASE_WORDS = spelled(
    pending=(lifecycle.PENDING,),
    in_progress=(lifecycle.ACTIVE, lifecycle.IN_REVIEW, lifecycle.WAITING, *sorted(lifecycle.STUCK)),
    completed=(lifecycle.DONE, lifecycle.SKIPPED),
)
WORKFLOW_WORDS = spelled(
    in_progress=("in_progress", "waiting", "paused"),
    blocked=("blocked", "failed", "escalated"),
    completed=("completed", "finalized"),
    abandoned=("cancelled",),
)
PHASE = words(PHASE_WORDS, {"blocked": lifecycle.BLOCKED})
WORKFLOW = words(WORKFLOW_WORDS)
