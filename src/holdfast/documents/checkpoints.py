"""Checkpoints: a copy of the document with every snapshot, and one more of the newest."""

from __future__ import annotations

import os
from _collections_abc import Callable

from holdfast.core.facts import Facts
from holdfast.core.state import Snapshot, State
from holdfast.core.value import Any
from holdfast.documents.lens.spec import Dialect, Dialects
from holdfast.files.replace import durable_write
from holdfast.machine.place import Place
from holdfast.plain.plainjson import compact, object_in, parse

LOOKED_AT = 10
"""How many of the newest copies are made again when they are missing: looking at all would cost more with each."""


class Checkpoints:
    """A copy never changes. One that is missing is made from the journal, so a crash leaves none out for long.

    Only when it is made may another be there: that of a run whose journal was lost, and which this one takes up.
    """

    def __init__(
        self,
        place: Place,
        dialect: Dialects,
        past: Callable[[State, int], State | None],
        render: Callable[[State], bytes],
    ) -> None:
        self._place = place
        self._dialect = dialect
        self._past = past
        self._render = render
        self._shown: dict[str, int] = {}

    def refresh(self, state: State) -> None:
        """Called under the lock of the workflow's views."""
        where = self._dialect(state.dialect).checkpoints
        newest = state.snapshots[-1] if state.snapshots else None
        if where is None or newest is None or not newest.revision or self._shown.get(state.ulid) == newest.number:
            return
        base = self._place.base(state.worktree)
        for taken in state.snapshots[-LOOKED_AT:]:
            full = [os.path.join(base, where(state, number)) for number in (0, taken.number)]
            wanted = full if taken == newest else full[1:]
            is_there = all(map(os.path.exists, wanted)) and not self._is_newest(state, taken.number)
            data = None if is_there else self.content(state, taken.number)
            if data is not None:
                for path in wanted:  # its own place last: where that is there, the newest one's is too
                    durable_write(path, data, alone=True)
        self._shown[state.ulid] = newest.number

    def paths(self, state: State) -> dict[str, int]:
        """Where copies are, and which snapshot each is of: the newest one is in two places."""
        where = self._dialect(state.dialect).checkpoints
        taken = [one.number for one in state.snapshots if one.revision]
        if where is None or not taken:
            return {}
        return {where(state, 0): taken[-1], **{where(state, number): number for number in taken}}

    def put_back(self, state: State, path: str) -> None:
        """Writes one of them again. Called under the lock of the workflow's views."""
        data = self.content(state, self.paths(state)[path])
        if data is not None:
            durable_write(os.path.join(self._place.base(state.worktree), path), data, alone=True)

    def content(self, state: State, number: int) -> bytes | None:
        """The document as it was when a snapshot was taken, before it named the snapshot itself.

        So no copy is ever the same as a document that was in its place: a copy that is put there is meant.
        """
        past = state if self._is_newest(state, number) else self._past(state, number)
        if past is None:
            return None
        return self._render(past.replace(snapshots=tuple(one for one in past.snapshots if one.number < number)))

    def number_of(self, state: State, data: bytes) -> int:
        """The snapshot whose copy this is, however it is written down; 0 when it is none."""
        taken = self._next_to(state, _listed(data))
        if taken is None or not taken.revision:
            return 0
        content = self.content(state, taken.number)
        return taken.number if content is not None and _same(content, data) else 0

    def _next_to(self, state: State, listed: list[Any]) -> Snapshot | None:
        """The snapshot that comes after the last one a document names: only its copy can end there."""
        where = self._dialect(state.dialect).checkpoints
        if where is None or not state.snapshots:
            return None
        if not listed:
            return state.snapshots[0]
        last = listed[-1].get("state_snapshot") if isinstance(listed[-1], dict) else None
        names = [os.path.basename(where(state, taken.number)) for taken in state.snapshots[:-1]]
        return state.snapshots[names.index(last) + 1] if last in names else None

    @staticmethod
    def _is_newest(state: State, number: int) -> bool:
        return bool(state.snapshots) and (state.snapshots[-1].number, state.snapshots[-1].revision) == (
            number,
            state.revision,
        )


def _listed(data: bytes) -> list[Any]:
    """The checkpoints that a document names."""
    found = (object_in(data) or {}).get("checkpoints")
    return found if isinstance(found, list) else []


def _same(content: bytes, data: bytes) -> bool:
    if content == data:
        return True
    try:
        return compact(parse(content)) == compact(parse(data))
    except ValueError:
        return False


def adopted(spoken: Dialect, state: State, number: int, read: Callable[[State, str], bytes | None]) -> State | None:
    """The state at a checkpoint that no journal knows, by the copy that is there; the plan stays as it is."""
    data = read(state, spoken.checkpoints(state, number)) if spoken.checkpoints else None
    document = object_in(data) if data else None
    if document is None:
        return None
    said = spoken.adopt(document, None, Facts(now=state.updated_at), state.ulid)
    kept = {path: said.step(path) for path in state.plan.paths if path in said.plan}
    return state.replace(progress={**state.progress, **kept})
