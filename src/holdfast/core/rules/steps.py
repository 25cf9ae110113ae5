"""Working on a step: begin, produce, check, hand in, fail, block, skip, reopen."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import cycle, gates, lifecycle, limits, moment, queries, refusals, remedies
from holdfast.core import events as ev
from holdfast.core.draft import Draft
from holdfast.core.names import checked, checked_text, optional_text
from holdfast.core.needs import trusted_with
from holdfast.core.remedy import Remedy
from holdfast.core.state import BASE, BEGAN, BLOCKED_BY, BY_HAND, PERSONS, UNCHANGED, Progress
from holdfast.core.value import Any

_OPEN = (lifecycle.ACTIVE, lifecycle.IN_REVIEW, lifecycle.WAITING)
_ENDS = ("completed", "skipped", "overridden")


def begin(draft: Draft, command: cmd.Begin) -> None:
    _, progress = draft.step(command.step)
    if progress.status == lifecycle.ACTIVE:
        return
    draft.require_status(command.step, "began")
    _require_unblocked(draft, command.step)
    require(draft, command.step)
    draft.open_branches(command.step)
    draft.move("began", command.step)
    if _is_checkpointed(draft, command.step) and BEGAN not in draft.state.step(command.step).data:
        base = {BASE: draft.facts.head} if draft.facts.head else {}
        draft.emit(ev.Recorded({BEGAN: draft.facts.now, **base}, command.step))


def _is_checkpointed(draft: Draft, path: str) -> bool:
    """Whether the state is kept after the step, with the commit it belongs to."""
    return draft.state.plan.step(path).kind in draft.state.conduct.checkpointed


def require(draft: Draft, path: str) -> None:
    """Refuses unless everything that must come first is done."""
    _require_before(draft, path)
    if unsupervised := gates.unsupervised(draft.state, path):
        raise refusals.step_blocked(path, [one.name for one in unsupervised], unsupervised)


def _require_before(draft: Draft, path: str) -> None:
    """Refuses unless the steps before this one are done."""
    missing = gates.missing(draft.state, path, draft.facts)
    if missing:
        why = [queries.absent_because(draft.state, needed, draft.facts) for needed in missing]
        raise refusals.step_blocked(path, missing, why)


def attach(draft: Draft, command: cmd.Attach) -> None:
    draft.step(command.step)
    draft.require_status(command.step, "given artifacts", *_OPEN)
    for name in command.artifacts:
        checked(name, "artifact")
    whole = draft.facts.hand_ins.get(command.step)
    if whole is None:
        draft.attach(command.step, dict(command.artifacts))
        return
    for name, file in command.artifacts.items():
        if name not in whole.parts or whole.parts[name][0] != file:
            raise refusals.not_handed_in(command.step, name, file)


def done(draft: Draft, command: cmd.Done) -> None:
    """Moves a step as far as its gates allow: to review, to waiting, or to done."""
    _, progress = draft.step(command.step)
    if progress.status == lifecycle.DONE and not command.artifacts:
        return
    if progress.status in gates.REVIEWED and _is_other(draft, command.step):
        draft.move("withdrawn", command.step, reason=_because(draft, command.step))
    elif progress.status in gates.REVIEWED:
        unmet = gates.people_unmet(draft.state, command.step, draft.facts)
        if unmet:
            in_review = progress.status == lifecycle.IN_REVIEW
            raise refusals.gate_unmet(command.step, unmet, handed_in=in_review)
        must_have_work(draft, command.step)
        complete(draft, command.step)
        return
    draft.require_status(command.step, "completed")
    _require_unblocked(draft, command.step)
    named = {} if command.step in draft.facts.hand_ins else named_before(progress)
    attach(draft, cmd.Attach(command.step, {**named, **command.artifacts}))
    draft.hand_in(command.step)
    if command.data:
        draft.emit(ev.Recorded(command.data, command.step))
    optional_text(command.unchanged, "reason for unchanged work", 500)
    now = draft.state.step(command.step)
    same = cycle.unchanged(command.step, now, draft.facts)
    if same and not command.unchanged:
        because = cycle.unchanged_because(command.step, now, same, draft.facts)
        raise refusals.unchanged(command.step, because, same)
    whole = draft.facts.hand_ins.get(command.step)
    if (same or (whole and whole.copied)) and command.unchanged:
        draft.emit(ev.Recorded({UNCHANGED: command.unchanged}, command.step))
    for name, evidence in command.evidence.items():
        record_check(draft, cmd.RecordCheck(command.step, name, evidence))
    found = result(draft, command.step)
    if found is not None and found[0] == draft.state.plan.step(command.step).failed:
        fail(draft, cmd.Fail(command.step, found[1], found[2]))
    else:
        settle(draft, command.step)


def _is_other(draft: Draft, path: str) -> bool:
    """Whether the work of a step is not what was handed in, so that it is handed in again."""
    return bool(draft.state.plan.step(path).review) and bool(gates.changed(draft.state, path, draft.facts))


def _because(draft: Draft, path: str) -> str:
    return gates.changed_because(draft.state, path, gates.changed(draft.state, path, draft.facts))


def result(draft: Draft, path: str) -> tuple[str, str, Mapping[str, Any]] | None:
    """What the step's own result says: its word, why in a few words, and what the next try should know."""
    step, progress = draft.step(path)
    artifact = progress.artifacts.get(step.result) if step.result else None
    if artifact is None:
        return None
    said = draft.facts.results.get(artifact.path)
    word = said.get("status", said.get("overall_status")) if said is not None else None
    wrong = draft.facts.mistakes.get(artifact.path, ())
    if said is None or word not in (step.passed, step.failed) or wrong:
        raise refusals.bad_result(path, step, artifact.path, wrong)
    listed = said.get("violations") or said.get("blocking_issues")
    given = listed if isinstance(listed, list) else []
    violations = [{"message": one} if isinstance(one, str) else one for one in given if isinstance(one, (str, Mapping))]
    texts = [str(one.get("message") or one.get("issue") or one.get("check") or "") for one in violations]
    why = "; ".join(text for text in texts if text)[:1000] or f"the result says {word}"
    guidance = said.get("retry_guidance")
    return word, why, {"violations": violations[:50], **({"retry_guidance": guidance} if guidance else {})}


