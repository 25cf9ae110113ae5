"""What a step is done by: every gate with its verdict, in words that people and agents read alike."""

from __future__ import annotations

from holdfast.core import gates, lifecycle, limits, policies, provenance
from holdfast.core.definition import Check, Step
from holdfast.core.facts import Facts, HandIn
from holdfast.core.moment import ago
from holdfast.core.remedy import quoted
from holdfast.core.state import HELD, Progress, State
from holdfast.core.value import Value


class Condition(Value):
    """One gate of a step. `verdict` is `passed`, `failed`, `stale`, `claimed`, `waiting`, `in_review` or `missing`."""

    kind: str
    name: str
    verdict: str
    text: str
    about: str = ""
    """What it means, where the name does not say it."""
    command: str = ""
    """The command that decides it, as a shell takes it; empty where somebody reports it."""


def of_step(state: State, path: str, facts: Facts) -> tuple[Condition, ...]:
    """Outputs, checks, the supervisor's check, the review and the approval, in the order in which they are met."""
    step, progress = state.plan.step(path), state.step(path)
    whole = facts.hand_ins.get(path)
    parts = (*(whole.parts if whole else ()), *(name for name, _, _ in (whole.lacking if whole else ())))
    names = dict.fromkeys((*step.outputs, *parts, *progress.artifacts))
    found = [
        Condition("output", name, *(_part(name, progress, whole) if whole else _output(name, state, path, facts)))
        for name in names
    ]
    for check in step.checks:
        command = " ".join(map(quoted, check.run))
        found.append(Condition("check", check.name, *_check(check, progress, facts), check.text, command))
    if step.supervised_after:
        made = gates.is_supervised(progress, step.supervised_after, of_work=True)
        told = ("passed", "made in this try") if made else ("missing", "not made in this try")
        found.append(Condition("supervisor", step.supervised_after, *told, "the check of the supervisor"))
    if step.review:
        found.append(Condition("review", "review", *_review(step, progress, facts)))
    if gates.policy(step):
        kind = "choice" if step.choice else "approval"
        found.append(Condition(kind, kind, *_approval(state, path, facts)))
    return tuple(found)


class Using(Value):
    """A command of the project that checks use, and where it comes from."""

    uses: str
    command: str
    source: str
    folder: str
    by: str
    text: str


def commands(state: State, at: str | None) -> tuple[Using, ...]:
    """What the checks run that use a command of the project: those of a step first, then those of its task."""
    from holdfast.core.tasks import task_of

    task = task_of(state, at) if at and state.plan.of_kind("task") else ""
    whole = (path for path in state.plan.paths if not task_of(state, path))
    near = [*([at] if at else []), *(state.plan.below(task) if task else whole), *state.plan.paths]
    found: dict[str, Using] = {}
    for check in (check for path in near for check in state.plan.step(path).checks if check.uses):
        found.setdefault(check.uses, _using(check))
    return tuple(found.values())


def _using(check: Check) -> Using:
    command, told = " ".join(map(quoted, check.run)), provenance.command(check)
    if not command:
        told = "no command found yet: Holdfast looks again at each check"
        if check.run_by != "engine":
            allowed = f"as {check.source} allows" if check.source else "no command found"
            told = f"{allowed}: self-reported, Holdfast does not run it"
    return Using(check.uses, command, check.source, check.folder, check.by, f"{check.uses}: {told}")


def tries(state: State, path: str) -> str:
    """`try 2 of 3`, from the second try on. Where tasks are iterated, the bound says how many there are."""
    step, progress, most = state.plan.step(path), state.step(path), state.bounds.max_iterations
    if most and step.kind in state.conduct.iterated:
        number = state.counted_tries(path)
        return f"try {number} of {most}" if number > 1 else ""
    at, is_pending = counted(state, path), progress.status == lifecycle.PENDING
    if step.retry and (state.step(at).tries or progress.failures) and (not is_pending or progress.failures):
        number = state.step(at).attempt
        return f"try {number} of {most_attempts(state, at)}" if number > 1 else ""
    return f"try {progress.attempt}" if progress.attempt > 1 and progress.status != lifecycle.PENDING else ""


def most_attempts(state: State, path: str) -> int:
    """The number of the last attempt that a step may have as things are: a person who resumes gives all tries again."""
    progress, left = state.step(path), limits.tries_left(state, path) or 0
    is_judged = any(one.attempt == progress.attempt for one in progress.tries)
    return max(progress.attempt + left - (not is_judged), left if not progress.attempt else progress.attempt)


def counted(state: State, path: str) -> str:
    """The step whose tries count for a step: of one that judges other work, the step that does that work."""
    other = limits.judged(state.plan, path)
    return other if other and state.plan.step(other).retry else path


