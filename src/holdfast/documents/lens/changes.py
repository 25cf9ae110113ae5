"""What somebody changed in a document, in the dialect's own terms: read, or said to be wrong, field by field."""

from __future__ import annotations

from _collections_abc import Container, Iterable, Iterator, Mapping

from holdfast.core import remedies
from holdfast.core.commands import Place
from holdfast.core.state import State
from holdfast.core.value import Any, Value
from holdfast.documents.lens.fields import respelled, typed, usual
from holdfast.documents.lens.mapping import MISSING, by_name, found_at, same
from holdfast.documents.lens.spec import ABSENT, Document, Field, Items, Meaning
from holdfast.errors import HoldfastError, Refused, UsageError

ADDED, SHAPE = "added", "shape"
"""What can become of an entry beside changes of its fields, or of a list as such."""
LONGEST_NAME = 80
_TYPES = {Meaning.READING: list, Meaning.REMINDERS: list, Meaning.TITLE: str, Meaning.CONTEXT: dict}
_TYPED = (Meaning.DATA, Meaning.CHECK)
"""A number that was written as a text is understood there."""
_NEVER_NULL = (Meaning.TITLE, Meaning.KEPT, Meaning.STATUS, Meaning.POINTER, Meaning.WHOLE)
_DELETED_QUIETLY = (Meaning.DERIVED, Meaning.CHECK)


class Change(Value):
    """Somebody wrote another value: in which field, of which item, and what it said before and says now."""

    field: str
    """As it is told: `state_machine.phases[verify].status`."""
    at: str
    meaning: str
    item: str
    old: Any = ABSENT
    new: Any = ABSENT
    place: Place = ()
    data: Any = None
    written: Any = None
    """What it is read as, where it was written in another way."""
    wrong: HoldfastError | None = None


