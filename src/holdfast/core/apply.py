"""The fold: (state, event) → state. Pure and total: whatever the journal says has happened, has happened."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core import cycle, lifecycle, moment, provenance
from holdfast.core import events as ev
from holdfast.core import state as states
from holdfast.core.definition import Check
from holdfast.core.history import entry_of, is_told
from holdfast.core.plan import Plan
from holdfast.core.state import KEPT, Actor, Mark, Progress, Seat, Shown, Snapshot, State, Try
from holdfast.core.value import Any, Value, assert_never

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

KEPT_PER_STEP = 20
"""How many verdicts, tries and old grants a step keeps; the journal has all."""


class Record(Value):
    """One line of the journal: a command's events, and everything that goes with them."""

    revision: int
    at: str
    actor: Actor
    command: str
    events: tuple[ev.Event, ...]
    key: str = ""
    payload: str = ""
    shown: Shown | None = None
    redacted: Mapping[str, int] = {}
    """How many likely secrets were redacted in it, by kind."""


class _Draft(State):
    """A state that only a `Fold` has yet, so that `replace` need not copy it for every event."""

    def replace(self, **changes: Any) -> Self:
        self.__dict__.update(changes)
        return self


class Fold:
    """Folds record after record. The history is put into words when it is asked for: most of it is dropped by then."""

    def __init__(self, state: State | None = None) -> None:
        self._draft = state and _Draft.from_fields({**state.__dict__})
        self._told: list[tuple[ev.Event, str, Actor, Mapping[str, Any]]] = []

    def add(self, record: Record) -> None:
        state, at, actor = self._draft, record.at, record.actor
        for event in record.events:
            state = _changed(state, event, at, actor)
            if is_told(event):
                self._told.append((event, at, actor, _commit(state, event)))
        assert state is not None
        if not isinstance(state, _Draft):
            state = _Draft.from_fields({**state.__dict__})
        self._draft = seal(state, record)

    @property
    def state(self) -> State:
        """The state after the records so far."""
        draft = self._draft
        assert draft is not None
        if self._told:
            new, count = [_entry(*told) for told in self._told[-KEPT:]], draft.history_count + len(self._told)
            draft.replace(history=(*draft.history, *new)[-KEPT:], history_count=count)
            self._told.clear()
        return State.from_fields({**draft.__dict__})


def fold(state: State | None, record: Record) -> State:
    """The state after one record."""
    folding = Fold(state)
    folding.add(record)
    return folding.state


def seal(state: State, record: Record) -> State:
    """The state once all events of a record are applied: it has the record's revision, time, key and what was shown."""
    changes: dict[str, Any] = {"revision": record.revision, "updated_at": record.at}
    if record.key:
        keys = list({**state.keys, record.key: (record.payload, record.revision)}.items())
        of_start = [one for one in keys[:1] if one[1][1] == 1]  # asked for however long ago the start was
        changes["keys"] = dict([*of_start, *keys[-states.KEPT_KEYS :]])
    session = record.actor.session
    if record.actor.kind == "agent" and (session or state.require_ack):
        seat = state.seats.get(session, Seat(record.at, caught_up=0))
        changes["seats"] = _seats(state, session, seat.replace(at=record.at))
    if record.shown:
        changes["renderings"] = (*state.renderings, record.shown)[-states.KEPT_RENDERINGS :]
    if record.redacted:
        changes["redacted"] = summed(state.redacted, record.redacted)
    return state.replace(**changes)


def summed(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}


def replay(records: Iterable[Record], state: State | None = None) -> State | None:
    folding, known = Fold(state), state is not None
    for record in records:
        folding.add(record)
        known = True
    return folding.state if known else None


def apply(state: State | None, event: ev.Event, at: str, actor: Actor) -> State:
    after = _changed(state, event, at, actor)
    if not is_told(event):
        return after
    entry = _entry(event, at, actor, _commit(after, event))
    return after.replace(history=(*after.history, entry)[-KEPT:], history_count=after.history_count + 1)


