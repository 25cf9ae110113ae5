"""How this installation of Holdfast came here, and what is typed to upgrade, repair or reach it."""

from __future__ import annotations

import os
import sys

from holdfast.core.remedy import Remedy, line, shell
from holdfast.core.value import Any

PIP, PIPX, UV = "pip", "pipx", "uv"
_RECEIPTS = {"uv-receipt.toml": UV, "pipx_metadata.json": PIPX}
"""What `uv tool` and `pipx` leave in the environment that they make for a program."""
_UPGRADE = {
    PIP: ("pip", "install", "--upgrade", "holdfast"),
    PIPX: ("pipx", "upgrade", "holdfast"),
    UV: ("uv", "tool", "upgrade", "holdfast"),
}
_AGAIN = {
    PIP: ("pip", "install", "--force-reinstall", "holdfast"),
    PIPX: ("pipx", "reinstall", "holdfast"),
    UV: ("uv", "tool", "install", "--reinstall", "holdfast"),
}
_REACH = {PIPX: ("pipx", "ensurepath"), UV: ("uv", "tool", "update-shell")}


def kind(prefix: str = "") -> str:
    """The program that installed it; pip where nothing says otherwise."""
    there = prefix or sys.prefix
    return next((name for file, name in _RECEIPTS.items() if os.path.exists(os.path.join(there, file))), PIP)


def upgrade(prefix: str = "", **more: Any) -> Remedy:
    return shell(*_UPGRADE[kind(prefix)], **more)


def again(prefix: str = "", **more: Any) -> Remedy:
    """Where a package that Holdfast needs is missing."""
    return shell(*_AGAIN[kind(prefix)], **more)


def reach(folder: str, prefix: str = "") -> Remedy:
    """What puts the folder of Holdfast's programs on the path."""
    words = _REACH.get(kind(prefix))
    return shell(*words) if words else line(f'export PATH="{folder}:$PATH"')
