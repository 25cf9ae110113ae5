"""What a state file leaves out, or says in another form: filled in by what is usual, and told.

The file is its author's, so whatever can be read is taken up. Only its position and lists are filled in here; what the
author wrote stays in the file until something happens.
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import lifecycle
from holdfast.core.value import Any
from holdfast.documents.lens.fields import is_moment, typed, usual
from holdfast.errors import UsageError
from holdfast.systems.compaction.adoption import LONGEST_NAME, MOST_PHASES, STATUS

_POSITION = r"(?i)\s*(?:phase\s+)?#?([0-9]{1,4})(?:\s*(?:/|of\s)\s*([0-9]{1,4}))?\s*[:.–—-]*\s*(.*)"
_ACTIVE = str(STATUS.encode(lifecycle.ACTIVE))
_STATUS = {
    "completed": "completed",
    "not_started": "not_started",
    "in_progress": "in_progress",
    "blocked": "blocked",
    "cancelled": "blocked",
}
_LISTS = {"reminders": "key_reminders", "reading": "required_reading", "must_read": "required_reading"}
"""Keys of lists that mean one of the convention."""
_BESIDE = {
    "status": "status",
    "phasestatus": "status",
    "currentphase": "current",
    "phasenumber": "current",
    "totalphases": "total",
    "phasename": "name",
}
"""Keys beside `phase`, in small letters, that mean one in it."""
_WITHIN = {"number": "current", "index": "current", "of": "total", "count": "total", "title": "name", "state": "status"}
_SAID_IN = ("path", "file", "text", "reminder", "rule", "note", "message", "content", "value", "title", "name")


class Filled(dict[str, Any]):
    """A document with everything that has to be in it, and what was assumed about the author's own."""

    assumed: tuple[str, ...] = ()


