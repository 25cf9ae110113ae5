"""Commits of some paths that no kill and no signal can tear: HEAD and the user's index change together.

A note in the git folder says that a commit is begun, and `index.lock` keeps every other git away from the index, from
before HEAD moves until the new index is in its place. Whatever ends a process in between, the next command finds the
note: where HEAD has moved the index follows, and otherwise the lock is removed.
"""

from __future__ import annotations

import errno
import os
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.core.remedy import shell
from holdfast.core.secrets import DEFAULT, Secrets
from holdfast.core.value import Any
from holdfast.errors import Conflict, HoldfastError, Refused, UsageError
from holdfast.files.locks import Locked
from holdfast.files.replace import NOREPLACE, remove, rename
from holdfast.git.additions import require_no_secrets
from holdfast.git.changes import parents, refusal, require_idle, tree_of
from holdfast.git.changes import status as _status
from holdfast.git.command import git as run
from holdfast.git.command import run_hook
from holdfast.git.private import copy_index, missing
from holdfast.git.signals import HeldBack

WAIT_SECONDS = 60
"""How long a commit waits for another one of Holdfast's."""
_INDEX, _HOOKS = "holdfast-index", "holdfast-hooks"
_LOCK = "index.lock"
_NOTE_LIMIT = 1000
_LOCK_ATTEMPTS = 20
_LOCK_WAIT_SECONDS = 0.1
_NOTHING = (b"000000", b"")
# Housekeeping in the background would take the index of the commit for the user's, and what they staged for garbage.
_COMMITTING = ("core.splitIndex=false", "i18n.commitEncoding=UTF-8", "gc.auto=0", "maintenance.auto=false")
_AFTERWARDS = "post-commit"


def commit(repo: git.Repository, paths: Sequence[str], message: str, secrets: Secrets = DEFAULT) -> str:
    """Commit exactly these paths, relative to the top, as they are in the working tree: the full hash.

    What would add a likely secret is refused.
    What else is staged stays so and is not in the commit. Git commits from an index made of HEAD and these paths, so
    that a refusal leaves the user's own untouched; a hook that stages more adds it to the commit. One at a time: two
    that began at the same HEAD would take each other's work back.
    """
    with Locked(repo.git_dir, WAIT_SECONDS) as held:  # git itself does not use this lock
        _settled(repo, held)
        hooks = _hooks_folder(repo)
        made = _committed(repo, paths, message, hooks, held, secrets)
    afterwards = _hook(hooks, _AFTERWARDS)
    if afterwards:
        run_hook(repo.top, afterwards, {"GIT_INDEX_FILE": os.path.join(repo.git_dir, "index")})
    return made


def settle(repo: git.Repository) -> str:
    """Finish or take back the commit of a process that is gone: what was done, in a sentence."""
    if not git.is_unsettled(repo):
        return ""
    try:
        with Locked(repo.git_dir, 0) as held:
            if not git.is_unsettled(repo):
                return ""
            with HeldBack():
                made = _settled(repo, held)
    except Conflict:
        return ""  # the process that commits is at work
    except (HoldfastError, OSError) as failure:
        return f"a commit was interrupted, and the index cannot follow it yet: {failure}"
    if made:
        return f"the commit {made[:12]} was interrupted: the index has it now"
    return "a commit was interrupted before it was made: nothing of it is left, so commit again"


def committing(repo: git.Repository) -> int:
    """The process that began the commit which is under way; 0 when nobody knows."""
    return int(_noted(repo).get("pid", 0))


def _committed(
    repo: git.Repository, paths: Sequence[str], message: str, hooks: str, held: int, secrets: Secrets
) -> str:
    import tempfile

    require_idle(repo, index=False)
    asked, before = _checked(repo, paths), git.head(repo)
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        view = {"GIT_INDEX_FILE": os.path.join(scratch, "index"), "GIT_EDITOR": "true"}
        copy_index(repo, view["GIT_INDEX_FILE"])
        try:
            _fill(repo, view, before, asked)
        except HoldfastError as error:
            raise refusal(error, "commit_failed", "git did not take the files", _status(repo)) from None
        if os.fsdecode(run(repo.top, "write-tree", env=view)[1]).strip() == tree_of(repo, before):
            raise Refused("nothing_to_commit", "nothing there differs from HEAD", remedy=_status(repo))
        require_no_secrets(repo, view, before, message, secrets)
        with HeldBack() as signals:
            failure, made = None, None
            try:
                _begin(repo, before)
                settings = (*_COMMITTING, *_without_afterwards(repo, hooks))
                words = ("commit", "-q", "--cleanup=whitespace", "-F", "-")
                with signals.let_through():
                    run(repo.top, *words, env=view, hooks=True, settings=settings, keep=(held,),
                        stdin=message.encode("utf-8", "surrogateescape"))  # fmt: skip
            except HoldfastError as error:
                failure = error
            finally:
                made = _settled(repo, held)
    if made is None:
        said = failure or HoldfastError("git_failed", "git commit failed: HEAD has not moved", remedy=_status(repo))
        raise refusal(said, "commit_failed", "git did not commit", _status(repo)) from None
    return made


