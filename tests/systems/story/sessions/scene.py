"""What the tests of sessions share: a definition, and what is in a project."""

from __future__ import annotations

import os
import re

DRAFT = {"name": "draft", "dialect": "story", "step": [{"id": "plan"}, {"id": "write"}]}
_TIME = re.compile(rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def files(root) -> dict[str, bytes]:
    """Every file outside of `.holdfast`, and links as such."""
    found = {}
    for at, folders, names in os.walk(root):
        if ".holdfast" in folders:
            folders.remove(".holdfast")
        for name in names:
            full = os.path.join(at, name)
            with open(full, "rb") as file:
                found[os.path.relpath(full, root)] = file.read()
    return found


def timeless(found: dict[str, bytes]) -> dict[str, bytes]:
    return {path: _TIME.sub(b"TIME", data) for path, data in found.items()}


def below(root, folder: str) -> list[str]:
    """Files below a folder of `.holdfast`."""
    top = os.path.join(root, ".holdfast", folder)
    return sorted(os.path.join(at, name) for at, _, names in os.walk(top) for name in names)
