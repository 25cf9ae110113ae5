"""Gates that people and reviewers pass. A gate is passed only by its own event."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import covered, gates, lifecycle, policies, queries, refusals, remedies
from holdfast.core import events as ev
from holdfast.core.definition import Step
from holdfast.core.draft import Draft
from holdfast.core.names import is_name, optional_text
from holdfast.core.recognition import FORGE, PASSKEY, own
from holdfast.core.rules import steps
from holdfast.core.state import RELAYED, Grant, Proof, State, Verdict
from holdfast.errors import UsageError


def review(draft: Draft, command: cmd.Review) -> None:
    step, progress = draft.step(command.step)
    if command.verdict not in ("approved", "needs_revision"):
        said = f"{command.verdict[:60]!r} is not a verdict"
        raise UsageError("bad_verdict", said, remedy=gates.reviewing(step, command.step))
    optional_text(command.feedback, "feedback", 20_000)
    draft.require_status(command.step, "reviewed", lifecycle.IN_REVIEW)
    by = step.review.by if step.review else ()
    instead = f"review {command.step} in place of {' or '.join(by)}"
    if by and draft.actor.name not in by and not draft.is_person(instead):
        raise refusals.wrong_reviewer(step, command.step, draft.actor.name)
    if command.verdict == "approved":
        _require_same(draft, command.step)
        steps.must_have_work(draft, command.step)
    draft.hand_in(command.step)
    whole = draft.facts.hand_ins.get(command.step)
    by_whom = (draft.facts.now, draft.actor.label, progress.attempt, command.feedback)
    verdict = Verdict(command.verdict, *by_whom, whole.hashes if whole else {})
    draft.emit(ev.Reviewed(command.step, verdict))
    if command.verdict == "approved":
        steps.pass_on(draft, command.step)
    elif step.review and (rounds := draft.state.step(command.step).rounds) >= step.review.max:
        reason = f"{rounds} reviews asked for a revision"
        draft.move("escalated", command.step, reason=reason, feedback=command.feedback)
    else:
        draft.move("revised", command.step, feedback=command.feedback)


def approve(draft: Draft, command: cmd.Approve) -> None:
    """A waiting step is done; an active one too when nothing else is outstanding; what does not hold is renewed.

    A step that is nothing but an approval need not have begun.
    """
    step, progress = draft.step(command.step)
    _require_stated(draft, command)
    escalated = progress.status == lifecycle.ESCALATED
    is_claimed = gates.is_approval_claimed(draft.state, command.step, draft.facts)
    if not (gates.policy(step) or escalated or is_claimed):
        raise refusals.no_gate(draft.state, draft.facts, command.step)
    if progress.status == lifecycle.DONE:
        if gates.grant_verdict(draft.state, command.step, draft.facts) != "valid":
            _renew(draft, command, step)
        elif not _repeats(draft, command):
            raise refusals.already_approved(draft.state, command.step)
        return
    if progress.status == lifecycle.PENDING and gates.only_asks(step):
        steps.begin(draft, cmd.Begin(command.step))
    draft.require_status(command.step, "approved", lifecycle.WAITING, lifecycle.ACTIVE, lifecycle.ESCALATED)
    _check_word(draft, command, step, person=escalated)
    if not escalated:
        _require_same(draft, command.step)
    _take(draft, command.step)
    if escalated:
        steps.must_rely(draft, command.step)
    else:
        steps.must_have_work(draft, command.step)
        if step.review and not progress.reviewed:
            unmet, way = gates.people_unmet(draft.state, command.step, draft.facts), remedies.done(command.step)
            raise refusals.gate_unmet(command.step, [one.replace(remedies=(way,)) for one in unmet])
    _grant(draft, command)
    if escalated:
        draft.move("overridden", command.step, reason="a person overrode the escalation")
        draft.close_branches(command.step)
    else:
        steps.complete(draft, command.step)


def confirm(draft: Draft, command: cmd.Confirm) -> None:
    """The checks count from now on as reported: Holdfast still did not see them pass."""
    names = gates.claimed_checks(draft.state, command.step)
    if not names:
        return
    draft.require_person(f"confirm the checks of {command.step}", remedies.confirm())
    for name in names:
        evidence = draft.state.step(command.step).evidence[name]
        draft.emit(ev.Checked(command.step, name, evidence.replace(claimed=False, by=draft.actor.label)))


def renewed(state: State, command: cmd.Approve) -> cmd.Approve:
    """An approval that is given again for finished work keeps what the first one said, unless it says otherwise."""
    progress = state.step(command.step)
    grant = progress.grant
    if progress.status != lifecycle.DONE or grant is None:
        return command
    changes = {**grant.modifications, **command.modifications}
    return command.replace(variant=command.variant or grant.variant, modifications=changes)


def _repeats(draft: Draft, command: cmd.Approve) -> bool:
    """Whether the same actor says of finished work what they said before."""
    grant = draft.state.step(command.step).grant
    said = (draft.facts.signer or draft.actor.label, command.variant, dict(command.modifications))
    return grant is not None and said == (grant.by, grant.variant, dict(grant.modifications))


def _renew(draft: Draft, command: cmd.Approve, step: Step) -> None:
    command = renewed(draft.state, command)
    claimed = gates.grant_verdict(draft.state, command.step, draft.facts) == "claimed"
    _check_word(draft, command, step, person=claimed)
    whole = draft.facts.hand_ins.get(command.step)
    if outdated := queries.outdated(draft.state, command.step, draft.facts):
        raise refusals.gate_unmet(command.step, outdated)
    if whole and whole.lacking and not claimed:
        again = queries.reopening(draft.state, command.step)
        lacking = [gates.Unmet("output", name, f"{file} {why}", again) for name, file, why in whole.lacking]
        raise refusals.gate_unmet(command.step, lacking)
    _take(draft, command.step)
    if blank := gates.blank(step, draft.state.step(command.step), draft.facts):
        raise refusals.gate_unmet(command.step, blank)
    _grant(draft, command)


def _take(draft: Draft, path: str) -> None:
    """The work as it is there: that is what a person decides about."""
    if not draft.hand_in(path):
        draft.attach(path, steps.named_before(draft.state.step(path)))


def _require_same(draft: Draft, path: str) -> None:
    """Refuses where the work is not what was handed in for the review, or what was reviewed."""
    state = draft.state
    handed_in = state.plan.step(path).review and state.step(path).status in gates.REVIEWED
    if handed_in and gates.changed(state, path, draft.facts):
        raise refusals.gate_unmet(path, gates.people_unmet(state, path, draft.facts))


def _check_word(draft: Draft, command: cmd.Approve, step: Step, *, person: bool) -> None:
    """Whether this actor's word counts for this gate."""
    policy = gates.policy(step)
    if policy == "human" or person:
        draft.require_person(f"approve {command.step}", gates.approving(step, command.step))
    options = step.choice.options if step.choice else ()
    free = step.choice is not None and not options
    is_valid = is_name(command.variant) if free else command.variant in options if options else not command.variant
    if not is_valid:
        raise refusals.bad_variant(command.step, command.variant, options, free=free)
    if policies.asks_for_proof(policy) and not policies.takes(policy, draft.facts.signed_with):
        raise refusals.proof_needed(policy)(command.step)


