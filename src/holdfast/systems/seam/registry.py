"""The systems, by name. A card costs little; the code of a system is imported when it is first needed."""

from __future__ import annotations

import os
import sys
from _thread import _local

from holdfast.core import remedies
from holdfast.core.remedy import advice
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.plain.digest import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable, Mapping

    from holdfast.core.definition import Conduct, Words
    from holdfast.core.draft import Draft
    from holdfast.documents.lens.spec import Described, Dialect
    from holdfast.systems.seam.parts import Subject, Texts, Upkeep, Work
    from holdfast.systems.seam.system import System

NAMES = ("skill", "story", "compaction", "orchestrator", "gated")
"""The systems that come with Holdfast."""
ASKED: dict[str, dict[str, tuple[str, ...]]] = {
    "wakes": {"story": (".holdfast/sessions",), "gated": ("workflow",)},
    "traces": {"compaction": ("untracked/workflow-state", "CLAUDE.local.md", "CLAUDE/Plan")},
}
"""What cards say of paths that every process asks for. Most projects have none of these, and need no such card."""
_PACKAGE = "holdfast.systems"

_CONFIG = ".holdfast/config.toml"


class _Enabled(_local):
    """The systems of other packages that the project has with which this thread works, or why they cannot be had."""

    systems: dict[str, System | HoldfastError] = {}


_enabled = _Enabled()
_cards: dict[str, System] = {}
"""Of the systems that come with Holdfast."""
_parts: dict[tuple[str, str], Any] = {}
"""By the module of the card and the part."""
_dialects: dict[str, Dialect] = {}
"""Of the systems that come with Holdfast: asked for ten times in each request."""


def own_tree(rows: frozenset[str]) -> str:
    """The id of a step's own files: the same id is the same content."""
    return digest("\n".join(sorted(rows)).encode("utf-8", "surrogateescape"))


def use(systems: dict[str, System | HoldfastError]) -> None:
    """Says which systems of other packages there are, until a thread turns to another project."""
    _enabled.systems = systems


def system(name: str) -> System:
    card = _cards.get(name)
    if card is None and name in NAMES:
        card = _cards[name] = module(f"{_PACKAGE}.{name}").SYSTEM
    if card is not None:
        return card
    other = _enabled.systems.get(name)
    if other is None:
        known = [*NAMES, *_enabled.systems]
        said = f"there is no system {name[:60]!r} in this project; there are: {', '.join(known)}"
        ways = (
            advice(f"install its package and write enable = [{name[:60]!r}] below [systems] in {_CONFIG}"),
            remedies.trust(_CONFIG, text="then"),
        )
        raise NotFound("no_system", said, remedy=ways, facts={"system": name[:200], "systems": known})
    if isinstance(other, HoldfastError):
        raise other
    return other


def refusal_of(name: str) -> HoldfastError | None:
    """Why a system cannot be had: then every change of its workflows is refused, except giving them up."""
    try:
        system(name)
    except HoldfastError as refusal:
        return refusal
    return None


def systems() -> list[System]:
    """All that can be had."""
    return [*map(system, NAMES), *(card for card in _enabled.systems.values() if not isinstance(card, HoldfastError))]


def asked_by(what: str, is_there: Callable[[str], bool], *tops: str) -> list[str]:
    """The systems of which a path, of the card's `wakes` or `traces`, is there below one of these folders."""
    named = dict(ASKED[what])
    for card in _enabled.systems.values():
        if not isinstance(card, HoldfastError):
            named[card.name] = getattr(card, what)
    return [name for name, paths in named.items() if any(is_there(f"{top}/{path}") for path in paths for top in tops)]


def refused() -> list[HoldfastError]:
    """Why systems that the project enables cannot be had."""
    return [other for other in _enabled.systems.values() if isinstance(other, HoldfastError)]


