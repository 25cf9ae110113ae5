"""The gated dialect: a feature in `workflow/<slug>/`, developed in phases that reviewers and people pass.

`workflow-state.json` is the document. The `status.json` of each phase follows from it, and from nothing else.
"""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, remedies
from holdfast.core.commands import Part
from holdfast.core.definition import Definition
from holdfast.core.remedy import Remedy
from holdfast.core.state import FOUND, Act, State
from holdfast.core.value import Any
from holdfast.documents.lens.edits import asked
from holdfast.documents.lens.fields import (
    COUNT,
    MOMENT,
    MOMENT_OR_NULL,
    NUMBER,
    TEXT_OR_NULL,
    detail,
    object_in,
    or_absent,
    status_of,
    usual,
)
from holdfast.documents.lens.mapping import put_fields
from holdfast.documents.lens.spec import ABSENT, Dialect, Document, Field, Items, Meaning, as_found, record
from holdfast.errors import Refused
from holdfast.systems.gated import words
from holdfast.systems.gated.adoption import adopt, id_of

_INSTEAD: dict[str, Callable[[str], tuple[Remedy, ...]]] = {
    words.IN_REVIEW: lambda path: (remedies.review(path, from_file=True),),
    words.USER_REVIEW: lambda path: remedies.person(path, remedies.approve(path), remedies.reject(path)),
    words.APPROVED: lambda path: (remedies.reopen(path),),
    words.ESCALATED: lambda path: remedies.person(path, remedies.unblock(path, guided=True), remedies.approve(path)),
}


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
    found = object_in(state.step(phase).data, FOUND)
    return dict(found) if as_found(state) else put_fields(STATUS, found, state, phase)


def _act(one: Act) -> dict[str, Any]:
    return {
        "iteration": one.iteration,
        "action": one.action,
        "timestamp": MOMENT.encode(one.at),
        "result": one.result or None,
    }


def _views(state: State) -> dict[str, Callable[[], Mapping[str, Any]]]:
    """A phase has its file from when it begins, or somebody has something to say of it."""
    if words.is_deleted(state):
        return {}
    known = [path for path in state.plan.children("") if _is_known(state, path)]

    def made(path: str) -> Callable[[], Mapping[str, Any]]:
        return lambda: status(state, path)

    return {f"{words.home(state)}/{path}/{words.STATUS_FILE}": made(path) for path in known}


def _is_known(state: State, path: str) -> bool:
    progress = state.step(path)
    if as_found(state):
        return FOUND in progress.data
    return bool(progress.attempt or progress.acts or progress.advice)


def _also(state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Part]:
    """What edits by hand can be for: beginning a phase, handing it in, giving up. Gates have their own commands."""
    parts = []
    before, after = object_in(old, "phases"), object_in(new, "phases")
    for path in state.plan.children(""):
        was, said = (object_in(one, path).get("status") for one in (before, after))
        if said is None or said == was:
            continue
        read, field = usual(words.PHASE, said), f"phases.{path}.status"
        part = asked(field, _phase, path, was, read, gate=read == words.APPROVED)
        parts.append(part if read == said else part.replace(written=read))
    if new.get("status") not in (None, old.get("status")):
        read = usual(words.WORKFLOW, new["status"])
        part = asked("status", _whole, state, old, {**new, "status": read})
        parts.append(part if read == new["status"] else part.replace(written=read))
    return parts


def _phase(path: str, was: Any, wants: Any) -> list[cmd.Command]:
    if was == wants:
        return []  # in another spelling
    has, asks = words.PHASE.decode(was), words.PHASE.decode(wants)
    if (has, asks) == (lifecycle.PENDING, lifecycle.ACTIVE):
        return [cmd.Begin(path)]
    if (has, asks) == (lifecycle.ACTIVE, lifecycle.IN_REVIEW):
        return [cmd.Submit(path)]
    raise Refused(
        "not_possible",
        f"{path} is {was} and cannot become {wants} by hand",
        remedy=_INSTEAD[was](path) if was in _INSTEAD else remedies.next_step(),
        facts={"step": path, "from": was, "to": wants},
    )


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


def _place(state: State) -> str:
    return "" if words.is_deleted(state) else f"{words.home(state)}/{words.DOCUMENT}"


def _former(state: State) -> tuple[str, ...]:
    return (f"{words.home(state)}/{words.DOCUMENT}",) if words.is_deleted(state) else ()


