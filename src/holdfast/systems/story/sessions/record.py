"""What is written down of a session: its `session.json`, and `session.lock`, which says which one is in use."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import remedies
from holdfast.core.names import is_name
from holdfast.core.value import Any, Value
from holdfast.documents.lens.text import Writer
from holdfast.errors import Broken
from holdfast.files.replace import durable_write
from holdfast.plain.plainjson import parse
from holdfast.systems.story.sessions.files import OWN, content, drop, put
from holdfast.systems.story.sessions.layout import LOCK, RECORD, Layout, is_session_name

ACTIVE, INACTIVE, CRASHED = "ACTIVE", "INACTIVE", "CRASHED"
LARGEST = 16 << 20


class Copy(Value):
    """A file of the session. `base` is the hash of the project's file when it was copied, empty for a new file."""

    path: str
    type: str
    copied_at: str
    size_bytes: int
    base: str


class Record(Value):
    """`session.json`, but for what is counted again each time it is written."""

    name: str
    description: str = ""
    created_at: str = ""
    created_by: str = ""
    copies: Mapping[str, Copy] = {}
    retries: tuple[Mapping[str, Any], ...] = ()
    other: Mapping[str, Any] = {}
    """Fields that others added; they are kept."""

    def with_copy(self, copy: Copy) -> Record:
        return self.replace(copies={**self.copies, copy.path: copy})

    def without(self, path: str) -> Record:
        return self.replace(copies={name: copy for name, copy in self.copies.items() if name != path})


class Lock(Value):
    """`session.lock`. A process that is gone frees nothing and breaks nothing: the next one takes over."""

    active: str = ""
    updated_at: str = ""
    pid: int = 0
    user: str = ""


def read(layout: Layout) -> Record:
    """A folder without a record is a session too: a workflow that names one makes its folder."""
    path = layout.copy_of(RECORD)
    data = content(path)
    if data is None:
        return Record(layout.name)
    try:
        said = parse(data) if len(data) <= LARGEST else None
        return _understood(layout.name, said)
    except (ValueError, KeyError, TypeError, AttributeError):
        message = f"{path} cannot be read, so nobody knows what the copies were made from"
        ways = ("fix it by hand", remedies.session("cancel", layout.name))
        raise Broken("session_broken", message, remedy=ways, facts={"path": path, "session": layout.name}) from None


_KNOWN = ("name", "description", "created_at", "created_by", "status", "cow_files", "changes", "human_retries", "stats")


def _understood(name: str, said: Any) -> Record:
    copies = {}
    for one in said.get("cow_files", []):
        path, base = str(one["path"]), str(one.get("base", ""))
        copies[path] = Copy(path, str(one["type"]), str(one["copied_at"]), int(one["size_bytes"]), base)
    return Record(
        name,
        str(said.get("description", "")),
        str(said.get("created_at", "")),
        str(said.get("created_by", "")),
        copies,
        tuple(dict(one) for one in said.get("human_retries", [])),
        {key: value for key, value in said.items() if key not in _KNOWN},
    )


def shown(record: Record, status: str, changes: Mapping[str, list[str]], stats: Mapping[str, int]) -> dict[str, Any]:
    """The document, as it is written and as `status` gives it."""
    return {
        "name": record.name,
        "description": record.description,
        "created_at": record.created_at,
        "created_by": record.created_by,
        "status": status,
        "cow_files": [dict(copy.items()) for copy in record.copies.values()],
        "changes": dict(changes),
        "human_retries": [dict(one) for one in record.retries],
        "stats": dict(stats),
        **record.other,
    }


def write(layout: Layout, document: Mapping[str, Any]) -> None:
    put(layout.staged, layout.copy_of(RECORD), Writer().write(document), OWN)


def read_lock(top: str) -> Lock:
    """Which session is in use. What cannot be read says that none is."""
    data = content(os.path.join(top, LOCK))
    try:
        said = parse(data) if data is not None and len(data) <= LARGEST else {}
        pid = said.get("pid")
        active = said.get("active")
    except (ValueError, AttributeError):
        return Lock()
    return Lock(
        str(active) if is_session_name(active) else "",
        str(said.get("updated_at", "")),
        pid if isinstance(pid, int) and not isinstance(pid, bool) and pid > 0 else 0,
        str(said.get("user", "")),
    )


def write_lock(top: str, lock: Lock) -> None:
    durable_write(os.path.join(top, LOCK), Writer().write(dict(lock.items())), OWN, alone=True)


def free_lock(top: str, name: str) -> None:
    """No session is in use any more, if it was this one."""
    if read_lock(top).active == name:
        drop(os.path.join(top, LOCK))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return pid > 0


def user_of(name: str) -> str:
    """Who works here: the actor's name, else that of the account."""
    if is_name(name):
        return name
    from pwd import getpwuid

    try:
        return getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())
