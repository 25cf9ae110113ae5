"""The files that a copy of whole folders writes over."""

from __future__ import annotations

import posix

from holdfast.surfaces.hooks import places, programs, writes

MOST = 5_000
"""How many files of a folder are looked at."""
_OWN = ".holdfast"


def overwritten(words: list[str], folder: str) -> list[str]:
    """The files below a folder that is copied, by their paths in the target: those there, and what is Holdfast's."""
    names = [name for name, _ in programs.written(words)]
    sources = [word for word in words[1:] if not word.startswith("-") and word not in names[:1]]
    found: list[str] = []
    for source in sources if names else ():
        path = writes.absolute(source, folder)
        if not places.is_folder(path):
            continue
        is_whole = source.endswith(("/", "/.")) or source in (".", "..")
        into = names[0].rstrip("/") or "/"
        into = into if is_whole else f"{into}/{programs.base(source)}"
        found += [f"{into}/{inner}" for inner in _files(path) if _counts(writes.absolute(f"{into}/{inner}", folder))]
    return found


def _counts(path: str) -> bool:
    if f"/{_OWN}/" in path:
        return True
    try:
        posix.lstat(path)
    except OSError:
        return False
    return True


def _files(top: str) -> list[str]:
    found: list[str] = []
    waiting = [""]
    for folder in waiting:
        try:
            entries = posix.scandir(f"{top}/{folder}")
        except OSError:
            continue
        with entries:
            for entry in entries:
                if len(found) + len(waiting) > MOST:
                    return found
                name = f"{folder}/{entry.name}".lstrip("/")
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(name)
                else:
                    found.append(name)
    return found
