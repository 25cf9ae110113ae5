"""Where things are: the root, its `.holdfast`, and the worktree one is in."""

from __future__ import annotations

import os
from _collections_abc import Mapping
from stat import S_ISREG

from holdfast import git
from holdfast.core.value import Value
from holdfast.errors import Refused, UsageError
from holdfast.files import system
from holdfast.plain.digest import digest

HOME = ".holdfast"
WORKTREES = ".worktrees"
"""Where agents get worktrees of their own. Not in `.holdfast`, which agents leave alone."""
SHARED = ("config.toml", "allowed_signers", "approvers", "team", "team.toml", "workflows")
"""What belongs to the user in it, and travels with git."""
_WITHIN = ("!workflows/*.toml", "!team/**")
_UNSAFE = ("nfs", "9p", "smb", "cifs", "afp", "webdav", "fuse.sshfs", "afs", "ceph", "lustre", "vboxsf", "drvfs")


class Place(Value):
    """`root` holds `.holdfast`; `worktree` is where the files are that one works on. Often they are the same."""

    root: str
    worktree: str
    repository: git.Repository | None = None

    @property
    def home(self) -> str:
        return f"{self.root.rstrip('/')}/{HOME}"

    @property
    def outside(self) -> str:
        """Where records are that outlive `.holdfast`: in git's own folder. Empty without git."""
        if self.repository is None:
            return ""
        inside = os.path.relpath(self.home, self.repository.main)  # the same after a move
        return f"{self.repository.common_dir}/holdfast-lines-{digest(os.fsencode(inside))[:8]}"

    def base(self, worktree: str) -> str:
        """The folder in which the documents of a workflow appear."""
        return worktree or self.root

    def key(self) -> str:
        """How a workflow remembers this worktree: nothing for the main one, else its path."""
        return "" if self.worktree == self.root else self.worktree

    @property
    def made_for(self) -> str:
        """The id or ULID of the workflow whose agent got the worktree one is in; empty in any other."""
        parts = os.path.relpath(self.worktree, self.root).split(os.sep)
        return parts[1] if len(parts) == 3 and parts[0] == WORKTREES else ""

    def is_in(self, worktree: str) -> bool:
        """Whether one is in the worktree at this path from the root."""
        return os.path.join(self.root, worktree) == self.worktree

    def branch(self) -> str | None:
        return git.branch(self.repository) if self.repository else None

    def typed(self, path: str) -> str:
        """Where a path leads that somebody typed: from the current folder, or from the top where it is only there.

        Paths are printed as they are written down, from the top of the worktree, and can be typed anywhere below it.
        """
        here, top = (os.path.join(folder, path) for folder in (os.getcwd(), self.worktree))
        return top if "\0" not in path and not os.path.lexists(here) and os.path.lexists(top) else here

    def inside(self, path: str) -> str:
        """A path as it is written down: relative to the worktree, and never leaving it."""
        full = os.path.normpath(self.typed(path))
        real = os.path.join(os.path.realpath(os.path.dirname(full)), os.path.basename(full))
        relative = os.path.relpath(real, os.path.realpath(self.worktree))
        bad = any(ord(c) < 32 or c == "\x7f" for c in relative) or not relative.isprintable()
        if relative == os.curdir or relative.split(os.sep)[0] == os.pardir or bad or os.path.islink(real):
            raise self._outside(path)
        return relative.replace(os.sep, "/")

    def all_inside(self, files: Mapping[str, str] | None) -> dict[str, str]:
        """The same for files by name."""
        return {name: self.inside(file) for name, file in (files or {}).items()}

    def pattern(self, path: str) -> str:
        """A path, or a pattern with `*` and `?` over paths, as it is written down: it never leaves the worktree."""
        from holdfast.core.patterns import is_pattern

        if not is_pattern(path):
            return self.inside(path)
        parts = [part for part in path.split("/") if part not in ("", os.curdir)]
        first = next(number for number, part in enumerate(parts) if is_pattern(part))
        above = os.path.join(os.getcwd(), "/" if path.startswith("/") else "", *parts[:first])
        relative = os.path.relpath(os.path.realpath(above), os.path.realpath(self.worktree))
        climbs = os.pardir in parts[first:] or relative.split(os.sep)[0] == os.pardir
        if climbs or not path.isprintable():
            raise self._outside(path)
        inside = [] if relative == os.curdir else relative.split(os.sep)
        return "/".join((*inside, *parts[first:]))

    def _outside(self, path: str) -> UsageError:
        return UsageError(
            "outside_root",
            f"{path[:200]!r} is not a file inside the project",
            remedy=f"name a file below {self.worktree}",
            facts={"path": path[:400], "root": self.worktree},
        )


