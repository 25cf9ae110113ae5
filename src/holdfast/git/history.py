"""What git's history says of a piece of work: which files were changed, and how many lines were added."""

from __future__ import annotations

import os
from _collections_abc import Iterable
from itertools import pairwise

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


def commits_beside(repo: git.Repository, branch: str) -> list[str]:
    """The commits of HEAD that a branch does not have, oldest first, without merges."""
    words = ("rev-list", "--reverse", "--no-merges", "HEAD", f"^refs/heads/{branch}", "--")
    return os.fsdecode(run(repo.top, *words)[1]).split()


def merged_from(repo: git.Repository, head: str, other: str, branch: str) -> bool:
    """Whether a commit has, by a merge, commits of another line of work that a branch does not have."""
    begun = f"^refs/heads/{branch}"
    shared = run(repo.top, "merge-base", head, other, ok=(0, 1))[1].decode().strip()
    if not shared or not run(repo.top, "rev-list", "-1", shared, begun, "--")[1]:
        return False
    return shared not in run(repo.top, "rev-list", "--first-parent", head, begun, "--")[1].decode().split()


def committed_on(repo: git.Repository, branch: str) -> set[str]:
    """The commits that were made on a branch, as far as its reflog tells; not what was merged or reset to there."""
    words = ("log", "--walk-reflogs", "--format=%H%x00%gs", "--end-of-options", f"refs/heads/{branch}", "--")
    code, out = run(repo.top, *words, ok=(0, 128))
    rows = (row.partition("\0") for row in os.fsdecode(out).splitlines()) if code == 0 else ()
    return {sha for sha, _, said in rows if said.startswith("commit")}


def last_on(repo: git.Repository, branch: str) -> str:
    """The commit that a branch was at when it was last left, as the reflog of HEAD tells; empty where it does not."""
    words = ("log", "--walk-reflogs", "--format=%H%x00%gs", "--end-of-options", "HEAD", "--")
    code, out = run(repo.top, *words, ok=(0, 128))
    rows = [row.partition("\0") for row in os.fsdecode(out).splitlines()] if code == 0 else []
    for (_, _, said), (before, _, _) in pairwise(rows):
        if said.startswith(f"checkout: moving from {branch} to "):
            return before
    return ""


def changes_since(repo: git.Repository, since: str) -> dict[str, dict[str, str]]:
    """The commits after one, each with the files it changed and their hashes; a file that is gone has none."""
    form = ("log", "-z", "--raw", "--no-renames", "--no-abbrev", "--no-merges", "--format=%x01%H")
    code, out = run(repo.top, *form, "--end-of-options", f"{since}..HEAD", "--", ok=(0, 128))
    found: dict[str, dict[str, str]] = {}
    for block in out.split(b"\1")[1:] if code == 0 else ():
        sha, _, rest = block.partition(b"\0")
        fields = [field.lstrip(b"\n") for field in rest.split(b"\0") if field.strip(b"\n")]
        pairs = zip(fields[::2], fields[1::2], strict=False)
        rows = {os.fsdecode(name): about.split()[3].decode() for about, name in pairs}
        found[os.fsdecode(sha).strip()] = {name: "" if not blob.strip("0") else blob for name, blob in rows.items()}
    return found


def rewritten(repo: git.Repository, sha: str, since: str) -> bool:
    """Whether HEAD has a commit under another hash after one, as amending and rebasing leave it.

    It has the same author, time of writing and subject.
    """
    form = "--format=%ae%x00%at%x00%s"
    code, own = run(repo.top, "log", "-1", form, "--end-of-options", sha, "--", ok=(0, 128))
    words = ("log", form, "--end-of-options", f"{since}..HEAD" if since else "HEAD", "--")
    return code == 0 and own.strip() in run(repo.top, *words, ok=(0, 128))[1].splitlines()


def newest_of(repo: git.Repository, path: str, at: str = "HEAD") -> str:
    """The newest commit of a commit's history that changed a file; empty when none did."""
    words = ("log", "-1", "--format=%H", "--end-of-options", at, "--", f":(top,literal){path}")
    code, out = run(repo.top, *words, ok=(0, 128))
    return os.fsdecode(out).strip() if code == 0 else ""


def versions(repo: git.Repository, path: str, since: str = "") -> dict[str, str]:
    """Every content that a file had in HEAD's history after a commit, in whatever line of it, each with the newest
    commit that has it. A file that was merged counts as each side had it, whichever side the merge took.
    """
    form = ("log", "-m", "--raw", "-z", "--full-history", "--no-renames", "--no-abbrev", "--format=%x01%H")
    span = ("--end-of-options", "HEAD", *((f"^{since}",) if since else ()))
    code, out = run(repo.top, *form, *span, "--", f":(top,literal){path}", ok=(0, 128))
    found: dict[str, str] = {}
    for block in out.split(b"\1")[1:] if code == 0 else ():
        sha, _, rest = block.partition(b"\0")
        about = rest.lstrip(b"\n").split(b"\0", 1)[0].split()
        if len(about) > 3 and about[3].strip(b"0"):
            found.setdefault(os.fsdecode(about[3]), os.fsdecode(sha).strip())
    return found


def not_beginnings(repo: git.Repository, blobs: Iterable[str], data: bytes) -> list[str]:
    """Of these contents, those that some data does not begin with: told by their names, without reading them."""
    import hashlib

    listed = list(blobs)
    asked = "".join(f"{blob}\n" for blob in listed).encode()
    rows = run(repo.top, "cat-file", "--batch-check=%(objectsize)", stdin=asked)[1].split(b"\n") if listed else []
    found = []
    for blob, size in zip(listed, rows, strict=False):
        length = int(size) if size.isdigit() else len(data) + 1
        kind = hashlib.sha1 if len(blob) == 40 else hashlib.sha256
        if length > len(data) or kind(b"blob %d\0" % length + data[:length]).hexdigest() != blob:
            found.append(blob)
    return found


def last_with(repo: git.Repository, path: str) -> str:
    """The newest commit of HEAD's history that has a file: `HEAD`, or the one before it was deleted; else empty."""
    name = git.inside(repo, path)
    if name is None or git.head(repo) is None:
        return ""
    if run(repo.top, "ls-tree", "-z", "--end-of-options", "HEAD", "--", f":(literal){name}")[1]:
        return "HEAD"
    sha = newest_of(repo, name)
    return os.fsdecode(run(repo.top, "rev-parse", "--short=12", f"{sha}^")[1]).strip() if sha else ""


def message(repo: git.Repository, sha: str) -> str:
    """What a commit says."""
    return os.fsdecode(run(repo.top, "log", "-1", "--format=%B", "--end-of-options", sha, "--")[1])


def shared(repo: git.Repository, one: str, other: str) -> str | None:
    """The newest commit that two have in their history, if there is one."""
    out = run(repo.top, "merge-base", one, other, ok=(0, 1))[1]
    return os.fsdecode(out).strip() or None


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
