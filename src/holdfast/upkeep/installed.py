"""What the doctor finds of agent hosts: whether hooks fire and the MCP server answers, by doing it.

Files of a project may come from anybody, so only lines of this very installation are run; any other is only spoken of.
"""

from __future__ import annotations

import os
import select
import shlex
import time
from _collections_abc import Iterator

from holdfast.core import remedies
from holdfast.core.remedy import Remedy
from holdfast.core.value import Any
from holdfast.errors import UNCHANGED, HoldfastError
from holdfast.hosts.installing import installation, lines
from holdfast.hosts.installing.parts import told_of
from holdfast.hosts.installing.setting import PROJECT, SCOPES, USER, Setting, setting
from holdfast.machine import installer
from holdfast.plain.plainjson import compact, object_in
from holdfast.systems.seam.wired import Wired
from holdfast.upkeep import reach
from holdfast.upkeep.findings import Finding, broken, ok, warning

HOOK_WITHIN, SERVER_WITHIN = 10, 30
"""Seconds. A server imports a good deal when it starts."""
ANOTHER = "the line belongs to another installation of Holdfast"
_SERVER, _STATUS_LINE = "MCP server", "status line"
"""What lines are for that are no hooks."""
_NO_HOOKS = (_SERVER, _STATUS_LINE)
_CLIENT = {"name": "holdfast doctor", "version": "1"}
_GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}
_HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _GREETING}


def hosts(wired: Wired) -> Iterator[Finding]:
    """What is found of hosts that Holdfast is installed in. Where several suffer from one cause, it is told once."""
    yield from reach.packages()
    looked = _Looked(wired)
    found = list(looked.every())
    yield from found
    if found or looked.users:
        yield from looked.failing()
        yield from reach.examined(wired, looked.users)


class _Looked:
    """A look at every host. Each line is tried once, whichever files have it."""

    def __init__(self, wired: Wired) -> None:
        self._wired = wired
        self._lacking = reach.lacking()
        self._tried: dict[str, str] = {}
        self._failed: dict[str, list[tuple[str, str, Remedy]]] = {}
        """By what is wrong: host, file, and the command that installs there."""
        self._own: set[str] = set()
        """What is wrong with lines of this very installation."""
        self.users: dict[str, list[str]] = {}
        """The programs that settings name, each with the hosts."""

    def every(self) -> Iterator[Finding]:
        wired, there, hooked = self._wired, dict[str, list[str]](), set[str]()
        for scope in SCOPES if wired.settings.home else (PROJECT,):
            whole = setting(wired.settings, scope, wired.place.worktree, wired.place.root)
            for host in installation.HOSTS:
                at = whole
                try:
                    at = whole.replace(team=installation.has_team(host, whole))
                    yield from self._host(host, at)
                    if installation.is_there(host, at):
                        there.setdefault(host, []).append(scope)
                        listed = (about for _, found in installation.running(host, at) for about, _ in found)
                        hooked |= {host for about in listed if about not in _NO_HOOKS}
                except HoldfastError as wrong:
                    yield from _unreadable(host, at, wired.settings.data_dir, wrong)
        for host, scopes in there.items():
            if len(scopes) > 1:
                twice = ", so each hook runs twice" if host in hooked else ""
                said = f"{host}: installed for this project and for you{twice}; one scope is enough"
                either = (remedies.named("uninstall", {"host": host, "scope": _typed(one)}) for one in scopes)
                yield warning("scopes", said, tuple(either))

    def _host(self, host: str, at: Setting) -> Iterator[Finding]:
        again = remedies.named("install", {"host": host, "scope": _typed(at.scope)})
        for path in installation.leftovers(host, at):
            name = installation.name_of(path, at)
            yield warning("host", f"{host}: {name} was left by an installation that was killed", again, name)
        is_there = installation.is_there(host, at)
        if not is_there and not installation.is_used(host, at):
            return
        plan = installation.planned(host, at, self._wired.settings.data_dir)  # raises where `install` is refused
        if not is_there:
            return
        if plan.is_needed:
            yield warning("host", f"{host}: the installation is incomplete or out of date", again)
        outdated = {plan.shown[change.path] for change in plan.changes if change.kind != "unchanged"}
        for name, changed in installation.edited(host, at).items():
            if changed[0].endswith(" itself") and name in outdated:
                continue
            said = f"{host}: {name}: somebody edited hook lines of Holdfast, which may not work: {told_of(changed)}"
            yield warning("host", said, again.replace(text=f"remove them from {name}, then"), name)
        for name in installation.foreign(host, at):
            said = f'{host}: {name} defines another MCP server "holdfast": agents there have no tools of Holdfast'
            yield warning("host", said, again.replace(text="give that one another name, then"), name)
        for path, listed in installation.running(host, at):
            name = installation.name_of(path, at)
            for about, line in listed:
                if about == _STATUS_LINE:
                    continue
                if self._works(host, name, about, line, at, again):
                    does = "the MCP server answers" if about == _SERVER else "hooks fire"
                    yield ok("host", f"{host}: {name}: {does}", name)

    def _works(self, host: str, name: str, about: str, line: str, at: Setting, again: Remedy) -> bool:
        """Whether a line does what it is there for; it is not tried where the reason is known already."""
        program = lines.program_of(line)
        if program:
            self.users.setdefault(program, []).append(host)
        if (program and not reach.is_ours(program)) or (about == _SERVER and "mcp" in self._lacking):
            return False
        if line not in self._tried:
            self._tried[line] = _tried(self._wired, about, line, at)
        wrong = self._tried[line]
        if wrong:
            self._failed.setdefault(wrong, []).append((host, name, again))
            if wrong != ANOTHER:
                self._own.add(wrong)
        return not wrong

    def failing(self) -> Iterator[Finding]:
        for wrong, where in self._failed.items():
            places = ", ".join(f"{host}: {name}" for host, name, _ in where)
            said, _, way = wrong.partition("→")
            known = tuple(dict.fromkeys(str(again) for *_, again in where))
            ways = (way.strip() or installer.again(),) if wrong in self._own else known
            yield warning("host", f"{places}: {said.strip()}", ways, where[0][1])


