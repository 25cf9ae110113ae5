"""The facts: clock, boot, artifact hashes, the working tree. Gathered here, judged in the core."""

from __future__ import annotations

import os
import time

from holdfast import git
from holdfast.core import commands as cmd
from holdfast.core import moment
from holdfast.core.lifecycle import OPEN
from holdfast.core.state import Hold, State
from holdfast.core.tasks import COMMIT, DOCUMENT
from holdfast.machine.place import Place, read_regular
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable
    from typing import Any

LARGEST_ARTIFACT = 1 << 30
LARGEST_RESULT = 4 << 20

TREE_MATTERS = (cmd.Begin, cmd.Done, cmd.Submit, cmd.Review, cmd.Approve, cmd.Edit)


class LocalWorld:
    """This machine, as seen from one root."""

    def __init__(
        self,
        place: Place,
        own: Callable[[], tuple[str, ...]],
        trusted: Callable[[State, cmd.RecordCheck], bool],
        past: Callable[[State, int], State | None],
        seal: Callable[[State], str],
        locks: Callable[[State], tuple[tuple[str, Hold], ...]],
        kept: Callable[[State], tuple[str, ...]],
    ) -> None:
        self._place = place
        self._own = own
        self._trusted = trusted
        self._past = past
        self._seal = seal
        self._locks = locks
        self._kept = kept
        self._boot = ""
        self._hashes: dict[str, tuple[tuple[int, int, int], tuple[str, int]]] = {}
        self.signer = ""

    def now(self) -> str:
        return moment.from_epoch(time.time())

    def facts(self, state: State | None, command: cmd.Command | None = None) -> cmd.Facts:
        """What the rules must know for this command; without one, what a reader must know to judge the gates."""
        if state is None:
            return cmd.Facts(now=self.now())
        tree = self._tree(state, command)
        return cmd.Facts(
            now=self.now(),
            boot=self._boot_id(),
            mono=time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic(),
            hashes=self._artifacts(state, command),
            tree=tree.id if tree else None,
            head=tree.head if tree else self._head(state, command),
            dirty=tree.dirty if tree else False,
            trusted=not isinstance(command, cmd.RecordCheck) or self._trusted(state, command),
            signer=self.signer,
            past=self._past(state, command.number) if isinstance(command, cmd.Restore) else None,
            results=self._results(state, command),
            parent_seal=self._seal(state) if state.parent else None,
            locks=self._locks(state) if isinstance(command, cmd.Lock) else (),
            unknown_commits=self._unknown_commits(state, command),
        )

    def tree(self, state: State, *, listing: bool = False) -> git.Tree:
        """The working tree of a workflow, Holdfast's own files aside."""
        base = self._place.base(state.worktree)
        repository = self._repository(base)
        if repository:
            return git.tree(repository, self.aside(state), listing=listing)
        return git.files_tree(base, self.aside(state))

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

    def _tree(self, state: State, command: cmd.Command | None) -> git.Tree | None:
        """Only asked when recorded evidence could have become stale: it costs several git processes."""
        if command is not None and not isinstance(command, TREE_MATTERS):
            return None
        at_work = [step for step in state.progress.values() if step.status in OPEN]
        if not any(evidence.tree for step in at_work for evidence in step.evidence.values()):
            return None
        return self.tree(state)

    def _head(self, state: State, command: cmd.Command | None) -> str | None:
        kept = (
            (cmd.TakeSnapshot, cmd.Begin, cmd.Done, cmd.Approve, cmd.Edit)
            if state.loads == DOCUMENT
            else cmd.TakeSnapshot
        )
        if not isinstance(command, kept):
            return None
        repository = self._repository(self._place.base(state.worktree))
        return git.head(repository) if repository else None

    def _artifacts(self, state: State, command: cmd.Command | None) -> dict[str, tuple[str, int] | None]:
        wanted = dict.fromkeys(
            artifact.path
            for progress in state.progress.values()
            if progress.artifacts
            for artifact in progress.artifacts.values()
        )
        for part in _parts(command):
            if isinstance(part, (cmd.Done, cmd.Attach, cmd.Submit)):
                wanted.update(dict.fromkeys(part.artifacts.values()))
        base = self._place.base(state.worktree)
        return {path: self._hash(os.path.join(base, path)) for path in wanted}

    def _results(self, state: State, command: cmd.Command | None) -> dict[str, Any]:
        """What the result says that a step is handed in with."""
        found: dict[str, Any] = {}
        for part in _parts(command):
            if isinstance(part, cmd.Done) and part.step in state.plan and state.plan.step(part.step).result:
                name = state.plan.step(part.step).result
                known = state.step(part.step).artifacts.get(name)
                path = part.artifacts.get(name) or (known.path if known else "")
                found[path] = self._json(os.path.join(self._place.base(state.worktree), path)) if path else None
        return found

    def _json(self, path: str) -> Any:
        data = read_regular(path, LARGEST_RESULT)
        try:
            said = parse(data) if data is not None else None
        except ValueError:
            return None
        return said if isinstance(said, dict) else None

    def _unknown_commits(self, state: State, command: cmd.Command | None) -> tuple[str, ...]:
        """Of the commits that an edited document names, those that are not part of the branch."""
        parts = _parts(command) if isinstance(command, cmd.Edit) else ()
        named = [part.values[COMMIT] for part in parts if isinstance(part, cmd.Record) and part.values.get(COMMIT)]
        repository = self._repository(self._place.base(state.worktree)) if named else None
        if repository is None:
            return ()
        from holdfast.git import changes as git_changes

        full = {sha: git_changes.resolve(repository, sha) if isinstance(sha, str) else None for sha in named}
        return tuple(str(sha) for sha, at in full.items() if at is None or not git_changes.contains(repository, at))

    def _hash(self, path: str) -> tuple[str, int] | None:
        try:
            found = os.stat(path)
            stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
            known = self._hashes.get(path)
            if known and known[0] == stamp and time.time_ns() - found.st_mtime_ns > 2_000_000_000:
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
                with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
                    self._boot = file.read().strip()
            except OSError:
                self._boot = "unknown"
        return self._boot


def _parts(command: cmd.Command | None) -> tuple[cmd.Command | None, ...]:
    """The commands that one command stands for."""
    return command.commands if isinstance(command, (cmd.Edit, cmd.Together)) else (command,)
