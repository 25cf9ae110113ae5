"""The refusals the rules give: one function each, so that code, sentence, facts and remedy stay together."""

from __future__ import annotations

from _collections_abc import Callable, Iterable, Mapping, Sequence

from holdfast.core import cycle, gates, lifecycle, remedies
from holdfast.core.definition import Check, Step
from holdfast.core.facts import Facts
from holdfast.core.gates import Unmet
from holdfast.core.remedy import Blank, Remedy, shell
from holdfast.core.state import Hold, Lease, State
from holdfast.errors import Conflict, Held, HoldfastError, NotFound, Refused, UsageError

_PARTICIPLE = {"began": "begun"}


def misused(said: str, remedy: Remedy) -> UsageError:
    return UsageError("bad_usage", said, remedy=remedy)


def _of_step(code: str, said: str, remedy: Callable[[str], Remedy | tuple[Remedy, ...]]) -> Callable[[str], Refused]:
    return lambda path: Refused(code, said.format(path), remedy=remedy(path), facts={"step": path})


def _of_workflow(
    code: str, said: str, remedy: Callable[..., Remedy | tuple[Remedy, ...]]
) -> Callable[[State], Refused]:
    def refusal(state: State) -> Refused:
        return Refused(code, said.format(state.id), remedy=remedy(workflow=state.ulid), facts={"workflow": state.id})

    return refusal


def _go_on(_: str) -> Remedy:
    return remedies.next_step()


def _reopen(workflow: str) -> tuple[Remedy, ...]:
    """What can be done with finished work: to open it again throws away what came of it, so a person decides."""
    return remedies.status(workflow=workflow), remedies.reopen(remedies.STEP, workflow=workflow, who="person")


signature_needed = _of_step(
    "signature_needed",
    "the approval of {} needs an SSH signature of somebody in .holdfast/allowed_signers",
    lambda path: remedies.approve(path, sign=Blank("KEY")),
)
passkey_needed = _of_step(
    "passkey_needed", "the approval of {} needs a passkey, and a person gives it on the page", lambda _: remedies.page()
)
either_needed = _of_step(
    "signature_needed",
    "the approval of {} needs a passkey, or an SSH signature of somebody in .holdfast/allowed_signers",
    lambda path: (remedies.page(), remedies.approve(path, sign=Blank("KEY"))),
)


def proof_needed(policy: str) -> Callable[[str], Refused]:
    """The refusal of an answer without a proof that a gate of this policy takes."""
    return {"signed": signature_needed, "passkey": passkey_needed}.get(policy, either_needed)


def browser_needed(what: str) -> Refused:
    said = f"only a browser can {what}: it is done on the page"
    return Refused("browser_needed", said, remedy=remedies.page(text="open it"))


def stated_otherwise(path: str, fields: list[str]) -> Refused:
    return Refused(
        "stated_otherwise",
        f"the proof is of another answer than this one to {path}: its {', '.join(fields)} differ",
        remedy=remedies.approve(path, text="answer what is asked for now"),
        facts={"step": path, "fields": fields},
    )


signed_something_else = _of_step(
    "signed_something_else",
    "the artifacts of the step {!r} changed while the approval was being signed",
    lambda path: remedies.approve(path, sign=Blank("KEY"), text="read them again, then"),
)
not_skippable = _of_step(
    "not_skippable",
    "the step {} is not optional: only a person may skip it",
    lambda path: remedies.skip(path, who="person"),
)
not_begun = _of_step("not_begun", "the step {} has not begun, so there is nothing to reset", _go_on)
never_skipped = _of_step("never_skipped", "the step {} is mandatory: nobody leaves it out", _go_on)
not_a_task = _of_step(  # other steps say themselves how often they are tried, and who decides then
    "not_a_task", "{} is no task of a task document: only those are tried until the bounds are reached", remedies.fail
)