def _require_stated(draft: Draft, command: cmd.Approve | cmd.Reject) -> None:
    """Refuses a proof of another answer: the person said it of another step or attempt, or said something else."""
    if command.proof is None or not draft.facts.signer:
        return
    from holdfast.core import statement

    said = statement.parse(command.proof.statement)
    decision = statement.APPROVE if isinstance(command, cmd.Approve) else statement.REJECT
    other = statement.differences(said, draft.state, command.step, decision)
    other += [name for name in ("variant", "feedback") if getattr(said, name) != getattr(command, name, "")]
    other += ["modifications"] if dict(said.modifications) != dict(command.modifications) else []
    other += ["nonce"] if said.nonce in _used(draft, command.step) else []
    if other:
        raise refusals.stated_otherwise(command.step, other)


def _used(draft: Draft, path: str) -> set[str]:
    """The nonces of the proofs that were given for a step before."""
    from holdfast.core import statement

    progress = draft.state.step(path)
    proofs = (one.proof for one in (progress.grant, *progress.past_grants) if one)
    return {statement.parse(one.statement).nonce for one in proofs if isinstance(one, Proof)}


def _grant(draft: Draft, command: cmd.Approve) -> None:
    progress, facts = draft.state.step(command.step), draft.facts
    work = covered.hashes(draft.state, command.step, facts)
    if other := [file for file, hashed in work.items() if hashed == covered.NO_FILE]:
        raise refusals.gate_unmet(command.step, [gates.no_file(file) for file in other])
    if facts.signer and dict(facts.signed) != work:
        raise refusals.signed_something_else(command.step)
    if command.shown is not None and dict(command.shown) != work:
        raise refusals.changed_meanwhile(command.step)
    recognised = facts.signed_with
    if not facts.signer:
        recognised = facts.person if draft.is_person(f"approve {command.step}") else RELAYED
    grant = Grant(
        at=facts.now,
        by=facts.signer or draft.actor.label,
        how=recognised,
        attempt=progress.attempt,
        hashes=work,
        variant=command.variant,
        modifications=command.modifications,
        proof=command.proof if facts.signer else None,
        limits=() if recognised == RELAYED else _shown_limits(draft, command.step, recognised),
    )
    given = grant if grant.how == RELAYED else own(grant, draft.state.ulid, command.step, facts)
    draft.emit(ev.Granted(command.step, given))


def _shown_limits(draft: Draft, path: str, how: str) -> tuple[str, ...]:
    """What limits the proof that this approval rests on. A pull request only shows runs from before the step began."""
    begun = draft.state.step(path).started_at
    from holdfast.core import ending

    runs = (one for step in ending.proving(draft.state, path) for one in draft.state.step(step).evidence.values())
    is_unseen = how == FORGE and any(one.at > begun for one in runs)
    return () if is_unseen else tuple(ending.limits(draft.state, path))


def reject(draft: Draft, command: cmd.Reject) -> None:
    """With feedback the work continues with it; without, the step has failed, or continues where the gate says so."""
    step, _ = draft.step(command.step)
    _require_stated(draft, command)
    if gates.takes_word(draft.state, command.step):
        steps.begin(draft, cmd.Begin(command.step))
        steps.settle(draft, command.step)
    draft.require_status(command.step, "rejected")
    if policies.asks_for_person(gates.policy(step)):
        draft.require_person(f"reject {command.step}", remedies.reject(command.step))
    if gates.policy(step) == "passkey" and draft.facts.signed_with != PASSKEY:
        raise refusals.proof_needed("passkey")(command.step)
    proof = command.proof if draft.facts.signer else None
    optional_text(command.feedback, "feedback", 20_000)
    if command.modifications:
        draft.emit(ev.Recorded({"modifications": command.modifications}, command.step))
    revise = any(gate.rejected == "revise" for gate in (step.approval, step.choice) if gate)
    if command.feedback or command.modifications or revise:
        draft.move("revised", command.step, feedback=command.feedback, proof=proof)
    else:
        draft.move("rejected", command.step, reason=f"rejected by {draft.actor.label}", proof=proof)
