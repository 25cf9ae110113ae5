"""Documents in a worktree that belong to no workflow known here, and what can be read of them."""

from __future__ import annotations

import os
from _collections_abc import Iterable, Mapping

from holdfast.core import remedies
from holdfast.core.names import is_ulid
from holdfast.core.patterns import matches
from holdfast.core.remedy import Remedy, shell
from holdfast.core.state import State
from holdfast.core.value import Value
from holdfast.documents.files import LARGEST
from holdfast.documents.lens.spec import Dialect
from holdfast.engine.ports import Entry, entry_of
from holdfast.errors import Broken, HoldfastError, NotFound, UsageError
from holdfast.files.replace import read_file
from holdfast.plain.plainjson import compact, parse
from holdfast.systems.seam.registry import OWN, dialect, dialects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.project.project import Project

DEEPEST = 100
FINALIZED = "finalized"
INDEX = "index.json"
"""The list beside the documents, which is none of them."""


class Found(Value):
    """A document that somebody else wrote, or what is wrong with it. `path` is relative to the worktree."""

    path: str
    dialect: Dialect
    data: bytes = b""
    document: Mapping[str, Any] = {}
    wrong: HoldfastError | None = None

    @property
    def names(self) -> tuple[str, str]:
        """What it can be called by: the id in it, and the name of its file, or of the folder it has for itself."""
        own = os.path.dirname(self.path) if self.dialect.workspace else self.path.removesuffix(".json")
        return self.id, os.path.basename(own)

    @property
    def id(self) -> str:
        return self.dialect.id_of(self.document)


def branch_in(document: Mapping[str, Any]) -> object:
    workflow = document.get("workflow")
    return workflow.get("branch") if isinstance(workflow, Mapping) else None


def orphaned(project: Project, running: Iterable[State] | None = None, *, only: str = "") -> list[Found]:
    """Files are listed before the workflows are: one that is just being started is then seen with its workflow.

    `running` are the states of the active workflows, where they are known already; `only` is a dialect.
    """
    files = _files(project.wired.place.worktree, [dialect(only)] if only else dialects())
    if running is None:
        ids = {entry.id for entry in active(project)}
        known = _known(project, [path for path, _ in files])
    else:
        here = [state for state in running if state.worktree == project.wired.place.key()]
        ids = {state.id for state in here}
        known = {dialect(state.dialect).document.path(state) for state in here}
    found = [look(project, path, spoken) for path, spoken in files if path not in known]
    told = (one for one in found if one.wrong is None or one.dialect.workspace)
    journaled = {one.path for one in told if _has_journal(project, one, ids)}
    return [one for one in found if one.path not in journaled]


def _has_journal(project: Project, found: Found, running: set[str]) -> bool:
    """Whether a workflow wrote it: one that runs, or one that ended and whose document stays where it was."""
    spoken = found.dialect
    id = found.id or (found.names[1] if spoken.workspace else "")
    if id in running or not (spoken.by_subject or spoken.workspace):
        return id in running
    if spoken.workspace and _is_of_known_journal(project, found.names[1]):
        return True
    known = [entry for entry in project.wired.store.find(id) if entry.id == id]
    own = not spoken.workspace or found.document.get("status") == FINALIZED
    return any(own or entry.status != FINALIZED for entry in known)


def _is_of_known_journal(project: Project, slug: str) -> bool:
    """Whether the journal that git keeps beside a document is known here: an old commit shows it as it once was."""
    from holdfast.systems.gated import journal_copy

    data = journal_copy.kept(project.wired, slug)
    return data is not None and journal_copy.is_known(project.wired, slug, data)


def _files(worktree: str, among: list[Dialect]) -> list[tuple[str, Dialect]]:
    found = []
    for spoken in among:
        for pattern in spoken.patterns:
            folder, _, name = pattern.rpartition("/")
            for path in [f"{one}/{file}" for one in _folders(worktree, folder) for file in _listed(worktree, one)]:
                file = os.path.basename(path)
                fits = matches(name, file) and file != INDEX and not file.startswith(".")
                if fits and os.path.isfile(os.path.join(worktree, path)):
                    found.append((path, spoken))
            if spoken.workspace:
                wanted = [f"{one}/{name}" for one in _folders(worktree, folder)]
                found += [(path, spoken) for path in wanted if _is_lost(worktree, path, spoken)]
    return found


