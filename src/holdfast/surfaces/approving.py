"""Before a person is asked to approve: whether only their word is missing, and what exactly it would be given to."""

from __future__ import annotations

from holdfast.core import gates, lifecycle, provenance, queries, remedies
from holdfast.errors import HoldfastError
from holdfast.project.workflow import Workflow

LONGEST = 300
"""How much of a text is shown with the question."""


def is_ready(workflow: Workflow, path: str) -> bool:
    """Whether only the person's word is missing. If not, the refusal says what is, and nobody is asked."""
    state = workflow.state
    step, progress = state.plan.step(path), state.step(path)
    missing = {one.kind for one in queries.blockers(state, path, workflow.facts())}
    if progress.status == lifecycle.ACTIVE:
        return missing == {"done"} and (step.review is None or progress.reviewed)
    if progress.status == lifecycle.PENDING and gates.only_asks(step):
        return bool(missing) and missing <= {"begin", "approval", "choice"}
    words = {lifecycle.WAITING: {"approval", "choice"}, lifecycle.DONE: {"approval", "choice"}}
    return bool(missing) and missing <= words.get(progress.status, {lifecycle.ESCALATED})


def hashes(workflow: Workflow, path: str) -> dict[str, str]:
    """The artifacts as they are there now; nothing for one that is gone."""
    facts = workflow.facts()
    found, whole = facts.hashes, facts.hand_ins.get(path)
    if whole is not None:
        return {**dict.fromkeys(workflow.state.step(path).artifacts, ""), **whole.hashes}
    artifacts = workflow.state.step(path).artifacts
    return {name: (found.get(artifact.path) or ("", 0))[0] for name, artifact in artifacts.items()}


def about(workflow: Workflow, path: str) -> list[str]:
    """What the work was and what was decided before, for the person who is asked."""
    brief = workflow.briefing()
    told = [("work", brief.task_of(path).text), *(("decided", one) for one in brief.decided[:5])]
    told += [("unchanged", one) for one in brief.unchanged]
    told += [("not done", f"{step}, {said}") for step, said in brief.skipped.items()]
    return [f"{label}: {text[:LONGEST]}" for label, text in told if text]


def checks(workflow: Workflow, path: str) -> list[str]:
    """How the checks of the step went, and what else is to be known of how the work was proved."""
    progress, facts = workflow.state.step(path), workflow.facts()
    out = []
    for name, one in progress.evidence.items():
        is_old = one.passed and gates.is_stale(one, progress, facts)
        word = gates.stale_because(one, progress) if is_old else "passed" if one.passed else "failed"
        out.append(f"check {name} {word} ({provenance.how(one) or one.run_by}, {one.at})")
    proof = [said for said in workflow.briefing().proof if not said.startswith(_others(workflow, path))]
    return [*out, *(f"proof: {said}" for said in proof)]


def _others(workflow: Workflow, path: str) -> tuple[str, ...]:
    """How what is said of other steps begins."""
    return tuple(f"{one}: " for one in workflow.state.plan.paths if one != path)


def reviews(workflow: Workflow, path: str) -> list[str]:
    """What reviewers found, and whether it was of something else than the work as it is now."""
    progress, now = workflow.state.step(path), hashes(workflow, path)
    out = []
    for one in progress.verdicts[-3:]:
        is_old = one.hashes and dict(one.hashes) != now
        why = f": {one.feedback[:LONGEST]}" if one.feedback else ""
        when = ", before this change" if is_old else ""
        out.append(f"review: {one.verdict.replace('_', ' ')} by {one.by}{when}{why}")
    return out


def declined(path: str) -> HoldfastError:
    return HoldfastError("declined", f"{path} was not approved", remedy=remedies.reject(path), facts={"step": path})
