"""Answers about a workflow, from its state alone: what is done, what comes next, what blocks it."""

from __future__ import annotations

from holdfast.core import gates, lifecycle, limits, remedies
from holdfast.core.facts import Facts
from holdfast.core.plan import ancestors, parent
from holdfast.core.remedy import Remedy
from holdfast.core.state import OPENED, PERSONS, Following, Mark, State
from holdfast.errors import NotFound, UsageError
from holdfast.plain.digest import digest

RUNNING = ("in_progress", "waiting", "blocked", "failed", "escalated", "paused")
STATUSES = (*RUNNING, "completed", "finalized", "cancelled")
WORKSPACE, DELETED = "workspace", "deleted"
"""What the context says of a workspace that is deleted, once that is committed."""
READY = ("begin", "done", "action", "finalize", "unchanged", "commit")
"""Kinds of blockers that only the one who does the work clears, by the next command."""


def status(state: State) -> str:
    """The workflow's status: derived from its steps and the few explicit marks."""
    global _asked
    known = _asked  # taken once: another thread may put its own answer there meanwhile
    if known[0] is not state:
        _asked = known = (state, _status(state))
    return known[1]


_asked: tuple[State | None, str] = (None, "")
"""The last answer: a transition asks for the status of the same state again and again."""


def _status(state: State) -> str:
    if state.finalized:
        return "finalized"
    if state.cancelled:
        return "cancelled"
    if state.finished_at:
        return "completed"
    if state.paused:
        return "paused"
    found = {word for path, word in _held.of(state.progress).items() if path in state.plan}
    return next((word for word in _HOLDING if word in found), "in_progress")


_HOLDING = (lifecycle.ESCALATED, lifecycle.FAILED, lifecycle.BLOCKED, lifecycle.WAITING)
"""What a step is that keeps the whole workflow, the most urgent first."""
_held = Following(lambda one: one.status if one.status in _HOLDING else "")


def is_outdated(state: State, facts: Facts) -> bool:
    """Whether the result this workflow builds on is no longer what it was."""
    changed = facts.parent_seal is not None and facts.parent_seal != state.parent_seal
    return bool(state.parent) and (changed or state.outdated is not None)


def outdated_because(state: State, facts: Facts) -> tuple[str, tuple[Remedy, ...]]:
    """What has happened to the plan a workflow builds on, and the commands that lead on."""
    if facts.parent_unmet is not None:
        return (
            f"the plan it builds on {facts.parent_unmet.message}: it requires revalidation",
            facts.parent_unmet.remedies,
        )
    if facts.parent_seal == "":
        gone = "the plan it builds on is gone: it requires revalidation"
        return gone, (remedies.status(workflow=state.ulid),)
    return "the plan it builds on has changed: it requires revalidation", (remedies.revalidate(workflow=state.ulid),)


def is_active(state: State) -> bool:
    return status(state) in RUNNING


def to_finalize(state: State) -> bool:
    """Whether all steps are done and the result is still to be published, by the first `finalize` or by another."""
    return state.conduct.finalized and (status(state) == "completed" or is_half_finalized(state))


def is_half_finalized(state: State) -> bool:
    """Whether a `finalize` was interrupted: it marks the workflow first, and deletes the workspace last."""
    return state.conduct.finalized and state.finalized is not None and state.context.get(WORKSPACE) != DELETED


def left(state: State, facts: Facts) -> list[gates.Unmet]:
    """What is left of a completed workflow: what does not count here, else to publish it."""
    if not to_finalize(state):
        over = status(state) == "completed"
        return [absent_because(state, path, facts) for path in gates.claimed(state, facts)] if over else []
    half = is_half_finalized(state)  # its gates were passed, and the files they are about may be deleted
    lapsed = [path for path in state.plan.children("") if not half and not gates.holds(state, path, facts)]
    said = "all steps are done, and the result is not published yet"
    if half:
        said = "finalize was interrupted, and its result is not published and committed completely"
    publish = gates.Unmet("finalize", "", said, (remedies.finalize(workflow=state.ulid),))
    return [absent_because(state, path, facts) for path in lapsed] or untested(state, facts) or [publish]


def current(state: State) -> str | None:
    """The first leaf that is not done: where the work is. A branch whose children are done counts as its own leaf."""

    def search(path: str) -> str | None:
        if state.step(path).status in lifecycle.FINISHED:
            return None
        for child in state.plan.children(path):
            found = search(child)
            if found:
                return found
        return path

    for top in state.plan.children(""):
        found = search(top)
        if found:
            return found
    return None


