"""What a working tree holds: its id, with git and without, and which files are not as a commit has them."""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast import git
from holdfast.core.value import Value
from holdfast.errors import Refused
from holdfast.git.changes import status, tree_of
from holdfast.git.command import git as run
from holdfast.git.private import CACHES, GITLINK, PrivateIndex, copy_index
from holdfast.plain.digest import digest

FILES_LIMIT = 20_000
_FORM = ("-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=none")
_NOTHING = b"000000"


class Tree(Value):
    """The content of a working tree: the same id is the same content.

    None where it cannot be told, and empty where a tracked file cannot be read: no evidence is of that.
    """

    head: str | None
    id: str | None
    dirty: bool
    made_of: bytes = b""
    """Where that was asked for, what `only_grew` compares: an index of git's, or a line for each file."""


def tree(repo: git.Repository, own: Sequence[str], kept: str = "", *, listing: bool = False) -> Tree:
    """The working tree as git would commit it whole, `own` path prefixes aside, and whether HEAD differs from it.

    Ignored files, caches, the inside of nested repositories and other worktrees below this one do not count. A tracked
    file that cannot be read makes the id empty; an untracked one is left out, as a check could not read it either. A
    file in conflict counts as it is there, so that evidence from the middle of a merge is of that tree alone.
    What is known of the files is kept in the folder `kept`, where one is named.
    """
    import tempfile

    at = git.head(repo)
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        index = PrivateIndex(repo, own, kept, scratch)
        if not index.read():
            return Tree(head=at, id="", dirty=True)
        made, differs = index.tree(at)
        index.keep()
        return Tree(head=at, id=made, dirty=differs or index.is_unmerged, made_of=index.content() if listing else b"")


