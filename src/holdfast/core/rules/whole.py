"""The workflow as a whole: cancel, pause, resume, bounds, notes, snapshots."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import gates, lifecycle, limits, moment, policies, queries, refusals, remedies
from holdfast.core.draft import Draft
from holdfast.core.names import checked_text, optional_text
from holdfast.core.plan import ancestors
from holdfast.core.rules import agents, steps
from holdfast.core.state import PERSONS, Alert, Progress, State
from holdfast.errors import UsageError


def resume(draft: Draft, command: cmd.Resume) -> None:
    """Takes the marks away and gets the first stuck step going again, or the one that is named.

    What a file ended continues at the first step that it finished; what a command finished is not resumed.
    """
    state = draft.state
    draft.require_bounds()
    _require_stopped(draft, command.step)
    if state.cancelled:
        if queries.is_by_person(state.cancelled):
            draft.require_person("continue what a person cancelled", remedies.resume())
        draft.emit(ev.Marked("cancelled", on=False))
    if state.paused:
        if queries.is_by_person(state.paused):
            draft.require_person("end a pause that a person made", remedies.resume())
        draft.emit(ev.Marked("paused", on=False))
    stuck = (path for path in state.plan.paths if state.step(path).status in lifecycle.STUCK)
    at = command.step or next(stuck, "")
    if at or draft.events or not state.finished_at:
        if at:
            _resume_at(draft, at)
        return
    from holdfast.core.record import finished_by

    ended = finished_by(state, "file")
    if ended and not state.finalized:
        steps.open_again(draft, ended)
    else:
        refusal = refusals.nothing_to_resume(state)
        left = queries.left(state, draft.facts)
        if left:
            refusal.message += f": {left[0].message}"
            refusal.remedies = left[0].remedies
        raise refusal


def _require_stopped(draft: Draft, path: str) -> None:
    """Refuses a step of a workflow that neither failed nor stopped: there, work is begun and opened again as usual."""
    state = draft.state
    stuck = any(state.step(one).status in lifecycle.STUCK for one in state.plan.paths)
    if not path or stuck or state.cancelled or state.paused or state.finished_at:
        return
    _, progress = draft.step(path)
    if progress.status == lifecycle.PENDING:
        steps.require(draft, path)
    if progress.status != lifecycle.ACTIVE:
        raise refusals.not_stopped(state)


def _resume_at(draft: Draft, path: str) -> None:
    _, progress = draft.step(path)
    if progress.status in lifecycle.STUCK:
        if progress.status == lifecycle.BLOCKED:
            steps.lift_block(draft, path, remedies.resume(path))
            return
        used_up = queries.is_used_up(draft.state, path)
        if used_up:
            ways = queries.going_on(draft.state, path)
            draft.require_person(f"resume {path}, whose tries are used up", *ways)
        draft.move("resumed", path, renewed=used_up, blames=limits.judged(draft.state.plan, path) if used_up else "")
    elif progress.status in lifecycle.FINISHED:
        steps.open_again(draft, path)
    elif progress.status == lifecycle.PENDING:
        steps.begin(draft, cmd.Begin(path))


def cancel(draft: Draft, command: cmd.Cancel) -> None:
    given_up, is_binding = draft.state.cancelled, draft.state.conduct.binding
    if given_up and (given_up.person or not is_binding or draft.actor.kind != "human"):
        return
    if draft.state.finished_at:
        raise refusals.already_finished(draft.state)
    optional_text(command.reason, "reason", 500)
    if draft.state.conduct.guarded_end and queries.is_a_persons_turn(draft.state, draft.facts.now):
        draft.require_person("cancel a run that waits for a person's decision", remedies.cancel())
    asked = f"give up {draft.state.id}, so that its gates no longer apply"
    person = draft.facts.person if is_binding and draft.is_person(asked) else ""
    if given_up and not person:
        return
    reason = command.reason or (given_up.reason if given_up else "")
    draft.emit(ev.Marked("cancelled", reason=reason, person=person))


def reinstate(draft: Draft, _: cmd.Reinstate) -> None:
    if draft.state.cancelled:
        draft.emit(ev.Marked("cancelled", on=False))


def reset(draft: Draft, command: cmd.Reset) -> None:
    """Approvals and reviews of the step and of all after it are gone with it, so only a person may."""
    path = command.step or draft.state.plan.children("")[0]
    _, progress = draft.step(path)
    draft.require_person(f"reset {path} and all steps that wait for it", remedies.reset(command.step or "all"))
    if progress.status == lifecycle.PENDING:
        raise refusals.not_begun(path)
    steps.require(draft, path)
    draft.reset_below(path)
    draft.reset_later(path)
    draft.move("reset", path, renewed=True)
    steps.begin(draft, cmd.Begin(path))


def finalize(draft: Draft, command: cmd.Finalize) -> None:
    state = draft.state
    if state.finalized:
        untested = queries.untested(state, draft.facts) if queries.is_half_finalized(state) else []
        if untested and not command.elsewhere:
            raise refusals.gate_unmet(untested[0].remedies[0].arguments["step"], untested)
        if queries.is_half_finalized(state):
            _require_shown(draft, command)
        if command.branch and command.branch != state.branch:  # it was handed over where nobody sees it
            draft.emit(ev.Branched(command.branch))
        return
    if not state.finished_at or state.cancelled:
        refusal, due = refusals.not_completed(state), queries.current(state)
        refusal.message += f": {due} is not done" if due else ""
        raise refusal
    lapsed = [one for one in queries.left(state, draft.facts) if one.kind != "finalize"]
    if lapsed and not command.elsewhere:
        step = lapsed[0].remedies[0].arguments["step"] if lapsed[0].kind == "check" else lapsed[0].name
        raise refusals.gate_unmet(step, lapsed)
    _require_shown(draft, command)
    if command.branch and command.branch != state.branch:
        draft.emit(ev.Branched(command.branch))
    draft.emit(ev.Marked("finalized"))


def _require_shown(draft: Draft, command: cmd.Finalize) -> None:
    """Refuses an agent where the proof has limits that no person was shown when they approved."""
    from holdfast.core import ending

    new = ending.unapproved(draft.state) if not command.elsewhere else []
    if new:
        draft.require_person(f"end on tests with limits that no person approved: {'; '.join(new)}", remedies.finalize())


def pause(draft: Draft, command: cmd.Pause) -> None:
    checked_text(command.reason, "reason", 500)
    if not draft.state.paused:
        draft.emit(ev.Marked("paused", reason=command.reason))


def extend(draft: Draft, command: cmd.Extend) -> None:
    """Only a person gives more money, time or tries."""
    wanted = dict(command.items())
    if not any(wanted.values()) or any(value < 0 for value in wanted.values()):
        some = tuple(remedies.extend(**{bound: more}) for bound, more in remedies.MORE.items())
        raise UsageError("bad_number", "nothing to extend", remedy=some)
    before = {name: getattr(draft.state.bounds, f"max_{name}") for name, more in wanted.items() if more}
    for name, limit in before.items():
        if limit is None:
            raise refusals.no_such_bound(name)
    shown = {"cost": moment.money, "time": moment.span}
    changes = [
        f"the bound on {name} from {shown.get(name, str)(limit)} to {shown.get(name, str)(limit + wanted[name])}"
        for name, limit in before.items()
    ]
    draft.require_person(f"extend {' and '.join(changes)}", remedies.extend(**_typed(command)))
    more = {f"max_{name}": limit + wanted[name] for name, limit in before.items()}
    draft.emit(ev.Extended(draft.state.bounds.replace(**more)))


def _typed(command: cmd.Extend) -> dict[str, object]:
    minutes, seconds = divmod(command.time, 60)
    time = f"{command.time}s" if seconds else f"{minutes // 60}h" if minutes % 60 == 0 else f"{minutes}m"
    return {
        "cost": moment.money(command.cost).removeprefix("$").removesuffix(".00") if command.cost else "",
        "time": time if command.time else "",
        "iterations": command.iterations or "",
    }


def warn(draft: Draft) -> None:
    """Says once each when 75 %, 90 % and all of a bound are used."""
    for usage in limits.usages(draft.state, draft.facts.now):
        for percent in limits.WARN_AT:
            if usage.percent >= percent and f"{usage.bound}:{percent}" not in draft.state.warned:
                draft.emit(ev.Warned(usage.bound, percent, usage.used_text, usage.limit_text))
    limit = draft.state.bounds.max_iterations
    tried = dict.fromkeys(event.step for event in draft.events if isinstance(event, ev.Moved) and event.attempt > 1)
    for path in tried if limit else ():
        attempt = draft.state.counted_tries(path) if limits.is_bounded(draft.state, path) else 0
        for percent in limits.WARN_AT:
            said = f"iterations {path}:{percent}" in draft.state.warned
            if limit and 100 * attempt // limit >= percent and not said:
                draft.emit(ev.Warned(f"iterations {path}", percent, f"try {attempt}", str(limit)))


def note(draft: Draft, command: cmd.Note) -> None:
    if command.step:
        draft.step(command.step)
    draft.emit(ev.Noted(checked_text(command.text, "note"), command.step))


def outdate(draft: Draft, command: cmd.Outdate) -> None:
    if draft.state.parent and not draft.state.outdated:
        draft.emit(ev.Marked("outdated", reason="what it builds on has changed"))


def revalidate(draft: Draft, command: cmd.Revalidate) -> None:
    """Somebody looked at the work again: it builds on what the parent's result is now."""
    if not draft.state.parent:
        raise refusals.no_parent(draft.state)
    if not draft.facts.parent_seal:
        raise refusals.parent_undone(draft.state, draft.facts.parent_unmet)
    if draft.facts.parent_seal != draft.state.parent_seal or draft.state.outdated:
        draft.emit(ev.Founded(draft.state.parent, draft.facts.parent_seal))


