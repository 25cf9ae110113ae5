"""What works together on one root: the engine, its store, the documents and the world. Systems are handed it."""

from __future__ import annotations

import os
from _collections_abc import Callable, Sequence

from holdfast.core.lifecycle import FINISHED
from holdfast.core.value import Value
from holdfast.errors import NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast import git
    from holdfast.core.commands import Command
    from holdfast.core.definition import Definition
    from holdfast.core.remedy import Scope
    from holdfast.core.state import Actor, State
    from holdfast.definitions import Catalogue
    from holdfast.documents.files import Documents
    from holdfast.documents.reconcile import Reconciler
    from holdfast.engine.engine import Engine
    from holdfast.engine.ports import Entry, Store
    from holdfast.engine.world import LocalWorld
    from holdfast.forges.port import Forge
    from holdfast.machine.place import Place
    from holdfast.machine.settings import Settings


class Wired(Value):
    """Everything that works together on one root."""

    place: Place
    settings: Settings
    store: Store
    world: LocalWorld
    documents: Documents
    engine: Engine
    reconciler: Reconciler
    is_trusted: Callable[[str, str], bool]
    """Whether a person trusted the content with this digest at this path."""
    result_of: Callable[[State], str]
    """What a finished workflow's result is, as others build on it."""
    troubles: list[str]
    """What was wrong with workflows that were passed over because their journal cannot be read."""
    settled: str
    """What was done about a commit that was interrupted."""
    use_systems: Callable[[], None]
    """Makes the systems that this project enables those of the thread: called where a request turns to the project."""
    signers: str
    """Who may sign approvals: the user's own file, else the project's. It is worth as much as the right to write it."""

    def prepare(self) -> None:
        """Makes `.holdfast` ready for a write."""
        from holdfast.machine import place as places

        places.prepare(self.place, insist=self.settings.allow_unsafe_fs)

    def repository(self, worktree: str) -> git.Repository:
        """The repository that a working tree is in, which there has to be."""
        from holdfast import git
        from holdfast.core import refusals

        base = self.place.base(worktree)
        repository = git.find(base)
        if repository is None:
            raise refusals.no_repository(base)
        return repository

    def on_branch(self, state: State) -> git.Repository:
        """The repository of a workflow, which has to be on the workflow's branch."""
        from holdfast import git
        from holdfast.core import refusals

        repository = self.repository(state.worktree)
        here = git.branch(repository)
        if state.branch and here != state.branch:
            raise refusals.branch_mismatch(state, here)
        return repository

    def candidates(self) -> Sequence[Entry]:
        """The active workflows that a command without `-w` may mean: of the branch, else of the worktree, else all."""
        active = self.store.active()
        here = [entry for entry in active if entry.worktree == self.place.key()]
        branch = [entry for entry in here if entry.branch in (None, self.place.branch())]
        return branch or here or active

    def scope(self, about: str = "") -> Scope:
        """What commands that are typed here have to say, for remedies about the workflow with this ULID."""
        from holdfast.core.remedy import Scope

        candidates, active = self.candidates(), self.store.active()
        ids = [entry.id for entry in active]
        newest = {entry.id: entry.ulid for entry in self.store.entries() if entry.id not in ids}
        names = {ulid: id for id, ulid in newest.items()}
        names.update({entry.ulid: entry.id for entry in active if ids.count(entry.id) == 1})
        default = candidates[0].ulid if len(candidates) == 1 else ""
        return Scope(default, names, about, self.settings.actor.kind == "human")

    def forge(self, worktree: str) -> Forge:
        """The forge that the branch of a working tree is pushed to."""
        from holdfast import git
        from holdfast.forges.port import forge_of

        repository = self.repository(worktree)
        return forge_of(repository, git.branch(repository) or "", environ=os.environ)

    @property
    def catalogue(self) -> Catalogue:
        """The definitions. Most commands are about a workflow that has its own, so they are looked for when asked."""
        from holdfast.definitions import Catalogue
        from holdfast.systems.seam.registry import folders, loads

        return Catalogue(self.place.root, self.is_trusted, builtin=folders("definitions"), loads=loads())

    def definition(self, name: str) -> Definition:
        """A definition by name, with where it comes from."""
        from holdfast.core.definition import BUILT_IN

        catalogue = self.catalogue
        try:
            found, path = catalogue.get(name), catalogue.path_of(name)
        except NotFound as unknown:
            from holdfast.systems.seam.registry import refused

            for refusal in refused():  # the definition may be one of a system that cannot be had
                unknown.message += f"; {refusal.message}"
                unknown.remedies = refusal.remedies
            raise
        return found.replace(source=os.path.relpath(path, self.place.root) if path else BUILT_IN)

    def acts(self, state: State, path: str) -> bool:
        """Whether handing a step in means doing something. Without git, nothing is done for an adopted document."""
        by_hand = state.origin == "adopted" and self.place.repository is None
        return bool(state.plan.step(path).action) and not by_hand and state.step(path).status not in FINISHED

    def execute(self, ulid: str, command: Command, actor: Actor | None = None, *, token: str = "") -> State:
        """Decides a command, keeps what came of it and shows it."""
        return self.reconciler.settle(self.engine.execute(ulid, command, actor or self.settings.actor, token=token))
