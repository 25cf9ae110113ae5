"""Verdicts from what is recorded: which gates of a step hold, and what is still missing."""

from __future__ import annotations

from holdfast.core import lifecycle
from holdfast.core.commands import Facts
from holdfast.core.definition import POLICIES, Check, Step
from holdfast.core.state import Evidence, Progress, State
from holdfast.core.value import Value


class Unmet(Value):
    """One thing that stands between a step and `done`, and the command that clears it."""

    kind: str
    name: str
    message: str
    remedy: str


def policy(step: Step) -> str:
    """Whose word the step's approval and choice take, the stricter of the two; empty when it has neither."""
    asked = [gate.by for gate in (step.choice, step.approval) if gate]
    return max(asked, key=POLICIES.index, default="")


def check_verdict(check: Check, progress: Progress, facts: Facts) -> str:
    """`passed`, `failed`, `stale`, `claimed` or `missing`. Only the first lets a step be done."""
    evidence = progress.evidence.get(check.name)
    if evidence is None:
        return "missing"
    if evidence.claimed:
        return "claimed"
    if not evidence.passed:
        return "failed"
    return "stale" if is_stale(evidence, progress, facts) else "passed"


def is_stale(evidence: Evidence, progress: Progress, facts: Facts) -> bool:
    """Evidence speaks of one attempt and one working tree."""
    moved_on = evidence.tree is not None and facts.tree is not None and evidence.tree != facts.tree
    return moved_on or evidence.attempt != progress.attempt


def grant_verdict(progress: Progress, facts: Facts) -> str:
    """`valid`, `stale`, `claimed` or `none`."""
    grant = progress.grant
    if grant is None:
        return "none"
    if grant.claimed:
        return "claimed"
    if (
        progress.status == lifecycle.PENDING
        or grant.attempt != progress.attempt
        or dict(grant.hashes) != artifact_hashes(progress)
    ):
        return "stale"
    for artifact in progress.artifacts.values():
        if artifact.path in facts.hashes:
            seen = facts.hashes[artifact.path]
            if seen is None or seen[0] != artifact.hash:
                return "stale"
    return "valid"


def artifact_hashes(progress: Progress) -> dict[str, str]:
    return {name: artifact.hash for name, artifact in progress.artifacts.items()}


def unmet(step: Step, path: str, progress: Progress, facts: Facts) -> list[Unmet]:
    """What the step's own work still lacks: checks, then the outputs that `done` names. People's gates come after."""
    found = []
    for check in step.checks:
        verdict = check_verdict(check, progress, facts)
        if verdict != "passed":
            how = "--run" if check.run else "--passed"
            said = {
                "missing": "has not run",
                "failed": "failed",
                "stale": "passed on another state of the tree or another attempt",
                "claimed": "is only claimed by the document it was adopted from",
            }[verdict]
            found.append(
                Unmet("check", check.name, f"the check {check.name!r} {said}", f"holdfast check {check.name} {how}")
            )
    found += [
        Unmet("output", name, f"the output {name!r} is not named", f"holdfast done {path} --artifact {name}=PATH")
        for name in step.outputs
        if name not in progress.artifacts
    ]
    return found


def people_unmet(step: Step, path: str, progress: Progress, facts: Facts) -> list[Unmet]:
    """What people still have to say of the step."""
    found = []
    if step.review and not progress.reviewed:
        by = " or ".join(step.review.by) or "a reviewer"
        found.append(
            Unmet("review", "review", f"a review by {by} is needed", f"holdfast review {path} --verdict approved")
        )
    if policy(step):
        verdict = grant_verdict(progress, facts)
        if verdict != "valid":
            kind = "choice" if step.choice else "approval"
            variant = f" --variant {'|'.join(step.choice.options)}" if step.choice else ""
            said = {
                "none": "is needed",
                "stale": "is stale: the work changed since it was given",
                "claimed": "is only claimed by the document it was adopted from",
            }[verdict]
            who = {"relayed": "", "human": " by a person", "signed": " with a signature"}[policy(step)]
            found.append(Unmet(kind, kind, f"the {kind}{who} {said}", f"holdfast approve {path}{variant}"))
    return found


def holds(state: State, path: str, facts: Facts) -> bool:
    """Whether a step that is done still counts: its approval is not stale, and nothing of it is only claimed."""
    step, progress = state.plan.step(path), state.step(path)
    if progress.status != lifecycle.DONE:
        return progress.status == lifecycle.SKIPPED
    if policy(step) and grant_verdict(progress, facts) != "valid":
        return False
    return not any(check.name in progress.evidence and progress.evidence[check.name].claimed for check in step.checks)


def missing(state: State, path: str, facts: Facts) -> list[str]:
    """What keeps a step from beginning: prerequisites that are not done, and gates before it that no longer hold."""
    undone = [p for p in state.plan.requires(path) if state.step(p).status not in lifecycle.FINISHED]
    before = state.plan.closure(path)
    done = (p for p in state.plan.paths if p in before and state.step(p).status == lifecycle.DONE)
    return undone + [p for p in done if not holds(state, p, facts)]
