"""What a workflow's state records of the past: what steps left, what people decided and asked for, what failed."""

from __future__ import annotations

from _collections_abc import Iterator, Mapping

from holdfast.core import gates, lifecycle, limits, queries
from holdfast.core.facts import Facts
from holdfast.core.plan import parent
from holdfast.core.state import RELAYED, REMOVED, Alert, Learning, State, Try
from holdfast.core.value import Any, Value
from holdfast.plain.plainjson import spaced

AVOID = "antipattern"
"""What a learning is called that says what not to do."""
LOOSENING, LOOSENED = "loosening", "loosened"
"""Alerts that a change takes a gate away and waits for a person, and that a person applied it."""
ENDED, DIFFERS = "ended_by_plan", "notes_differ"
"""Alerts that a file of the project ended the workflow, and that one says another position than the document."""
NEWEST = 5
"""How many failures are told."""


class Output(Value):
    """A file that a finished step left. `changed` says how it is different now: `changed since`, `gone` or nothing."""

    step: str
    name: str
    path: str
    changed: str = ""


class Decision(Value):
    """What was decided beyond a yes: a variant, what was not chosen, changes that are wanted.

    `reported` where only an agent says that a person decided so, `claimed` where this clone cannot tell.
    """

    step: str
    by: str
    at: str
    variant: str = ""
    not_chosen: tuple[str, ...] = ()
    modifications: Mapping[str, Any] = {}
    reported: bool = False
    claimed: bool = False


class Said(Value):
    """Changes that a reviewer or a person asked for; `open` until the work is handed in again."""

    step: str
    text: str
    open: bool


def alerts(state: State) -> list[Alert]:
    """The alerts without those that are settled: a person decided since, the work continued, or a phase moved."""
    applied = max((n for n, alert in enumerate(state.alerts) if alert.code == LOOSENED), default=-1)
    settled = {LOOSENED, ENDED} if queries.is_active(state) else {LOOSENED}
    moved = max((str(one["at"]) for one in state.history if "attempt" in one), default="")
    differed = max((str(one["at"]) for one in state.history if one.get("code") == DIFFERS), default="")
    settled |= {DIFFERS} if moved > differed else set()
    return [
        alert
        for n, alert in enumerate(state.alerts)
        if alert.code not in settled and (n > applied or alert.code != LOOSENING)
    ]


def finished_by(state: State, kind: str) -> str:
    """The first step that such an actor finished together with the whole; empty where others finished it."""
    last = {one.get("step") for one in state.history if one["at"] == state.finished_at and one.get("by") == kind}
    return next((path for path in state.plan.leaves() if state.finished_at and path in last), "")


def left(state: State, path: str, facts: Facts) -> Iterator[Output]:
    """The files that a step left."""
    whole = facts.hand_ins.get(path)
    for name, artifact in state.step(path).artifacts.items():
        if whole is not None:
            now = whole.parts.get(name)
            yield Output(path, name, artifact.path, _difference(artifact.hash, now[1] if now else None))
            continue
        seen = facts.hashes.get(artifact.path, (artifact.hash, 0))
        yield Output(path, name, artifact.path, _difference(artifact.hash, seen[0] if seen else None))


def _difference(known: str, now: str | None) -> str:
    return "gone" if now is None else "" if known in ("", now) else "changed since"


def skipped(state: State) -> dict[str, str]:
    """The steps that nobody did: `skipped by human ada: not needed here`; also those that were taken out."""
    moves = {}
    for entry in state.history:
        if entry.get("event") == lifecycle.SKIPPED:
            moves[entry.get("step")] = f" by {entry.get('by')}"
    found = [path for path in state.plan.paths if state.step(path).status == lifecycle.SKIPPED]
    found = [path for path in found if parent(path) not in found]
    said = {path: f"skipped{moves.get(path, '')}: {state.step(path).reason}".removesuffix(": ") for path in found}
    listed = [one for path in state.plan.paths for one in state.step(path).data.get(REMOVED, ())]
    return said | {str(one["step"]): f"removed: {one['reason']}" for one in listed}