def _begin(repo: git.Repository, before: str | None) -> None:
    """Say what is begun, then keep other gits from the index."""
    import json

    token = os.urandom(16).hex()
    said = json.dumps({"before": before, "lock": token, "pid": os.getpid()})
    _write(os.path.join(repo.git_dir, git.COMMITTING), said.encode())
    _lock(repo, token)


def _lock(repo: git.Repository, token: str) -> None:
    """Take the lock of the index, which holds the token from the moment it is there."""
    import time

    new, lock = os.path.join(repo.git_dir, _INDEX), os.path.join(repo.git_dir, _LOCK)
    _write(new, token.encode())
    try:
        for attempt in range(_LOCK_ATTEMPTS):
            try:
                _claim(new, lock)
            except FileExistsError:
                if attempt + 1 < _LOCK_ATTEMPTS:
                    time.sleep(_LOCK_WAIT_SECONDS)  # another git is at work, as editors start them
            else:
                return
    finally:
        remove(new)
    sentence = f"another git, or one that was killed, has locked the index: {lock}"
    remedy = (_status(repo), shell("rm", "--", lock, text="if no git runs in this repository"))
    raise Refused("git_busy", sentence, remedy=remedy, facts={"operation": "change of the index"})


def _claim(new: str, lock: str) -> None:
    """Let the lock be there, with its content from the first moment where the file system can do that."""
    try:
        os.link(new, lock)
    except FileExistsError:
        raise
    except OSError:  # no second names for files, as on exFAT
        failure = rename(new, lock, NOREPLACE)
        if failure == errno.EEXIST:
            raise FileExistsError from None
        if failure:
            os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            os.replace(new, lock)


def _settled(repo: git.Repository, held: int) -> str | None:
    """Bring to an end what the note says: the commit, where it was made. Without a note there is nothing to do."""
    import shutil

    note, lock = os.path.join(repo.git_dir, git.COMMITTING), os.path.join(repo.git_dir, _LOCK)
    known = _noted(repo)
    if not known:  # or killed while it was written, and then nothing else was begun
        if os.path.lexists(note):
            os.unlink(note)
        return None
    before, token = known["before"], known["lock"]
    is_ours = _read(lock) == token.encode()
    made = _made(repo, before)
    rows = _brought(repo, before, made) if made else []
    if not is_ours:
        rows = _behind(repo, rows)
        if rows:
            _lock(repo, token)
    if rows:
        _follow(repo, rows, held)
    elif is_ours:
        os.unlink(lock)
    shutil.rmtree(os.path.join(repo.git_dir, _HOOKS), ignore_errors=True)
    os.unlink(note)
    return made


def _noted(repo: git.Repository) -> dict[str, Any]:
    """What the note says that a commit is begun; nothing when there is none, or none that can be read."""
    import json

    try:
        known = json.loads(_read(os.path.join(repo.git_dir, git.COMMITTING)) or b"{}")
    except ValueError:
        return {}
    whole = isinstance(known, dict) and {"before", "lock", "pid"} <= known.keys()
    return known if whole and isinstance(known["lock"], str) and isinstance(known["pid"], int) else {}


def _made(repo: git.Repository, before: str | None) -> str | None:
    """The commit that HEAD's branch has right after `before`; None when HEAD has not moved on from there."""
    now = git.head(repo)
    if now is None or now == before:
        return None
    words = ("rev-list", "--first-parent", "--reverse", "--end-of-options", now, *((f"^{before}",) if before else ()))
    first = os.fsdecode(run(repo.top, *words)[1]).partition("\n")[0]
    return first if first and parents(repo, first)[:1] == ((before,) if before else ()) else None


_Row = tuple[bytes, bytes, bytes, bytes, bytes]
"""Old mode, mode, old hash, hash and path of a file that a commit changed."""


