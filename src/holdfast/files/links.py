"""Symbolic links that lead out of a project: what is written through one lands where nobody expects it."""

from __future__ import annotations

import os
from stat import S_ISLNK

from holdfast.core.remedy import Remedy, line, quoted
from holdfast.errors import UsageError


def require_inside(base: str, *paths: str) -> None:
    """Refuses paths below a folder if a part of them is a link to somewhere outside of that folder."""
    for at in _parts(base, paths):
        try:
            if S_ISLNK(os.lstat(at).st_mode) and not _is_below(os.path.realpath(at), os.path.realpath(base)):
                raise leads_out(at)
        except OSError:
            continue  # nor is anything below it there


def _parts(base: str, paths: tuple[str, ...]) -> list[str]:
    """Every part of the paths, as a path of its own. The same few are asked for in each request."""
    known = _known.get((base, paths))
    if known is None:
        if len(_known) >= _MOST:
            _known.clear()
        split = [path.split("/") for path in paths]
        parts = ("/".join((base, *names[: n + 1])) for names in split for n in range(len(names)))
        known = _known[base, paths] = list(dict.fromkeys(parts))
    return known


_MOST = 1000
_known: dict[tuple[str, tuple[str, ...]], list[str]] = {}


def leads_out(link: str) -> UsageError:
    said = f"{link} is a symbolic link that leads out of the project, to {os.path.realpath(link)}"
    return UsageError("symlink", said, remedy=remedy(link), facts={"path": link, "target": os.path.realpath(link)})


def remedy(link: str) -> Remedy:
    """What puts a copy in the place of a link. Where it leads is somebody's decision, so a person types it."""
    target = os.path.realpath(link)
    copied = f" && cp -R {quoted(target)} {quoted(link)}" if os.path.exists(target) else ""
    return line(f"unlink {quoted(link)}{copied}", text="have a copy in its place" if copied else "", who="person")


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
