"""Files of Holdfast that are not for git. Git is told once, so that `stash -u` and `clean -fd` pass them by."""

from __future__ import annotations

import os
from _collections_abc import Iterable

from holdfast.core.patterns import matches
from holdfast.errors import HoldfastError
from holdfast.files.replace import durable_write
from holdfast.git import Repository, command, exclude
from holdfast.machine.place import HOME, SHARED, Place, read_regular
from holdfast.systems.seam.registry import system
from holdfast.systems.seam.wired import Wired

TOLD = "excluded"
"""The lines that git was told. One that is no longer in git's list was taken out by somebody, and stays out."""
LARGEST = 1 << 20


def keep_out(wired: Wired, systems: Iterable[str], *, again: bool = False) -> None:
    """Tells git of the files of these systems. Lines that somebody took out are added only `again`, when asked."""
    place = wired.place
    if place.repository is None:
        return
    told = _told(place)
    wanted = lines(place, place.repository, systems)
    if not again and told.issuperset(wanted):
        return
    try:
        with wired.store.exclusively("slots"):
            told = _told(place)
            exclude.add(place.repository, [one for one in wanted if again or one not in told])
            listed = "".join(f"{one}\n" for one in sorted({*told, *wanted}))
            durable_write(os.path.join(place.home, TOLD), os.fsencode(listed), dir_mode=0o700, alone=True)
    except (HoldfastError, OSError):
        if again:
            raise  # otherwise doctor says it: no workflow fails because git cannot be told


def lines(place: Place, repository: Repository, systems: Iterable[str]) -> list[str]:
    """What is to be in git's list for these systems. Where git tracks such files, the team wants them there."""
    home = _below(place.root, (repository.top, repository.main))
    found = []
    if home is not None:
        found = [exclude.line(home, f"{HOME}/*"), *(f"!{exclude.line(home, f'{HOME}/{name}')}" for name in SHARED)]
    folder = _below(place.worktree, (repository.top,))
    if folder is not None:
        cards = map(system, systems)
        paths = [path for card in cards for path in (*card.own, *card.unversioned)]
        tracked = _tracked(place.worktree, paths)
        kept = {path for path in paths for name in tracked if name.startswith(f"{path}/") or matches(path, name)}
        found += [exclude.line(folder, path) for path in paths if path not in kept]
    return [one for one in found if one not in ("", "!")]


def _below(folder: str, tops: Iterable[str]) -> str | None:
    """A folder relative to the first of these that it is in."""
    for top in tops:
        if folder == top or folder.startswith(os.path.join(top, "")):
            return os.path.relpath(folder, top)
    return None


def _tracked(folder: str, patterns: list[str]) -> list[str]:
    """The names of tracked files below a folder that are at these paths or below them."""
    wanted = [f":(glob){one}{below}" for one in patterns for below in ("", "/**")]
    listed = command.git(folder, "ls-files", "-z", "--", *wanted)[1] if wanted else b""
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]


def _told(place: Place) -> set[str]:
    data = read_regular(os.path.join(place.home, TOLD), LARGEST) or b""
    return set(os.fsdecode(data).splitlines())
