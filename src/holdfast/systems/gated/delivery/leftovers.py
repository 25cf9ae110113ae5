"""What is left of features that ended: commits that no remote has, and a workspace that the base branch still has."""

from __future__ import annotations

import os
from _collections_abc import Iterator

from holdfast import git
from holdfast.core import remedies
from holdfast.core.remedy import shell
from holdfast.core.state import State
from holdfast.engine.ports import Entry
from holdfast.errors import Conflict, HoldfastError
from holdfast.git import changes as git_changes
from holdfast.git import history as git_history
from holdfast.git import made, remotes
from holdfast.systems.gated import base as feature_base
from holdfast.systems.gated import central, journal_copy, words
from holdfast.systems.gated.delivery import handing_over
from holdfast.systems.seam.wired import Wired

_ENDED = ("cancelled", "finalized")


def found(wired: Wired) -> Iterator[HoldfastError]:
    """What is still to be done about each, with the command that does it. Git is asked once for all of them."""
    repository, here = wired.place.repository, wired.place.key()
    over = [one for one in wired.store.entries() if _has_ended(one) and one.worktree == here] if repository else []
    if repository is None or not over:
        return
    try:
        unsent = _unsent(repository)
    except HoldfastError as failure:  # git does not look at what belongs to other users
        yield failure
        return
    newest = {entry.id: entry for entry in sorted(over, key=lambda one: one.ulid)}
    for entry in newest.values():
        count = unsent.get((entry.branch or "", entry.id), 0)
        if count and _is_missed(wired, repository, entry):
            yield _not_pushed(repository, entry, count)
        if waits := _to_merge(wired, repository, entry) or _unmerged(wired, repository, entry):
            yield waits
        if made.wanted(repository, entry.ulid, ""):
            said = f"{entry.id} is {entry.status}, and that is not committed on {entry.branch} yet"
            yield Conflict("not_committed", said, remedy=remedies.go_on(workflow=entry.ulid))
        if entry.status == "finalized" and os.path.lexists(os.path.join(wired.place.worktree, words.HOME, entry.id)):
            state = wired.store.load(entry.ulid)
            if is_on_base(wired, state):
                yield _still_there(entry, git.branch(repository) or "")
            elif early := merged_early(wired, state):
                yield early


def sent(wired: Wired, state: State) -> tuple[str, ...]:
    """Pushes what no remote has of a feature that ended; what is said about it."""
    repository = git.find(wired.place.base(state.worktree))
    branch = state.branch or (git.branch(repository) if repository else None) or ""
    if repository is None or not _unsent(repository).get((branch, state.id)):
        return ()
    base = feature_base.name(repository, state)
    if state.finalized and _is_over(wired, repository, state.id, state.worktree, branch, base):
        return ()
    return handing_over.pushed(wired, state) if state.finalized or _is_shared(repository, branch) else ()


def is_unsent(wired: Wired, state: State) -> bool:
    """Whether there are commits of the end of a feature that no remote is known to have."""
    repository = git.find(wired.place.base(state.worktree))
    return repository is not None and bool(_unsent(repository).get((state.branch or "", state.id)))


def is_on_base(wired: Wired, state: State) -> bool:
    """Whether a feature was finalized beside the base branch, which is checked out and has it as it was completed."""
    repository = git.find(wired.place.base(state.worktree))
    is_over = repository is not None and words.is_deleted(state)
    return is_over and repository is not None and handing_over.is_base_here(wired, repository, state)


def merged_early(wired: Wired, state: State) -> Conflict | None:
    """What is said on the base branch where that has a feature from before its end, which is on the feature's branch.

    A squash leaves git no sign that the branch deleted what the base has, so then a merge does not delete it there.
    """
    repository = git.find(wired.place.base(state.worktree))
    base, branch = feature_base.name(repository, state) if repository else None, state.branch or ""
    if repository is None or not state.finalized or not base or git.branch(repository) != base or branch == base:
        return None
    path = os.path.join(wired.place.base(state.worktree), journal_copy.name(state.id))
    data = git.head_blob(repository, path)
    if data is None or not journal_copy.is_known(wired, state.id, data) or is_on_base(wired, state):
        return None
    facts = {"workflow": state.id, "branch": branch, "base": base}
    where = git_changes.remote(repository, branch)
    tracking = git_changes.tracking(repository, where, branch) if where else ""
    tip, name = git_changes.tip(repository, branch), branch
    if not tip and tracking:
        tip, name = git_changes.at_ref(repository, tracking), tracking.removeprefix("refs/remotes/")
    if tip and git_history.is_ancestor(repository, tip, git.head(repository) or ""):
        said = f"{state.id} is finalized and merged into {base}, which still has its workspace"
        home = f":/{git.inside(repository, os.path.dirname(path))}"
        ways = (
            shell("git", "rm", "-r", "-q", "--", home),
            shell("git", "commit", "-m", f"Delete the workspace of {state.id}", text="then"),
        )
        return Conflict("end_not_merged", said, remedy=ways, facts=facts)
    said = f"{state.id} was merged into {base} before it was finalized: {branch} is to be merged into {base} again"
    return Conflict("end_not_merged", said, remedy=shell("git", "merge", name), facts=facts)