def _brought(repo: git.Repository, before: str | None, made: str) -> list[_Row]:
    """What differs between two commits."""
    form = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none")
    fields = iter(run(repo.top, "diff-tree", *form, tree_of(repo, before), tree_of(repo, made))[1].split(b"\0")[:-1])
    return [(*field[1:].split()[:4], next(fields)) for field in fields]  # type: ignore[misc]


def _behind(repo: git.Repository, rows: list[_Row]) -> list[_Row]:
    """The rows whose old content the index still has: others may have been staged since by somebody else."""
    listed = run(repo.top, "ls-files", "-z", "--stage")[1].split(b"\0")[:-1]
    staged = {name: tuple(about.split()[:2]) for about, _, name in (row.partition(b"\t") for row in listed)}
    return [
        row for row in rows if staged.get(row[4], _NOTHING) == (_NOTHING if row[0] == _NOTHING[0] else row[::2][:2])
    ]


def _follow(repo: git.Repository, rows: list[_Row], held: int) -> None:
    """Let the user's index, whose lock is ours, have what was committed, and stay as it is otherwise."""
    index, lock, new = (os.path.join(repo.git_dir, name) for name in ("index", _LOCK, _INDEX))
    remove(f"{new}.lock")  # of a git that was killed: one that is alive holds the lock that is ours now
    copy_index(repo, new)
    view = {"GIT_INDEX_FILE": new}
    entries = b"".join(b"%s %s\t%s\0" % row for row in sorted((row[1], row[3], row[4]) for row in rows))
    run(repo.top, "update-index", "-z", "--index-info", env=view, stdin=entries, keep=(held,))
    run(repo.top, "update-index", "-q", "--refresh", env=view, ok=(0, 1, 128), keep=(held,))
    os.replace(new, index)
    os.unlink(lock)


def _checked(repo: git.Repository, paths: Sequence[str]) -> set[str]:
    """The paths without those that the user told git not to look at in the working tree."""
    for path in paths:
        if not path or "\0" in path or path != os.path.normpath(path) or path.split("/")[0] in ("", ".", ".."):
            raise UsageError("bad_path", f"{path!r} is no path of a file relative to the top", remedy=_status(repo),
                             facts={"path": path})  # fmt: skip
    listed = os.fsdecode(run(repo.top, "ls-files", "-z", "-t")[1]).split("\0")
    return set(paths).difference(row[2:] for row in listed if row.startswith("S "))


def _fill(repo: git.Repository, view: Mapping[str, str], before: str | None, paths: set[str]) -> None:
    """Make the index in `view` that of the commit `before` with these paths as they are in the working tree."""
    run(repo.top, "read-tree", *(("--empty",) if before is None else ("-i", "-m", before)), env=view)
    names = {os.fsencode(path) for path in paths}
    gone = missing(repo.top, names)
    for options, chosen in (("--force-remove",), gone), (("--add", "--remove"), names - gone):
        if chosen:
            listed = b"".join(path + b"\0" for path in sorted(chosen))
            run(repo.top, "update-index", *options, "-z", "--stdin", env=view, hooks=True, stdin=listed)


def _hook(folder: str, name: str) -> str:
    """The user's hook of this name; empty when there is none."""
    path = os.path.join(folder, name)
    return path if os.path.isfile(path) and os.access(path, os.X_OK) else ""


def _hooks_folder(repo: git.Repository) -> str:
    told = os.fsdecode(run(repo.top, "rev-parse", "--git-path", "hooks", hooks=True)[1]).rstrip("\n")
    return os.path.realpath(os.path.join(repo.top, told))


def _without_afterwards(repo: git.Repository, folder: str) -> tuple[str, ...]:
    """The setting with which git runs all hooks but the one after the commit, which has to see the new index."""
    import shlex

    if not _hook(folder, _AFTERWARDS):
        return ()
    own = os.path.join(repo.git_dir, _HOOKS)
    os.makedirs(own, 0o700, exist_ok=True)
    for name in os.listdir(folder):
        if name != _AFTERWARDS and _hook(folder, name):
            path = os.path.join(own, name)
            _write(path, f'#!/bin/sh\nexec {shlex.quote(os.path.join(folder, name))} "$@"\n'.encode())
            os.chmod(path, 0o700)
    return (f"core.hooksPath={own}",)


def _write(path: str, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(fd)


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return file.read(_NOTE_LIMIT)
    except OSError:
        return None
