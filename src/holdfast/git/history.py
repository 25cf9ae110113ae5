"""What git's history says of a piece of work: which files were changed, and how many lines were added."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core.value import Value
from holdfast.git.command import git as run


class Work(Value):
    """Files that were changed, relative to the top, and lines that were added in all of them."""

    files: tuple[str, ...] = ()
    lines: int = 0


def commits_since(repo: git.Repository, since: str, subject: str) -> list[str]:
    """The commits after one, oldest first, whose message begins with these words."""
    words = ("log", "--reverse", "--format=%H%x00%s%x00", "--end-of-options", f"{since}..HEAD", "--")
    code, out = run(repo.top, *words, ok=(0, 128))
    if code:
        return []
    fields = [field.strip() for field in os.fsdecode(out).split("\0")]
    pairs = zip(fields[::2], fields[1::2], strict=False)
    return [sha for sha, said in pairs if sha and said.startswith(subject)]


def newest_of(repo: git.Repository, path: str) -> str:
    """The newest commit of HEAD's history that changed a file; empty when none did."""
    words = ("log", "-1", "--format=%H", "--end-of-options", "HEAD", "--", f":(top,literal){path}")
    code, out = run(repo.top, *words, ok=(0, 128))
    return os.fsdecode(out).strip() if code == 0 else ""


def message(repo: git.Repository, sha: str) -> str:
    """What a commit says."""
    return os.fsdecode(run(repo.top, "log", "-1", "--format=%B", "--end-of-options", sha, "--")[1])


def is_ancestor(repo: git.Repository, sha: str, later: str) -> bool:
    """Whether a commit has another one in its history, or is it; not so where one of them is not known here."""
    if not (git.is_object_id(sha) and git.is_object_id(later)):
        return False
    return run(repo.top, "merge-base", "--is-ancestor", sha, later, ok=(0, 1, 128))[0] == 0


def is_same_outside(repo: git.Repository, sha: str, folder: str) -> bool:
    """Whether HEAD has outside of a folder what a commit had there; not so where the commit is not known here."""
    if not git.is_object_id(sha):
        return False
    words = ("diff", "--quiet", "--no-ext-diff", "--ignore-submodules=none", "--end-of-options", sha, "HEAD", "--", ".")
    return run(repo.top, *words, f":(top,exclude,literal){folder}", ok=(0, 1, 128))[0] == 0


def of_commits(repo: git.Repository, commits: list[str], aside: tuple[str, ...] = ()) -> Work:
    """What these commits changed, together; files and folders that are left aside do not count."""
    files: dict[str, None] = {}
    lines = 0
    for sha in commits:
        form = ("--numstat", "-z", "--no-renames", "--no-ext-diff", "--format=", "--root", "-m", "--first-parent")
        out = run(repo.top, "show", *form, "--end-of-options", sha)[1]
        for row in out.split(b"\0"):
            added, _, rest = row.strip(b"\n").partition(b"\t")
            _, tab, name = rest.partition(b"\t")
            path = os.fsdecode(name)
            if tab and path and not any(path == one or path.startswith(f"{one}/") for one in aside):
                files[path] = None
                lines += int(added) if added.isdigit() else 0
    return Work(tuple(files), lines)
