"""Verdicts from what is recorded: which gates of a step hold, and what is still missing."""

from __future__ import annotations

from _collections_abc import Container, Sequence

from holdfast.core import covered, cycle, lifecycle, policies, remedies
from holdfast.core.definition import POLICIES, Check, Step
from holdfast.core.facts import Facts, HandIn
from holdfast.core.provenance import LOST, NO_TEST, NOT_STARTED, UNREAD
from holdfast.core.remedy import Blank, Remedy, one_of, shell, told
from holdfast.core.state import (
    CHECKED,
    DOCUMENT,
    RELAYED,
    SHOWN_BY,
    UNCHANGED,
    Evidence,
    Following,
    Progress,
    State,
)
from holdfast.core.value import Any, Value

_UNDONE = {
    "load": "it is not loaded",
    "branch": "the branch is not made",
    "commit": "the work is not committed",
    "pull_request": "the pull request is not made",
}
DECISIONS = ("'## Decision: APPROVED'", "'## Decision: NEEDS_REVISION'")
"""The line that decides in a file that holds a review."""
_WAYS = ("", "none", "run", "report")
_NO_WAYS = ("", "none")
_FIX = {"fails": "fix the test, then", "passes": "fix the work, then"}
"""What comes before the command where a test has to fail or to pass."""
REVIEWED = (lifecycle.IN_REVIEW, lifecycle.WAITING)
"""Where what was handed in is what people and reviewers decide about."""
HANDED_IN = (*REVIEWED, lifecycle.DONE)
READ = "read it, then"
"""What comes before the command that trusts something."""


class Unmet(Value):
    """One thing that is between a step and `done`, and the commands that clear it, the best first."""

    kind: str
    name: str
    message: str
    remedies: tuple[Remedy, ...]
    reason: str = ""
    """What somebody wrote, or a check printed, at the end of the message."""
    of: str = ""
    """The step that it is about, where another one lacks it."""

    @property
    def ours(self) -> str:
        """The message without the reason, where that is told elsewhere."""
        return self.message.removesuffix(f": {self.reason}") if self.reason else self.message

    @property
    def remedy(self) -> str:
        return told(self.remedies)


def policy(step: Step) -> str:
    """Whose word the step's approval and choice take, the stricter of the two; empty when it has neither."""
    asked = [gate.by for gate in (step.choice, step.approval) if gate]
    return max(asked, key=POLICIES.index, default="")


def only_asks(step: Step) -> bool:
    """Whether a step is nothing but a person's approval or choice: it has no work that is begun and handed in.

    A proof names the attempt that it is given to, so a step that takes nothing else is begun first.
    """
    asks = policy(step) in ("relayed", "human")
    work = step.outputs or step.checks or step.review or step.action or step.code or step.result
    return asks and not (work or step.steps or step.task or step.supervised_after)


def takes_word(state: State, path: str) -> bool:
    """Whether such a step takes the word as it is: it has not begun, or has begun and was not sent back."""
    progress = state.step(path)
    is_open = progress.status == lifecycle.PENDING or (progress.status == lifecycle.ACTIVE and not progress.advice)
    return is_open and only_asks(state.plan.step(path))


def is_asked(state: State, path: str) -> bool:
    """Whether there is nothing to do in it either, so that it waits for the word, also where somebody began it."""
    step = state.plan.step(path)
    return takes_word(state, path) and not (step.description or step.agents)


def check_verdict(check: Check, progress: Progress, facts: Facts) -> str:
    """`passed`, `failed`, `stale`, `claimed` or `missing`. Only the first lets a step be done."""
    evidence = progress.evidence.get(check.name)
    if evidence is None:
        return "missing"
    if evidence.claimed:
        return "claimed"
    if not evidence.passed:
        # What a test showed in an earlier attempt says nothing of the test of this one.
        return "missing" if check.test and evidence.attempt != progress.attempt else "failed"
    return "stale" if is_stale(evidence, progress, facts) else "passed"