def committed_tree(repo: git.Repository, own: Sequence[str]) -> str:
    """The id that the working tree would have if it were as HEAD has it, `own` path prefixes aside."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        view = {"GIT_INDEX_FILE": os.path.join(scratch, "index"), "GIT_LITERAL_PATHSPECS": "1"}
        run(repo.top, "read-tree", tree_of(repo, git.head(repo)), env=view)
        if own:
            run(repo.top, "rm", "-r", "-q", "--cached", "--ignore-unmatch", "--", *own, env=view)
        return os.fsdecode(run(repo.top, "write-tree", env=view)[1]).strip()


def only_grew(top: str, before: Tree, after: Tree) -> bool:
    """Whether every file is there as it was before: there may be more, and nothing else changed."""
    if not before.id or not after.id:
        return False
    return before.id == after.id or _rows(top, before.made_of) <= _rows(top, after.made_of)


def _rows(top: str, made_of: bytes) -> set[bytes]:
    import tempfile

    if not made_of.startswith(b"DIRC"):
        return set(made_of.split(b"\n")) - {b""}
    with tempfile.NamedTemporaryFile(prefix="holdfast-") as file:
        file.write(made_of)
        file.flush()
        return set(run(top, "ls-files", "-z", "--stage", env={"GIT_INDEX_FILE": file.name})[1].split(b"\0")[:-1])


def files_tree(root: str, own: Sequence[str]) -> Tree:
    """The same for a folder without git, told by names, sizes, times and modes. Never dirty: nothing is committed."""
    top = os.path.realpath(root)
    aside = {os.path.join(top, path.rstrip("/")) for path in own}
    rows: list[bytes] = []
    folders = [top]
    while folders:
        for entry in git.entries(folders.pop()):
            if entry.name in CACHES or entry.path in aside:
                continue
            try:
                stat = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)
                continue
            if len(rows) == FILES_LIMIT:
                return Tree(head=None, id=None, dirty=False)
            name = os.fsencode(os.path.relpath(entry.path, top)).replace(b"\n", b"\0")
            rows.append(b"%s\0%d %d %o" % (name, stat.st_size, stat.st_mtime_ns, stat.st_mode))
    made_of = b"\n".join(sorted(rows))
    return Tree(head=None, id=digest(made_of), dirty=False, made_of=made_of)


class Changed(Value):
    """A path that is not as it was."""

    mode: str
    blob: str
    """The git hash of the content now, for a submodule its commit; both are empty when it was deleted."""


def changed(repo: git.Repository, since: str | None, own: Sequence[str], kept: str = "") -> dict[str, Changed]:
    """Every path, relative to the top, that differs in the working tree from the commit `since` (None: from nothing).

    Untracked files count; ignored ones, untracked caches, the path prefixes `own`, nested repositories that are no
    submodules and other worktrees do not. A rename is a deletion and an addition. The index does not matter, nor is it
    touched. What is known of the files is kept in the folder `kept`, where one is named.
    """
    import tempfile

    before = tree_of(repo, since)
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        index = PrivateIndex(repo, own, kept, scratch)
        is_read = index.read()
        if is_read:
            index.keep()
        if not is_read or not index.read_caches():
            raise Refused("unreadable", "a tracked file cannot be read", remedy=status(repo))
        against = ("diff-index", "--cached", *_FORM, "--raw", "--no-abbrev", "--end-of-options", before)
        rows = index.git(*against, *index.everything)[1].split(b"\0")[:-1]
    found: dict[bytes, Changed] = {}
    nested: set[bytes] = set()
    for about, name in zip(rows[::2], rows[1::2], strict=True):
        was, now, _, blob, _ = about[1:].split()
        is_gone = now == _NOTHING
        found[name] = Changed("" if is_gone else now.decode(), "" if is_gone else blob.decode())
        if (was, now) == (_NOTHING, GITLINK):
            nested.add(name)
    for name in nested - _submodules(repo) if nested else ():
        del found[name]
    return {os.fsdecode(name): one for name, one in found.items()}


def between(repo: git.Repository, old: str | None, new: str) -> dict[str, Changed]:
    """Every path that differs between two commits, as the new one has it."""
    words = ("diff-tree", "-r", *_FORM, "--raw", "--no-abbrev", "--end-of-options")
    rows = run(repo.top, *words, tree_of(repo, old), tree_of(repo, new))[1].split(b"\0")[:-1]
    found = {}
    for about, name in zip(rows[::2], rows[1::2], strict=True):
        _, mode, _, blob, _ = about[1:].split()
        is_gone = mode == _NOTHING
        found[os.fsdecode(name)] = Changed("" if is_gone else mode.decode(), "" if is_gone else blob.decode())
    return found


def added(repo: git.Repository, since: str | None, chosen: Mapping[str, Changed]) -> dict[str, int]:
    """How many lines these files have more than in a commit; 0 for a binary file."""
    import tempfile

    rows = b"".join(
        b"%s %s\t%s\0" % (one.mode.encode(), one.blob.encode(), os.fsencode(name))
        for name, one in chosen.items()
        if one.blob
    )
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        view = {"GIT_INDEX_FILE": os.path.join(scratch, "index")}  # without times, so that git reads the files
        run(repo.top, "update-index", "-z", "--index-info", env=view, stdin=rows)
        against = ("diff-index", "--numstat", *_FORM, "--diff-filter=d", "--end-of-options", tree_of(repo, since))
        counted = (row.split(b"\t", 2) for row in run(repo.top, *against, env=view)[1].split(b"\0")[:-1])
        lines = {os.fsdecode(name): int(count) if count.isdigit() else 0 for count, _, name in counted}
    return {name: lines.get(name, 0) for name in chosen}


def diff(repo: git.Repository, since: str | None, most: int, files: Sequence[str] = ()) -> str:
    """What changed since a commit in the files that git knows, and in those that are named, as a patch.

    It has at most so many characters. The user's index is not touched.
    """
    import tempfile

    words = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--end-of-options", tree_of(repo, since), "--")
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        view = {"GIT_INDEX_FILE": os.path.join(scratch, "index"), "GIT_LITERAL_PATHSPECS": "1"}
        copy_index(repo, view["GIT_INDEX_FILE"])
        there = [os.fsencode(name) for name in files if os.path.lexists(os.path.join(repo.top, name))]
        if there:
            listed = ("--pathspec-from-file=-", "--pathspec-file-nul")
            run(repo.top, "add", "--intent-to-add", *listed, env=view, stdin=b"\0".join(there), ok=(0, 1, 128))
        return run(repo.top, *words, env=view)[1].decode("utf-8", "replace")[:most]


def diff_of(repo: git.Repository, old: str, new: str, files: Sequence[str], most: int) -> str:
    """What differs in these files between two commits, as a patch of at most so many characters."""
    words = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--end-of-options", old, new, "--")
    told = run(repo.top, *words, *files, env={"GIT_LITERAL_PATHSPECS": "1"})[1].decode("utf-8", "replace")
    return told if len(told) <= most else f"{told[:most]}\n… git diff {old[:12]} {new[:12]} shows all of it"


def _submodules(repo: git.Repository) -> set[bytes]:
    listed = run(repo.top, "ls-files", "-z", "--stage")[1].split(b"\0")
    return {row.partition(b"\t")[2] for row in listed if row.startswith(GITLINK)}
