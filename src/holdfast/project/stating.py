"""The statement of an approval or a rejection: gathered from the journal and the files as they are now."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core.rules.people import renewed
from holdfast.core.state import State
from holdfast.core.statement import APPROVE, Statement, attempt_of
from holdfast.core.value import Any
from holdfast.errors import UsageError
from holdfast.systems.seam.wired import Wired

_NONCE = 32
MOST_FILES = 20_000


def stated(
    wired: Wired,
    state: State,
    path: str,
    decision: str = APPROVE,
    *,
    variant: str = "",
    modifications: Mapping[str, Any] | None = None,
    feedback: str = "",
    shown: str = "",
    approvers: tuple[int, str] = (0, ""),
) -> Statement:
    """What a person would say to a step now. Likely secrets are redacted before it is signed, as in the journal."""
    from base64 import urlsafe_b64encode

    from holdfast.engine.approvals import prefix

    said: dict[str, Any] = wired.engine.redacted({"changes": dict(modifications or {}), "feedback": feedback})
    if decision == APPROVE:
        command = renewed(state, cmd.Approve(path, variant, said["changes"]))
        variant, said["changes"] = command.variant, dict(command.modifications)
    files = wired.world.contents(state, path).lines
    if len(files) > MOST_FILES:
        message = f"{path} hands in {len(files)} files, and a statement names at most {MOST_FILES}"
        raise UsageError("too_many_files", message, remedy="leave out what is no work, with .gitignore")
    return Statement(
        decision=decision,
        workflow=state.ulid,
        id=state.id,
        step=path,
        attempt=attempt_of(state, path),
        waiting=state.step(path).waiting_since,
        journal=(state.revision, prefix(wired.journal(state.ulid), state.revision)),
        artifacts=files,
        shown=shown,
        variant=variant,
        modifications=said["changes"],
        feedback=said["feedback"],
        approvers=approvers,
        nonce=urlsafe_b64encode(os.urandom(_NONCE)).rstrip(b"=").decode(),
    )
