"""The state of a feature, put together again from what is left of it: every field with what it was taken from."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core import cycle, moment
from holdfast.core.value import Any, Value
from holdfast.documents.lens.fields import count_in, is_moment
from holdfast.systems.gated import words
from holdfast.systems.gated.delivery import lost_phases
from holdfast.systems.gated.delivery.evidence import Left, Said
from holdfast.systems.gated.delivery.lost_phases import NOTHING, OF_PHASE, Fields, acts_in, moments, newest_review

_OF_FILE = ("max_iterations", "current_feedback", "history")
_ORDER = (words.PENDING, words.IN_PROGRESS, words.IN_REVIEW, words.ESCALATED, words.USER_REVIEW, words.APPROVED)
_ANSWERS = {cycle.GUIDED: "", cycle.OVERRIDDEN: "override", cycle.RESET: "reset", cycle.REGRESSION: "reopened"}


class Clue(Value):
    """One field of the state, and what it was taken from."""

    field: str
    value: Any
    source: str


class Recovery(Value):
    """A state that a person can confirm: the document, the `status.json` of phases, and what each field rests on."""

    slug: str
    document: Mapping[str, Any]
    statuses: Mapping[str, Mapping[str, Any]]
    evidence: tuple[Clue, ...]
    fixed: tuple[str, ...] = ()
    """How the document was read where it does not say what it means."""


def put_together(slug: str, left: Left) -> Recovery:
    document = left.document
    if document is None and left.committed is not None and not _is_older(left.committed.value, left):
        document = left.committed
    phases = lost_phases.phases(left, document)
    straightened = lost_phases.keep_order(phases)
    whole = _whole(slug, left, phases) if document is None else _as_said(document)
    if document is None or straightened:
        whole |= _standing(left, phases)
        whole.pop("status_detail", None)
    statuses = {phase: _status(left, phase, known) for phase, known in phases.items() if _has_file(left, phase, known)}
    inside = {phase: _entry(document, phase, known) for phase, known in phases.items()}
    value = {name: inside if name == "phases" else said.value for name, said in whole.items()}
    return Recovery(slug, value, statuses, tuple(_clues(whole, phases, statuses)), left.fixed)


def _clues(whole: Fields, phases: Mapping[str, Fields], statuses: Mapping[str, Mapping[str, Any]]) -> Iterable[Clue]:
    for name, said in whole.items():
        if name != "phases":
            yield Clue(name, said.value, said.source)
            continue
        for phase, known in phases.items():
            for field in OF_PHASE:
                yield Clue(f"phases.{phase}.{field}", known[field].value, known[field].source)
    for phase, status in statuses.items():
        for field, value in status.items():
            name = f"{phase}/{words.STATUS_FILE}"
            own = Said(value, "the folder's name" if field == "phase" else name)
            yield Clue(f"{name}: {field}", value, phases[phase].get(field, own).source)


def _is_older(document: Mapping[str, Any], left: Left) -> bool:
    """Whether the files of the phases, or their reviews, speak of something that came after a document."""
    for phase in words.PHASES:
        entry, file = document["phases"][phase], left.statuses.get(phase)
        if file is None:
            if newest_review(left, phase) > count_in(entry, "iterations"):
                return True
        elif _rank(entry) < _rank(file.value) or _is_before(document.get("updated_at"), moments(file.value)):
            return True
    return False


def _rank(entry: Mapping[str, Any]) -> tuple[int, int]:
    return count_in(entry, "iterations"), _ORDER.index(entry["status"])


def _is_before(at: object, moments: Iterable[str]) -> bool:
    return is_moment(at) and any(moment.to_epoch(one) > moment.to_epoch(str(at)) for one in moments)


def _as_said(document: Said) -> Fields:
    return {name: Said(value, document.source) for name, value in document.value.items()}


def _whole(slug: str, left: Left, phases: Mapping[str, Fields]) -> Fields:
    """What is known of the feature as a whole where no document says it."""
    older = _as_said(left.committed) if left.committed else {}
    created, updated = _times(left, phases)
    url = _kept(left, "Pull-Request") or _given(older.get("pr_url"))
    reviewed = _kept(left, "Last-Reviewed-At") or _dated(older.get("last_reviewed_at"))
    return {
        "feature": Said(slug, "the folder's name"),
        "feature_title": _given(older.get("feature_title")) or left.title,
        "branch": _given(older.get("branch")) or left.branch,
        "created_at": _dated(older.get("created_at")) or created,
        "updated_at": updated,
        "current_phase": Said("", ""),
        "status": Said("", ""),
        "phases": Said({}, ""),
        "escalations": _escalations(phases),
        "pr_url": url or Said(None, NOTHING),
        "pr_number": _number(url) or Said(None, NOTHING),
        "last_reviewed_at": reviewed.replace(value=moment.whole(reviewed.value)) if reviewed else Said(None, NOTHING),
    }


def _given(said: Said | None) -> Said | None:
    return said if said is not None and isinstance(said.value, str) and said.value else None


def _dated(said: Said | None) -> Said | None:
    return said if said is not None and is_moment(said.value) else None


def _kept(left: Left, trailer: str) -> Said | None:
    found = (Said(one.kept[trailer], one.source) for one in reversed(left.commits) if trailer in one.kept)
    return next(found, None)


def _number(url: Said | None) -> Said | None:
    number = str(url.value).rstrip("/").rpartition("/pull/")[2] if url else ""
    return Said(int(number), url.source) if url and number.isascii() and number.isdigit() and len(number) < 10 else None


def _times(left: Left, phases: Mapping[str, Fields]) -> tuple[Said, Said]:
    """When the work began and when it was last heard of, as far as anything tells."""
    known = [
        Said(at, f"{phase}/{words.STATUS_FILE}")
        for phase, fields in phases.items()
        for at in moments({name: said.value for name, said in fields.items()})
    ]
    known = known or [Said(commit.at, commit.source) for commit in left.commits] or [left.described_at]
    return min(known, key=_epoch), max(known, key=_epoch)


def _epoch(said: Said) -> float:
    return moment.to_epoch(said.value)


def _escalations(phases: Mapping[str, Fields]) -> Said:
    """The escalations that the histories of the phases tell of, and how each was answered."""
    found: list[dict[str, Any]] = []
    sources: dict[str, None] = {}
    for phase, known in phases.items():
        for act in acts_in(known["history"].value):
            action, at, result = act.get("action"), act.get("timestamp"), act.get("result")
            if not is_moment(at):
                continue
            if action == cycle.ESCALATED:
                sources[known["history"].source] = None
                why = {"phase": phase, "reason": str(result or ""), "iteration": count_in(act, "iteration"), "at": at}
                found.append({**why, "resolved_at": None, "resolution": None})
            elif action in _ANSWERS:
                answer = f"guidance: {result}" if result else "resumed"
                for one in found:
                    if one["phase"] == phase and one["resolved_at"] is None:
                        one.update(resolved_at=at, resolution=_ANSWERS[action] or answer)
    found.sort(key=lambda one: moment.to_epoch(one["at"]))
    return Said(found, ", ".join(sources) or NOTHING)


def _standing(left: Left, phases: Mapping[str, Fields]) -> Fields:
    """Where the whole stands, which follows from its phases and from whether it was given up."""
    open_ = [phase for phase, known in phases.items() if known["status"].value != words.APPROVED]
    at = open_[0] if open_ else words.PHASES[-1]
    source = phases[at]["status"].source
    status = words.ESCALATED if phases[at]["status"].value == words.ESCALATED else "in_progress"
    known = {"current_phase": Said(at, source), "status": Said(status if open_ else "completed", source)}
    if left.cancelled is not None:
        given = {name: Said(value, left.cancelled.source) for name, value in left.cancelled.value.items() if value}
        known |= {"status": Said("cancelled", left.cancelled.source), **given}
    return known


def _entry(document: Said | None, phase: str, known: Fields) -> dict[str, Any]:
    more = dict(document.value["phases"][phase]) if document else {}
    if more.get("status") != known["status"].value:
        more.pop("status_detail", None)
    return {**more, **{name: known[name].value for name in OF_PHASE}}


def _has_file(left: Left, phase: str, known: Fields) -> bool:
    there = phase in left.statuses or phase in left.committed_statuses
    return there or known["status"].value != words.PENDING or bool(known["history"].value)


def _status(left: Left, phase: str, known: Fields) -> dict[str, Any]:
    """The `status.json` of a phase. One that says nothing of times, as the convention has it, stays so."""
    file = left.statuses.get(phase) or left.committed_statuses.get(phase)
    found = file.value if file else {}
    own = ("status", "iterations", *_OF_FILE)
    times = tuple(name for name in OF_PHASE if name not in own and (file is None or name in found))
    return {**found, "phase": phase, **{name: known[name].value for name in (*own, *times)}}
