"""The systems, by name. A card costs little; the code of a system is imported when it is first needed."""

from __future__ import annotations

import os
import sys

from holdfast.core import remedies
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable, Mapping

    from holdfast.core.conduct import Conduct
    from holdfast.core.draft import Draft
    from holdfast.documents.lens.spec import Dialect
    from holdfast.systems.seam.parts import Subject, Texts, Upkeep, Work
    from holdfast.systems.seam.system import System

NAMES = ("skill", "story", "compaction", "orchestrator", "gated")
"""The systems that come with Holdfast."""
_PACKAGE = "holdfast.systems"

_others: dict[str, System | HoldfastError] = {}
_dialects: dict[str, Dialect] = {}
_parts: dict[tuple[str, str], Any] = {}


def register(name: str, card: System | HoldfastError) -> None:
    """A system of another package, or why it cannot be had."""
    if _others.get(name) != card:
        _others[name] = card
        _dialects.pop(name, None)


def system(name: str) -> System:
    if name in NAMES:
        card: System = module(f"{_PACKAGE}.{name}").SYSTEM
        return card
    other = _others.get(name)
    if other is None:
        known = [*NAMES, *_others]
        said = f"there is no system {name[:60]!r}; there are: {', '.join(known)}"
        raise NotFound("no_system", said, remedy=remedies.schema(), facts={"system": name[:200], "systems": known})
    if isinstance(other, HoldfastError):
        raise other
    return other


def systems() -> list[System]:
    """All that can be had."""
    return [*map(system, NAMES), *(card for card in _others.values() if not isinstance(card, HoldfastError))]


def refused() -> list[HoldfastError]:
    """Why systems that the project enables cannot be had."""
    return [other for other in _others.values() if isinstance(other, HoldfastError)]


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
        try:
            found = module(f"{system(name).module}.document").DIALECT
        except HoldfastError:
            from holdfast.systems.seam.absent import absent

            return absent(name)
        _dialects[name] = found
    return found


def dialects() -> list[Dialect]:
    return [dialect(card.name) for card in systems()]


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
    found = (os.path.join(os.path.dirname(str(module(card.module).__file__)), name) for card in systems())
    return tuple(folder for folder in found if os.path.isdir(folder))


def _part(name: str, part: str) -> Any:
    found = _parts.get((name, part))
    if found is None:
        try:
            card = system(name)
        except HoldfastError:
            return _default(part)
        there = part in card.parts
        found = getattr(module(f"{card.module}.{part}"), part.upper()) if there else _default(part)
        _parts[name, part] = found
    return found


def _default(part: str) -> Any:
    from holdfast.systems.seam.parts import PARTS

    return PARTS[part]


def module(path: str) -> Any:
    """The module, imported if it is not yet: `importlib` costs a tenth of a bare start."""
    if path not in sys.modules:
        __import__(path)
    return sys.modules[path]
