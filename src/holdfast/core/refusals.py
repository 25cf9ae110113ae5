"""The refusals the rules give: one function each, so that code, sentence, facts and remedy stay together."""

from __future__ import annotations

from _collections_abc import Callable, Iterable, Mapping, Sequence

from holdfast.core import gates, lifecycle, remedies
from holdfast.core.commands import Facts
from holdfast.core.definition import Step
from holdfast.core.gates import Unmet
from holdfast.core.remedy import Blank, Remedy, shell
from holdfast.core.state import Hold, Lease, State
from holdfast.errors import Conflict, Held, HoldfastError, NotFound, Refused, UsageError

_PARTICIPLE = {"began": "begun"}


def misused(said: str, remedy: Remedy) -> UsageError:
    return UsageError("bad_usage", said, remedy=remedy)


def _of_step(code: str, said: str, remedy: Callable[[str], Remedy]) -> Callable[[str], Refused]:
    return lambda path: Refused(code, said.format(path), remedy=remedy(path), facts={"step": path})


def _of_workflow(
    code: str, said: str, remedy: Callable[..., Remedy | tuple[Remedy, ...]]
) -> Callable[[State], Refused]:
    def refusal(state: State) -> Refused:
        return Refused(code, said.format(state.id), remedy=remedy(workflow=state.ulid), facts={"workflow": state.id})

    return refusal


def _reopen(workflow: str) -> tuple[Remedy, ...]:
    """What can be done with finished work: to open it again throws away what came of it, so a person decides."""
    return remedies.status(workflow=workflow), remedies.reopen(remedies.STEP, workflow=workflow, who="person")


signature_needed = _of_step(
    "signature_needed",
    "the approval of {} needs an SSH signature of somebody in .holdfast/allowed_signers",
    lambda path: remedies.approve(path, sign=Blank("KEY")),
)
signed_something_else = _of_step(
    "signed_something_else",
    "the artifacts of {} changed while the approval was being signed",
    lambda path: remedies.approve(path, sign=Blank("KEY"), text="read them again, then"),
)
not_skippable = _of_step(
    "not_skippable",
    "the step {} is not optional: only a person may skip it",
    lambda path: remedies.skip(path, who="person"),
)
not_begun = _of_step(
    "not_begun", "the step {} has not begun, so there is nothing to reset", lambda path: remedies.next_step()
)
never_skipped = _of_step(
    "never_skipped", "the step {} is mandatory: nobody leaves it out", lambda path: remedies.next_step()
)
not_a_task = _of_step(  # other steps say themselves how often they are tried, and who decides then
    "not_a_task", "{} is no task of a task document: only those are tried until the bounds are reached", remedies.fail
)

cancelled = _of_workflow("cancelled", "{} is cancelled", remedies.revive)
already_finished = _of_workflow("already_finished", "{} is finished", _reopen)
nothing_to_resume = _of_workflow("nothing_to_resume", "{} has nothing that could be resumed", _reopen)
no_parent = _of_workflow("no_parent", "{} builds on no other workflow", remedies.status)
not_completed = _of_workflow(
    "not_completed", "{} is not completed, and only a completed workflow is finalized", remedies.status
)
finalized = _of_workflow(
    "finalized",
    "{} is finalized: its result is handed over and nothing moves it any more",
    lambda **_: remedies.start(Blank("WORKFLOW"), text="begin a new one"),
)
still_active = _of_workflow("still_active", "{} is still active: its document stays where it is", remedies.cancel)


def no_workflow() -> NotFound:
    return NotFound("no_workflow", "there is no such workflow", remedy=remedies.listing(True))


def no_step(path: str, state: State) -> NotFound:
    said = f"there is no step {path[:80]!r} in {state.id}"
    return NotFound("no_step", said, remedy=remedies.status(workflow=state.ulid), facts={"step": path[:200]})


def no_check(name: str, path: str, known: Iterable[str]) -> NotFound:
    """Without a path, of the whole workflow."""
    checks = list(dict.fromkeys(known))
    said = f"{path or 'this workflow'} has no check {name[:80]!r}; it has {', '.join(checks) or 'none'}"
    facts = {"check": name[:200], "step": path, "checks": checks}
    return NotFound("no_check", said, remedy=remedies.next_step(), facts=facts)


