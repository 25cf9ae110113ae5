"""Where a feature ends: on its own branch before the merge, or on the branch that it was merged into; and the push.

A remote that refuses the push has a protected branch: then the end goes there by a branch and a pull request.
"""

from __future__ import annotations

import os
from _collections_abc import Sequence

from holdfast import git
from holdfast.core import remedies
from holdfast.core.remedy import Remedy, shell, told, typed
from holdfast.core.state import State
from holdfast.errors import HoldfastError, Refused, Trouble
from holdfast.git import changes as git_changes
from holdfast.git import history as git_history
from holdfast.git import linked, remotes
from holdfast.git.remotes import Sent
from holdfast.systems.gated import base as feature_base
from holdfast.systems.gated import journal_copy, words
from holdfast.systems.gated.delivery import beside
from holdfast.systems.seam.wired import Wired

BRANCHES = "finalize/"


def ground(wired: Wired, state: State) -> tuple[git.Repository, str]:
    """The repository in which a feature ends now, and the branch it was merged into where that is checked out."""
    repository = wired.repository(state.worktree)
    here, base = git.branch(repository), feature_base.name(repository, state)
    if not state.finalized:
        feature_base.ask(repository, state)
    if not state.branch or here == state.branch:
        wrong = None if state.finalized else merged(wired, repository, state)
        if wrong is not None:
            raise wrong
        return repository, ""
    if is_base_here(wired, repository, state):
        if not state.finalized:
            _require_newest(repository, state, str(base))
        return repository, str(base)
    refusal: HoldfastError | None = merged(wired, repository, state)
    if refusal is None and base and here == base and git_changes.has_branch(repository, state.branch):
        refusal = _not_merged(repository, state, base)
    raise refusal or wired.branch_mismatch(state)


def _merge(repository: git.Repository, name: str, *, apart: bool, text: str = "") -> Remedy:
    how = "--no-edit" if apart else "--ff-only"
    return shell("git", *linked.there(repository), "merge", how, name, text=text)


def _require_newest(repository: git.Repository, state: State, base: str) -> None:
    """What ends on a base that the remote continued with cannot be pushed, and was not tested as it is there."""
    now = remotes.position(repository, base)
    if now is None or not now.behind:
        return
    said = f"{now.name} has {_commits(now.behind)} that {'is' if now.behind == 1 else 'are'} not here"
    ways = (_merge(repository, now.name, apart=bool(now.ahead)), remedies.finalize(workflow=state.ulid, text="then"))
    facts = {"branch": base, "remote": now.remote, "ahead": now.ahead, "behind": now.behind}
    raise Refused("branch_behind", said, remedy=ways, facts=facts)


def _commits(count: int) -> str:
    return "1 commit" if count == 1 else f"{count} commits"


def to_push(repository: git.Repository, branch: str, again: Remedy) -> tuple[Remedy, ...]:
    """What leads to a push that others were faster than; else another try."""
    now = remotes.position(repository, branch)
    if now is None or not now.behind:
        return (again,)
    to = () if git.branch(repository) == branch else linked.switch(repository, branch)
    merge = _merge(repository, now.name, apart=bool(now.ahead), text="then" if to else "")
    return (*to, merge, again.replace(text="then, if the tests pass"))


def require_unmerged(wired: Wired, state: State) -> None:
    """Refuses on the branch of a completed feature that the base branch has by now."""
    repository = git.find(wired.place.base(state.worktree))
    if repository is None or state.finalized or not state.finished_at or git.branch(repository) != state.branch:
        return
    feature_base.ask(repository, state)
    wrong = merged(wired, repository, state)
    if wrong is not None:
        raise wrong


def is_base_here(wired: Wired, repository: git.Repository, state: State) -> bool:
    """Whether the base branch is checked out and has the feature as it was completed."""
    here, base = git.branch(repository), feature_base.name(repository, state)
    if not base or base == state.branch or here != base:
        return False
    return _has(wired, repository, state, git.head(repository) or "")


def merged(wired: Wired, repository: git.Repository, state: State) -> Refused | None:
    """What is said where the base branch has a completed feature and is not checked out as it has it: what is committed
    on a branch that is merged already reaches nobody.

    A merge of any kind brings the journal, so it is looked for where the branch itself is in nobody's history.
    """
    base = feature_base.name(repository, state)
    if not base or not state.branch or base == state.branch or not state.finished_at:
        return None
    where, tip = git_changes.remote(repository, base), git_changes.tip(repository, state.branch)
    tracking = git_changes.tracking(repository, where, base) if where else ""
    local, theirs = git_changes.tip(repository, base), git_changes.at_ref(repository, tracking) if tracking else None

    def has(commit: str | None) -> bool:
        if not commit:
            return False
        over = journal_copy.is_finalized(repository, wired.place.base(state.worktree), state.id, commit)
        is_all = bool(tip) and git_history.is_ancestor(repository, str(tip), commit)
        return over or is_all or _has(wired, repository, state, commit)

    is_here = git.branch(repository) == base
    ways = () if is_here else linked.switch(repository, base)
    if is_here or not has(local):
        if not has(theirs):
            return None
        name, follows = tracking.removeprefix("refs/remotes/"), "then" if ways else ""
        apart = local and theirs and not git_history.is_ancestor(repository, local, theirs)
        if local:  # without one, the switch makes it as the remote has it
            ways += (_merge(repository, name, apart=bool(apart), text=follows),)
    said = f"{state.id} is merged into {base}: it ends there"
    ways += (remedies.finalize(workflow=state.ulid, text="then"),)
    return Refused("already_merged", said, remedy=ways, facts={"branch": state.branch, "base": base})