_ESCALATION = record(
    "at", phase=str, reason=str, iteration=COUNT, at=MOMENT, resolved_at=MOMENT_OR_NULL, resolution=TEXT_OR_NULL
)
_ACT = record("iteration", "action", "timestamp", iteration=COUNT, action=str, timestamp=MOMENT, result=TEXT_OR_NULL)
_STATUS = Field("status", status_of, words.PHASE, meaning=Meaning.OWN, required=True)
_ITERATIONS = Field("iterations", words.iterations, meaning=Meaning.FIXED, shape=COUNT)
_TIMES = (
    Field("started_at", lambda s, p: or_absent(s.step(p).started_at), MOMENT, nullable=True),
    Field("completed_at", _finished, MOMENT, nullable=True),
    Field("escalation_reason", _reason, nullable=True, meaning=Meaning.FIXED, shape=str),
)
STATUS = (
    Field("phase", lambda s, p: p, shape=words.PHASES, required=True),
    _STATUS.replace(meaning=Meaning.DERIVED),
    _ITERATIONS.replace(required=True),
    Field("max_iterations", words.max_iterations, shape=NUMBER, required=True),
    Field("current_feedback", lambda s, p: s.step(p).advice or None, shape=TEXT_OR_NULL),
    Field("history", lambda s, p: [_act(one) for one in s.step(p).acts], shape=[_ACT]),
    *(field.replace(quiet=True) for field in _TIMES),
)
"""The fields of `status.json`, which nobody edits."""
DOCUMENT = Document(
    path=_place,
    former=_former,
    also=_also,
    as_found=True,
    parts=(
        Field("feature", lambda s, _: s.id, meaning=Meaning.FIXED, shape=words.SLUG, required=True),
        Field("feature_title", lambda s, _: s.title or s.subject, meaning=Meaning.FIXED, shape=str),
        Field("branch", lambda s, _: or_absent(s.branch), nullable=True, meaning=Meaning.FIXED, shape=str),
        Field("created_at", lambda s, _: s.created_at, MOMENT),
        Field("updated_at", lambda s, _: s.moved_at or s.updated_at, MOMENT),
        Field("current_phase", lambda s, _: words.current_phase(s), shape=words.PHASES, required=True),
        Field("status", status_of, words.WORKFLOW, meaning=Meaning.OWN, required=True),
        detail("status_detail", words.WORKFLOW, "waiting", meaning=Meaning.FIXED),
        Items(
            "phases",
            each=lambda s: list(s.plan.children("")),
            name=lambda s, path: path,
            keys=words.PHASES,
            required=True,
            fields=(
                _STATUS,
                detail("status_detail", words.PHASE, meaning=Meaning.FIXED),
                _ITERATIONS,
                *_TIMES,
            ),
        ),
        Field("escalations", _escalations, meaning=Meaning.FIXED, shape=[_ESCALATION]),
        Field("pr_url", _context("pr_url"), nullable=True, meaning=Meaning.FIXED, shape=str),
        Field("pr_number", _context("pr_number"), nullable=True, meaning=Meaning.FIXED, shape=NUMBER),
        Field("last_reviewed_at", _context("last_reviewed_at"), MOMENT, nullable=True, meaning=Meaning.FIXED),
        Field("cancelled_at", lambda s, _: s.cancelled.at if s.cancelled else ABSENT, MOMENT),
        Field("cancelled_reason", lambda s, _: s.cancelled.reason if s.cancelled else ABSENT, shape=str),
    ),
)


def identify(definition: Definition, subject: str, context: Mapping[str, Any], now: str) -> str:
    if context.get("slug"):
        return str(context["slug"])
    from holdfast.systems.gated.slugs import slug_of

    return slug_of(subject)


def _guarded(state: State) -> tuple[str, ...]:
    home = words.home(state)
    phases = (f"{home}/{path}/{words.STATUS_FILE}" for path in state.plan.children(""))
    return (f"{home}/{words.DOCUMENT}", f"{home}/{words.JOURNAL}", *phases)


def _areas(state: State) -> tuple[dict[str, Any], ...]:
    """A reviewer writes the review that is due, and nothing else; reviews are written by nobody else of the team."""
    reviews = [f"{words.home(state)}/{path}/{words.REVIEWS}" for path in state.plan.children("")]
    others = {"roles": [*words.CREATORS, *words.LEADS], "never": reviews}
    return {"roles": list(words.REVIEWERS), "only": [words.review_file(state, words.current_phase(state))]}, others


DIALECT = Dialect(
    name="gated",
    document=DOCUMENT,
    id_of=id_of,
    identify=identify,
    status_words=words.WORKFLOW_WORDS,
    missing="",
    adopt=adopt,
    views=_views,
    files={"status": STATUS},
    watched=True,
    beside=lambda document: tuple(f"{words.HOME}/{id_of(document)}/{p}/{words.STATUS_FILE}" for p in words.PHASES),
    guarded=_guarded,
    areas=_areas,
    travels=True,
    reserved=words.RESERVED_KEYS,
)
