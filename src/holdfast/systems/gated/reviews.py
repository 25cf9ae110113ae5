"""The review of a phase: read from the file that its round belongs to."""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.names import fitting
from holdfast.core.state import State
from holdfast.errors import UsageError
from holdfast.systems.gated import central, review_file, words
from holdfast.systems.seam.wired import Wired


def decided(wired: Wired, state: State, phase: str, said: str = "") -> tuple[str, str]:
    """The verdict and the feedback of the review file. `said` is what somebody would have it say instead."""
    path = words.review_file(state, phase)
    if said:
        message = f"the reviews of {state.id} are files: {path} decides"
        raise UsageError(
            "review_file_decides", message, remedy=remedies.review(phase, from_file=True), facts={"path": path}
        )
    central.is_there(wired.place.base(state.worktree), path)  # no link on the way leads elsewhere
    found = review_file.read(os.path.join(wired.place.base(state.worktree), path), path)
    return found.decision, fitting(found.feedback)
