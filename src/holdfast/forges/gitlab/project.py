"""Which project of which GitLab a remote names, and where its API answers."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Value
from holdfast.forges.addresses import remote_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.forges.known import Host

PUBLIC = "gitlab.com"
TOKENS = ("GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN")
"""The variables in which `glab`, too, looks for a token, the first before the second."""


class Project(Value):
    """A project and the GitLab it is on: `path` has its groups, `host` a port where that is not the usual one."""

    host: str
    path: str


def project_in(url: str, hosts: Mapping[str, Host]) -> Project | None:
    """The project that a remote's URL names; None where its host is not a GitLab.

    A host counts by its name, `gitlab.com` or `gitlab.…`, or because the user named it. What only has such a name is
    shown pages and commands to type, but is never sent a login.
    """
    at = remote_in(url)
    if at is None:
        return None
    named = hosts.get(at.host)
    looks_alike = at.host.startswith("gitlab.") and not at.host.startswith(f"{PUBLIC}.")
    is_one = named.kind == "gitlab" if named else at.host == PUBLIC or looks_alike
    return Project(at.host, at.path) if is_one else None


def root(host: str, address: str = "") -> str:
    """The address that REST paths of a GitLab continue."""
    return address or f"https://{host}/api/v4"


def token_in(environ: Mapping[str, str], host: str, named: Host | None) -> str:
    """The token for a host: that of the environment, else the one that `glab` keeps.

    Neither says which host it is for: they go only to GitLab itself and to a host that the user named, as otherwise the
    remote of any repository that is looked at could send for them.
    """
    if host != PUBLIC and named is None:
        return ""
    said = next(filter(None, (environ.get(name, "").strip() for name in TOKENS)), "")
    return said or (named.token if named else "")
