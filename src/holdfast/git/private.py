"""A private index of the files in a working tree, kept between commands so that only what changed is read again.

The user's index and the ignore rules say which files count, each time again. The private index has the hashes of the
files with size, times and inode, as git keeps them. No file is stored as an object, and nothing is written to the
repository.
"""

from __future__ import annotations

import os
from _collections_abc import Iterable, Sequence
from stat import S_ISDIR, S_ISLNK, S_ISREG

from holdfast import git
from holdfast.core.value import Any, Value
from holdfast.errors import HoldfastError
from holdfast.files.replace import read_file, remove
from holdfast.git.command import git as run
from holdfast.plain import clock
from holdfast.plain.digest import digest

CACHES = frozenset(
    (".git", ".venv", "node_modules", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis")
)
KEPT = 24
"""How many are kept in a folder: one for each worktree, and for each set of files that is left aside."""
YOUNG_SECONDS = 2
"""A file that changed so shortly before it was read may have changed again within the resolution of its times."""
GITLINK = b"160000"
_ATTEMPTS = 3
_EMPTY_TREES = (
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
)
# What a repository configures must not let an edited file pass for an unchanged one.
_EXACT = ("core.ignoreStat=false", "core.trustctime=true", "core.checkStat=default")


class _Known(Value):
    """What is kept with the index. Paths are text, as `os.fsdecode` gives it."""

    user: list[int]
    """The user's index: inode, size and times; then a hash of its entries."""
    entries: str
    unmerged: bool
    others: str = ""
    """A hash of the names that git does not track; empty when one of them has to be looked at again."""
    gone: list[str] = []
    """Files that the user's index has and the working tree does not."""
    young: list[str] = []
    """Files whose content is compared, since their times tell nothing yet; and nested repositories, as git does not say
    that one lost its commits or is a file again."""
    tree: list[Any] = []
    """The commit at HEAD, the id of the tree, and whether they differ."""


class PrivateIndex:
    """The files of a working tree that count, `own` path prefixes and other worktrees aside.

    The index is in the folder `scratch`. What is known for the next command is kept in the folder `kept`.
    """

    def __init__(self, repo: git.Repository, own: Sequence[str], kept: str, scratch: str) -> None:
        strangers = (git.inside(repo, path) for path in git.worktrees(repo))
        aside = (*((git.inside(repo, path) or path).rstrip("/") for path in own), *(path for path in strangers if path))
        here = git.inside(repo, os.path.realpath(scratch))
        self._repo = repo
        self._began = clock.seconds()
        self._kept = os.path.join(kept, digest(os.fsencode("\0".join((repo.top, *aside))))) if kept else ""
        self._aside = (*aside, here) if here else aside
        self._path, objects = os.path.join(scratch, "index"), os.path.join(scratch, "objects")
        os.mkdir(objects)
        real = os.path.join(repo.common_dir, "objects").replace("\\", "\\\\").replace('"', '\\"')
        self._view = {
            "GIT_INDEX_FILE": self._path,
            "GIT_OBJECT_DIRECTORY": objects,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{real}"',
        }
        self._users = b""
        self._caches: set[bytes] = set()
        self._before: _Known | None = None
        self._known = self._loaded() or self._begun()

    @property
    def is_unmerged(self) -> bool:
        """Whether a file that counts is in conflict."""
        return self._known.unmerged

    @property
    def everything(self) -> tuple[str, ...]:
        """The pathspec of what is not aside."""
        return ("--", ".", *(f":(exclude,literal){path}" for path in self._aside))

    def git(self, *words: str, stdin: bytes = b"", ok: Sequence[int] = (0,)) -> tuple[int, bytes]:
        return run(self._repo.top, *words, env=self._view, settings=_EXACT, stdin=stdin, ok=ok)

    def content(self) -> bytes:
        return _content(self._path)

    def read(self) -> bool:
        """Let the index have the files as they are: False when a tracked one cannot be read."""
        known = self._known
        caches = (word for name in CACHES for word in ("-x", f"{name}/"))
        listed = run(self._repo.top, "ls-files", "-z", "-o", "--exclude-standard", *caches, *self.everything)[1]
        others = digest(listed)
        before, compared = ({os.fsencode(path) for path in paths} for paths in (known.gone, known.young))
        absent = missing(self._repo.top, compared)
        self._enter(absent, set())  # a repository that a link leads to now would make git fail
        dropped, fed = set[bytes](), before | absent | {path for path in compared if not self._is_young(path)}
        if known.others != others:
            have, want = self._names(), {*self._tracked(), *(name.rstrip(b"/") for name in listed.split(b"\0")[:-1])}
            dropped = have - want
            fed = (fed - dropped) | (want - have)
        modified = self._names("-m") - dropped
        self._caches = {path for path in modified if _is_cache(path)}
        fed |= modified - self._caches
        gone = missing(self._repo.top, fed) | {path for path in fed if self._is_plain_folder(path)}
        lost, there = dropped | (gone - before), fed - gone
        nested = {path for path in there if self._is_folder(path)}
        unread = self._enter(lost | nested, there)  # git enters no repository where it has a file
        left = unread | (gone - before)
        if left:
            tracked = self._tracked()
            if not unread.isdisjoint(tracked):
                return False
            if not left <= tracked.keys():
                others = ""
            gone &= tracked.keys()
            if any(tracked[path] == GITLINK for path in gone):  # an empty folder would bring a submodule back
                self._kept = ""
        young = set[bytes]()
        if self._kept:
            young = self._compared(there - unread - nested) | nested | (compared - fed - dropped)
        tree = [] if lost or there else known.tree
        self._known = known.replace(others=others, gone=_texts(gone), young=_texts(young), tree=tree)
        return True

    def read_caches(self) -> bool:
        """Let the index also have the tracked files in caches as they are. That is not kept."""
        gone = missing(self._repo.top, self._caches)
        return not self._enter(gone, self._caches - gone)

    def tree(self, at: str | None) -> tuple[str, bool]:
        """The id of the tree that the index makes, and whether it differs from the one of a commit."""
        if self._known.tree[:1] != [at]:
            made = os.fsdecode(self.git("write-tree", "--missing-ok")[1]).strip()
            differs = made not in _EMPTY_TREES
            if at is not None:
                caches = (f":(exclude,glob)**/{name}/**" for name in CACHES)
                against = ("diff-index", "--cached", "--quiet", "--ignore-submodules=none", "--end-of-options", at)
                differs = bool(self.git(*against, *self.everything, *caches, ok=(0, 1))[0])
            self._known = self._known.replace(tree=[at, made, differs])
        return self._known.tree[1], self._known.tree[2]

    def keep(self) -> None:
        """Keep what is known. Where that cannot be written, the next command reads everything."""
        import json

        folder = os.path.dirname(self._kept)
        if not self._kept or self._known == self._before or not os.path.isdir(os.path.dirname(folder)):
            return
        content, new = self.content(), f"{self._kept}.{os.getpid()}"
        modified = os.stat(self._path).st_mtime_ns if content else 0
        said = json.dumps([digest(content), modified, dict(self._known.items())]).encode()
        try:
            os.makedirs(folder, 0o700, exist_ok=True)
            _write(new, said + b"\n" + content)
            os.replace(new, self._kept)
            for old in sorted(git.entries(folder), key=lambda entry: entry.stat().st_mtime_ns)[:-KEPT]:
                remove(old.path)
        except OSError:
            remove(new)

    def _loaded(self) -> _Known | None:
        """What was kept, where it holds: the user's index has the same entries."""
        import json

        line, _, content = (_content(self._kept) if self._kept else b"").partition(b"\n")
        try:
            said, modified, fields = json.loads(line)
            self._before = known = _Known(**fields)
        except (TypeError, ValueError):
            return None
        stamp = _stamp(self._repo)
        if said != digest(content) or (known.user != stamp and known.entries != self._entries()):
            return None
        if content:
            _write(self._path, content)
            os.utime(self._path, ns=(modified, modified))
        return known.replace(user=stamp)

    def _begun(self) -> _Known:
        stamp = _stamp(self._repo)
        copy_index(self._repo, self._path)
        if any(name.startswith("sharedindex.") for name in os.listdir(self._repo.git_dir)):
            self.git("update-index", "--no-split-index")  # git deletes the shared part when its time has come
        self._users = self.git("ls-files", "-z", "-s", "-v")[1]
        self._unhide()
        rows = (row.partition(b"\t") for row in self._users.split(b"\0")[:-1])
        conflicts = (name for about, _, name in rows if not about.endswith(b" 0"))
        unmerged = any(not self._is_aside(name) and not _is_cache(name) for name in conflicts)
        return _Known(user=stamp, entries=self._entries(), unmerged=unmerged)

    def _unhide(self) -> None:
        """Let git compare the files that the user's index says to take for unchanged, where they are there."""
        rows = (row.partition(b"\t") for row in self._users.split(b"\0")[:-1])
        hidden = {name for about, _, name in rows if about[:1] == b"S" or about[:1].islower()}
        there = hidden - missing(self._repo.top, hidden)
        for flag in ("--no-assume-unchanged", "--no-skip-worktree") if there else ():
            self.git("update-index", flag, "-z", "--stdin", stdin=_lines(there))
            self._kept = ""

    def _entries(self) -> str:
        self._users = self._users or run(self._repo.top, "ls-files", "-z", "-s", "-v")[1]
        return digest(self._users)

    def _tracked(self) -> dict[bytes, bytes]:
        """What the user's index has, with its modes."""
        self._entries()
        rows = (row[2:].partition(b"\t") for row in self._users.split(b"\0")[:-1])
        return {name: about[:6] for about, _, name in rows if not self._is_aside(name)}

    def _names(self, *options: str) -> set[bytes]:
        return set(self.git("ls-files", "-z", *options)[1].split(b"\0")[:-1])

    def _is_aside(self, name: bytes) -> bool:
        return any(name == one or name.startswith(one + b"/") for one in map(os.fsencode, self._aside))

    def _is_plain_folder(self, path: bytes) -> bool:
        """Whether this is a folder, and no repository with a commit."""
        if not self._is_folder(path):
            return False
        full = os.path.join(self._repo.top, os.fsdecode(path))
        nested = git.find(full) if os.path.lexists(os.path.join(full, ".git")) else None
        return nested is None or nested.top != full or git.head(nested) is None

    def _is_folder(self, path: bytes) -> bool:
        full = os.path.join(self._repo.top, os.fsdecode(path))
        return os.path.isdir(full) and not os.path.islink(full)

    def _enter(self, gone: set[bytes], there: set[bytes]) -> set[bytes]:
        """Take files out of the index and put others into it: those of them that cannot be read."""
        unread = set[bytes]()
        if gone:
            self.git("update-index", "--force-remove", "-z", "--stdin", stdin=_lines(gone))
        for attempt in range(_ATTEMPTS):
            if not there - unread:
                break
            words = ("update-index", "--add", "--remove", "--replace", "--ignore-skip-worktree-entries", "--info-only")
            try:
                self.git(*words, "-z", "--stdin", stdin=_lines(there - unread))
                break
            except HoldfastError as error:  # also where a file became a folder meanwhile
                unread = {path for path in there if not _is_readable(os.path.join(os.fsencode(self._repo.top), path))}
                if error.code != "git_failed" or attempt + 1 == _ATTEMPTS:
                    raise
        return unread

    def _compared(self, paths: set[bytes]) -> set[bytes]:
        """The young ones of these files: their times are taken out of the index, so that git compares the content."""
        young = {path for path in paths if self._is_young(path)}
        if young:
            rows = self.git("ls-files", "-z", "-s")[1].split(b"\0")
            found = b"".join(row + b"\0" for row in rows if row.partition(b"\t")[2] in young)
            self.git("update-index", "-z", "--index-info", stdin=found)
        return young

    def _is_young(self, path: bytes) -> bool:
        try:
            stat = os.lstat(os.path.join(os.fsencode(self._repo.top), path))
        except OSError:
            return True
        return not S_ISDIR(stat.st_mode) and max(stat.st_mtime, stat.st_ctime) > self._began - YOUNG_SECONDS


def missing(top: str, paths: Iterable[bytes]) -> set[bytes]:
    """Of these paths those where git sees no file: they are gone, or behind a link."""
    within = os.fsencode(top)
    folders: dict[bytes, bool] = {}
    found = set()
    for path in paths:
        full = os.path.join(within, path)
        folder = os.path.dirname(full)
        if folder not in folders:
            folders[folder] = os.path.realpath(folder) == folder
        if not folders[folder] or not os.path.lexists(full):
            found.add(path)
    return found


def copy_index(repo: git.Repository, path: str) -> None:
    """Copy the user's index, if there is one."""
    import shutil

    try:
        # With its time: git rereads a file as young as the index, as it may have changed right after.
        shutil.copy2(os.path.join(repo.git_dir, "index"), path)
    except FileNotFoundError:
        pass


def _stamp(repo: git.Repository) -> list[int]:
    try:
        stat = os.stat(os.path.join(repo.git_dir, "index"))
    except OSError:
        return []
    return [stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns]


def _is_cache(path: bytes) -> bool:
    return not CACHES.isdisjoint(os.fsdecode(path).split("/")[:-1])


def _is_readable(full: bytes) -> bool:
    """Whether git can read a file, or sees that it is gone."""
    try:
        mode = os.lstat(full).st_mode
        if S_ISREG(mode):
            os.close(os.open(full, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return S_ISREG(mode) or S_ISLNK(mode) or S_ISDIR(mode)


def _content(path: str) -> bytes:
    try:
        return read_file(path)
    except OSError:
        return b""


def _write(path: str, data: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(data)


def _lines(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in sorted(paths))


def _texts(paths: Iterable[bytes]) -> list[str]:
    return sorted(map(os.fsdecode, paths))
