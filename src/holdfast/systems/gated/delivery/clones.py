"""The same feature in other clones: the remote is asked before anything is decided, and told of it afterwards.

Journals that went different ways are not fixed line by line. A person says which one holds, and both branches are
brought together with the workspace that belongs to it: no commit is lost, and the journal that gives way is kept.
"""

from __future__ import annotations

import os
from _collections_abc import Sequence

from holdfast import git
from holdfast.core import lifecycle, remedies
from holdfast.core.remedy import Remedy, shell, told
from holdfast.core.state import State
from holdfast.engine.ports import AHEAD, FORKED, Standing
from holdfast.errors import Conflict, HoldfastError, Refused, Trouble
from holdfast.git import bringing, remotes
from holdfast.git.remotes import Position
from holdfast.systems.gated import journal_copy, merges, words, workspace
from holdfast.systems.gated.delivery import handing_over
from holdfast.systems.seam.wired import Wired

_DECIDED = (lifecycle.DONE, lifecycle.ACTIVE)


def before_approval(wired: Wired, state: State) -> tuple[str, ...]:
    """Refuses what would be decided on a branch that is merged by now, or that others continued with."""
    handing_over.require_unmerged(wired, state)
    return require_current(wired, state)


def require_current(wired: Wired, state: State) -> tuple[str, ...]:
    """Refuses while the remote has more of the branch than is here; what is said where it could not be asked."""
    repository = _shared(wired, state)
    if repository is None:
        return ()
    why = remotes.fetch(repository, str(state.branch))
    now = remotes.position(repository, str(state.branch))
    if now and now.behind:
        raise _gone_on(wired, state, repository, now)
    return (Trouble(f"{now.remote} cannot be asked, so this continues here: {why}"),) if why and now else ()


def send(wired: Wired, state: State) -> tuple[str, ...]:
    """Pushes a branch that the remote has already; what is said about it."""
    repository = _shared(wired, state)
    if repository is None:
        return ()
    now = remotes.position(repository, str(state.branch))
    if now is None or not now.theirs or not now.ahead:
        return ()
    sent = remotes.push(repository, str(state.branch))
    if sent.outcome == remotes.PUSHED:
        return (f"pushed {state.branch} to {sent.remote}",)
    return (Trouble(left(wired, state) or f"{state.branch} is not pushed: {sent.reason}"),)


def decided(before: State | None, after: State) -> bool:
    """Whether people decided about a phase, or the work was given up or taken up again: others should know at once."""
    if before is not None and bool(before.cancelled) != bool(after.cancelled):
        return True
    return before is not None and any(
        before.step(path).status == lifecycle.WAITING and after.step(path).status in _DECIDED
        for path in after.plan.children("")
    )


def outrun(wired: Wired, state: State) -> HoldfastError | None:
    """What is refused because the remote, as it was last heard of, has more of the branch than is here."""
    repository = _shared(wired, state)
    now = remotes.position(repository, str(state.branch)) if repository else None
    return _gone_on(wired, state, repository, now) if repository and now and now.behind else None


def left(wired: Wired, state: State) -> str:
    """The same in a sentence; empty when all is well."""
    wrong = apart(wired, state)
    return f"{wrong.message} ({told(wrong.remedies, wired.scope(state.ulid))})" if wrong else ""


def apart(wired: Wired, state: State) -> HoldfastError | None:
    """What the remote does not have, or has beside it, as it was last heard of."""
    repository = _shared(wired, state)
    try:
        now = remotes.position(repository, str(state.branch)) if repository else None
    except HoldfastError as error:
        error.message = f"git cannot tell what the remote has of {state.branch}: {error.message}"
        return error
    if repository is None or now is None:
        return None
    if now.behind:
        return _gone_on(wired, state, repository, now)
    facts = {"branch": state.branch, "remote": now.remote, "ahead": now.ahead}
    if not now.theirs and any(step.status == lifecycle.DONE for step in state.progress.values()):
        said = f"{state.branch} is not on {now.remote} yet, so no other clone has what was approved"
        push = shell("git", "push", "-u", now.remote, state.branch or "")
        return Conflict("branch_not_pushed", said, remedy=push, facts=facts)
    if not now.theirs or not now.ahead:
        return None
    many = "1 commit" if now.ahead == 1 else f"{now.ahead} commits"
    said = f"{many} of {state.branch} not pushed to {now.remote} yet"
    again = remedies.go_on(workflow=state.ulid, text="to try again")
    return Conflict("branch_not_pushed", said, remedy=again, facts=facts)


