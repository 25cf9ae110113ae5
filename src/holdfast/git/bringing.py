"""Bringing the commits of one branch into another: tried without a working tree first, and nothing of it is half there.

Where the branch is checked out, its files and index go with it. Git does that, and refuses to write over what is not
committed; a note says what is begun, and whatever ends the process, the next command finishes it or takes it back.
"""

from __future__ import annotations

import os
from _collections_abc import Sequence

from holdfast import git
from holdfast.core.remedy import shell
from holdfast.errors import HoldfastError, Refused
from holdfast.files.locks import Locked
from holdfast.git import index_lock, unfinished
from holdfast.git.changes import contains, refusal, require_idle, status, tip
from holdfast.git.command import git as run
from holdfast.git.linked import checked_out
from holdfast.git.pins import QUIETLY
from holdfast.git.signals import HeldBack

_FORWARD = ("merge", "-q", "--ff-only", "--no-autostash", "--no-overwrite-ignore")
_GITLINK = b"160000"


class Collision(Exception):
    """Both branches changed the same: the files."""

    def __init__(self, files: Sequence[str]) -> None:
        super().__init__(", ".join(files))
        self.files = tuple(files)


def bring(
    repo: git.Repository,
    theirs: str,
    into: str,
    message: str,
    wait: float,
    whole: Sequence[str] = (),
    side: str = "",
) -> str:
    """Let a branch have a commit with its history, as it is: the commit that the branch is at then.

    Where it continued meanwhile, a merge is made. Raises `Collision` where they do not go together. Files and folders
    that are `whole` are taken as the commit `side` has them.
    """
    ours = tip(repo, into)
    if ours is None:
        raise Refused("no_branch", f"there is no branch {into}", remedy=shell("git", "branch", "--list"),
                      facts={"branch": into})  # fmt: skip
    if contains(repo, theirs, ours):
        return ours
    to = theirs if contains(repo, ours, theirs) else _merged(repo, ours, theirs, message, whole, side)
    at = checked_out(repo, into)
    if at is None:
        run(repo.top, "update-ref", "-m", message, f"refs/heads/{into}", to, ours)
    else:
        _forward(at, into, ours, to, wait)
    return to


def collisions(repo: git.Repository, ours: str, theirs: str) -> list[str]:
    """The files that a merge of two commits would leave for people to resolve. Nothing is changed."""
    return _tried(repo, ours, theirs)[1]


