"""The gated dialect: a feature in `workflow/<slug>/`, developed in phases that reviewers and people pass.

`workflow-state.json` is the document. The `status.json` of each phase follows from it, and from nothing else.
"""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, queries, remedies
from holdfast.core.definition import Definition
from holdfast.core.remedy import Remedy
from holdfast.core.state import FOUND, Act, State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import MOMENT, object_in, or_absent
from holdfast.documents.lens.spec import ABSENT, Dialect, Document, Field, Items, Meaning, as_found
from holdfast.errors import Refused, UsageError
from holdfast.systems.gated import words
from holdfast.systems.gated.adoption import adopt, id_of

_INSTEAD: dict[str, Callable[[str], tuple[Remedy, ...]]] = {
    words.IN_REVIEW: lambda path: (remedies.review(path, from_file=True),),
    words.USER_REVIEW: lambda path: remedies.person(path, remedies.approve(path), remedies.reject(path)),
    words.APPROVED: lambda path: (remedies.reopen(path),),
    words.ESCALATED: lambda path: remedies.person(path, remedies.unblock(path, guided=True), remedies.approve(path)),
}


def _detail(state: State, _: str) -> Any:
    word = queries.status(state)
    return ABSENT if word in words.OWN_WORDS else word


def _phase_detail(state: State, path: str) -> Any:
    status = state.step(path).status
    return status if status in (lifecycle.FAILED, lifecycle.BLOCKED, lifecycle.SKIPPED) else ABSENT


def _reason(state: State, path: str) -> Any:
    progress = state.step(path)
    return or_absent(progress.reason) if progress.status in lifecycle.STUCK else ABSENT


def _finished(state: State, path: str) -> Any:
    progress = state.step(path)
    return or_absent(progress.finished_at) if progress.status in lifecycle.FINISHED else ABSENT


def _escalations(state: State, _: str) -> Any:
    return [
        {
            "phase": one.step,
            "reason": one.reason,
            "iteration": one.iteration,
            "at": MOMENT.encode(one.at),
            "resolved_at": MOMENT.encode(one.resolved_at) if one.resolved_at else None,
            "resolution": one.resolution or None,
        }
        for one in state.escalations
    ]


def _context(name: str) -> Any:
    return lambda state, _: or_absent(state.context.get(name))


def status(state: State, phase: str) -> dict[str, Any]:
    """The `status.json` of a phase, over what was found there where the feature was adopted."""
    progress = state.step(phase)
    found = object_in(progress.data, FOUND)
    if as_found(state):
        return dict(found)
    own = {
        "phase": phase,
        "status": words.PHASE.encode(progress.status),
        "iterations": words.iterations(state, phase),
        "max_iterations": words.max_iterations(state, phase),
        "current_feedback": progress.advice or None,
        "history": [_act(one) for one in progress.acts],
    }
    times = {
        "started_at": MOMENT.encode(progress.started_at) if progress.started_at else None,
        "completed_at": None if (at := _finished(state, phase)) is ABSENT else MOMENT.encode(at),
        "escalation_reason": None if (why := _reason(state, phase)) is ABSENT else why,
    }
    if state.origin == "adopted":
        times = {name: value for name, value in times.items() if name in found}
    return {**found, **own, **times}


def _act(one: Act) -> dict[str, Any]:
    return {
        "iteration": one.iteration,
        "action": one.action,
        "timestamp": MOMENT.encode(one.at),
        "result": one.result or None,
    }


def _views(state: State) -> dict[str, Mapping[str, Any]]:
    """A phase has its file from when it begins, or somebody has something to say of it."""
    if words.is_deleted(state):
        return {}
    known = [path for path in state.plan.children("") if _is_known(state, path)]
    return {f"{words.home(state)}/{path}/{words.STATUS_FILE}": status(state, path) for path in known}


def _is_known(state: State, path: str) -> bool:
    progress = state.step(path)
    if as_found(state):
        return FOUND in progress.data
    return bool(progress.attempt or progress.acts or progress.advice)


