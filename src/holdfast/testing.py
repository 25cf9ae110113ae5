"""For the authors of systems: what every system has to keep to, as one call for their own tests."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.systems.seam.system import System


def contract(card: System) -> None:
    """Raises AssertionError with what is wrong with the card, the parts or the definitions of a system."""
    from holdfast.core.definition import Words
    from holdfast.core.names import is_name
    from holdfast.core.plan import Plan
    from holdfast.definitions import Catalogue
    from holdfast.documents.lens.schema import schemas
    from holdfast.documents.lens.spec import Dialect
    from holdfast.systems.seam.parts import PARTS
    from holdfast.systems.seam.system import API, System

    assert isinstance(card, System), f"{card!r} is no System"
    assert is_name(card.name), f"{card.name!r} is not a name"
    assert card.api == API, f"{card.name} speaks version {card.api} of the seam, and this Holdfast {API}"
    assert card.shares in ("id", "subject", "worktree"), f"shares is {card.shares!r}"
    for part in card.parts:
        assert part in PARTS, f"there is no part {part!r}; there are: {', '.join(PARTS)}"
        value = _value(card, part, part.upper())
        assert type(value) is type(PARTS[part]), f"{card.module}.{part} has no {type(PARTS[part]).__name__}"
    dialect = _value(card, "document", "DIALECT")
    assert isinstance(dialect, Dialect), f"{card.module}.document has no Dialect"
    assert dialect.name == card.name, f"the dialect is called {dialect.name!r}"
    schemas(dialect, _value(card, "described", "DESCRIBED") if "described" in card.parts else PARTS["described"])
    performed = _value(card, "work", "WORK").perform if "work" in card.parts else {}
    for action in card.actions:
        assert action in performed, f"{card.module}.work does not perform {action!r}"
    for path in (*card.own, *card.patterns):
        assert path.strip("/") == path, f"{path!r} leaves the worktree"
        assert ".." not in path.split("/"), f"{path!r} leaves the worktree"
    folder = os.path.join(os.path.dirname(str(_imported(card.module).__file__)), "definitions")
    catalogue = Catalogue(folder, builtin=(folder,), words=Words(card.loads, {card.name: card.actions}))
    for entry in catalogue.all() if os.path.isdir(folder) else ():
        assert not entry.error, entry.error
        definition = catalogue.get(entry.name)
        assert definition.dialect == card.name, f"{entry.path} has the dialect {definition.dialect}"
        assert Plan(definition.steps).leaves(), f"{entry.path} has no steps"


def _imported(path: str) -> Any:
    from holdfast.systems.seam import registry

    try:
        return registry.module(path)
    except KeyboardInterrupt:
        raise
    except BaseException as wrong:
        raise AssertionError(f"{path} cannot be imported: {type(wrong).__name__}: {wrong}") from wrong


def _value(card: System, part: str, attribute: str) -> Any:
    """What a module of the system has under this name."""
    path = f"{card.module}.{part}"
    found = getattr(_imported(path), attribute, None)
    assert found is not None, f"{path} has no {attribute}"
    return found
