"""The words of the skill dialect, how they stand for the engine's, and the feature that a step belongs to."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import lifecycle
from holdfast.core.state import State
from holdfast.core.tasks import current_group
from holdfast.core.value import Any
from holdfast.documents.lens.fields import spelled, words

FEATURE = "feature"
"""What a workflow loads that works on feature files, and the kind of a step that is one of several."""
FOLDER = ".claude/workflow-state"
FIGURES = {"count": int, "findings": None, "issues": None, "pr_number": int, "pr_url": str}
"""What can go with a checkpoint, and as what."""

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
RAN = words({"pending": "pending", "completed": "completed"})


def feature_of(state: State, path: str = "") -> Mapping[str, Any]:
    """`file` and `title` of the feature that a step belongs to, or of the one that is worked on."""
    context = state.context
    features = state.plan.of_kind(FEATURE)
    if not features:
        return {"file": context.get("feature_file") or "", "title": context.get("feature_title") or ""}
    owner = next((one for one in features if path == one or path.startswith(one + "/")), current_group(state))
    listed = context.get("folder_features")
    known = listed if isinstance(listed, list) else []
    number = features.index(owner)
    return known[number] if number < len(known) and isinstance(known[number], Mapping) else {"file": "", "title": ""}