def wrong_status(state: State, facts: Facts, path: str, move: str, allowed: Sequence[str] = ()) -> Refused:
    from holdfast.core import queries

    status, instead = state.step(path).status, queries.onward(state, path, facts)
    wanted = " or ".join(allowed or lifecycle.sources(move))
    said = f"the step {path} is {status}; only one that is {wanted} can be {_PARTICIPLE.get(move, move)}"
    return Refused("wrong_status", said, remedy=instead, facts={"step": path, "status": status, "move": move})


def no_gate(state: State, facts: Facts, path: str) -> Refused:
    from holdfast.core import queries

    said = f"the step {path} asks for no approval"
    return Refused("no_gate", said, remedy=queries.onward(state, path, facts), facts={"step": path})


def step_blocked(path: str, missing: Sequence[str], why: Sequence[Unmet]) -> Refused:
    undone = all(one.kind == "requires" for one in why)
    said = f" before {', '.join(missing)}" if undone else ": " + "; ".join(one.message for one in why)
    return Refused(
        "step_blocked",
        f"the step {path} cannot begin{said}",
        remedy=why[0].remedies,
        facts={"step": path, "missing": list(missing), "because": [one.message for one in why]},
    )


def gate_unmet(path: str, unmet: Sequence[Unmet]) -> Refused:
    return Refused(
        "gate_unmet",
        f"the step {path} is not done: " + "; ".join(one.message for one in unmet),
        remedy=unmet[0].remedies,
        facts={"step": path, "unmet": [{"kind": one.kind, "name": one.name, "remedy": one.remedies} for one in unmet]},
    )


def artifact_missing(path: str, name: str, file: str) -> Refused:
    return Refused(
        "artifact_missing",
        f"the artifact {name} of {path} is not there: no file {file[:200]!r} inside the project",
        remedy="write the file, then repeat the command with its path",
        facts={"step": path, "artifact": name, "path": file[:400]},
    )


def person_needed(what: str, *own: Remedy) -> Refused:
    typed = tuple(one.replace(who="person") for one in own)
    return Refused("person_needed", f"only a person may {what}", remedy=typed)


def already_approved(state: State, path: str) -> Refused:
    """Finished work is approved once: what is built on a decision is not changed under it."""
    grant = state.step(path).grant
    assert grant is not None
    said = {"by": grant.by, "at": grant.at, "variant": grant.variant, "modifications": dict(grant.modifications)}
    return Refused(
        "already_approved",
        f"{path} is approved already, by {grant.by} at {grant.at}; nothing was changed",
        remedy=(remedies.next_step(), remedies.reopen(path, who="person", text="to decide anew")),
        facts={"step": path, **said},
    )


def changed_meanwhile(path: str) -> Conflict:
    said = f"the artifacts of {path} changed while you looked at them; nothing was approved"
    return Conflict("changed_meanwhile", said, remedy=remedies.approve(path), facts={"step": path})


def bad_variant(path: str, variant: str, options: Sequence[str], *, free: bool = False) -> Refused:
    if free:
        said = f"{path} asks for a choice: a name of A-Z a-z 0-9 _ . -"
    elif not options:
        said = f"{path} offers no choice"
    elif variant:
        said = f"{path} has no option {variant[:60]!r}; it has {', '.join(options)}"
    else:
        said = f"{path} asks for a choice: {' or '.join(options)}"
    return Refused(
        "bad_variant",
        said,
        remedy=remedies.person(path, remedies.approve(path, variant=Blank("VARIANT") if options or free else "")),
        facts={"step": path, "variant": variant[:200], "options": list(options)},
    )


def wrong_reviewer(step: Step, path: str, role: str) -> Refused:
    by = step.review.by if step.review else ()
    return Refused(
        "wrong_reviewer",
        f"the review of {path} is for {', '.join(by)}, not for {role or 'an unnamed agent'}",
        remedy=gates.reviewing(step, path),
        facts={"step": path, "role": role, "reviewers": list(by)},
    )


def engine_must_run(path: str, name: str, untrusted: str) -> Refused:
    """`untrusted` is what a person has to trust before Holdfast runs it."""
    said = f"the check {name} of {path} counts only when Holdfast runs it itself"
    way = remedies.trust(untrusted, text=gates.READ) if untrusted else remedies.check(name)
    return Refused("engine_must_run", said, remedy=way, facts={"step": path, "check": name})


