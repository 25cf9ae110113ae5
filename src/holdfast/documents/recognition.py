"""Whether Holdfast wrote a document that was found.

What was shown last is recorded, and lines say what was shown before them. After a power cut, or where a journal came
from elsewhere, neither may tell: then the last revisions are rendered again.
"""

from __future__ import annotations

from _collections_abc import Callable

from holdfast.core.apply import replay
from holdfast.core.events import Edited
from holdfast.core.state import KEPT_RENDERINGS, State
from holdfast.core.value import Any
from holdfast.documents.lens.mapping import put
from holdfast.documents.lens.spec import Dialects
from holdfast.documents.lens.text import Writer
from holdfast.engine.ports import Store
from holdfast.plain.digest import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Mapping

    Rendering = tuple[str, Mapping[str, Any]]
    """Path and content."""


class Recognition:
    def __init__(self, store: Store, dialect: Dialects, render: Callable[[State], bytes]) -> None:
        self._store = store
        self._dialect = dialect
        self._render = render
        self._recent: tuple[str, int, list[Rendering], list[Mapping[str, Any]]] = ("", 0, [], [])

    def is_newest(self, state: State, path: str, hashed: str) -> bool:
        """Whether a document with this hash shows the state."""
        last = self._store.shown(state.ulid)
        if last and last.revision == state.revision and last.path == path and last.hash == hashed:
            return True
        return self._dialect(state.dialect).document.path(state) == path and digest(self._render(state)) == hashed

    def shows(self, state: State, path: str, hashed: str) -> bool:
        """Whether a document with this hash was written there, as far as can be told without reading the journal."""
        last = self._store.shown(state.ulid)
        if last and (last.path, last.hash) == (path, hashed):
            return True
        told = any(one.documents.get(path) == hashed for one in reversed(state.renderings))
        return told or self.is_newest(state, path, hashed)

    def wrote(self, state: State, path: str, hashed: str) -> bool:
        """Whether a document with this hash shows one of the last revisions."""
        return self.shows(state, path, hashed) or any(
            where == path and digest(Writer().write(said)) == hashed for where, said in self._renderings(state)
        )

    def ever_wrote(self, state: State, path: str, hashed: str, is_base: Callable[[State], bool]) -> bool:
        """Whether any revision was shown so, or had the document as its base. Reads and renders the whole journal."""
        records = list(self._store.history(state.ulid))
        if any(one.shown and one.shown.documents.get(path) == hashed for one in records):
            return True
        document, past, base = self._dialect(state.dialect).document, None, None
        for record in records:
            past = replay([record], past)
            assert past is not None
            if past.base is not base and is_base(past):
                return True
            if digest(Writer().write(put(document, past.base, past))) == hashed:
                return True
            base = past.base
        return False

    def hashes(self, state: State) -> set[str]:
        """The hashes of the documents that Holdfast wrote last, wherever they were."""
        last = self._store.shown(state.ulid)
        known = {hashed for one in state.renderings for hashed in one.documents.values()}
        again = {digest(Writer().write(said)) for _, said in self._renderings(state)}
        return known | again | ({last.hash} if last else set())

    def renderings(self, state: State) -> list[Mapping[str, Any]]:
        """The last documents as they were, from the journal."""
        return [said for _, said in self._renderings(state)]

    def taken(self, state: State) -> list[Mapping[str, Any]]:
        """The edits of those documents that were taken."""
        return self._last(state)[1]

    def _renderings(self, state: State) -> list[Rendering]:
        return self._last(state)[0]

    def _last(self, state: State) -> tuple[list[Rendering], list[Mapping[str, Any]]]:
        """The renderings of the last revisions, and the edits taken among them."""
        if self._recent[:2] == (state.ulid, state.revision):
            return self._recent[2:]
        document = self._dialect(state.dialect).document
        first = max(1, state.revision - KEPT_RENDERINGS + 1)
        records = list(self._store.history(state.ulid))
        past = replay(records[: first - 1])
        found: list[Rendering] = []
        taken: list[Mapping[str, Any]] = []
        for record in records[first - 1 : state.revision]:
            past = replay([record], past)
            assert past is not None
            found.append((document.path(past), put(document, past.base, past)))
            taken += [event.document for event in record.events if isinstance(event, Edited)]
        self._recent = state.ulid, state.revision, found, taken
        return found, taken
