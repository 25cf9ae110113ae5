"""What the pull request of a feature says of itself: its phases as a checklist, and a guide for reviewers."""

from __future__ import annotations

from holdfast.core import lifecycle
from holdfast.core.state import State
from holdfast.systems.gated import words

_GUIDE = """\
## For reviewers

- What a phase hands in is in `{home}/PHASE/`, the reviews of it in `{home}/PHASE/reviews/`. The code belongs to
  `03-implementation` and `04-testing`.
- Approve the pull request to let the phase that waits pass. An approval is of the commit that you looked at.
- Comment on files of `{home}/` or on code to ask for changes: the earliest phase that you comment on is worked on
  again, and what you say of later ones waits for them. This holds until the feature is finalized.
- A thread that is not resolved holds back the approval of its phase.
"""


def body(state: State) -> str:
    return (
        f"{state.subject}\n\n"
        f"This feature is developed in phases, each of which waits here for a review:\n\n{_checklist(state)}\n\n"
        f"{_GUIDE.format(home=words.home(state))}"
    )


def _checklist(state: State) -> str:
    rows = []
    for path in state.plan.children(""):
        mark = "x" if state.step(path).status in lifecycle.FINISHED else " "
        rows.append(f"- [{mark}] {path}: {state.plan.step(path).description}")
    return "\n".join(rows)