already_finished = _of_workflow("already_finished", "{} is finished", _reopen)
not_stopped = _of_workflow(
    "nothing_to_resume", "{} has neither failed nor stopped, so there is nothing to resume", remedies.next_step
)
nothing_to_resume = _of_workflow("nothing_to_resume", "{} has nothing that could be resumed", _reopen)
no_parent = _of_workflow("no_parent", "{} builds on no other workflow", remedies.status)
not_completed = _of_workflow(
    "not_completed", "{} is not completed, and only a completed workflow is finalized", remedies.next_step
)
_finalized = _of_workflow(
    "finalized",
    "{} is finalized: its result is handed over and nothing changes it any more",
    lambda **_: remedies.start(Blank("WORKFLOW"), text="begin a new one"),
)
_half_finalized = _of_workflow(
    "finalized", "finalize of {} was interrupted: it is to be finished, and nothing else moves it", remedies.finalize
)
still_active = _of_workflow("still_active", "{} is still active: its document stays where it is", remedies.cancel)


def cancelled(state: State) -> Refused:
    from holdfast.core import queries

    said, why = f"{state.id} is cancelled", state.cancelled.reason if state.cancelled else ""
    said += f": {why}" if why else ""
    return Refused("cancelled", said, remedy=queries.revival(state), facts={"workflow": state.id})


def finalized(state: State) -> Refused:
    from holdfast.core import queries

    return (_half_finalized if queries.is_half_finalized(state) else _finalized)(state)


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
    if status == lifecycle.PENDING:
        said = f"the step {path} has not begun, and cannot be {_PARTICIPLE.get(move, move)} yet"
    return Refused("wrong_status", said, remedy=instead, facts={"step": path, "status": status, "move": move})


def no_gate(state: State, facts: Facts, path: str) -> Refused:
    from holdfast.core import queries

    said = f"the step {path} asks for no approval"
    return Refused("no_gate", said, remedy=queries.onward(state, path, facts), facts={"step": path})


def step_blocked(path: str, missing: Sequence[str], why: Sequence[Unmet]) -> Refused:
    undone = all(one.kind == "requires" for one in why)
    said = f" before {', '.join(missing)}" if undone else ": " + "; ".join(one.message for one in why)
    facts = {"step": path, "missing": list(missing), "because": [one.message for one in why]}
    return Refused("step_blocked", f"the step {path} cannot begin{said}", remedy=why[0].remedies, facts=facts)


def task_blocked(path: str, why: Unmet) -> Refused:
    said = f"{path} is part of {why.name}, which is {why.message}"
    return Refused("task_blocked", said, remedy=why.remedies, facts={"step": path, "blocked": why.name})


def phase_without_gates(step: str, first: str) -> Refused:
    said = f"every phase has a review and an approval by a person, and {step} would have neither"
    below = remedies.named("amend", {"add": step, "under": first}, text="add it below a phase")
    return Refused("phase_without_gates", said, remedy=below, facts={"step": step})


def gate_unmet(path: str, unmet: Sequence[Unmet], *, handed_in: bool = False) -> Refused:
    already = "handed in already, and " if handed_in else ""
    said = f"the step {path} is {already}not done: " + "; ".join(one.message for one in unmet)
    facts = {"step": path, "unmet": [{"kind": one.kind, "name": one.name, "remedy": one.remedies} for one in unmet]}
    return Refused("gate_unmet", said, remedy=unmet[0].remedies, facts=facts)


def unchanged(path: str, because: str, files: Sequence[str]) -> Refused:
    """Work that failed, or that people asked to change, is handed in as it was."""
    said = f"the step {path} is not done: {because}"
    return Refused("unchanged", said, remedy=cycle.as_it_is_ways(path), facts={"step": path, "files": list(files)})


def artifact_missing(path: str, name: str, file: str) -> Refused:
    said = f"the artifact {name} of {path} is not there: no file {file[:200]!r} inside the project"
    way = "write the file, then repeat the command with its path"
    return Refused("artifact_missing", said, remedy=way, facts={"step": path, "artifact": name, "path": file[:400]})


def not_handed_in(path: str, name: str, file: str) -> Refused:
    """The work of the step is what is at its place, and another file is named for it."""
    said = f"{path} hands in the files of its folder under their own names, so {file[:200]} cannot be its {name}"
    facts = {"step": path, "artifact": name, "path": file[:400]}
    return Refused("not_handed_in", said, remedy=remedies.done(path, text="write it there, then"), facts=facts)


def person_needed(what: str, *own: Remedy) -> Refused:
    typed = tuple(one.replace(who="person") for one in own)
    return Refused("person_needed", f"only a person may {what}", remedy=typed)


