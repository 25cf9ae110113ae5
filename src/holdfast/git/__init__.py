"""What the engine must know of git: where the repository is, and where its HEAD stands.

Everything a file read can answer is answered without starting git. Nothing here writes to the repository.
"""

from __future__ import annotations

import os
from _collections_abc import Sequence

from holdfast.core.value import Value

BLOB_LIMIT = 16 * 1024 * 1024
COMMITTING = "holdfast-commit"
"""The note in the git folder that a commit is begun. Hooks look for it by this name."""
MADE = "holdfast-made"
"""The folder with a note for each commit that is made and not recorded yet."""

_BRANCHES = "refs/heads/"
_UNDER_WAY = (  # a rebase also leaves the marks of the merge or pick it stopped at, so it comes first
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


class Repository(Value):
    """A working tree under git. Paths are physical, so that every worktree spells the shared ones alike."""

    top: str
    main: str  # a bare repository has no main worktree: then it is the repository itself, as `git worktree list` has it
    git_dir: str
    common_dir: str


def find(start: str) -> Repository | None:
    """The repository that `start` is in. A broken `.git` file is the end of the search, as it is for git."""
    folder = os.path.realpath(start)
    while True:
        entry = os.path.join(folder, ".git")
        if os.path.isfile(entry):
            pointer = _read(entry) or ""
            if not pointer.startswith("gitdir: "):
                return None
            return _repository(folder, os.path.join(folder, pointer[8:].rstrip("\r\n")))
        found = _repository(folder, entry) if os.path.isdir(entry) else None
        if found or folder == os.path.dirname(folder):
            return found
        folder = os.path.dirname(folder)


def _git(top: str, *words: str, ok: Sequence[int] = (0,)) -> tuple[int, bytes]:
    """Runs git. What does that is imported here, because files answer most questions."""
    from holdfast.git.command import git

    return git(top, *words, ok=ok)


def branch(repo: Repository) -> str | None:
    """The name of the branch that HEAD is on, born or not; None when HEAD is detached."""
    text = _plain_head(repo)
    if text is None:
        text = "ref: " + os.fsdecode(_git(repo.top, "symbolic-ref", "-q", "HEAD", ok=(0, 1))[1]).rstrip("\n")
    _, prefix, name = text.partition(f"ref: {_BRANCHES}")
    return name if prefix else None


def busy(repo: Repository) -> str | None:
    """The operation of several steps that git is in the middle of, if any."""
    for mark, operation in _UNDER_WAY:
        if os.path.lexists(os.path.join(repo.git_dir, mark)):
            return operation
    return None


def is_unsettled(repo: Repository) -> bool:
    """Whether a commit of Holdfast's is under way, or its process is gone."""
    return os.path.lexists(os.path.join(repo.git_dir, COMMITTING))


def has_unrecorded(repo: Repository) -> bool:
    """Whether a command has made a commit that it has still to record, or was ended before it could."""
    return os.path.isdir(os.path.join(repo.git_dir, MADE))


def may_have(repo: Repository, folder: str) -> bool:
    """Whether there can be refs below a folder of them, such as `refs/holdfast/pins`."""
    if os.path.isdir(os.path.join(repo.common_dir, "reftable")):
        return True
    packed = _read(os.path.join(repo.common_dir, "packed-refs")) or ""
    return os.path.isdir(os.path.join(repo.common_dir, folder)) or f" {folder}/" in packed


def head(repo: Repository) -> str | None:
    """The commit HEAD is at, in full; None before the first commit."""
    text = _plain_head(repo)
    if text is not None:
        if not text.startswith("ref: "):
            return text
        ref = text[len("ref: ") :]
        loose = _read(os.path.join(repo.common_dir, ref))
        if loose is None:
            return _packed(repo, ref)
        if is_object_id(loose.rstrip("\n")):
            return loose.rstrip("\n")
    return os.fsdecode(_git(repo.top, "rev-parse", "-q", "--verify", "HEAD", ok=(0, 1))[1]).strip() or None


def tracked(repo: Repository, path: str) -> bool:
    """Whether the file at `path`, relative to the top or absolute, is in the index."""
    name = inside(repo, path)
    if name is None:
        return False
    listed = _git(repo.top, "ls-files", "-z", "--", f":(literal){name}")[1]
    return os.fsencode(name) in listed.split(b"\0")


def committed(repository: Repository, branch: str, path: str) -> bool:
    """Whether a branch has the file. Where another one is checked out, it is gone, or would be in git's way."""
    inside = f":(literal){os.path.relpath(path, repository.top)}"
    from holdfast.git.command import git as run

    words = ("ls-tree", "-z", "--name-only", "--end-of-options", f"refs/heads/{branch}", "--", inside)
    return bool(run(repository.top, *words, ok=(0, 128))[1])


def head_blob(repo: Repository, path: str, sha: str = "") -> bytes | None:
    """The bytes of `path` in HEAD, or in a commit; None when that has no such file or it is larger than BLOB_LIMIT."""
    name = inside(repo, path)
    at = sha or head(repo)
    if name is None or at is None:
        return None
    _, listed = _git(repo.top, "ls-tree", "-z", "-l", "--end-of-options", at, "--", f":(literal){name}")
    for row in listed.split(b"\0"):
        about, _, found = row.partition(b"\t")
        if found == os.fsencode(name):
            _, kind, blob, size = about.split()
            if kind == b"blob" and int(size) <= BLOB_LIMIT:
                return _git(repo.top, "cat-file", "blob", os.fsdecode(blob))[1]
    return None


def user(repo: Repository) -> str | None:
    """Who git takes the user for: `Name <mail>`, or the one of the two that is configured."""
    listed = _git(repo.top, "config", "-z", "--get-regexp", r"^user\.(name|email)$", ok=(0, 1))[1]
    entries = (entry.partition("\n") for entry in listed.decode("utf-8", "replace").split("\0"))
    found = {key: value.strip() for key, _, value in entries}
    email = found.get("user.email")
    return " ".join(part for part in (found.get("user.name"), f"<{email}>" if email else "") if part) or None


def _repository(top: str, git_dir: str) -> Repository | None:
    git_dir = os.path.realpath(git_dir)
    shared = _read(os.path.join(git_dir, "commondir"))
    common = git_dir if shared is None else os.path.realpath(os.path.join(git_dir, shared.rstrip("\r\n")))
    complete = os.path.isdir(os.path.join(common, "objects")) and os.path.isdir(os.path.join(common, "refs"))
    if not complete or not os.path.lexists(os.path.join(git_dir, "HEAD")):
        return None
    if shared is None:
        if (_core(common, "bare") or "").lower() in ("true", "yes", "on", "1"):
            return None
        return Repository(top=top, main=top, git_dir=git_dir, common_dir=common)
    worktree = _core(common, "worktree")  # how a submodule, or a repository kept elsewhere, finds its files
    if worktree:
        main = os.path.realpath(os.path.join(common, worktree))
    else:
        main = os.path.dirname(common) if os.path.basename(common) == ".git" else common
    return Repository(top=top, main=main, git_dir=git_dir, common_dir=common)


def _core(common_dir: str, key: str) -> str | None:
    found = None
    for name in ("config", "config.worktree"):
        section = ""
        for line in (_read(os.path.join(common_dir, name)) or "").splitlines():
            if line.startswith("["):
                section = line[1:].partition("]")[0].strip().lower()
            left, _, value = line.partition("=")
            if section == "core" and left.strip().lower() == key:
                found = value.strip().strip('"').replace('\\"', '"').replace("\\\\", "\\")
    return found


def _plain_head(repo: Repository) -> str | None:
    """HEAD's own text where it means what it says: a branch, or an object id. None: only git can tell."""
    path = os.path.join(repo.git_dir, "HEAD")
    text = None if os.path.islink(path) else _read(path)
    if text is None:
        return None
    text = text.rstrip("\n")
    named = text.startswith(f"ref: {_BRANCHES}") and text != f"ref: {_BRANCHES}.invalid"  # reftable's stand-in
    return text if named or is_object_id(text) else None


def _packed(repo: Repository, ref: str) -> str | None:
    before, found, _ = (_read(os.path.join(repo.common_dir, "packed-refs")) or "").partition(f" {ref}\n")
    return before.rpartition("\n")[2] if found else None


def is_object_id(text: str) -> bool:
    return len(text) in (40, 64) and not text.strip("0123456789abcdef")


def worktrees(repo: Repository) -> list[str]:
    """The tops of the repository's linked worktrees, this one aside."""
    folders = [entry.path for entry in entries(os.path.join(repo.common_dir, "worktrees"))]
    links = ((folder, _read(os.path.join(folder, "gitdir"))) for folder in folders)
    tops = (os.path.realpath(os.path.join(folder, os.path.dirname(link))) for folder, link in links if link)
    return [top for top in tops if top != repo.top]


def inside(repo: Repository, path: str) -> str | None:
    """`path` relative to the top; None when it names nothing below it."""
    if "\0" in path:
        return None
    folder, name = os.path.split(os.path.join(repo.top, path))
    inside = os.path.relpath(os.path.join(os.path.realpath(folder), name), repo.top)
    return None if inside in (".", "..") or inside.startswith("../") else inside


def entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _read(path: str) -> str | None:
    """A small text of git's; None when it is not there or holds what no path may hold."""
    try:
        with open(path, "rb") as file:
            text = os.fsdecode(file.read())
    except OSError:
        return None
    return None if "\0" in text else text
