"""Who of a shipped team works on a step. Those in a role write files; the runner leads, and hands their work in."""

from __future__ import annotations

from holdfast.core import remedies
from holdfast.core.value import Value
from holdfast.systems.seam.registry import work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.state import State
    from holdfast.project.workflow import Workflow

CREATOR, REVIEWER = "creator", "reviewer"


class Team(Value):
    """The names of the roles of a step; empty where nobody but the agent itself works on it."""

    creator: str = ""
    reviewer: str = ""


def of(state: State, step: str, root: str) -> Team:
    return Team(_role(state, step, CREATOR, root)[0], _role(state, step, REVIEWER, root)[0])


def told(state: State, step: str, name: str, root: str) -> str:
    """The instructions that ship with a role of the team."""
    found = (_role(state, step, kind, root) for kind in (CREATOR, REVIEWER))
    return next((text for role, text in found if role == name), "")


def commit(workflow: Workflow, step: str) -> bool:
    """Commits the code that a creator left in the working tree; whether there was some."""
    from holdfast.systems.seam import actions

    state, wired = workflow.state, workflow.wired
    whole, own = workflow.briefing().facts.hand_ins.get(step), work(state.dialect).commit
    if whole is None or own is None or not whole.loose:
        return False
    path, message = own(state, step, state.title or state.id)
    again = remedies.named("commit", {"task": step, "message": remedies.TEXT})
    actions.commit(wired, state, path, message, whole.loose, again)
    wired.recorded(state, path)
    return True


def _role(state: State, step: str, kind: str, root: str) -> tuple[str, str]:
    """The role of a kind that ships for this step, where the definition lists that kind; with its text."""
    if not step or kind not in state.plan.step(step).agents:
        return "", ""
    from holdfast.hosts.installing.team import roles

    found = (one for one in roles(root, state.dialect) if (one.kind, one.phase) == (kind, step))
    return next(((one.name, one.text) for one in found), ("", ""))
