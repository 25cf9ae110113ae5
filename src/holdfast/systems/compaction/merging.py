"""What notes and plans say of a workflow that is known: added to it, where it is news.

An agent's own fields are never written over: only what is new since a file was last looked at is taken.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, moment, queries, record, remedies
from holdfast.core.remedy import naming, typed
from holdfast.core.state import Actor, Alert, State
from holdfast.core.value import Any
from holdfast.documents.lens.edits import finishing
from holdfast.documents.reconcile import FILE
from holdfast.errors import HoldfastError
from holdfast.systems.compaction.document import DIALECT, left_out, position, shown
from holdfast.systems.compaction.rules import seen
from holdfast.systems.seam.wired import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.systems.compaction.detection import Sighting

NOTES = ("CLAUDE.local.md", "CLAUDE/Plan")
"""Where a project keeps notes of workflows."""
_ENDS = ("completed", "cancelled")


def merge(wired: Wired, sighting: Sighting, known: State, actor: Actor, *, again: bool = False) -> None:
    """`again` where a plan that had ended the workflow has just taken that back: then it says where the work is."""
    shown_at = written(wired, DIALECT.document.path(known))
    state = wired.reconciler.reconcile(known)
    before = seen(state).get(sighting.source) or None
    if before == account(sighting) or not queries.is_active(state):
        return
    moved_at = shown_at if before is None or state.revision != known.revision else _moved_at(state)
    is_newer = again or written(wired, sighting.source) > moved_at
    if is_plan(sighting) and sighting.status in _ENDS:
        if before is not None and before["phase"]["status"] not in _ENDS:
            how = _brought(wired, sighting.source)
            _goes_on_by_git(wired, state, sighting, how) if how else _end(wired, state, sighting)
        else:
            wired.execute(state.ulid, sight(sighting), actor)
        return
    told: list[cmd.Command] = []
    try:
        moves = _moves(wired, state, sighting, before, is_newer, again=again)
    except HoldfastError as refusal:  # a gate holds
        moves, told = [], [_not_taken(wired, state, sighting, refusal)]
    additions = _additions(state, sighting, before or {}, is_newer)
    try:
        outcome = wired.engine.execute(state.ulid, cmd.Together((sight(sighting), *additions, *moves, *told)), actor)
    except HoldfastError as first:
        if first.code == "lock_timeout":
            raise
        for part in filter(None, (additions, moves)):
            try:
                wired.reconciler.settle(wired.engine.execute(state.ulid, cmd.Together(tuple(part)), actor))
            except HoldfastError as refusal:  # a gate holds, or there is no room
                told.append(_not_taken(wired, state, sighting, refusal, is_position=part is moves))
        outcome = wired.engine.execute(state.ulid, cmd.Together((sight(sighting), *told)), actor)
    wired.reconciler.settle(outcome)


def is_plan(sighting: Sighting) -> bool:
    return sighting.source.startswith(NOTES[1])


def was_ended(state: State, sighting: Sighting) -> bool:
    """Whether the workflow ended by what the plan said when it was last looked at."""
    last = seen(state).get(sighting.source) or {}
    by_file = state.cancelled.by == FILE.kind if state.cancelled else bool(record.finished_by(state, FILE.kind))
    return bool(last) and last["phase"]["status"] in _ENDS and by_file


def written(wired: Wired, path: str) -> float:
    """When a file of the worktree was last written; never, where it is not there."""
    try:
        return os.stat(os.path.join(wired.place.worktree, path)).st_mtime if path else 0.0
    except OSError:
        return 0.0


def sight(sighting: Sighting) -> cmd.Own:
    return cmd.Own(DIALECT.name, "sight", {"source": sighting.source, "account": account(sighting)})


def account(sighting: Sighting) -> dict[str, Any]:
    return {
        "phase": phase(sighting),
        "reason": sighting.reason,
        "reading": list(sighting.reading),
        "context": dict(sighting.context),
        "reminders": list(sighting.reminders),
    }


def phase(sighting: Sighting) -> dict[str, Any]:
    """The position as a document says it. A plan that has begun and does not continue is blocked, whatever its word."""
    status = "blocked" if is_plan(sighting) and sighting.status == "not_started" else sighting.status
    return {"current": sighting.current, "total": sighting.total, "name": sighting.phase, "status": status}


def _moved_at(state: State) -> float:
    """When a phase last began or ended."""
    times = [time for one in state.progress.values() for time in (one.started_at, one.finished_at) if time]
    return max(map(moment.to_epoch, times), default=0.0)


def _end(wired: Wired, state: State, sighting: Sighting) -> None:
    """A plan whose status says that it is over ends its workflow; a copy of the document is kept.

    It counts as said by a file: to put the document back is to resume the workflow.
    """
    path, said = DIALECT.document.path(state), f"{sighting.source} says: {sighting.reason}"
    data = wired.documents.read(state, path) if path else None
    kept = wired.documents.quarantine(path, data, said) if data else ""
    alert = cmd.Alarm(Alert(wired.world.now(), record.ENDED, f"{said}, so the workflow ended", path, kept))
    ending = [cmd.Cancel(said)] if sighting.status == "cancelled" else finishing(state, said)
    wired.execute(state.ulid, cmd.Together((sight(sighting), alert, *ending)), FILE)


def _brought(wired: Wired, path: str) -> str:
    """How git changed a file of the worktree; empty where somebody wrote it."""
    repository = wired.place.repository
    if repository is None:
        return ""
    from holdfast.git import moves

    return moves.brought(repository, os.path.join(wired.place.worktree, path))


def _goes_on_by_git(wired: Wired, state: State, sighting: Sighting, how: str) -> None:
    said = f"{sighting.source} says: {sighting.reason}, as git brought it ({how}): that ends nothing"
    alert = cmd.Alarm(Alert(wired.world.now(), "plan_from_git", said, sighting.source))
    wired.execute(state.ulid, cmd.Together((sight(sighting), alert)), FILE)


def _is_as_sighted(shown: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether the document is where the notes put it when they were last looked at. They may have named no phase."""
    return all(shown["phase"].get(what) == said for what, said in before.items() if said or what != "name")


