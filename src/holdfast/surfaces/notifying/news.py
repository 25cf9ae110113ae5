"""What is news of a workflow: that a person is waited for, that a step is escalated or failed, that all is done."""

from __future__ import annotations

from _collections_abc import Iterator, Mapping, Sequence

from holdfast.core.briefing import Briefing
from holdfast.core.value import Any, Value
from holdfast.surfaces.runs import line

APPROVERS = "approvers"
"""The code of the alert that the list of those who may approve changed."""
_DECIDED = {"escalated": "is escalated", "failed": "has failed"}

_OF_ALL = ("mark", "bound")
"""What stops the whole workflow: the reason says more than the step that it is at."""


class News(Value):
    """One thing that a person may want to know. What has the same `key` is told once."""

    kind: str
    key: str
    text: str
    step: str = ""
    of_project: bool = False
    """Whether it is told once for all workflows of the project."""


def of(brief: Briefing, kinds: Sequence[str], run: Mapping[str, Any]) -> list[News]:
    """The news as the workflow is now, of these kinds; `run` is what `runs.of` gives for it."""
    return [one for one in (*_all(brief), *_of_run(brief, run)) if one.kind in kinds]


def _of_run(brief: Briefing, run: Mapping[str, Any]) -> Iterator[News]:
    """Why a run ended, where nothing else of the workflow says that a person is needed."""
    if "ended" in run and not brief.waiting:
        kind = "failed" if run["ended"] == "failed" else "person"
        yield News(kind, f"run {run['at']}", line(run), str(run["step"]))


def _all(brief: Briefing) -> Iterator[News]:
    state = brief.state
    if brief.status == "completed":
        yield News("done", f"done {state.finished_at}", "all steps are done")
    for path, unmet in brief.waiting if brief.status not in ("cancelled", "finalized", "completed") else ():
        step = state.plan.step(path) if path in state.plan else None
        kind = unmet.kind if unmet.kind in _DECIDED else "person"
        label = step.label if step else path
        said = f"{label} {_DECIDED[kind]}" if kind in _DECIDED else unmet.message if unmet.kind in _OF_ALL else label
        progress = state.step(path)
        stale = f" {progress.grant.at}" if progress.grant else ""  # it was given, and is needed again
        yield News(kind, f"{unmet.kind} {path} {progress.attempt if step else 0}{stale}", said, path)
    for path in brief.begun:
        if state.step(path).status == "failed" and not any(path == one for one, _ in brief.waiting):
            yield News(
                "failed", f"failed {path} {state.step(path).attempt}", f"{state.plan.step(path).label} has failed", path
            )
    for alert in brief.alerts:
        if alert.code == APPROVERS:
            yield News("approvers", f"approvers {alert.message}", "who may approve changed", of_project=True)
