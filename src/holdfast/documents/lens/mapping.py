"""The lens itself: states into documents. `changes` reads back out what somebody changed in one.

Writing keeps a field's literal form while it still says what the state says, and everything the dialect does not know.
"""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Document, Field, Items, as_found
from holdfast.documents.lens.text import Entries, Kept, KeptList
from holdfast.errors import UsageError

MISSING = object()


class Memory:
    """Parts of documents that were written before, by what they depend on."""

    def __init__(self, most: int = 8000) -> None:
        self._most = most
        self._items: dict[tuple[str, str, str], tuple[tuple[object, ...], Kept]] = {}
        self._lists: dict[tuple[str, str], tuple[tuple[object, ...], KeptList]] = {}
        self._histories: dict[str, tuple[tuple[Mapping[str, Any], ...], Entries]] = {}

    def item(self, key: tuple[str, str, str], on: tuple[object, ...]) -> Kept | None:
        known = self._items.get(key)
        return known[1] if known is not None and known[0] == on else None

    def keep(self, key: tuple[str, str, str], on: tuple[object, ...], item: Kept) -> None:
        if len(self._items) >= self._most:
            self._items.clear()
        self._items[key] = (on, item)

    def items(self, key: tuple[str, str], on: tuple[object, ...]) -> KeptList | None:
        known = self._lists.get(key)
        return known[1] if known and all(a is b for a, b in zip(known[0], on, strict=True)) else None

    def keep_items(self, key: tuple[str, str], on: tuple[object, ...], items: KeptList) -> None:
        if len(self._lists) >= self._most:
            self._lists.clear()
        self._lists[key] = (on, items)

    def history(self, document: Document, state: State) -> Entries:
        """The history in the dialect's words. It only ever grows at its end, so only the new entries are translated."""
        assert document.entry is not None
        seen, said = self._histories.get(state.ulid, ((), Entries()))
        new = next((n for n in range(len(state.history)) if seen and state.history[-1 - n] is seen[-1]), None)
        if new is None or len(seen) + new < len(state.history):
            said, new = Entries(), len(state.history)
        if new or len(said) != len(state.history):
            entries = [document.entry(state, entry) for entry in state.history[len(state.history) - new :]]
            said = said.grown(entries, len(state.history))
        if len(self._histories) >= self._most:
            self._histories.clear()
        self._histories[state.ulid] = (state.history, said)
        return said


def put(
    document: Document, base: Mapping[str, Any] | None, state: State, memory: Memory | None = None
) -> dict[str, Any]:
    """The document of a state, written over the one it was last based on."""
    memory = memory or Memory()
    fresh = base is None
    out: dict[str, Any] = _copy(base) if base is not None else {}
    if document.as_found and as_found(state):
        return out
    for part in document.parts:
        if isinstance(part, Field):
            _fill(out, part, state, "") if fresh else _put_field(out, part, state, "")
        elif part.when is None or part.when(state):
            _put_items(out, part, state, memory if fresh else None)
    if document.history and document.entry and (fresh or state.history or document.history in out):
        out[document.history] = memory.history(document, state)
        count = f"{document.history}_count"
        if state.history_count > len(state.history):
            out[count] = state.history_count
        else:
            out.pop(count, None)
    return out


def put_fields(fields: Iterable[Field], base: Mapping[str, Any], state: State, item: str) -> dict[str, Any]:
    """The fields of one item, written over what was there."""
    out: dict[str, Any] = _copy(base)
    for field in fields:
        _put_field(out, field, state, item)
    return out


def _fill(out: dict[str, Any], field: Field, state: State, item: str) -> None:
    """A field of a document that is written from nothing: most are, on every transition, and have no form to keep."""
    value = field.value(state, item)
    if value is ABSENT:
        if not field.nullable:
            return
        value = None
    elif value is UNKNOWN:
        return
    elif field.codec is not None:
        value = field.codec.encode(value)
    above, last = _split(field.at)
    for name in above:
        out = out.setdefault(name, {})
    out[last] = value