def _changed(state: State | None, event: ev.Event, at: str, actor: Actor) -> State:
    """The state after an event, but for its history."""
    if state is not None and isinstance(event, ev.Moved):
        return _rested(_stepped(state, event, at), at)
    if isinstance(event, ev.Started):
        return _first(event, created_at=at, updated_at=at, moved_at=at)
    if isinstance(event, ev.Adopted):
        return _rested(_finished(_adopted(event, at), at), at)
    assert state is not None, "a journal begins with started or adopted"
    return _rested(_applied(state, event, at, actor), at)


def _commit(state: State, event: ev.Event) -> Mapping[str, Any]:
    """The commit with which a step was done, as the history has it."""
    if isinstance(event, ev.Moved) and event.move == "completed":
        data = state.step(event.step).data
        return {"commit": data["commit_sha"]} if "commit_sha" in data else {}
    return {}


def _entry(event: ev.Event, at: str, actor: Actor, commit: Mapping[str, Any]) -> Mapping[str, Any]:
    entry = entry_of(event, at, actor)
    assert entry is not None
    return {**entry, **commit} if commit else entry


def _first(event: ev.Started | ev.Adopted, **changes: Any) -> State:
    """The first state: what the event and a state have in common, with these changes."""
    shared = {name: value for name, value in event.items() if name in State._known}
    return State(**{**shared, "plan": Plan(event.steps), **changes})


def _adopted(event: ev.Adopted, at: str) -> State:
    return _first(
        event,
        origin="adopted",
        created_at=event.created_at or at,
        updated_at=at,
        moved_at=at,
        history=event.history[-KEPT:],
        history_count=max(len(event.history), event.history_count),
        learnings=event.learnings[-KEPT:],
        learnings_count=len(event.learnings),
        fence=max((lease.token for lease in event.leases.values()), default=0),
        base=event.document,
    )


