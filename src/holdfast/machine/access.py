"""Whether a project may be written: whose it is, and what the system allows."""

from __future__ import annotations

import os

from holdfast.core import remedies
from holdfast.core.remedy import Remedy, shell
from holdfast.errors import HoldfastError, Refused
from holdfast.files.links import leads_out
from holdfast.machine.place import HOME, Place, below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable


def stranger(place: Place) -> tuple[str, int] | None:
    """The first folder of a project that belongs to another user, and to whom. What root owns is no stranger's."""
    for folder in dict.fromkeys((place.root, place.worktree, place.home)):
        try:
            owner = os.stat(folder).st_uid
        except OSError:
            continue
        if owner not in (0, os.geteuid()):
            return folder, owner
    return None


def untrusted(place: Place, trusts: Callable[[int], bool], sudo: str = "") -> Refused | None:
    """Why nothing in a project may run; None where a person trusts whom it belongs to. `sudo` is who called sudo."""
    found = stranger(place)
    return _untrusted(place.root, *found, sudo) if found and not trusts(found[1]) else None


def refusal(place: Place) -> HoldfastError | None:
    """Why the system lets nobody here write; None where it does."""
    if os.path.islink(place.home) and not below(place.root, HOME):
        return leads_out(place.home)
    folder = place.home if os.path.isdir(place.home) else place.root
    fixed = os.statvfs(folder).f_flag & os.ST_RDONLY
    if not fixed and os.access(folder, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        return None
    reason = "it is on a read-only file system" if fixed else f"{named(os.geteuid())} may not write there"
    return HoldfastError(
        "read_only",
        f"{folder} can be read, and not written: {reason}",
        remedy=shell("ls", "-ld", folder),
        facts={"path": folder, "read_only_file_system": bool(fixed)},
    )


class Writable:
    """Whether a project may be written, asked several times in each request.

    What was found stays true while its folders have the same owner, mode and entries.
    """

    def __init__(self, place: Place, untrusted: Callable[[], HoldfastError | None]) -> None:
        self._place = place
        self._untrusted = untrusted
        self._folders = tuple(dict.fromkeys((place.root, place.worktree, place.home)))
        self._seen: list[tuple[int, int]] = []

    def refusal(self) -> HoldfastError | None:
        """Why nothing can be written; None where it can."""
        try:
            found = [(one.st_ino, one.st_ctime_ns) for one in map(os.lstat, self._folders)]
        except OSError:
            found = []
        if found and found == self._seen:
            return None
        wrong = self._untrusted() or refusal(self._place)
        # Trust in another owner is not seen in the folders.
        self._seen = [] if wrong or stranger(self._place) else found
        return wrong


def named(uid: int) -> str:
    """`alice (uid 1000)`; a container often has no name for it."""
    try:
        from pwd import getpwuid

        return f"{getpwuid(uid).pw_name} (uid {uid})"
    except (ImportError, KeyError):
        return f"uid {uid}"


def _untrusted(root: str, folder: str, owner: int, sudo: str) -> Refused:
    without = (Remedy(text="run the same command without sudo", who="person"),) if sudo == str(owner) else ()
    return Refused(
        "untrusted_owner",
        f"{folder} belongs to {named(owner)}, and you are {named(os.geteuid())}: it can be read, but nothing in it "
        "runs or is written before a person trusts its owner",
        remedy=(*without, remedies.trust(root, owner=True)),
        facts={"path": folder, "root": root, "owner": owner, "uid": os.geteuid()},
    )
