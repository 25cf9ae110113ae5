"""What a person is shown before they approve: the artifacts, how they begin, and what is new since the last time."""

from __future__ import annotations

from _collections_abc import Mapping

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
    view = approving.view(project.wired.place, workflow, path, hashes, most=handed.ARTIFACTS, room=handed.SHORT)
    out = [f"Approve “{view.label}” ({path}, attempt {view.attempt}) of {view.id}?"]
    about = workflow.state.title or workflow.state.subject
    out += [about] if about else []
    out += view.about
    if view.escalated:
        out.append(f"It was escalated: {view.escalated}. To approve is to override that.")
    if modifications:
        out.append(f"The agent says that you want these changes: {spaced(dict(modifications))}")
    out += [*view.tested(), *view.reviews]
    head = escape("\n".join(out), lines=True)
    files = escape("\n".join(view.handed.lines()), lines=True)
    room = max(0, MOST - len(head))
    return f"{head}\n{files if len(files) <= room else files[:room] + CUT}"
