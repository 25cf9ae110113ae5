"""Symbolic links that lead out of a project: what is written through one lands where nobody expects it."""

from __future__ import annotations

import os
from stat import S_ISLNK

from holdfast.core.remedy import Remedy, line, quoted
from holdfast.errors import UsageError


def require_inside(base: str, path: str) -> None:
    """Refuses a path below a folder if a part of it is a link to somewhere outside of that folder."""
    at = base
    for part in path.split("/"):
        at = os.path.join(at, part)
        try:
            if S_ISLNK(os.lstat(at).st_mode) and not _is_below(os.path.realpath(at), os.path.realpath(base)):
                raise leads_out(at)
        except OSError:
            return


def leads_out(link: str) -> UsageError:
    return UsageError(
        "symlink",
        f"{link} is a symbolic link that leads out of the project, to {os.path.realpath(link)}",
        remedy=remedy(link),
        facts={"path": link, "target": os.path.realpath(link)},
    )


def remedy(link: str) -> Remedy:
    """What puts a copy in the place of a link. Where it leads is somebody's decision, so a person types it."""
    target = os.path.realpath(link)
    copied = f" && cp -R {quoted(target)} {quoted(link)}" if os.path.exists(target) else ""
    return line(f"unlink {quoted(link)}{copied}", text="have a copy in its place" if copied else "", who="person")


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
