"""What a commit or a pull request relies on: the checks that Holdfast ran, and whether they are of this tree."""

from __future__ import annotations

from holdfast.core import gates, lifecycle, provenance, remedies
from holdfast.core.definition import Check
from holdfast.core.facts import Facts
from holdfast.core.gates import Unmet
from holdfast.core.plan import parent
from holdfast.core.remedy import quoted
from holdfast.core.state import Evidence, State
from holdfast.core.tasks import TASK

TAKES = ("commit", "pull_request")
"""The actions that take what was proved."""


def of_taken(state: State, path: str) -> list[tuple[str, Check]]:
    """The checks whose newest run proved what a step commits or asks others to pull: of the steps below, else before.

    Steps before another commit have proved what that one took. A test that had to fail cannot be shown again.
    """
    undone = any(state.step(child).status not in lifecycle.FINISHED for child in state.plan.children(path))
    if undone or state.plan.step(path).action not in TAKES:
        return []
    found: dict[tuple[str, tuple[str, ...]], tuple[str, Check]] = {}
    for step in state.plan.below(path) or _before(state, path):
        for check in state.plan.step(step).checks if state.step(step).status == lifecycle.DONE else ():
            if check.run and check.test != "fails" and _is_seen(state.step(step).evidence.get(check.name)):
                found[check.name, check.run] = step, check
    return list(found.values())


def _before(state: State, path: str) -> list[str]:
    """The steps beside a step, with those below them, since the last that commits or has tasks."""
    found: list[str] = []
    parted = TASK if state.plan.step(path).action != "commit" else ""
    for step in state.plan.children(parent(path)):
        if step == path:
            break
        inside = (step, *state.plan.below(step))
        steps = [state.plan.step(one) for one in inside]
        ends = any(one.action == "commit" or (parted and one.kind == parted) for one in steps)
        found = [] if ends else [*found, *inside]
    return found


def _is_seen(evidence: Evidence | None) -> bool:
    return evidence is not None and evidence.run_by == "engine" and not evidence.claimed


def lapsed(state: State, path: str, facts: Facts) -> list[tuple[str, Check]]:
    """Those of them that did not pass, or that passed before the tree changed."""
    return [
        (step, check)
        for step, check in of_taken(state, path)
        if gates.check_verdict(check, state.step(step), facts) != "passed"
    ]


def unmet(state: State, path: str, facts: Facts) -> list[Unmet]:
    """What has to be run again before a step commits; nothing once it has."""
    if not gates.is_undone(state.plan.step(path), state.step(path)):
        return []
    found = []
    for step, check in lapsed(state, path, facts):
        evidence = state.step(step).evidence[check.name]
        failed = not evidence.passed
        said = gates.failed_because(evidence) if failed else gates.stale_because(evidence, state.step(step))
        way = remedies.done(path, text=remedies.FIX if failed else "")
        reason = gates.telling(evidence) if failed else ""
        found.append(Unmet("check", check.name, f"the check {check.name!r} of {step} {said}", (way,), reason))
    return found


def has_runs(state: State, path: str, check: Check) -> bool:
    """Whether the command passed for another step: only then is it worth while to look at the tree."""
    return any(_is_same(state, path, step, other, check) for step, other in _checks(state))


def _checks(state: State) -> list[tuple[str, Check]]:
    return [(step, check) for step in reversed(state.plan.paths) for check in state.plan.step(step).checks]


def _is_same(state: State, path: str, step: str, other: Check, check: Check) -> bool:
    """Whether Holdfast saw the same command pass for another step, in the try that counts."""
    seen = state.step(step).evidence.get(other.name)
    if step == path or (other.run, other.folder, other.test) != (check.run, check.folder, check.test):
        return False
    return seen is not None and _is_seen(seen) and seen.passed and seen.attempt == state.step(step).attempt


def same_run(state: State, path: str, check: Check, tree: str | None, test: str) -> tuple[str, Evidence] | None:
    """The run of the same command that passed on this very tree, with its step: it need not be repeated."""
    for step, other in _checks(state) if tree else ():
        if _is_same(state, path, step, other, check):
            seen = state.step(step).evidence[other.name]
            if seen.tree == tree and test in ("", seen.data.get("test")):
                return step, seen
    return None


def stood_for(state: State, path: str, name: str, evidence: Evidence) -> tuple[Evidence, str]:
    """What is said where the command of a check, or what that stands for, is another one than when it last ran.

    With it goes the evidence, which keeps this and what was said so before.
    """
    check = state.plan.step(path).check(name)
    own = (check.uses, check.folder) if check and check.uses else ()
    runs = [
        seen
        for step, other in _checks(state)
        if (other.uses, other.folder) == own and (seen := state.step(step).evidence.get(other.name)) and _is_seen(seen)
    ]
    last = max(runs, key=lambda one: one.at, default=None)
    if last is None or check is None:
        return evidence, ""
    new = _other_command(check, last, evidence)
    known = (*provenance.other_commands(last), *provenance.other_commands(evidence), *([new] if new else ()))
    kept = {provenance.CHANGED: list(dict.fromkeys(known))} if known else {}
    return evidence.replace(data={**evidence.data, **kept}), new


def _other_command(check: Check, last: Evidence, evidence: Evidence) -> str:
    words = " ".join(map(quoted, check.run))
    where = f" in {check.folder}" if check.folder else ""
    for kind in (provenance.COMMAND, provenance.SCRIPT, provenance.PROGRAM):
        before, now = (str(one.data.get(kind) or "") for one in (last, evidence))
        if not before or not now or before == now:
            continue
        if kind == provenance.COMMAND:
            return (
                provenance.replaced(check) or f"the {check.uses} command changed: {now}{where}; before: {before}{where}"
            )
        return f"{words}{where} runs another {kind}: {now}; before: {before}"
    return ""
