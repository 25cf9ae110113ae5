"""A workflow that is taken up again: what it is about is read once more, for every surface in the same way."""

from __future__ import annotations

from holdfast.core import lifecycle, queries, remedies
from holdfast.core.remedy import told
from holdfast.core.state import State
from holdfast.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.project.project import Project
    from holdfast.project.workflow import Workflow
    from holdfast.systems.seam.parts import Taken
    from holdfast.systems.seam.wired import Wired


def take_up(project: Project, workflow: Workflow) -> None:
    """Applies what the subject says now, but for what only a person may; the resume packet tells of both.

    Nothing is read where somebody who resumes the work may only look.
    """
    state, wired = workflow.state, project.wired
    runs = queries.status(state) == "in_progress" and not wired.store.read_only
    if not runs or is_elsewhere(wired, state) or workflow.briefing().held:
        return
    try:
        workflow.news = lines(project, workflow, project.reread(workflow))
    except HoldfastError as failure:
        workflow.news = (f"it was not read again: {failure.message}",)


def lines(project: Project, workflow: Workflow, taken: Taken) -> tuple[str, ...]:
    """What was applied of a subject that changed, and what waits for a person."""
    way = told((remedies.resume(workflow=workflow.ulid),), project.scope(workflow.ulid))
    return (*taken.said, *(f"{why}: not applied, a person decides ({way})" for *_, why in taken.loosened))


def is_elsewhere(wired: Wired, state: State) -> bool:
    """Whether the work belongs to another branch than the one that is checked out, and not one that is made yet."""
    making = any(
        state.plan.step(path).action == "branch" and state.step(path).status not in lifecycle.FINISHED
        for path in state.plan.paths
    )
    return not making and wired.is_elsewhere(state)
