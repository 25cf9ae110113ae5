"""The systems, by name. A card costs little; the code of a system is imported when it is first needed."""

from __future__ import annotations

import os
import sys

from holdfast.core import remedies
from holdfast.errors import NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable, Mapping
    from typing import Any

    from holdfast.core.conduct import Conduct
    from holdfast.core.draft import Draft
    from holdfast.documents.lens.spec import Dialect
    from holdfast.systems.seam.parts import Subject, Texts, Upkeep, Work
    from holdfast.systems.seam.system import System

NAMES = ("skill", "story", "compaction", "orchestrator", "gated")
_PACKAGE = "holdfast.systems"

_dialects: dict[str, Dialect] = {}
_parts: dict[tuple[str, str], Any] = {}


def system(name: str) -> System:
    if name not in NAMES:
        raise NotFound(
            "no_dialect",
            f"there is no dialect {name[:60]!r}; there are: {', '.join(NAMES)}",
            remedy=remedies.schema(),
            facts={"dialect": name[:200], "dialects": list(NAMES)},
        )
    card: System = _module(f"{_PACKAGE}.{name}").SYSTEM
    return card


def systems() -> list[System]:
    return [system(name) for name in NAMES]


def reader_of(loads: str) -> System | None:
    """The system that reads subjects of this kind."""
    return next((card for card in systems() if loads in card.loads), None)


def loads() -> dict[str, Conduct]:
    """The words that a subject can be read as, and how the workflows are conducted that say so."""
    return {word: conduct for card in systems() for word, conduct in card.loads.items()}


def conduct_of(word: str) -> Conduct:
    """How workflows are conducted whose subject is read as this word says."""
    from holdfast.core.conduct import Conduct

    return loads().get(word, Conduct())


def own_paths() -> tuple[str, ...]:
    """The paths that belong to systems alone. Those of `gated` lie among the project's own, and go with the work."""
    return tuple(path for card in systems() for path in card.own)


def dialect(name: str) -> Dialect:
    found = _dialects.get(name)
    if found is None:
        found = _dialects[name] = _module(f"{system(name).module}.document").DIALECT
    return found


def dialects() -> list[Dialect]:
    return [dialect(name) for name in NAMES]


def subject(name: str) -> Subject:
    found: Subject = _part(name, "subject")
    return found


def work(name: str) -> Work:
    found: Work = _part(name, "work")
    return found


def upkeep(name: str) -> Upkeep:
    found: Upkeep = _part(name, "upkeep")
    return found


def texts(name: str) -> Texts:
    found: Texts = _part(name, "texts")
    return found


def rules(name: str) -> Mapping[str, Callable[[Draft, Mapping[str, Any]], None]]:
    """The rules of a system's own commands."""
    found: Mapping[str, Callable[[Draft, Mapping[str, Any]], None]] = _part(name, "rules")
    return found


def folders(name: str) -> tuple[str, ...]:
    """The folders of this name that the systems have: `definitions`, `schemas`, `texts`."""
    above = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = (os.path.join(above, one, name) for one in NAMES)
    return tuple(folder for folder in found if os.path.isdir(folder))


def _part(name: str, part: str) -> Any:
    found = _parts.get((name, part))
    if found is None:
        card = system(name)
        if part in card.parts:
            found = getattr(_module(f"{card.module}.{part}"), part.upper())
        else:
            from holdfast.systems.seam.parts import PARTS

            found = PARTS[part]
        _parts[name, part] = found
    return found


def _module(path: str) -> Any:
    """The module, imported if it is not yet: `importlib` costs a tenth of a bare start."""
    if path not in sys.modules:
        __import__(path)
    return sys.modules[path]