def named_before(progress: Progress) -> dict[str, str]:
    """Artifacts of earlier tries are taken as they are now: an approval is of what is there."""
    return {name: artifact.path for name, artifact in progress.artifacts.items()}


def submit(draft: Draft, command: cmd.Submit) -> None:
    step, _ = draft.step(command.step)
    if not (step.review or gates.policy(step)):
        raise refusals.no_gate(draft.state, draft.facts, command.step)
    done(draft, cmd.Done(command.step, command.artifacts, unchanged=command.unchanged))


def settle(draft: Draft, path: str) -> None:
    """As far as the gates allow. The work's own gates refuse; people's gates make the step wait."""
    step, progress = draft.step(path)
    must_have_work(draft, path)
    if step.review and not progress.reviewed:
        draft.move("submitted", path)
    else:
        pass_on(draft, path)


def pass_on(draft: Draft, path: str) -> None:
    """To the people who have to agree, or to its end."""
    step, _ = draft.step(path)
    if gates.policy(step) and gates.grant_verdict(draft.state, path, draft.facts) != "valid":
        draft.move("awaited", path)
    else:
        complete(draft, path)


def must_have_work(draft: Draft, path: str) -> None:
    unmet = queries.unmet_work(draft.state, path, draft.facts)
    if draft.state.origin == "adopted":
        unmet = [one for one in unmet if one.kind != "action"]  # who kept the document did it, and need not say how
    if unmet:
        raise refusals.gate_unmet(path, unmet)


def must_rely(draft: Draft, path: str) -> None:
    """Refuses an end of a step that does not ask for its work, while something it relies on does not hold."""
    lapsed = queries.lapsed(draft.state, path, draft.facts)
    if lapsed:
        raise refusals.gate_unmet(path, lapsed)


def complete(draft: Draft, path: str) -> None:
    draft.move("completed", path)
    draft.close_branches(path)
    if _is_checkpointed(draft, path):
        take_snapshot(draft, cmd.TakeSnapshot(draft.state.plan.step(path).id))


def take_snapshot(draft: Draft, command: cmd.TakeSnapshot) -> None:
    taken = draft.state.snapshots
    number = taken[-1].number + 1 if taken else 1
    draft.emit(ev.Snapshotted(number, draft.facts.head, optional_text(command.label, "label", 500)))


