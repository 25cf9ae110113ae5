"""What a person is shown before they approve: the artifacts, how they begin, and what is new since the last time."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import lifecycle
from holdfast.core.value import Any
from holdfast.plain.plainjson import spaced
from holdfast.plain.terminal import escape
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces import approving, handed

MOST = 6000
"""How many characters a question has; only what is shown of the artifacts is cut for it."""
CUT = "\n… cut; the files have the rest"


def picture(
    project: Project, workflow: Workflow, path: str, hashes: Mapping[str, str], modifications: Mapping[str, Any]
) -> str:
    """The question, as text. Whatever comes from files or people is escaped.

    What the agent wants recorded comes before the artifacts, whose part alone is cut: nobody agrees to what is hidden.
    """
    state = workflow.state
    step, progress = state.plan.step(path), state.step(path)
    out = [f"Approve “{step.label}” ({path}, attempt {max(progress.attempt, 1)}) of {state.id}?"]
    about = state.title or state.subject
    out += [about] if about else []
    out += approving.about(workflow, path)
    if progress.status == lifecycle.ESCALATED:
        out.append(f"It was escalated: {progress.reason}. To approve is to override that.")
    if modifications:
        out.append(f"The agent says that you want these changes: {spaced(dict(modifications))}")
    out += [*approving.checks(workflow, path), *approving.reviews(workflow, path)]
    head = escape("\n".join(out), lines=True)
    files = escape("\n".join(handed.lines(project.wired.place, workflow, path, hashes)), lines=True)
    room = max(0, MOST - len(head))
    return f"{head}\n{files if len(files) <= room else files[:room] + CUT}"
