"""One request: one look at the journal and the document of a workflow, one gathering of facts."""

from __future__ import annotations

from holdfast.core.commands import Command
from holdfast.core.facts import Facts
from holdfast.core.needs import needs
from holdfast.core.state import Actor, State
from holdfast.core.value import Any
from holdfast.engine.engine import Outcome
from holdfast.systems.seam.registry import work
from holdfast.systems.seam.wired import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.git.content import Tree


class Turn:
    """What is known of workflows while a request lasts.

    A surface makes a project for each request, and everything it asks then is one turn. In a project that lives longer
    each method of a workflow is a request of its own: there nothing is remembered.
    """

    def __init__(self, wired: Wired, *, lasts: bool = False) -> None:
        wired.use_systems()
        self._own = wired
        self._lasts = lasts
        self._seen: dict[str, tuple[str, State]] = {}
        self._facts: dict[str, Facts] = {}
        self._trees: dict[str, Tree] = {}

    @property
    def _wired(self) -> Wired:
        self._own.use_systems()
        return self._own

    def forget(self) -> None:
        """Time has passed, or files have changed: a check or an action ran, or a person was asked."""
        self._seen.clear()
        self._facts.clear()
        self._trees.clear()

    def saw_tree(self, state: State, tree: Tree) -> None:
        """The working tree was just read, after everything that could change it."""
        if self._lasts:
            self._trees[state.ulid] = tree

    def look(self, ulid: str, *, writing: bool = False) -> State:
        """The state, with what git brought and what others wrote into the document."""
        wired = self._wired
        store = wired.store
        if self._lasts:
            stamp, seen = self._seen.get(ulid, ("", None))
            if seen is not None and stamp == store.stamp(ulid):
                return seen
        state = store.newest(ulid) if writing and not self._lasts else store.load(ulid)
        pulled = work(state.dialect).pulled
        if pulled is not None and store.read_only is None:
            wrong = pulled(wired, state)
            if wrong is not None and writing:
                raise wrong
            state = store.load(ulid)
            if wrong is not None:
                return state
        agreed = wired.reconciler.reconcile(state, writing=writing)
        if agreed.revision != state.revision:
            work(state.dialect).edited(wired, state, agreed)
        return self._saw(agreed)

    def facts(self, state: State) -> Facts:
        """What a reader must know to judge the gates now."""
        asked, known = needs(state), self._facts.get(state.ulid)
        if known is None or not known.covers(asked):
            tree = self._trees.get(state.ulid) if asked.tree else None
            known = self._wired.world.facts(state, asked.replace(tree=False) if tree else asked)
            if tree:
                known = known.replace(known=asked, tree=tree.id, head=tree.head, dirty=tree.dirty)
            self._knows(state, known)
        return known

    def execute(self, state: State, command: Command, actor: Actor, **how: Any) -> Outcome:
        """Decides a command on what was seen; the outcome has the state with edits that came in meanwhile."""
        wired = self._own
        outcome = wired.engine.execute(state.ulid, command, actor, seen=state, **how)
        if outcome.facts is not None:
            self._knows(state, outcome.facts)
        return outcome.replace(state=self._saw(wired.reconciler.settle(outcome)))

    def _saw(self, state: State) -> State:
        if self._lasts:
            self._seen[state.ulid] = self._own.store.stamp(state.ulid), state
        return state

    def _knows(self, state: State, facts: Facts) -> Facts:
        if self._lasts:
            self._facts[state.ulid] = facts
        return facts
