"""Work that is not committed, kept as commits under `refs/holdfast/pins/`: whatever becomes of the files, it is there.

A pin has the files as they were there, those that git ignores aside. Its parent is HEAD; where something else was
staged, that is a second parent. A tree without changes is pinned by its HEAD.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast import git
from holdfast.core.value import Value
from holdfast.errors import HoldfastError, Refused
from holdfast.git.changes import status, tree_of
from holdfast.git.command import git as run
from holdfast.git.private import CACHES, GITLINK, copy_index

PINS = "refs/holdfast/pins/"
QUIETLY = ("core.hooksPath=/dev/null", "core.safecrlf=false", "core.splitIndex=false", "advice.addEmbeddedRepo=false",
           "gc.auto=0", "maintenance.auto=false")  # fmt: skip
"""For commands that may take longer than a question to git, and run no hook either."""
MOST = 100
"""Of one working tree that several share; the oldest go first."""
LARGEST = 64 << 20
"""Bytes of files that are not committed; more would take longer than a hook may, or a check should."""
_NAME = ("Holdfast", "holdfast@localhost")


class Pin(Value):
    """What is kept, and since when."""

    ref: str
    sha: str
    at: str
    about: str


def pin(repo: git.Repository, name: str, why: str, safe: str = "", *, whole: bool = False) -> str:
    """Keep what a working tree has beside its HEAD, and HEAD where the commit `safe` has it not in its history.

    Gives the name of the pin; empty where there is nothing to keep. What the newest pin of this name has is not kept
    twice. With `whole`, a file that cannot be kept is refused: one that cannot be read, or a repository.
    """
    from holdfast.git.changes import contains

    head = git.head(repo)
    tree, staged = _trees(repo, whole=whole)
    committed = tree_of(repo, head)
    if tree == committed and staged in ("", committed):
        if head is None or (safe and contains(repo, head, safe)):
            return ""
        sha = head
    else:
        parents = [head] if head else []
        if staged not in ("", committed, tree):
            parents.append(_commit(repo, staged, parents[:1], "What was staged"))
        sha = _commit(repo, tree, parents, why)
    return keep(repo, name, sha)


def keep(repo: git.Repository, name: str, sha: str) -> str:
    """Pin a commit, unless the newest pin of this name has the same. Gives the name of the pin."""
    known = listed(repo, name)
    if known and _is_same(repo, known[-1].sha, sha):
        return known[-1].ref
    number = max((int(one.ref.rpartition("/")[2]) for one in known), default=0) + 1
    while True:
        ref = f"{PINS}{name}/{number:04}"
        try:
            run(repo.top, "update-ref", ref, sha, "0" * len(sha))
            return ref
        except HoldfastError:
            if not listed(repo, f"{name}/{number:04}"):
                raise
            number += 1  # another process took it at the same moment


def size(repo: git.Repository) -> int:
    """How many bytes there are in files that are not as the index has them, those that git ignores aside."""
    names = run(repo.top, "ls-files", "-z", "--modified", "--others", "--exclude-standard")[1].split(b"\0")
    return sum(map(_bytes, {os.path.join(os.fsencode(repo.top), name) for name in names if name}))


def _bytes(path: bytes) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def stashes(repo: git.Repository) -> list[str]:
    """The commits of all stashes, the oldest first, that no pin has."""
    if not os.path.exists(f"{repo.common_dir}/logs/refs/stash"):
        return []
    known = {one.sha for one in listed(repo)}
    found = os.fsdecode(run(repo.top, "log", "-g", "--format=%H", "refs/stash", "--", ok=(0, 128))[1]).split()
    return [sha for sha in reversed(found) if sha not in known]


def listed(repo: git.Repository, name: str = "") -> list[Pin]:
    """The pins of a name, or all: the oldest of each name first."""
    form = "%(refname)%00%(objectname)%00%(committerdate:iso-strict)%00%(subject)"
    out = os.fsdecode(run(repo.top, "for-each-ref", f"--format={form}", "--", f"{PINS}{name}".rstrip("/"))[1])
    return [Pin(*row.split("\0", 3)) for row in out.splitlines() if row.count("\0") == 3]


def drop(repo: git.Repository, pins: list[Pin]) -> None:
    """Give pins up, each only as it was seen."""
    rows = "".join(f"delete {one.ref} {one.sha}\n" for one in pins)
    if rows:
        run(repo.top, "update-ref", "--stdin", stdin=rows.encode())


def unreached(repo: git.Repository, pins: list[Pin], final: str) -> list[Pin]:
    """Those pins with work that a commit has in no version: files that it lacks, or has as they were before.

    Of several pins with the same files, the newest. Caches do not count.
    """
    from holdfast.git.content import between

    told: set[str] = set()
    found = []
    for one in reversed(pins):
        code, out = run(repo.top, "merge-base", one.sha, final, ok=(0, 1))
        base = None if code else os.fsdecode(out).strip()
        mine, later = between(repo, base, one.sha), between(repo, base, final)
        lost = {name for name, file in mine.items() if file.blob and name not in later and name not in told}
        lost = {name for name in lost if CACHES.isdisjoint(name.split("/")[:-1])}
        if lost:
            since = [f"^{base}"] if base else []
            rows = run(repo.top, "rev-list", "--objects", final, *since)[1].decode("utf-8", "replace").splitlines()
            known = {row.partition(" ")[0] for row in rows}
            lost = {name for name in lost if mine[name].blob not in known}
        found += [one] if lost else []
        told |= lost
    return found


def _trees(repo: git.Repository, *, whole: bool) -> tuple[str, str]:
    """The trees that the files and the index make; the second is empty in the middle of a merge."""
    import tempfile

    strangers = (git.inside(repo, path) for path in git.worktrees(repo))
    aside = [f":(exclude,literal){path}" for path in strangers if path]
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        view = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}
        copy_index(repo, view["GIT_INDEX_FILE"])
        code, staged = run(repo.top, "write-tree", env=view, ok=(0, 128))
        words = ("add", "-A", "--ignore-errors", "--", ".", *aside)
        failed, _ = run(repo.top, *words, env=view, hooks=True, settings=QUIETLY, ok=(0, 1, 128))
        if whole and (failed or _nested(repo, view)):
            said = f"not all that is in {repo.top} can be kept: a file cannot be read, or is a repository of its own"
            raise Refused("cannot_pin", said, remedy=status(repo), facts={"path": repo.top})
        tree = run(repo.top, "write-tree", env=view)[1]
    return os.fsdecode(tree).strip(), "" if code else os.fsdecode(staged).strip()


def _nested(repo: git.Repository, view: Mapping[str, str]) -> bool:
    """Whether there is a repository that HEAD does not have as a submodule: git would keep only its commit."""
    rows = run(repo.top, "ls-files", "-z", "-s", env=view)[1].split(b"\0")
    links = {row.partition(b"\t")[2] for row in rows if row.startswith(GITLINK)}
    if not links:
        return False
    head = git.head(repo)
    known = run(repo.top, "ls-tree", "-r", "-z", head)[1].split(b"\0") if head else []
    return bool(links - {row.partition(b"\t")[2] for row in known if row.startswith(GITLINK)})


def _commit(repo: git.Repository, tree: str, parents: list[str], message: str) -> str:
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
           for what, value in zip(("NAME", "EMAIL"), _NAME, strict=True)}  # fmt: skip
    above = (word for parent in parents for word in ("-p", parent))
    made = run(repo.top, "commit-tree", tree, *above, "-F", "-", env=who, stdin=message.encode())[1]
    return os.fsdecode(made).strip()


def _is_same(repo: git.Repository, one: str, other: str) -> bool:
    form = ("log", "-1", "--format=%T %P", "--end-of-options")
    return one == other or run(repo.top, *form, one, "--")[1] == run(repo.top, *form, other, "--")[1]
