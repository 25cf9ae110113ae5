"""Before a person is asked to approve: whether only their word is missing, and what exactly it would be given to."""

from __future__ import annotations

from _collections_abc import Iterator, Sequence

from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, provenance, queries, remedies
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.plain.plainjson import compact
from holdfast.project.workflow import Workflow

LONGEST = 300
"""How much of a text is shown with the question."""
MOST_CHECKS = 30
_IN_QUESTION = 60


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


def seen(workflow: Workflow, path: str) -> dict[str, object]:
    """The same, and the files of the steps before: all that a person is shown, to notice what changes meanwhile."""
    facts = workflow.facts()
    return {
        **{f"{one.step}:{one.path}": facts.hashes.get(one.path) for one in workflow.briefing().inputs_of(path)},
        **hashes(workflow, path),
    }


def about(workflow: Workflow, path: str) -> list[str]:
    """What the work was and what was decided before, for the person who is asked."""
    brief = workflow.briefing()
    told = [("work", brief.task_of(path).text), *(("decided", one) for one in brief.decided[:5])]
    told += [("unchanged", one) for one in brief.unchanged]
    told += [("not done", f"{step}, {said}") for step, said in brief.skipped.items()]
    return [f"{label}: {text[:LONGEST]}" for label, text in told if text]


def checks(workflow: Workflow, path: str) -> list[str]:
    """How the checks of the step went, and what else is to be known of how the work was proved.

    Where a step hands in nothing of its own, those of the steps that it builds on too.
    """
    told = [*([] if hashes(workflow, path) else workflow.briefing().before(path)), path]
    found = [one for step in told for one in _checks_of(workflow, step, "" if step == path else f" of {step}")]
    # what did not pass is never among those that are only counted
    shown = found if len(found) <= MOST_CHECKS else sorted(found, key=lambda one: one[0])[:MOST_CHECKS]
    out = [said for _, said in shown]
    out += [f"and {len(found) - len(shown)} more checks"] if len(found) > len(shown) else []
    others = tuple(f"{one}: " for one in workflow.state.plan.paths if one not in told)
    proof = [said for said in workflow.briefing().proof if not said.startswith(others)]
    return [*out, *(f"proof: {said}" for said in proof)]


def _checks_of(workflow: Workflow, path: str, whose: str) -> Iterator[tuple[bool, str]]:
    """Whether each check of a step passed for what is there now, and what is said of it."""
    progress, facts = workflow.state.step(path), workflow.facts()
    for name, one in progress.evidence.items():
        is_old = one.passed and gates.is_stale(one, progress, facts)
        word = gates.stale_because(one, progress) if is_old else "passed" if one.passed else "failed"
        said = f"check {name}{whose} {word} ({provenance.how(one) or one.run_by}, {one.at})"
        yield one.passed and not is_old and not one.claimed, said


def chosen(workflow: Workflow, command: cmd.Approve) -> list[str]:
    """What there is to choose from, what is chosen, and what is to be different; all of it."""
    choice = workflow.state.plan.step(command.step).choice
    out = [f"options: {', '.join(choice.options)}"] if choice and choice.options else []
    out += [f"variant: {command.variant}"] if command.variant else []
    return [*out, *(f"change: {name}={_value(value)}" for name, value in command.modifications.items())]


def question(command: cmd.Approve) -> str:
    """What a yes is a yes to, in a line. Changes too long for it are named, and shown above it."""
    parts = [f"variant {command.variant}"] if command.variant else []
    for name, value in command.modifications.items():
        text = f"{name}={_value(value)}"
        parts.append(text if len(text) <= _IN_QUESTION else name)
    return f"Approve {command.step}{f' with {_and(parts)}' if parts else ''}?"


def _and(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _value(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)


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
