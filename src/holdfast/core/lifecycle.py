"""A step's life, as data. Every rule about which status may follow which is in this table and nowhere else."""

from __future__ import annotations

PENDING = "pending"
ACTIVE = "active"
IN_REVIEW = "in_review"
WAITING = "waiting"
DONE = "done"
FAILED = "failed"
BLOCKED = "blocked"
ESCALATED = "escalated"
SKIPPED = "skipped"

STATUSES = (PENDING, ACTIVE, IN_REVIEW, WAITING, DONE, FAILED, BLOCKED, ESCALATED, SKIPPED)
FINISHED = frozenset({DONE, SKIPPED})
OPEN = frozenset({ACTIVE, IN_REVIEW, WAITING})
STUCK = frozenset({FAILED, BLOCKED, ESCALATED})

CONVENTION = {
    **dict.fromkeys((ACTIVE, IN_REVIEW), "in_progress"),
    WAITING: "waiting_approval",
    **dict.fromkeys((DONE, SKIPPED), "completed"),
}
"""What the tools of the convention call a status, where they have a word of their own."""
PHASE = {
    PENDING: "not_started",
    **dict.fromkeys((ACTIVE, IN_REVIEW), "in_progress"),
    **dict.fromkeys((WAITING, FAILED, BLOCKED, ESCALATED), "blocked"),
    **dict.fromkeys((DONE, SKIPPED), "completed"),
}
"""What a resume packet calls the status of a phase."""
SAID = {
    PENDING: "is pending",
    ACTIVE: "is active",
    IN_REVIEW: "is in review",
    WAITING: "waits for approval",
    BLOCKED: "is blocked",
    ESCALATED: "is escalated to a person",
}
"""What became of a step, in a sentence; of the others the status itself is said."""
MARKS = dict(zip(STATUSES, "○▶◎◐✓✗■▲↷", strict=True))
"""The sign of a status, of one character."""

MOVES: dict[str, dict[str, str]] = {
    "began": {PENDING: ACTIVE},
    "submitted": {ACTIVE: IN_REVIEW},
    "awaited": {ACTIVE: WAITING, IN_REVIEW: WAITING},
    "revised": {IN_REVIEW: ACTIVE, WAITING: ACTIVE},
    "withdrawn": {IN_REVIEW: ACTIVE, WAITING: ACTIVE},
    "completed": {ACTIVE: DONE, IN_REVIEW: DONE, WAITING: DONE},
    "overridden": {ESCALATED: DONE},
    "failed": {ACTIVE: FAILED, IN_REVIEW: FAILED},
    "rejected": {WAITING: FAILED},
    "blocked": {ACTIVE: BLOCKED},
    "escalated": {IN_REVIEW: ESCALATED, FAILED: ESCALATED},
    "retried": {FAILED: ACTIVE},
    "review_retried": {FAILED: IN_REVIEW},
    "resumed": {FAILED: ACTIVE, BLOCKED: ACTIVE, ESCALATED: ACTIVE},
    "reopened": {DONE: ACTIVE, SKIPPED: ACTIVE},
    "skipped": {PENDING: SKIPPED, ACTIVE: SKIPPED, FAILED: SKIPPED},
    "reset": {status: PENDING for status in STATUSES if status != PENDING},
}

NEW_ATTEMPT = frozenset({"began", "retried", "reopened"})
"""Moves that start another try at the step; `resumed` does so too, except after a block."""


def after(status: str, move: str) -> str:
    """The status that follows. A move that does not apply leaves the status as it is: folding is total."""
    return MOVES[move].get(status, status)


def allows(status: str, move: str) -> bool:
    return status in MOVES[move]


def sources(move: str) -> tuple[str, ...]:
    return tuple(MOVES[move])