def already_approved(state: State, path: str) -> Refused:
    """Finished work is approved once: what is built on a decision is not changed under it."""
    grant = state.step(path).grant
    assert grant is not None
    said = {"by": grant.by, "at": grant.at, "variant": grant.variant, "modifications": dict(grant.modifications)}
    message = f"{path} is approved already, by {grant.by} at {grant.at}; nothing was changed"
    ways = (remedies.next_step(), remedies.reopen(path, who="person", text="to decide again"))
    return Refused("already_approved", message, remedy=ways, facts={"step": path, **said})


def changed_meanwhile(path: str) -> Conflict:
    said = f"the artifacts of the step {path!r} changed while you looked at them; nothing was approved"
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
    own = remedies.approve(path, variant=Blank("VARIANT") if options or free else "")
    facts = {"step": path, "variant": variant[:200], "options": list(options)}
    return Refused("bad_variant", said, remedy=remedies.person(path, own), facts=facts)


def wrong_reviewer(step: Step, path: str, role: str) -> Refused:
    by = step.review.by if step.review else ()
    said = f"the review of {path} is for {', '.join(by)}, not for {role or 'an unnamed agent'}"
    facts = {"step": path, "role": role, "reviewers": list(by)}
    return Refused("wrong_reviewer", said, remedy=gates.reviewing(step, path), facts=facts)


def engine_must_run(path: str, check: Check, untrusted: str = "") -> Refused:
    """`untrusted` is what a person has to trust before Holdfast runs it."""
    said = f"the check {check.name} of {path} counts only when Holdfast runs it itself"
    run = remedies.check(check.name)
    way: tuple[Remedy, ...] = (remedies.trust(untrusted, text=gates.READ) if untrusted else run,)
    if gates.is_lacking(check) and not untrusted:
        said, way = f"{said}, and it has no {check.uses} command; set one", remedies.equip(check.uses)
    return Refused("engine_must_run", said, remedy=way, facts={"step": path, "check": check.name})


def branch_mismatch(
    state: State,
    here: str | None,
    fresh: Remedy | None = None,
    *,
    lost: str | Blank = "",
    tree: str = "",
    holder: str = "",
) -> Refused:
    """The work belongs to another branch than the one that is checked out. Nobody is switched unasked.

    `fresh` starts the same again. `lost` is the commit that the branch was at last, where it is not there any more:
    made again elsewhere, it would not have the work. `holder` is the worktree that has the branch checked out, so that
    git does not let the `tree` of the workflow have it.
    """
    branch = state.branch or ""
    said = f"{state.id} is for branch {branch!r}, but the current branch is {here or 'none'!r}"
    ways: tuple[Remedy, ...] = (shell("git", "switch", branch),)
    if lost:
        said += f", and {branch} is gone"
        found = isinstance(lost, str)
        look = () if found else (shell("git", "reflog", text="find the last commit of it"),)
        ways = (*look, shell("git", "switch", "-c", branch, lost, text="" if found else "then"))
    elif holder:
        said = f"{state.id} is worked on in {tree}, and its branch {branch!r} is checked out in {holder}"
        ways = (
            shell("git", "-C", holder, "switch", "--detach"),
            shell("git", "-C", tree, "switch", branch, text="then"),
        )
    options: list[dict[str, object]] = [{"do": "switch", "about": f"switch to {branch}", "command": ways}]
    if fresh:
        options.append({"do": "abandon", "about": "abandon the state and start fresh", "command": fresh})
    facts = {"workflow": state.id, "branch": branch, "current_branch": here, "options": options}
    return Refused("branch_mismatch", said, remedy=(*ways, *((fresh,) if fresh else ())), facts=facts)


def not_together(path: str, lease: Lease, root: str, files: Sequence[str]) -> Refused:
    """The work of a step changed the same as what others brought into the branch of the run."""
    listed = ", ".join(files[:8]) + (", …" if len(files) > 8 else "")
    said = f"{path} does not go together with what is in {lease.into} by now: {listed}"
    merge = shell("git", "-C", f"{root}/{lease.worktree}", "merge", lease.into)
    facts = {"step": path, "files": list(files[:50]), "branch": lease.into}
    return Refused(
        "merge_conflict",
        said,
        remedy=(
            merge,
            shell(
                "git", "-C", f"{root}/{lease.worktree}", "commit", text="then resolve the conflicts, add the files and"
            ),
            remedies.done(path, text="then"),
        ),
        facts=facts,
    )