def to_change(step: Step, progress: Progress, facts: Facts) -> str:
    """Why the work has to be changed. A failure is over once every check of the step has passed again."""
    passed = step.checks and all(check_verdict(check, progress, facts) == "passed" for check in step.checks)
    return "" if passed and cycle.is_failure(progress) else progress.advice


def telling(evidence: Evidence) -> str:
    """The line that says why a check failed: what its results say, else the error in its output, else the last line."""
    lines = [line.strip().strip("=-_*").strip() for line in (evidence.detail or evidence.tail).split("\n")]
    said = [line for line in lines if line]
    if evidence.detail:
        return said[0] if said else ""
    marked = [line[1:].strip() for line in said if line.startswith("E  ")]
    named = [line for line in said if "error: " in line.lower()]
    return (marked[:1] or named[-1:] or said[-1:] or [""])[0]


def failed_because(evidence: Evidence | None) -> str:
    return f"failed: {telling(evidence) if evidence else ''}".removesuffix(": ")


def is_stale(evidence: Evidence, progress: Progress, facts: Facts) -> bool:
    """Evidence speaks of one attempt and one working tree, or of the work of one step."""
    now = facts.trees.get(evidence.scope) if evidence.scope else facts.tree
    moved_on = evidence.tree is not None and now is not None and evidence.tree != now
    return moved_on or evidence.attempt != progress.attempt


def stale_because(evidence: Evidence, progress: Progress) -> str:
    """How evidence that no longer counts came about."""
    return "passed in an earlier attempt" if evidence.attempt != progress.attempt else "passed before the tree changed"


def grant_verdict(state: State, path: str, facts: Facts) -> str:
    """`valid`, `stale`, `claimed` or `none`. What is claimed and out of date is stale: it cannot be confirmed."""
    progress = state.step(path)
    grant = progress.grant
    if grant is None:
        return "none"
    from holdfast.core.recognition import is_recognised

    recognised = is_recognised(policy(state.plan.step(path)), state.ulid, path, progress, facts)
    if given_earlier(progress):
        return "stale"
    if not recognised and not grant.hashes:
        return "claimed"  # a document does not say what exactly was approved
    now = covered.hashes(state, path, facts)
    if dict(grant.hashes) != now or (path in facts.hand_ins and changed(state, path, facts)):
        return "stale"
    for artifact in progress.artifacts.values() if path not in facts.hand_ins else ():
        if artifact.path in facts.hashes:
            seen = facts.hashes[artifact.path]
            if seen is None or seen[0] != artifact.hash:
                return "stale"
    return "valid" if recognised else "claimed"


def is_decided(state: State, path: str, facts: Facts) -> bool:
    """Whether a person's own approval or choice holds, or is claimed to; one that an agent passed on is no better than
    its word.
    """
    grant = state.step(path).grant
    given = grant is not None and grant.how not in (RELAYED, DOCUMENT)
    return given and grant_verdict(state, path, facts) in ("valid", "claimed")


def claimed(state: State, facts: Facts) -> tuple[str, ...]:
    """The steps that are done by an approval or by checks that are only claimed here."""
    done = (path for path in state.plan.paths if state.step(path).status == lifecycle.DONE)
    return tuple(p for p in done if is_approval_claimed(state, p, facts) or claimed_checks(state, p))


def is_approval_claimed(state: State, path: str, facts: Facts) -> bool:
    """Of a step without a gate, the end of the whole is what a claim would be believed for."""
    counts = policy(state.plan.step(path)) or state.finished_at
    return bool(counts) and grant_verdict(state, path, facts) == "claimed"


def claimed_checks(state: State, path: str) -> list[str]:
    """The checks of a step that a document says passed, and that Holdfast did not see pass."""
    evidence = state.step(path).evidence
    return [one.name for one in state.plan.step(path).checks if one.name in evidence and evidence[one.name].claimed]


