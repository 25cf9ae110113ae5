"""The project's central docs and a feature's own copies of them: copied at the start, published at the end.

One table says which file is which, in both directions. Nobody's words are lost: a central doc that others changed in
the meantime is never written over unless a person says that it was merged. No link is followed, and everything is
looked at before the first write. The caller is alone in the worktree, by a lock.
"""

from __future__ import annotations

import errno
import os
from _collections_abc import Callable, Mapping, Sequence
from stat import S_ISDIR, S_ISLNK, S_ISREG

from holdfast.core import remedies
from holdfast.core.remedy import shell
from holdfast.core.state import State
from holdfast.core.value import Value
from holdfast.errors import Conflict, HoldfastError, UsageError
from holdfast.files import links
from holdfast.files.replace import durable_write, read_file
from holdfast.plain.digest import digest
from holdfast.systems.gated.words import HOME

LARGEST = 16 << 20
LIST = "docs/features.md"
_TABLE = {
    LIST: "00-feature/features.md",
    "docs/requirements.md": "01-requirements/requirements.md",
    "docs/architecture.md": "02-architecture/architecture.md",
    "docs/user-guide.md": "05-documentation/user-docs.md",
    "docs/api-reference.md": "05-documentation/api-docs.md",
}
_DIAGRAMS, _OWN_DIAGRAMS = "docs/diagrams", "02-architecture/diagrams"
_FIRST_WORDS = {
    f"{HOME}/.gitkeep": "",
    LIST: "# Features\n\nWhat this project can do, one entry for each feature.\n",
    "docs/requirements.md": "# Requirements\n\nWhat this project has to do, and how well.\n",
    "docs/architecture.md": "# Architecture\n\nThe parts of this project and how they work together.\n",
    f"{_DIAGRAMS}/.gitkeep": "",
    "docs/user-guide.md": "# User Guide\n\nHow this project is used.\n",
    "docs/api-reference.md": "# API Reference\n\nWhat other programs can ask of this project.\n",
}
_SLUG = r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?"
_LONGEST_NAME = 255
_MODE = 0o644


class Write(Value):
    """A file to be written: where its content comes from and where it goes, both from the top of the worktree."""

    source: str
    target: str
    content: bytes


class Publishing(Value):
    """What publishing would do to the central docs: all paths are central ones.

    `conflicts` were changed by others since the start. What is in neither stays as it is, as the feature's copy was
    deleted or never touched.
    """

    writes: tuple[Write, ...] = ()
    conflicts: tuple[str, ...] = ()


def copy_in(base: str, slug: str) -> dict[str, str]:
    """Copy the central docs into the workspace, and say by the digest of each what the workspace began from.

    A file that the workspace has already stays, so that a start can be repeated after a crash.
    """
    top = _workspace(slug)
    found: dict[str, str] = {}
    writes = []
    for central in (*_TABLE, *_diagrams(base, _DIAGRAMS)):
        content = _content(base, central)
        if content is None:
            continue
        found[central] = digest(content)
        own = f"{top}/{_own(central)}"
        if not is_there(base, own):
            writes.append(Write(central, own, content))
    _write(base, writes)
    return found


def publish(
    base: str,
    slug: str,
    seeded: Mapping[str, str],
    merged: Sequence[str] = (),
    allow: Callable[[Write], None] | None = None,
) -> tuple[str, ...]:
    """Write the workspace's docs to the central ones; the central paths that were written.

    `merged` names central docs whose changes by others a person has put into the workspace's copies. `allow` is shown
    every write before the first is made, and raises where it may not be. After a crash the same call writes the rest.
    """
    merged = tuple(os.path.relpath(path, base) if os.path.isabs(path) else path for path in merged)
    for path in merged:
        if not _own(path):
            said = f"{path[:200]!r} is not one of the central docs"
            way = f"name one of {', '.join(_TABLE)} or a file below {_DIAGRAMS}/"
            raise UsageError("no_central_doc", said, remedy=way, facts={"path": path[:400]})
    publishing = differences(base, slug, seeded, merged)
    if publishing.conflicts:
        raise _docs_changed(slug, publishing.conflicts)
    if allow is not None:
        for write in publishing.writes:
            allow(write)
    _write(base, publishing.writes)
    return tuple(sorted(write.target for write in publishing.writes))


def published(base: str, slug: str) -> tuple[str, ...]:
    """The central docs that say what the workspace says: what publishing wrote, in this run or one that died."""
    top = _workspace(slug)
    listed = ((path, _content(base, path)) for path in (*_TABLE, *_drawn(base, top)))
    return tuple(path for path, now in listed if now is not None and now == _content(base, f"{top}/{_own(path)}"))


def targets(_: State) -> tuple[str, ...]:
    """The central docs that publishing may write: files, and the folder of the diagrams."""
    return (*_TABLE, _DIAGRAMS)


def phase_of(source: str) -> str:
    """The phase that hands a file of the workspace in: the list of features goes with the first one."""
    return source.split("/")[2].replace("00-feature", "01-requirements")


def source_of(own: str) -> str:
    """The central doc that a file of the workspace was copied from; empty where there is none."""
    return next((path for path, copied in _TABLE.items() if copied == own), "")


def init(base: str) -> tuple[str, ...]:
    """Make the folder of workflows and the central docs that are missing; what was made."""
    missing = [path for path in _FIRST_WORDS if not is_there(base, path)]
    _write(base, [Write("", path, _FIRST_WORDS[path].encode()) for path in missing])
    return tuple(missing)