def _applied(state: State, event: ev.Event, at: str, actor: Actor) -> State:
    match event:
        case ev.Started() | ev.Adopted():
            return state
        case ev.Moved():
            return _stepped(state, event, at)
        case ev.Produced():
            return _with(state, event.step, artifacts={**state.step(event.step).artifacts, event.name: event.artifact})
        case ev.Dropped():
            left = {name: one for name, one in state.step(event.step).artifacts.items() if name != event.name}
            return _with(state, event.step, artifacts=left)
        case ev.Checked():
            return _with(state, event.step, evidence={**state.step(event.step).evidence, event.name: event.evidence})
        case ev.Reviewed():
            step = state.step(event.step)
            approved = event.verdict.verdict == "approved"
            reviewed = step.replace(
                verdicts=(*step.verdicts, event.verdict)[-KEPT_PER_STEP:],
                reviewed=approved,
                rounds=step.rounds if approved else step.rounds + 1,
                failures=0,
            )
            return _put(state, event.step, cycle.judged(reviewed, event.verdict.verdict))
        case ev.Advised():
            return _put(state, event.step, cycle.advised(state.step(event.step), event.feedback))
        case ev.Granted():
            step = state.step(event.step)
            old = (step.grant,) if step.grant else ()
            past = (*step.past_grants, *old)[-KEPT_PER_STEP:]
            return _with(state, event.step, grant=event.grant, past_grants=past)
        case ev.Noted():
            note = {"at": at, "by": actor.label, "text": event.text, **({"step": event.step} if event.step else {})}
            return state.replace(notes=(*state.notes, note)[-KEPT:])
        case ev.Recorded():
            if not event.step:
                return state.replace(context=_recorded(state.context, event))
            return _with(state, event.step, data=_recorded(state.step(event.step).data, event))
        case ev.Marked():
            mark = Mark(at, actor.label, event.reason, event.person) if event.on else None
            freed: dict[str, Any] = {"leases": {}, "locks": {}} if event.mark == "cancelled" and event.on else {}
            return state.replace(**{event.mark: mark}, **freed, moved_at=at)
        case ev.Founded():
            return state.replace(parent=event.parent, parent_seal=event.seal, outdated=None)
        case ev.Rehomed():
            return _rehomed(state, event)
        case ev.Spent():
            spent = state.replace(spent=state.spent + event.micros)
            if event.step not in state.plan:
                return spent
            return _with(spent, event.step, spent=state.step(event.step).spent + event.micros)
        case ev.Warned():
            return state.replace(warned=(*state.warned, f"{event.bound}:{event.percent}"))
        case ev.Extended():
            return _extended(state, event)
        case ev.Leased():
            key = event.lease.agent or f"{event.lease.role}@{event.lease.step}"
            return state.replace(
                leases={**state.leases, key: event.lease},
                fence=max(state.fence, event.lease.token),
                agent_calls=state.agent_calls + 1,
            )
        case ev.Beat():
            beating = {
                name: lease.replace(boot=event.boot, deadline=event.deadline, key=event.key or lease.key)
                if lease.token == event.token
                else lease
                for name, lease in state.leases.items()
            }
            return state.replace(leases=beating)
        case ev.Released():
            return state.replace(leases={k: v for k, v in state.leases.items() if v.token != event.token})
        case ev.Locked():
            fence = max((state.fence, *(hold.token for hold in event.holds.values())))
            return state.replace(locks={**state.locks, **event.holds}, fence=fence)
        case ev.Unlocked():
            return state.replace(locks={p: hold for p, hold in state.locks.items() if p not in event.paths})
        case ev.Compacted():
            seat = state.seats.get(actor.session, Seat(at)).replace(at=at)
            return _seated(state, actor, seat.replace(compactions=seat.compactions + 1))
        case ev.Seated():
            return _seated(state, actor, state.seats.get(actor.session, Seat(at)).replace(at=at))
        case ev.Acknowledged():
            seat = state.seats.get(actor.session, Seat(at))
            return _seated(state, actor, seat.replace(at=at, caught_up=seat.compactions))
        case ev.Urged():
            return state.replace(urged=state.urged + 1)
        case ev.Briefed():
            return state.replace(**{event.what: event.entries})
        case ev.Learned():
            learned = (*state.learnings, event.learning)[-KEPT:]
            return state.replace(learnings=learned, learnings_count=state.learnings_count + 1)
        case ev.Owned():
            return state.replace(own={**state.own, event.system: {**state.own.get(event.system, {}), **event.values}})
        case ev.Refiled():
            return state.replace(file=event.file)
        case ev.Amended():
            return _finished(_amended(state, event), at)
        case ev.Equipped():
            return state.replace(plan=equipped(state.plan, event))
        case ev.Snapshotted():
            taken = Snapshot(event.number, state.revision + 1, at, event.head, event.label)
            return state.replace(snapshots=(*state.snapshots, taken)[-KEPT:], stands_at=event.number)
        case ev.Restored():
            stands_at = event.number or state.stands_at
            listed = cycle.restored(state.escalations, event.progress, at)
            back = state.replace(plan=Plan(event.steps), progress=event.progress, escalations=listed)
            return _finished(back.replace(stands_at=stands_at, moved_at=at), at)
        case ev.Branched():
            return state.replace(branch=event.branch)
        case ev.Renamed():
            return state.replace(title=event.title)
        case ev.Edited():
            return state.replace(base=event.document)
        case ev.Remembered():
            return state
        case ev.Alerted():
            return state.replace(alerts=(*state.alerts, event.alert)[-states.KEPT_ALERTS :])
        case _:
            assert_never(event)