def not_there(state: State, path: str, facts: Facts) -> list[str]:
    """What a step that a document says is done would have been refused for here: outputs, and its result."""
    step, artifacts, whole = state.plan.step(path), state.step(path).artifacts, facts.hand_ins.get(path)
    if whole is not None:
        return [f"{file} {why}" for _, file, why in whole.lacking]
    found = [f"the output {name!r} is not named" for name in step.outputs if name not in artifacts]
    named = [artifacts[name].path for name in step.outputs if name in artifacts]
    found += [f"{file} is not there" for file in named if facts.hashes.get(file, "") is None]
    if step.result in artifacts and not artifacts[step.result].hash:
        file = artifacts[step.result].path
        said = facts.results.get(file) or {}
        if said.get("status", said.get("overall_status")) != step.passed:
            found.append(f"{file} does not say {step.passed}")
        found += [f"{file}: {key}: {message}" for key, message in facts.mistakes.get(file, ())]
    return found


def with_claims(step: Step, progress: Progress) -> Progress:
    """What a document says of a step: `completed` claims that every check passed of which it says nothing."""
    if progress.status != lifecycle.DONE:
        return progress
    unseen = [one.name for one in step.checks if one.name not in progress.evidence]
    claim = Evidence(True, progress.finished_at, max(1, progress.attempt), claimed=True)
    return progress.replace(evidence={**progress.evidence, **dict.fromkeys(unseen, claim)}) if unseen else progress


def given_earlier(progress: Progress) -> bool:
    """Whether a grant speaks of an attempt before this one; a step that was reset is before its next attempt."""
    grant = progress.grant
    return grant is not None and (progress.status == lifecycle.PENDING or grant.attempt != progress.attempt)


def lapsed_because(state: State, path: str, facts: Facts) -> str:
    """Why a grant that was given does not hold."""
    progress = state.step(path)
    if progress.grant and grant_verdict(state, path, facts) == "claimed":
        from holdfast.core.recognition import claim

        return f"is {claim(state.ulid, path, progress.grant, facts)}"
    if given_earlier(progress):
        now = progress.attempt + (progress.status == lifecycle.PENDING)
        return f"is for attempt {progress.grant.attempt if progress.grant else 0}; attempt {now} needs a new one"
    whole = facts.hand_ins.get(path)
    gone = f"{_listed(tuple(whole.deleted))} was deleted" if whole and whole.deleted else ""
    return f"no longer holds: {gone or 'the work changed since'}"


def renewing(state: State, path: str, facts: Facts) -> Remedy:
    """The command that makes an approval hold again: one that is only claimed is confirmed with all others."""
    step = state.plan.step(path)
    if not policies.asks_for_proof(policy(step)) and grant_verdict(state, path, facts) == "claimed":
        return remedies.confirm()
    return approving(step, path, renewing=state.step(path).grant is not None)


def approving(step: Step, path: str, *, renewing: bool = False) -> Remedy:
    """The command that passes the step's approval or choice; a choice that is renewed stays as it was."""
    if policy(step) == "passkey":
        return remedies.page()
    variant = Blank("VARIANT") if step.choice and not renewing else ""
    return remedies.approve(path, variant=variant, sign=Blank("KEY") if policies.asks_for_proof(policy(step)) else "")


def reviewing(step: Step, path: str) -> Remedy:
    """The command that says what a review found, in the role that the gate asks for."""
    by = step.review.by if step.review else ()
    role = one_of(*by) if len(by) > 1 else "".join(by)
    return remedies.review(path, by=role, from_file=bool(step.review and step.review.files))


def changed(state: State, path: str, facts: Facts) -> list[str]:
    """What a step would hand in now that is not as it was handed in: new, other or gone.

    Of a document that says nothing of the work, it is not known.
    """
    found, known = facts.hand_ins.get(path), state.step(path).artifacts
    if found is None or (state.origin == "adopted" and not known):
        return []
    other = {name: one[0] for name, one in found.parts.items() if name not in known or known[name].hash != one[1]}
    return [*other.values(), *(one.path for name, one in known.items() if name not in found.parts)]


def changed_because(state: State, path: str, files: list[str]) -> str:
    """What is said of work that is not what was reviewed, or handed in."""
    since = "it was reviewed" if state.step(path).reviewed else "it was handed in"
    return f"{_listed(files)} changed since {since}"


def _listed(files: Sequence[str]) -> str:
    return ", ".join(files[:5]) + (f" and {len(files) - 5} more" if len(files) > 5 else "")


