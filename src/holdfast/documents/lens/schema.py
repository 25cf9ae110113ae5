"""The JSON Schema (draft-07) of a document, from its fields."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core.rules import briefing
from holdfast.core.value import Any
from holdfast.documents.lens.spec import Codec, Described, Dialect, Document, Field, Items, Json, Meaning, record

AGENT, ENGINE, PERSON = "the agent", "the engine", "a person"
_OWNERS = {Meaning.DERIVED: ENGINE, Meaning.FIXED: ENGINE, Meaning.GATE: PERSON, Meaning.BOUND: PERSON}
"""Who says what is in a field, by its meaning: else the agent."""
_TYPES = {str: "string", int: "integer", bool: "boolean", dict: "object", list: "array"}
_MEANT = {
    Meaning.READING: Json([Json(r"\S", maxLength=briefing.LONGEST["reading"])], maxItems=briefing.MOST),
    Meaning.REMINDERS: Json([Json(r"\S", maxLength=briefing.LONGEST["reminders"])], maxItems=briefing.MOST),
    Meaning.CONTEXT: dict,
    Meaning.TITLE: str,
}
_HISTORY = Json([Json(record(at=str, event=str), owner=AGENT)], "The newest hundred entries, oldest first.")
_COUNT = Json(int, "How many entries there ever were, where that is more than are kept here.", minimum=0)
_DRAFT = "http://json-schema.org/draft-07/schema#"


def schemas(dialect: Dialect, said: Described) -> dict[str, dict[str, Any]]:
    """The schema of each file of a system, by its name."""
    files = {dialect.name: said.replace(shape=_document(dialect.document))}
    for name, file in said.files.items():
        fields = [(field.at, field) for field in dialect.files.get(name, ())]
        files[f"{dialect.name}-{name}"] = file.replace(shape=_object(fields, asks=False)) if fields else file
    return {
        name: {
            "$schema": _DRAFT,
            "$id": f"urn:holdfast:schema:{name}",
            "title": file.title or f"The document of {name}",
            **_schema(file.shape, "", file.about),
        }
        for name, file in files.items()
    }


def _schema(of: Any, at: str, about: Mapping[str, str]) -> dict[str, Any]:
    """The schema of what is at a place, from how `Json.of` says it."""
    shape = _shape(of, at, about)
    return {**shape, "description": about[at]} if at in about else shape


def _shape(of: Any, at: str, about: Mapping[str, str]) -> dict[str, Any]:
    inside = f"{at}." if at else ""
    match of:
        case None:
            return {}
        case Json():
            said = {"description": of.about or None, **of.keywords, "x-owner": of.owner or None}
            shape = {**_shape(of.of, at, about), **{name: value for name, value in said.items() if value is not None}}
            return _or_null(shape) if of.null else shape
        case Codec():
            return _shape(of.shape, at, about)
        case str():
            return {"type": "string", "pattern": of}
        case tuple():
            return {"enum": list(of)}
        case [each]:
            return {"type": "array", "items": _schema(each, f"{at}[]", about)}
        case {"*": each}:
            return {"type": "object", "additionalProperties": _schema(each, f"{inside}NAME", about)}
        case dict():
            return {"type": "object", "properties": {n: _schema(one, inside + n, about) for n, one in of.items()}}
    if of is dict and (known := [place for place in about if inside and place.startswith(inside)]):
        return _shape({place.removeprefix(inside): None for place in known}, at, about)
    return {"type": _TYPES[of]}


def _or_null(shape: dict[str, Any]) -> dict[str, Any]:
    if "enum" in shape:
        return {**shape, "enum": [*shape["enum"], None]}
    return {**shape, "type": [shape["type"], "null"]} if "type" in shape else shape


def _document(document: Document) -> Json:
    found = _object(((part.at, part) for part in document.parts), asks=document.required)
    if document.history:
        found.of |= {document.history: _HISTORY, f"{document.history}_count": _COUNT}
    if document.either:
        field, *kinds = document.either
        ways = [({"properties": {field: {"const": kind}}}, {"required": [kind]}) for kind in kinds]
        asked = [name for name in found.keywords["required"] if name not in kinds]
        found.keywords |= {"required": asked, "anyOf": [then for _, then in ways]}
        found.keywords["allOf"] = [{"if": one, "then": then} for one, then in ways]
    return found


def _object(parts: Iterable[tuple[str, Field | Items]], *, asks: bool) -> Json:
    """An object that holds fields, some of them in objects of its own, which are required where one of these is."""
    inside: dict[str, list[tuple[str, Field | Items]]] = {}
    for path, part in parts:
        name, _, rest = path.partition(".")
        inside.setdefault(name, []).append((rest, part))
    of: dict[str, Any] = {}
    required = []
    for name, those in inside.items():
        rest, part = those[0]
        of[name] = _object(those, asks=asks) if rest else _part(part, asks=asks)
        if any(asks if part.required is None else part.required for _, part in those):
            required.append(name)
    return Json(of, required=required or None)


def _part(part: Field | Items, *, asks: bool) -> Json:
    if isinstance(part, Items):
        return _items(part, asks=asks)
    of = part.shape or part.codec or _MEANT.get(part.meaning)
    null = part.nullable or part.meaning == Meaning.DATA
    return Json(of, null=null, owner=_OWNERS.get(part.meaning, AGENT))


def _items(items: Items, *, asks: bool) -> Json:
    entry = _object(((field.at, field) for field in items.fields), asks=asks)
    if items.key:
        entry.of = {items.key: items.keys, **entry.of}
        entry.keywords["required"] = [items.key, *(entry.keywords["required"] or ())]
        entry.owner = AGENT if items.added else ""
        return Json([entry], minItems=items.least or None)
    if isinstance(items.keys, tuple):
        return Json(dict.fromkeys(items.keys, entry), required=list(items.keys))
    return Json({"*": entry})