def _tried(repo: git.Repository, ours: str, theirs: str) -> tuple[bytes, list[str]]:
    """The tree of a merge, and the files in conflict."""
    words = ("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs)
    code, out = run(repo.top, *words, ok=(0, 1))
    tree, *files = out.split(b"\0")
    return tree, sorted({os.fsdecode(name) for name in files if name}) if code else []


def _merged(repo: git.Repository, ours: str, theirs: str, message: str, whole: Sequence[str], side: str) -> str:
    tree, files = _tried(repo, ours, theirs)
    both = [name for name in files if not any(f"{name}/".startswith(f"{one}/") for one in whole)]
    if both:
        raise Collision(both)
    if whole:
        tree = _with_whole(repo, tree, whole, side)
    signs = run(repo.top, "config", "--type=bool", "--get", "commit.gpgSign", ok=(0, 1))[1].strip() == b"true"
    parents = ("-p", ours, "-p", theirs, *(("-S",) if signs else ()))
    try:
        made = run(repo.top, "commit-tree", os.fsdecode(tree), *parents, "-F", "-", stdin=message.encode())[1]
    except HoldfastError as error:
        raise refusal(error, "commit_failed", "git did not make the merge", status(repo)) from None
    return os.fsdecode(made).strip()


def _with_whole(repo: git.Repository, tree: bytes, whole: Sequence[str], side: str) -> bytes:
    """A tree with files and folders as a commit has them."""
    import tempfile

    literal = {"GIT_LITERAL_PATHSPECS": "1"}
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        view = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
        run(repo.top, "read-tree", os.fsdecode(tree), env=view)
        listed = run(repo.top, "ls-files", "-z", "--", *whole, env={**view, **literal})[1].split(b"\0")[:-1]
        gone = b"".join(b"0 %s\t%s\0" % (b"0" * 40, name) for name in listed)
        words = ("ls-tree", "-r", "-z", "--full-tree", "--end-of-options", side, "--", *whole)
        wanted = run(repo.top, *words, env=literal)[1]
        run(repo.top, "update-index", "-z", "--index-info", env=view, stdin=gone + wanted)
        return run(repo.top, "write-tree", env=view)[1].strip()


def _forward(repo: git.Repository, into: str, ours: str, to: str, wait: float) -> None:
    """Move a branch that is checked out, with its files."""
    with Locked(repo.git_dir, wait) as held:
        unfinished.settled(repo, held, wait)
        require_idle(repo)
        index_lock.waited(repo, wait, lambda: not os.path.lexists(index_lock.path_of(repo)))
        failure = None
        with HeldBack():
            unfinished.begin_bringing(repo, ours, to, into)
            try:
                run(repo.top, *_FORWARD, to, hooks=True, settings=QUIETLY, keep=(held,))
            except HoldfastError as error:
                failure = error
                if error.code == "git_failed":  # it has looked at all files before it writes the first one
                    unfinished.not_begun(repo)
            finally:
                moved = unfinished.settled(repo, held, wait)
    if moved is None:
        said = failure or HoldfastError("git_failed", "git merge failed: HEAD has not moved", remedy=status(repo))
        facts = {"branch": into, "worktree": repo.top}
        raise refusal(said, "cannot_bring_in", f"git did not change {repo.top}", status(repo), facts) from None


def finished(repo: git.Repository, known: dict[str, str], held: int) -> str | None:
    """End what a process began: the commit that the branch has now, or None where it stays as it was.

    Git writes the files, then the index, then the branch. Files that have their new content already are its work, and
    with their entries in the index it continues where it was.
    """
    before, to = known["before"], known["to"]
    if git.branch(repo) != known["on"]:
        return None
    if git.head(repo) != before:
        return to if contains(repo, to) else None
    rows = unfinished.differing(repo, before, to)
    written = [row for row in rows if _has(repo, row)]
    if not written:
        return None
    _enter(repo, [(row[1], row[3], row[4]) for row in written], held)
    if run(repo.top, *_FORWARD, to, hooks=True, settings=QUIETLY, keep=(held,), ok=(0, 1, 2, 128))[0] == 0:
        return to
    _enter(repo, [(row[0], row[2], row[4]) for row in written], held)
    for row in written:
        _put_back(repo, row, held)
    return None


def _has(repo: git.Repository, row: unfinished.Row) -> bool:
    """Whether a file is as the new commit has it."""
    name = os.fsdecode(row[4])
    full = os.path.join(repo.top, name)
    if row[1] == _GITLINK:
        return False
    if set(row[3]) == {ord("0")}:
        return not os.path.lexists(full)
    if os.path.islink(full):
        found = run(repo.top, "hash-object", "--stdin", stdin=os.fsencode(os.readlink(full)) or b"")[1]
    elif os.path.isfile(full):
        found = run(repo.top, "hash-object", f"--path={name}", "--", full)[1]
    else:
        return False
    return found.strip() == row[3]


def _enter(repo: git.Repository, entries: list[tuple[bytes, bytes, bytes]], held: int) -> None:
    rows = b"".join(b"%s %s\t%s\0" % row for row in sorted(entries))
    run(repo.top, "update-index", "-z", "--index-info", stdin=rows, keep=(held,))


def _put_back(repo: git.Repository, row: unfinished.Row, held: int) -> None:
    """The file as it was before; that is what the index has again."""
    full = os.path.join(repo.top, os.fsdecode(row[4]))
    if set(row[2]) == {ord("0")}:
        os.unlink(full)
    else:
        run(repo.top, "checkout-index", "-f", "-z", "--stdin", stdin=row[4] + b"\0", keep=(held,))
