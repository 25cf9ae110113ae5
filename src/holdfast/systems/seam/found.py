"""Documents that were found in a worktree, and that no workflow known here wrote."""

from __future__ import annotations

import os
from _collections_abc import Iterable, Iterator, Mapping

from holdfast.core import remedies
from holdfast.core.patterns import matches
from holdfast.core.remedy import Remedy, shell
from holdfast.core.state import State
from holdfast.core.value import Any, Value
from holdfast.documents.files import LARGEST
from holdfast.documents.lens.spec import Dialect
from holdfast.engine.ports import Entry, entry_of
from holdfast.errors import Broken, HoldfastError, NotFound, UsageError
from holdfast.files.links import require_inside
from holdfast.files.replace import read_file
from holdfast.plain.plainjson import compact, parse
from holdfast.systems.seam.registry import dialect, own_paths, system, systems, upkeep
from holdfast.systems.seam.system import System
from holdfast.systems.seam.wired import Wired

DEEPEST = 100
INDEX = "index.json"
"""The list beside the documents, which is none of them."""


class Found(Value):
    """A document that somebody else wrote, or what is wrong with it. `path` is relative to the worktree."""

    path: str
    dialect: Dialect
    data: bytes = b""
    document: Mapping[str, Any] = {}
    overlooked: tuple[str, ...] = ()
    """What JSON does not allow, in a document whose meaning is beyond doubt all the same."""
    wrong: HoldfastError | None = None
    recovery: Remedy | None = None
    """The command that rebuilds it from what is beside it; empty where a broken one is set aside."""

    @property
    def names(self) -> tuple[str, ...]:
        """What it can be called by: the id in it, and what its path says."""
        return self.id, upkeep(self.dialect.name).name(self.path)

    @property
    def id(self) -> str:
        return self.dialect.id_of(self.document)

    @property
    def is_broken(self) -> bool:
        return self.wrong is not None and self.wrong.code == "document_broken"


def look(worktree: str, path: str, spoken: Dialect) -> Found:
    found = Found(path, spoken, recovery=upkeep(spoken.name).recover(worktree, path))
    if upkeep(spoken.name).lost(worktree, path):
        return found.replace(wrong=_broken(found, "is missing beside the files of its phases"))
    try:
        require_inside(worktree, path)
        data = _bytes(os.path.join(worktree, path), path)
    except HoldfastError as refusal:
        return found.replace(wrong=refusal)
    document = parsed(data)
    from holdfast.plain.lenient import object_in as lenient
    from holdfast.plain.lenient import with_all_keys

    if document is not None:
        whole, overlooked = with_all_keys(data, document) or (document, ())
        return found.replace(data=data, document=whole, overlooked=overlooked)
    if read := lenient(data):
        return found.replace(data=data, document=read[0], overlooked=read[1])
    from holdfast.plain.lenient import fault

    return found.replace(data=data, wrong=_broken(found, f"is not a JSON object ({fault(data)})"))


def parsed(data: bytes) -> Mapping[str, Any] | None:
    """The JSON object that these bytes are, if it can be kept: in UTF-8, and nested no deeper than is bearable."""
    try:
        document = parse(data)
        compact(document).encode()
        return document if isinstance(document, Mapping) and _depth(document) <= DEEPEST else None
    except (ValueError, RecursionError):
        return None


def _broken(found: Found, what: str) -> Broken:
    remedy = found.recovery or remedies.adopt()
    return Broken("document_broken", f"{found.path} {what}", remedy=remedy, facts={"path": found.path})


def _bytes(full: str, path: str) -> bytes:
    try:
        size = os.path.getsize(full)
        if size <= LARGEST:
            return read_file(full)
    except FileNotFoundError:
        raise NotFound("no_document", f"there is no file {path}", remedy=remedies.adopt()) from None
    except OSError as failure:
        said = f"{path} cannot be read: {failure.strerror}"
        raise UsageError("unreadable", said, remedy=shell("ls", "-l", path)) from None
    too_large = f"{path} has {size} bytes; a document has at most {LARGEST}"
    raise UsageError("too_large", too_large, remedy=shell("ls", "-l", path), facts={"path": path, "bytes": size})


def _depth(document: object) -> int:
    """How deep lists and objects are nested, up to one more than is bearable."""
    level, here = 0, [document]
    while here and level <= DEEPEST:
        inner = [list(v.values()) if isinstance(v, Mapping) else v for v in here if isinstance(v, (Mapping, list))]
        here = [item for items in inner for item in items]
        level += 1
    return level


def orphaned(wired: Wired, running: Iterable[State] | None = None, *, only: str = "") -> list[Found]:
    """Files are listed before the workflows are: one that is just being started is then seen with its workflow.

    `running` are the states of the active workflows, where they are known already; `only` is a dialect.
    """
    return unplaced(wired, running, only=only)[0]


def unplaced(
    wired: Wired, running: Iterable[State] | None = None, *, only: str = ""
) -> tuple[list[Found], list[Found]]:
    """The same, and those that are a second document of an active workflow."""
    worktree = wired.place.worktree
    files = [pair for card in ([system(only)] if only else systems()) for pair in _files(worktree, card)]
    if running is None:
        ids = {entry.id for entry in active(wired)}
        known = _known(wired, [path for path, _ in files])
    else:
        here = [state for state in running if state.worktree == wired.place.key()]
        ids = {state.id for state in here}
        known = {dialect(state.dialect).document.path(state) for state in here}
    found = [look(worktree, path, dialect(name)) for path, name in files if path not in known]
    orphans = [one for one in found if not (one.id in ids or upkeep(one.dialect.name).journaled(wired, one))]
    return orphans, [one for one in found if one.id in ids]