def unmet(step: Step, path: str, progress: Progress, facts: Facts) -> list[Unmet]:
    """What the step's own work still lacks: checks, then the outputs that `done` names. People's gates come after."""
    found = []
    hand_in = facts.hand_ins.get(path)
    unnamed = [name for name in step.outputs if name not in progress.artifacts] if hand_in is None else []
    done = (remedies.done(path, outputs=unnamed, text=remedies.FIX if to_change(step, progress, facts) else ""),)
    undone = is_undone(step, progress)
    if undone:
        by_hand = facts.by_hand if step.action == "pull_request" else ()
        said = _UNDONE.get(step.action, f"the action {step.action!r} has not run")
        found.append(Unmet("action", step.action, said, by_hand or done))
    lacking = [check for check in step.checks if check_verdict(check, progress, facts) != "passed"]
    by_done = progress.status not in REVIEWED and all(is_runnable(check, path, facts) for check in lacking)
    for check in lacking if not undone or step.action != "pull_request" else ():
        verdict = check_verdict(check, progress, facts)
        way = "run" if check.run else facts.bindable.get((path, check.name), "")
        how = _checking(check, progress, way, failed=verdict == "failed")
        if by_done:
            how = (remedies.done(path, outputs=unnamed, given=_test(how[0]), text=how[0].text), *how[1:])
        said = {
            "missing": "has not run",
            "failed": failed_because(progress.evidence.get(check.name)),
            "claimed": "is only claimed by the document it was adopted from",
        }.get(verdict) or stale_because(progress.evidence[check.name], progress)
        untrusted = facts.untrusted.get((path, check.name), "") or ("" if way in _WAYS else way)
        if untrusted:
            said += ", and nobody on this machine has trusted its command yet"
            how = (remedies.trust(untrusted, text=READ),)
        lost = str(progress.evidence[check.name].data.get(LOST) or "") if verdict == "failed" else ""
        if lost and not untrusted:
            again = remedies.reopen(lost, text="give that task another test, from red on")
            chosen = how[1:] if progress.evidence[check.name].data.get(UNREAD) else ()
            how = (how[0].replace(text="bring the test back, then"), again, *chosen)
        reason = telling(progress.evidence[check.name]) if verdict == "failed" and not untrusted else ""
        if is_lacking(check) and way in _NO_WAYS:
            why = "set one" if not way else "the configuration says that there is none"
            said = f"cannot run: Holdfast has no {check.uses} command; {why}"
        found.append(Unmet("check", check.name, f"the check {check.name!r} {said}", how, reason))
    same = [] if progress.data.get(UNCHANGED) else cycle.unchanged(path, progress, facts)
    if same:
        because = cycle.unchanged_because(path, progress, same, facts)
        found.append(Unmet("unchanged", path, because, (done[0].replace(text=remedies.FIX),)))
    found += blank(step, progress, facts, done if progress.status == lifecycle.ACTIVE else ())
    found += [uncommitted(path, hand_in.loose, hand_in.seeing)] if hand_in and hand_in.loose else []
    for name, file, why in hand_in.lacking if hand_in else ():
        own = Unmet("output", name, f"{file} {why}", (done[0].replace(text="write it, then"),))
        found.append(deleted(hand_in, file) if hand_in and file in hand_in.deleted else own)
    if hand_in and hand_in.copied and not progress.data.get(UNCHANGED):
        why = cycle.copied_because(hand_in.copied)
        found.append(Unmet("output", hand_in.copied[0], why, cycle.as_it_is_ways(path)))
    return found + [Unmet("output", name, f"the output {name!r} is not named", done) for name in unnamed]


def no_file(file: str) -> Unmet:
    """What an approval would be for has no content that could be compared later."""
    said = f"{file} is a link, a folder or something else that is no file"
    return Unmet("output", file, said, (Remedy(text=f"put a file in the place of {file}"),))


def deleted(hand_in: HandIn, file: str) -> Unmet:
    """A file that was handed in and is gone: git brings it back."""
    restore = shell("git", "restore", f"--source={hand_in.deleted[file]}", "--", file)
    return Unmet("output", file, f"{file} was deleted", (restore,))


