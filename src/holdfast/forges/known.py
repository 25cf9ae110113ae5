"""The forges of the user: GitHub itself, those that their own settings name, and those that their `gh` has a login for.

No variable names one: an agent could set it, and an approval there would be its own.
"""

from __future__ import annotations

import os

from holdfast.forges.addresses import is_host
from holdfast.machine import users
from holdfast.machine.place import read_regular

_LARGEST = 1 << 20


def named(config_dir: str) -> dict[str, str]:
    """Where the API of a host answers: `[forges]` with `"github.example.com" = "https://github.example.com/api/v3"`."""
    table = users.config(config_dir).get("forges", {})
    good = isinstance(table, dict) and all(is_host(host) and isinstance(table[host], str) for host in table)
    if not good:
        raise users.bad_config(config_dir, "forges is a table of hosts, each with the address of its API")
    return {host.lower(): address.rstrip("/") for host, address in table.items()}


def is_users(address: str, config_dir: str) -> bool:
    """Whether the address of an approval is at one of the user's forges."""
    from holdfast.forges.github.repository import is_public, roots

    if any(address.startswith(f"{root}/") for root in named(config_dir).values()):
        return True
    host = address.removeprefix("https://").partition("/")[0]
    api = host.removeprefix("api.")
    if is_public(api):
        return address.startswith(f"{roots(api)[0]}/")
    return address.startswith(f"{roots(host)[0]}/") and host in _logged_in(config_dir)


def _logged_in(config_dir: str) -> list[str]:
    """The hosts that `gh` keeps a login for: the keys at the top of its file."""
    data = read_regular(os.path.join(config_dir, "gh", "hosts.yml"), _LARGEST) or b""
    lines = data.decode("utf-8", "replace").splitlines()
    return [line.rstrip()[:-1].strip("\"'") for line in lines if line[:1].strip() and line.rstrip().endswith(":")]
