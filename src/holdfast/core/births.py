"""The first state of a workflow: from the event that started it, or from the document it was adopted from."""

from __future__ import annotations

from holdfast.core import events as ev
from holdfast.core.plan import Plan
from holdfast.core.state import KEPT, State


def started(event: ev.Started, at: str) -> State:
    return State(
        ulid=event.ulid,
        id=event.id,
        type=event.type,
        plan=Plan(event.steps),
        dialect=event.dialect,
        version=event.version,
        digest=event.digest,
        source=event.source,
        title=event.title,
        subject=event.subject,
        context=event.context,
        bounds=event.bounds,
        branch=event.branch,
        worktree=event.worktree,
        session=event.session,
        loads=event.loads,
        advance=event.advance,
        head=event.head,
        dirt=event.dirt,
        parent=event.parent,
        parent_seal=event.parent_seal,
        reading=event.reading,
        reminders=event.reminders,
        keep_going=event.keep_going,
        require_ack=event.require_ack,
        read_only=event.read_only,
        supervision=event.supervision,
        created_at=at,
        updated_at=at,
    )


def adopted(event: ev.Adopted, at: str) -> State:
    return State(
        ulid=event.ulid,
        id=event.id,
        type=event.type,
        plan=Plan(event.steps),
        dialect=event.dialect,
        title=event.title,
        subject=event.subject,
        context=event.context,
        branch=event.branch,
        worktree=event.worktree,
        origin="adopted",
        created_at=event.created_at or at,
        updated_at=at,
        progress=event.progress,
        history=event.history[-KEPT:],
        history_count=max(len(event.history), event.history_count),
        version=event.version,
        digest=event.digest,
        source=event.source,
        bounds=event.bounds,
        loads=event.loads,
        session=event.session,
        reading=event.reading,
        reminders=event.reminders,
        keep_going=event.keep_going,
        require_ack=event.require_ack,
        read_only=event.read_only,
        file=event.file,
        supervision=event.supervision,
        learnings=event.learnings[-KEPT:],
        learnings_count=len(event.learnings),
        snapshots=event.snapshots,
        spent=event.spent,
        rested_seconds=event.rested_seconds,
        leases=event.leases,
        alerts=event.alerts,
        escalations=event.escalations,
        fence=max((lease.token for lease in event.leases.values()), default=0),
        base=event.document,
    )