def uncommitted(path: str, files: Sequence[str], seeing: Sequence[Remedy] = (), *, finished: bool = False) -> Unmet:
    """Code that no commit has, so that nobody else gets it. `commit` is for work that is under way only."""
    said = f"{_listed(files)}: in no commit yet" + (", so the tests did not run on what others get" if finished else "")
    follows = "then" if seeing else ""
    commit = remedies.named("commit", {"task": path, "message": remedies.TEXT}, text=follows)
    return Unmet("commit", path, said, (*seeing, *(remedies.committing(files, follows) if finished else (commit,))))


def blank(step: Step, progress: Progress, facts: Facts, then: tuple[Remedy, ...] = ()) -> list[Unmet]:
    """The outputs of a step in which nothing is written: nobody hands them in or approves them."""
    named = {name: progress.artifacts[name].path for name in step.outputs if name in progress.artifacts}
    after = tuple(one.replace(text="then") for one in then)
    return [
        Unmet("output", name, f"the output {name!r} is empty: {file}", (Remedy(text=f"write {file}"), *after))
        for name, file in named.items()
        if file in facts.blank
    ]


def is_lacking(check: Check) -> bool:
    """Whether only the engine's run counts, and the project has no command for it yet."""
    return check.run_by == "engine" and not check.run


def is_runnable(check: Check, path: str, facts: Facts) -> bool:
    """Whether Holdfast can run a check of a step: it has a command, or the project has one by now."""
    trusted = (path, check.name) not in facts.untrusted
    return (bool(check.run) and trusted) or facts.bindable.get((path, check.name)) == "run"


def _checking(check: Check, progress: Progress, way: str, *, failed: bool) -> tuple[Remedy, ...]:
    """The command that runs a check or says how it went, with the test that has to fail or that a run did not tell."""
    evidence = progress.evidence.get(check.name)
    text = _FIX.get(check.test, remedies.FIX) if failed else ""
    if is_lacking(check) and way in _NO_WAYS:
        return remedies.equip(check.uses, is_listed=way == "none")
    if way != "run":
        return (remedies.report(check.name, text=text),)
    known = str(evidence.data.get("test") or "") if evidence else ""
    unnamed = evidence is None or bool(evidence.data.get("unnamed"))
    is_old = evidence is not None and evidence.attempt != progress.attempt
    test: str | Blank = known if check.test == "fails" and not unnamed and not is_old else ""
    if not test and (check.test == "fails" or (failed and unnamed)):
        test, text = Blank("NAME"), "" if unnamed else text
    shown = str(evidence.data.get(SHOWN_BY) or "") if failed and evidence else ""
    again: tuple[Remedy, ...] = (remedies.reopen(shown, text="show it again"),) if shown else ()
    if failed and evidence and evidence.data.get(NOT_STARTED) and check.uses:
        text, again = "install it, then", (remedies.set_command(check.uses, text="name another"),)
    if failed and evidence and evidence.data.get(NO_TEST) and not check.test and check.uses:
        again = remedies.equip(check.uses, is_listed=check.source == remedies.CONFIG)[-1:]
    if failed and evidence and evidence.data.get(UNREAD):
        text, again = "bring the tests and their command back, then", (remedies.choose_command(check.uses),)
    return remedies.check(check.name, text=text).given(test=test), *again


def _test(checking: Remedy) -> dict[str, Any]:
    return {"test": checking.arguments["test"]} if checking.arguments.get("test") else {}


def is_undone(step: Step, progress: Progress) -> bool:
    """Whether the step's action is still to come. Evidence with what it leads to is as good as having done it."""
    if not step.action:
        return False
    reported = any(one.passed and one.data.get(step.fact) for one in progress.evidence.values())
    return not progress.data.get(step.fact) and not reported


