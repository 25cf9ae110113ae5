"""What the history of a workflow says of each event, in the engine's words."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import events as ev
from holdfast.core.state import SAME_RUN, Actor
from holdfast.core.value import Any, assert_never

_SILENT = (ev.Adopted, ev.Recorded, ev.Spent, ev.Beat, ev.Seated)


def is_told(event: ev.Event) -> bool:
    """Whether the history says something of an event; not of what is only bookkeeping."""
    return bool(event.entry) if isinstance(event, ev.Owned) else not isinstance(event, _SILENT)


def entry_of(event: ev.Event, at: str, actor: Actor) -> Mapping[str, Any] | None:
    """What the history says of an event, in the engine's words; None for what is only bookkeeping."""

    def entry(event_name: str, **more: object) -> Mapping[str, Any]:
        said = {name: value for name, value in more.items() if value not in ("", None, {}, ())}
        return {"at": at, "event": event_name, "by": actor.label, **said}

    match event:
        case ev.Started():
            return entry("started", subject=event.subject)
        case ev.Moved():
            why = {"reason": event.reason, "feedback": event.feedback}
            return entry(event.move, step=event.step, attempt=event.attempt, **why)
        case ev.Produced():
            return entry("produced", step=event.step, artifact=event.name, path=event.artifact.path)
        case ev.Dropped():
            return entry("dropped", step=event.step, artifact=event.name)
        case ev.Checked():
            passed = event.evidence.passed
            seen = {"run_by": event.evidence.run_by, "detail": event.evidence.detail[:300]}
            seen["same_run"] = str(event.evidence.data.get(SAME_RUN, ""))
            return entry("checked", step=event.step, check=event.name, passed=passed, **seen)
        case ev.Reviewed():
            return entry("reviewed", step=event.step, verdict=event.verdict.verdict, feedback=event.verdict.feedback)
        case ev.Advised():
            return entry("advised", step=event.step, feedback=event.feedback)
        case ev.Granted():
            grant = event.grant
            return entry("approved", step=event.step, how=grant.how, variant=grant.variant)
        case ev.Noted():
            return entry("noted", step=event.step, note=event.text)
        case ev.Marked():
            return entry(event.mark if event.on else f"{event.mark}_ended", reason=event.reason)
        case ev.Founded():
            return entry("revalidated", parent=event.parent)
        case ev.Rehomed():
            return entry("committed", session=event.session)
        case ev.Warned():
            return entry("warned", bound=event.bound, percent=event.percent, used=event.used, limit=event.limit)
        case ev.Extended():
            return entry("extended")
        case ev.Leased():
            lease = event.lease
            return entry("agent_started", agent=lease.role, step=lease.step, took_over=event.took_over or "")
        case ev.Released():
            return entry("agent_ended", token=event.token, outcome=event.outcome)
        case ev.Amended():
            return entry("amended", op=event.op, step=event.path, added=event.step.id if event.step else "")
        case ev.Equipped():
            from holdfast.core.remedy import quoted

            command = " ".join(map(quoted, event.run))
            return entry(
                "equipped", uses=event.uses, command=command, source=event.source, step=event.under, by=event.by
            )
        case ev.Snapshotted():
            return entry("snapshot", number=event.number, head=event.head, label=event.label)
        case ev.Restored():
            return entry("restored", number=event.number) if event.number else entry("synced")
        case ev.Edited():
            return entry("edited", path=event.path, source=event.source)
        case ev.Remembered():
            return {"at": at, "entry": event.entry}
        case ev.Alerted():
            return entry("alert", code=event.alert.code, message=event.alert.message)
        case ev.Locked():
            agents = {hold.agent for hold in event.holds.values()}
            return entry("locked", paths=list(event.holds), agent=", ".join(sorted(agents)))
        case ev.Unlocked():
            return entry("unlocked", paths=list(event.paths))
        case ev.Compacted():
            return entry("context_compacted", note=event.note)
        case ev.Acknowledged():
            return entry("caught_up", session=actor.session)
        case ev.Urged():
            return entry("held_at_work")
        case ev.Briefed():
            return entry("briefed", what=event.what, count=len(event.entries))
        case ev.Learned():
            return entry("learned", step=event.learning.step, type=event.learning.type, lesson=event.learning.lesson)
        case ev.Owned():
            named = event.entry.get("event", event.system)
            return {"at": at, "event": named, "by": actor.label, **event.entry} if event.entry else None
        case ev.Refiled():
            return entry("archived", path=event.file)
        case ev.Branched():
            return entry("merged", branch=event.branch)
        case ev.Renamed():
            return entry("renamed", title=event.title)
        case ev.Adopted() | ev.Recorded() | ev.Spent() | ev.Beat() | ev.Seated():
            return None
        case _:
            assert_never(event)
