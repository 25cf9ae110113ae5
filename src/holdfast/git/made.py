"""Commits that are wanted, or made and not yet recorded: a note for each in the git folder says which step it is for.

The note of a commit that is made is there before the one of the commit under way goes, and goes when the journal has
the commit. A command that is ended in between leaves it, and the same command takes the commit up instead of making
another. The note of one that is only wanted has what is to be undone or done where it is not made.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.core.value import Any, Value
from holdfast.errors import HoldfastError
from holdfast.files.replace import remove
from holdfast.git.changes import contains
from holdfast.plain.digest import digest

_LIMIT = 1 << 20
_TRIES = 50


class Purpose(Value):
    """What a commit is for."""

    ulid: str
    workflow: str
    step: str
    request: str
    """What tells a repetition from a new request of the same step: the attempt, or the words of the commit. Empty for
    a commit that nobody records."""


def purpose_of(known: Any) -> Purpose | None:
    """The purpose that a note has; None when it has none."""
    is_whole = isinstance(known, Mapping) and all(isinstance(known.get(name), str) for name in Purpose._fields)
    return Purpose(**{name: known[name] for name in Purpose._fields}) if is_whole else None


def keep(repo: git.Repository, purpose: Purpose, sha: str, pid: int, wanted: Sequence[str] = ()) -> None:
    """Note that a commit is made for a step, or only `wanted`, by a process that has still to record it."""
    import json

    from holdfast.files.replace import durable_write

    said = {**dict(purpose.items()), "commit": sha, "pid": pid, "wanted": list(wanted)}
    for left in reversed(range(_TRIES)):
        try:
            place = _place(repo, purpose.ulid, purpose.step)
            return durable_write(place, json.dumps(said).encode(), dir_mode=0o700, alone=True)
        except HoldfastError as failure:  # who forgets the last note removes the folder
            if not left or not isinstance(failure.__cause__, FileNotFoundError | FileExistsError):
                raise


def found(repo: git.Repository, purpose: Purpose) -> str:
    """The commit that was made for this and is part of HEAD; empty when there is none."""
    known = _read(_place(repo, purpose.ulid, purpose.step))
    return left(repo, purpose.ulid, purpose.step) if purpose_of(known) == purpose else ""


def left(repo: git.Repository, ulid: str, step: str) -> str:
    """The commit that was made for a step, at whatever request, and is part of HEAD; empty when there is none."""
    sha = str(_read(_place(repo, ulid, step)).get("commit") or "")
    return sha if contains(repo, sha) else ""


def forget(repo: git.Repository, ulid: str, step: str) -> None:
    """The commit of a step is recorded."""
    place = _place(repo, ulid, step)
    if os.path.lexists(place):
        remove(place)
        try:
            os.rmdir(os.path.dirname(place))
        except OSError:
            pass  # others are noted there


def wanted(repo: git.Repository, ulid: str, step: str) -> list[str]:
    """What is noted for the case that the commit of a step is not made; empty where it was made."""
    known = _read(_place(repo, ulid, step))
    words = known.get("wanted")
    return [] if known.get("commit") or not isinstance(words, list) else [str(word) for word in words]


def abandoned(repo: git.Repository) -> list[tuple[Purpose, str]]:
    """What commands have left that are over: what each commit is for, and the commit where it was made."""
    known = (_read(entry.path) for entry in git.entries(os.path.join(repo.git_dir, git.MADE)))
    over = ((purpose_of(one), str(one.get("commit") or "")) for one in known if not _is_running(one.get("pid")))
    return [(purpose, sha) for purpose, sha in over if purpose]


def _is_running(pid: Any) -> bool:
    """Whether the process is there that has still to record a commit; the note of any other is left over."""
    try:
        os.kill(int(pid), 0)
    except PermissionError:
        return True
    except (OSError, OverflowError, TypeError, ValueError):
        return False
    return int(pid) > 0  # 0 is noted where nobody is at it any more


def _place(repo: git.Repository, ulid: str, step: str) -> str:
    return os.path.join(repo.git_dir, git.MADE, digest(f"{ulid} {step}".encode())[:32])


def _read(path: str) -> dict[str, Any]:
    import json

    try:
        with open(path, "rb") as file:
            known = json.loads(file.read(_LIMIT))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
