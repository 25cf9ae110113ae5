"""What `glab` keeps of the user's logins: `~/.config/glab-cli/config.yml`, read line by line.

Only the form in which `glab` itself writes the file is understood; anything else in it names no host.
"""

from __future__ import annotations

import os
import re

from holdfast.forges.addresses import is_host
from holdfast.forges.known import LARGEST, Host
from holdfast.machine.place import read_regular

_KEY = re.compile(r"(?P<indent> *)(?P<key>\"[^\"]+\"|'[^']+'|[A-Za-z0-9_.-]+(?::[0-9]{1,5})?):(?:[ ]+(?P<value>.*))?")
_TAG = "!!null "
"""What `glab` writes before a token, for reasons of its own."""


def hosts(config_dir: str) -> dict[str, Host]:
    """The hosts that `glab` was given a login for. A file that others can write names none."""
    path = os.path.join(config_dir, "glab-cli", "config.yml")
    if not _is_own(path):
        return {}
    data = read_regular(path, LARGEST) or b""
    return {host: _host(host, said) for host, said in _tables(data.decode("utf-8", "replace")).items()}


def _host(host: str, said: dict[str, str]) -> Host:
    """The token of a browser's login ends after two hours, and `glab` renews it: then `glab` is asked itself."""
    protocol, at = said.get("api_protocol") or "https", said.get("api_host") or host
    is_renewed = said.get("is_oauth2") == "true"
    token = "" if is_renewed else said.get("token", "")
    return Host("gitlab", f"{protocol}://{at}/api/v4", token, by_program=not token)


def _is_own(path: str) -> bool:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return False
    return found.st_uid in (0, os.geteuid()) and not found.st_mode & 0o022


def _tables(text: str) -> dict[str, dict[str, str]]:
    """The keys and values of each host below `hosts:`."""
    found: dict[str, dict[str, str]] = {}
    inside, depth, host = False, 0, ""
    for line in text.splitlines():
        match = _KEY.fullmatch(line.rstrip())
        if match is None:
            continue
        indent, key, value = len(match["indent"]), match["key"].strip("\"'"), _value(match["value"] or "")
        if indent == 0:
            inside, depth, host = key == "hosts", 0, ""
        elif inside and not value and indent <= (depth or indent):
            depth, host = indent, key.lower() if is_host(key) and key.lower() not in found else ""
            if host:
                found[host] = {}
        elif host and indent > depth:
            found[host].setdefault(key, value)
    return found


def _value(text: str) -> str:
    text = text.strip().removeprefix(_TAG).strip()
    if text[:1] in ("'", '"'):
        return text[1:].partition(text[0])[0]
    return text.partition(" #")[0].strip() if not text.startswith("#") else ""