def changes(document: Document, state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """What differs between two documents of one workflow; what the system reads itself is left out."""
    for part in document.parts:
        if isinstance(part, Field):
            yield from _field_changes(part, "", old, new)
        else:
            yield from _item_changes(part, state, old, new)


def undeclared(document: Document, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """The fields that the dialect does not know and that say something else now."""
    known = {part.at for part in document.parts} | {document.history, f"{document.history}_count"}
    yield from _others(old, new, "", known)
    for part in document.parts:
        if isinstance(part, Items):
            own = {field.at.partition(".")[0] for field in part.fields} | {part.key}
            before, after = by_name(part, found_at(old, part.at)), by_name(part, found_at(new, part.at))
            for name in (one for one in after if one in before):
                inside = f"{_entry(part, name)}."
                yield from _others(before[name], after[name], inside, {f"{inside}{one}" for one in own})


def _others(old: Any, new: Any, above: str, known: set[str]) -> Iterator[str]:
    old, new = (one if isinstance(one, Mapping) else {} for one in (old, new))
    for name in {**old, **new}:
        at = f"{above}{shown(name)}"
        if at in known:
            continue
        if any(one.startswith(f"{at}.") for one in known):
            yield from _others(old.get(name), new.get(name), f"{at}.", known)
        elif not same(old.get(name, MISSING), new.get(name, MISSING)):
            yield at


def shown(name: Any) -> str:
    """A name that somebody wrote, as it is told on one line."""
    text = str(name)
    text = text if text.isprintable() else "".join(c if c.isprintable() else "?" for c in text)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def wrong_shape(said: str) -> UsageError:
    return UsageError("wrong_shape", said, remedy=remedies.schema())


def deleted(field: str, step: str = "") -> Refused:
    """A document that is written from memory leaves things out: nothing is taken out of the workflow by that."""
    if step and "#" not in step:
        said = f"it was missing from the document; holdfast amend {step} --retire takes it out"
        return Refused("deleted", said, remedy=remedies.amend(step, retire=True))
    return Refused("deleted", f"{field} was missing from the document", remedy="write an empty value to clear it")


def _field_changes(
    field: Field, item: str, old: Mapping[str, Any], new: Mapping[str, Any], told: str = "", place: Place = ()
) -> Iterator[Change]:
    before, after = found_at(old, field.at), found_at(new, field.at)
    if field.meaning == Meaning.OWN or same(before, after):
        return
    change = Change(f"{told}{field.at}", field.at, field.meaning, item, place=(*place, *field.at.split(".")))
    was = _read_before(field, before)
    gone = after is MISSING or (after is None and field.meaning in _NEVER_NULL)
    if gone and field.meaning not in _DELETED_QUIETLY:
        if was is not ABSENT:
            yield change.replace(old=was, wrong=deleted(change.field))
        return
    try:
        now, written = _read(field, after)
    except UsageError as wrong:
        yield change.replace(old=was, new=after, wrong=wrong)
        return
    if field.meaning in (Meaning.FIXED, Meaning.GATE, Meaning.BOUND) and _alike(before, after):
        return
    change = change.replace(old=was, new=now, written=written)
    if field.meaning == Meaning.CONTEXT:
        yield from _keys(change)
    elif was != now or not field.codec:
        yield change


def _keys(change: Change) -> Iterator[Change]:
    old = change.old if isinstance(change.old, Mapping) else {}
    for name, value in change.new.items():
        if name not in old or not same(old[name], value):
            yield change.replace(
                field=f"{change.field}.{shown(name)}", at=name, new=value, place=(*change.place, name), written=None
            )
    for name in old:
        if name not in change.new:
            yield change.replace(
                field=f"{change.field}.{shown(name)}", at=name, new=ABSENT, place=(*change.place, name)
            )


def _read_before(field: Field, literal: Any) -> Any:
    if literal is MISSING:
        return ABSENT
    try:
        return _read(field, literal)[0]
    except UsageError:
        return literal


def _read(field: Field, literal: Any) -> tuple[Any, Any]:
    """What a literal says, and how it is usually written where it was not. What follows from the rest is put right
    anyway, and need not be understood."""
    wanted = _TYPES.get(field.meaning) or (field.shape if field.meaning in _TYPED else None)
    if literal is MISSING:
        return ABSENT, None
    if literal is None:
        empty: Any = wanted() if wanted in (list, dict) else None
        return ABSENT if empty is None else empty, empty
    if field.codec:
        near = usual(field.codec, literal)
        try:
            return field.codec.decode(near), None if near is literal else near
        except UsageError:
            if field.meaning == Meaning.DERIVED:
                return literal, None
            raise
    if wanted and (not isinstance(literal, wanted) or (wanted is int and isinstance(literal, bool))):
        near = typed(wanted, literal)
        if near is None:
            raise wrong_shape(f"{field.at} must be {_NAMED[wanted]}")
        return near, near
    return literal, None


_NAMED = {int: "a number", bool: "true or false", str: "a text", list: "a list of texts", dict: "an object"}


def _alike(one: Any, other: Any) -> bool:
    """Whether a value is only written in another way: `1.0` for "1.0", `"3"` for 3."""
    plain = not isinstance(one, (Mapping, list)) and not isinstance(other, (Mapping, list))
    return plain and other is not None and str(one).strip().lower() == str(other).strip().lower()


def _entry(part: Items, name: Any) -> str:
    return f"{part.at}[{shown(name)}]" if part.key else f"{part.at}.{shown(name)}"


def _item_changes(part: Items, state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    data, place = found_at(new, part.at), tuple(part.at.split("."))
    before = by_name(part, found_at(old, part.at))
    known = {part.name(state, item): item for item in part.each(state)}
    here = Change(part.at, part.at, SHAPE, "", place=place)
    if data is MISSING or data is None:
        if before:
            yield here.replace(wrong=deleted(part.at))
        return
    if part.key and isinstance(data, dict) and data and all(isinstance(entry, dict) for entry in data.values()):
        data = [{part.key: name, **entry} for name, entry in data.items()]
        yield here.replace(written=data)
    if not isinstance(data, list if part.key else dict):
        yield here.replace(wrong=wrong_shape(f"{part.at} must be {'a list' if part.key else 'an object'}"))
        return
    after, odd = _named(part, data, {**known, **before})
    for entry in odd:
        what = f"needs a {part.key} of its own" if part.key else "must be an object"
        where = (*place, ("", entry)) if part.key else place
        yield here.replace(field=f"{part.at}[]", place=where, wrong=wrong_shape(f"every entry of {part.at} {what}"))
    stood, stands = _places(before, after), _places(after, before)
    left = {stood[name]: name for name in before if name not in after and name in known}
    for name, entry in after.items():
        inside = (*place, (part.key, name) if part.key else name)
        if part.key and entry[part.key] != name:
            spelled = (*place, (part.key, entry[part.key]), part.key)
            yield here.replace(field=f"{_entry(part, name)}.{part.key}", place=spelled, written=name)
        if name in known:
            yield from _entry_changes(part, known[name], before.get(name, {}), entry, _entry(part, name), inside)
        elif name not in before and part.added:
            above, step = part.added(state, entry)
            told, other = _entry(part, name), left.get(stands[name])
            wrong: HoldfastError | None = None if step else wrong_shape(f"{part.at} has an entry that is no step")
            if other is not None:
                said = f"it is where {shown(other)} stood, and no edit renames a step"
                wrong = Refused("not_possible", said, remedy=remedies.amend(known[other], retire=True))
            yield Change(told, part.at, ADDED, str(name), new=(above, step), place=inside, data=entry, wrong=wrong)
            if wrong is None:
                path = f"{above}/{step.id}" if above else step.id
                fields = _entry_changes(part, path, {}, entry, told, inside)
                yield from (change for change in fields if change.meaning not in (Meaning.DERIVED, Meaning.FIXED))
    for name in before:
        if name in after or name not in known or odd:
            continue
        inside, told = (*place, (part.key, name) if part.key else name), _entry(part, name)
        if not part.elsewhere:
            yield Change(told, part.at, SHAPE, known[name], place=inside, wrong=deleted(told, known[name]))


def _places(names: Iterable[Any], others: Container[Any]) -> dict[Any, Any]:
    """Each name, and the last one before it that is among the others too."""
    found: dict[Any, Any] = {}
    last = None
    for name in names:
        found[name] = last
        last = name if name in others else last
    return found


def _named(part: Items, data: Any, known: Mapping[Any, Any]) -> tuple[dict[Any, dict[str, Any]], list[Any]]:
    """The entries by their names, and those that have none, or one that is there already."""
    if not part.key:
        return by_name(part, data), [entry for entry in data.values() if not isinstance(entry, dict)]
    found: dict[Any, dict[str, Any]] = {}
    odd = []
    for entry in data:
        name = entry.get(part.key) if isinstance(entry, dict) else None
        if isinstance(name, str) and name not in known:
            number = typed(int, name)
            name = number if number in known else respelled(name, known) or name
        if not isinstance(name, (str, int)) or isinstance(name, bool) or name in found:
            odd.append(entry)
        else:
            found[name] = entry
    return found, odd


def _entry_changes(
    part: Items, item: str, old: Mapping[str, Any], new: Mapping[str, Any], told: str, place: Place
) -> Iterator[Change]:
    found = [one for field in part.fields for one in _field_changes(field, item, old, new, f"{told}.", place)]
    read = {one.at: one.written for one in found if one.written is not None}
    for change in found:
        yield change.replace(data={**new, **read})


def approves(entry: Any) -> bool:
    """Whether an entry of the history says that something was approved."""
    return isinstance(entry, Mapping) and "approv" in str(entry.get("event", "")).lower()


def new_entries(document: Document, old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[list[Any], list[Any]]:
    """History entries that were written by hand in no other's place, and those that were changed or taken away."""
    before, after = old.get(document.history), new.get(document.history)
    before, after = (list(one) if isinstance(one, list) else [] for one in (before, after))
    if after[: len(before)] == before:
        return after[len(before) :], []
    gone = [one for one in before if one not in after]
    changed = [now for was, now in zip(before, after, strict=False) if was in gone and not approves(now)]
    return [one for one in after if one not in before and one not in changed], gone
