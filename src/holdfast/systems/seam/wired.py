"""What works together on one root: the engine, its store, the documents and the world. Systems are handed it."""

from __future__ import annotations

import os
from _collections_abc import Callable

from holdfast.core.lifecycle import FINISHED
from holdfast.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.commands import Command
    from holdfast.core.state import Actor, State
    from holdfast.definitions import Catalogue
    from holdfast.documents.files import Documents
    from holdfast.documents.reconcile import Reconciler
    from holdfast.engine.engine import Engine
    from holdfast.engine.world import LocalWorld
    from holdfast.forges.port import Forge
    from holdfast.machine.place import Place
    from holdfast.machine.settings import Settings
    from holdfast.stores.files import FilesStore


class Wired(Value):
    """Everything that works together on one root."""

    place: Place
    settings: Settings
    store: FilesStore
    world: LocalWorld
    documents: Documents
    engine: Engine
    reconciler: Reconciler
    is_trusted: Callable[[str, str], bool]
    """Whether a person trusted the content with this digest at this path."""
    result_of: Callable[[State], str]
    """What a finished workflow's result is, as others build on it."""
    signers: str
    """Who may sign approvals: the user's own file, else the project's. It is worth as much as the right to write it."""

    def forge(self, worktree: str) -> Forge:
        """The forge that the branch of a working tree is pushed to."""
        from holdfast import git
        from holdfast.core import refusals
        from holdfast.forges.port import forge_of

        base = self.place.base(worktree)
        repository = git.find(base)
        if repository is None:
            raise refusals.no_repository(base)
        return forge_of(repository, git.branch(repository) or "", environ=os.environ)

    @property
    def catalogue(self) -> Catalogue:
        """The definitions. Most commands are about a workflow that has its own, so they are looked for when asked."""
        from holdfast.definitions import Catalogue
        from holdfast.systems.seam.registry import folders

        return Catalogue(self.place.root, self.is_trusted, builtin=folders("definitions"))

    def acts(self, state: State, path: str) -> bool:
        """Whether handing a step in means doing something. Without git, nothing is done for an adopted document."""
        by_hand = state.origin == "adopted" and self.place.repository is None
        return bool(state.plan.step(path).action) and not by_hand and state.step(path).status not in FINISHED

    def execute(self, ulid: str, command: Command, actor: Actor | None = None, *, token: int = 0) -> State:
        """Decides a command, keeps what came of it and shows it."""
        return self.reconciler.settle(self.engine.execute(ulid, command, actor or self.settings.actor, token=token))
