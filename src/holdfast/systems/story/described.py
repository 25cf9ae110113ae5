"""What the schema of the story dialect says beside its fields."""

from __future__ import annotations

from holdfast.documents.lens.spec import Described

_ABOUT = {
    "": "workspace/workflow-state/<id>.json, or workspace/sessions/<session>/workflow-state/<id>.json in a session. "
    "Fields that are not named here are kept as they are.",
    "workflow_id": "{type}-{what it is about}-{time}, such as generation-scene-0204-20251110-143000.",
    "workflow_type": "generation or planning; a definition of one's own has its own name.",
    "session_name": "The session that the run belongs to, if it belongs to one.",
    "committed_from_session": "The session whose commit brought the run here.",
    "status": "waiting_approval is read; written is in_progress while a step waits.",
    "status_detail": "The engine's word where it says more than status; requires-revalidation when the plan this one "
    "builds on has changed.",
    "cancelled_at": "When it was cancelled; absent when it is not.",
    "cancelled_reason": "Why it was cancelled, where somebody said so.",
    "generation.scene_id": "Chapter and scene, two digits each.",
    "generation.current_step": "The first step that is not completed; the last one when all are.",
    "generation.artifacts.blueprint_path": "The blueprint that the scene is written from.",
    "generation.artifacts.working_dir": "The folder of the run's own files.",
    "planning.context": "What the plan is of.",
    "planning.current_phase": "The first phase that is not completed; the last one when all are.",
    "planning.artifacts.working_dir": "The folder of the run's own files.",
}
_OF_STEP = {
    "artifacts": "Paths by name, from the top of the project.",
    "human_approval": "A gate that a person passes. Only its own command changes it.",
    "human_approval.modifications": "The changes that came with the approval, or with the rejection that sent the work "
    "back.",
    "human_approval.claimed": "Said by the document this run was adopted from, and to be confirmed by a person.",
    "attempts.current": "The try that is under way, counted from 1; 0 before the first. A person who resumes gives max "
    "more.",
    "attempts.history": "The tries that failed, oldest first.",
    "attempts.history[].violations": "What the compliance check found: check, severity, found, required, message.",
    "attempts.history[].emphasis_needed": "What the next try should stress.",
    "reason": "Why it failed or is blocked.",
}
_ABOUT |= {f"{at}[].{name}": said for at in ("generation.steps", "planning.phases") for name, said in _OF_STEP.items()}
DESCRIBED = Described("The state of a generation or planning run", _ABOUT)
