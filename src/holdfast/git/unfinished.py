"""Changes of HEAD that no kill and no signal can tear: the user's index and HEAD change together.

A note in the git folder says what is begun. For a commit, `index.lock` keeps every other git away from the index, from
before HEAD moves until the new index is in its place. Whatever ends a process in between, the next command finds the
note: where HEAD has moved the index follows, and otherwise the locks are removed.
"""

from __future__ import annotations

import errno
import os

from holdfast import git
from holdfast.core.value import Any
from holdfast.errors import Conflict, HoldfastError
from holdfast.files import system
from holdfast.files.locks import Locked
from holdfast.files.replace import remove
from holdfast.git.changes import contains, status, tip, tree_of
from holdfast.git.command import git as run
from holdfast.git.index_lock import NAME as _LOCK
from holdfast.git.index_lock import waited
from holdfast.git.made import Purpose, forget, keep, purpose_of
from holdfast.git.private import copy_index
from holdfast.git.signals import HeldBack

LOCK_WAIT = 10.0
"""How long a change of HEAD waits for another one, or for the lock of the index, unless somebody says otherwise."""
HOOKS = "holdfast-hooks"
_INDEX = "holdfast-index"
_NOTE_LIMIT = 8000
_LOCK_ATTEMPTS = 20
_LOCK_WAIT_SECONDS = 0.1
_NOTHING = (b"000000", b"")
_BRANCHES = "refs/heads/"


def settle(repo: git.Repository) -> str:
    """Finish or take back what a process that is gone had begun: what was done, in a sentence."""
    if not git.is_unsettled(repo):
        return ""
    try:
        with Locked(repo.git_dir, 0) as held:
            if not git.is_unsettled(repo):
                return ""
            with HeldBack():
                known = noted(repo)
                target, made = known.get("branch"), settled(repo, held, 0)
    except Conflict:
        return ""  # the process that commits is at work
    except (HoldfastError, OSError) as failure:
        return f"A commit was interrupted, and the index cannot follow it yet: {failure}."
    if target and target != made:
        return f"The switch to the branch {target} was interrupted before it was made. Switch again."
    if target:
        return f"The switch to the branch {target} was interrupted. It is made now."
    if known.get("to"):
        went = f"has continued to {made[:12]}" if made else "stays as it was. Repeat the command"
        return f"Work was being merged into {known.get('on')} when the command was ended. It {went}."
    if made:
        purpose = purpose_of(known.get("for"))  # what is still to be recorded is told until it is
        return "" if purpose and purpose.request else f"Commit {made[:12]} was interrupted. It is complete now."
    return "A commit was interrupted before it was made. Repeat the command."


def committing(repo: git.Repository) -> int:
    """The process that does what is under way: the one that began it, or the git that outlived it; 0: unknown."""
    pid = int(noted(repo).get("pid", 0))
    return pid if pid and system.here.is_running(pid) else system.here.opened(repo.git_dir) or pid


def begin_commit(repo: git.Repository, before: str | None, purpose: Purpose | None, wait: float) -> str:
    """Say what commit is begun, then keep other gits from the index: from there on, HEAD stays at `before`.

    The result is what the reflog has to call the commit, which tells it from one that somebody else makes.
    """
    token = os.urandom(8).hex()
    _note(repo, before, token, on=git.branch(repo), purpose=purpose)
    _lock(repo, token, wait)
    if git.head(repo) != before:
        for name in (_LOCK, git.COMMITTING):
            os.unlink(os.path.join(repo.git_dir, name))
        said = "HEAD has moved while the commit was prepared, and nothing is committed"
        raise Conflict("changed_meanwhile", said, remedy=status(repo), facts={"before": before})
    return _action(token)


def begin_switch(repo: git.Repository, branch: str) -> None:
    """Say that HEAD goes to a branch. Git takes the lock of the index itself."""
    _note(repo, git.head(repo), "", branch)


def begin_bringing(repo: git.Repository, before: str, to: str, branch: str) -> None:
    """Say that the branch that is checked out continues to a commit, with its files."""
    _note(repo, before, "", on=branch, to=to)


def not_begun(repo: git.Repository) -> None:
    """Git has refused, and nothing is to be brought to an end."""
    os.unlink(os.path.join(repo.git_dir, git.COMMITTING))


def _note(
    repo: git.Repository,
    before: str | None,
    token: str,
    branch: str = "",
    on: str | None = None,
    purpose: Purpose | None = None,
    to: str = "",
) -> None:
    import json

    whose = dict(purpose.items()) if purpose else None
    said = {"before": before, "lock": token, "pid": os.getpid(), "branch": branch, "on": on, "for": whose, "to": to}
    write(os.path.join(repo.git_dir, git.COMMITTING), json.dumps(said).encode())


def _lock(repo: git.Repository, token: str, wait: float) -> None:
    """Take the lock of the index, which holds the token from the moment it is there."""
    new, lock = os.path.join(repo.git_dir, _INDEX), os.path.join(repo.git_dir, _LOCK)
    write(new, token.encode())
    try:
        waited(repo, wait, lambda: _claim(new, lock))
    finally:
        remove(new)


def _claim(new: str, lock: str) -> bool:
    """Let the lock be there, with its content from the first moment where the file system can do that."""
    try:
        os.link(new, lock)
    except FileExistsError:
        return False
    except OSError:  # no second names for files, as on exFAT
        failure = system.here.rename(new, lock, system.NOREPLACE)
        if failure == errno.EEXIST:
            return False
        if failure:
            try:
                os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            except FileExistsError:
                return False
            os.replace(new, lock)
    return True


