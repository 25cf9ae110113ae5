"""The facts: clock, boot, artifact hashes, the working tree. The core says which it needs, and judges them."""

from __future__ import annotations

import os
import time
from _collections_abc import Callable

from holdfast import git
from holdfast.core import moment
from holdfast.core.commands import Facts
from holdfast.core.definition import Check
from holdfast.core.needs import Needs, trusted_with
from holdfast.core.remedy import Remedy
from holdfast.core.state import Hold, State
from holdfast.core.value import Any
from holdfast.engine.approvals import Approvals
from holdfast.errors import HoldfastError
from holdfast.machine.place import Place, read_regular
from holdfast.plain import clock
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import object_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.git.content import Changed, Tree

LARGEST_ARTIFACT = 1 << 30
LARGEST_RESULT = 4 << 20


class LocalWorld:
    """This machine, as seen from one root."""

    def __init__(
        self,
        place: Place,
        own: Callable[[], tuple[str, ...]],
        trusted: Callable[[State, str, Check | None], bool],
        past: Callable[[State, int], State | None],
        seal: Callable[[State], str],
        locks: Callable[[State], tuple[tuple[str, Hold], ...]],
        kept: Callable[[State], tuple[str, ...]],
        by_hand: Callable[[State, str], tuple[Remedy, ...]],
        bindable: Callable[[State, str, Check], str],
        approvals: Approvals,
        does_without: Callable[[HoldfastError], bool] = lambda _: False,
    ) -> None:
        """`does_without` says whether a reader is content when git does not look at the working tree, and why not."""
        self._place = place
        self._own = own
        self._trusted = trusted
        self._past = past
        self._seal = seal
        self._locks = locks
        self._kept = kept
        self._by_hand = by_hand
        self._bindable = bindable
        self._approvals = approvals
        self._does_without = does_without
        self._boot = ""
        self._hashes: dict[str, tuple[tuple[int, int, int], tuple[str, int]]] = {}

    def now(self) -> str:
        return moment.from_epoch(clock.seconds())

    def facts(self, state: State, needs: Needs) -> Facts:
        base = self._place.base(state.worktree)
        found = {**self._clock(), **self._approvals.facts(state, needs.grants, needs.approval), "known": needs}
        if needs.hashes:
            found["hashes"] = {path: self._hash(os.path.join(base, path)) for path in needs.hashes}
        if needs.tree:
            tree = self._tree(state)
            found.update(tree=tree.id, head=tree.head, dirty=tree.dirty)
        elif needs.head:
            found["head"] = self._head(base)
        if needs.trust:
            found["trusted"] = self._trusted(state, *needs.trust)
        if needs.runs:
            untrusted = ((step, check) for step, check in needs.runs if not self._trusted(state, step, check))
            found["untrusted"] = {(step, check.name): trusted_with(state, check) for step, check in untrusted}
        if needs.unbound:
            binding = {(step, check.name): self._bindable(state, step, check) for step, check in needs.unbound}
            found["bindable"] = {check: how for check, how in binding.items() if how}
        if needs.pull_request:
            found["by_hand"] = self._by_hand(state, needs.pull_request)
        if needs.past:
            found["past"] = self._past(state, needs.past)
        if needs.results:
            read = {path: read_regular(os.path.join(base, path), LARGEST_RESULT) for path in needs.results}
            found["results"] = {path: object_in(data) for path, data in read.items()}
        if needs.parent:
            found["parent_seal"] = self._seal(state)
        if needs.locks:
            found["locks"] = self._locks(state)
        if needs.commits:
            found["unknown_commits"] = self._unknown_commits(base, needs.commits)
        if needs.made:
            found["unknown_commits"] = (*found.get("unknown_commits", ()), *self._lost_commits(state, needs.made))
        return Facts(**found)

    def attested(self, facts: Facts, how: str, where: str) -> Facts:
        return facts.replace(**self._approvals.attested(how, where))

    def renewed(self, facts: Facts) -> Facts:
        return facts.replace(**self._clock())

    def _clock(self) -> dict[str, Any]:
        mono = time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
        return {"now": self.now(), "boot": self._boot_id(), "mono": mono}

    def _tree(self, state: State) -> Tree:
        try:
            return self.tree(state)
        except HoldfastError as failure:
            if not self._does_without(failure):
                raise
            from holdfast.git.content import Tree

            return Tree(head=None, id=None, dirty=False)

    def tree(self, state: State, *, listing: bool = False) -> Tree:
        """The working tree of a workflow, Holdfast's own files aside."""
        from holdfast.git import content

        base = self._place.base(state.worktree)
        repository = self._repository(base)
        if repository:
            return content.tree(repository, self.aside(state), self._kept_trees, listing=listing)
        return content.files_tree(base, self.aside(state))

    def changed(self, repository: git.Repository, since: str | None, aside: tuple[str, ...]) -> dict[str, Changed]:
        """Every path that differs in a working tree from a commit, some aside."""
        from holdfast.git import content

        return content.changed(repository, since, aside, self._kept_trees)

    @property
    def _kept_trees(self) -> str:
        return os.path.join(self._place.home, "trees")

    def own(self, worktree: str) -> tuple[str, ...]:
        """Holdfast's own files, as paths from the top of the repository."""
        base = self._place.base(worktree)
        repository = self._repository(base)
        inside = os.path.relpath(base, repository.top) if repository else os.curdir
        own = self._own()
        return own if inside == os.curdir else tuple(f"{inside}/{path}" for path in own)

    def aside(self, state: State) -> tuple[str, ...]:
        """What is no work: Holdfast's own files, and the reports that its checks write."""
        base = self._place.base(state.worktree)
        repository = self._repository(base)
        inside = os.path.relpath(base, repository.top) if repository else os.curdir
        checks = (check for path in state.plan.paths for check in state.plan.step(path).checks if check.report)
        reports = dict.fromkeys(os.path.normpath(os.path.join(inside, check.report)) for check in checks)
        kept = (os.path.normpath(os.path.join(inside, path)) for path in self._kept(state))
        outside = ("", "..")
        return (*self.own(state.worktree), *kept, *(path for path in reports if path.partition("/")[0] not in outside))

    def _repository(self, base: str) -> git.Repository | None:
        known = self._place.repository
        return known if known is None or known.top == base else git.find(base)

    def _head(self, base: str) -> str | None:
        repository = self._repository(base)
        return git.head(repository) if repository else None

    def _unknown_commits(self, base: str, named: tuple[Any, ...]) -> tuple[str, ...]:
        """Of the commits that an edited document names, those that are not part of the branch."""
        repository = self._repository(base)
        if repository is None:
            return ()
        from holdfast.git import changes as git_changes

        full = {sha: git_changes.resolve(repository, sha) if isinstance(sha, str) else None for sha in named}
        return tuple(str(sha) for sha, at in full.items() if at is None or not git_changes.contains(repository, at))

    def _lost_commits(self, state: State, made: tuple[str, ...]) -> tuple[str, ...]:
        """Of the commits of tasks, those that the branch of the workflow has no more."""
        repository = self._repository(self._place.base(state.worktree))
        if repository is None:
            return ()
        from holdfast.git import changes as git_changes

        try:
            return git_changes.not_in(repository, made, state.branch or "")
        except HoldfastError as failure:
            if not self._does_without(failure):
                raise
            return ()

    def _hash(self, path: str) -> tuple[str, int] | None:
        try:
            found = os.stat(path)
            stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
            known = self._hashes.get(path)
            if known and known[0] == stamp and clock.seconds() - found.st_mtime > 2:
                return known[1]
            content = read_regular(path, LARGEST_ARTIFACT)
        except OSError:
            return None
        if content is None:
            return None
        result = (digest(content), len(content))
        self._hashes[path] = (stamp, result)
        return result

    def _boot_id(self) -> str:
        if not self._boot:
            try:
                with open("/proc/sys/kernel/random/boot_id", "rb") as file:
                    self._boot = file.read().decode().strip()
            except OSError:
                self._boot = "unknown"
        return self._boot
