"""The cycle in which a step is made, reviewed and put before people: what is kept of it, and which feedback is open."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import events as ev
from holdfast.core import lifecycle, remedies
from holdfast.core.definition import Review
from holdfast.core.facts import Facts
from holdfast.core.remedy import Remedy
from holdfast.core.state import Act, Escalation, Progress, contents, is_of_words

KEPT_ACTS = 100
_KEPT_FILES = 50
APPROVED, NEEDS_REVISION = "APPROVED", "NEEDS_REVISION"
CREATED, REVISED, USER_REVIEW = "created", "revised", "user_review"
ESCALATED, GUIDED, OVERRIDDEN, CRASHED = "escalated", "guided", "overridden", "crashed"
REGRESSION, RESET, WITHDRAWN = "regression", "reset", "withdrawn"
_SETTLED = ("awaited", "completed", "overridden", "skipped", "reset")
_BEFORE_HAND_IN = (lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.BLOCKED)


def iterations(review: Review | None, progress: Progress) -> int:
    """The round of making and reviewing that a step is in: 0 until it is handed in, then from 1 to the most allowed."""
    count = _number(progress)
    return min(count, review.max) if review else count


def _number(progress: Progress) -> int:
    if progress.status == lifecycle.PENDING:
        return 0
    if progress.status in (lifecycle.FAILED, lifecycle.ESCALATED):
        last = progress.acts[-1] if progress.acts else None
        return last.iteration if last and last.action in (CRASHED, ESCALATED) else progress.rounds
    begun = progress.rounds > 0 or progress.status not in _BEFORE_HAND_IN
    return progress.rounds + 1 if begun else 0


def acted(before: Progress, after: Progress, event: ev.Moved, at: str) -> Progress:
    """The progress with what this move adds to the account of the cycle, which continues through every try at it."""
    if event.move in ("retried", "resumed"):
        after = after.replace(started_at=before.started_at)
    act = _act(before, event, at)
    return after if act is None else after.replace(acts=(*before.acts, act)[-KEPT_ACTS:])


def _act(before: Progress, event: ev.Moved, at: str) -> Act | None:
    number = before.rounds + 1
    stuck = before.rounds if before.status == lifecycle.IN_REVIEW else _number(before)
    match event.move:
        case "submitted":
            return Act(at, REVISED if before.rounds or before.advice else CREATED, number)
        case "completed" if before.status == lifecycle.WAITING:
            return Act(at, USER_REVIEW, number, APPROVED)
        case "revised" if before.status == lifecycle.WAITING:
            return Act(at, USER_REVIEW, number, NEEDS_REVISION)
        case "withdrawn":
            return Act(at, WITHDRAWN, number)
        case "escalated":
            return Act(at, ESCALATED, stuck, event.reason)
        case "resumed" if before.status == lifecycle.ESCALATED:
            return Act(at, GUIDED, stuck, event.feedback)
        case "overridden":
            return Act(at, OVERRIDDEN, stuck, APPROVED)
        case "failed":
            return Act(at, CRASHED, _number(before), event.reason)
        case "reopened":
            return Act(at, REGRESSION, 0, NEEDS_REVISION)
        case "reset":
            return Act(at, RESET, 0)
    return None


def judged(progress: Progress, verdict: str) -> Progress:
    """The newest hand-in with what its review said."""
    handed_in = [at for at, act in enumerate(progress.acts) if act.action in (CREATED, REVISED)]
    if not handed_in or progress.acts[handed_in[-1]].result:
        return progress
    acts = list(progress.acts)
    acts[handed_in[-1]] = acts[handed_in[-1]].replace(result=APPROVED if verdict == "approved" else NEEDS_REVISION)
    return progress.replace(acts=tuple(acts))


def is_failure(progress: Progress) -> bool:
    """Whether the step is worked on again because a try failed, and not because somebody asked for changes."""
    return progress.advice in [one.reason for one in progress.tries]


def advice(before: Progress, event: ev.Moved) -> str:
    """Why the work has to be changed: what was asked for until it is handed in, else the newest failure."""
    if event.move == "retried":
        return event.feedback if is_failure(before) or not before.advice else before.advice
    if event.move in _SETTLED:
        return ""
    if event.move == "resumed" and before.status == lifecycle.FAILED:
        return event.feedback or before.advice or before.reason
    if event.move == "reopened" and before.sent_back and before.tries:
        return event.feedback or before.tries[-1].reason
    return event.feedback or ("" if event.move in ("revised", "reopened") else before.advice)


def sent_back(before: Progress, event: ev.Moved) -> Mapping[str, str]:
    """What has to change before the step is handed in again: its files as they were when somebody said no to it."""
    if event.move in (*_SETTLED, "submitted"):
        return {}
    failed = event.move == "failed" and "violations" in event.data and not event.blames
    asked = event.move == "reopened" and event.feedback and not before.sent_back
    if failed or asked or event.move in ("revised", "rejected"):
        return {name: artifact.hash for name, artifact in before.artifacts.items()}
    return before.sent_back


def turned_down(progress: Progress) -> Progress:
    """The progress with what its files are that were sent back now, beside what they were before."""
    known, files = progress.turned_down, progress.artifacts
    said = {name: one.contents[1:] for name, one in files.items() if one.hash == progress.sent_back.get(name)}
    new = {
        name: (*known.get(name, ()), was, *said.get(name, ()))[-_KEPT_FILES:]
        for name, was in progress.sent_back.items()
    }
    return progress.replace(turned_down={**known, **new})


def advised(progress: Progress, feedback: str) -> Progress:
    more = f"{progress.advice}\n\n{feedback}" if progress.advice else feedback
    return progress.replace(advice=more, feedback=(*progress.feedback, feedback)[-20:])


def restored(known: tuple[Escalation, ...], progress: Mapping[str, Progress], at: str) -> tuple[Escalation, ...]:
    """The list once the steps are as they were: what was open for a step that is not escalated is over."""
    stuck = {path for path, one in progress.items() if one.status == lifecycle.ESCALATED}
    closed = tuple(
        one if one.resolved_at or one.step in stuck else one.replace(resolved_at=at, resolution="restored")
        for one in known
    )
    missing = stuck - {one.step for one in closed if not one.resolved_at}
    again = (Escalation(path, progress[path].reason, progress[path].rounds, at) for path in sorted(missing))
    return (*closed, *again)


def escalations(
    known: tuple[Escalation, ...], before: Progress, after: Progress, event: ev.Moved, at: str
) -> tuple[Escalation, ...]:
    """The list with a new escalation, or with the answer to the one that was open."""
    if event.move == "escalated":
        return (*known, Escalation(event.step, event.reason, after.acts[-1].iteration if after.acts else 0, at))
    if before.status != lifecycle.ESCALATED or after.status == lifecycle.ESCALATED:
        return known
    said = {"overridden": "override", "resumed": f"guidance: {event.feedback}" if event.feedback else "resumed"}
    answer = {"resolved_at": at, "resolution": said.get(event.move, event.move)}
    return tuple(one.replace(**answer) if one.step == event.step and not one.resolved_at else one for one in known)


def unchanged(path: str, progress: Progress, facts: Facts) -> list[str]:
    """The files of a step that have to change before it is handed in again, where none of them has."""
    sent_back = progress.sent_back if progress.status in (lifecycle.PENDING, lifecycle.ACTIVE) else {}
    known, now = progress.turned_down, _contents(path, progress, facts)
    is_same = now.keys() == sent_back.keys() and all(
        not {sent_back[name], *known.get(name, ())}.isdisjoint(seen) for name, seen in now.items()
    )
    if not sent_back or not is_same:
        return []
    artifacts = progress.artifacts if path in facts.hand_ins else {}  # their names say less than their files
    return [artifacts[name].path if name in artifacts else name for name in now]


def unchanged_because(path: str, progress: Progress, names: list[str], facts: Facts) -> str:
    listed = " and ".join(names)
    if any(_last(progress, name).isdisjoint(now) for name, now in _contents(path, progress, facts).items()):
        verb, how = "is" if len(names) == 1 else "are", "failed" if is_failure(progress) else "was sent back"
        return f"{listed} {verb} as in an earlier try that {how}"
    return f"you have not changed {listed} since the {'last try failed' if is_failure(progress) else 'rejection'}"


def copied_because(files: tuple[str, ...]) -> str:
    return f"{' and '.join(files)} {'has' if len(files) == 1 else 'have'} not been changed yet"


def as_it_is_ways(path: str) -> tuple[Remedy, Remedy]:
    """The ways on: other work is handed in, or the reason why not."""
    as_it_is = remedies.done(path, given={"unchanged": remedies.REASON}, text="if no change is needed")
    return remedies.done(path, text=remedies.FIX), as_it_is


def _last(progress: Progress, name: str) -> set[str]:
    """What a file was when it was sent back last: its hash, and that of its words, which is kept behind it."""
    known, was = progress.turned_down.get(name, ()), progress.sent_back.get(name, "")
    after = known[len(known) - known[::-1].index(was) :][:1] if was in known else ()
    return {was, *filter(is_of_words, after)}


def _contents(path: str, progress: Progress, facts: Facts) -> dict[str, tuple[str, ...]]:
    """What the work of a step that was sent back is now, and what it says, without the files that are gone."""
    whole = facts.hand_ins.get(path)
    if whole is not None:
        new = {name for name, one in whole.parts.items() if name not in progress.sent_back and not one[2]}
        return {name: contents(one, whole.said.get(name, "")) for name, one in whole.hashes.items() if name not in new}
    listed = {name: one for name, one in progress.artifacts.items() if name in progress.sent_back}
    now = {name: facts.hashes.get(one.path, (one.hash, 0)) for name, one in listed.items()}
    return {
        name: contents(seen[0], facts.said.get(listed[name].path, "")) for name, seen in now.items() if seen is not None
    }
