"""The lens itself: states into documents, and what somebody changed in a document back out of it.

Writing keeps a field's literal form while it still says what the state says, and everything the dialect does not know.
"""

from __future__ import annotations

from _collections_abc import Iterator, Mapping

from holdfast.core import remedies
from holdfast.core.state import State
from holdfast.core.value import Any, Value
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Document, Field, Items, Meaning, as_found
from holdfast.documents.lens.text import Entries, Kept, KeptList
from holdfast.errors import UsageError

_MISSING = object()


class Change(Value):
    """Somebody wrote another value: in which field, of which item, and what it said before and says now."""

    at: str
    meaning: str
    item: str
    old: Any
    new: Any
    data: Any = None


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
        if new is None:
            said, new = Entries(), len(state.history)
        said = said.grown([document.entry(state, entry) for entry in state.history[len(state.history) - new :]])
        said = said.newest(len(state.history))
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


def changes(document: Document, state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """What differs between two documents of one workflow, in the dialect's own terms."""
    for part in document.parts:
        if isinstance(part, Field):
            yield from _field_change(part, "", old, new)
        else:
            yield from _item_changes(part, state, old, new)


def new_entries(document: Document, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """History entries that were appended by hand."""
    before, after = old.get(document.history), new.get(document.history)
    if not isinstance(after, list):
        return []
    if not isinstance(before, list):
        before = []
    appended = after[len(before) :] if after[: len(before)] == before else [e for e in after if e not in before]
    return [entry for entry in appended if isinstance(entry, dict)]


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
    there = holder.get(last, _MISSING)
    ours = state.origin != "adopted"  # whoever keeps the document decides what it need not say
    if value is ABSENT:
        if (there is not _MISSING or ours) and (field.nullable or there is None):
            holder[last] = None
        elif there is not _MISSING:
            del holder[last]
        return
    if there is _MISSING and field.quiet and not ours:
        return
    if there is not _MISSING and _says(field, there, value):
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
        return _same(literal, value)
    try:
        said = field.codec.decode(literal)
        return bool(said == value or literal == value or said == field.codec.decode(field.codec.encode(value)))
    except UsageError:
        return False


def _same(one: Any, other: Any) -> bool:
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
    known = _by_name(part, holder.get(last))
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


def _by_name(part: Items, data: Any) -> dict[Any, dict[str, Any]]:
    if part.key and isinstance(data, list):
        entries = (entry for entry in data if isinstance(entry, dict))
        return {entry[part.key]: entry for entry in entries if isinstance(entry.get(part.key), (str, int))}
    if not part.key and isinstance(data, dict):
        return {name: entry for name, entry in data.items() if isinstance(entry, dict)}
    return {}


def _field_change(field: Field, item: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    before, after = _at(old, field.at), _at(new, field.at)
    if _same(before, after):
        return
    if field.codec:
        before, after = _read(field, before), _read(field, after)
        if before == after:
            return
    before, after = (ABSENT if value is _MISSING else value for value in (before, after))
    yield Change(at=field.at, meaning=field.meaning, item=item, old=before, new=after)


def _read(field: Field, literal: Any) -> Any:
    """What a literal says. One that follows from the rest is put right anyway, and need not be understood."""
    assert field.codec is not None
    if literal is _MISSING or literal is None:
        return ABSENT
    try:
        return field.codec.decode(literal)
    except UsageError:
        if field.meaning == Meaning.DERIVED:
            return literal
        raise


def _item_changes(part: Items, state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    data = _at(new, part.at)
    before, after = _by_name(part, _at(old, part.at)), _by_name(part, data)
    if data is not _MISSING and not isinstance(data, list if part.key else dict):
        shape = "a list" if part.key else "an object"
        raise UsageError("wrong_shape", f"{part.at} must be {shape}", remedy=remedies.schema())
    if part.key and isinstance(data, list) and len(after) != len(data):
        wrong = f"every entry of {part.at} needs a {part.key} of its own"
        raise UsageError("wrong_shape", wrong, remedy=remedies.schema())
    known = {part.name(state, item): item for item in part.each(state)}
    for name, entry in after.items():
        if name in known:
            yield from _entry_changes(part, known[name], before.get(name, {}), entry)
        elif name not in before and part.added:
            above, step = part.added(state, entry)
            yield Change(at=part.at, meaning="added", item=str(name), old=ABSENT, new=(above, step), data=entry)
            if step is not None:
                yield from _entry_changes(part, f"{above}/{step.id}" if above else step.id, {}, entry)
    for name in before:
        if name not in after and name in known and part.added:
            yield Change(at=part.at, meaning="removed", item=known[name], old=before[name], new=ABSENT)


def _entry_changes(part: Items, item: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for field in part.fields:
        for change in _field_change(field, item, old, new):
            yield change.replace(data=new)


def _at(document: Mapping[str, Any], path: str) -> Any:
    here: Any = document
    for name in path.split("."):
        if not isinstance(here, Mapping) or name not in here:
            return _MISSING
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
    found = _at(document, path)
    return None if found is _MISSING else found