def advance(draft: Draft, *, starting: bool = False) -> None:
    """Where the definition says so, the next step begins as soon as the one before it is over."""
    ended = any(
        (isinstance(event, ev.Moved) and event.move in _ENDS)
        or (isinstance(event, ev.Amended) and event.op == "retire")
        for event in draft.events
    )
    state, facts = draft.state, draft.facts
    if not state.advance or not (ended or starting) or queries.status(state) != "in_progress":
        return
    at = queries.current(state)
    if at is None or state.step(at).status != lifecycle.PENDING or draft.is_spent or gates.missing(state, at, facts):
        return
    draft.open_branches(at)
    draft.move("began", at)


def fail(draft: Draft, command: cmd.Fail) -> None:
    """Uses up an attempt. With tries left, the next one begins at once and carries the reason.

    Where it is the review that failed, the work stays handed in for the next try at it.
    """
    checked_text(command.reason, "reason")
    step, progress = draft.step(command.step)
    in_review = progress.status == lifecycle.IN_REVIEW
    if in_review and step.retry is None:
        draft.require_status(command.step, "failed", lifecycle.ACTIVE)
    back_to = limits.judged(draft.state.plan, command.step)
    draft.move("failed", command.step, reason=command.reason, data=command.data, blames=back_to)
    retry, failures = step.retry, limits.failures(draft.state, command.step)
    if retry is None:
        return
    if failures >= retry.max:
        if retry.exhausted == "escalated":
            draft.move("escalated", command.step, reason=f"failed {failures} times: {command.reason}")
        return
    if in_review:
        draft.move("review_retried", command.step)
        return
    if not _may_try_again(draft, back_to or command.step, is_reopened=bool(back_to)):
        return
    if back_to:
        open_again(draft, back_to, command.reason, by_itself=True)
    else:
        draft.move("retried", command.step, feedback=command.reason)


def iterate(draft: Draft, command: cmd.Iterate) -> None:
    """One more try, as long as the bounds allow it. Where they do not, the step has failed and a person decides."""
    checked_text(command.reason, "reason")
    step, _ = draft.step(command.step)
    draft.require_status(command.step, "iterated", lifecycle.ACTIVE)
    if step.kind not in draft.state.conduct.iterated:
        raise refusals.not_a_task(command.step)
    draft.move("failed", command.step, reason=command.reason)
    if _may_try_again(draft, command.step, is_reopened=False):
        draft.move("retried", command.step, feedback=command.reason)


def _may_try_again(draft: Draft, path: str, *, is_reopened: bool) -> bool:
    """A failure is recorded whatever else holds; the next try begins only if work may continue from there."""
    state, facts = draft.state, draft.facts
    limit = state.most_tries(path)
    if state.paused or draft.is_spent or (limit and state.step(path).attempt >= limit):
        return False
    return not is_reopened or not (gates.missing(state, path, facts) or queries.used_up_after(state, path))


def block(draft: Draft, command: cmd.Block) -> None:
    _, progress = draft.step(command.step)
    checked_text(command.reason, "reason")
    if command.by_hand:
        draft.require_person(
            f"take {command.step} over by hand", remedies.named("orchestrator manual", {"task": command.step})
        )
        if progress.status == lifecycle.FAILED:  # no try is used up by a person's own work
            draft.emit(ev.Moved("resumed", command.step, progress.attempt, renewed=True))
    draft.move("blocked", command.step, reason=command.reason)
    if command.by_hand:
        draft.emit(ev.Recorded({BY_HAND: True}, command.step))
    elif draft.actor.kind == "human" and draft.facts.person:
        draft.emit(ev.Recorded({BLOCKED_BY: draft.actor.label}, command.step))


def unblock(draft: Draft, command: cmd.Unblock) -> None:
    _, progress = draft.step(command.step)
    optional_text(command.guidance, "guidance", 20_000)
    draft.require_status(command.step, "unblocked", lifecycle.BLOCKED, lifecycle.ESCALATED)
    if progress.status == lifecycle.ESCALATED:
        draft.require_person(f"guide {command.step}, which was escalated", remedies.unblock(command.step, guided=True))
        draft.move("resumed", command.step, feedback=command.guidance, renewed=True)
        return
    lift_block(draft, command.step, remedies.unblock(command.step), command.guidance)