def differences(base: str, slug: str, seeded: Mapping[str, str], merged: Sequence[str] = ()) -> Publishing:
    """What publishing would do now, of a workspace that began with these digests. Nothing is changed."""
    top = _workspace(slug)
    begun = (path for path in sorted(seeded) if _own(path))
    writes, conflicts = [], []
    for central in dict.fromkeys((*_TABLE, *_drawn(base, top), *begun)):
        own = f"{top}/{_own(central)}"
        wanted, now = _content(base, own), _content(base, central)
        if wanted in (None, now):
            continue
        if now is not None and seeded.get(central) == digest(wanted) and central not in merged:
            continue  # others continued with it, and this feature never touched it
        if central in merged or seeded.get(central) == (None if now is None else digest(now)):
            writes.append(Write(own, central, wanted))
        else:
            conflicts.append(central)
    return Publishing(tuple(writes), tuple(conflicts))


def _workspace(slug: str) -> str:
    import re

    if not re.fullmatch(_SLUG, slug):
        said = f"{slug[:200]!r} is not the name of a feature"
        way = "name it with 1 to 64 of a-z, 0-9 and dashes between them"
        raise UsageError("bad_slug", said, remedy=way, facts={"slug": slug[:400]})
    return f"{HOME}/{slug}"


def _own(central: str) -> str:
    """The file of the workspace that belongs to a central path; empty when that is none."""
    folder, _, inner = central.partition(f"{_DIAGRAMS}/")
    if not folder and inner and all(map(_is_plain, inner.split("/"))):
        return f"{_OWN_DIAGRAMS}/{inner}"
    return _TABLE.get(central, "")


def _is_plain(name: str) -> bool:
    """A name that can be written down and that no one hides."""
    return name.isprintable() and not name.startswith(".") and 0 < len(name) <= _LONGEST_NAME


def _diagrams(base: str, top: str) -> list[str]:
    """The regular files below a folder, in order; hidden ones and links are none of them."""
    found: list[str] = []
    folders = [top] if is_there(base, top, folder=True) else []
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(os.path.join(base, folder)) as entries:
                for entry in entries:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if not entry.name.startswith(".") and (is_folder or entry.is_file(follow_symlinks=False)):
                        (folders if is_folder else found).append(_named(folder, entry.name))
        except OSError as failure:
            raise _unreadable(folder, failure) from failure
    return sorted(found)


def _drawn(base: str, top: str) -> list[str]:
    """The central paths of the diagrams in a workspace."""
    own = f"{top}/{_OWN_DIAGRAMS}"
    return [_DIAGRAMS + path.removeprefix(own) for path in _diagrams(base, own)]


def _named(folder: str, name: str) -> str:
    path = f"{folder}/{name}"
    if not _is_plain(name):
        raise _unfit("bad_name", path, "has characters in its name that cannot be written down")
    return path


def is_there(base: str, path: str, *, folder: bool = False) -> bool:
    """Whether there is such a file, or folder. A link on the way to it, or something else in its place, is refused."""
    parts = path.split("/")
    for many in range(1, len(parts) + 1):
        at = "/".join(parts[:many])
        try:
            mode = os.lstat(os.path.join(base, at)).st_mode
        except FileNotFoundError:
            return False
        except OSError as failure:
            raise _unreadable(at, failure) from failure
        if S_ISLNK(mode):
            raise _linked(os.path.join(base, at), at)
        if many < len(parts) or folder:
            if not S_ISDIR(mode):
                raise _unfit("not_a_folder", at, "is not a folder")
        elif not S_ISREG(mode):
            raise _unfit("not_a_file", at, "is not a regular file")
    return True


def _content(base: str, path: str) -> bytes | None:
    """The whole content of a file; None when it is not there."""
    if not is_there(base, path):
        return None
    full = os.path.join(base, path)
    try:
        if os.path.getsize(full) > LARGEST:
            raise _unfit("too_large", path, f"is larger than {LARGEST} bytes")
        return read_file(full)
    except FileNotFoundError:
        return None
    except OSError as failure:
        raise _unreadable(path, failure) from failure


def _write(base: str, writes: Sequence[Write]) -> None:
    for write in writes:
        durable_write(os.path.join(base, write.target), write.content, _MODE, alone=True)


def _docs_changed(slug: str, paths: Sequence[str]) -> Conflict:
    merges = ", ".join(f"{path} into {_workspace(slug)}/{_own(path)}" for path in paths)
    phases = dict.fromkeys(phase_of(f"{_workspace(slug)}/{_own(path)}") for path in paths)
    were = "was" if len(paths) == 1 else "were"
    said = f"{', '.join(paths)} {were} changed by others since this feature began; nothing was published"
    again = (f"then a person approves {' and '.join(phases)} again", remedies.finalize(tuple(paths), text="then"))
    ways = (f"merge {merges}", *again, *(remedies.approve(phase) for phase in phases))
    return Conflict("docs_changed", said, remedy=ways, facts={"paths": list(paths)})


def _unfit(code: str, path: str, why: str) -> UsageError:
    shown = path if path.isprintable() else ascii(path)
    return UsageError(code, f"{shown} {why}", remedy=shell("ls", "-ld", shown), facts={"path": shown})


def _linked(full: str, path: str) -> UsageError:
    refusal = _unfit("symlink", path, "is a symbolic link, and links are not followed")
    refusal.remedies = (links.remedy(full),)
    return refusal


def _unreadable(path: str, failure: OSError) -> HoldfastError:
    reason = failure.strerror or str(failure)
    if failure.errno == errno.ELOOP:
        return _linked(path, path)
    facts = {"path": path, "errno": failure.errno, "reason": reason}
    return HoldfastError("unreadable", f"{path} cannot be read: {reason}", remedy=shell("ls", "-ld", path), facts=facts)
