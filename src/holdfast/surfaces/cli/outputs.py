"""Files that a command writes where the user says: never in the place of what is not such a file."""

from __future__ import annotations

import os
from _collections_abc import Callable

from holdfast.errors import Conflict, NotFound, UsageError
from holdfast.files.replace import is_file
from holdfast.machine.place import Place

_FIRST = 512
"""How many bytes tell what a file is."""


def require_place(path: str, place: Place, ending: str, is_such: Callable[[bytes], bool]) -> None:
    """Refuses a path that a file of this kind does not have: with another ending, in a folder that is not there, among
    the files of Holdfast or git, or in the place of another kind of file.
    """
    is_there = is_file(path)
    if os.path.splitext(path)[1].lower() != ending:
        said = f"{path[:200]!r} does not end in {ending}"
        raise UsageError("bad_path", said, remedy=f"name a file that ends in {ending}", facts={"path": path[:200]})
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        way = "make it, or name another one"
        raise NotFound("no_folder", f"there is no folder {folder[:200]!r}", remedy=way, facts={"folder": folder[:200]})
    inside = os.path.join(os.path.realpath(folder or os.curdir), "")
    private = [place.home, *([place.repository.common_dir] if place.repository else [])]
    if any(inside.startswith(os.path.join(os.path.realpath(one), "")) for one in private):
        said = f"{path[:200]} is among the files of Holdfast or git"
        raise UsageError("bad_path", said, remedy="name a file elsewhere", facts={"path": path[:200]})
    if not is_there:
        return
    with open(path, "rb") as file:
        begins = file.read(_FIRST)
    if begins and not is_such(begins):
        said = f"{path[:200]} is there already, and Holdfast did not write it"
        raise Conflict("file_exists", said, remedy="name another file, or remove this one", facts={"path": path[:200]})
