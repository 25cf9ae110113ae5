"""What is known of each phase of a feature, from its own file, from its reviews, and from the commits about it."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core import cycle
from holdfast.core.value import Any
from holdfast.documents.lens.fields import is_count, is_moment
from holdfast.systems.gated import review_file, words
from holdfast.systems.gated.delivery.evidence import Commit, Left, Review, Said

NOTHING = "nothing said otherwise"
MOST_REVIEWS = 4
OF_PHASE = ("status", "iterations", "started_at", "completed_at", "escalation_reason")
"""What the document says of a phase."""
_UNTOUCHED = {
    "status": words.PENDING,
    "iterations": 0,
    "started_at": None,
    "completed_at": None,
    "escalation_reason": None,
    "max_iterations": MOST_REVIEWS,
    "current_feedback": None,
    "history": [],
}

Fields = dict[str, Said]
"""What is known of a phase or of the whole, by the names of the fields."""


def phases(left: Left, document: Said | None) -> dict[str, Fields]:
    """What is known of all phases; `document` is believed of what both it and a phase's own file speak of."""
    told = _told(left.commits)
    found = {phase: _phase(left, phase, document, told.get(phase, {})) for phase in words.PHASES}
    if document is None:
        _infer_approved(left, found, told)
    return found


def keep_order(phases: Mapping[str, Fields]) -> bool:
    """Phases are never worked on at the same time: those after the first that is not approved are still to come."""
    first, changed = "", False
    for phase, known in phases.items():
        if first and known["status"].value != words.PENDING:
            source = f"{first} comes before it and is not approved"
            known |= {name: Said(_UNTOUCHED[name], source) for name in OF_PHASE}
            changed = True
        if not first and known["status"].value != words.APPROVED:
            first = phase
    return changed


def _phase(left: Left, phase: str, document: Said | None, told: Fields) -> Fields:
    """What is known of a phase. The document is believed of what both it and the phase's own file speak of."""
    file = left.statuses.get(phase)
    known = _of_file(file, told) if file is not None else _of_lost(left, phase, told)
    if document is None:
        return known
    entry = document.value["phases"][phase]
    agrees = (entry["status"], entry.get("iterations")) == (known["status"].value, known["iterations"].value)
    said = {field: Said(entry.get(field, _UNTOUCHED[field]), document.source) for field in OF_PHASE}
    if not is_count(entry.get("iterations")) or entry["iterations"] > known["max_iterations"].value:
        said["iterations"] = known["iterations"]
    if not agrees and entry["status"] not in (words.IN_PROGRESS, words.IN_REVIEW, words.ESCALATED):
        said["current_feedback"] = Said(None, document.source)
    return {**known, **said}


def _of_lost(left: Left, phase: str, told: Fields) -> Fields:
    """A phase whose file is lost: the one that git has, unless there are reviews that came after it."""
    file, newest = left.committed_statuses.get(phase), newest_review(left, phase)
    if file is None:
        return _of_reviews(left, phase, told)
    known = _of_file(file, told)
    if newest <= file.value["iterations"]:
        return known
    later = _of_reviews(left, phase, told)
    acts = [act for act in later["history"].value if act["iteration"] > file.value["iterations"]]
    later["history"] = Said([*known["history"].value, *acts], f"{file.source}, {later['history'].source}")
    return {**later, "started_at": known["started_at"]}


def _of_file(file: Said, told: Fields) -> Fields:
    status = file.value
    history = status.get("history")
    acts = acts_in(history)
    reasons = [act.get("result") for act in acts if act.get("action") == cycle.ESCALATED]
    reason = status.get("escalation_reason", reasons[-1] if reasons and status["status"] == words.ESCALATED else None)
    feedback = status.get("current_feedback")
    found = {
        "status": status["status"],
        "iterations": status["iterations"],
        "escalation_reason": reason if isinstance(reason, str) else None,
        "max_iterations": status["max_iterations"],
        "current_feedback": feedback if isinstance(feedback, str) else None,
        "history": history if isinstance(history, list) else [],
    }
    known = {name: Said(value, file.source) for name, value in found.items()}
    finished = status["status"] == words.APPROVED
    for field, wanted in (("started_at", status["status"] != words.PENDING), ("completed_at", finished)):
        own = Said(status[field], file.source) if field in status else told.get(field, Said(None, NOTHING))
        known[field] = own if is_moment(own.value) and wanted else Said(None, own.source)
    return known


