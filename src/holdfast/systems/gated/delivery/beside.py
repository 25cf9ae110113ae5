"""What the end of a feature would publish that nobody approved.

What is pushed is what people approved, what the base of the remote has already, and what Holdfast made for the end
itself. An agent is refused anything beside that; a person is shown it and decides.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast import git
from holdfast.core import ending, remedies
from holdfast.core.remedy import Remedy, shell
from holdfast.core.state import Artifact, State
from holdfast.core.value import Value
from holdfast.errors import Refused
from holdfast.git import changes as git_changes
from holdfast.git import history, own, remotes
from holdfast.git.command import git as run
from holdfast.git.remotes import Asked
from holdfast.plain.digest import digest
from holdfast.systems.gated import base, hand_in, journal_copy, words
from holdfast.systems.seam.wired import Wired

_LISTED = 5
_MOST_COMMITS = 50
"""How far back on the branch the commit that was approved is looked for."""


class Beside(Value):
    """Files that are otherwise than they were approved, from the top of the repository."""

    files: tuple[str, ...]
    digest: str
    branch: str
    since: str
    """What the branch is compared with, and the commit that would be pushed."""
    tip: str
    is_there: bool = False
    """Whether the remote's base has it already: then nobody can take it back here."""
    known_as: str = ""
    """What git calls the base of the remote here, where the commits beside it can be put on a branch of their own."""


def refusal(state: State, repository: git.Repository, one: Beside) -> Refused:
    listed = ", ".join(one.files[:_LISTED]) + (f" and {len(one.files) - _LISTED} more" if one.files[_LISTED:] else "")
    said = f"{listed}: on {one.branch} otherwise than it was approved, and "
    said += "merged already" if one.is_there else "nothing is pushed with it"
    look = shell("git", "-C", repository.top, "diff", one.since[:12], one.tip[:12], "--", *one.files[:_LISTED])
    again = remedies.finalize(workflow=state.ulid)
    ways: tuple[Remedy, ...] = (look.replace(text="show it to a person"), again.replace(who="person"))
    if one.known_as:
        aside = f"beside-{state.id}-{one.tip[:7]}"
        ways = (
            shell("git", "-C", repository.top, "branch", aside, text="to leave it out"),
            shell("git", "-C", repository.top, "reset", "--keep", one.known_as, text="then"),
            again.replace(text="then"),
            *ways,
        )
    facts = {"files": list(one.files[:50]), "branch": one.branch, "since": one.since, "commit": one.tip}
    return Refused("not_approved", said, remedy=ways, facts=facts)


def found(wired: Wired, state: State, repository: git.Repository, branch: str) -> Beside | None:
    """What a push of the branch on which a feature ends would publish without an approval; None where it is nothing.

    Before the end, the gates compare the feature's own branch. The remote is asked what it has: a clone only knows
    what it heard, and anything can be written there.
    """
    return _Publishing(wired, state, repository, branch).beside()


