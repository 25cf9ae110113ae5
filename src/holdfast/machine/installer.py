"""How this installation of Holdfast came here, and what is typed to complete, upgrade, repair or reach it.

Holdfast is on no package index, where its name is another project's: a remedy names its dependencies, or the place that
it was installed from.
"""

from __future__ import annotations

import os
import sys

from holdfast.core.remedy import Remedy, line, shell
from holdfast.errors import Broken, HoldfastError

PIP, PIPX, UV = "pip", "pipx", "uv"
_RECEIPTS = {"uv-receipt.toml": UV, "pipx_metadata.json": PIPX}
"""What `uv tool` and `pipx` leave in the environment that they make for a program."""
_UPGRADE = {PIPX: ("pipx", "upgrade", "holdfast"), UV: ("uv", "tool", "upgrade", "holdfast")}
"""These two look up in their receipt where it came from."""
_AGAIN = {PIPX: ("pipx", "reinstall", "holdfast"), UV: ("uv", "tool", "upgrade", "--reinstall", "holdfast")}
_REACH = {PIPX: ("pipx", "ensurepath"), UV: ("uv", "tool", "update-shell")}
NEEDED = {"markdown_it": "markdown-it-py", "mcp": "mcp"}
"""What Holdfast imports of others, with the name of the package."""
EXTRAS = {"resvg_py": ("resvg-py", "a picture in PNG needs")}
"""What only some commands import, with the name of the package and what needs it."""
_BROUGHT = {"anyio": "mcp", "mcp_types": "mcp", "starlette": "mcp", "uvicorn": "mcp"}
"""What comes with one of these and is imported beside it."""
_BY_HAND = "from a checkout of its repository: it is on no package index"


def kind(prefix: str = "") -> str:
    """The program that installed it; pip where nothing says otherwise."""
    there = prefix or sys.prefix
    return next((name for file, name in _RECEIPTS.items() if os.path.exists(os.path.join(there, file))), PIP)


def upgrade(prefix: str = "") -> Remedy:
    if words := _UPGRADE.get(kind(prefix)):
        return shell(*words, text="upgrade")
    source = _source()
    if not source:
        return Remedy(text=f"install the newer version {_BY_HAND}")
    folder = source[-1]
    text = f"update {folder}, then" if os.path.isabs(folder) else "upgrade"
    return shell(*_pip(), "--upgrade", *source, text=text)


def again(prefix: str = "") -> Remedy:
    """What installs the same once more."""
    if words := _AGAIN.get(kind(prefix)):
        return shell(*words)
    source = _source()
    return shell(*_pip(), "--force-reinstall", *source) if source else Remedy(text=f"install Holdfast again {_BY_HAND}")


def add(module: str, prefix: str = "") -> Remedy:
    """What installs a package that Holdfast needs, and what that one needs."""
    wanted = requirement(module)
    match kind(prefix):
        case "pipx":
            return shell("pipx", "inject", "holdfast", wanted)
        case "uv":
            return shell("uv", "pip", "install", "--python", sys.executable, wanted)
        case _:
            return shell(*_pip(), wanted)


def reach(folder: str, prefix: str = "") -> Remedy:
    """What puts the folder of Holdfast's programs on the path."""
    words = _REACH.get(kind(prefix))
    return shell(*words) if words else line(f'export PATH="{folder}:$PATH"')


def requirement(module: str) -> str:
    """A package with the versions of it that Holdfast works with; its name alone where Holdfast is not installed."""
    from re import fullmatch

    name = NEEDED[module] if module in NEEDED else EXTRAS[module][0]
    for said in _metadata("Requires-Dist"):
        found = fullmatch(r"([\w.-]+)\s*\(?([^;()]*)\)?\s*(?:;.*)?", said)
        if found and found[1].replace("_", "-").lower() == name:
            ranges = sorted(found[2].replace(" ", "").split(","), key=lambda one: not one.startswith(">"))
            return f"{name}{','.join(ranges)}"
    return name


def absent(module: str) -> Broken:
    """A package that Holdfast needs, or the command that was typed, is not installed."""
    name, who = EXTRAS[module] if module in EXTRAS else (NEEDED[module], "Holdfast needs")
    said = f"the Python package {name} is missing, which {who}"
    return Broken("package_missing", said, remedy=add(module), facts={"package": name})


def diagnosed(error: Exception) -> HoldfastError | None:
    """What is wrong with the installation where a module cannot be imported; None where it is something else."""
    if not isinstance(error, ImportError) or not error.name:
        return None
    from importlib.util import find_spec

    name = error.name.partition(".")[0]
    if name == "holdfast":
        said = f"this installation of Holdfast is incomplete: {error}"
        return Broken("package_missing", said, remedy=again(), facts={"package": name})
    user = name if name in NEEDED else _BROUGHT.get(name) or _importing(error)
    if not user:
        return None
    if user == name and find_spec(name) is None:
        return absent(name)
    package = NEEDED[user]
    if find_spec(name) is None:
        said = f"the Python package {name} is missing, which {package} needs"
    else:
        said = f"the Python package {package} does not work here ({error}): Holdfast needs {requirement(user)}"
    return Broken("package_missing", said, remedy=add(user), facts={"package": name})


def _importing(error: ImportError) -> str:
    """The package of those that Holdfast needs which was being imported."""
    trace = error.__traceback__
    while trace:
        name = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
        if name in NEEDED:
            return name
        trace = trace.tb_next
    return ""


def _pip() -> tuple[str, ...]:
    """What installs into this environment: it may have no pip where uv made it."""
    if _file("INSTALLER").strip() == UV:
        return ("uv", "pip", "install", "--python", sys.executable)
    return (sys.executable, "-m", "pip", "install")


def _source() -> tuple[str, ...]:
    """Where Holdfast was installed from, as pip takes it; nothing where the installation does not say."""
    from urllib.parse import unquote

    from holdfast.plain.plainjson import object_in

    said = object_in(_file("direct_url.json").encode()) or {}
    url, folder, vcs = str(said.get("url") or ""), said.get("dir_info"), said.get("vcs_info")
    place = unquote(url.removeprefix("file://")) if url.startswith("file:///") else url
    if isinstance(vcs, dict) and url:
        revision = str(vcs.get("requested_revision") or "")
        inner = f"#subdirectory={said['subdirectory']}" if said.get("subdirectory") else ""
        return (f"{vcs.get('vcs', 'git')}+{url}{'@' + revision if revision else ''}{inner}",)
    is_editable = isinstance(folder, dict) and folder.get("editable") is True
    return (("--editable",) if is_editable else ()) + ((place,) if place else ())


def _metadata(key: str) -> list[str]:
    from importlib import metadata

    try:
        return metadata.metadata("holdfast").get_all(key) or []
    except metadata.PackageNotFoundError:
        return []


def _file(name: str) -> str:
    """A file of the record of the installation; empty where there is none."""
    from importlib import metadata

    try:
        return metadata.distribution("holdfast").read_text(name) or ""
    except (metadata.PackageNotFoundError, OSError):
        return ""