def _of_reviews(left: Left, phase: str, told: Fields) -> Fields:
    """A phase without its file: what its reviews, its folder and the commits about it say."""
    reviews = left.reviews.get(phase, ())
    source = ", ".join(review.name if n == 0 else review.name.rpartition("/")[2] for n, review in enumerate(reviews))
    known = {name: Said(value, NOTHING) for name, value in _UNTOUCHED.items()}
    if reviews:
        known |= {name: Said(value, source) for name, value in _decided(reviews).items()}
    elif phase in left.begun:
        known["status"] = Said(words.IN_PROGRESS, left.begun[phase])
    status = told.get("status")
    if status is not None and (status.value in (words.APPROVED, words.ESCALATED) or not reviews):
        least = int(status.value in (words.IN_REVIEW, words.USER_REVIEW, words.APPROVED))
        known |= {"status": status, "iterations": Said(max(_newest(reviews), least), source or status.source)}
        if status.value == words.APPROVED:
            known |= {"current_feedback": Said(None, status.source), "escalation_reason": Said(None, status.source)}
    if known["status"].value != words.PENDING:
        known |= {field: told[field] for field in ("started_at", "completed_at") if field in told}
    return known


def _newest(reviews: tuple[Review, ...]) -> int:
    return min(reviews[-1].number, MOST_REVIEWS) if reviews else 0


def _decided(reviews: tuple[Review, ...]) -> dict[str, Any]:
    """What follows from the reviews of a round: the last one decides, and each begins the next iteration."""
    last = reviews[-1]
    number = _newest(reviews)
    acts = [_act(review) for review in reviews]
    if last.decision == review_file.APPROVED:
        return {"status": words.USER_REVIEW, "iterations": number, "history": acts}
    if not last.decision:
        return {"status": words.IN_REVIEW, "iterations": number, "history": acts}
    if last.number < MOST_REVIEWS:
        known = {"status": words.IN_PROGRESS, "iterations": number + 1}
        return {**known, "current_feedback": last.feedback or None, "history": acts}
    reason = f"{number} reviews asked for a revision"
    escalated = {"iteration": number, "action": cycle.ESCALATED, "timestamp": last.at, "result": reason}
    known = {"status": words.ESCALATED, "iterations": number, "escalation_reason": reason}
    return {**known, "current_feedback": last.feedback or None, "history": [*acts, escalated]}


def _act(review: Review) -> dict[str, Any]:
    action = cycle.CREATED if review.number == 1 else cycle.REVISED
    result = {"approved": cycle.APPROVED, "needs_revision": cycle.NEEDS_REVISION}.get(review.decision)
    return {"iteration": review.number, "action": action, "timestamp": review.at, "result": result}


def _told(commits: Iterable[Commit]) -> dict[str, Fields]:
    """What the commits say of each phase. One that is worked on again takes the later ones back."""
    told: dict[str, Fields] = {}
    for commit in commits:
        status = commit.kept.get("Phase-Status")
        if not commit.phase or not status:
            continue
        known = told.get(commit.phase, {})
        at = Said(commit.at, commit.source)
        again = not known or known["status"].value in (words.PENDING, words.APPROVED)
        begun = at if again and status != words.APPROVED else known.get("started_at", at)
        told[commit.phase] = {"status": Said(status, commit.source), "started_at": begun}
        if status == words.APPROVED:
            told[commit.phase]["completed_at"] = at
            continue
        for later in words.PHASES[words.PHASES.index(commit.phase) + 1 :]:
            told.pop(later, None)
    return told


def _infer_approved(left: Left, phases: Mapping[str, Fields], told: Mapping[str, Fields]) -> None:
    """A phase whose own file is lost was approved if a later one, whose file is there, has begun."""
    later = ""
    for phase in reversed(words.PHASES):
        known = phases[phase]
        if phase in left.statuses:
            later = phase if known["status"].value != words.PENDING else later
        elif later and known["status"].value != words.APPROVED:
            source = f"{later}/{words.STATUS_FILE}: a phase begins when those before it are approved"
            changes = {"status": words.APPROVED, "current_feedback": None, "escalation_reason": None}
            known |= {name: Said(value, source) for name, value in changes.items()}
            known["iterations"] = Said(max(known["iterations"].value, 1), known["iterations"].source)
            known["completed_at"] = told.get(phase, {}).get("completed_at", Said(None, NOTHING))


def newest_review(left: Left, phase: str) -> int:
    return max((review.number for review in left.reviews.get(phase, ())), default=0)


def moments(status: Mapping[str, Any]) -> list[str]:
    acts = (act.get("timestamp") for act in acts_in(status.get("history")))
    return [str(one) for one in (status.get("started_at"), status.get("completed_at"), *acts) if is_moment(one)]


def acts_in(history: object) -> list[Mapping[str, Any]]:
    return [act for act in history if isinstance(act, Mapping)] if isinstance(history, list) else []