def rehome(draft: Draft, command: cmd.Rehome) -> None:
    if draft.state.session:
        before = draft.state.session
        draft.emit(ev.Rehomed(before, command.before, command.after, command.own))
        draft.emit(ev.Owned(draft.state.dialect, {"committed_from": before}))


def record(draft: Draft, command: cmd.Record) -> None:
    if command.step:
        draft.step(command.step)
    own = [name for name in (*command.values, *command.removed) if command.step and name in PERSONS]
    if own:
        draft.require_person(f"change {own[0]} of {command.step}", remedies.unblock(command.step))
    named = [value for value in command.values.values() if value in draft.facts.unknown_commits]
    if named and draft.state.origin == "started":
        raise refusals.no_commit(str(named[0]))
    if command.values or command.removed:
        draft.emit(ev.Recorded(command.values, command.step, command.removed))


def restore(draft: Draft, command: cmd.Restore) -> None:
    """The steps are as they were. Tries and attempts stay counted, and what people have to say is not got round."""
    past, state = draft.facts.past, draft.state
    if past is None:
        raise refusals.no_snapshot(command.number, [s.number for s in state.snapshots])
    from holdfast.core.rules import tree

    stuck = any(queries.is_used_up(state, path) for path in state.plan.paths)
    if stuck or tree.loosens_plan(state.plan, past.plan):
        what = f"restore {command.number}, before which a gate was added or used up"
        draft.require_person(what, remedies.restore(command.number))
    won = [path for path in past.plan.paths if _is_won_back(past, state, path)]
    if won:
        draft.require_person(f"bring {won[0]} back to where people had it", remedies.restore(command.number))
    progress = {path: _counted(past.step(path), state.step(path)) for path in past.plan.paths}
    draft.emit(ev.Restored(command.number, past.plan.steps, progress))