class _Publishing:
    def __init__(self, wired: Wired, state: State, repository: git.Repository, branch: str) -> None:
        self._wired, self._state, self._repository, self._branch = wired, state, repository, branch
        self._is_base = branch == base.name(repository, state)

    def beside(self) -> Beside | None:
        state, repository = self._state, self._repository
        where = git_changes.remote(repository, self._branch)
        tip = git_changes.tip(repository, self._branch)
        if where is None or tip is None or (not self._is_base and not state.finalized):
            return None
        asked = remotes.ask(repository, self._branch, where) if self._is_base else base.ask(repository, state, where)
        self._main = self._heard(asked)
        if self._is_unknown:
            return None
        begun = git_changes.resolve(repository, str(state.context.get(words.FINALIZED_FROM) or "")) or tip
        told = self._altered(begun)
        told |= self._since_the_end(begun, tip)
        is_there = not told and self._is_base and not state.finalized
        told = told or (self._merged_otherwise(tip) if is_there else {})
        if not told:
            return None
        since = self._since(tip) or git_changes.tree_of(repository, None)
        name = remotes.tracking_of(repository, where, self._branch).removeprefix("refs/remotes/")
        can_leave = self._is_base and not is_there and self._main is not None and not state.finalized
        return Beside(
            tuple(sorted(told)),
            digest(hand_in.joined(told)),
            self._branch,
            since,
            tip,
            is_there,
            name if can_leave else "",
        )

    def _heard(self, asked: Asked) -> str | None:
        """Where the base of the remote is: as it says itself; where it cannot be asked, as it was last heard of."""
        if not asked.why:
            return asked.sha or None
        if self._state.finalized:
            said = f"{asked.remote} cannot be asked what it has: {asked.why}"
            raise Refused("remote_unasked", said, remedy=remedies.finalize(workflow=self._state.ulid))
        tracking = remotes.tracking_of(self._repository, asked.remote, self._branch)
        return git_changes.at_ref(self._repository, tracking)

    @property
    def _is_unknown(self) -> bool:
        """Whether a document says that the code was approved, and nothing says which."""
        return self._state.origin == "adopted" and not any(
            self._state.step(path).artifacts for path in self._state.plan.children("")
        )

    @property
    def _code(self) -> Artifact | None:
        steps = ending.proving(self._state)
        return self._state.step(steps[0]).artifacts.get(hand_in.CODE) if steps else None

    def _since(self, commit: str) -> str | None:
        """What a commit is compared with: on the base what the remote has of it, else as for an approval."""
        if not self._is_base:
            return self._own_since(commit)
        start = self._main or git_changes.resolve(self._repository, self._state.head or "")
        return history.shared(self._repository, commit, start) if start else None

    def _own_since(self, commit: str) -> str | None:
        if self._main is None:
            return own.base(self._repository, None, self._state.head, commit)
        return hand_in.compared_with(self._wired, self._repository, self._state, commit, self._main)

    def _rows(self, commit: str) -> Mapping[str, bytes]:
        return hand_in.committed(self._wired, self._repository, self._state, self._since(commit), commit)

    def _own_rows(self, commit: str) -> Mapping[str, bytes]:
        return hand_in.committed(self._wired, self._repository, self._state, self._own_since(commit), commit)

    def _approved(self) -> tuple[str, Mapping[str, bytes]]:
        """The commit that has the code as it was approved, and its lines by file; empty where it is not found."""
        known, state = self._code, self._state
        if known is None:
            return "", {}
        for commit in self._candidates(str(state.context.get(words.FINALIZED_FROM) or "")):
            rows = self._own_rows(commit)
            if digest(hand_in.joined(rows)) == known.hash:
                return commit, rows
        return "", {}

    def _candidates(self, begun: str) -> list[str]:
        """Commits that may have what was approved: where the end began, the feature's own branch, and what was on it
        before, the newest first.
        """
        repository, tips = self._repository, self._own_tips()
        first = [git_changes.resolve(repository, begun), *tips, git_changes.tip(repository, self._branch)]
        listed = ("rev-list", f"-{_MOST_COMMITS}", "--first-parent", "--end-of-options")
        for one in tips:
            first += os.fsdecode(run(repository.top, *listed, one, "--")[1]).split()
        return list(dict.fromkeys(sha for sha in first if sha))

    def _own_tips(self) -> list[str]:
        """Where the feature's own branch is, here and on the remote, as far as it is there."""
        repository, branch = self._repository, self._state.branch
        called = branch if branch and branch != self._branch else f"{words.BRANCHES}{self._state.id}"
        where = git_changes.remote(repository, called)
        theirs = git_changes.at_ref(repository, remotes.tracking_of(repository, where, called)) if where else ""
        return [sha for sha in (git_changes.tip(repository, called), theirs) if sha]

    def _altered(self, commit: str) -> dict[str, bytes]:
        """The files of a commit that are otherwise than approved, with their lines."""
        rows = self._rows(commit)
        if not rows and self._has_feature(self._main):
            return {}
        known, approved = self._approved()
        other = {path: told for path, told in rows.items() if not self._is_as(path, told, commit, known, approved)}
        if not self._has_feature(self._main):
            left = (path for path in approved if path not in rows and not self._is_same(path, commit, known))
            other |= dict.fromkeys(left, b"left out\n")
        return other

    def _is_as(self, path: str, told: bytes, commit: str, known: str, approved: Mapping[str, bytes]) -> bool:
        return path in approved and (approved[path] == told or self._is_same(path, commit, known))

    def _is_same(self, path: str, commit: str, other: str) -> bool:
        return self._blob(commit, path) == self._blob(other, path)

    def _blob(self, commit: str, path: str) -> bytes:
        asked = ("ls-tree", "-z", "--full-tree", "--end-of-options", commit, "--", path)
        return run(self._repository.top, *asked, env={"GIT_LITERAL_PATHSPECS": "1"})[1]

    def _has_feature(self, commit: str | None) -> bool:
        """Whether a commit has the journal of the feature, as every merge of it brings."""
        path = os.path.join(self._wired.place.base(self._state.worktree), journal_copy.name(self._state.id))
        inside = git.inside(self._repository, path)
        return bool(commit and inside) and git_changes.has_path(self._repository, str(commit), str(inside))

    def _since_the_end(self, begun: str, tip: str) -> dict[str, bytes]:
        """The files that are changed since the end was committed, which nobody but Holdfast had a reason to do.

        What the base brings is compared with the base.
        """
        state = self._state
        if not state.finalized or begun == tip:
            return {}
        ended = git_changes.resolve(self._repository, str(state.context.get(words.FINALIZED_TO) or ""))
        last = ended or begun
        was, now = self._rows(last), self._rows(tip)
        docs = () if ended else self._wired.world.published(state)
        other = (path for path in sorted({*was, *now}) if was.get(path) != now.get(path))
        other = (path for path in other if not any(f"{path}/".startswith(f"{one}/") for one in docs))
        return {path: now.get(path, b"as the base has it\n") for path in other if not self._is_same(path, tip, last)}

    def _merged_otherwise(self, tip: str) -> dict[str, bytes]:
        """What the feature's branch has otherwise than approved, where the base has all of that branch."""
        code = self._code
        for one in self._own_tips():
            if code is None or not history.is_ancestor(self._repository, one, tip):
                continue
            rows = self._own_rows(one)
            if digest(hand_in.joined(rows)) == code.hash:
                return {}
            known, approved = self._approved()
            return {path: told for path, told in rows.items() if approved.get(path) != told} if known else {}
        return {}