def no_commit(sha: str) -> Refused:
    said = f"this branch has no commit {sha[:80]!r}"
    return Refused("no_commit", said, remedy=shell("git", "log", "--oneline"), facts={"commit": sha[:200]})


def not_its_commit(path: str, sha: str, why: str, of: str = "") -> Refused:
    said = f"{sha[:12]} {why}, so it does not have the work of {path}"
    way = remedies.done(path, given={"commit": Blank("SHA")}, text="name the commit that has it")
    return Refused("not_its_commit", said, remedy=way, facts={"step": path, "commit": sha[:200], "of": of})


def no_repository(folder: str) -> Refused:
    said = f"{folder} is not in a git repository"
    return Refused("no_repository", said, remedy=shell("git", "init"), facts={"folder": folder})


def bad_result(path: str, step: Step, file: str, wrong: Sequence[tuple[str, str]] = ()) -> Refused:
    """`wrong` are the mistakes in a result that can be read, each with its key."""
    facts = {"step": path, "path": file}
    if not wrong:
        said = f"{file} does not say whether {path} passed"
        way = f'write {{"status": "{step.passed}"}} or {{"status": "{step.failed}", "violations": […]}} into {file}'
        return Refused("bad_result", said, remedy=way, facts=facts)
    found = [{"where": f"{file}: {key}", "message": message} for key, message in wrong]
    said = f"{file} is no result of {path}: " + "; ".join(f"{key}: {message}" for key, message in wrong)
    again = remedies.done(path, given={"artifact": {step.result: file}}, text="correct it, then")
    return Refused("bad_result", said, remedy=again, facts={**facts, "mistakes": found})


def requires_revalidation(state: State, message: str, remedy: tuple[Remedy, ...]) -> Refused:
    said = f"{state.id} cannot continue: {message}"
    return Refused("requires_revalidation", said, remedy=remedy, facts={"workflow": state.id, "parent": state.parent})


def ungrounded(state: State, unmet: Sequence[Unmet]) -> Refused:
    """What the work builds on does not hold."""
    said = f"{state.id} cannot continue: {'; '.join(one.message for one in unmet)}"
    facts = {"workflow": state.id, "unmet": [one.name for one in unmet], "because": [one.message for one in unmet]}
    return Refused("ground_unmet", said, remedy=unmet[0].remedies, facts=facts)


def parent_undone(state: State, unmet: Unmet | None) -> Refused:
    said = f"the plan that {state.id} builds on {unmet.message if unmet else 'is gone'}"
    facts = {"workflow": state.id, "parent": state.parent}
    ways = unmet.remedies if unmet else (remedies.status(workflow=state.ulid),)
    return Refused("parent_undone", said, remedy=ways, facts=facts)


def untrusted(name: str) -> Refused:
    said = f"the definition of {name} brings commands that nobody on this machine has trusted yet"
    return Refused("untrusted", said, remedy=remedies.trust(name, text=gates.READ), facts={"workflow_type": name})


def paused(state: State) -> Refused:
    from holdfast.core import queries

    reason, by = (state.paused.reason, state.paused.by) if state.paused else ("", "")
    said = f"{state.id} is paused: {reason}"
    own = remedies.unpause(persons=queries.is_by_person(state.paused), workflow=state.ulid)
    return Refused("paused", said, remedy=own, facts={"workflow": state.id, "reason": reason, "by": by})


def bound_reached(bound: str, used: str, limit: str, over: float = 0) -> Refused:
    said = f"the bound on {bound} is used up: {used} of {limit}; a person decides whether to continue"
    facts = {"bound": bound, "used": used, "limit": limit}
    return Refused("bound_reached", said, remedy=remedies.extending(bound, over), facts=facts)


def read_only_role(state: State, role: str) -> Refused:
    said = f"{role} may look at {state.id} and changes nothing of it"
    way = "report what you found to the lead agent, who records it without --as and HOLDFAST_ACTOR"
    return Refused("read_only_role", said, remedy=way, facts={"role": role, "workflow": state.id})


def key_conflict(key: str, revision: int) -> Conflict:
    said = f"the key {key} was used at revision {revision} for something else"
    facts = {"key": key, "revision": revision}
    return Conflict("key_conflict", said, remedy="use a new key for a new command", facts=facts)