def branch_mismatch(state: State, here: str | None, fresh: Remedy | None = None) -> Refused:
    """The work belongs to another branch than the one that is checked out. Nobody is switched unasked."""
    switch, abandon = shell("git", "switch", state.branch or ""), fresh or remedies.cancel(workflow=state.ulid)
    return Refused(
        "branch_mismatch",
        f"{state.id} is for branch {state.branch!r}, but the current branch is {here or 'none'!r}",
        remedy=(switch, abandon),
        facts={
            "workflow": state.id,
            "branch": state.branch,
            "current_branch": here,
            "options": [
                {"do": "switch", "about": f"switch to {state.branch}", "command": switch},
                {"do": "abandon", "about": "abandon the state and start fresh", "command": abandon},
            ],
        },
    )


def no_commit(sha: str) -> Refused:
    said = f"this branch has no commit {sha[:80]!r}"
    return Refused("no_commit", said, remedy=shell("git", "log", "--oneline"), facts={"commit": sha[:200]})


def not_its_commit(path: str, sha: str, why: str, of: str = "") -> Refused:
    return Refused(
        "not_its_commit",
        f"{sha[:12]} {why}, so it does not have the work of {path}",
        remedy=remedies.done(path, given={"commit": Blank("SHA")}, text="name the commit that has it"),
        facts={"step": path, "commit": sha[:200], "of": of},
    )


def no_repository(folder: str) -> Refused:
    return Refused(
        "no_repository", f"{folder} is not in a git repository", remedy=shell("git", "init"), facts={"folder": folder}
    )


def bad_result(step: str, path: str, passed: str, failed: str) -> Refused:
    return Refused(
        "bad_result",
        f"{path} does not say whether {step} passed",
        remedy=f'write {{"status": "{passed}"}} or {{"status": "{failed}", "violations": […]}} into {path}',
        facts={"step": step, "path": path},
    )


def requires_revalidation(state: State, message: str, remedy: tuple[Remedy, ...]) -> Refused:
    said = f"{state.id} cannot go on: {message}"
    return Refused("requires_revalidation", said, remedy=remedy, facts={"workflow": state.id, "parent": state.parent})


def parent_undone(state: State) -> Refused:
    return Refused(
        "parent_undone",
        f"the plan that {state.id} builds on is not approved",
        remedy=remedies.next_step(workflow=state.parent),
        facts={"workflow": state.id, "parent": state.parent},
    )


def untrusted(name: str) -> Refused:
    return Refused(
        "untrusted",
        f"the definition of {name} brings commands that nobody on this machine has trusted yet",
        remedy=remedies.trust(name, text=gates.READ),
        facts={"workflow_type": name},
    )


def paused(state: State) -> Refused:
    reason, by = (state.paused.reason, state.paused.by) if state.paused else ("", "")
    said = f"{state.id} is paused: {reason}"
    own = remedies.unpause(by, workflow=state.ulid)
    return Refused("paused", said, remedy=own, facts={"workflow": state.id, "reason": reason, "by": by})


def bound_reached(bound: str, used: str, limit: str) -> Refused:
    said = f"the bound on {bound} is used up: {used} of {limit}; a person decides whether to go on"
    return Refused(
        "bound_reached", said, remedy=remedies.extending(bound), facts={"bound": bound, "used": used, "limit": limit}
    )


def read_only_role(state: State, role: str) -> Refused:
    return Refused(
        "read_only_role",
        f"{role} may look at {state.id} and changes nothing of it",
        remedy="report what you found to the lead agent, who records it without --as and HOLDFAST_ACTOR",
        facts={"role": role, "workflow": state.id},
    )


def key_conflict(key: str, revision: int) -> Conflict:
    said = f"the key {key} was used at revision {revision} for something else"
    return Conflict(
        "key_conflict", said, remedy="use a new key for a new command", facts={"key": key, "revision": revision}
    )


def require_free(values: Mapping[str, object], reserved: Sequence[str]) -> None:
    """Refuses values that only Holdfast itself sets."""
    taken = next((name for name in values if name in reserved), "")
    if taken:
        raise UsageError(
            "reserved_key",
            f"{taken} is set by Holdfast itself and cannot be set by hand",
            remedy="use another key; holdfast --help names the command that does it",
            facts={"key": taken},
        )