def settled(repo: git.Repository, held: int, wait: float) -> str | None:
    """Bring to an end what the note says: the commit that was made, or the branch that HEAD went to."""
    import shutil

    note = os.path.join(repo.git_dir, git.COMMITTING)
    known = noted(repo)
    if not known:  # or killed while it was written, and then nothing else was begun
        if os.path.lexists(note):
            os.unlink(note)
        return None
    begun, target = os.lstat(note).st_mtime_ns, known["branch"]
    if known.get("to"):
        from holdfast.git.bringing import finished

        _unlock(repo, begun, "index", "HEAD", *filter(None, (git.branch(repo),)))
        made = finished(repo, known, held)
    else:
        made = _switched(repo, known["before"], target, begun) if target else _committed(repo, known, begun, held, wait)
    purpose = purpose_of(known.get("for"))
    if made and purpose and purpose.request:
        keep(repo, purpose, made, known["pid"])
    elif made and purpose:
        forget(repo, purpose.ulid, purpose.step)
    shutil.rmtree(os.path.join(repo.git_dir, HOOKS), ignore_errors=True)
    os.unlink(note)
    return made


def _committed(repo: git.Repository, known: dict[str, Any], begun: int, held: int, wait: float) -> str | None:
    lock, before, token = os.path.join(repo.git_dir, _LOCK), known["before"], known["lock"]
    is_ours = _read(lock) == token.encode()
    _unlock(repo, begun, "HEAD", *filter(None, (git.branch(repo),)))
    made = _made(repo, known)
    rows = differing(repo, before, made) if made else []
    if not is_ours:
        rows = _behind(repo, rows)
        if rows:
            _lock(repo, token, wait)
    if rows:
        _follow(repo, rows, held)
    elif is_ours:
        os.unlink(lock)
    return made


def _switched(repo: git.Repository, before: str | None, target: str, begun: int) -> str | None:
    """Git writes the index before HEAD: a branch at another commit is gone to, or the next commit would mix them."""
    _unlock(repo, begun, "index", "HEAD", target)
    if git.branch(repo) != target and tip(repo, target) not in (None, before):
        run(repo.top, "switch", "-q", "--no-recurse-submodules", "--no-guess", target, ok=(0, 1, 128))
    return git.branch(repo)


def _unlock(repo: git.Repository, begun: int, *names: str) -> None:
    """Remove the locks of the index, of HEAD and of branches that a git left which was killed.

    That git is gone, or it would still hold the lock of the git folder. Another one's lock goes away by itself.
    """
    import time

    own = ("index", "HEAD")
    places = (os.path.join(*((repo.git_dir,) if one in own else (repo.common_dir, _BRANCHES)), one) for one in names)
    for path in (f"{place}.lock" for place in places):
        seen = _made_at(path)
        if not seen or seen[1] < begun:
            continue
        for _ in range(_LOCK_ATTEMPTS):
            time.sleep(_LOCK_WAIT_SECONDS)
            if _made_at(path) != seen:
                break
        else:
            remove(path)


def _made_at(path: str) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def noted(repo: git.Repository) -> dict[str, Any]:
    """What the note says that is begun; nothing when there is none, or none that can be read."""
    import json

    try:
        known = json.loads(_read(os.path.join(repo.git_dir, git.COMMITTING)) or b"{}")
    except ValueError:
        return {}
    whole = isinstance(known, dict) and {"before", "lock", "pid", "branch"} <= known.keys()
    kinds = {"lock": str, "pid": int, "branch": str}
    return known if whole and all(isinstance(known[name], kind) for name, kind in kinds.items()) else {}


def _action(token: str) -> str:
    return f"commit (holdfast {token})"


def _made(repo: git.Repository, known: dict[str, Any]) -> str | None:
    """The commit that was begun, by its name in the reflog, where HEAD has it; None when it was not made.

    Its place tells nothing, as the user may have committed there since; nor do its files and its message, which hooks
    change.
    """
    now = git.head(repo)
    if now is None or now == known["before"]:
        return None
    words = ("log", "-g", "-1", "--fixed-strings", f"--grep-reflog={_action(known['lock'])}", "--format=%H")
    for ref in (f"{_BRANCHES}{known['on']}", "HEAD")[not known.get("on") :]:  # git writes that of the branch first
        made = os.fsdecode(run(repo.top, *words, ref, "--", ok=(0, 128))[1]).strip()
        if made:
            return made if made == now or contains(repo, made) else None
    return None


Row = tuple[bytes, bytes, bytes, bytes, bytes]
"""Old mode, mode, old hash, hash and path of a file that a commit changed."""


def differing(repo: git.Repository, before: str | None, made: str) -> list[Row]:
    """What differs between two commits."""
    form = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev", "--ignore-submodules=none")
    fields = iter(run(repo.top, "diff-tree", *form, tree_of(repo, before), tree_of(repo, made))[1].split(b"\0")[:-1])
    return [(*field[1:].split()[:4], next(fields)) for field in fields]  # type: ignore[misc]


def _behind(repo: git.Repository, rows: list[Row]) -> list[Row]:
    """The rows whose old content the index still has: others may have been staged since by somebody else."""
    listed = run(repo.top, "ls-files", "-z", "--stage")[1].split(b"\0")[:-1]
    staged = {name: tuple(about.split()[:2]) for about, _, name in (row.partition(b"\t") for row in listed)}
    return [
        row for row in rows if staged.get(row[4], _NOTHING) == (_NOTHING if row[0] == _NOTHING[0] else row[::2][:2])
    ]


def _follow(repo: git.Repository, rows: list[Row], held: int) -> None:
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


def write(path: str, data: bytes) -> None:
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