def require_free(values: Mapping[str, object], reserved: Sequence[str]) -> None:
    """Refuses values that only Holdfast itself sets."""
    taken = next((name for name in values if name in reserved), "")
    if taken:
        said = f"{taken} is set by Holdfast itself and cannot be set by hand"
        way = "use another key; holdfast --help names the command that does it"
        raise UsageError("reserved_key", said, remedy=way, facts={"key": taken})


def stale_revision(state: State, expected: int) -> Conflict:
    said = f"{state.id} is at revision {state.revision}, and this was decided by what it said at revision {expected}"
    way = remedies.log(expected, workflow=state.ulid, text="look again")
    return Conflict("stale_revision", said, remedy=way, facts={"expected": expected, "revision": state.revision})


def lease_held(lease: Lease, target: str) -> Held:
    said = f"{lease.holder} is at work on {target or 'this workflow'} since {lease.at}"
    facts = {"role": lease.role, "step": lease.step, "since": lease.at, "ttl_seconds": lease.ttl}
    return Held("lease_held", said, remedy=remedies.held(lease), facts=facts)


def not_brought_in(path: str, lease: Lease) -> Refused:
    said = f"{path} is worked on in {lease.worktree}: an edit does not end it, nor bring it into {lease.into}"
    facts = {"step": path, "worktree": lease.worktree, "branch": lease.branch}
    return Refused("not_brought_in", said, remedy=remedies.done(path), facts=facts)


def fenced(lease: str) -> Held:
    said = f"this token is of no lease here: lease {lease[:10]} ended, or its holder got another token"
    return Held("fenced", said, remedy=(remedies.status(), remedies.agent_start(text="then")), facts={"lease": lease})


def too_late(path: str, later: Sequence[str], remedy: tuple[Remedy, ...]) -> Refused:
    said = f"{path} cannot change any more: {', '.join(later)} already went past it"
    return Refused("too_late", said, remedy=remedy, facts={"step": path, "later": list(later)})


def no_snapshot(number: int, known: Sequence[int]) -> NotFound:
    listed = ", ".join(map(str, known)) or "none"
    said = f"there is no snapshot {number}; there are: {listed}"
    facts = {"number": number, "snapshots": list(known)}
    return NotFound("no_snapshot", said, remedy=remedies.named("snapshot"), facts=facts)


def no_such_bound(bound: str) -> UsageError:
    said = f"the workflow has no bound on {bound} that could be extended"
    return UsageError("no_such_bound", said, remedy=remedies.status(), facts={"bound": bound})


def not_caught_up(state: State) -> Refused:
    said = f"this session has not read the resume packet of {state.id} again: its resume packet comes before any change"
    ways = (remedies.resume_packet(workflow=state.ulid), remedies.ack(Blank("ID"), workflow=state.ulid, text="then"))
    return Refused("not_caught_up", said, remedy=ways, facts={"workflow": state.id})


def wrong_packet(state: State, packet: str) -> Refused:
    said = f"{packet[:40]!r} is not the id of this session's resume packet"
    way = remedies.resume_packet(workflow=state.ulid, text="read the newest one")
    return Refused("wrong_packet", said, remedy=way, facts={"workflow": state.id, "packet": packet[:40]})


def locked(path: str, held: str, hold: Hold) -> Held:
    within = "" if path == held else f", through the lock of {held}"
    said = f"{path} is locked by {hold.agent} since {hold.at}{within}"
    ways = ("work on something else", remedies.named("locks", text="wait"), remedies.unlock(held, who="person"))
    facts = {"path": path, "lock": held, "agent": hold.agent, "since": hold.at, "session": hold.session}
    return Held("locked", said, remedy=ways, facts=facts)


def not_listed(entry: str, what: str, listed: Sequence[str]) -> NotFound:
    said = f"{entry[:80]!r} is not one of the {'files to read' if what == 'reading' else what}"
    way = remedies.named("reading" if what == "reading" else "remind")
    return NotFound("not_listed", said, remedy=way, facts={"entry": entry[:200], what: list(listed)})


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
        look = shell("ls", "-ld", str(error.filename)) if error.filename else remedies.doctor()
        return HoldfastError("system_error", f"{error.strerror}{where}", remedy=look, facts={"errno": error.errno})
    remedy = "the same command with --debug shows where; please report it"
    return HoldfastError("unexpected", f"this should not happen: {said}", remedy=remedy)