def _has_ended(entry: Entry) -> bool:
    return entry.dialect == "gated" and entry.status in _ENDED and not (entry.active or entry.to_finalize)


def _unsent(repository: git.Repository) -> dict[tuple[str, str], int]:
    """How many commits that no remote has are on each branch, of each feature that they name."""
    counted: dict[tuple[str, str], int] = {}
    for branch, slug in remotes.unsent(repository, "Workflow"):
        counted[branch, slug] = counted.get((branch, slug), 0) + 1
    return counted


def _is_shared(repository: git.Repository, branch: str) -> bool:
    """A branch that nobody pushed stays here."""
    position = remotes.position(repository, branch)
    return position is not None and bool(position.theirs)


def _is_over(wired: Wired, repository: git.Repository, id: str, worktree: str, branch: str, base: str | None) -> bool:
    """Whether the base branch of the remote has the end of a feature: then nobody needs the feature's own branch."""
    where = git_changes.remote(repository, base) if base and base != branch else None
    tracking = git_changes.tracking(repository, where, base) if where and base else ""
    theirs = git_changes.at_ref(repository, tracking) if tracking else None
    return bool(theirs) and journal_copy.is_finalized(repository, wired.place.base(worktree), id, str(theirs))


def _is_missed(wired: Wired, repository: git.Repository, entry: Entry) -> bool:
    """Whether the remote misses commits of a feature. Where a request brought its end in, the base there has it."""
    base = git_changes.default_branch(repository)
    if entry.status == "finalized" and _is_over(wired, repository, entry.id, entry.worktree, entry.branch or "", base):
        return False
    now = remotes.position(repository, entry.branch or "")
    if entry.status != "finalized" or now is None or not now.behind:
        return entry.status == "finalized" or _is_shared(repository, entry.branch or "")
    path = os.path.join(wired.place.base(entry.worktree), journal_copy.name(entry.id))
    return git.head_blob(repository, path, now.theirs) is not None


def _to_merge(wired: Wired, repository: git.Repository, entry: Entry) -> Conflict | None:
    """The end that was pushed beside a protected base, until the base of the remote has it."""
    now = remotes.position(repository, entry.branch or "") if entry.status == "finalized" else None
    if now is None or not now.ahead:
        return None
    name = f"{handing_over.BRANCHES}{entry.id}"
    tracking = git_changes.tracking(repository, now.remote, name)
    path = os.path.join(wired.place.base(entry.worktree), journal_copy.name(entry.id))
    if not tracking or git_changes.at_ref(repository, tracking) is None:
        return None
    if git.head_blob(repository, path, now.theirs) is None:
        return None
    said = f"{entry.id} is finalized, and {now.name} does not have that yet: {name} is to be merged there"
    way = shell("git", "fetch", now.remote, text="merge its pull request, then")
    return Conflict("end_not_merged", said, remedy=way, facts={"workflow": entry.id, "branch": name, "base": now.name})


def _unmerged(wired: Wired, repository: git.Repository, entry: Entry) -> Conflict | None:
    """The branch that a feature ended on, while it is checked out, until the base branch has the end."""
    base, branch = git_changes.default_branch(repository), entry.branch or ""
    if entry.status != "finalized" or not base or branch == base or git.branch(repository) != branch:
        return None
    where, tip, top = git_changes.remote(repository, base), git.head(repository), wired.place.base(entry.worktree)
    theirs = git_changes.at_ref(repository, git_changes.tracking(repository, where, base)) if where else None
    for commit in filter(None, (git_changes.tip(repository, base), theirs)):
        is_all = bool(tip) and git_history.is_ancestor(repository, str(tip), commit)
        listed = (
            git.head_blob(repository, os.path.join(top, central.LIST), commit) or b""
        )  # a squash leaves no other sign
        if is_all or words.entry(entry.id).encode() in listed:
            return None
    said = f"{entry.id} is finalized, and {branch} is still to be merged into {base}"
    ways = (shell("git", "switch", base, text="once it is merged"),)
    return Conflict("end_not_merged", said, remedy=ways, facts={"workflow": entry.id, "branch": branch, "base": base})


def _not_pushed(repository: git.Repository, entry: Entry, count: int) -> Conflict:
    remote = git_changes.remote(repository, entry.branch or "")
    many = "1 commit" if count == 1 else f"{count} commits"
    are = "is" if count == 1 else "are"
    said = f"{entry.id} is {entry.status}, and {many} of it on {entry.branch} {are} not pushed"
    said += f" to {remote} yet" if remote else " yet"
    again = remedies.finalize if entry.status == "finalized" else remedies.go_on
    facts = {"workflow": entry.id, "branch": entry.branch, "commits": count}
    ways = handing_over.to_push(repository, entry.branch or "", again(workflow=entry.ulid))
    return Conflict("branch_not_pushed", said, remedy=ways, facts=facts)


def _still_there(entry: Entry, base: str) -> Conflict:
    said = f"{entry.id} was finalized on {entry.branch}, and {base} has its workspace and not its docs"
    facts = {"workflow": entry.id, "branch": entry.branch, "base": base}
    return Conflict("ended_elsewhere", said, remedy=remedies.finalize(workflow=entry.ulid), facts=facts)