def _stepped(state: State, event: ev.Moved, at: str) -> State:
    """The state after a step moved: most of what happens."""
    path, known = event.step, event.step in state.plan
    before = state.step(path)
    after = _moved(before, event, at)
    judged = state.plan.step(path).result if known else ""
    if judged and (event.move in _AGAIN or before.status == lifecycle.FAILED) and after.artifacts:
        # What was found of other work says nothing of this.
        after = after.replace(artifacts={n: a for n, a in after.artifacts.items() if n != judged})
    if judged and judged in after.sent_back:  # the same can be found of another work
        after = after.replace(sent_back={n: was for n, was in after.sent_back.items() if n != judged})
    approval = state.plan.step(path).approval if known and after.sent_back else None
    if approval and approval.of in after.sent_back:
        after = after.replace(sent_back={approval.of: after.sent_back[approval.of]})
    if after.sent_back != before.sent_back:
        after = cycle.turned_down(after)
    if known and state.plan.step(path).review:
        after = cycle.acted(before, after, event, at)
    moved = _put(state.replace(urged=0, moved_at=at), path, after)
    if lifecycle.ESCALATED in (before.status, after.status):
        listed = cycle.escalations(moved.escalations, before, after, event, at)
        moved = moved.replace(escalations=listed[-KEPT:])
    if event.blames:
        moved = _blamed(moved, event, at)
    is_over = after.status in lifecycle.FINISHED
    return moved if is_over == (before.status in lifecycle.FINISHED) else _finished(moved, at)


_AGAIN = ("reset", "reopened", "retried")


def _recorded(known: Mapping[str, Any], event: ev.Recorded) -> dict[str, Any]:
    kept = {name: value for name, value in known.items() if name not in event.removed}
    return {**kept, **event.values}


def _seated(state: State, actor: Actor, seat: Seat) -> State:
    return state.replace(seats=_seats(state, actor.session, seat))


def _seats(state: State, session: str, seat: Seat) -> dict[str, Seat]:
    """The seats with the one that was taken last at the end; the oldest make room, unless they hold something."""
    holding = {lease.session for lease in state.leases.values()} | {hold.session for hold in state.locks.values()}
    others = [(name, other) for name, other in state.seats.items() if name != session]
    spare = max(0, len(others) + 1 - states.KEPT_SEATS)
    for name in [name for name, _ in others if name not in holding][:spare]:
        others = [pair for pair in others if pair[0] != name]
    return dict([*others, (session, seat)])


def _with(state: State, path: str, **changes: Any) -> State:
    return _put(state, path, state.step(path).replace(**changes))


def _put(state: State, path: str, step: Progress) -> State:
    return state.replace(progress={**state.progress, path: step})


def _moved(step: Progress, event: ev.Moved, at: str) -> Progress:
    move, status = event.move, lifecycle.after(step.status, event.move)
    changes: dict[str, Any] = {"status": status, "reason": event.reason}
    if event.attempt and event.attempt != step.attempt:
        changes.update(attempt=event.attempt, started_at=at, finished_at="", reviewed=False)
        if step.attempt:
            # Facts about a try are not facts about the next one.
            changes["data"] = {name: step.data[name] for name in states.LASTING if name in step.data}
    if event.feedback:
        changes["feedback"] = (*step.feedback, event.feedback)[-KEPT_PER_STEP:]
    changes["advice"] = cycle.advice(step, event)
    if step.artifacts or step.sent_back:
        changes["sent_back"] = cycle.sent_back(step, event)
    if event.renewed:
        changes.update(failures=0, rounds=0)
    if move == "failed":
        changes["failures"] = step.failures + 1
    if move in ("failed", "rejected"):
        changes["tries"] = (*step.tries, Try(step.attempt, move, at, event.reason, event.data))[-KEPT_PER_STEP:]
    if move in ("revised", "withdrawn"):
        changes["reviewed"] = False
        if step.status == lifecycle.WAITING:
            changes["rounds"] = 0
    if move == "reset":
        changes.update(started_at="", finished_at="", reviewed=False)
    changes["waiting_since"] = at if status == lifecycle.WAITING else ""
    if status in lifecycle.FINISHED:
        changes["finished_at"] = at
    return step.replace(**changes)