def decisions(state: State, facts: Facts) -> Iterator[Decision]:
    for path in state.plan.paths:
        step, progress = state.plan.step(path), state.step(path)
        grant, wanted = progress.grant, progress.data.get("modifications")
        if grant is not None and (grant.variant or grant.modifications):
            offered = (*(step.choice.options if step.choice else ()), *(one.variant for one in progress.past_grants))
            others = tuple(dict.fromkeys(one for one in offered if one and one != grant.variant))
            chosen = others if grant.variant else ()
            reported, claimed = grant.how == RELAYED, gates.grant_verdict(state, path, facts) == "claimed"
            yield Decision(path, grant.by, grant.at, grant.variant, chosen, grant.modifications, reported, claimed)
        elif grant is None and isinstance(wanted, Mapping) and wanted:
            sent_back = [one for one in state.history if one.get("event") == "revised" and one.get("step") == path]
            by, at = (str(sent_back[-1].get(name, "")) for name in ("by", "at")) if sent_back else ("", "")
            yield Decision(path, by, at, modifications=wanted, reported=by.partition(" ")[0] != "human")


def sentence(one: Decision) -> str:
    chosen = f"{one.variant} was chosen" if one.variant else ""
    others = f"not {', '.join(one.not_chosen)}" if one.not_chosen else ""
    wanted = _wanted(one.modifications)
    by = f"reported by {one.by or 'an agent'}" if one.reported else f"by {one.by}" if one.by else ""
    by = f"only claimed, {by}" if one.claimed else by
    return f"{one.step}: {'; '.join(filter(None, (chosen, others, wanted)))}{f' ({by})' if by else ''}"


class Ruling(Value):
    """One decision of a person, or one that an agent says they made: about what, which, when, by whom and how."""

    at: str
    step: str
    said: str
    by: str
    how: str = ""
    """How they were recognised, in words; empty where nothing is kept of that."""
    words: str = ""
    """What they wrote."""
    now: str = ""
    """What became of it; empty where it holds."""


_RULINGS = {
    "revised": "sent back",
    "rejected": "rejected",
    "overridden": "passed although it was escalated",
    "resumed": "to be tried again",
    "reopened": "opened again",
    "skipped": "left out",
    "extended": "the bounds were extended",
    "paused": "paused",
    "paused_ended": "continued",
    "cancelled": "cancelled",
    "cancelled_ended": "brought back",
}
"""What a person did, by the word of the history."""


def rulings(state: State, facts: Facts) -> list[Ruling]:
    """What people decided, the newest first: approvals and choices, and what of the rest the state still has."""
    from holdfast.core.recognition import WORDS

    found = []
    for path in state.plan.paths:
        progress = state.step(path)
        for grant in filter(None, (*progress.past_grants, progress.grant)):
            verdict = gates.grant_verdict(state, path, facts) if grant is progress.grant else ""
            said = f"{grant.variant} was chosen" if grant.variant else "approved"
            now = {"stale": "no longer holds", "claimed": "only claimed"}.get(verdict, "")
            how = "passed on by an agent" if grant.how == RELAYED else WORDS.get(grant.how, "")
            by = grant.by.removeprefix("human ")
            found.append(Ruling(grant.at, path, said, by, how, _wanted(grant.modifications), now))
    for entry in state.history:
        said, by = _RULINGS.get(str(entry.get("event")), ""), str(entry.get("by", ""))
        kind, _, name = by.partition(" ")
        if said and kind == "human":
            words = str(entry.get("feedback") or entry.get("reason") or "")
            found.append(Ruling(str(entry["at"]), str(entry.get("step") or ""), said, name, words=words))
    return sorted(found, key=lambda one: one.at, reverse=True)


def _wanted(changes: Mapping[str, Any]) -> str:
    listed = [f"{name}: {now if isinstance(now, str) else spaced(now)}" for name, now in changes.items()]
    return f"changes wanted: {', '.join(listed)}" if listed else ""


