"""Reading a `workflow-state.json` that has no journal, with the `status.json` of its phases: what they speak of."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import lifecycle
from holdfast.core.definition import Approval, Check, Definition, Retry, Review, Step
from holdfast.core.facts import Facts
from holdfast.core.plan import Plan
from holdfast.core.state import FOUND, Act, Alert, Escalation, Mark, Progress, State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import (
    Reader,
    claimed,
    count_in,
    is_count,
    mark,
    moment_in,
    object_in,
    text_in,
)
from holdfast.plain.plainjson import compact
from holdfast.systems.gated import words

LONGEST_TITLE = 500
MOST_ACTS = 100
NOTED = "noted"
"""The action of an entry that names none."""
TIMES = ("at", "timestamp", "escalated_at")
"""What entries call the time at which something happened; any other field that is a moment counts after these."""
_SETTLED = (lifecycle.PENDING, lifecycle.WAITING, lifecycle.DONE)
"""A phase that is there has no open feedback, whatever its file says."""


def id_of(document: Mapping[str, Any]) -> str:
    feature = document.get("feature")
    return feature if isinstance(feature, str) and words.is_slug(feature) else ""


def _unknown(what: str, said: Any, known: tuple[str, ...]) -> list[str]:
    return [] if said in known else [f"{what} is not one of {', '.join(known)}"]


def mistakes(document: Mapping[str, Any]) -> list[str]:
    """What keeps a document from being the state of a feature."""
    found = [] if id_of(document) else ["feature is no slug of a-z, 0-9 and -"]
    found += _unknown("current_phase", document.get("current_phase"), words.PHASES)
    found += _unknown("status", document.get("status"), words.WORKFLOW.shape)
    for phase in words.PHASES:
        said = object_in(document, "phases").get(phase)
        if isinstance(said, Mapping):
            found += _unknown(f"the status of {phase}", said.get("status"), words.PHASE.shape)
        else:
            found.append(f"phases has no {phase}")
    return found


def status_mistakes(document: Mapping[str, Any], phase: str) -> list[str]:
    """What keeps a document from being the `status.json` of a phase."""
    found = [] if document.get("phase") == phase else [f"phase is not {phase}"]
    found += _unknown("status", document.get("status"), words.PHASE.shape)
    most = count_in(document, "max_iterations")
    if not most:
        found.append("max_iterations is no number from 1")
    if not is_count(document.get("iterations")) or 0 < most < document["iterations"]:
        found.append("iterations is no number from 0 to max_iterations")
    return found


def adopt(document: Mapping[str, Any], definition: Definition | None, facts: Facts, ulid: str) -> State:
    """The state a document speaks of. Where a `status.json` says something else, the document is believed."""
    found = mistakes(document)
    if found:
        raise Reader("gated", "feature").refused("; ".join(found))
    slug = id_of(document)
    known = {step.id: step for step in definition.steps} if definition else {}
    steps = tuple(known.get(phase) or _step(phase) for phase in words.PHASES)
    begun = moment_in(document, "created_at") or facts.now
    alerts: list[Alert] = []
    progress = {}
    for step in steps:
        path = f"{words.HOME}/{slug}/{step.id}/{words.STATUS_FILE}"
        said, detail = document["phases"][step.id], facts.results.get(path)
        believed, wrong = _believed(step, said, detail) if detail is not None else ({}, "")
        if wrong:
            alerts.append(Alert(facts.now, "status_rewritten", f"{path} is rewritten: {wrong}", path))
        progress[step.id] = _progress(step, said, believed, begun)
    title = document.get("feature_title")
    title = title[:LONGEST_TITLE] if isinstance(title, str) else slug
    kept = {name: document.get(name) for name in ("pr_url", "pr_number", "last_reviewed_at")}
    state = State(
        ulid=ulid,
        id=slug,
        type="feature",
        plan=Plan(steps),
        dialect="gated",
        title=title,
        subject=title,
        context={"slug": slug, **{name: value for name, value in kept.items() if value is not None}},
        branch=text_in(document, "branch") or None,
        loads="description",
        origin="adopted",
        created_at=begun,
        updated_at=facts.now,
        progress=progress,
        escalations=_escalations(document, begun),
        alerts=tuple(alerts),
        base=document,
    )
    return _marked(state, document, facts)


def _believed(step: Step, said: Mapping[str, Any], detail: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """The `status.json` of a phase as far as it agrees with the document, and what is wrong with it."""
    count = count_in(said, "iterations")
    bad = status_mistakes(detail, step.id)
    if bad:
        most = step.review.max if step.review else 0
        own = {"phase": step.id, "status": said["status"], "iterations": count, "max_iterations": most}
        kept = {"current_feedback": text_in(detail, "current_feedback") or None, "history": _listed(detail, "history")}
        return {**own, **kept}, "; ".join(bad)
    if (detail["status"], detail["iterations"]) == (said["status"], said.get("iterations", detail["iterations"])):
        return detail, ""
    differ = f"it says {detail['status']} {detail['iterations']} where {words.DOCUMENT} says {said['status']} {count}"
    return {**detail, "status": said["status"], "iterations": count}, differ


def _step(phase: str) -> Step:
    return Step(
        id=phase,
        mandatory=True,
        outputs=words.OUTPUTS[phase],
        code=phase in words.CODE,
        checks=(Check("test", run_by="engine", uses="test", timeout=1800),) if phase in words.CODE else (),
        review=Review(max=4, files=True),
        approval=Approval("human", "revise"),
        retry=Retry(2, exhausted="escalated"),
    )


def _progress(step: Step, said: Mapping[str, Any], detail: Mapping[str, Any], otherwise: str) -> Progress:
    status = str(words.PHASE.decode(said["status"]))
    if said.get("status_detail") in (lifecycle.FAILED, lifecycle.BLOCKED):
        status = said["status_detail"]
    rounds = _rounds(status, count_in(said, "iterations"))
    feedback = text_in(detail, "current_feedback")
    progress = Progress(
        status=status,
        attempt=int(status != lifecycle.PENDING),
        rounds=rounds,
        started_at=moment_in(said, "started_at"),
        finished_at=moment_in(said, "completed_at"),
        reason=str(said.get("escalation_reason") or ""),
        feedback=(feedback,) if feedback else (),
        advice=feedback if status not in _SETTLED else "",
        acts=_acts(detail, moment_in(said, "started_at") or otherwise),
        reviewed=status in (lifecycle.WAITING, lifecycle.DONE),
        data={FOUND: dict(detail)} if detail else {},
    )
    return claimed(progress) if status == lifecycle.DONE else progress


def _rounds(status: str, count: int) -> int:
    """How many reviews asked for a revision, from the number of the iteration that a phase is in."""
    if status == lifecycle.PENDING:
        return 0
    return count if status in lifecycle.STUCK else max(count - 1, 0)


def _acts(detail: Mapping[str, Any], otherwise: str) -> tuple[Act, ...]:
    return tuple(_act(one, otherwise) for one in _listed(detail, "history")[-MOST_ACTS:])


def _act(one: Any, otherwise: str) -> Act:
    if not isinstance(one, Mapping):
        return Act(otherwise, NOTED, 0, _text(one))
    action, result = str(one.get("action") or ""), str(one.get("result") or "")
    rest = _rest(one, ("action", "result", "iteration"))
    said = "; ".join(filter(None, (result, rest)))
    return Act(_when(one) or otherwise, action or NOTED, count_in(one, "iteration"), said)


def _escalations(document: Mapping[str, Any], otherwise: str) -> tuple[Escalation, ...]:
    return tuple(_escalation(one, document, otherwise) for one in _listed(document, "escalations"))


def _escalation(one: Any, document: Mapping[str, Any], otherwise: str) -> Escalation:
    at = str(document["current_phase"])
    if not isinstance(one, Mapping):
        return Escalation(at, _text(one), 0, otherwise)
    rest = _rest(one, ("phase", "reason", "iteration", "resolution"))
    reason = "; ".join(filter(None, (str(one.get("reason") or ""), rest)))
    resolved = next((value for name in one if _is_end(name) and (value := moment_in(one, name))), "")
    phase, resolution = str(one.get("phase") or at), str(one.get("resolution") or "")
    return Escalation(phase, reason, count_in(one, "iteration"), _when(one) or otherwise, resolved, resolution)


def _listed(data: Mapping[str, Any], name: str) -> list[Any]:
    found = data.get(name)
    return [one for one in found if one] if isinstance(found, list) else []


def _when(entry: Mapping[str, Any]) -> str:
    """When an entry says that it happened, whatever it calls that."""
    named = (*TIMES, *(name for name in entry if not _is_end(name)))
    return next((value for name in named if (value := moment_in(entry, name))), "")


def _is_end(name: str) -> bool:
    return name.startswith("resolved")


def _rest(entry: Mapping[str, Any], known: tuple[str, ...]) -> str:
    """What an entry says beside the fields that have a place of their own, in words."""
    times = [name for name in entry if moment_in(entry, name)]
    more = (name for name in entry if name not in (*known, *times) and entry[name] not in (None, "", [], {}))
    return "; ".join(f"{name}: {_text(entry[name])}" for name in more)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)


def _marked(state: State, document: Mapping[str, Any], facts: Facts) -> State:
    if words.WORKFLOW.decode(document["status"]) == "cancelled":
        said = text_in(document, "cancelled_reason")[:500] or mark("", "cancelled").reason
        return state.replace(cancelled=Mark(moment_in(document, "cancelled_at") or facts.now, "document", said))
    if document.get("status_detail") == "paused":
        return state.replace(paused=mark(facts.now, "paused"))
    return state