def _blamed(state: State, event: ev.Moved, at: str) -> State:
    """What the judging of a step means for the step that was judged."""
    step = state.step(event.blames)
    if event.renewed:
        return _with(state, event.blames, failures=0)
    tries = (*step.tries, Try(step.attempt, event.move, at, event.reason, event.data))[-KEPT_PER_STEP:]
    first = state.plan.step(event.blames).outputs[:1] if event.blames in state.plan else ()
    sent_back = {name: one.hash for name, one in step.artifacts.items() if name in (first or step.artifacts)}
    blamed = cycle.turned_down(step.replace(failures=step.failures + 1, tries=tries, sent_back=sent_back))
    return _put(state, event.blames, blamed)


def _finished(state: State, at: str) -> State:
    """Keeps the moment the last step was done, and forgets it when one is opened again."""
    done = all(state.step(path).status in lifecycle.FINISHED for path in state.plan.children(""))
    return state if done == bool(state.finished_at) else state.replace(finished_at=at if done else "")


def _rested(state: State, at: str) -> State:
    """Counts the time in which nobody was to work: paused, cancelled, finished or stuck, however these overlap."""
    resting = bool(state.paused or state.cancelled or state.finished_at or _is_stuck(state))
    if resting == bool(state.rest_since):
        return state
    if resting:
        return state.replace(rest_since=at)
    return state.replace(rest_since="", rested_seconds=state.rested_seconds + moment.between(state.rest_since, at))


def _rehomed(state: State, event: ev.Rehomed) -> State:
    def moved(value: Any) -> Any:
        if isinstance(value, str):
            if not value.startswith(event.before):
                return value
            rest = value[len(event.before) :]
            return event.after + rest if rest.partition("/")[0] in event.own else rest
        if isinstance(value, Mapping):
            return {name: moved(item) for name, item in value.items()}
        return [moved(item) for item in value] if isinstance(value, list) else value

    progress = {
        path: step.replace(artifacts={n: a.replace(path=moved(a.path)) for n, a in step.artifacts.items()})
        for path, step in state.progress.items()
    }
    base = None if state.base is None else moved(state.base)
    return state.replace(session="", progress=progress, base=base)


def _extended(state: State, event: ev.Extended) -> State:
    """A bound that is wider now warns again; the others have warned."""
    old, new = dict(state.bounds.items()), event.bounds
    wider = tuple(name.removeprefix("max_") for name, limit in new.items() if limit != old[name])
    kept = tuple(said for said in state.warned if not said.startswith(wider))
    return state.replace(bounds=new, warned=kept)


def equipped(plan: Plan, event: ev.Equipped) -> Plan:
    """The tree with a command of the project in the checks that use it."""
    own = {name: getattr(event, name) for name in ("run", "source", "folder", "run_by", "by")}

    def change(check: Check) -> Check:
        if check.uses != event.uses:
            return check
        now = check.replace(**own, report=event.report or check.report)
        return now.replace(was=provenance.first(check, now))

    return plan.with_checks(event.under, change)


def _amended(state: State, event: ev.Amended) -> State:
    plan = state.plan
    if event.op == "add" and event.step is not None:
        return state.replace(plan=plan.added(event.path, event.step, event.after))
    amended = plan.changed(event.path, lambda _: None if event.op == "retire" else event.step)
    return state.replace(plan=amended, progress={p: step for p, step in state.progress.items() if p in amended})


_stuck = states.Following(lambda one: one.status in lifecycle.STUCK)


def _is_stuck(state: State) -> bool:
    """Whether a step failed, or waits to be unblocked, and nobody is at work on another one."""
    plan, opened = state.plan, states.OPENED.of(state.progress)
    is_open = any(path in plan and plan.is_leaf(path) for path in opened)
    return not is_open and any(path in plan for path in _stuck.of(state.progress))
