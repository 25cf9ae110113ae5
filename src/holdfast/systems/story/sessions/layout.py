"""Where a session keeps its things, and which files of the project it may hold a copy of."""

from __future__ import annotations

import os
from stat import S_ISLNK, S_ISREG

from holdfast.core import remedies
from holdfast.core.value import Value
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.files import links
from holdfast.files.replace import remove
from holdfast.machine.place import HOME, Place

WORKSPACE = "workspace"
SESSIONS = f"{WORKSPACE}/sessions"
LOCK = f"{WORKSPACE}/session.lock"
STATES = "workflow-state"
RECORD = "session.json"
ARTIFACTS = ("generation-runs", "planning-runs", "logs")
"""Folders of a session whose files go to the folder of the same name in the workspace."""
DELETED, RETRIES = "deleted-archive", "retries-archive"
OWN = frozenset((RECORD, STATES, *ARTIFACTS, DELETED, RETRIES))
"""First parts of paths in a session's folder that are no copies of project files."""
LONGEST_PATH = 1000

_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_LONGEST_NAME = 64
_NEVER = frozenset((HOME, ".git"))
_KEPT_OUT = (f"{SESSIONS}/", f"{WORKSPACE}/{STATES}/", f"{LOCK}/")


def is_session_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME and _NAME.issuperset(name)


def checked_name(name: str) -> str:
    if not is_session_name(name):
        said = f"{name[:80]!r} cannot be the name of a session"
        way = f"use 1 to {_LONGEST_NAME} of the characters A-Z a-z 0-9 _ -"
        raise UsageError("bad_name", said, remedy=way, facts={"value": name[:200], "what": "session"})
    return name


class Layout(Value):
    """The folders of one session, named from the top of the worktree its documents are in."""

    place: Place
    name: str
    worktree: str = ""

    @property
    def top(self) -> str:
        return self.place.base(self.worktree)

    @property
    def folder(self) -> str:
        return f"{SESSIONS}/{self.name}"

    def copy_of(self, path: str) -> str:
        """Where the session's copy of a project file lies."""
        return self.full(f"{self.folder}/{path}")

    def full(self, path: str) -> str:
        return os.path.join(self.top, path)

    @property
    def staged(self) -> str:
        """Where a file is written before it becomes part of the session. The name can be no session's."""
        return self.full(f"{SESSIONS}/.staged/{self.name}")

    def has_staged(self) -> bool:
        return any(map(os.path.exists, self._staged_files()))

    def clear_staged(self) -> None:
        for path in self._staged_files():
            remove(path)
        try:
            os.rmdir(os.path.dirname(self.staged))
        except OSError:
            pass  # not there, or another session's file is in it

    def _staged_files(self) -> tuple[str, str]:
        folder, name = os.path.split(self.staged)
        return self.staged, os.path.join(folder, f".{name}.tmp")

    def exists(self) -> bool:
        return os.path.isdir(self.full(self.folder))

    def require(self) -> None:
        """Refuses a session that is not there, and one whose folder is a link to somewhere else."""
        if not self.exists():
            said = f"there is no session {self.name!r}"
            raise NotFound("no_session", said, remedy=remedies.session("list"), facts={"session": self.name})
        self.require_solid("")

    def require_solid(self, path: str) -> None:
        """No part of a path inside the session may be a link: what is written there would land elsewhere."""
        at = self.top
        for part in f"{self.folder}/{path}".rstrip("/").split("/"):
            at = os.path.join(at, part)
            try:
                found = os.lstat(at).st_mode
            except (FileNotFoundError, NotADirectoryError):
                return
            if S_ISLNK(found):
                said = f"{at} is a symbolic link"
                raise UsageError("symlink", said, remedy=links.remedy(at), facts={"path": at, "session": self.name})

    def inside(self, file: str) -> str:
        """A file of the project as a session names it: from the top, without links, and one it may change."""
        try:
            size = len(file.encode())
        except UnicodeEncodeError:
            size = 0
        if not 0 < size <= LONGEST_PATH or "\0" in file:
            raise refused_path(file, "is no path a session can hold")
        path = self.place.replace(worktree=self.top).inside(os.path.join(self.top, file))
        parts = path.split("/")
        if parts[0] in OWN:
            raise refused_path(path, f"would be where a session keeps its own {parts[0]}")
        if any(part.casefold() in _NEVER for part in parts) or f"{path}/".startswith(_KEPT_OUT):
            raise refused_path(path, "belongs to Holdfast or git and is never copied into a session")
        try:
            found = os.lstat(self.full(path)).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return path
        if not S_ISREG(found):
            raise refused_path(path, "is not a regular file")
        return path

    def problem(self, path: str) -> str:
        """Why a file that is in the session's folder cannot be committed; empty when it can."""
        try:
            return "" if self.inside(path) == path else "leads_elsewhere"
        except HoldfastError as refusal:
            return refusal.code


def refused_path(path: str, why: str) -> UsageError:
    shown = path[:200].encode("utf-8", "backslashreplace").decode()
    return UsageError("path_refused", f"{shown!r} {why}", remedy="name a file of the project", facts={"path": shown})