def _has(wired: Wired, repository: git.Repository, state: State, commit: str) -> bool:
    """Whether a commit has the feature as it was completed, by the journal that it has of it."""
    name = journal_copy.name(state.id)
    path = os.path.join(wired.place.base(state.worktree), name)
    data = git.head_blob(repository, path, commit) if commit and state.finished_at else None
    if data is None or not journal_copy.is_known(wired, state.id, data):
        return False
    return wired.store.examine_copy(data, name).state.finished_at == state.finished_at


def _not_merged(repository: git.Repository, state: State, base: str) -> HoldfastError:
    position = remotes.position(repository, state.branch or "")
    name = state.branch if git_changes.tip(repository, state.branch or "") else position and position.name
    said = f"{base} does not have {state.id} as it was completed: finalize it on {state.branch}, or merge that first"
    ways = linked.switch(repository, state.branch or "")
    ways += (shell("git", *linked.there(repository), "merge", str(name or state.branch)),)
    return Refused("not_merged", said, remedy=ways, facts={"branch": state.branch, "base": base})


def pushed(wired: Wired, state: State) -> tuple[str, ...]:
    """Pushes the branch that a feature ended on; what is said about it."""
    repository = wired.repository(state.worktree)
    branch = state.branch or git.branch(repository) or ""
    wrong = _unapproved(wired, repository, state, branch) if state.finalized else None
    if wrong is not None:
        where = git_changes.remote(repository, branch)
        ways = told(wrong.remedies, wired.scope(state.ulid))
        return (Trouble(f"{branch} is not pushed to {where}: {wrong.message} ({ways})"),)
    sent = remotes.push(repository, branch)
    if sent.outcome == remotes.PUSHED:
        return (f"pushed {branch} to {sent.remote}",)
    if sent.outcome == remotes.NO_REMOTE:
        return ("nothing is pushed: this repository has no remote",)
    if sent.outcome == remotes.REFUSED and branch == feature_base.name(repository, state):
        return _by_pull_request(wired, repository, state, branch, sent)
    ways = told(to_push(repository, branch, _again(state)), wired.scope(state.ulid))
    return (Trouble(f"{branch} is not pushed to {sent.remote}: {sent.reason} ({ways})"),)


def _unapproved(wired: Wired, repository: git.Repository, state: State, branch: str) -> Refused | None:
    """Why a push is refused that would publish what nobody approved, as the remote is now."""
    now = feature_base.addresses(repository, state, branch)
    if feature_base.is_elsewhere(state, now):
        return other_remote(state, branch, now)
    try:
        one = beside.found(wired, state, repository, branch)
    except Refused as refused:
        return refused
    is_let = one is None or one.digest == state.context.get(words.CONFIRMED)
    return None if one is None or is_let else beside.refusal(state, repository, one)


def other_remote(state: State, branch: str, now: Sequence[str]) -> Refused:
    """What is said where the branch would go to an address that the feature did not begin with."""
    known = feature_base.begun_at(state)
    begun = f", and {state.id} has {told_as(known)}" if known else ""
    said = f"another address of the remote: {branch} is {told_as(now)}{begun}"
    again = remedies.finalize(workflow=state.ulid, who="person", text="a person confirms the address")
    facts = {"branch": branch, "addresses": list(now), "known": known}
    return Refused("other_remote", said, remedy=again, facts=facts)


def told_as(addresses: Sequence[str]) -> str:
    """The first address is the one that the base is heard from; the others are pushed to."""
    heard, *pushed = addresses
    return f"compared with {heard} and pushed to {', '.join(pushed)}" if pushed else f"pushed to {heard}"


def _by_pull_request(
    wired: Wired, repository: git.Repository, state: State, base: str, refused: Sent
) -> tuple[str, ...]:
    """The remote does not take a push to its base: the commits go there under another name."""
    name, title = f"{BRANCHES}{state.id}", f"[Feature] Finalize {state.title or state.subject}"[:256]
    said = Trouble(f"{refused.remote} does not take a push to {base}: {refused.reason}")
    sent = remotes.push(repository, base, name)
    if sent.outcome != remotes.PUSHED:
        return (said, Trouble(f"{name} is not pushed either: {sent.reason} ({_typed(wired, state)} tries again)"))
    now = remotes.position(repository, base)
    theirs = now.name if now else f"{sent.remote}/{base}"
    after = f"once it is merged, git fetch && git reset --keep {theirs} brings {base} here up to date"
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


def _again(state: State) -> Remedy:
    again = remedies.go_on if state.cancelled else remedies.finalize
    return again(workflow=state.ulid)


def _typed(wired: Wired, state: State) -> str:
    return typed(_again(state), wired.scope(state.ulid))