def _put_field(out: dict[str, Any], field: Field, state: State, item: str) -> None:
    value = field.value(state, item)
    if value is UNKNOWN:
        return
    above, last = _split(field.at)
    holder = out
    for name in above:
        inner = holder.get(name)
        if not isinstance(inner, dict):
            if value is ABSENT and (state.origin == "adopted" or not field.nullable):
                return
            inner = holder[name] = {}
        holder = inner
    there = holder.get(last, MISSING)
    ours = state.origin != "adopted"  # the keeper of the document decides what it need not say
    if value is ABSENT:
        if (there is not MISSING or ours) and (field.nullable or there is None):
            holder[last] = None
        elif there is not MISSING:
            del holder[last]
        return
    if there is MISSING and field.quiet and not ours:
        return
    if there is not MISSING and _says(field, there, value):
        return
    holder[last] = field.codec.encode(value) if field.codec else value


def _split(at: str) -> tuple[list[str], str]:
    """`workflow.status` → `["workflow"]` and `"status"`; the paths of a dialect are few and asked for all the time."""
    known = _paths.get(at)
    if known is None:
        *above, last = at.split(".")
        known = _paths[at] = (above, last)
    return known


_paths: dict[str, tuple[list[str], str]] = {}


def _says(field: Field, literal: Any, value: Any) -> bool:
    if field.codec is None:
        return same(literal, value)
    try:
        said = field.codec.decode(literal)
        return bool(said == value or literal == value or said == field.codec.decode(field.codec.encode(value)))
    except UsageError:
        return False


def same(one: Any, other: Any) -> bool:
    """Whether two values are written alike: 1 is neither true nor 1.0, while a list is a list of whatever kind."""
    alike = type(one) is type(other) or (isinstance(one, (list, dict)) and isinstance(other, (list, dict)))
    return alike and bool(one == other)


def _put_items(out: dict[str, Any], part: Items, state: State, memory: Memory | None) -> None:
    *above, last = part.at.split(".")
    holder = out
    for name in above:
        holder = holder.setdefault(name, {})
    if memory and part.follows and part.key:
        same = memory.items((state.ulid, part.at), part.follows(state))
        if same is not None:
            holder[last] = same
            return
    known = by_name(part, holder.get(last))
    items = part.each(state)
    written: list[tuple[Any, dict[str, Any]]] = []
    for item in items:
        name = part.name(state, item)
        key, on = (state.ulid, part.at, item), part.depends(state, item)
        unchanged = memory.item(key, on) if memory else None
        if unchanged is not None:
            written.append((name, unchanged))
            continue
        found = known.pop(name, None)
        if found is None and state.origin == "adopted" and _has_nothing_to_say(part, state, item):
            continue
        target = found if found is not None else Kept({part.key: name} if part.key else {})
        for field in part.fields:
            _put_field(target, field, state, item) if found is not None else _fill(target, field, state, item)
        if memory and isinstance(target, Kept):
            memory.keep(key, on, target)
        written.append((name, target))
    if part.key:
        holder[last] = KeptList(target for _, target in written)
        if memory and part.follows:
            memory.keep_items((state.ulid, part.at), part.follows(state), holder[last])
    elif written or last in holder or state.origin != "adopted":
        kept = holder.get(last)
        holder[last] = {**(kept if isinstance(kept, dict) else {}), **dict(written)}


def _has_nothing_to_say(part: Items, state: State, item: str) -> bool:
    """A document of somebody else's making need not get objects whose every value is still to come."""
    coming = [field for field in part.fields if field.nullable]
    return bool(coming) and not part.key and all(field.value(state, item) in (ABSENT, UNKNOWN) for field in coming)


def by_name(part: Items, data: Any) -> dict[Any, dict[str, Any]]:
    if part.key and isinstance(data, list):
        entries = (entry for entry in data if isinstance(entry, dict))
        return {entry[part.key]: entry for entry in entries if isinstance(entry.get(part.key), (str, int))}
    if not part.key and isinstance(data, dict):
        return {name: entry for name, entry in data.items() if isinstance(entry, dict)}
    return {}


def found_at(document: Mapping[str, Any], path: str) -> Any:
    """What stands at a place of a document, or MISSING."""
    here: Any = document
    for name in path.split("."):
        if not isinstance(here, Mapping) or name not in here:
            return MISSING
        here = here[name]
    return here


def _copy(data: Any) -> Any:
    if isinstance(data, Mapping):
        return {name: _copy(item) for name, item in data.items()}
    if isinstance(data, list):
        return [_copy(item) for item in data]
    return data


def at(document: Mapping[str, Any], path: str) -> Any:
    """What stands at a place of a document; None when nothing does."""
    found = found_at(document, path)
    return None if found is MISSING else found