def leased_step(state: State, token: str) -> str:
    """The step of the lease that a token was given for; empty where it is none's, or the whole workflow's."""
    number, _, secret = token.partition("-")
    known = (number, digest(secret.encode()))
    return next((lease.step for lease in state.leases.values() if (str(lease.token), lease.key) == known), "")


def worked_on(state: State, session: str, facts: Facts, leased: str = "") -> str | None:
    """The step that a session works on: its lease says so, else the first active one that no other agent has taken.

    Parallel steps begin in any order, so this may not be the first step that is not done. `leased` is the step of the
    caller's own lease, where another sign than its session shows that.
    """
    inside = [path for path in state.plan.leaves() if path == leased or path.startswith(f"{leased}/")] if leased else []
    undone = [path for path in inside if state.step(path).status not in lifecycle.FINISHED]
    if undone:
        return next((path for path in undone if state.step(path).status in lifecycle.OPEN), undone[0])
    leases = [lease for lease in state.leases.values() if lease.step and not lease.expired(facts.boot, facts.mono)]
    own = {lease.step for lease in leases if session and lease.session == session}
    found = [path for path in open_steps(state) if state.step(path).status == lifecycle.ACTIVE]
    at = current(state)
    if at is None or at in own or (not own.intersection(found) and state.step(at).status != lifecycle.PENDING):
        return at
    taken = {lease.step for lease in leases} - own
    return next((path for path in found if path in own), next((path for path in found if path not in taken), at))


def open_steps(state: State) -> list[str]:
    """The leaves somebody works on, reviews or waits for."""
    plan = state.plan
    found = [path for path in OPENED.of(state.progress) if path in plan and plan.is_leaf(path)]
    return sorted(found, key=plan.place)


def top_number(state: State) -> int:
    """The number of the current top-level step, from 1; the last one when all are done."""
    at = current(state)
    tops = state.plan.children("")
    return tops.index(at.split("/")[0]) + 1 if at else len(tops)