def _is_lost(worktree: str, path: str, spoken: Dialect) -> bool:
    """Whether a document is missing whose work left other files beside it."""
    if spoken.beside is None or os.path.lexists(os.path.join(worktree, path)):
        return False
    files = spoken.beside({"feature": os.path.basename(os.path.dirname(path))})
    return any(os.path.isfile(os.path.join(worktree, file)) for file in files)


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


def active(project: Project) -> list[Entry]:
    """The active workflows of this worktree, also those whose writer has not told the index yet."""
    store, place = project.wired.store, project.wired.place
    changing = {}
    for name in _marked(place.home):
        try:
            changing[name] = entry_of(store.load(name))
        except HoldfastError:
            continue
    found = {**{entry.ulid: entry for entry in store.entries()}, **changing}
    return [entry for entry in found.values() if entry.active and entry.worktree == place.key()]


def _marked(home: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(os.path.join(home, "unsettled")) if is_ulid(name))
    except FileNotFoundError:
        return []


def _known(project: Project, paths: list[str]) -> set[str]:
    """Which of these paths are documents of active workflows. Most are named after the id; others must be asked."""
    running = active(project)
    named = {name: e.ulid for e in running for name in (f"{e.id}.json", f"state-{e.id}.json")}
    known = {path for path in paths if os.path.basename(path) in named}
    if len(known) < len(paths):
        seen = {named[os.path.basename(path)] for path in known}
        for entry in running:
            if entry.ulid not in seen:
                try:
                    state = project.wired.store.load(entry.ulid)
                except HoldfastError as broken:  # it is in nobody's way here
                    project.troubles.append(broken.message)
                    continue
                known.add(dialect(state.dialect).document.path(state))
    return known


def dialect_of(path: str) -> Dialect:
    """The dialect whose folder a path lies in."""
    for name, owned in OWN.items():
        if any(path == folder or path.startswith(f"{folder}/") for folder in owned):
            return dialect(name)
    for spoken in dialects():
        if any(matches(pattern, path) for pattern in spoken.patterns):
            return spoken
    folders = [folder for owned in OWN.values() for folder in owned]
    raise UsageError(
        "no_dialect",
        f"{path} lies in no folder that a dialect keeps its documents in",
        remedy=f"put it below {folders[0]}",
        facts={"path": path, "folders": folders},
    )


def look(project: Project, path: str, spoken: Dialect) -> Found:
    worktree = project.wired.place.worktree
    if spoken.workspace and _is_lost(worktree, path, spoken):
        return Found(path, spoken, wrong=_broken(path, spoken, "is missing beside the files of its phases"))
    try:
        data = _bytes(os.path.join(worktree, path), path)
    except HoldfastError as refusal:
        return Found(path, spoken, wrong=refusal)
    document = parsed(data)
    if document is not None:
        return Found(path, spoken, data, document)
    return Found(path, spoken, data, wrong=_broken(path, spoken, "is not a JSON object"))


def parsed(data: bytes) -> Mapping[str, Any] | None:
    """The JSON object that these bytes are, if it can be kept: in UTF-8, and nested no deeper than is bearable."""
    try:
        document = parse(data)
        compact(document).encode()
        return document if isinstance(document, Mapping) and _depth(document) <= DEEPEST else None
    except (ValueError, RecursionError):
        return None


def recovering(path: str) -> Remedy:
    """The command that rebuilds a document from what else lies in its folder."""
    return remedies.recover(os.path.basename(os.path.dirname(path)))


def _broken(path: str, spoken: Dialect, what: str) -> Broken:
    remedy = recovering(path) if spoken.workspace else remedies.adopt()
    return Broken("document_broken", f"{path} {what}", remedy=remedy, facts={"path": path})


def _bytes(full: str, path: str) -> bytes:
    try:
        size = os.path.getsize(full)
        if size <= LARGEST:
            return read_file(full)
    except FileNotFoundError:
        raise NotFound("no_document", f"there is no file {path}", remedy=remedies.adopt()) from None
    except OSError as failure:
        raise UsageError(
            "unreadable", f"{path} cannot be read: {failure.strerror}", remedy=shell("ls", "-l", path)
        ) from None
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