def stale_revision(state: State, expected: int) -> Conflict:
    return Conflict(
        "stale_revision",
        f"{state.id} is at revision {state.revision}, and this was decided by what it said at revision {expected}",
        remedy=remedies.log(expected, workflow=state.ulid, text="look again"),
        facts={"expected": expected, "revision": state.revision},
    )


def lease_held(lease: Lease, target: str) -> Held:
    return Held(
        "lease_held",
        f"{lease.holder} is at work on {target or 'this workflow'} since {lease.at}",
        remedy=remedies.held(lease.token),
        facts={"role": lease.role, "step": lease.step, "since": lease.at, "ttl_seconds": lease.ttl},
    )


def fenced(lease: str) -> Held:
    said = f"this token is of no lease here: lease {lease[:10]} ended, or its holder got another token"
    return Held("fenced", said, remedy=(remedies.status(), remedies.agent_start(text="then")), facts={"lease": lease})


def too_late(path: str, later: Sequence[str], remedy: tuple[Remedy, ...]) -> Refused:
    said = f"{path} cannot change any more: {', '.join(later)} already went past it"
    return Refused("too_late", said, remedy=remedy, facts={"step": path, "later": list(later)})


def no_snapshot(number: int, known: Sequence[int]) -> NotFound:
    listed = ", ".join(map(str, known)) or "none"
    said = f"there is no snapshot {number}; there are: {listed}"
    return NotFound(
        "no_snapshot", said, remedy=remedies.named("snapshot"), facts={"number": number, "snapshots": list(known)}
    )


def no_such_bound(bound: str) -> UsageError:
    said = f"the workflow has no bound on {bound} that could be extended"
    return UsageError("no_such_bound", said, remedy=remedies.status(), facts={"bound": bound})


def not_caught_up(state: State) -> Refused:
    return Refused(
        "not_caught_up",
        f"this session has not taken up {state.id} again: its resume packet comes before any change",
        remedy=(
            remedies.resume_packet(workflow=state.ulid),
            remedies.ack(Blank("ID"), workflow=state.ulid, text="then"),
        ),
        facts={"workflow": state.id},
    )


def wrong_packet(state: State, packet: str) -> Refused:
    return Refused(
        "wrong_packet",
        f"{packet[:40]!r} is not the id of this session's resume packet",
        remedy=remedies.resume_packet(workflow=state.ulid, text="read the newest one"),
        facts={"workflow": state.id, "packet": packet[:40]},
    )


def locked(path: str, held: str, hold: Hold) -> Held:
    within = "" if path == held else f", through the lock of {held}"
    return Held(
        "locked",
        f"{path} is locked by {hold.agent} since {hold.at}{within}",
        remedy=(
            "work on something else",
            remedies.named("locks", text="wait"),
            remedies.unlock(held, who="person"),
        ),
        facts={"path": path, "lock": held, "agent": hold.agent, "since": hold.at, "session": hold.session},
    )


def not_listed(entry: str, what: str, listed: Sequence[str]) -> NotFound:
    return NotFound(
        "not_listed",
        f"{entry[:80]!r} is not one of the {'files to read' if what == 'reading' else what}",
        remedy=remedies.named("reading" if what == "reading" else "remind"),
        facts={"entry": entry[:200], what: list(listed)},
    )


def bad_verdict(message: str, remedy: Remedy | str) -> UsageError:
    return UsageError("bad_verdict", message, remedy=remedy)


def another_runs(workflow: str, ulid: str) -> Refused:
    said = f"{workflow} is active, and only one of its kind can run here"
    return Refused("already_active", said, remedy=remedies.status(workflow=ulid), facts={"workflow": workflow})


def unexpected(error: Exception) -> HoldfastError:
    """A sentence for what should not happen, or for what the system refuses."""
    said = f"{type(error).__name__}: {error}"[:500]
    if isinstance(error, OSError) and error.strerror:
        where = f": {error.filename}" if error.filename else ""
        return HoldfastError(
            "system_error", f"{error.strerror}{where}", remedy=remedies.doctor(), facts={"errno": error.errno}
        )
    remedy = "the same command with --debug shows where; please report it"
    return HoldfastError("unexpected", f"this should not happen: {said}", remedy=remedy)
