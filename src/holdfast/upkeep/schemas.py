"""The JSON Schema of each document that a dialect writes."""

from __future__ import annotations

from holdfast.core import remedies
from holdfast.core.names import nearest
from holdfast.core.value import Any
from holdfast.documents.lens.schema import schemas
from holdfast.errors import NotFound
from holdfast.systems.seam.registry import described, dialect, systems


def names() -> list[str]:
    return sorted(_systems())


def schema(name: str) -> dict[str, Any]:
    found = _systems()
    if name not in found:
        known = sorted(found)
        close = nearest(name, tuple(known))
        said = f"there is no schema {name[:60]!r}; there are: {', '.join(known)}"
        facts = {"name": name[:200], "known": known}
        raise NotFound("no_schema", said, remedy=remedies.schema(close or known[0]), facts=facts)
    return schemas(dialect(found[name]), described(found[name]))[name]


def _systems() -> dict[str, str]:
    """The system of each schema."""
    own = {card.name: described(card.name).files for card in systems()}
    return {name: system for system, files in own.items() for name in (system, *(f"{system}-{file}" for file in files))}
