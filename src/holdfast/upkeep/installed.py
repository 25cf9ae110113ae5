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
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.hosts.installing import installation
from holdfast.hosts.installing.setting import PROJECT, SCOPES, Setting, setting
from holdfast.plain.plainjson import compact, object_in
from holdfast.systems.seam.wired import Wired
from holdfast.upkeep import reach
from holdfast.upkeep.findings import Finding, ok, warning

HOOK_WITHIN, SERVER_WITHIN = 10, 30
"""Seconds. A server imports a good deal when it starts."""
_CLIENT = {"name": "holdfast doctor", "version": "1"}
_GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _CLIENT}
_HELLO = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _GREETING}


def hosts(wired: Wired) -> Iterator[Finding]:
    """One finding for each thing that is installed, and nothing for hosts without us."""
    tried: dict[str, str] = {}
    found = list(_every(wired, tried))
    yield from found
    if found:
        yield from reach.examined(wired, tuple(tried))


def _every(wired: Wired, tried: dict[str, str]) -> Iterator[Finding]:
    for scope in SCOPES if wired.settings.home else (PROJECT,):
        whole = setting(wired.settings, scope, wired.place.worktree, wired.place.root)
        for host in installation.HOSTS:
            at = whole
            try:
                at = whole.replace(team=installation.has_team(host, whole))
                yield from _host(wired, host, at, tried)
            except HoldfastError as wrong:  # what is wrong in files without us is not ours to say
                if installation.is_known(host, at, wired.settings.data_dir):
                    yield warning("host", f"{host}: {wrong.message}", wrong.remedies)


def _host(wired: Wired, host: str, at: Setting, tried: dict[str, str]) -> Iterator[Finding]:
    again = remedies.named("install", {"host": host, "scope": "user" if at.is_user else ""})
    for path in installation.leftovers(host, at):
        name = installation.name_of(path, at)
        yield warning("host", f"{host}: {name} was left by an installation that was killed", again, name)
    if not installation.is_there(host, at):
        return
    if installation.planned(host, at, wired.settings.data_dir).is_needed:
        yield warning("host", f"{host}: what is installed is not all that this version installs", again)
    for path, listed in installation.running(host, at):
        name = installation.name_of(path, at)
        for about, line in listed:
            if about == "status line":
                continue
            if line not in tried:
                tried[line] = _tried(wired, about, line, at)
            if tried[line]:
                yield warning("host", f"{host}: {name}: {tried[line]}", again, name)
            else:
                does = "the MCP server answers" if about == "MCP server" else "hooks fire"
                yield ok("host", f"{host}: {name}: {does}", name)


def _tried(wired: Wired, about: str, line: str, at: Setting) -> str:
    """What is wrong with a line; empty when it does what it is there for."""
    own = shlex.join(at.server) if about == "MCP server" else at.hook_line
    typed = "holdfast mcp" if about == "MCP server" else "holdfast hook"
    if line not in (own, typed):
        return "the line belongs to another installation of Holdfast"
    words = ["/bin/sh", "-c", line if "&&" in line else f"exec {line}"]
    return _serves(wired, words) if about == "MCP server" else _fires(wired, words)


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
    return "the MCP server does not answer" + (f": {said[-200:]}" if said else "")


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