def _additions(state: State, sighting: Sighting, before: Mapping[str, Any], is_newer: bool) -> list[cmd.Command]:
    """What the notes say now and did not say before, and the workflow does not have. Of two values the newer counts."""
    out: list[cmd.Command] = []
    for what, has in (("reading", state.reading), ("reminders", state.reminders)):
        said, old = getattr(sighting, what), before.get(what, ())
        new = tuple(item for item in said if item not in has and item not in old)
        if new:
            out.append(cmd.Brief(what, add=new))
    old = before.get("context", {})
    new_values = {k: v for k, v in sighting.context.items() if old.get(k) != v and state.context.get(k) != v}
    values = {k: v for k, v in new_values.items() if is_newer or k not in state.context}
    return [*out, cmd.Record(values)] if values else out


def _moves(
    wired: Wired, state: State, sighting: Sighting, before: Mapping[str, Any] | None, is_newer: bool, *, again: bool
) -> list[cmd.Command]:
    """A position that changed in the notes since they were last looked at is news, like an edit of the document.

    Where the document has moved meanwhile, or was there first, the newer of the two counts, and that is told.
    """
    said = phase(sighting)
    is_worded = said["status"] == "blocked" and before is not None and before["reason"] != sighting.reason
    if before is not None and before.get("phase") == said and not is_worded:
        return []
    document = wired.documents.value(state)
    agrees = again or (before is not None and _is_as_sighted(document, before["phase"]))
    if not agrees and _is_as_sighted(document, said):
        return []
    taken = said if is_plan(sighting) else _going_on(state, said)
    both = document, {**document, "phase": taken}
    moves = [*position(state, *both), *left_out(state, *both)] if agrees or is_newer else []
    moves = _blocked(state, sighting, moves, is_worded=is_worded and agrees)
    told = [] if agrees else [_told_newer(sighting, said, document["phase"], is_newer)]
    if taken != said and (agrees or is_newer):
        told.append(_told_open(state, sighting, said, moves))
    return [*moves, *(_alarm(wired, state, record.DIFFERS, one) for one in told)]


def _blocked(state: State, sighting: Sighting, moves: list[cmd.Command], *, is_worded: bool) -> list[cmd.Command]:
    """What stops a phase, with the words of the file. Another reason than the file gave before takes its place."""
    source, reason = f"{sighting.source} says: ", f"{sighting.source} says: {sighting.reason}"
    path = shown(state)
    if is_worded and not moves and state.step(path).reason.startswith(source):
        return [cmd.Resume(path), cmd.Block(path, reason)]
    return [one.replace(reason=reason) if isinstance(one, cmd.Block) else one for one in moves]


def _going_on(state: State, said: Mapping[str, Any]) -> Mapping[str, Any]:
    """A position of notes, by which no workflow ends: its last phase continues, and phases still to be done stay."""
    if said["status"] != "completed":
        return said
    tops = state.plan.children("")
    if any(state.step(path).status not in lifecycle.FINISHED for path in tops[said["current"] :]):
        return {**said, "total": max(said["total"], len(tops))}
    return said if said["current"] < said["total"] else {**said, "status": "in_progress"}


def _told_newer(sighting: Sighting, said: Mapping[str, Any], shown: Mapping[str, Any], is_newer: bool) -> str:
    told = f"{sighting.source} said phase {_position(said)}, and the state file {_position(shown)}"
    return f"{told}: the newer was taken, which was {sighting.source if is_newer else 'the state file'}"


def _told_open(state: State, sighting: Sighting, said: Mapping[str, Any], moves: list[cmd.Command]) -> str:
    added = (one.step.id for one in moves if isinstance(one, cmd.AddStep))
    last = [*state.plan.children(""), *added][max(said["total"], len(state.plan.children(""))) - 1]
    ended = typed(remedies.done(last), naming(state))
    return f"{sighting.source} says phase {_position(said)}, and notes end no workflow. When all is done: {ended}"


def _position(said: Mapping[str, Any]) -> str:
    return f"{said['current']}/{said['total']}, {said['status']}"


def _not_taken(
    wired: Wired, state: State, sighting: Sighting, refusal: HoldfastError, *, is_position: bool = True
) -> cmd.Alarm:
    what = f"phase {_position(phase(sighting))}" if is_position else "more to read, to remember or to know"
    return _alarm(
        wired, state, record.DIFFERS, f"{sighting.source} says {what}, which was not taken: {refusal.message}"
    )


def _alarm(wired: Wired, state: State, code: str, told: str) -> cmd.Alarm:
    return cmd.Alarm(Alert(wired.world.now(), code, told, DIALECT.document.path(state)))
