"""The lens itself: states into documents. `changes` reads back out what somebody changed in one.

Writing keeps a field's literal form while it still says what the state says, and everything the dialect does not know.
"""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core.plan import Plan, ancestors
from holdfast.core.state import Progress, State, moved
from holdfast.core.value import Any, Value
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Document, Field, Items, as_found
from holdfast.documents.lens.text import Entries, Kept, KeptList
from holdfast.errors import UsageError

MISSING = object()


class Memory:
    """Parts of documents that were written before, by workflow."""

    def __init__(self, most: int = 1000) -> None:
        self._most = most
        self._lists: dict[tuple[str, str], _Listed] = {}
        self._histories: dict[str, tuple[tuple[Mapping[str, Any], ...], Entries]] = {}

    def listed(self, part: Items, state: State) -> Kept | KeptList:
        """A list of a document that is written from nothing. Only entries of steps that moved are written again."""
        key, lasting = (state.ulid, part.at), (state.plan, state.session)
        known = self._lists.get(key)
        if known is None or known.lasting[0] is not state.plan or known.lasting != lasting:
            entries = {item: _entry(part, state, item) for item in part.each(state)}
        elif known.progress is state.progress:
            return known.value
        else:
            entries = _again(part, known, state)
            if entries is known.entries:
                self._lists[key] = known.replace(progress=state.progress)
                return known.value
        value = KeptList([one for _, one in entries.values()]) if part.key else Kept(entries.values())
        if len(self._lists) >= self._most:
            self._lists.clear()
        self._lists[key] = _Listed(
            lasting=lasting,
            progress=state.progress,
            entries=entries,
            value=value,
            inner=any("#" in item for item in entries),
        )
        return value

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


class _Listed(Value):
    """A list that was written: of which state, its entries with their names, and as it is in the document."""

    lasting: tuple[Plan, str]
    progress: Mapping[str, Progress]
    entries: dict[str, tuple[Any, Kept]]
    value: Kept | KeptList
    inner: bool
    """Whether some items are of a step, and not steps."""


def _again(part: Items, known: _Listed, state: State) -> dict[str, tuple[Any, Kept]]:
    """The entries of a list by a newer state; the known ones themselves where all say what they said."""
    steps = moved(known.progress, state.progress)
    about = set(steps).union(*map(ancestors, steps))
    items = about & known.entries.keys()
    if known.inner:
        items = {item for item in known.entries if item.partition("#")[0] in about}
    if any(_is_listed_by(known.progress.get(path)) != _is_listed_by(state.progress.get(path)) for path in steps):
        old = {item: entry for item, entry in known.entries.items() if item not in items}
        listed = {item: old.get(item) or _entry(part, state, item) for item in part.each(state)}
        same_items = list(listed) == list(known.entries)
    else:
        listed, same_items = {**known.entries, **{item: _entry(part, state, item) for item in items}}, True
    says_same = same_items and all(repr(listed[item]) == repr(known.entries[item]) for item in items)  # 1 is not true
    return known.entries if says_same else listed


def _is_listed_by(one: Progress | None) -> tuple[str, str] | None:
    """What of a step's progress counts for which items there are, and in which order."""
    return (one.status, one.finished_at) if one else None


def _entry(part: Items, state: State, item: str) -> tuple[Any, Kept]:
    """A new entry of a list, with its name."""
    name = part.name(state, item)
    out = Kept({part.key: name} if part.key else {})
    _fill(out, part.fields, state, item)
    return name, out


def put(
    document: Document, base: Mapping[str, Any] | None, state: State, memory: Memory | None = None
) -> dict[str, Any]:
    """The document of a state, written over the one it was last based on."""
    memory = memory or Memory()
    out: dict[str, Any] = {}
    if base is None:
        _fill(out, document.parts, state, "", memory)
    else:
        out = _copy(base)
        if document.as_found and as_found(state):
            return out
        for part in document.parts:
            if isinstance(part, Field):
                _put_field(out, part, state, "")
            elif part.when is None or part.when(state):
                _put_items(out, part, state)
    if document.history and document.entry and (base is None or state.history or document.history in out):
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


def _fill(
    out: dict[str, Any], parts: Iterable[Field | Items], state: State, item: str, memory: Memory | None = None
) -> None:
    """Writes from nothing: so are most documents, on every transition, and there is no form to keep."""
    for part in parts:
        if isinstance(part, Field):
            value = part.value(state, item)
            if value is ABSENT:
                if not part.nullable:
                    continue
                value = None
            elif value is UNKNOWN:
                continue
            elif part.codec is not None:
                value = part.codec.encode(value)
        elif memory is None or (part.when is not None and not part.when(state)):
            continue
        else:
            value = memory.listed(part, state)
        if "." not in part.at:
            out[part.at] = value
            continue
        above, last = _split(part.at)
        holder = out
        for name in above:
            holder = holder.setdefault(name, {})
        holder[last] = value


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


def _put_items(out: dict[str, Any], part: Items, state: State) -> None:
    above, last = _split(part.at)
    holder = out
    for name in above:
        holder = holder.setdefault(name, {})
    known = by_name(part, holder.get(last))
    written: list[tuple[Any, dict[str, Any]]] = []
    for item in part.each(state):
        name = part.name(state, item)
        found = known.pop(name, None)
        if found is not None:
            for field in part.fields:
                _put_field(found, field, state, item)
            written.append((name, found))
        elif state.origin != "adopted" or not _has_nothing_to_say(part, state, item):
            written.append(_entry(part, state, item))
    if part.key:
        holder[last] = [target for _, target in written]
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
    """What is at a place of a document, or MISSING."""
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
    """What is at a place of a document; None when nothing does."""
    found = found_at(document, path)
    return None if found is MISSING else found