def _typed(scope: str) -> str:
    """The scope as it has to be typed: that of a project goes without saying."""
    return scope if scope == USER else ""


def _unreadable(host: str, at: Setting, data_dir: str, wrong: HoldfastError) -> Iterator[Finding]:
    """What is wrong in files of a host that nobody uses here is not ours to say."""
    is_ours = installation.is_known(host, at, data_dir) or installation.is_named(host, at)
    if not is_ours and not installation.is_used(host, at):
        return
    said, path = wrong.message.removesuffix(f"; {UNCHANGED}"), str(wrong.facts.get("path", ""))
    if wrong.code != "broken_file":
        yield warning("host", f"{host}: {said}", wrong.remedies, path)
    else:
        way = (f"fix {path}",) if "line" in wrong.facts else wrong.remedies
        yield broken("host", f"{host}: {said}", way, path)


def _tried(wired: Wired, about: str, line: str, at: Setting) -> str:
    """What is wrong with a line; empty when it does what it is there for."""
    own = shlex.join(at.server) if about == _SERVER else at.hook_line
    typed = "holdfast mcp" if about == _SERVER else "holdfast hook"
    if line not in (own, typed):
        return ANOTHER
    words = ["/bin/sh", "-c", line if "&&" in line else f"exec {line}"]
    return _serves(wired, words) if about == _SERVER else _fires(wired, words)


def _fires(wired: Wired, words: list[str]) -> str:
    """A hook that judges refuses to let anybody write into `.holdfast`; where there is none yet, it is silent."""
    import subprocess

    place = wired.place
    call = {"tool_name": "Write", "tool_input": {"file_path": os.path.join(place.home, "guard")}}
    event = {"hook_event_name": "PreToolUse", "session_id": "doctor", "cwd": place.worktree, **call}
    told, within = compact(event).encode(), HOOK_WITHIN
    try:
        done = subprocess.run(words, input=told, capture_output=True, cwd=place.worktree, timeout=within, check=False)
    except subprocess.TimeoutExpired:
        return f"the hook did not answer within {HOOK_WITHIN} seconds"
    wanted = b'"deny"' if os.path.isdir(place.home) else b""
    objection = (object_in(done.stdout) or {}).get("systemMessage")
    if objection:
        return str(objection)
    if done.returncode or wanted not in done.stdout:
        said = done.stderr[-200:].decode("utf-8", "replace").strip()
        return f"the hook does not judge: it ended with {done.returncode} and said {said!r}"
    return ""


def _serves(wired: Wired, words: list[str]) -> str:
    import subprocess

    process = subprocess.Popen(
        words, cwd=wired.place.worktree, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        answer = _answered(process)
    finally:
        process.kill()
        said = process.communicate()[1].decode("utf-8", "replace").strip()
    server = answer.get("result", {}).get("serverInfo", {}) if isinstance(answer.get("result"), dict) else {}
    if server.get("name") == "holdfast":
        return ""
    return "the MCP server does not answer" + (f": {said[-400:]}" if said else "")


def _answered(process: Any) -> dict[str, Any]:
    """The first line that a server says to a greeting; empty when it says none in time."""
    try:
        process.stdin.write(compact(_HELLO).encode() + b"\n")
        process.stdin.flush()
    except BrokenPipeError:
        return {}
    data, deadline = b"", time.monotonic() + SERVER_WITHIN
    while b"\n" not in data and (left := deadline - time.monotonic()) > 0:
        if select.select([process.stdout], [], [], left)[0]:
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                break
            data += part
    return object_in(data.partition(b"\n")[0]) or {}