def _counted(then: Progress, now: Progress) -> Progress:
    """A step as it was, with what was counted and said since: nobody gets tries or reviews back, or is rid of words."""
    return then.replace(
        failures=max(then.failures, now.failures),
        attempt=max(then.attempt, now.attempt),
        rounds=max(then.rounds, now.rounds),
        acts=now.acts or then.acts,
        verdicts=now.verdicts or then.verdicts,
        feedback=now.feedback or then.feedback,
        advice=now.advice or then.advice,
    )


_FAR = (lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.IN_REVIEW, lifecycle.WAITING, lifecycle.DONE)


def _is_won_back(past: State, state: State, path: str) -> bool:
    """Whether a step that people or reviewers look at would be further than it is now."""
    step, then, now = past.plan.step(path), past.step(path).status, state.step(path).status
    if not (step.review or policies.asks_for_person(gates.policy(step))) or then not in _FAR[2:]:
        return False
    return now not in _FAR or _FAR.index(now) < _FAR.index(then)


def take_over(draft: Draft, command: cmd.TakeOver) -> None:
    """What git brought is taken, except that it sets nothing going again that only a person may.

    What agents are at work on stays as it is, too: a committed document would else be a way past a lease.
    """
    draft.emit(ev.Edited(path=command.path, document=command.document, source="git"))
    state = draft.state
    leaves = [path for path in command.progress if agents.is_kept_from_files(draft, path)]
    held = list(dict.fromkeys((*leaves, *(above for path in leaves for above in ancestors(path)))))
    progress = {
        path: state.step(path)
        if queries.is_used_up(state, path) or path in held
        else gates.with_claims(state.plan.step(path), _counted(said, state.step(path)))
        for path, said in command.progress.items()
    }
    draft.emit(ev.Restored(0, state.plan.steps, progress))
    other = [path for path in leaves if command.progress[path].status != state.step(path).status]
    if other:
        said = f"what git brought of {', '.join(other[:3])} was reverted: an agent is at work there"
        draft.emit(ev.Alerted(Alert(draft.facts.now, cmd.PARTLY, said, command.path)))


def refile(draft: Draft, command: cmd.Refile) -> None:
    if queries.is_active(draft.state):
        raise refusals.still_active(draft.state)
    if draft.state.file != command.file:
        draft.emit(ev.Refiled(command.file))


def rename(draft: Draft, command: cmd.Rename) -> None:
    title = checked_text(command.title, "title", 500)
    if title != draft.state.title:
        draft.emit(ev.Renamed(title))


def alarm(draft: Draft, command: cmd.Alarm) -> None:
    draft.emit(ev.Alerted(command.alert.replace(at=draft.facts.now)))