def _part(name: str, progress: Progress, whole: HandIn) -> tuple[str, str]:
    """The same of a step whose system says what its work is."""
    wrong = next(((file, why) for one, file, why in whole.lacking if one == name), None)
    if wrong is not None:
        return "missing", f"{wrong[0]} {wrong[1]}"
    known, now = progress.artifacts.get(name), whole.parts.get(name)
    if now is None:
        return "failed", f"→ {known.path if known else name}, which is gone"
    if now[0] in whole.copied:
        return "missing", f"→ {now[0]}, not changed yet"
    if known is None:
        return "missing", f"→ {now[0]}, not handed in yet"
    changed = known.hash != now[1]
    return ("stale", f"→ {now[0]}, changed since it was handed in") if changed else ("passed", f"→ {now[0]}")


def _output(name: str, state: State, path: str, facts: Facts) -> tuple[str, str]:
    artifact = state.step(path).artifacts.get(name)
    if artifact is None:
        return "missing", "not handed in yet" if state.conduct.handed_whole else "output not named yet"
    seen = facts.hashes.get(artifact.path, (artifact.hash, 0))
    if seen is None:
        return "failed", f"→ {artifact.path}, which is gone"
    if not artifact.hash:
        return "claimed", f"→ {artifact.path}, as a document says"
    changed = seen[0] != artifact.hash
    return ("stale", f"→ {artifact.path}, changed since it was named") if changed else ("passed", f"→ {artifact.path}")


def _check(check: Check, progress: Progress, facts: Facts) -> tuple[str, str]:
    verdict, evidence = gates.check_verdict(check, progress, facts), progress.evidence.get(check.name)
    before = ", already passed before the work" if check.name in progress.data.get(HELD, ()) else ""
    if evidence is None or verdict == "missing":
        return verdict, f"has not run{' in this try' if evidence else ''}{before}"
    when = ago(evidence.at, facts.now)
    seen = f", {provenance.how(evidence)}" if provenance.how(evidence) else ""
    reported = seen if evidence.run_by == "engine" else f", reported by {evidence.by or 'nobody named'}"
    if verdict == "stale":
        why = "the tree changed since" if evidence.attempt == progress.attempt else f"in try {evidence.attempt}"
        return verdict, f"stale: passed {when}, {why}{reported}"
    if verdict == "claimed":
        return verdict, "only claimed by the document it was adopted from"
    exit_code = f", exit {evidence.exit_code}" if evidence.exit_code else ""
    others = provenance.other_packages(evidence)
    figures = provenance.with_figures(evidence)
    return verdict, f"{verdict}{figures}{exit_code}, {when}{reported}{before}" + (f"; {others}" if others else "")


def _review(step: Step, progress: Progress, facts: Facts) -> tuple[str, str]:
    assert step.review is not None
    last = progress.verdicts[-1] if progress.verdicts else None
    if progress.reviewed:
        return "passed", f"approved by {last.by}, {ago(last.at, facts.now)}" if last else "approved"
    by = " or ".join(step.review.by) or "a reviewer"
    round_now = f"round {min(progress.rounds + 1, step.review.max)} of {step.review.max}"
    if progress.status == lifecycle.IN_REVIEW:
        return "in_review", f"under review by {by}, {round_now}"
    if last and progress.rounds:
        return "missing", f"{last.by} asked for changes {ago(last.at, facts.now)}; {round_now} to come"
    return "missing", f"needed by {by}"


def _approval(state: State, path: str, facts: Facts) -> tuple[str, str]:
    step, progress = state.plan.step(path), state.step(path)
    grant, verdict = progress.grant, gates.grant_verdict(state, path, facts)
    if grant is not None and verdict == "claimed":
        from holdfast.core.recognition import claim

        return verdict, claim(state.ulid, path, grant, facts)
    if grant is not None and verdict == "stale":
        given = f"{grant.by} gave it {ago(grant.at, facts.now)}"
        earlier = gates.given_earlier(progress)
        why = f"{given} for an earlier attempt" if earlier else f"the work changed since {given}"
        return verdict, f"stale: {why}"
    if grant is not None:
        chosen = f"{grant.variant}, " if grant.variant else ""
        return "passed", f"{chosen}by {grant.by}, {ago(grant.at, facts.now)}"
    who = policies.SAID[gates.policy(step)].replace(" by ", " from ")
    among = f": {', '.join(step.choice.options)}" if step.choice and step.choice.options else ""
    return "waiting" if progress.status == lifecycle.WAITING else "missing", f"needed{who}{among}"


def held_before(state: State, path: str) -> tuple[str, ...]:
    """The remark about the checks of a step that held before its work began; nothing without such."""
    held = state.step(path).data.get(HELD, ())
    it = "it proves" if len(held) == 1 else "they prove"
    return (f"{', '.join(held)} already passed before the work, so {it} nothing yet",) if held else ()