def people_unmet(state: State, path: str, facts: Facts) -> list[Unmet]:
    """What people still have to say of the step."""
    step, progress = state.plan.step(path), state.step(path)
    found = []
    other = changed(state, path, facts) if step.review and progress.status in REVIEWED else []
    if other:
        again = remedies.done(path, text="hand it in again")
        return [Unmet("changed", path, changed_because(state, path, other), (again,))]
    if step.review and not progress.reviewed:
        by = " or ".join(step.review.by) or "a reviewer"
        found.append(Unmet("review", "review", f"a review by {by} is needed", (reviewing(step, path),)))
    if policy(step):
        verdict = grant_verdict(state, path, facts)
        if verdict != "valid":
            kind = "choice" if step.choice else "approval"
            among = f": {' or '.join(step.choice.options)}" if step.choice and step.choice.options else ""
            said = f"is needed{among}" if verdict == "none" else lapsed_because(state, path, facts)
            who = policies.SAID[policy(step)] or policies.SAID["human"]
            said += "; an agent may report the decision" if policy(step) == "relayed" else ""
            own = renewing(state, path, facts) if verdict == "claimed" else approving(step, path)
            found.append(Unmet(kind, kind, f"the {kind}{who} {said}", remedies.person(path, own)))
    return found


def not_begun(state: State, path: str, facts: Facts) -> list[Unmet]:
    """What a step needs that could begin: where there is nothing to do in it, only a person's word."""
    if is_asked(state, path):
        return people_unmet(state, path, facts)
    return [Unmet("begin", path, "it has not begun", (remedies.begin(path),))]


def handing_in(state: State, path: str, facts: Facts) -> tuple[Remedy, ...]:
    """What leads on from a step that is worked on. One that only asks and was sent back is about work of others."""
    step = state.plan.step(path)
    if not to_change(step, state.step(path), facts):
        return (remedies.done(path),)
    before = state.plan.closure(path) if only_asks(step) else ()
    done = [one for one in before if state.step(one).status == lifecycle.DONE]
    working = [one for one in state.plan.paths if one in done and state.plan.step(one).outputs] or done
    more = (remedies.reopen(working[-1], text=f"if the work of {working[-1]} has to change"),) if working else ()
    return (remedies.done(path, text=remedies.FIX), *more)


def holds(state: State, path: str, facts: Facts) -> bool:
    """Whether a step that is done still counts: its approval is not stale, and nothing of it is only claimed."""
    step, progress = state.plan.step(path), state.step(path)
    if progress.status != lifecycle.DONE:
        return progress.status == lifecycle.SKIPPED
    if policy(step) and grant_verdict(state, path, facts) != "valid":
        return False
    return not claimed_checks(state, path)


def unsupervised(state: State, path: str) -> list[Unmet]:
    """The check of a supervisor that a step may not begin without, or its work not be handed in without."""
    step, progress = state.plan.step(path), state.step(path)
    begun = progress.status != lifecycle.PENDING
    check = step.supervised_after if begun else step.supervised
    if not check or is_supervised(progress, check, of_work=begun):
        return []
    said = f"the supervisor has not made its check {check!r}"
    return [Unmet("supervisor", check, said, remedies.supervised(check, path))]


def is_supervised(progress: Progress, check: str, *, of_work: bool) -> bool:
    """Whether a supervisor made a check of the step; one of the work holds for the attempt that it was made in."""
    made = progress.data.get(CHECKED, {})
    return check in made and (not of_work or made[check] == progress.attempt)


def missing(state: State, path: str, facts: Facts) -> list[str]:
    """What keeps a step from beginning: prerequisites that are not done, and gates before it that no longer hold."""
    undone = [p for p in state.plan.requires(path) if state.step(p).status not in lifecycle.FINISHED]
    return undone + lapsed(state, state.plan.closure(path), facts)


def lapsed(state: State, steps: Container[str], facts: Facts) -> list[str]:
    """Those of the steps that are done and do not count any more: only an approval or a claim can be the reason."""
    plan = state.plan
    asked = {path for path in (*plan.asking(), *_CLAIMED.of(state.progress)) if path in plan and path in steps}
    done = (p for p in sorted(asked, key=plan.place) if state.step(p).status == lifecycle.DONE)
    return [p for p in done if not holds(state, p, facts)]


_CLAIMED = Following(lambda one: any(seen.claimed for seen in one.evidence.values()))
