"""What the doctor finds of how hosts reach Holdfast: the path, packages, trust of hooks, and the plugin beside it."""

from __future__ import annotations

import os
import sys
from _collections_abc import Iterator

from holdfast.core import remedies
from holdfast.core.value import Any
from holdfast.hosts.installing import codex, installation, lines
from holdfast.hosts.installing.setting import PROJECT, USER, setting
from holdfast.machine import installer
from holdfast.machine.place import read_regular
from holdfast.plain.plainjson import object_in
from holdfast.systems.seam.wired import Wired
from holdfast.upkeep.findings import Finding, ok, warning

LARGEST = 16 << 20
PACKAGES = ("markdown_it", "mcp")
"""What Holdfast imports of others."""
PLUGIN = "holdfast@holdfast"


def examined(wired: Wired, called: tuple[str, ...]) -> Iterator[Finding]:
    """`called` are the lines that settings of hosts name."""
    yield from packages()
    if any(line.startswith("holdfast") or lines.LAUNCHER in line for line in called):
        yield on_path()
    yield from _trusted_by_codex(wired)
    yield from _plugin(wired)


def packages() -> Iterator[Finding]:
    from importlib.util import find_spec

    for name in PACKAGES:
        if find_spec(name) is None:
            said = f"the Python package {name} is missing, which Holdfast needs"
            yield warning("package", said, installer.again())


def on_path(path: str | None = None) -> Finding:
    """Whether `holdfast` and its launcher are found on the path, and are those of this installation."""
    from shutil import which

    folder = os.path.dirname(sys.executable)
    for name in ("holdfast", lines.LAUNCHER):
        found, own = which(name, path=path), os.path.join(folder, name)
        if found is None:
            said = f"{name} is not on PATH, and settings of agent hosts name it"
            return warning("path", said, installer.reach(folder))
        if os.path.exists(own) and not os.path.samefile(found, own):
            said = f"{name} on PATH is {found}, of another installation; this one is {own}"
            return warning("path", said, installer.reach(folder))
    return ok("path", "holdfast on PATH is this installation")


def _trusted_by_codex(wired: Wired) -> Iterator[Finding]:
    """Codex notes in a person's configuration which hooks they trust, by the file that names them."""
    import tomllib

    for scope in (PROJECT, USER) if wired.settings.home else (PROJECT,):
        at = setting(wired.settings, scope, wired.place.worktree, wired.place.root)
        hooks = codex.files(at)[0].path
        if not any(path == hooks for path, _ in installation.running(codex.NAME, at)):
            continue
        own = read_regular(os.path.join(at.codex, "config.toml"), LARGEST) or b""
        try:
            said: Any = tomllib.loads(own.decode("utf-8", "replace")).get("hooks", {})
        except tomllib.TOMLDecodeError:
            continue  # which is said of the file itself
        states = said.get("state", {}) if isinstance(said, dict) else {}
        if not any(str(key).startswith(f"{hooks}:") for key in states):
            name = installation.name_of(hooks, at)
            yield warning("codex_trust", f"codex: nobody has trusted the hooks of {name}, and codex skips them",
                          "start codex here and trust them at /hooks", name)  # fmt: skip


def _plugin(wired: Wired) -> Iterator[Finding]:
    """Beside an installation, the plugin of Claude Code runs every hook twice."""
    settings = wired.settings
    listed = read_regular(os.path.join(settings.claude_dir, "plugins", "installed_plugins.json"), LARGEST)
    plugins = (object_in(listed or b"") or {}).get("plugins")
    if not isinstance(plugins, dict) or PLUGIN not in plugins:
        return
    scopes = (PROJECT, USER) if settings.home else (PROJECT,)
    for scope in scopes:
        at = setting(settings, scope, wired.place.worktree, wired.place.root)
        if installation.is_there("claude-code", at):
            named = remedies.named("uninstall", {"host": "claude-code", "scope": scope if scope == USER else ""})
            said = "claude-code: the plugin is installed beside the hooks of holdfast install: every hook runs twice"
            yield warning("plugin", said, named)
            return
    yield ok("plugin", "claude-code: the plugin is installed")
