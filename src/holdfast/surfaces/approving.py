"""Before a person is asked to approve: whether only their word is missing, and what exactly it would be given to."""

from __future__ import annotations

from _collections_abc import Iterator, Mapping, Sequence

from holdfast.core import commands as cmd
from holdfast.core import covered, ending, gates, lifecycle, provenance, queries, remedies
from holdfast.core.facts import Facts
from holdfast.core.value import Any, Value
from holdfast.errors import HoldfastError
from holdfast.machine.place import Place
from holdfast.plain.plainjson import compact
from holdfast.project.workflow import Workflow
from holdfast.surfaces import handed
from holdfast.surfaces.excerpt import Room

LONGEST = 300
"""How much of a text is shown with the question."""
MOST_CHECKS = 30
_IN_QUESTION = 60
_HANDED_IN = ("submitted", "revised", "reopened")
"""Moves after which a review that was made before them is one of an earlier round."""


class Check(Value):
    """How a check went, in a sentence: whether it passed for what is there now, and the end of what it printed."""

    said: str
    is_good: bool
    output: str = ""
    is_stale: bool = False
    """Whether it passed for something else than what is there now."""


class View(Value):
    """What a person is shown before they decide about a step. Every surface draws this value, and nothing beside it.

    It holds no time that passes: the same work gives the same value.
    """

    version: int
    workflow: str
    id: str
    title: str
    step: str
    label: str
    attempt: int
    escalated: str
    about: tuple[str, ...]
    handed: handed.Handed
    checks: tuple[Check, ...]
    proof: tuple[str, ...]
    reviews: tuple[str, ...]
    feedback: tuple[str, ...]
    options: tuple[str, ...]
    """The variants to choose from."""
    asks_variant: bool
    after: str
    """The step that follows."""

    def digest(self) -> str:
        """The SHA-256 of what was shown: an approval that says it can be compared with what there was to see."""
        from hashlib import sha256

        return sha256(compact(_plain(self)).encode("utf-8", "surrogatepass")).hexdigest()

    def tested(self) -> list[str]:
        """The sentences about checks and proof, as lines of text."""
        return [*(one.said for one in self.checks), *self.proof]


def view(place: Place, workflow: Workflow, path: str, hashed: Mapping[str, str], *, most: int, room: Room) -> View:
    """What there is to decide about, if its artifacts are these; of at most so many files, and so much of each."""
    state, brief = workflow.state, workflow.briefing()
    step, progress = state.plan.step(path), state.step(path)
    found, proof = checks(workflow, path)
    after = queries.next_step(state, path)
    return View(
        version=2,
        workflow=workflow.ulid,
        id=workflow.id,
        title=brief.title,
        step=path,
        label=step.label,
        attempt=max(progress.attempt, 1),
        escalated=progress.reason if progress.status == lifecycle.ESCALATED else "",
        about=tuple(about(workflow, path)),
        handed=handed.shown(place, workflow, path, hashed, most, room=room),
        checks=tuple(found),
        proof=tuple(proof),
        reviews=tuple(reviews(workflow, path)),
        feedback=tuple(said[:LONGEST] for said in progress.feedback[-3:]),
        options=step.choice.options if step.choice else (),
        asks_variant=step.choice is not None,
        after=state.plan.step(after).label if after else "",
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Value):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def is_ready(workflow: Workflow, path: str) -> bool:
    """Whether only the person's word is missing. If not, the refusal says what is, and nobody is asked."""
    state = workflow.state
    step, progress = state.plan.step(path), state.step(path)
    missing = {one.kind for one in queries.blockers(state, path, workflow.facts())}
    if progress.status == lifecycle.ACTIVE:
        is_handed_in = missing == {"done"} and (step.review is None or progress.reviewed)
        return is_handed_in or (bool(missing) and missing <= {"approval", "choice"})
    if progress.status == lifecycle.PENDING and gates.only_asks(step):
        return bool(missing) and missing <= {"begin", "approval", "choice"}
    words = {lifecycle.WAITING: {"approval", "choice"}, lifecycle.DONE: {"approval", "choice"}}
    return bool(missing) and missing <= words.get(progress.status, {lifecycle.ESCALATED})


def hashes(workflow: Workflow, path: str) -> dict[str, str]:
    """The files that a decision is about as they are there now; nothing for one that is gone."""
    facts = workflow.facts()
    found, whole = facts.hashes, facts.hand_ins.get(path)
    files = covered.files(workflow.state, path)
    if whole is not None:
        return {**dict.fromkeys(files, ""), **whole.hashes}
    return {name: (found.get(one.path) or ("", 0))[0] for name, one in files.items()}


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


def checks(workflow: Workflow, path: str) -> tuple[list[Check], list[str]]:
    """How the checks of the step went, and what else is to be known of how the work was proved.

    Those of the steps that it builds on, too. The last approval is shown what limits the proof of the tests that the
    end rests on.
    """
    told = [*workflow.briefing().before(path), path]
    facts = _with_tree(workflow, told)
    found = [one for step in told for one in _checks_of(workflow, facts, step, "" if step == path else f" of {step}")]
    # what did not pass is never among those that are only counted
    shown = found if len(found) <= MOST_CHECKS else sorted(found, key=lambda one: one.is_good)[:MOST_CHECKS]
    more = [f"and {len(found) - len(shown)} more checks"] if len(found) > len(shown) else []
    elsewhere = tuple(f"{one}: " for one in workflow.state.plan.paths if one not in told)
    proof = [said for said in workflow.briefing().proof if not said.startswith(elsewhere)]
    proof += [said for said in ending.remarks(workflow.state, path) if said not in proof]
    return shown, [*more, *(f"proof: {said}" for said in proof)]


def _with_tree(workflow: Workflow, steps: Sequence[str]) -> Facts:
    """The facts with the files as they are now: others than who approves do not ask whether finished checks hold."""
    facts, state = workflow.facts(), workflow.state
    seen = [one for step in steps for one in state.step(step).evidence.values() if one.tree and not one.scope]
    if not seen or facts.tree is not None:
        return facts
    try:
        return facts.replace(tree=workflow.wired.world.tree(state).id)
    except HoldfastError:  # git does not look at it
        return facts


def _checks_of(workflow: Workflow, facts: Facts, path: str, whose: str) -> Iterator[Check]:
    progress = workflow.state.step(path)
    for name, one in progress.evidence.items():
        is_old = one.passed and gates.is_stale(one, progress, facts)
        word = gates.stale_because(one, progress) if is_old else "passed" if one.passed else "failed"
        said = f"check {name}{whose} {word} ({provenance.how(one) or one.run_by}, {one.at})"
        yield Check(said, one.passed and not is_old and not one.claimed, one.tail, is_old)


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
    state, progress, now = workflow.state, workflow.state.step(path), hashes(workflow, path)
    moves = (one for one in reversed(state.history) if one.get("step") == path and one.get("event") in _HANDED_IN)
    since = next((str(one["at"]) for one in moves), "")
    out = []
    for one in progress.verdicts[-3:]:
        is_old = dict(one.hashes) != now if one.hashes else one.attempt != progress.attempt or one.at < since
        why = f": {one.feedback[:LONGEST]}" if one.feedback else ""
        when = ", before this change" if is_old else ""
        out.append(f"review: {one.verdict.replace('_', ' ')} by {one.by}{when}{why}")
    return out


def declined(path: str) -> HoldfastError:
    return HoldfastError("declined", f"{path} was not approved", remedy=remedies.reject(path), facts={"step": path})
