"""Systems of other packages: found by their entry point, where the project enables them and a person trusted that.

A package offers one as `[project.entry-points."holdfast.systems"]` with `acme = "acme_holdfast:SYSTEM"`; a project
enables it in `.holdfast/config.toml` with `[systems]` and `enable = ["acme"]`. Its code runs with the user's rights.
"""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.names import is_name
from holdfast.core.remedy import shell
from holdfast.errors import HoldfastError, NotFound, Refused, UsageError
from holdfast.machine import configuration
from holdfast.machine.configuration import CONFIG
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import parse
from holdfast.systems.seam import registry
from holdfast.systems.seam.system import API, System

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable

GROUP = "holdfast.systems"
_LARGEST = 1 << 16


def enable(root: str, is_trusted: Callable[[str, str], bool], data_dir: str) -> None:
    """Registers what the project enables. A system that cannot be had hinders only its own workflows."""
    path = os.path.join(root, CONFIG)
    content = read_regular(path, configuration.LARGEST) or b""
    for name in _named(root) if b"systems" in content else ():
        if name in registry.NAMES:
            continue
        try:
            if not is_trusted(digest(content), path):
                said = f"{CONFIG} enables the system {name}, and nobody has trusted that file here"
                raise Refused("untrusted", said, remedy=remedies.trust(CONFIG), facts={"system": name})
            registry.register(name, _card(name, data_dir))
        except HoldfastError as refusal:
            registry.register(name, refusal)


def _named(root: str) -> list[str]:
    parsed = configuration.parse(root)
    table = parsed.data.get("systems", {}) if parsed else {}
    names = table.get("enable", []) if isinstance(table, dict) else None
    if parsed and (not isinstance(names, list) or not all(is_name(name) for name in names)):
        parsed.report([(("systems",), 'systems is a table such as [systems] with enable = ["acme"]')])
    return list(names or [])


def _card(name: str, data_dir: str) -> System:
    place = _known(name, data_dir) or _looked_up(name, data_dir)
    path, _, attribute = place.partition(":")
    try:
        card = getattr(registry.module(path), attribute) if attribute else None
    except ModuleNotFoundError:
        card = None
    except Exception as wrong:
        raise _bad(f"{place} cannot be imported: {type(wrong).__name__}: {wrong}") from wrong
    if card is None:
        raise NotFound(
            "no_system",
            f"no installed package offers the system {name}, which {CONFIG} enables",
            remedy=(shell("pip", "install", f"holdfast-{name}"), f"take {name} out of {CONFIG}"),
            facts={"system": name},
        )
    if not isinstance(card, System) or card.name != name:
        raise _bad(f"{place} is not the system {name}")
    if card.api != API:
        raise _bad(f"{place} speaks version {card.api} of the seam, and this Holdfast {API}")
    return card


def _bad(wrong: str) -> UsageError:
    return UsageError("bad_system", wrong, remedy=shell("pip", "install", "--upgrade", "holdfast"))


def _looked_up(name: str, data_dir: str) -> str:
    """Where the system is, from the installed packages. It takes a while, so the answer is kept."""
    import json
    from importlib.metadata import entry_points

    from holdfast.files.replace import durable_write

    for found in entry_points(group=GROUP, name=name):
        record = next(
            (
                str(file.locate())
                for file in ((found.dist.files if found.dist else None) or ())
                if file.name == "RECORD"
            ),
            "",
        )
        if record:
            said = {"place": found.value, "record": record, "changed": os.stat(record).st_mtime_ns}
            durable_write(_file(name, data_dir), json.dumps(said).encode(), 0o600, dir_mode=0o700)
        return found.value
    return ""


def _known(name: str, data_dir: str) -> str:
    """Where it was found before, if its package has not been installed anew or taken away since."""
    data = read_regular(_file(name, data_dir), _LARGEST)
    try:
        said = parse(data) if data else {}
        return str(said["place"]) if os.stat(said["record"]).st_mtime_ns == said["changed"] else ""
    except (ValueError, KeyError, TypeError, OSError):
        return ""


def _file(name: str, data_dir: str) -> str:
    return os.path.join(data_dir, "holdfast", "systems", f"{name}.json")