def feedback(state: State) -> Iterator[Said]:
    """Changes that were asked for of steps that are not finished, the newest of each first."""
    for path in (path for path in state.plan.paths if state.step(path).status not in lifecycle.FINISHED):
        progress = state.step(path)
        asked = [one.feedback for one in progress.verdicts if one.verdict == "needs_revision" and one.feedback]
        reasons = {one.reason for one in progress.tries}
        given = [text for text in progress.feedback if text not in reasons]
        texts = reversed(list(dict.fromkeys([*asked, *given])))
        yield from (Said(path, text, text == progress.advice) for text in texts)


class Failure(Value):
    """A try that ended, the reason for which a step is still, or a check that failed (`check` is its name)."""

    step: str
    at: str
    text: str
    stands: bool = False
    check: str = ""


def failures(state: State) -> list[Failure]:
    """The failures of all steps, newest first, each reason of a step once.

    One that was put down to another step is told of the step that failed, and the tries that the reason of a step that
    is still repeats are told by that reason.
    """
    found: list[Failure] = []
    tried = [(path, one) for path in state.plan.paths for one in state.step(path).tries]
    blamed = {(limits.judged(state.plan, path), one.at, one.reason) for path, one in tried}
    same: dict[tuple[str, str, str], list[Try]] = {}
    for path, one in tried:
        if (path, one.at, one.reason) not in blamed and not _stands_because(state, path, _ended(one)):
            same.setdefault((path, one.ended, _ended(one)), []).append(one)
    for (path, ended, why), tries in same.items():
        numbers = ", ".join(str(one.attempt) for one in tries)
        said = f"{path}, attempt{'s' * (len(tries) > 1)} {numbers} {ended}: {why}".removesuffix(": ")
        found.append(Failure(path, tries[-1].at, said))
    for path in state.plan.paths:
        progress = state.step(path)
        if progress.status in lifecycle.STUCK and progress.reason:
            said = f"{path} is {progress.status}: {progress.reason}"
            found.append(Failure(path, state.updated_at, said, stands=True))
        if progress.status in lifecycle.OPEN | lifecycle.STUCK:
            for name, seen in progress.evidence.items():
                if not seen.passed:
                    said = f"{path}, the check {name} {gates.failed_because(seen)}"
                    found.append(Failure(path, seen.at, said, check=name))
    return sorted(found, key=lambda one: one.at)[::-1]


def _stands_because(state: State, path: str, why: str) -> bool:
    progress = state.step(path)
    return progress.status in lifecycle.STUCK and bool(why) and progress.reason.endswith(why)


def lesson(one: Learning) -> str:
    return f"{one.lesson} (pattern: {one.pattern})" if one.pattern else one.lesson


def _ended(one: Try) -> str:
    """Why a try ended, with what its result said beyond the reason."""
    violations, guidance = one.data.get("violations"), one.data.get("retry_guidance")
    texts = [_violation(item) for item in violations] if isinstance(violations, (list, tuple)) else []
    more = [text for text in texts if text not in one.reason]
    said = one.reason
    if more:
        said += f"; violations: {'; '.join(more)}"
    if guidance:
        said += f"; next time: {guidance if isinstance(guidance, str) else spaced(guidance)}"
    return said


def violation(item: object) -> str:
    """`word_count (error): 701 words; found 701, required 900`."""
    if not isinstance(item, Mapping):
        return str(item)
    check, severity = item.get("check"), item.get("severity")
    named = f"{check or ''}{f' ({severity})' if severity else ''}".strip()
    numbers = [f"{name} {item[name]}" for name in ("found", "required") if item.get(name) is not None]
    text = item.get("message") or item.get("issue")
    told = ": ".join(str(one) for one in (named, text) if one) or spaced(dict(item))
    return f"{told}; {', '.join(numbers)}" if numbers else told


def _violation(item: object) -> str:
    if not isinstance(item, Mapping):
        return str(item)
    return str(item.get("message") or item.get("issue") or item.get("check") or spaced(dict(item)))
