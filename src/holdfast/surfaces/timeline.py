"""The journal as a story: who did what, and when, in words."""

from __future__ import annotations

from _collections_abc import Iterable

from holdfast.core import events as ev
from holdfast.core import lifecycle, moment, provenance
from holdfast.core.apply import Record
from holdfast.core.recognition import PASSKEY, SIGNATURE, TERMINAL
from holdfast.core.remedy import quoted
from holdfast.core.state import SAME_RUN
from holdfast.core.value import assert_never
from holdfast.plain.terminal import Style, clip, columns, escape, pad, paint, wrap

WIDEST_ACTOR = 18
_LINES = 2
_TARGET = {move: next(iter(targets.values())) for move, targets in lifecycle.MOVES.items()}


def lines(records: Iterable[Record], style: Style, width: int, last: Record | None = None) -> list[str]:
    """Days as headings, then revision, time (UTC), actor, and one line for each thing that happened.

    `last` is the record before them, where it is shown already.
    """
    told = [(record, said) for record in records if (said := [one for e in record.events if (one := words(e))])]
    if not told:
        return [] if last else ["nothing has happened yet"]
    number = max(len(str(record.revision)) for record, _ in told)
    actor = min(WIDEST_ACTOR, max(columns(escape(record.actor.label)) for record, _ in told))
    before = " " * (number + actor + 14)
    room = max(20, width - len(before))
    out: list[str] = []
    day = last.at[:10] if last else ""
    for record, said in told:
        if record.at[:10] != day:
            out += ([""] if day else []) + [style.bold(escape(record.at[:10])) + style.dim(" UTC")]
            day = record.at[:10]
        who = pad(clip(escape(record.actor.label), actor), actor)
        head = f"{style.dim(f'{record.revision:>{number}}')}  {escape(record.at[11:19])}  {style.dim(who)}  "
        before_that = ""
        for status, what, why in said:
            short, why = escape(what), "" if why == before_that else why
            before_that = why or before_that
            inline = f"{short}: {escape(why)}"
            if why and "\n" not in why and columns(inline) <= room:
                short, why = inline, ""
            out.append(head + (paint(style, status) if status else str)(clip(short, room)))
            quoted = wrap(escape(why, lines=True), room - 2, _LINES)
            out += [f"{before}{style.dim(f'  {line}')}" for line in quoted]
            head = before
    return out


