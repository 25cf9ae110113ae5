"""Systems of other packages: found by their entry point, where the project enables them and a person trusted that.

A package offers one as `[project.entry-points."holdfast.systems"]` with `acme = "acme_holdfast:SYSTEM"`; a project
enables it in `.holdfast/config.toml` with `[systems]` and `enable = ["acme"]`. Its code runs with the user's rights,
so what a person trusts is the file together with the package as it was then.
"""

from __future__ import annotations

import os
from _collections_abc import Callable, Iterator

from holdfast.core import remedies
from holdfast.core.names import is_name, unknown_key
from holdfast.core.remedy import advice
from holdfast.core.value import Any, Value
from holdfast.errors import HoldfastError, NotFound, Refused
from holdfast.machine import configuration
from holdfast.machine.configuration import CONFIG
from holdfast.machine.place import read_regular
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import parse
from holdfast.systems.seam import registry
from holdfast.systems.seam.system import API, System

GROUP = "holdfast.systems"
_LARGEST = 1 << 16


class Offer(Value):
    """What an installed package offers as a system. Nothing of it is imported to know this."""

    name: str
    place: str
    """The entry point: module and attribute."""
    package: str
    version: str
    folder: str
    """Where its code is: the folder of its package, or the file of its module."""
    record: str = ""
    """The list of installed files, which an installation writes again."""
    changed: int = 0

    def seal(self, config: str) -> str:
        """What a person trusts: the settings with this digest, together with all code that is there now."""
        said = [config, self.name, self.place, self.package, self.version]
        files = [self.record, *_files(self.folder)] if self.record else _files(self.folder)
        return digest("\n".join([*said, *(f"{file} {_digest(file)}" for file in files)]).encode())


class Enabled:
    """The systems that a project enables, as its settings and the user's trust say at each use."""

    def __init__(self, root: str, is_trusted: Callable[[str, str], bool], data_dir: str, *trusting: str) -> None:
        """`trusting` are the files by which trust is given and taken back."""
        self._path = os.path.join(root, CONFIG)
        self._root = root
        self._is_trusted = is_trusted
        self._data_dir = data_dir
        self._watched = (self._path, *trusting)
        self._seen: list[Any] | None = None
        self._systems: dict[str, System | HoldfastError] = {}

    def use(self) -> None:
        """Makes them the systems of this thread. One that cannot be had hinders only its own workflows."""
        stamps = [_stamp(path) for path in self._watched]
        if stamps != self._seen:
            self._systems = {name: self._card(name) for name in named(self._root)}
            self._seen = stamps
        registry.use(self._systems)

    def _card(self, name: str) -> System | HoldfastError:
        content = read_regular(self._path, configuration.LARGEST) or b""
        try:
            offer = _known(name, self._data_dir) or offered(name, self._data_dir)
            if offer is None:
                raise _absent(name)
            if not self._is_trusted(offer.seal(digest(content)), self._path):
                said = f"{CONFIG} enables the system {name} of {offer.package} {offer.version}"
                said += ", and nobody has trusted that here"
                raise Refused("untrusted", said, remedy=remedies.trust(CONFIG), facts={"system": name})
            return _imported(offer)
        except HoldfastError as refusal:
            return refusal


def named(root: str) -> list[str]:
    """The systems of other packages that the settings of a project enable."""
    content = read_regular(os.path.join(root, CONFIG), configuration.LARGEST) or b""
    parsed = configuration.parse(root) if b"systems" in content else None
    if parsed is None:
        return []
    table = parsed.data.get("systems", {})
    if not isinstance(table, dict):
        parsed.report([(("systems",), 'systems is a table such as [systems] with enable = ["acme"]')])
    names = table.get("enable", [])
    wrong: list[configuration.Mistake] = [
        (("systems", key), unknown_key(key, ("enable",))) for key in table if key != "enable"
    ]
    if not isinstance(names, list):
        wrong.append((("systems", "enable"), 'enable is a list of names such as ["acme"]'))
    else:
        bad = [(index, name) for index, name in enumerate(names) if not isinstance(name, str) or not is_name(name)]
        wrong += [
            (("systems", "enable", index), f"{str(name)[:60]!r} is not the name of a system") for index, name in bad
        ]
    parsed.report(wrong)
    return [name for name in dict.fromkeys(names) if name not in registry.NAMES]


def _absent(name: str) -> NotFound:
    said = f"no installed package offers the system {name}, which {CONFIG} enables"
    way = advice(f"install the package that offers it, or take {name} out of {CONFIG}")
    return NotFound("no_system", said, remedy=way, facts={"system": name})


def _imported(offer: Offer) -> System:
    from holdfast.systems.seam.parts import PARTS

    path, _, attribute = offer.place.partition(":")
    try:
        card = getattr(registry.module(path), attribute)
    except KeyboardInterrupt:
        raise
    except BaseException as wrong:
        if isinstance(wrong, ModuleNotFoundError) and wrong.name == path.partition(".")[0]:
            raise _absent(offer.name) from None  # what was found before is not on the path of this interpreter
        fault = f"{offer.place} cannot be imported: {type(wrong).__name__}: {wrong}"
        raise registry.bad_system(offer.name, offer.package, fault) from wrong
    fault = ""
    if not isinstance(card, System) or card.name != offer.name:
        fault = f"{offer.place} is not the system {offer.name}"
    elif card.api != API:
        fault = f"{offer.place} speaks version {card.api} of the seam, and this Holdfast {API}"
    elif unknown := [part for part in card.parts if part not in PARTS]:
        fault = f"{offer.place} has the part {unknown[0]!r}, and there are: {', '.join(PARTS)}"
    if fault:
        raise registry.bad_system(offer.name, offer.package, fault)
    found: System = card
    return found


def offered(name: str, data_dir: str = "") -> Offer | None:
    """What the installed packages offer. To look takes a while, so the answer is kept below `data_dir`."""
    import json
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    from holdfast.files.replace import durable_write

    for found in entry_points(group=GROUP, name=name):
        spec = find_spec(found.value.partition(":")[0].partition(".")[0])
        within = list(spec.submodule_search_locations or ()) if spec else []
        folder = within[0] if within else str(spec.origin) if spec else ""
        files = (found.dist.files if found.dist else None) or ()
        record = next((str(file.locate()) for file in files if file.name == "RECORD"), "")
        changed = os.stat(record).st_mtime_ns if record else 0
        package, version = (found.dist.name, found.dist.version) if found.dist else (found.value, "")
        offer = Offer(name, found.value, package, version, folder, record, changed)
        if record and data_dir:
            said = json.dumps(dict(offer.items())).encode()
            durable_write(_file(name, data_dir), said, 0o600, dir_mode=0o700)
        return offer
    return None


def _known(name: str, data_dir: str) -> Offer | None:
    """What was found before, if its package has not been installed again or taken away since."""
    data = read_regular(_file(name, data_dir), _LARGEST)
    try:
        offer = Offer(**parse(data)) if data else None
        return offer if offer and os.stat(offer.record).st_mtime_ns == offer.changed else None
    except (ValueError, TypeError, OSError):
        return None


def _file(name: str, data_dir: str) -> str:
    return os.path.join(data_dir, "holdfast", "systems", f"{name}.json")


def _files(folder: str) -> Iterator[str]:
    """The files of a package, without what Python makes of them."""
    if not os.path.isdir(folder):
        yield folder
        return
    for above, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        yield from (os.path.join(above, file) for file in sorted(files))


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return digest(file.read())
    except OSError:
        return ""


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