def words() -> Words:
    """What the systems add to the words of a definition."""
    from holdfast.core.definition import Words

    loads = {word: conduct for card in systems() for word, conduct in card.loads.items()}
    return Words(loads, {card.name: card.actions for card in systems()})


def conduct_of(word: str) -> Conduct:
    """How workflows are conducted whose subject is read as this word says."""
    from holdfast.core.definition import Conduct

    return words().loads.get(word, Conduct())


def own_paths() -> tuple[str, ...]:
    """The paths that belong to systems alone. Those of `gated` are among the project's own, and go with the work."""
    return tuple(path for card in systems() for path in card.own)


def dialect(name: str) -> Dialect:
    known = _dialects.get(name)
    if known is not None:
        return known
    try:
        found: Dialect = _loaded(system(name), "document", "DIALECT")
    except HoldfastError:
        return _absent(name)
    if name in NAMES:
        _dialects[name] = found
    return found


def _loaded(card: System, part: str, attribute: str) -> Any:
    """What a module of a system has. A fault in another package is why its system cannot be had from now on."""
    found = _parts.get((card.module, part))
    if found is None:
        try:
            found = getattr(module(f"{card.module}.{part}"), attribute)
        except KeyboardInterrupt:
            raise
        except BaseException as wrong:
            if card.name in NAMES:
                raise
            fault = f"{card.module}.{part} cannot be imported: {type(wrong).__name__}: {wrong}"
            refusal = bad_system(card.name, card.module.partition(".")[0], fault)
            _enabled.systems[card.name] = refusal
            raise refusal from wrong
        _parts[card.module, part] = found
    return found


def bad_system(name: str, package: str, fault: str) -> UsageError:
    """The refusal for a system whose package has a fault."""
    said = f"the system {name} of the package {package} cannot be used: {fault}"
    way = advice(f"install a version of {package} without the fault, or take {name} out of {_CONFIG}")
    return UsageError("bad_system", said, remedy=way, facts={"system": name, "package": package, "fault": fault})


def _absent(name: str) -> Dialect:
    """Of a system whose package is not there: workflows can be listed, read, exported, cancelled, without documents."""
    from holdfast.documents.lens.spec import Dialect, Document

    def refuse(*_: object) -> Any:
        system(name)  # which says why it cannot be had

    nowhere = Document(path=lambda _: "", former=lambda _: (), parts=())
    return Dialect(
        name=name, document=nowhere, id_of=lambda _: "", identify=refuse, status_words={}, missing="", adopt=refuse
    )


def dialects() -> list[Dialect]:
    return [dialect(card.name) for card in systems()]


def folders(name: str, only: str = "") -> tuple[str, ...]:
    """The folders of this name that the systems have, or one of them: `definitions`, `texts`."""
    cards = [card for card in systems() if only in ("", card.name)]
    found = (os.path.join(os.path.dirname(str(module(card.module).__file__)), name) for card in cards)
    return tuple(folder for folder in found if os.path.isdir(folder))


def _part(name: str, part: str) -> Any:
    try:
        card = system(name)
        return _loaded(card, part, part.upper()) if part in card.parts else _default(part)
    except HoldfastError:
        return _default(part)


def _default(part: str) -> Any:
    from holdfast.systems.seam.parts import PARTS

    return PARTS[part]


def module(path: str) -> Any:
    """The module, imported if it is not yet, also by another thread: `importlib` costs a tenth of a bare start."""
    __import__(path)
    return sys.modules[path]


def _getter(part: str) -> Any:
    return lambda name: _part(name, part)


subject: Callable[[str], Subject] = _getter("subject")
work: Callable[[str], Work] = _getter("work")
upkeep: Callable[[str], Upkeep] = _getter("upkeep")
texts: Callable[[str], Texts] = _getter("texts")
described: Callable[[str], Described] = _getter("described")
rules: Callable[[str], Mapping[str, Callable[[Draft, Mapping[str, Any]], None]]] = _getter("rules")
"""The rules of a system's own commands."""
