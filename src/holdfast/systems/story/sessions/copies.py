"""The files of a session: copied when they are first written, read through to the project until then."""

from __future__ import annotations

import os
from _collections_abc import Iterator
from contextlib import contextmanager

from holdfast.core import remedies
from holdfast.core.names import checked_text
from holdfast.core.value import Any
from holdfast.errors import NotFound, Refused
from holdfast.files.replace import make_directories
from holdfast.plain.digest import digest
from holdfast.systems.story.sessions import record
from holdfast.systems.story.sessions.changes import CREATED, DELETED_HERE, MODIFIED
from holdfast.systems.story.sessions.desk import Desk
from holdfast.systems.story.sessions.files import MODE, content, drop, hash_of, mode_of, put
from holdfast.systems.story.sessions.layout import RETRIES, Layout
from holdfast.systems.story.sessions.record import Copy, Record


class Copies(Desk):
    """Files are named from the top of the worktree, or by their full path.

    What a copy was made from is written down before the copy is there: one without a known origin could hide a
    conflict, while a note without a copy changes nothing.
    """

    def path(self, name: str, file: str) -> str:
        """The full path to edit. The project's file is copied the first time; for a new one there is a folder."""
        with self._opened(name, file) as (layout, path, copy, found):
            if os.path.lexists(copy):
                return copy
            if self._is_deleted(layout, path):
                said = f"the session {name} deleted {path}"
                way = remedies.session_file("write", path, name, text="bring it back with new content")
                raise Refused("deleted_here", said, remedy=way, facts={"path": path, "session": name})
            data = content(layout.full(path))
            self._touch(layout)
            found = self._save(layout, found.with_copy(self._copied(path, data)))
            if data is None:
                make_directories(os.path.dirname(copy), 0o777)
            else:
                put(layout.staged, copy, data, mode_of(layout.full(path)))
            self._save(layout, found)
            return copy

    def write(self, name: str, file: str, data: bytes) -> str:
        """Makes the session's copy hold `data`; the project's file stays as it is. Gives the path from the top."""
        with self._opened(name, file) as (layout, path, copy, found):
            self._touch(layout)
            known = found.copies.get(path)
            is_there = os.path.lexists(copy)
            if known is None or (not is_there and known.type != DELETED_HERE):
                known = self._copied(path, content(layout.full(path)))
                found = self._save(layout, found.with_copy(known))
            put(layout.staged, copy, data, mode_of(copy, mode_of(layout.full(path))))
            kind = MODIFIED if known.base else CREATED
            self._save(layout, found.with_copy(known.replace(type=kind, size_bytes=len(data))))
            return path

    def read(self, name: str, file: str) -> bytes:
        """The session's copy, else the project's file. One that the session deleted is not found."""
        layout = self._found(name)
        path, copy = self._copy_path(layout, file)
        data = content(copy)
        if data is None and not self._is_deleted(layout, path):
            data = content(layout.full(path))
        if data is None:
            raise _no_file(layout, path)
        return data

    def delete(self, name: str, file: str) -> str:
        """The file is gone in the session, and in the project once it is committed. Gives the path from the top."""
        with self._opened(name, file) as (layout, path, copy, found):
            known, now = found.copies.get(path), hash_of(layout.full(path))
            if not os.path.lexists(copy) and (not now or (known and known.type == DELETED_HERE)):
                raise _no_file(layout, path)
            self._touch(layout)
            base = known.base if known else now
            if base:
                gone = Copy(path, DELETED_HERE, self._now(), 0, base)
                found = self._save(layout, found.with_copy(gone))
            drop(copy)
            self._save(layout, found if base else found.without(path))
            return path

    def keep(self, name: str, file: str) -> str:
        """Settles a conflict: what the session has of a file, or its deletion, holds against the project's as it is."""
        with self._opened(name, file) as (layout, path, copy, found):
            known = found.copies.get(path)
            if not os.path.lexists(copy) and (known is None or known.type != DELETED_HERE):
                raise _no_file(layout, path)
            self._touch(layout)
            now = hash_of(layout.full(path))
            known = known or self._copied(path, content(copy))
            kind = known.type if known.type == DELETED_HERE else MODIFIED if now else CREATED
            self._save(layout, found.with_copy(known.replace(base=now, type=kind)))
            return path

    def drop(self, name: str, file: str) -> tuple[str, str]:
        """Settles a conflict: the session has the project's file again. Gives the path from the top, and where the copy
        is kept; nothing where the session had only deleted the file.
        """
        with self._opened(name, file) as (layout, path, copy, found):
            data = content(copy)
            if data is None and path not in found.copies:
                raise _no_file(layout, path)
            self._touch(layout)
            reason = f"dropped from the session {name}"
            kept = "" if data is None else self._wired.documents.quarantine(path, data, reason)
            drop(copy)
            self._save(layout, found.without(path))
            return path, kept

    def retry(self, name: str, file: str, reason: str) -> dict[str, Any]:
        """Notes that a person tries a file again, and keeps what the session has of it now."""
        checked_text(reason, "reason")
        reason = self._wired.engine.redacted(reason)
        data = self.read(name, file)
        with self._opened(name, file) as (layout, path, _, found):
            self._touch(layout)
            kept = f"{RETRIES}/{len(found.retries) + 1}/{path}"
            put(layout.staged, layout.copy_of(kept), data, MODE)
            note = {"file": path, "reason": reason, "at": self._now(), "kept": kept}
            self._save(layout, found.replace(retries=(*found.retries, note)))
        return note

    @contextmanager
    def _opened(self, name: str, file: str) -> Iterator[tuple[Layout, str, str, Record]]:
        """The session, the file's path from the top and that of its copy, and the record, with the lock held."""
        layout = self._found(name)
        with self._changing():
            layout.require()
            yield layout, *self._copy_path(layout, file), record.read(layout)

    def _copy_path(self, layout: Layout, file: str) -> tuple[str, str]:
        path = layout.inside(file)
        layout.require_solid(path)
        return path, layout.copy_of(path)

    def _copied(self, path: str, data: bytes | None) -> Copy:
        if data is None:
            return Copy(path, CREATED, self._now(), 0, "")
        return Copy(path, MODIFIED, self._now(), len(data), digest(data))

    def _is_deleted(self, layout: Layout, path: str) -> bool:
        known = record.read(layout).copies.get(path)
        return known is not None and known.type == DELETED_HERE


def _no_file(layout: Layout, path: str) -> NotFound:
    said = f"there is no file {path} in the session {layout.name}"
    facts = {"session": layout.name, "path": path}
    return NotFound("no_file", said, remedy=remedies.session("status", layout.name), facts=facts)
