"""Runs of feature files: the feature that a step belongs to, and the line that says how a run ended."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import queries
from holdfast.core.state import State
from holdfast.core.tasks import current_group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FEATURE = "feature"
"""What a workflow loads that works on feature files, and the kind of a step that is one of several."""


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


def signal(state: State) -> str:
    """The line that tells whoever started a run how it ended; empty where the workflow is no feature's."""
    if state.loads != FEATURE:
        return ""
    word = queries.status(state)
    if word in ("completed", "finalized"):
        if state.plan.of_kind(FEATURE):
            return "DEV_COMPLETE: All features done"
        name = str(feature_of(state)["file"]).rpartition("/")[2].removesuffix(".md")
        return " ".join(f"DEV_COMPLETE: {name or state.title}".split())
    if word == "in_progress":
        return "DEV_CONTINUE"
    return " ".join(f"DEV_BLOCKED: {_stopped(state, word)}".split())


def _stopped(state: State, word: str) -> str:
    if word in ("paused", "cancelled"):
        mark = state.paused or state.cancelled
        return f"{word}: {mark.reason}" if mark and mark.reason else word
    stuck = next((path for path in state.plan.paths if state.step(path).status == word), "")
    reason = state.step(stuck).reason if stuck else ""
    return f"{stuck} {word}: {reason}" if reason else f"{stuck} is {word}".strip()
