"""Documents that others touched: classified first, by hash, then decided like any other command."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.codec import parse
from holdfast.core import commands as cmd
from holdfast.core import lifecycle, queries
from holdfast.core.apply import replay
from holdfast.core.state import KEPT_RENDERINGS, Actor, Alert, State
from holdfast.dialects import dialect
from holdfast.dialects.edits import edit, nearest
from holdfast.dialects.mapping import put
from holdfast.digest import digest
from holdfast.documents.files import Documents, is_rendering
from holdfast.engine import Engine, Outcome
from holdfast.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = Actor("file", surface="document")
GIT = Actor("file", "git", surface="document")
HOLDFAST = Actor("engine", surface="document")

CLEAN, STALE, UNPLACED, MISSING = "clean", "stale", "unplaced", "missing"
WRITING, DAMAGED, FROM_GIT, EDITED, ELSEWHERE = "writing", "damaged", "from_git", "edited", "elsewhere"


class Reconciler:
    def __init__(self, engine: Engine, documents: Documents) -> None:
        self._engine = engine
        self._documents = documents

    def reconcile(self, state: State) -> State:
        """Makes state and documents agree, and gives the state that holds afterwards."""
        path = dialect(state.dialect).document.path(state)
        if self._documents.is_clean(state, path):
            return state
        return self._act(state, path, self._documents.read(state, path))

    def settle(self, outcome: Outcome) -> State:
        """Decides edits that came in while documents were being replaced."""
        state = outcome.state
        for path, data in outcome.raced:
            state = self._act(state, path, data, raced=True)
        return state

    def heal(self) -> None:
        """Finishes the views of workflows whose process died after the journal had its line."""
        for ulid in self._engine.store.unsettled():
            self.settle(self._engine.show(self._engine.store.load(ulid)))

    def classify(self, state: State, path: str, data: bytes | None) -> str:
        if data is not None and is_rendering(state, path, digest(data)):
            return CLEAN if self._documents.is_clean(state, path) else STALE
        if self._documents.elsewhere(state, path):
            return ELSEWHERE
        if data is None:
            return MISSING if self._documents.was_placed(state, path) else UNPLACED
        if not isinstance(_json(data), Mapping):
            return WRITING if self._documents.being_written(state, path) else DAMAGED
        if self._documents.in_head(state, path, data):
            return FROM_GIT
        return EDITED

    def _act(self, state: State, path: str, data: bytes | None, *, raced: bool = False) -> State:
        kind = self.classify(state, path, data)
        if kind in (CLEAN, ELSEWHERE) or (kind == WRITING and not raced):
            return state
        if kind == MISSING and queries.is_active(state):
            return self._missing(state, path)
        if kind in (STALE, UNPLACED, MISSING):
            return self.settle(self._engine.show(state))
        assert data is not None
        if kind in (DAMAGED, WRITING):
            return self._damaged(state, path, data)
        document = _json(data)
        if kind == FROM_GIT:
            return self._taken_over(state, path, data, document)
        return self._edited(state, path, data, document)

    def _missing(self, state: State, path: str) -> State:
        """A document that was taken away says something: finished if it lies with the finished ones, else given up."""
        spoken = dialect(state.dialect)
        for other in spoken.document.former(state):
            data = self._documents.read(state, other)
            document = _json(data) if data is not None else None
            if isinstance(document, Mapping) and data is not None:
                return self._edited(state, path, data, document, found_at=other)
        if spoken.missing == "abandoned":
            command = cmd.Cancel(f"{path} was deleted")
            return self.settle(self._engine.execute(state.ulid, command, FILE))
        return self.settle(self._engine.show(state))

    def _damaged(self, state: State, path: str, data: bytes) -> State:
        """Empty or torn: a crash does that, nobody is accused. A copy is kept and the document rendered again."""
        kept = self._documents.quarantine(path, data, "the file was empty or torn")
        self._documents.accept(state, path, data)
        return self._alarm(state, path, "document_damaged", f"{path} was damaged and is restored", kept)

    def _edited(
        self, state: State, path: str, data: bytes, document: Mapping[str, Any], *, found_at: str = ""
    ) -> State:
        """Decided whole. The file is replaced only after the journal has what became of it."""
        try:
            base = nearest(self._renderings(state), document)
            command = edit(dialect(state.dialect).document, state, path, base, document)
            if found_at:
                command = command.replace(commands=(*command.commands, *_finish(state, command)))
            self._documents.accept(state, found_at or path, data)
            return self.settle(self._engine.execute(state.ulid, command, FILE))
        except HoldfastError as refusal:
            kept = self._documents.quarantine(path, data, f"{refusal.code}: {refusal.message}")
            self._documents.accept(state, found_at or path, data)
            return self._alarm(state, path, "edit_refused", f"an edit of {path} was refused: {refusal.message}", kept)

    def _taken_over(self, state: State, path: str, data: bytes, document: Mapping[str, Any]) -> State:
        facts = self._engine.world.facts(state, cmd.Note(""))
        said = dialect(state.dialect).adopt(document, None, facts, state.ulid)
        progress = {}
        for step in state.plan.paths:
            grant = state.step(step).grant
            progress[step] = said.step(step).replace(grant=grant.replace(claimed=True) if grant else None)
        self._documents.accept(state, path, data)
        return self.settle(self._engine.execute(state.ulid, cmd.TakeOver(path, document, progress), GIT))

    def _alarm(self, state: State, path: str, code: str, message: str, kept: str) -> State:
        alert = Alert(self._engine.world.now(), code, message, path, kept)
        return self.settle(self._engine.execute(state.ulid, cmd.Alarm(alert), HOLDFAST))

    def _renderings(self, state: State) -> list[tuple[int, Mapping[str, Any]]]:
        """The last documents as they were, from the journal: what an edit may have begun from."""
        document = dialect(state.dialect).document
        first = max(1, state.revision - KEPT_RENDERINGS + 1)
        records = list(self._engine.store.history(state.ulid))
        past = replay(records[: first - 1])
        found: list[tuple[int, Mapping[str, Any]]] = []
        for record in records[first - 1 :]:
            past = replay([record], past)
            assert past is not None
            found.append((record.revision, put(document, past.base, past)))
        return found


def _json(data: bytes) -> Any:
    try:
        return parse(data)
    except ValueError:
        return None


def _finish(state: State, command: cmd.Edit) -> list[cmd.Command]:
    """What is left to do when somebody put a document among the finished ones."""
    named = {part.step for part in command.commands if isinstance(part, cmd.Done)}
    left = [path for path in state.plan.leaves() if state.step(path).status not in lifecycle.FINISHED]
    out: list[cmd.Command] = []
    for path in left:
        if path not in named:
            out += [cmd.Begin(path), cmd.Done(path)]
    return out