def percentage(state: State) -> int:
    """floor(100 × current / total), at most 99 until completed."""
    if state.finished_at:
        return 100
    return min(99, 100 * top_number(state) // len(state.plan.children("")))


def blockers(state: State, path: str, facts: Facts) -> list[gates.Unmet]:
    """What is between this step and done, most urgent first."""
    step, progress = state.plan.step(path), state.step(path)
    if state.cancelled:
        why = state.cancelled.reason
        said = f"the workflow is cancelled{f': {why}' if why else ''}"
        return [gates.Unmet("mark", "cancelled", said, revival(state), why)]
    if state.paused:
        said, ways = f"paused: {state.paused.reason}", remedies.unpause(persons=is_by_person(state.paused))
        spent = next((one for one in limits.usages(state, facts.now) if one.reached), None)
        if spent:  # nothing continues without more of it
            said = f"{_used_up(spent)}, and paused: {state.paused.reason}"
            more = remedies.more_of(spent.bound, spent.over)
            ways = remedies.person("this", more, remedies.resume(text="then"))
        return [gates.Unmet("mark", "paused", said, ways, state.paused.reason)]
    if is_outdated(state, facts):
        return [gates.Unmet("outdated", "parent", *outdated_because(state, facts))]
    if facts.ground and progress.status not in lifecycle.FINISHED | lifecycle.STUCK:
        return list(facts.ground)
    for usage in limits.usages(state, facts.now):
        if usage.reached:
            return [gates.Unmet("bound", usage.bound, _used_up(usage), remedies.extending(usage.bound, usage.over))]
    above = blocked_above(state, path)
    if above and progress.status not in lifecycle.FINISHED:
        return [one.replace(message=f"{above} is {one.message}") for one in blockers(state, above, facts)]
    if progress.status == lifecycle.PENDING:
        absent = gates.missing(state, path, facts)
        if absent:
            return [absent_because(state, needed, facts) for needed in absent]
        if unsupervised := gates.unsupervised(state, path):
            return unsupervised
        return gates.not_begun(state, path, facts)
    if progress.status == lifecycle.BLOCKED:
        again = (remedies.unblock(path),)
        ways = remedies.person(path, *again) if is_used_up(state, path) else again
        return [gates.Unmet("blocked", path, f"blocked: {progress.reason}", ways, progress.reason)]
    if progress.status == lifecycle.FAILED:
        again = (remedies.resume(path),)
        if is_used_up(state, path):
            own = remedies.person(path, *going_on(state, path))
            said = f"failed, no tries are left and a person must decide: {progress.reason}"
            return [gates.Unmet("failed", path, said, own, progress.reason)]
        return [gates.Unmet("failed", path, f"failed: {progress.reason}", again, progress.reason)]
    if progress.status == lifecycle.ESCALATED:
        own = remedies.person(path, remedies.unblock(path, guided=True), gates.approving(step, path))
        return [gates.Unmet("escalated", path, f"escalated to a person: {progress.reason}", own, progress.reason)]
    if progress.status in lifecycle.FINISHED:
        people = gates.people_unmet(state, path, facts) if progress.status == lifecycle.DONE else []
        renewed = [one for one in people if one.kind != "review"]
        return outdated(state, path, facts) + renewed if renewed else []
    found = unmet_work(state, path, facts)
    if not found and progress.status == lifecycle.ACTIVE:
        if gates.is_asked(state, path):
            return gates.people_unmet(state, path, facts)
        way = bare(state, path, facts, gates.handing_in(state, path, facts))
        return [gates.Unmet("done", path, "the work is under way", way)]
    if progress.status in (lifecycle.IN_REVIEW, lifecycle.WAITING):
        people = gates.people_unmet(state, path, facts)
        found = people + found if people and people[0].kind == "changed" else found + people
    is_whole = path in facts.hand_ins  # its documents are written first; other outputs are named last, by `done`
    return sorted(found, key=lambda one: (one.kind == "output") != is_whole)


def _used_up(usage: limits.Usage) -> str:
    return f"the bound on {usage.bound} is used up ({usage.used_text} of {usage.limit_text})"


def blocked_above(state: State, path: str) -> str:
    """The step that a step is part of, and that is blocked; empty where none is."""
    return next((one for one in ancestors(path) if state.step(one).status == lifecycle.BLOCKED), "")


def is_by_person(mark: Mark | None) -> bool:
    """Whether a workflow has a mark that a person gave it."""
    return mark is not None and mark.by.partition(" ")[0] == "human"


def unmet_work(state: State, path: str, facts: Facts) -> list[gates.Unmet]:
    """What the work of a step lacks: what comes before it, steps below it, its own checks, outputs `done` names."""
    undone = [child for child in state.plan.children(path) if state.step(child).status not in lifecycle.FINISHED]
    below = [gates.Unmet("child", child, f"{child} is not done", onward(state, child, facts)) for child in undone]
    first = []
    if state.origin == "adopted":  # a document may say that a step is worked on before its time
        first += [one for one in state.plan.requires(path) if state.step(one).status not in lifecycle.FINISHED]
    own = gates.unmet(state.plan.step(path), path, state.step(path), facts)
    if state.plan.step(path).action in ("commit", "pull_request"):
        from holdfast.core import proof

        own = proof.unmet(state, path, facts) + own
    own = [one.replace(remedies=bare(state, path, facts, one.remedies)) for one in own]
    before = [absent_because(state, one, facts) for one in first] + lapsed(state, path, facts)
    return before + below + own + gates.unsupervised(state, path)


def lapsed(state: State, path: str, facts: Facts) -> list[gates.Unmet]:
    """What does not hold any more of the steps before and below this one; of all, where the workflow ends with it."""
    relied_on, ends = state.plan.closure(path).union(state.plan.below(path)), is_last(state, path)
    found = [one for one in gates.lapsed(state, state.plan.paths if ends else relied_on, facts) if one != path]
    return [absent_because(state, one, facts) for one in found] or (untested(state, facts) if ends else [])


def is_last(state: State, path: str) -> bool:
    """Whether every other step is finished, apart from those around and below this one."""
    aside = {path, *ancestors(path), *state.plan.below(path)}
    return all(state.step(one).status in lifecycle.FINISHED for one in reversed(state.plan.paths) if one not in aside)


def bare(state: State, path: str, facts: Facts, ways: tuple[Remedy, ...]) -> tuple[Remedy, ...]:
    """`done` without the step, where every session means this one by it and a repetition hands in nothing unseen.

    A step that nothing is run for, nor committed, is named: who repeats the command must not hand in the next one.
    """
    step, is_open = state.plan.step(path), state.step(path).status in lifecycle.OPEN
    runs = any(gates.is_runnable(check, path, facts) for check in step.checks)
    if not is_open or not (runs or step.action == "commit"):
        return ways
    if any(lease.step for lease in state.leases.values()) or worked_on(state, "", facts) != path:
        return ways
    own = [one for one in ways if one.command == "done" and one.arguments["step"] == path]
    own = [one for one in own if "url" not in one.arguments]  # as the refusal says it that has this way on
    return tuple(one.given(step="") if one in own else one for one in ways)


def onward(state: State, path: str, facts: Facts) -> tuple[Remedy, ...]:
    """What leads on from a step, also where something before it has to be done first."""
    if state.step(path).status in lifecycle.FINISHED:
        return reopening(state, path) if used_up_after(state, path) else (remedies.next_step(),)
    found = blockers(state, path, facts)
    return found[0].remedies if found else bare(state, path, facts, (remedies.done(path),))


def outdated(state: State, path: str, facts: Facts) -> list[gates.Unmet]:
    """What finished work lacks before it can be approved again: files that were deleted, code that is in no commit, and
    checks of code that did not run on it as it is now. Once a later step with code has begun, they are that step's."""
    whole = facts.hand_ins.get(path)
    if whole and whole.deleted:
        return [gates.deleted(whole, file) for file in whole.deleted]
    step, progress = state.plan.step(path), state.step(path)
    after = state.plan.children("")[state.plan.children("").index(path) + 1 :] if step.code else ()
    if not step.code or any(state.plan.step(p).code and state.step(p).status != lifecycle.PENDING for p in after):
        return []
    if whole and whole.loose:
        return [gates.uncommitted(path, whole.loose, whole.seeing, finished=True)]
    found = []
    for name, verdict in ((one.name, gates.check_verdict(one, progress, facts)) for one in step.checks):
        if verdict in ("failed", "stale"):
            failed = gates.failed_because(progress.evidence[name]) if verdict == "failed" else ""
            again = remedies.check(name, step=path, text=remedies.FIX_CODE if failed else "")
            said = f"the check {name!r} {failed or 'passed before the work changed'}"
            found.append(gates.Unmet("check", name, said, (again,)))
    return found


def untested(state: State, facts: Facts) -> list[gates.Unmet]:
    """The checks of finished code that did not run on it as it is now, as after a merge: no workflow ends on these."""
    done = (path for path in state.plan.children("") if state.step(path).status == lifecycle.DONE)
    found = ((path, one) for path in done for one in outdated(state, path, facts))
    return [one.replace(message=one.message.replace(f"{one.name!r}", f"{one.name!r} of {path}")) for path, one in found]


def rerunning(state: State, path: str, facts: Facts) -> tuple[Remedy, ...]:
    """What comes before a person is asked about finished work again; nothing where all of it holds."""
    found = outdated(state, path, facts)
    return found[0].remedies if found else ()


def absent_because(state: State, needed: str, facts: Facts) -> gates.Unmet:
    """Why a prerequisite does not hold, and the command that leads on."""
    step, progress = state.plan.step(needed), state.step(needed)
    if progress.status not in lifecycle.FINISHED:
        return gates.Unmet("requires", needed, f"{needed} is not done", onward(state, needed, facts))
    if gates.policy(step) and gates.grant_verdict(state, needed, facts) != "valid":
        said = "is needed" if progress.grant is None else gates.lapsed_because(state, needed, facts)
        own = rerunning(state, needed, facts) or remedies.person(needed, gates.renewing(state, needed, facts))
        return gates.Unmet("approval", needed, f"the approval of {needed} {said}", own, of=needed)
    message = f"the checks of {needed} are only claimed by the document it was adopted from"
    return gates.Unmet("check", needed, message, (*reopening(state, needed), remedies.confirm()))


def resolve(state: State, word: str) -> str:
    """The path a user means by a number, an id or a path. Of several, the one beside the current step is meant."""
    found = state.plan.find(word)
    if word.isdigit() and len(found) == 1 and word not in state.plan:  # a task may have the number of another step
        from holdfast.core.tasks import tasks

        found += [task for task in tasks(state) if state.plan.step(task).id == word and task not in found]
    elif len(found) > 1:
        here = parent(current(state) or "")
        found = [path for path in found if parent(path) == here] or found
    if len(found) == 1:
        return found[0]
    if found:
        said = f"{word[:80]!r} could be {' or '.join(found[:8])}"
        facts = {"step": word[:200], "candidates": found[:20]}
        raise UsageError("ambiguous_step", said, remedy="name the step by its whole path", facts=facts)
    said = f"there is no step {word[:80]!r} in {state.id}"
    facts = {"step": word[:200], "steps": list(state.plan.paths[:50])}
    raise NotFound("no_step", said, remedy=remedies.status(workflow=state.ulid), facts=facts)


def step_with(state: State, check: str, named: str = "") -> str:
    """The step a check belongs to: the one that is named, else the open one that has it."""
    if named:
        found = [named] if state.plan.step(named).check(check) else []
    else:
        having = [path for path in state.plan.paths if state.plan.step(path).check(check)]
        found = [path for path in having if state.step(path).status in lifecycle.OPEN] or having[:1]
    if len(found) > 1:
        said = f"several open steps have a check {check}: {', '.join(found)}"
        raise UsageError("ambiguous_check", said, remedy=remedies.check(check, step=found[0]))
    if not found:
        from holdfast.core.refusals import no_check

        steps = [named] if named else state.plan.paths
        raise no_check(check, named, (one.name for path in steps for one in state.plan.step(path).checks))
    return found[0]


def next_step(state: State, at: str | None) -> str | None:
    """What comes after a step: the next one that nobody has begun or finished, also one before it that was left.

    After the last step of a branch with gates of its own it is the branch.
    """
    if at is None:
        return None
    last, above = at, parent(at)
    while above and all(
        one == last or state.step(one).status in lifecycle.FINISHED for one in state.plan.children(above)
    ):
        if state.plan.step(above).gated and state.step(above).status not in lifecycle.FINISHED:
            return above
        last, above = above, parent(above)
    place = state.plan.paths.index(at)
    others = (*state.plan.paths[place + 1 :], *state.plan.paths[:place])
    done = lifecycle.FINISHED | lifecycle.OPEN
    return next((p for p in others if state.step(p).status not in done and state.plan.is_leaf(p)), None)


def packet_id(state: State, session: str) -> str:
    """The id of the resume packet of a session: another one after each compaction of its context."""
    seat = state.seats.get(session)
    said = f"{state.ulid} {session} {seat.compactions if seat else 0}"
    return digest(said.encode())[:8]


def has_caught_up(state: State, session: str) -> bool:
    seat = state.seats.get(session)
    return seat is not None and seat.caught_up >= seat.compactions


def is_used_up(state: State, path: str) -> bool:
    """Whether only a person may set this step going again."""
    progress = state.step(path)
    if progress.status == lifecycle.FAILED:
        return limits.tries_left(state, path) == 0
    if progress.status == lifecycle.BLOCKED:
        return any(progress.data.get(name) for name in PERSONS)
    return progress.status == lifecycle.ESCALATED


def going_on(state: State, path: str) -> tuple[Remedy, ...]:
    """What a person types to set a step going again whose tries are used up: more tries first, where a bound says so.

    Where the step judges other work, that work has to change.
    """
    at = limits.judged(state.plan, path) or path
    limit, again = state.most_tries(at), remedies.resume(at)
    if not limit or state.step(at).attempt < limit or not limits.is_bounded(state, at):
        return (again,)
    return remedies.extend(iterations=remedies.MORE["iterations"]), again.replace(text="then")


def revival(state: State) -> tuple[Remedy, ...]:
    """What sets a cancelled workflow going again: a person's command where a step of it only continues by a person."""
    again = remedies.revive(workflow=state.ulid)
    stuck = next((path for path in state.plan.paths if state.step(path).status in lifecycle.STUCK), "")
    if stuck and is_used_up(state, stuck):
        first, *rest = (one.replace(workflow=state.ulid) for one in going_on(state, stuck))
        own = (first.replace(text=again.text), *rest) if state.step(stuck).status == lifecycle.FAILED else (again,)
        return remedies.person("this", *own, workflow=state.ulid)
    is_persons = is_by_person(state.paused) or is_by_person(state.cancelled)
    return remedies.person("this", again, workflow=state.ulid) if is_persons else (again,)


def used_up_after(state: State, path: str) -> list[str]:
    """Steps that would go back to pending with this one, and that only a person may set going again."""
    affected = (*later(state, path), *state.plan.below(path))
    return [step for step in affected if is_used_up(state, step)]


def later(state: State, path: str) -> list[str]:
    """The steps that wait for this one, for a branch it is in, or for a branch that one of them is in."""
    plan = state.plan
    found: set[str] = set()
    waiting = [path]
    while waiting:
        for step in plan.dependents(waiting.pop()):
            if step not in found:
                found.add(step)
                waiting += [step, *(a for a in ancestors(step) if a not in ancestors(path))]
    return [step for step in plan.paths if step in found and step != path and step not in ancestors(path)]


def is_a_persons_turn(state: State, now: str) -> bool:
    """Whether a person decides how the work continues: an agent that gave it up could begin it again."""
    spent = any(usage.reached for usage in limits.usages(state, now))
    return spent or is_by_person(state.paused) or any(is_used_up(state, path) for path in state.plan.leaves())


def reopening(state: State, path: str) -> tuple[Remedy, ...]:
    """What opens a finished step again: a person's command where that would set going what is used up."""
    again = remedies.reopen(path)
    return remedies.person(path, again) if used_up_after(state, path) else (again,)