def lift_block(draft: Draft, path: str, way: Remedy, guidance: str = "") -> None:
    """Lets work on a blocked step continue: what a person blocked, only a person unblocks; `way` is how."""
    data = draft.state.step(path).data
    if data.get(BY_HAND) is True:
        draft.require_person(f"let agents continue {path}, which a person does by hand", way)
    elif data.get(BLOCKED_BY):
        draft.require_person(f"unblock {path}, which {data[BLOCKED_BY]} blocked", way)
    draft.move("resumed", path, feedback=guidance)
    kept = tuple(name for name in PERSONS if name in data)
    if kept:
        draft.emit(ev.Recorded({}, path, kept))


def _require_unblocked(draft: Draft, path: str) -> None:
    """Refuses work on a step of a task that is blocked."""
    above = queries.blocked_above(draft.state, path)
    if above:
        raise refusals.task_blocked(path, queries.blockers(draft.state, above, draft.facts)[0])


def skip(draft: Draft, command: cmd.Skip) -> None:
    """Only where the definition or a person allows it; counts as done for what follows."""
    step, progress = draft.step(command.step)
    optional_text(command.reason, "reason")
    if step.mandatory:
        raise refusals.never_skipped(command.step)
    draft.require_status(command.step, "skipped")
    if progress.status == lifecycle.PENDING:
        _require_before(draft, command.step)
    if not step.optional and not draft.is_person(f"skip {command.step}, which is not optional"):
        raise refusals.not_skippable(command.step)
    if progress.status == lifecycle.PENDING:
        draft.open_branches(command.step)
    must_rely(draft, command.step)
    draft.move("skipped", command.step, reason=command.reason)
    for below in draft.state.plan.below(command.step):
        if lifecycle.allows(draft.state.step(below).status, "skipped"):
            draft.move("skipped", below, reason=command.reason)
    draft.close_branches(command.step)


def reopen(draft: Draft, command: cmd.Reopen) -> None:
    draft.step(command.step)
    optional_text(command.feedback, "feedback")
    open_again(draft, command.step, command.feedback)


def open_again(draft: Draft, path: str, feedback: str = "", *, by_itself: bool = False) -> None:
    """A done step is worked on once more; what came after it goes back to pending, its approvals stale.

    A person who opens it gives it all its tries again. What a definition says of failures continues by itself.
    """
    require(draft, path)
    if not by_itself:
        _require_own(draft, path)
    draft.move("reopened", path, feedback=feedback, renewed=not by_itself and draft.renews(path))
    draft.reset_below(path, renewing=not by_itself)
    draft.reset_later(path, renewing=not by_itself)
    draft.open_branches(path)


def _require_own(draft: Draft, path: str) -> None:
    """Refuses an agent where a decision of a person would be undone; the agent's own work it may set back."""
    affected = (path, *queries.later(draft.state, path), *draft.state.plan.below(path))
    decided = [step for step in affected if gates.is_decided(draft.state, step, draft.facts)]
    if decided:
        draft.require_person(f"undo what a person decided about {decided[0]}", remedies.reopen(path))


def _is_repeated(progress: Progress, command: cmd.RecordCheck) -> bool:
    """Whether Holdfast ran a check of finished work once more, before the work is committed."""
    known = progress.status == lifecycle.DONE and command.name in progress.evidence
    return known and command.evidence.run_by == "engine"


def record_check(draft: Draft, command: cmd.RecordCheck) -> None:
    step, progress = draft.step(command.step)
    check = step.check(command.name)
    if check is None:
        raise refusals.no_check(command.name, command.step, [c.name for c in step.checks])
    if command.evidence.run_by == "engine" and not draft.facts.trusted:
        raise refusals.untrusted(trusted_with(draft.state, check))
    if not _is_repeated(progress, command):
        draft.require_status(command.step, "checked", *_OPEN)
        _require_unblocked(draft, command.step)
    if command.evidence.run_by != "engine" and check.run_by == "engine":
        untrusted = draft.facts.untrusted.get((command.step, command.name), "")
        raise refusals.engine_must_run(command.step, check, untrusted)
    evidence = command.evidence.replace(attempt=progress.attempt, by=draft.actor.label)
    file = evidence.data.get("test_file")
    before = progress.evidence.get(command.name)
    seen = before is not None and before.passed and before.attempt == progress.attempt
    if check.test == "fails" and evidence.passed and file and not seen:
        draft.emit(ev.Remembered({"at": moment.whole(draft.facts.now), "event": "test_written", "file": file}))
    draft.emit(ev.Checked(command.step, command.name, evidence))
