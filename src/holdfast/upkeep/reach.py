"""What the doctor finds of how hosts reach Holdfast: the path, packages, trust of hooks, and the plugin beside it."""

from __future__ import annotations

import os
import sys
from _collections_abc import Iterator, Mapping, Sequence

from holdfast.core import remedies
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.hosts.installing import codex, installation, lines
from holdfast.hosts.installing.setting import PROJECT, USER, Setting, setting
from holdfast.machine import installer
from holdfast.machine.place import read_regular
from holdfast.plain.plainjson import object_in
from holdfast.systems.seam.wired import Wired
from holdfast.upkeep.findings import Finding, broken, ok, warning

LARGEST = 16 << 20
PLUGIN = "holdfast@holdfast"


def examined(wired: Wired, users: Mapping[str, Sequence[str]]) -> Iterator[Finding]:
    """`users` are the programs that settings name, each with the hosts."""
    if users:
        yield on_path(users)
    yield from _trusted_by_codex(wired)
    yield from _plugin(wired)


def lacking() -> tuple[str, ...]:
    """The packages that Holdfast imports of others and that are not there."""
    from importlib.util import find_spec

    return tuple(name for name in installer.NEEDED if find_spec(name) is None)


def packages() -> Iterator[Finding]:
    for name in lacking():
        wrong = installer.absent(name)
        yield broken("package", wrong.message, wrong.remedies)


def is_ours(program: str) -> bool:
    """Whether the path leads to this installation's program."""
    from shutil import which

    found = which(program)
    return found is not None and not _is_another(program, found)


def _is_another(program: str, found: str) -> bool:
    own = os.path.join(os.path.dirname(sys.executable), program)
    return os.path.exists(own) and not os.path.samefile(found, own)


def on_path(users: Mapping[str, Sequence[str]], path: str | None = None) -> Finding:
    """Whether `holdfast` and its launcher are found on the path, and are those of this installation."""
    from shutil import which

    if not_there := absent(users, path):
        return not_there
    folder = os.path.dirname(sys.executable)
    for name, there in ((name, which(name, path=path)) for name in lines.PROGRAMS):
        if there is not None and _is_another(name, there):
            said = f"{name} on PATH is {there}, of another installation; this one is {os.path.join(folder, name)}"
            return warning("path", said, installer.reach(folder))
    return ok("path", "holdfast on PATH is this installation")


def absent(users: Mapping[str, Sequence[str]], path: str | None = None) -> Finding | None:
    """That programs which settings name are not on the path; None where they are."""
    from shutil import which

    lost = [name for name in lines.PROGRAMS if name in users and which(name, path=path) is None]
    if not lost:
        return None
    hosts = ", ".join(dict.fromkeys(host for named in users.values() for host in named))
    said = f"{' and '.join(lost)} {'is' if len(lost) == 1 else 'are'} not on PATH, and settings of {hosts} name"
    return warning("path", f"{said} {_it(lost)}", installer.reach(os.path.dirname(sys.executable)))


def absent_for(hosts: Sequence[str], at: Setting) -> Finding | None:
    """The same of what the settings of these hosts name."""
    users: dict[str, list[str]] = {}
    for host in hosts:
        try:
            listed = [line for _, found in installation.running(host, at) for _, line in found]
        except HoldfastError:
            continue  # which was told when it was installed
        for program in filter(None, map(lines.program_of, listed)):
            users.setdefault(program, []).append(host)
    return absent(users)


def _it(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _trusted_by_codex(wired: Wired) -> Iterator[Finding]:
    """Codex notes in a person's configuration which hooks they trust, by the file that names them."""
    import tomllib

    for scope in (PROJECT, USER) if wired.settings.home else (PROJECT,):
        at = setting(wired.settings, scope, wired.place.worktree, wired.place.root)
        hooks = codex.files(at)[0].path
        try:
            if not any(path == hooks for path, _ in installation.running(codex.NAME, at)):
                continue
        except HoldfastError:
            continue  # which is said of the file itself
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
        try:
            is_there = installation.is_there("claude-code", at)
        except HoldfastError:
            continue
        if is_there:
            named = remedies.named("uninstall", {"host": "claude-code", "scope": scope if scope == USER else ""})
            said = "claude-code: the plugin is installed beside the hooks of holdfast install: every hook runs twice"
            yield warning("plugin", said, named)
            return
    yield ok("plugin", "claude-code: the plugin is installed")