def join(wired: Wired, state: State, take: str) -> tuple[str, ...]:
    """Brings the remote's branch into the one here where both continued; what is said about it.

    Without `take`, journals that differ are shown to a person, who decides.
    """
    repository = _shared(wired, state)
    if repository is None:
        return ()
    branch = str(state.branch)
    remotes.fetch(repository, branch)
    now = remotes.position(repository, branch)
    if now is None or not now.behind:
        return ()
    kind = _kind(wired, state, repository, now)
    if kind == FORKED:
        if not take:
            raise _gone_on(wired, state, repository, now)
        which = f"take the journal of {state.id} that {'is here' if take == 'here' else 'came with git'}"
        wired.settings.require_person(which, remedies.recover(state.id, take=take))
    workspace.committed(wired, state, "Keep what is not handed in")
    now = remotes.position(repository, branch) or now
    take = take if kind == FORKED else "git" if kind == AHEAD else "here"
    base = wired.place.base(state.worktree)
    whole = merges.whole(state.id, repository, base, kind)
    side = now.ours if take == "here" else now.theirs
    message = f"Merge {now.name} into {branch}\n"
    try:
        bringing.bring(repository, now.theirs, branch, message, wired.settings.lock_wait, whole, side)
    except bringing.Collision as collision:
        files = bringing.collisions(repository, now.ours, now.theirs)
        said = f"{now.name} and {branch} changed the same in {_listed(collision.files)}: that is merged by hand"
        ways = _by_hand(wired, state, repository, now, kind, files, take)
        facts = {"files": list(collision.files[:50]), "branch": branch}
        raise Refused("merge_conflict", said, remedy=ways, facts=facts) from None
    other = now.theirs if take == "here" else now.ours
    beside = f"; what the other side has in {words.home(state)} is in commit {other[:12]}" if whole else ""
    return (f"brought {now.name} into {branch}{beside}",)


def _shared(wired: Wired, state: State) -> git.Repository | None:
    """The repository of a feature whose branch is checked out and that git is not in the middle of something in."""
    repository = git.find(wired.place.base(state.worktree))
    if repository is None or not state.branch or git.branch(repository) != state.branch or git.busy(repository):
        return None
    return repository


def _home(wired: Wired, state: State) -> str:
    return os.path.join(wired.place.base(state.worktree), words.home(state))


def _gone_on(wired: Wired, state: State, repository: git.Repository, now: Position) -> HoldfastError:
    """Others pushed: what leads on from there, by what differs."""
    facts = {"branch": state.branch, "remote": now.remote, "ahead": now.ahead, "behind": now.behind}
    many = "a commit that is" if now.behind == 1 else f"{now.behind} commits that are"
    said = f"{now.name} has {many} not here"
    standing = _standing(wired, state, repository, now)
    if standing is not None and standing.kind == FORKED:
        refusal = journal_copy.forked(state.id, standing)
        refusal.message = f"{said}, and {refusal.message}"
        refusal.facts.update(facts)
        return refusal
    if standing is not None and standing.kind == AHEAD and standing.common < standing.ours:
        said += f"; a person decided there that its journal of {state.id} holds, and not the one here"
    touched = remotes.in_the_way(repository, now)
    way = shell("git", "merge", "--no-edit" if now.ahead else "--ff-only", now.name)
    if touched:
        said += f"; {_listed(touched)} changed there and is not committed here"
        way = remedies.recover(state.id, text="commits and merges both")
        home = os.path.relpath(_home(wired, state), repository.top)
        if not all(name.startswith(f"{home}/") for name in touched):
            way = shell("git", "stash", "push", "--include-untracked", text="what is not committed is kept there")
    if not now.ahead:
        return Refused("branch_behind", said, remedy=way, facts=facts)
    said += f", and {state.branch} has {now.ahead} that are not there"
    both = [] if touched else bringing.collisions(repository, now.ours, now.theirs)
    if not both:
        return Refused("branch_diverged", said, remedy=way, facts=facts)
    kind = standing.kind if standing else ""
    people = merges.by_people(state.id, repository, wired.place.base(state.worktree), kind, both)
    if not people:
        ways: tuple[Remedy, ...] = (remedies.recover(state.id, text="merges both"),)
    else:
        said += f"; both changed {_listed(people)}"
        ways = _by_hand(wired, state, repository, now, kind, both)
    return Refused("branch_diverged", said, remedy=ways, facts={**facts, "files": both[:50]})


def _standing(wired: Wired, state: State, repository: git.Repository, now: Position) -> Standing | None:
    """How the journal that the remote has stands to the one here; None where it has none."""
    data = git.head_blob(repository, os.path.join(_home(wired, state), words.JOURNAL), now.theirs)
    return journal_copy.compared(wired, state.id, state.worktree, data) if data else None


def _kind(wired: Wired, state: State, repository: git.Repository, now: Position) -> str:
    standing = _standing(wired, state, repository, now)
    return standing.kind if standing else ""


def _by_hand(
    wired: Wired,
    state: State,
    repository: git.Repository,
    now: Position,
    kind: str,
    files: Sequence[str],
    take: str = "",
) -> tuple[Remedy, ...]:
    """Code that both sides changed is nobody's to choose but the people's who wrote it."""
    base = wired.place.base(state.worktree)
    first, *others = merges.by_hand(state.id, repository, base, kind, files, now.name, take)
    there = () if base == repository.top else ("-C", repository.top)
    follows = first.replace(text=f"then {first.text}".strip())
    return (shell("git", *there, "merge", "--no-edit", now.name), follows, *others)


def _listed(files: Sequence[str]) -> str:
    return ", ".join(files[:8]) + (", …" if len(files) > 8 else "")
