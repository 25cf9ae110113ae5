"""Where a file went that is gone, by git's own measure of similarity."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.git.changes import resolve
from holdfast.git.command import git as run
from holdfast.git.history import newest_of
from holdfast.git.private import copy_index

_HALF = "-M50%"


def moved(repo: git.Repository, path: str) -> str:
    """The new name of a file, relative to the top: moved in a commit, in the index or only on the disk.

    Empty where git never knew it, or sees no file of the same kind that is like it. Nothing of the user's is touched.
    """
    import tempfile

    base = "HEAD" if git.head_blob(repo, path) is not None else f"{newest_of(repo, path)}^"
    before = resolve(repo, base)
    if before is None:
        return ""
    alike = f":(top,glob)**/*{os.path.splitext(path)[1]}"
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        index, objects = os.path.join(scratch, "index"), os.path.join(scratch, "objects")
        os.mkdir(objects)
        copy_index(repo, index)
        real = os.path.join(repo.common_dir, "objects").replace("\\", "\\\\").replace('"', '\\"')
        view = {
            "GIT_INDEX_FILE": index,
            "GIT_OBJECT_DIRECTORY": objects,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{real}"',
        }
        others = run(repo.top, "ls-files", "-z", "--others", "--exclude-standard", "--", alike, env=view)[1]
        if others:
            literal = {**view, "GIT_LITERAL_PATHSPECS": "1"}
            words = ("add", "--intent-to-add", "--pathspec-from-file=-", "--pathspec-file-nul")
            run(repo.top, *words, env=literal, stdin=others)
        form = ("diff", _HALF, "--diff-filter=R", "--name-status", "-z", "--no-ext-diff", "--no-textconv")
        rows = run(repo.top, *form, "--end-of-options", before, "--", alike, env=view)[1].split(b"\0")[:-1]
    pairs = {os.fsdecode(old): os.fsdecode(new) for old, new in zip(rows[1::3], rows[2::3], strict=False)}
    return pairs.get(path, "")


def added(repo: git.Repository, since: str) -> list[str]:
    """The files that came after a commit, relative to the top; without a commit, all of them."""
    begun = resolve(repo, since) if since else None
    new = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name")
    old = ("ls-tree", "-r", "-z", "--name-only", "--full-tree", "--end-of-options", begun) if begun else ()
    before = {*run(repo.top, *old)[1].split(b"\0")} if old else set()
    return [os.fsdecode(name) for name in run(repo.top, *new)[1].split(b"\0") if name and name not in before]
