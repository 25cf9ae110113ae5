"""What the engine must know of git: where the repository is, where its HEAD stands, what the working tree holds.

Everything a file read can answer is answered without starting git. Nothing here writes to the repository: the id of
the working tree is made with an index and an object directory of its own.
"""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast.core.value import Value
from holdfast.errors import HoldfastError
from holdfast.git.command import git
from holdfast.plain.digest import digest

BLOB_LIMIT = 16 * 1024 * 1024
FILES_LIMIT = 20_000
_VANISHED_ATTEMPTS = 10
COMMITTING = "holdfast-commit"
"""The note in the git folder that a commit is begun. Hooks look for it by this name."""

_CACHES = frozenset(
    (".git", ".venv", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis")
)
_EMPTY_TREES = (
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
)
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


class Tree(Value):
    """The content of a working tree: the same id is the same content. None: it cannot be told."""

    head: str | None
    id: str | None
    dirty: bool
    entries: frozenset[bytes] = frozenset()
    """What it is made of, a file each, where that was asked for."""

    def only_grew_into(self, other: Tree) -> bool:
        """Whether every file is in the other as it was here: it may have more, and nothing else changed."""
        return self.id is not None and other.id is not None and self.entries <= other.entries


def find(start: str) -> Repository | None:
    """The repository that `start` lies in. A broken `.git` file is the end of the search, as it is for git."""
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


def branch(repo: Repository) -> str | None:
    """The name of the branch that HEAD is on, born or not; None when HEAD is detached."""
    text = _plain_head(repo)
    if text is None:
        text = "ref: " + os.fsdecode(git(repo.top, "symbolic-ref", "-q", "HEAD", ok=(0, 1))[1]).rstrip("\n")
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


def head(repo: Repository) -> str | None:
    """The commit HEAD stands at, in full; None before the first commit."""
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
    return os.fsdecode(git(repo.top, "rev-parse", "-q", "--verify", "HEAD", ok=(0, 1))[1]).strip() or None


def tree(repo: Repository, own: Sequence[str], *, listing: bool = False) -> Tree:
    """The working tree as git would commit it whole, `own` path prefixes aside, and whether HEAD differs from it.

    Ignored files, caches, the inside of nested repositories and other worktrees below this one do not count. A tracked
    file that cannot be read leaves the id unknown; an untracked one is left out, as a check could not read it either.
    """
    import tempfile

    at = head(repo)
    with tempfile.TemporaryDirectory(prefix="holdfast-", ignore_cleanup_errors=True) as scratch:
        place = staging(repo, own, scratch)
        view, rest = place.view, place.rest
        unmerged = git(repo.top, "ls-files", "-z", "--unmerged", *rest, env=view)[1]
        if unmerged or not stage(repo, place):  # `add` would settle the conflict and hide it
            return Tree(head=at, id=None, dirty=True)
        made = os.fsdecode(git(repo.top, "write-tree", env=view)[1]).strip()
        listed = git(repo.top, "ls-files", "-z", "--stage", env=view)[1].split(b"\0") if listing else ()
        if at is None:
            return Tree(head=None, id=made, dirty=made not in _EMPTY_TREES, entries=frozenset(listed))
        against = ("diff-index", "--cached", "--quiet", "--ignore-submodules=none", "--end-of-options", at, *rest)
        differs = bool(git(repo.top, *against, env=view, ok=(0, 1))[0])
        return Tree(head=at, id=made, dirty=differs, entries=frozenset(listed))


class Staging(Value):
    """An index of its own that the working tree goes into, and which paths of it are meant."""

    view: Mapping[str, str]
    """The variables that make git work on it."""
    aside: tuple[str, ...]
    everything: tuple[str, ...]
    rest: tuple[str, ...]
    """The pathspec of everything but what is aside; then without caches as well."""
    sparse: tuple[str, ...]


def staging(repo: Repository, own: Sequence[str], scratch: str) -> Staging:
    """A copy of the index in the folder `scratch`, to stage all but the path prefixes `own` and other worktrees."""
    strangers = (_inside(repo, path) for path in (*_worktrees(repo), os.path.realpath(scratch)))
    aside = (*((_inside(repo, path) or path).rstrip("/") for path in own), *(path for path in strangers if path))
    everything = ("--", ".", *(f":(exclude,literal){path}" for path in aside))
    caches = (f":(exclude,glob)**/{name}/**" for name in _CACHES)
    sparse = ("--sparse",) if os.path.exists(os.path.join(repo.git_dir, "info/sparse-checkout")) else ()
    view = private_index(repo, scratch)
    return Staging(view=view, aside=aside, everything=everything, rest=(*everything, *caches), sparse=sparse)


def stage(repo: Repository, place: Staging, *, tracked_caches: bool = False) -> bool:
    """Put the working tree into the index of `place`: False when a tracked file could not be read."""
    if place.aside:
        dropped = ("--", *(f":(literal){path}" for path in place.aside))
        git(repo.top, "rm", "--cached", "-r", "-f", "-q", "--ignore-unmatch", *place.sparse, *dropped, env=place.view)
    adding = ("--ignore-errors", *place.sparse)
    incomplete = _add(repo, place, "-A", *adding, *place.rest)
    if tracked_caches:
        incomplete |= _add(repo, place, "-u", *adding, *place.everything)
    if not incomplete:
        return True
    left = ("diff-files", "--quiet", "--ignore-submodules=dirty", *(place.everything if tracked_caches else place.rest))
    return not git(repo.top, *left, env=place.view, ok=(0, 1))[0]


def _add(repo: Repository, place: Staging, *words: str) -> int:
    """`git add`, begun again where a file vanished after git had listed its folder: git gives up the whole run then."""
    for _ in range(_VANISHED_ATTEMPTS):
        try:
            return git(repo.top, "add", *words, env=place.view, ok=(0, 1))[0]
        except HoldfastError as error:
            if "unable to stat" not in error.message:
                raise
    return git(repo.top, "add", *words, env=place.view, ok=(0, 1))[0]


def files_tree(root: str, own: Sequence[str]) -> Tree:
    """The same for a folder without git, told by names, sizes, times and modes. Never dirty: nothing is committed."""
    top = os.path.realpath(root)
    aside = {os.path.join(top, path.rstrip("/")) for path in own}
    rows: list[bytes] = []
    folders = [top]
    while folders:
        for entry in _entries(folders.pop()):
            if entry.name in _CACHES or entry.path in aside:
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
            name = os.fsencode(os.path.relpath(entry.path, top))
            rows.append(b"%s\0%d %d %o\n" % (name, stat.st_size, stat.st_mtime_ns, stat.st_mode))
    return Tree(head=None, id=digest(b"".join(sorted(rows))), dirty=False, entries=frozenset(rows))


def tracked(repo: Repository, path: str) -> bool:
    """Whether the file at `path`, relative to the top or absolute, is in the index."""
    inside = _inside(repo, path)
    if inside is None:
        return False
    listed = git(repo.top, "ls-files", "-z", "--", f":(literal){inside}")[1]
    return os.fsencode(inside) in listed.split(b"\0")


def head_blob(repo: Repository, path: str) -> bytes | None:
    """The bytes of `path` in HEAD; None when HEAD has no such file or it is larger than BLOB_LIMIT."""
    inside = _inside(repo, path)
    at = head(repo)
    if inside is None or at is None:
        return None
    _, listed = git(repo.top, "ls-tree", "-z", "-l", "--end-of-options", at, "--", f":(literal){inside}")
    for row in listed.split(b"\0"):
        about, _, name = row.partition(b"\t")
        if name == os.fsencode(inside):
            _, kind, blob, size = about.split()
            if kind == b"blob" and int(size) <= BLOB_LIMIT:
                return git(repo.top, "cat-file", "blob", os.fsdecode(blob))[1]
    return None


def user(repo: Repository) -> str | None:
    """Who git takes the user for: `Name <mail>`, or the one of the two that is configured."""
    listed = git(repo.top, "config", "-z", "--get-regexp", r"^user\.(name|email)$", ok=(0, 1))[1]
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


def _worktrees(repo: Repository) -> list[str]:
    """The tops of the repository's linked worktrees, this one aside."""
    folders = [entry.path for entry in _entries(os.path.join(repo.common_dir, "worktrees"))]
    links = ((folder, _read(os.path.join(folder, "gitdir"))) for folder in folders)
    tops = (os.path.realpath(os.path.join(folder, os.path.dirname(link))) for folder, link in links if link)
    return [top for top in tops if top != repo.top]


def _inside(repo: Repository, path: str) -> str | None:
    """`path` relative to the top; None when it names nothing below it."""
    if "\0" in path:
        return None
    folder, name = os.path.split(os.path.join(repo.top, path))
    inside = os.path.relpath(os.path.join(os.path.realpath(folder), name), repo.top)
    return None if inside in (".", "..") or inside.startswith("../") else inside


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def private_index(repo: Repository, scratch: str) -> dict[str, str]:
    """The variables that make git work on a copy of the index and put new objects elsewhere."""
    objects = os.path.join(scratch, "objects")
    os.mkdir(objects)
    index = os.path.join(scratch, "index")
    try:
        with open(os.path.join(repo.git_dir, "index"), "rb") as source:
            stat = os.fstat(source.fileno())
            with open(index, "wb") as copy:
                copy.write(source.read())
        # git rereads a file as young as the index, as it may have changed right after: a younger copy would trust it.
        os.utime(index, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    except FileNotFoundError:
        pass
    real = os.path.join(repo.common_dir, "objects").replace("\\", "\\\\").replace('"', '\\"')
    return {"GIT_INDEX_FILE": index, "GIT_OBJECT_DIRECTORY": objects, "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{real}"'}


def _read(path: str) -> str | None:
    """A small text of git's; None when it is not there or holds what no path may hold."""
    try:
        with open(path, "rb") as file:
            text = os.fsdecode(file.read())
    except OSError:
        return None
    return None if "\0" in text else text
