"""Which host there is by a name."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.machine.running import HOSTS, Running, no_host
from holdfast.runner.host import Host


def host(name: str, running: Running, environ: Mapping[str, str]) -> Host:
    """The host that is named, else that of the settings, else the first one that is installed."""
    name = name or running.host or _found(environ)
    if name in running.hosts:
        from holdfast.runner.custom import Command

        return Command(name, running.hosts[name], ())
    match name:
        case "claude":
            from holdfast.runner.claude import ClaudeCode

            return ClaudeCode()
        case "codex":
            from holdfast.runner.codex import Codex

            return Codex()
        case "opencode":
            from holdfast.runner.opencode import Opencode

            return Opencode()
    raise no_host(name, (*HOSTS, *running.hosts))


def again(host: Host, running: Running) -> Host:
    """The same, as before its first line."""
    if host.name in running.hosts:
        from holdfast.runner.custom import Command

        return Command(host.name, running.hosts[host.name], ())
    return host


def _found(environ: Mapping[str, str]) -> str:
    folders = environ.get("PATH", os.defpath).split(os.pathsep)
    found = (name for name in HOSTS if any(os.access(os.path.join(one, name), os.X_OK) for one in folders))
    return next(found, HOSTS[0])
