"""Where a feature ends: on its own branch before the merge, or on the branch that it was merged into; and the push.

A remote that refuses the push has a protected branch: then the end goes there by a branch and a pull request.
"""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core import remedies
from holdfast.core.remedy import shell, typed
from holdfast.core.state import State
from holdfast.errors import HoldfastError, Refused
from holdfast.git import changes as git_changes
from holdfast.git import history as git_history
from holdfast.git import remotes
from holdfast.git.remotes import Sent
from holdfast.systems.gated import journal_copy
from holdfast.systems.seam.wired import Wired

BRANCHES = "finalize/"


def ground(wired: Wired, state: State) -> tuple[git.Repository, str]:
    """The repository in which a feature ends now, and the branch it was merged into where that is checked out."""
    repository = wired.repository(state.worktree)
    here, base = git.branch(repository), git_changes.default_branch(repository)
    if not state.branch or here == state.branch:
        _require_unmerged(repository, state, base)
        return repository, ""
    if not base or here != base:
        refusal = wired.branch_mismatch(state)
        if base and git_changes.has_branch(repository, base):
            refusal.remedies += (shell("git", "switch", base, text="or, where it is merged"),)
        raise refusal
    if _merged_state(wired, repository, state) != state.finished_at or not state.finished_at:
        raise _not_merged(wired, repository, state, base)
    return repository, base


def _require_unmerged(repository: git.Repository, state: State, base: str | None) -> None:
    """What is committed on a branch that is merged already reaches nobody."""
    if not base or not state.branch or base == state.branch or state.finalized:
        return
    remotes.fetch(repository, base)
    where, tip = git_changes.remote(repository, base), git_changes.tip(repository, state.branch)
    tracking = git_changes.tracking(repository, where, base) if where else ""
    theirs = git_changes.at_ref(repository, tracking) if tracking else None
    if tip and theirs and git_history.is_ancestor(repository, tip, theirs):
        said = f"{state.branch} is merged into {base}: the docs are published there"
        name = tracking.removeprefix("refs/remotes/")
        ways = (
            shell("git", "switch", base),
            shell("git", "merge", "--ff-only", name, text="then"),
            remedies.finalize(workflow=state.ulid, text="then"),
        )
        raise Refused("already_merged", said, remedy=ways, facts={"branch": state.branch, "base": base})


def _merged_state(wired: Wired, repository: git.Repository, state: State) -> str:
    """When the feature was completed, by the journal that the branch here has of it; empty where it has none."""
    name = journal_copy.name(state.id)
    data = git.head_blob(repository, os.path.join(wired.place.base(state.worktree), name))
    if data is None or not journal_copy.is_known(wired, state.id, data):
        return ""
    return wired.store.examine_copy(data, name).state.finished_at


def _not_merged(wired: Wired, repository: git.Repository, state: State, base: str) -> HoldfastError:
    if not git_changes.has_branch(repository, state.branch or ""):
        return wired.branch_mismatch(state)
    position = remotes.position(repository, state.branch or "")
    name = state.branch if git_changes.tip(repository, state.branch or "") else position and position.name
    said = f"{base} does not have {state.id} as it was completed: finalize it on {state.branch}, or merge that first"
    ways = (shell("git", "switch", state.branch or ""), shell("git", "merge", str(name or state.branch), text="or"))
    return Refused("not_merged", said, remedy=ways, facts={"branch": state.branch, "base": base})


def again(wired: Wired, state: State) -> tuple[str, ...]:
    """What could not be pushed when the feature ended is tried again."""
    repository = git.find(wired.place.base(state.worktree))
    branch = state.branch or (git.branch(repository) if repository else None) or ""
    now = remotes.position(repository, branch) if repository else None
    return pushed(wired, state) if now and now.theirs and now.ahead else ()


def pushed(wired: Wired, state: State) -> tuple[str, ...]:
    """Pushes the branch that a feature ended on; what is said about it."""
    repository = wired.repository(state.worktree)
    branch = state.branch or git.branch(repository) or ""
    sent = remotes.push(repository, branch)
    if sent.outcome == remotes.PUSHED:
        return (f"pushed {branch} to {sent.remote}",)
    if sent.outcome == remotes.NO_REMOTE:
        return ("nothing is pushed: this repository has no remote",)
    if sent.outcome == remotes.REFUSED and branch == git_changes.default_branch(repository):
        return _by_pull_request(wired, repository, state, branch, sent)
    way = "git push"
    if sent.outcome == remotes.BEHIND:
        now = remotes.position(repository, branch)
        way = f"git merge --no-edit {now.name if now else branch}, then git push"
    return (f"{branch} is not pushed to {sent.remote}: {sent.reason} ({way}, or {_typed(wired, state)})",)


def _by_pull_request(
    wired: Wired, repository: git.Repository, state: State, base: str, refused: Sent
) -> tuple[str, ...]:
    """The remote does not take a push to its base: the commits go there under another name."""
    name, title = f"{BRANCHES}{state.id}", f"[Feature] Finalize {state.title or state.subject}"[:256]
    said = f"{refused.remote} does not take a push to {base}: {refused.reason}"
    sent = remotes.push(repository, base, name)
    if sent.outcome != remotes.PUSHED:
        return (said, f"{name} is not pushed either: {sent.reason} ({_typed(wired, state)} tries again)")
    after = f"once it is merged, git pull --rebase brings {base} here up to date"
    body = f"The docs of {state.title or state.subject} are published, and its workspace is deleted.\n"
    forge = wired.forge(state.worktree)
    try:
        made = forge.open(name, base, title, body)
    except HoldfastError as refusal:
        page = forge.page(name, base)
        how = f"open it on {page}" if page else f"open one from {name} into {base}"
        return (
            said,
            f"pushed {name} to {sent.remote}; a pull request is to be opened by hand: {how} ({refusal.message})",
            after,
        )
    return (said, f"pushed {name} to {sent.remote}, pull request {made.url}", after)


def _typed(wired: Wired, state: State) -> str:
    return typed(remedies.finalize(workflow=state.ulid), wired.scope(state.ulid))