def found_at(document: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """A document that does not say what it is called or since when is known by its folder and file name."""
    import re

    out = Filled(document)
    folder, _, file = path.removesuffix(".json").rpartition("/")
    if not _text(document.get("workflow")).strip():
        out["workflow"] = folder.rpartition("/")[2] or file
        out.assumed = (f"it has no workflow, and is called {out['workflow']!r} after its folder",)
    time = re.search(r"([0-9]{4})([0-9]{2})([0-9]{2})_([0-9]{2})([0-9]{2})([0-9]{2})$", file)
    if time and not is_moment(document.get("created_at")):
        created = "{}-{}-{}T{}:{}:{}Z".format(*time.groups())
        if is_moment(created):
            out["created_at"] = created
    return out if out != document else document


def filled(document: Mapping[str, Any]) -> Filled:
    """The document as it is usually written."""
    assumed = list(getattr(document, "assumed", ()))
    out = Filled(_renamed(document, assumed))
    out["phase"] = _phase(_with_near_misses(out, assumed), assumed)
    for name in ("required_reading", "key_reminders"):
        out[name] = _texts(name, out.get(name), assumed)
    out["context"] = _context(document.get("context"), assumed)
    title = document.get("workflow")
    if isinstance(title, int) or (isinstance(title, str) and len(title) > LONGEST_NAME):
        out["workflow"] = str(title)[:LONGEST_NAME]
    out.assumed = tuple(assumed)
    return out


def meant(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """An edited document as it is usually written. What an edit leaves out of the position is as it was.

    A field of the author's own that says nothing new of the position is left alone.
    """
    ignored: list[str] = []
    out = _renamed(new, ignored, known=old)
    for name in ("required_reading", "key_reminders"):
        if name in out and out[name] != old.get(name) and out[name] is not None:
            out[name] = _texts(name, out[name], ignored)
    if out.get("context") != old.get("context") and not isinstance(out.get("context"), Mapping | None):
        before = old.get("context")
        out["context"] = {**(before if isinstance(before, Mapping) else {}), **_context(out["context"], ignored)}
    before = filled({"phase": old.get("phase")})["phase"]
    aliased = {name: key for name, key in _aliases(new).items() if new[name] != old.get(name)}
    said = {key: new[name] for name, key in aliased.items() if _says_else(before, out.get("phase"), key, new[name])}
    if said or out.get("phase") != old.get("phase"):
        out = {name: value for name, value in out.items() if aliased.get(name) not in said}
        out["phase"] = _moved(before, out.get("phase"), said)
    return out


def _says_else(before: Mapping[str, Any], phase: Any, key: str, said: Any) -> bool:
    """Whether a near miss says something new of the position, and the position itself does not."""
    now = phase.get(key, before[key]) if isinstance(phase, Mapping) else before[key]
    return now == before[key] and str(said) != str(before[key])


def _moved(before: Mapping[str, Any], said: Any, aliased: Mapping[str, Any]) -> Any:
    """The position of an edit. What cannot be one stays as it was written, and is refused with what to write."""
    is_short = isinstance(said, int | str) and not isinstance(said, bool)
    if not is_short and not isinstance(said, Mapping):
        return said
    parts = {**_parts(said), **aliased}
    parts = {name: value for name, value in parts.items() if value not in (None, "") or name == "name"}
    for name in ("current", "total"):
        number = parts.get(name, before[name])
        is_near = _counted(number) in range(MOST_PHASES + 1)
        parts[name] = _number(number) if is_near else number
    if isinstance(parts["current"], int) and isinstance(parts["total"], int):
        grows = is_short or "current" in aliased
        parts["total"] = max(parts["total"], parts["current"]) if grows else parts["total"]
        if grows and parts["current"] != before["current"]:
            parts = {"status": _ACTIVE, **parts}
    parts["status"] = _near_status(parts.get("status", before["status"])) or parts.get("status")
    return parts


def _renamed(document: Mapping[str, Any], assumed: list[str], known: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A document with its lists under the keys of the convention."""
    out = dict(document)
    for name, key in _LISTS.items():
        if name not in out or (known is not None and out[name] == known.get(name)):
            continue
        said = _texts(name, out.pop(name), [])
        has = _texts(key, out.get(key), [])
        out[key] = [*has, *(one for one in said if one not in has)]
        assumed.append(f"its {name} is read as {key}")
    return out


def _aliases(document: Mapping[str, Any]) -> dict[str, str]:
    """The keys beside `phase` that say something of it, and what."""
    spelled = {name: name.replace("-", "_").replace("_", "").lower() for name in document}
    return {name: _BESIDE[word] for name, word in spelled.items() if word in _BESIDE}


def _with_near_misses(document: Mapping[str, Any], assumed: list[str]) -> dict[str, Any]:
    """The position with what other keys say of it where it says nothing itself; contradictions are told."""
    phase = _parts(document.get("phase"))
    for name, key in _aliases(document).items():
        said = document[name]
        if phase.get(key) in (None, ""):
            phase[key] = said
        elif str(said).strip().lower() != str(phase[key]).strip().lower():
            assumed.append(f"its {name} is {str(said)[:80]!r} and its phase.{key} {phase[key]!r}, which counts")
    listed = document.get("phases")
    if isinstance(listed, list) and listed:
        if phase.get("total") in (None, ""):
            phase["total"] = len(listed)
            assumed.append(f"it has no phase.total: its phases are {len(listed)}")
        elif str(phase["total"]) != str(len(listed)):
            assumed.append(f"its phases are {len(listed)} and its phase.total {phase['total']!r}, which counts")
    return phase


def _parts(said: Any) -> dict[str, Any]:
    """What a position says, in whichever form."""
    import re

    phase = dict(said) if isinstance(said, Mapping) else {}
    if isinstance(said, str) and (match := re.match(_POSITION, said)):
        phase = {"current": match[1], "total": match[2], "name": match[3]}
    elif isinstance(said, int | str) and not isinstance(said, bool):
        phase = {"current" if isinstance(said, int) else "name": said}
    for name, key in _WITHIN.items():
        if name in phase and phase.get(key) in (None, ""):
            phase[key] = phase.pop(name)
    whole = re.fullmatch(r"\s*([0-9]{1,4})\s*(?:/|of)\s*([0-9]{1,4})\s*", str(phase.get("current")))
    return {**phase, "current": whole[1], "total": phase.get("total") or whole[2]} if whole else phase


def _phase(phase: dict[str, Any], assumed: list[str]) -> dict[str, Any]:
    lacks = [name for name in ("current", "total", "status") if phase.get(name) in (None, "")]
    current = _number(phase.get("current")) or 1
    total = max(_number(phase.get("total")) or current, current)
    status = _status(phase.get("status"), assumed)
    if lacks:
        what = "no phase" if len(lacks) == 3 and "name" not in phase else f"no phase.{' and no phase.'.join(lacks)}"
        assumed.append(f"it has {what}: phase {current} of {total}, {status}, is assumed")
    for name, number in (("current", current), ("total", total)):
        if name not in lacks and _counted(phase.get(name)) is None:
            assumed.append(f"its phase.{name} is {str(phase.get(name))[:80]!r}: {number} is assumed")
    name = _text(phase.get("name"))[:LONGEST_NAME]
    return {**phase, "current": current, "total": total, "name": name, "status": status}


def _number(said: Any) -> int:
    number = _counted(said)
    return min(max(number, 1), MOST_PHASES) if number is not None else 0


def _counted(said: Any) -> int | None:
    """The number that a value means: `5`, `"5"`, `"5 phases"`, `"2 - Build"`, `"five"`; None where it means none."""
    number = said if isinstance(said, int) and not isinstance(said, bool) else typed(int, said)
    if number is not None or not isinstance(said, str):
        return number
    import re

    from holdfast.systems.compaction.detection import numerals

    first = re.match(r"\s*(?:phase\s+)?#?(\w+)(?![.\w])", said, re.IGNORECASE)
    return (numerals.number(first[1]) or None) if first else None


def _near_status(said: Any) -> str:
    """The word of the convention that a status means; empty where it is not clear."""
    word = usual(STATUS, said)
    try:
        STATUS.decode(word)
        return str(word)
    except UsageError:
        if not isinstance(said, str) or not said:
            return ""
    from holdfast.systems.compaction.detection import words

    return _STATUS.get(words.said(said), "")


def _status(said: Any, assumed: list[str]) -> str:
    near = _near_status(said) or _ACTIVE
    if isinstance(said, str) and said and usual(STATUS, said) != near:
        assumed.append(f"its phase.status is {said[:80]!r}: {near} is assumed")
    return near


def _text(said: Any) -> str:
    return said if isinstance(said, str) else typed(str, said) or ""


def _texts(name: str, said: Any, assumed: list[str]) -> list[str]:
    if isinstance(said, list) and all(isinstance(one, str) for one in said):
        return said
    if said is None:
        return []
    assumed.append(f"its {name} is no list of texts: what is in it is taken as one")
    if isinstance(said, Mapping):
        said = list(said.values())
    if isinstance(said, str) and name == "required_reading" and "," in said:
        said = [one.strip() for one in said.replace("\n", ",").split(",")]
    items = said if isinstance(said, list) else typed(list, said) or [said]
    return [one if isinstance(one, str) else str(one) for one in map(_said_in, items) if one not in (None, "")]


def _said_in(item: Any) -> Any:
    """What an entry says that is an object."""
    return next((item[key] for key in _SAID_IN if key in item), item) if isinstance(item, Mapping) else item


def _context(said: Any, assumed: list[str]) -> dict[str, Any]:
    if isinstance(said, Mapping):
        return dict(said)
    if said in (None, "", []):
        return {}
    assumed.append("its context is no object: what is in it is kept under the key context")
    return {"context": said}
