"""The facts: clock, boot, artifact hashes, the working tree. The core says which it needs, and judges them."""

from __future__ import annotations

import os
from _collections_abc import Callable, Mapping

from holdfast import git
from holdfast.core import moment
from holdfast.core.definition import Check
from holdfast.core.facts import Facts, HandIn
from holdfast.core.needs import Needs, trusted_with
from holdfast.core.remedy import Remedy
from holdfast.core.state import Hold, State
from holdfast.core.value import Any
from holdfast.engine.approvals import Approvals
from holdfast.errors import HoldfastError
from holdfast.files import system
from holdfast.machine.place import Place, read_regular
from holdfast.plain import clock
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import BOM_UTF8, object_in, repeated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.gates import Unmet
    from holdfast.engine.contents import Contents
    from holdfast.git.content import Changed, Tree

LARGEST_ARTIFACT = 1 << 30
LARGEST_RESULT = 4 << 20
_PROSE = (".md", ".markdown", ".txt", ".rst", ".adoc")
"""Files in which white space says nothing."""


class LocalWorld:
    """This machine, as seen from one root."""

    def __init__(
        self,
        place: Place,
        own: Callable[[], tuple[str, ...]],
        trusted: Callable[[State, str, Check | None], bool],
        past: Callable[[State, int], State | None],
        seal: Callable[[State], tuple[str, Unmet | None]],
        locks: Callable[[State], tuple[tuple[str, Hold], ...]],
        kept: Callable[[State], tuple[str, ...]],
        by_hand: Callable[[State, str], tuple[Remedy, ...]],
        bindable: Callable[[State, str, Check], str],
        approvals: Approvals,
        does_without: Callable[[HoldfastError], bool] = lambda _: False,
        owned: Callable[[State, str], str | None] = lambda _state, _path: None,
        ground: Callable[[State], tuple[Unmet, ...]] = lambda _: (),
        mistaken: Callable[[State, str, Mapping[str, Any]], tuple[tuple[str, str], ...]] = lambda *_: (),
        hand_in: Callable[[State, str], HandIn | None] = lambda _state, _path: None,
        published: Callable[[State], tuple[str, ...]] = lambda _: (),
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
        self._owned = owned
        self._ground = ground
        self._mistaken = mistaken
        self._hand_in = hand_in
        self._published = published
        self._boot = ""
        self._hashes: dict[str, tuple[tuple[int, int, int], tuple[str, int, bool, str]]] = {}

    def now(self) -> str:
        return moment.from_epoch(clock.seconds())

    def facts(self, state: State, needs: Needs) -> Facts:
        base = self._place.base(state.worktree)
        found = {**self._clock(), "known": needs}
        found |= self._approvals.facts(state, needs.grants, needs.answer, self.contents)
        if needs.hashes:
            top = os.path.realpath(base)
            seen = {path: self._hash(full) if (full := _own(top, path)) else None for path in needs.hashes}
            found["hashes"] = {path: one and one[:2] for path, one in seen.items()}
            found["no_files"] = tuple(p for p, one in seen.items() if not one and os.path.lexists(os.path.join(top, p)))
            found["blank"] = tuple(path for path, one in seen.items() if one and one[2])
            found["said"] = {path: one[3] for path, one in seen.items() if one and one[3]}
        if needs.hand_ins:
            found["hand_ins"] = self._hand_ins(state, needs.hand_ins)
        if needs.tree:
            tree = self._tree(state)
            found.update(tree=self._ended_tree(state, tree), head=tree.head, dirty=tree.dirty)
        elif needs.head:
            found["head"] = self._head(base)
        if needs.trees:
            found["trees"] = {step: self._own_tree(state, step) for step in needs.trees}
        if needs.begins:
            found["head"] = self._head(self.at(state, needs.begins).worktree)
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
            found.update(self._results(state, base, needs.results))
        if needs.parent:
            found["parent_seal"], found["parent_unmet"] = self._seal(state)
        if needs.ground:
            grounds = self._ground(state)
            found["ground"] = tuple(one for one in grounds if one.kind == "ground")
            found["warnings"] = tuple(one.message for one in grounds if one.kind != "ground")
        if needs.locks:
            found["locks"] = self._locks(state)
        if needs.commits:
            found["unknown_commits"] = self._unknown_commits(base, needs.commits)
        if needs.made:
            found["unknown_commits"] = (*found.get("unknown_commits", ()), *self._lost_commits(state, needs.made))
        return Facts(**found)

    def _results(self, state: State, base: str, named: tuple[tuple[str, str], ...]) -> dict[str, Any]:
        """What the results of steps say, and what their system finds wrong with them."""
        files = {path: read_regular(os.path.join(base, path), LARGEST_RESULT) for _, path in named}
        data = {path: (found or b"").removeprefix(BOM_UTF8) for path, found in files.items()}
        said = {path: object_in(found) for path, found in data.items()}
        twice = {path: [(key, "is there twice") for key in repeated(found)] for path, found in data.items()}
        wrong = {
            path: (*twice[path], *self._mistaken(state, step, found))
            for step, path in named
            if (found := said[path]) is not None
        }
        return {"results": said, "mistakes": {path: found for path, found in wrong.items() if found}}

    def contents(self, state: State, path: str) -> Contents:
        """Every file that an answer to this step is about, with its SHA-256."""
        from holdfast.engine.contents import contents

        base = self._place.base(state.worktree)
        repository = self._repository(base)
        handed = self._hand_in(state, path) if state.conduct.handed_whole else None
        return contents(base, repository.top if repository else base, state, path, handed, LARGEST_ARTIFACT)

    def attested(self, facts: Facts, how: str, where: str) -> Facts:
        return facts.replace(**self._approvals.attested(how, where))

    def renewed(self, facts: Facts) -> Facts:
        return facts.replace(**self._clock())

    def _clock(self) -> dict[str, Any]:
        self._boot = self._boot or system.here.boot() or "unknown"
        return {"now": self.now(), "boot": self._boot, "mono": system.here.uptime()}

    def _tree(self, state: State) -> Tree:
        try:
            return self.tree(state)
        except HoldfastError as failure:
            if not self._does_without(failure):
                raise
            from holdfast.git.content import Tree

            return Tree(head=None, id=None, dirty=False)

    def _ended_tree(self, state: State, tree: Tree) -> str | None:
        """Of work whose code is all done, what others see is what counts, where its checks ran on that."""
        checks = (step.evidence.values() for step in state.progress.values()) if state.is_code_done else ()
        known = {one.tree for some in checks for one in some if one.tree and not one.scope}
        base = self._place.base(state.worktree)
        repository = self._repository(base)
        if not known or tree.id in known or tree.head is None or repository is None:
            return tree.id
        from holdfast.git import content

        committed = content.committed_tree(repository, (*self.aside(state), *self.published(state)))
        return committed if committed in known else tree.id

    def tree(self, state: State, *, listing: bool = False) -> Tree:
        """The working tree of a workflow, Holdfast's own files aside, and what its end writes itself."""
        from holdfast.git import content

        base = self._place.base(state.worktree)
        repository = self._repository(base)
        if repository:
            aside = (*self.aside(state), *self.published(state))
            return content.tree(repository, aside, self._kept_trees, listing=listing)
        return content.files_tree(base, self.aside(state))

    def at(self, state: State, path: str) -> State:
        """The state as seen from the worktree that a step is worked on in: its own one, where an agent has one."""
        lease = state.bound(path)
        if lease is None:
            return state
        worktree = os.path.join(self._place.root, lease.worktree)
        return state.replace(worktree=worktree, branch=lease.branch, dirt={})

    def _own_tree(self, state: State, path: str) -> str | None:
        """What the work of one step is now. Evidence does not hold of a worktree that is gone."""
        at = self.at(state, path)
        if at is state:
            return self._owned(state, path)
        return self._tree(at).id if os.path.lexists(os.path.join(at.worktree, ".git")) else ""

    def locked_by_others(self, state: State, path: str) -> dict[str, Hold]:
        """The files and patterns, from the top of the repository, that agents of other steps or workflows hold here."""
        base, clock = self._place.base(state.worktree), self._clock()
        repository = self._repository(base)
        inside = os.path.relpath(base, repository.top) if repository else os.curdir
        own = {one.token for one in state.leases.values() if not one.step or f"{path}/".startswith(f"{one.step}/")}
        held = [(name, hold) for name, hold in state.locks.items() if hold.lease and hold.lease not in own]
        live = (
            (name, hold)
            for name, hold in (*held, *self._locks(state))
            if not hold.expired(clock["boot"], clock["mono"])
        )
        return {os.path.normpath(os.path.join(inside, name)): hold for name, hold in live}

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

    def published(self, state: State) -> tuple[str, ...]:
        """What the end of a workflow writes itself, as paths from the top of the repository."""
        base = self._place.base(state.worktree)
        repository = self._repository(base)
        inside = os.path.relpath(base, repository.top) if repository else os.curdir
        return tuple(os.path.normpath(os.path.join(inside, path)) for path in self._published(state))

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

    def _hand_ins(self, state: State, steps: tuple[str, ...]) -> dict[str, HandIn]:
        """Where a reader is content when git does not look at the working tree, nothing is known of the work."""
        try:
            found = {step: self._hand_in(state, step) for step in steps}
        except HoldfastError as failure:
            if not self._does_without(failure):
                raise
            return {}
        return {step: one for step, one in found.items() if one is not None}

    def hash_of(self, state: State, path: str) -> str:
        """The hash of a file of a workflow, which is named from the top of its worktree; empty where there is none."""
        seen = self.hashed(os.path.join(self._place.base(state.worktree), path))
        return seen[0] if seen else ""

    def hashed(self, path: str) -> tuple[str, int] | None:
        """The hash and the size of a file; None where there is none that can be read."""
        seen = self._hash(path)
        return seen and seen[:2]

    def said(self, path: str) -> str:
        """The hash of the words of a file, white space aside; empty where it is no text."""
        seen = self._hash(path)
        return seen[3] if seen else ""

    def _hash(self, path: str) -> tuple[str, int, bool, str] | None:
        """The hash and the size, whether nothing is in it but blanks, and the hash of its words."""
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
        result = (digest(content), len(content), not content.strip(), said(path, content))
        self._hashes[path] = (stamp, result)
        return result


def _own(top: str, path: str) -> str:
    """Where a file of the project is; empty for a link, which is no artifact, and for what a folder leads out to."""
    full = os.path.join(top, path)
    folder = os.path.realpath(os.path.dirname(full))
    inside = folder == top or folder.startswith(f"{top}/")
    return full if inside and not os.path.islink(full) else ""


def said(path: str, content: bytes) -> str:
    """The hash of the words of a document, so that a blank line or a comment more is no other document."""
    if not path.lower().endswith(_PROSE):
        return ""
    try:
        first, *rest = content.decode().split("<!--")
    except UnicodeDecodeError:
        return ""
    shown = [first, *(after.partition("-->")[2] for after in rest)]
    return digest(" ".join(" ".join(shown).split()).encode())
