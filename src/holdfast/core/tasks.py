"""Tasks, the features they belong to, and what a run of them ends with."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import lifecycle, queries
from holdfast.core.definition import Step
from holdfast.core.plan import ancestors
from holdfast.core.state import State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TASK, FEATURE = "task", "feature"
"""Kinds of steps."""
DOCUMENT = "task_document"
"""What a workflow loads whose tasks come from a document of their own, in phases."""
DESCRIPTION = "description"
"""What a workflow loads that a description of a feature begins."""
COMMIT = "commit_sha"
"""What documents call the commit of a task, and so what a task remembers it as."""


def current_feature(state: State) -> str:
    """The step of the feature that is worked on, in a workflow of several; the last one when all are done."""
    features = state.plan.of_kind(FEATURE)
    at = queries.current(state) or ""
    inside = [path for path in features if at == path or path in ancestors(at)]
    undone = [path for path in features if state.step(path).status not in lifecycle.FINISHED]
    return (inside or undone or list(features[-1:]) or [""])[0]


def tasks(state: State) -> list[str]:
    """The tasks, in a workflow of several features those of the current one."""
    feature = current_feature(state)
    found = state.plan.of_kind(TASK)
    return [path for path in found if path.startswith(feature + "/")] if feature else list(found)


def untested(text: str) -> tuple[str, bool]:
    """A task's text without the mark at its end that says it needs no tests, and whether it does."""
    plain = text.rstrip()
    if plain.lower().endswith(_UNTESTED) and plain[: -len(_UNTESTED)].strip():
        return plain[: -len(_UNTESTED)].rstrip(), False
    return text, True


_UNTESTED = "(no tests)"


def new_task(state: State, above: str, id: str, text: str, *, tested: bool = True) -> Step:
    """A task in the shape which the step it stands in, or one around it, gives its tasks."""
    around = [path for path in (above, *ancestors(above)) if state.plan.step(path).task]
    shape = state.plan.step(around[0]).task if around else None
    return shaped(shape, id, text, tested=tested)


def shaped(shape: Step | None, id: str, text: str, *, tested: bool = True) -> Step:
    """A task of a shape; one that needs no test has no phases."""
    task = shape or Step(id)
    return task.replace(id=id, name=text, kind=TASK, steps=task.steps if tested else ())


def next_number(state: State, above: str) -> int:
    """The number of the next task below a step."""
    taken = [state.plan.step(path).id for path in state.plan.children(above)]
    return max((int(name) for name in taken if name.isdigit() and len(name) < 10), default=0) + 1


def feature_of(state: State, path: str = "") -> Mapping[str, Any]:
    """`file` and `title` of the feature that a step belongs to, or of the one that is worked on."""
    context = state.context
    features = state.plan.of_kind(FEATURE)
    if not features:
        return {"file": context.get("feature_file") or "", "title": context.get("feature_title") or ""}
    owner = next((one for one in features if path == one or path.startswith(one + "/")), current_feature(state))
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
