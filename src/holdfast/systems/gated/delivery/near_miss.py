"""A `workflow-state.json` that others wrote in words that are almost those of the dialect: what they can only mean."""

from __future__ import annotations

from _collections_abc import Iterator, Mapping

from holdfast.core.value import Any
from holdfast.systems.gated import words

_MEANT = {
    "todo": words.PENDING,
    "not_started": words.PENDING,
    "open": words.PENDING,
    "started": words.IN_PROGRESS,
    "active": words.IN_PROGRESS,
    "wip": words.IN_PROGRESS,
    "working": words.IN_PROGRESS,
    "review": words.IN_REVIEW,
    "reviewing": words.IN_REVIEW,
    "waiting": words.USER_REVIEW,
    "awaiting_approval": words.USER_REVIEW,
    "done": words.APPROVED,
    "complete": words.APPROVED,
    "completed": words.APPROVED,
    "blocked": words.ESCALATED,
}
_NAMES = ("phase", "name", "id")


def is_near(document: Mapping[str, Any]) -> bool:
    """Whether it speaks of phases at all."""
    return bool(document) and any(_phase(name) for name, _ in _entries(document.get("phases")))


def fixed(document: Mapping[str, Any], slug: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The document with what it can only mean, and a sentence for each change. All other fields stay."""
    told: list[str] = []
    found = {**document, "feature": slug}
    if document.get("feature") != slug:
        told.append(f"feature {_shown(document.get('feature'))} is read as {slug}")
    found["phases"] = _phases(document.get("phases"), told)
    standing = _word(document.get("status"))
    if standing not in words.WORKFLOW.shape:
        standing = "in_progress"
    if standing != document.get("status"):
        told.append(f"status {_shown(document.get('status'))} is read as {standing}")
    at = _phase(document.get("current_phase"))
    if at != document.get("current_phase") or not at:
        left = (name for name in words.PHASES if found["phases"][name]["status"] != words.APPROVED)
        at = at or next(left, words.PHASES[-1])
        told.append(f"current_phase {_shown(document.get('current_phase'))} is read as {at}")
    return {**found, "status": standing, "current_phase": at}, tuple(told)


def _phases(said: Any, told: list[str]) -> dict[str, dict[str, Any]]:
    known: dict[str, dict[str, Any]] = {}
    if isinstance(said, list):
        told.append("phases is a list, and read as an object of phases by their names")
    elif isinstance(said, Mapping) and any(isinstance(entry, str) for entry in said.values()):
        told.append("phases: a phase that is a word is read as its status")
    for name, entry in _entries(said):
        phase = _phase(name)
        if not phase or phase in known:
            told.append(f"phases: {_shown(name)} is none of the five phases, or there twice; it is left out")
            continue
        if name != phase:
            told.append(f"phases: {_shown(name)} is read as {phase}")
        status = _word(entry.get("status"))
        meant = status if status in words.PHASE.shape else _MEANT.get(status, words.PENDING)
        if meant != entry.get("status"):
            told.append(f"the status {_shown(entry.get('status'))} of {phase} is read as {meant}")
        known[phase] = {**entry, "status": meant}
    told += [f"phases has no {phase}: {words.PENDING}" for phase in words.PHASES if phase not in known]
    return {phase: known.get(phase, {"status": words.PENDING, "iterations": 0}) for phase in words.PHASES}


def _entries(said: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The phases by name: of an object, or of a list whose entries name themselves; a bare word is a status."""
    if isinstance(said, Mapping):
        named = ((str(name), entry) for name, entry in said.items())
    else:
        listed = [one for one in said if isinstance(one, Mapping)] if isinstance(said, list) else []
        named = ((next((str(one[name]) for name in _NAMES if one.get(name)), ""), one) for one in listed)
    for name, entry in named:
        yield name, entry if isinstance(entry, Mapping) else {"status": entry}


def _phase(name: Any) -> str:
    """The phase that a name means: in full, without its number, or by its number."""
    if name in words.PHASES:
        return str(name)
    said = _word(name).lstrip("0123456789_.")
    number = _word(name).rstrip("_").lstrip("0")
    whole = dict(zip(("1", "2", "3", "4", "5"), words.PHASES, strict=True))
    return next((one for one in words.PHASES if said and one.partition("-")[2] == said), whole.get(number, ""))


def _word(said: Any) -> str:
    return "_".join(said.lower().replace("-", " ").replace("_", " ").split()) if isinstance(said, str) else ""


def _shown(said: Any) -> str:
    return "that is missing" if said is None else repr(said)[:60]
