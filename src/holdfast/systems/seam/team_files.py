"""Texts of a team that ship with a system, and the files of the project that take their place.

A project's own files are in `.holdfast/team/`, which is a person's to write.
"""

from __future__ import annotations

import os

from holdfast.core.remedy import shell
from holdfast.errors import UsageError
from holdfast.files import links
from holdfast.machine.place import HOME, read_regular

FOLDER = f"{HOME}/team"
LARGEST = 1 << 18


def text(shipped: str, root: str, kind: str, name: str) -> str:
    """The text of a name: the project's `.holdfast/team/KIND/NAME.md`, else the one in the folder `shipped`."""
    own = own_text(root, f"{kind}/{name}.md") if root else None
    return own if own is not None else shipped_text(shipped, name)


def shipped_text(folder: str, name: str) -> str:
    with open(os.path.join(folder, f"{name}.md"), encoding="utf-8") as file:
        return file.read()


def own_text(root: str, name: str) -> str | None:
    """What the project has in place of a shipped text; None where it has nothing. Refuses what cannot be read."""
    path = f"{FOLDER}/{name}"
    links.require_inside(root, path)
    full = os.path.join(root, path)
    if not os.path.lexists(full):
        return None
    data = read_regular(full, LARGEST)
    try:
        text = data.decode("utf-8-sig") if data is not None else ""
    except UnicodeDecodeError:
        text = ""
    if "\0" in text or not text.strip():
        said = f"{path} is no text in UTF-8 of at most {LARGEST} bytes"
        raise UsageError("bad_team_file", said, remedy=shell("file", full), facts={"path": path})
    return text.replace("\r\n", "\n")