def _also(state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[cmd.Command]:
    """What edits by hand can stand for: beginning a phase, handing it in, giving up. Gates have their own commands."""
    out: list[cmd.Command] = []
    before, after = _inside(old), _inside(new)
    for path in state.plan.children(""):
        was, wants = _status_in(before, path), _status_in(after, path)
        if wants == was:
            continue
        if (was, wants) == (lifecycle.PENDING, lifecycle.ACTIVE):
            out.append(cmd.Begin(path))
        elif (was, wants) == (lifecycle.ACTIVE, lifecycle.IN_REVIEW):
            out.append(cmd.Submit(path))
        else:
            word = words.PHASE.encode(was)
            raise Refused(
                "not_possible",
                f"{path} is {word} and cannot become {words.PHASE.encode(wants)} by hand",
                remedy=_INSTEAD[word](path) if word in _INSTEAD else remedies.next_step(),
                facts={"step": path, "from": word, "to": words.PHASE.encode(wants)},
            )
    return [*out, *_whole(state, old, new)]


def _whole(state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[cmd.Command]:
    was, wants = words.WORKFLOW.decode(old.get("status")), words.WORKFLOW.decode(new.get("status"))
    if wants == was:
        return []
    if wants == "cancelled":
        return [cmd.Cancel(str(new.get("cancelled_reason") or "its document says so")[:500])]
    if was == "cancelled" and wants == "in_progress":
        return [cmd.Resume()]
    raise Refused(
        "not_possible",
        f"{state.id} cannot become {words.WORKFLOW.encode(wants)} by hand",
        remedy=remedies.status(),
        facts={"status": wants},
    )


def _inside(document: Mapping[str, Any]) -> Mapping[str, Any]:
    phases = document.get("phases")
    if not isinstance(phases, Mapping) or not all(isinstance(one, Mapping) for one in phases.values()):
        raise UsageError("wrong_shape", "phases must be an object of objects", remedy=remedies.schema("gated"))
    return phases


def _status_in(phases: Mapping[str, Any], path: str) -> str:
    return str(words.PHASE.decode(phases.get(path, {}).get("status")))


def _place(state: State) -> str:
    return "" if words.is_deleted(state) else f"{words.home(state)}/{words.DOCUMENT}"


def _former(state: State) -> tuple[str, ...]:
    return (f"{words.home(state)}/{words.DOCUMENT}",) if words.is_deleted(state) else ()


DOCUMENT = Document(
    path=_place,
    former=_former,
    also=_also,
    as_found=True,
    parts=(
        Field("feature", lambda s, _: s.id, meaning=Meaning.FIXED),
        Field("feature_title", lambda s, _: s.title or s.subject, meaning=Meaning.FIXED),
        Field("branch", lambda s, _: or_absent(s.branch), nullable=True, meaning=Meaning.FIXED),
        Field("created_at", lambda s, _: s.created_at, MOMENT),
        Field("updated_at", lambda s, _: s.updated_at, MOMENT),
        Field("current_phase", lambda s, _: words.current_phase(s)),
        Field("status", lambda s, _: queries.status(s), words.WORKFLOW),
        Field("status_detail", _detail, meaning=Meaning.FIXED),
        Items(
            "phases",
            each=lambda s: list(s.plan.children("")),
            name=lambda s, path: path,
            fields=(
                Field("status", lambda s, p: s.step(p).status, words.PHASE),
                Field("status_detail", _phase_detail, meaning=Meaning.FIXED),
                Field("iterations", words.iterations, meaning=Meaning.FIXED),
                Field("started_at", lambda s, p: or_absent(s.step(p).started_at), MOMENT, nullable=True),
                Field("completed_at", _finished, MOMENT, nullable=True),
                Field("escalation_reason", _reason, nullable=True, meaning=Meaning.FIXED),
            ),
        ),
        Field("escalations", _escalations, meaning=Meaning.FIXED),
        Field("pr_url", _context("pr_url"), nullable=True, meaning=Meaning.FIXED),
        Field("pr_number", _context("pr_number"), nullable=True, meaning=Meaning.FIXED),
        Field("last_reviewed_at", _context("last_reviewed_at"), MOMENT, nullable=True, meaning=Meaning.FIXED),
        Field("cancelled_at", lambda s, _: s.cancelled.at if s.cancelled else ABSENT, MOMENT),
        Field("cancelled_reason", lambda s, _: s.cancelled.reason if s.cancelled else ABSENT),
    ),
)


def identify(definition: Definition, subject: str, context: Mapping[str, Any], now: str) -> str:
    return str(context.get("slug") or words.slug_of(subject))


def _guarded(state: State) -> tuple[str, ...]:
    home = words.home(state)
    phases = (f"{home}/{path}/{words.STATUS_FILE}" for path in state.plan.children(""))
    return (f"{home}/{words.DOCUMENT}", f"{home}/{words.JOURNAL}", *phases)


DIALECT = Dialect(
    name="gated",
    document=DOCUMENT,
    id_of=id_of,
    identify=identify,
    status_words=words.WORKFLOW_WORDS,
    missing="rendered",
    adopt=adopt,
    views=_views,
    watched=True,
    beside=lambda document: tuple(f"{words.HOME}/{id_of(document)}/{p}/{words.STATUS_FILE}" for p in words.PHASES),
    guarded=_guarded,
    travels=True,
    reserved=words.RESERVED_KEYS,
)