def words(event: ev.Event) -> tuple[str, str, str] | None:
    """An event's status for its colour, what happened, and why or with which words; None for mere heartbeats."""
    match event:
        case ev.Started():
            return "", f"started {event.type}" + (f": {event.subject}" if event.subject else ""), ""
        case ev.Adopted():
            return "", f"adopted {event.id} from a document", ""
        case ev.Moved():
            return _moved(event)
        case ev.Produced():
            return "", f"{event.step} produced {event.name} → {event.artifact.path}", ""
        case ev.Dropped():
            return "", f"{event.step} has no {event.name} any more", ""
        case ev.Checked():
            return _checked(event)
        case ev.Reviewed():
            approved = event.verdict.verdict == "approved"
            said = "review approved" if approved else "review asked for changes to"
            return "passed" if approved else "waiting", f"{said} {event.step}", event.verdict.feedback
        case ev.Advised():
            return "waiting", f"feedback for {event.step}", event.feedback
        case ev.Granted():
            chosen = f": {event.grant.variant}" if event.grant.variant else ""
            signed = f" (signed by {event.grant.by})"
            touched = f" (with the passkey of {event.grant.by})"
            how = {TERMINAL: "", SIGNATURE: signed, PASSKEY: touched}.get(event.grant.how, f" ({event.grant.how})")
            return "approved", f"approved {event.step}{chosen}{how}", ""
        case ev.Noted():
            return "", f"noted{f' on {event.step}' if event.step else ''}", event.text
        case ev.Recorded():
            return "", f"recorded {', '.join(event.values)}{f' of {event.step}' if event.step else ''}", ""
        case ev.Marked():
            return "paused", event.mark if event.on else f"no longer {event.mark}", event.reason
        case ev.Founded():
            return "", f"builds on {event.parent} as it is now", ""
        case ev.Rehomed():
            return "", f"continued in the project: session {event.session} was committed", ""
        case ev.Spent():
            by = f" by {event.agent}" if event.agent else ""
            return "", f"spent {moment.money(event.micros)}{by}{f' on {event.step}' if event.step else ''}", ""
        case ev.Warned():
            level = "failed" if event.percent >= 100 else "waiting"
            return level, f"{event.percent} % of the {event.bound} used: {event.used} of {event.limit}", ""
        case ev.Extended():
            return "", f"extended the bounds: {_bounds(event)}", ""
        case ev.Leased():
            lease = event.lease
            over = f", taking over from lease {event.took_over}" if event.took_over else ""
            return (
                "",
                f"{lease.role} began work{f' on {lease.step}' if lease.step else ''} (lease {lease.token}){over}",
                "",
            )
        case ev.Released():
            return "", f"lease {event.token} ended", event.outcome
        case ev.Locked():
            return "", f"{next(iter(event.holds.values())).agent} locked {', '.join(event.holds)}", ""
        case ev.Unlocked():
            return "", f"unlocked {', '.join(event.paths)}", ""
        case ev.Compacted():
            return "", "context compacted", event.note
        case ev.Acknowledged():
            return "", "a session took the work up again", ""
        case ev.Urged():
            return "", "an agent that wanted to stop was held at its work", ""
        case ev.Briefed():
            return "", f"{event.what}: {len(event.entries)} now", ""
        case ev.Learned():
            return "", f"learned ({event.learning.type})", event.learning.lesson
        case ev.Owned():
            said = str(event.entry.get("resolution", ""))
            return ("waiting" if said else "", event.line, said) if event.line else None
        case ev.Refiled():
            return "", f"archived in {event.file}", ""
        case ev.Branched():
            return "", f"is on {event.branch} now", ""
        case ev.Renamed():
            return "", "renamed", event.title
        case ev.Amended():
            added = f" {event.step.id}" if event.op == "add" and event.step else ""
            where = f" below {event.path}" if added and event.path else f" {event.path}" if not added else ""
            done = {"add": "added", "retire": "retired", "change": "changed"}.get(event.op, event.op)
            return "", f"amended the tree: {done}{added}{where}", ""
        case ev.Equipped():
            command = " ".join(map(quoted, event.run)) or "reported"
            where = f" for {event.under}" if event.under else ""
            source = f" ({event.source})" if event.source else ""
            return "", f"the {event.uses} command{where}: {command}{source}", provenance.typed(event.by)
        case ev.Snapshotted():
            return "", f"snapshot {event.number}{f' {event.label}' if event.label else ''}", ""
        case ev.Restored():
            return "waiting", f"restored snapshot {event.number}", ""
        case ev.Edited():
            return "", f"took over an edit of {event.path} ({event.source})", ""
        case ev.Remembered():
            name = str(event.entry.get("event", "history entry")).replace("_", " ")
            return "", name, str(event.entry.get("note", ""))
        case ev.Alerted():
            return "failed", f"alert {event.alert.code}", event.alert.message
        case ev.Beat() | ev.Seated():
            return None
        case _:
            assert_never(event)


def _moved(event: ev.Moved) -> tuple[str, str, str]:
    said = {
        "awaited": f"{event.step} waits for a person",
        "revised": f"changes asked for {event.step}",
        "withdrawn": f"{event.step} changed after it was handed in, and is worked on again",
        "overridden": f"overrode the escalation of {event.step}",
        "reset": f"{event.step} back to pending",
        "review_retried": f"the review of {event.step} is tried again",
    }.get(event.move, f"{event.move} {event.step}")
    again = f" (try {event.attempt})" if event.attempt > 1 and event.move in lifecycle.NEW_ATTEMPT | {"resumed"} else ""
    return _TARGET[event.move], said + again, event.reason or event.feedback


def _checked(event: ev.Checked) -> tuple[str, str, str]:
    evidence = event.evidence
    verdict = "passed" if evidence.passed else "failed"
    exit_code = f", exit {evidence.exit_code}" if evidence.exit_code else ""
    seen = provenance.how(evidence)
    how = f" ({seen})" if seen else ""
    how += f", in the run for {evidence.data[SAME_RUN]}" if evidence.data.get(SAME_RUN) else ""
    said = "; ".join(filter(None, (provenance.other_packages(evidence), evidence.detail)))
    return verdict, f"check {event.name} of {event.step} {verdict}{exit_code}{how}", said


def _bounds(event: ev.Extended) -> str:
    bounds = event.bounds
    known = (
        ("cost", moment.money(bounds.max_cost) if bounds.max_cost else ""),
        ("time", moment.span(bounds.max_time) if bounds.max_time else ""),
        ("iterations", str(bounds.max_iterations or "")),
    )
    return ", ".join(f"{name} {value}" for name, value in known if value)
