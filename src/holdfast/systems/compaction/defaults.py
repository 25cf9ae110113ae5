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
_STATUS = {"completed": "completed", "not_started": "not_started", "blocked": "blocked", "cancelled": "blocked"}


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
    out = Filled(document)
    assumed = list(getattr(document, "assumed", ()))
    out["phase"] = _phase(document.get("phase"), assumed)
    for name in ("required_reading", "key_reminders"):
        out[name] = _texts(name, document.get(name), assumed)
    out["context"] = _context(document.get("context"), assumed)
    title = document.get("workflow")
    if isinstance(title, int) or (isinstance(title, str) and len(title) > LONGEST_NAME):
        out["workflow"] = str(title)[:LONGEST_NAME]
    out.assumed = tuple(assumed)
    return out


def _phase(said: Any, assumed: list[str]) -> dict[str, Any]:
    import re

    phase = dict(said) if isinstance(said, Mapping) else {}
    if isinstance(said, str) and (match := re.match(_POSITION, said)):
        phase = {"current": match[1], "total": match[2], "name": match[3]}
    elif isinstance(said, int | str) and not isinstance(said, bool):
        phase = {"current" if isinstance(said, int) else "name": said}
    whole = re.fullmatch(r"\s*([0-9]{1,4})\s*(?:/|of)\s*([0-9]{1,4})\s*", str(phase.get("current")))
    if whole:
        phase |= {"current": whole[1], "total": phase.get("total") or whole[2]}
    lacks = [name for name in ("current", "total", "status") if phase.get(name) in (None, "")]
    current = _number(phase.get("current")) or 1
    total = max(_number(phase.get("total")) or current, current)
    status = _status(phase.get("status"), assumed)
    if lacks:
        what = "no phase" if len(lacks) == 3 and "name" not in phase else f"no phase.{' and no phase.'.join(lacks)}"
        assumed.append(f"it has {what}: phase {current} of {total}, {status}, is assumed")
    name = _text(phase.get("name"))[:LONGEST_NAME]
    return {**phase, "current": current, "total": total, "name": name, "status": status}


def _number(said: Any) -> int:
    number = said if isinstance(said, int) and not isinstance(said, bool) else typed(int, said)
    return min(max(number, 1), MOST_PHASES) if number is not None else 0


def _status(said: Any, assumed: list[str]) -> str:
    word = usual(STATUS, said)
    try:
        STATUS.decode(word)
        return str(word)
    except UsageError:
        if not isinstance(said, str) or not said:
            return _ACTIVE
    from holdfast.systems.compaction.detection import words

    near = _STATUS.get(words.said(said), _ACTIVE)
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
    items = said if isinstance(said, list) else typed(list, said) or [said]
    named = (one.get("path", one.get("file", one)) if isinstance(one, Mapping) else one for one in items)
    return [one if isinstance(one, str) else str(one) for one in named if one not in (None, "")]


def _context(said: Any, assumed: list[str]) -> dict[str, Any]:
    if isinstance(said, Mapping):
        return dict(said)
    if said in (None, "", []):
        return {}
    assumed.append("its context is no object: what is in it is kept under the key context")
    return {"context": said}
