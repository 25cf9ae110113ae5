"""The forges of the user: GitHub and GitLab themselves, those that their own settings name, and those that their `gh`
or `glab` has a login for.

No variable names one: an agent could set it, and an approval there would be its own.
"""

from __future__ import annotations

import os

from holdfast.core.value import Value
from holdfast.forges.addresses import is_host
from holdfast.machine import users
from holdfast.machine.place import read_regular

LARGEST = 1 << 20
_GITLAB = "/api/v4"
"""How the address of a GitLab's API ends; any other is that of a GitHub."""


class Host(Value):
    """A host that the user's files name: which kind of forge it is, and where its API answers.

    `token` is one that `glab` keeps for it; `by_program` says that `glab` itself is to be asked.
    """

    kind: str
    address: str
    token: str = ""
    by_program: bool = False


def hosts(config_dir: str) -> dict[str, Host]:
    """The hosts that the user's own settings name, or a login of `glab`; the address in the settings comes first."""
    from holdfast.forges.gitlab import glab

    found = glab.hosts(config_dir)
    for host, address in _named(config_dir).items():
        kind = "gitlab" if address.endswith(_GITLAB) else "github"
        known = found.get(host)
        token = known.token if known and kind == "gitlab" else ""
        found[host] = Host(kind, address, token)
    return found


def is_users(address: str, config_dir: str) -> bool:
    """Whether the address of an approval is at one of the user's forges."""
    from holdfast.forges.github.repository import is_public, roots
    from holdfast.forges.gitlab.project import PUBLIC, root

    if any(address.startswith(f"{named.address}/") for named in hosts(config_dir).values()):
        return True
    if address.startswith(f"{root(PUBLIC)}/"):
        return True
    host = address.removeprefix("https://").partition("/")[0]
    api = host.removeprefix("api.")
    if is_public(api):
        return address.startswith(f"{roots(api)[0]}/")
    return address.startswith(f"{roots(host)[0]}/") and host in _logged_in(config_dir)


def _named(config_dir: str) -> dict[str, str]:
    """Where the API of a host answers: `[forges]` with `"github.example.com" = "https://github.example.com/api/v3"`."""
    table = users.config(config_dir).get("forges", {})
    good = isinstance(table, dict) and all(is_host(host) and isinstance(table[host], str) for host in table)
    if not good:
        raise users.bad_config(config_dir, "forges is a table of hosts, each with the address of its API")
    named = {host.lower(): address.rstrip("/") for host, address in table.items()}
    for host, address in named.items():
        if host.startswith("gitlab.") and not address.endswith(_GITLAB):
            raise users.bad_config(config_dir, f"the API of {host} answers at an address that ends in {_GITLAB}")
    return named


def _logged_in(config_dir: str) -> list[str]:
    """The hosts that `gh` keeps a login for: the keys at the top of its file."""
    data = read_regular(os.path.join(config_dir, "gh", "hosts.yml"), LARGEST) or b""
    lines = data.decode("utf-8", "replace").splitlines()
    return [line.rstrip()[:-1].strip("\"'") for line in lines if line[:1].strip() and line.rstrip().endswith(":")]