def _files(worktree: str, card: System) -> list[tuple[str, str]]:
    found = []
    for pattern in card.patterns:
        above, _, name = pattern.rpartition("/")
        for folder in _folders(worktree, above):
            for file in _listed(worktree, folder):
                fits = matches(name, file) and file != INDEX and not file.startswith(".")
                if fits and os.path.isfile(os.path.join(worktree, folder, file)):
                    found.append((f"{folder}/{file}", card.name))
            if upkeep(card.name).lost(worktree, f"{folder}/{name}"):
                found.append((f"{folder}/{name}", card.name))
    return found


def kept_by_agents(worktree: str) -> Iterator[Found]:
    """The documents that agents keep by themselves, known to a workflow or not, the one written last first."""
    files = [pair for card in systems() if card.adopt_at_once for pair in _files(worktree, card)]
    files.sort(key=lambda pair: os.stat(os.path.join(worktree, pair[0])).st_mtime, reverse=True)
    return (look(worktree, path, dialect(name)) for path, name in files)


def _folders(worktree: str, pattern: str) -> list[str]:
    """The folders a pattern stands for, in which one part may be `*`."""
    above, star, below = pattern.partition("/*")
    if not star:
        return [pattern]
    return [f"{above}/{name}{below}" for name in _listed(worktree, above) if not name.startswith(".")]


def _listed(worktree: str, folder: str) -> list[str]:
    try:
        return sorted(os.listdir(os.path.join(worktree, folder)))
    except (FileNotFoundError, NotADirectoryError):
        return []


def active(wired: Wired) -> list[Entry]:
    """The active workflows of this worktree, also those whose writer has not told the index yet."""
    changing = map(entry_of, loaded(wired, wired.store.announced(), quietly=True))
    found = {entry.ulid: entry for entry in (*wired.store.entries(), *changing)}
    return [entry for entry in found.values() if entry.active and entry.worktree == wired.place.key()]


def unreadable(wired: Wired, *, named: bool = False) -> list[tuple[str, HoldfastError]]:
    """The journals that cannot be read and that the index cannot name, by ULID, with what is wrong.

    With `named`, also those of active workflows, and those that are gone as a whole.
    """
    listed, found = [entry.ulid for entry in wired.store.active()], []
    more = (*listed, *gone(wired)) if named else ()
    for ulid in dict.fromkeys((*more, *wired.store.announced())):
        try:
            if named or ulid not in listed:
                wired.store.load(ulid)
        except NotFound:
            continue  # it never came to be
        except HoldfastError as wrong:
            found.append((ulid, wrong))
    return found


def gone(wired: Wired) -> list[str]:
    """The journals of which only a record is left that they were there."""
    return [ulid for ulid in wired.store.every() if not wired.store.has(ulid)]


def told_gone(wired: Wired) -> list[str]:
    """A sentence on the journals that are gone, where there are any."""
    lost = gone(wired)
    if not lost:
        return []
    first = os.path.relpath(wired.store.file_of(lost[0]), wired.place.root)
    others = f" and {len(lost) - 1} more" if lost[1:] else ""
    return [f"{'a journal is' if not others else f'{len(lost)} journals are'} gone: {first}{others}"]


def give_up_gone(wired: Wired) -> int:
    """A person decided to continue without them: how many there were."""
    ulids = gone(wired)
    for ulid in ulids:
        wired.store.repair(ulid, wired.store.examine(ulid))
    return len(ulids)


def refusal_of_adoption(wired: Wired, path: str, lost: Iterable[tuple[str, HoldfastError]]) -> Broken | None:
    """A journal that cannot be read may be that of a document: adopted again, its approvals and history were gone."""
    for ulid, wrong in lost:
        if wired.documents.may_be_of(ulid, path):
            said = f"{path} is not adopted, as its journal may be one that cannot be read: {wrong.message}"
            return Broken("journal_in_doubt", said, remedy=wrong.remedies, facts={"path": path, "ulid": ulid})
    return None


def loaded(wired: Wired, ulids: Iterable[str], *, quietly: bool = False) -> list[State]:
    """The states of these workflows, as far as their journals can be read. What is wrong with the others is noted."""
    found = []
    for ulid in ulids:
        try:
            found.append(wired.store.load(ulid))
        except HoldfastError as broken:  # it needs a person, and stops nobody here
            if not quietly:
                wired.troubles.append(broken.message)
    return found


def _known(wired: Wired, paths: list[str]) -> set[str]:
    """Which of these paths are documents of active workflows. Most are named after the id; others must be asked."""
    running = active(wired)
    patterns = [(os.path.basename(one), entry) for entry in running for one in system(entry.dialect).patterns]
    named = {name.replace("*", entry.id): entry for name, entry in patterns if "*" in name}
    usual = {path: named.get(os.path.basename(path)) for path in paths}
    known = {path for path, entry in usual.items() if entry and upkeep(entry.dialect).touched(entry) in ("", path)}
    if len(known) < len(paths):
        seen = {entry.ulid for path in known if (entry := usual[path])}
        rest = loaded(wired, [entry.ulid for entry in running if entry.ulid not in seen])
        known |= {dialect(state.dialect).document.path(state) for state in rest}
    return known


def dialect_of(path: str) -> Dialect:
    """The dialect whose folder a path is in."""
    for card in systems():
        if any(path == folder or path.startswith(f"{folder}/") for folder in card.own):
            return dialect(card.name)
    for card in systems():
        if any(matches(pattern, path) for pattern in card.patterns):
            return dialect(card.name)
    folders = list(own_paths())
    said = f"{path} is in no folder that a dialect keeps its documents in"
    raise UsageError("no_dialect", said, remedy=f"put it below {folders[0]}", facts={"path": path, "folders": folders})
