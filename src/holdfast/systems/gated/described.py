"""What the schemas of the gated dialect say beside its fields."""

from __future__ import annotations

from holdfast.documents.lens.spec import Described
from holdfast.systems.gated import words

_ROUND = "The round of making and reviewing: 0 until the phase is handed in"
_STATUS = Described(
    "A phase of a feature in detail",
    {
        "": f"{words.HOME}/<slug>/<phase>/{words.STATUS_FILE}. It follows from {words.DOCUMENT} and is never edited by "
        "hand: what it says otherwise is rewritten. Fields that are not named here are kept where the feature was "
        "adopted with them.",
        "phase": "The name of the folder it is in.",
        "iterations": f"{_ROUND}, at most max_iterations.",
        "max_iterations": "So many reviews may ask for a revision before a person decides.",
        "current_feedback": "What the work still has to take into account.",
        "history": "The newest 100 acts, oldest first.",
        "history[].action": "created, revised, user_review, escalated, guided, overridden, crashed, regression, reset, "
        "withdrawn.",
        "history[].result": "APPROVED or NEEDS_REVISION once somebody judged it; otherwise what was said.",
    },
)
DESCRIBED = Described(
    "The state of a feature in development",
    {
        "": f"{words.HOME}/<slug>/{words.DOCUMENT}. Fields that are not named here are kept as they are. By hand, only "
        "two things can be said: that a phase begins (pending to in_progress), and that it is handed in (in_progress "
        "to in_review); and of the whole, that it is cancelled or continues.",
        "feature": "The slug: the name of the feature's folder.",
        "feature_title": "For people.",
        "branch": "The branch that all the work is committed to; null where there is no git.",
        "current_phase": "The first phase that is not approved; the last one when all are.",
        "status": "Follows from the phases. abandoned is read as cancelled, and not written again.",
        **{f"phases.{phase}.iterations": f"{_ROUND}." for phase in words.PHASES},
        "escalations": "Every time a phase needed a person, oldest first.",
        "escalations[].iteration": "How many reviews had asked for a revision.",
        "escalations[].resolution": "override, guidance: TEXT, or the move that ended it.",
        "last_reviewed_at": "What people said on the pull request is taken into account up to here.",
    },
    files={"status": _STATUS},
)