def below(base: str, path: str) -> str:
    """Where a path leads that is written down relative to a folder; empty when that is not below the folder."""
    top = os.path.realpath(base)
    full = os.path.realpath(os.path.join(top, path)) if "\0" not in path else ""
    return full if full.startswith(os.path.join(top, "")) else ""


def regular(path: str, most: int) -> bytes:
    """The beginning of a regular file, at most so many bytes. Anything else is an OSError, and nobody is waited for."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # opening a pipe must not wait for its writer
    try:
        if not S_ISREG(os.fstat(fd).st_mode):
            raise OSError(0, "it is not a regular file")
        with open(fd, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(fd)


def read_regular(path: str, largest: int) -> bytes | None:
    """The content of a regular file of at most so many bytes; None for anything else."""
    try:
        data = regular(path, largest + 1)
    except (OSError, ValueError):
        return None
    return data if len(data) <= largest else None


def find(start: str) -> Place:
    """The nearest folder with `.holdfast`, else git's top level, else the folder itself; worktrees share one."""
    start = os.path.realpath(start)
    repository = git.find(start)
    folder = start
    while True:
        if os.path.isdir(os.path.join(folder, HOME)):
            linked = repository and folder == repository.top and repository.main != repository.top
            if not linked:
                inside = repository is not None and folder in (repository.top, repository.main)
                return Place(folder, repository.top if inside and repository else folder, repository)
        if repository and folder == repository.top:
            break
        above = os.path.dirname(folder)
        if above == folder:
            break
        folder = above
    if repository:
        return Place(repository.main, repository.top, repository)
    return Place(start, start, None)


def prepare(place: Place, *, insist: bool) -> None:
    """Makes `.holdfast` ready at the first write, also where git brought the user's own files in it.

    It keeps itself out of git, those files aside.
    """
    ignore = os.path.join(place.home, ".gitignore")
    if _is_begun(place.home) and _is_written(ignore):
        return
    if not insist:
        _refuse_unsafe(place.root)
    from holdfast.files.replace import hand_over, make_directories

    make_directories(place.home, 0o700)
    os.chmod(place.home, 0o700)
    if not _is_written(ignore):
        with open(ignore, "w", encoding="utf-8") as file:
            hand_over(file.fileno(), place.home)
            file.write("".join(f"{line}\n" for line in ("*", *(f"!{name}" for name in SHARED), *_WITHIN)))


def _is_begun(home: str) -> bool:
    """Whether workflows were kept here: their journals, or what was beside them."""
    return any(os.path.lexists(os.path.join(home, name)) for name in ("journal", "state", "index", "slots"))


def _is_written(path: str) -> bool:
    """Not so when a process died between making the file and writing it."""
    return os.path.exists(path) and os.path.getsize(path) > 0


def _refuse_unsafe(root: str) -> None:
    """Some file systems cannot keep the promise that a synced write is there after a crash."""
    kind = system.here.file_system(root)
    if kind and kind.startswith(_UNSAFE):
        raise Refused(
            "unsafe_file_system",
            f"{root} is on {kind}, which cannot promise that a lock or a synced write holds",
            remedy="use a local disk, or insist with HOLDFAST_ALLOW_UNSAFE_FS=1",
            facts={"root": root, "file_system": kind},
        )
