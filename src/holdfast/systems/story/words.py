"""The words of the story dialect, and how they stand for the engine's."""

from __future__ import annotations

from holdfast.core import lifecycle
from holdfast.core.state import State
from holdfast.documents.lens.fields import spelled, words

STEP_WORDS = spelled(
    pending=(lifecycle.PENDING,),
    in_progress=(lifecycle.ACTIVE, lifecycle.IN_REVIEW, lifecycle.BLOCKED),
    waiting_approval=(lifecycle.WAITING,),
    completed=(lifecycle.DONE, lifecycle.SKIPPED),
    failed=(lifecycle.FAILED, lifecycle.ESCALATED),
)
PHASE_WORDS = {**STEP_WORDS, lifecycle.FAILED: "in_progress", lifecycle.ESCALATED: "in_progress"}
WORKFLOW_WORDS = spelled(
    in_progress=("in_progress", "waiting", "paused", "blocked"),
    failed=("failed", "escalated"),
    completed=("completed", "finalized"),
    cancelled=("cancelled",),
)
STEP = words(STEP_WORDS)
PHASE = words(PHASE_WORDS)
WORKFLOW = words(WORKFLOW_WORDS, {"waiting_approval": "in_progress"})


def is_planning(state: State) -> bool:
    return state.loads == "plan"


BLUEPRINT, READ_IN = "blueprint_path", "blueprint_read_in"
"""The facts about a scene's blueprint: its path in the project, and the session whose copy is read instead."""


def blueprint_of(state: State) -> str:
    """The blueprint that was found for a scene, by its path in the project; empty until then."""
    return str(state.step(state.plan.children("")[0]).data.get(BLUEPRINT) or "")


def blueprint_file(state: State) -> str:
    """The same, where it is read: a session has a copy of its own, or reads the project's."""
    path, data = blueprint_of(state), (state.step(step).data for step in state.plan.children(""))
    read_in = [one[READ_IN] for one in data if READ_IN in one]
    own = path and state.session and read_in[-1:] == [state.session]
    return own_path(path, state.session) if own else path


def own_path(path: str, session: str) -> str:
    """Where a session has its own copy of a file of the project; outside of any, the file itself."""
    return f"{folder(session)}/{path}" if session else path


def project_path(path: str, session: str) -> str:
    """The file of the project that a session's copy is of."""
    return path.removeprefix(f"{folder(session)}/") if session else path


def folder(session: str) -> str:
    """Where the runs of a session are, or those of the project."""
    return f"workspace/sessions/{session}" if session else "workspace"
