"""What a session changes: its folder compared with the project. Editors write there too, so the folder decides."""

from __future__ import annotations

from _collections_abc import Iterable

from holdfast.core.value import Value
from holdfast.plain.digest import digest
from holdfast.systems.story.sessions.files import content, hash_of, walk
from holdfast.systems.story.sessions.layout import ARTIFACTS, DELETED, OWN, RETRIES, WORKSPACE, Layout
from holdfast.systems.story.sessions.record import Record

MODIFIED, CREATED, DELETED_HERE = "modified", "created", "deleted"
COPIED, ARTIFACT, RETRY = "copied", "artifact", "retry"
CHANGED, APPEARED, VANISHED, TWICE = "changed", "appeared", "vanished", "twice"


class Change(Value):
    """One file: from `source` in the session's folder to `target` in the project. A deletion has no source.

    `before` is the hash that the project's file has now, `after` the one it will have; empty where there is none.
    """

    kind: str
    source: str
    target: str
    before: str
    after: str
    conflict: str = ""
    size: int = 0

    @property
    def is_contested(self) -> bool:
        """Whether it is a copy whose file somebody changed in the project too: one of the two has to win."""
        is_copy = self.kind in (MODIFIED, CREATED, DELETED_HERE)
        return is_copy and self.conflict in (CHANGED, APPEARED, VANISHED)


class Changes(Value):
    """All that a commit would do with files, conflicts included."""

    all: tuple[Change, ...] = ()

    def targets(self, kind: str) -> list[str]:
        return [change.target for change in self.all if change.kind == kind]

    def conflicts(self) -> list[dict[str, str]]:
        return [{"path": change.target, "reason": change.conflict} for change in self.all if change.conflict]

    def named(self) -> dict[str, list[str]]:
        """As `session.json` has them."""
        return {kind: self.targets(kind) for kind in (MODIFIED, CREATED, DELETED_HERE)}

    def stats(self, retries: int) -> dict[str, int]:
        counts = {kind: len(paths) for kind, paths in self.named().items()}
        size = sum(change.size for change in self.all)
        return {**counts, "artifacts": len(self.targets(ARTIFACT)), "human_retries": retries, "size_bytes": size}


def find(layout: Layout, record: Record, archive: str = "") -> Changes:
    """Looks at every file of a session. `archive` is what its folder in the archives of the project is called."""
    listed = walk(layout.full(layout.folder))
    found = [_file(layout, record, path, kind) for path, kind in listed if path.partition("/")[0] not in OWN]
    present = {change.source for change in found}
    gone = [copy for copy in record.copies.values() if copy.type == DELETED_HERE and copy.path not in present]
    found += [_deletion(layout, copy.path, copy.base) for copy in gone]
    found += _kept(layout, archive or layout.name)
    return Changes(tuple(_once(found)))


def _file(layout: Layout, record: Record, path: str, kind: str) -> Change:
    change = _seen(layout, MODIFIED, path, path, kind)
    if change.conflict:
        return change
    # A file that an editor put there says nothing of what it was made from: the project's file as it is now.
    base = record.copies[path].base if path in record.copies else change.before
    if change.after in (change.before, base):
        return change.replace(kind=COPIED)
    return change.replace(kind=MODIFIED if base else CREATED, conflict=_conflict(base, change.before))


def _seen(layout: Layout, kind: str, source: str, target: str, type_: str) -> Change:
    """A file of the session, and the project's as it is now."""
    problem = type_ if type_ != "file" else layout.problem(target)
    if problem:
        return Change(kind, source, target, "", "", problem)
    data = content(layout.copy_of(source)) or b""
    return Change(kind, source, target, hash_of(layout.full(target)), digest(data), size=len(data))


def _conflict(base: str, now: str) -> str:
    if base == now:
        return ""
    if not base:
        return APPEARED
    return CHANGED if now else VANISHED


def _deletion(layout: Layout, path: str, base: str) -> Change:
    problem = layout.problem(path)
    if problem:
        return Change(DELETED_HERE, "", path, "", "", problem)
    now = hash_of(layout.full(path))
    if not now:
        return Change(COPIED, "", path, "", "")
    return Change(DELETED_HERE, "", path, now, "", _conflict(base, now))


def _kept(layout: Layout, archive: str) -> list[Change]:
    """Files of the session itself that outlive it: what runs produced, and what people put aside."""
    homes = {folder: (ARTIFACT, f"{WORKSPACE}/{folder}") for folder in ARTIFACTS}
    homes[RETRIES] = (RETRY, f"{WORKSPACE}/{RETRIES}/{archive}")
    homes[DELETED] = (RETRY, f"{WORKSPACE}/{DELETED}/{archive}")
    out = []
    for folder, (kind, home) in homes.items():
        for path, type_ in walk(layout.copy_of(folder)):
            change = _seen(layout, kind, f"{folder}/{path}", f"{home}/{path}", type_)
            out.append(change.replace(conflict=APPEARED) if change.before not in ("", change.after) else change)
    return out


def _once(changes: Iterable[Change]) -> list[Change]:
    """Two files of a session may not become the same file of the project."""
    taken: set[str] = set()
    out = []
    for change in changes:
        twice = change.target in taken and not change.conflict
        taken.add(change.target)
        out.append(change.replace(conflict=TWICE) if twice else change)
    return out
