"""Which repository of which GitHub a remote names, and which token may go there."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core.value import Value
from holdfast.forges.addresses import remote_in

PUBLIC = "github.com"
_TENANTS = ".ghe.com"
_PATH = r"(?P<owner>[A-Za-z0-9][A-Za-z0-9_-]{0,99})/(?P<name>[A-Za-z0-9_.-]{1,100})"


class Repository(Value):
    """A repository and the GitHub it is on; `host` has a port where that GitHub is not at the usual one."""

    host: str
    owner: str
    name: str


def repository_in(url: str, hosts: Iterable[str] = ()) -> Repository | None:
    """The repository that a remote's URL names; None where its host is not a GitHub.

    A host counts by its name: `github.com`, `github.…`, `….ghe.com`, and those in `hosts`, which the user named.
    """
    import re

    at = remote_in(url)
    match = re.fullmatch(_PATH, at.path) if at else None
    if at is None or match is None or match["name"] == ".git":
        return None
    looks_alike = at.host.startswith("github.") and not at.host.startswith(f"{PUBLIC}.")
    if not (is_public(at.host) or looks_alike or at.host in hosts):
        return None
    return Repository(at.host, match["owner"], match["name"])


def token_in(environ: Mapping[str, str], host: str, hosts: Iterable[str] = ()) -> str:
    """The token that the environment has for a host, or nothing.

    An enterprise token does not say which host it is for. It goes only to one in `hosts`, as otherwise the remote of
    any repository that is looked at could send for it.
    """
    if not is_public(host) and host not in hosts:
        return ""
    return next(filter(None, (environ.get(name, "").strip() for name in token_names(host))), "")


def token_names(host: str) -> tuple[str, str]:
    """The variables in which `gh`, too, looks for the token of a host, the first before the second."""
    return ("GH_TOKEN", "GITHUB_TOKEN") if is_public(host) else ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")


def roots(host: str, base_url: str = "") -> tuple[str, str]:
    """Where a GitHub answers: the address that its REST paths continue, and the one of GraphQL."""
    if base_url:
        rest = base_url.rstrip("/")
    elif is_public(host):
        rest = f"https://api.{host}"
    else:
        rest = f"https://{host}/api/v3"
    return rest, f"{rest.removesuffix('/v3')}/graphql" if rest.endswith("/api/v3") else f"{rest}/graphql"


def is_public(host: str) -> bool:
    """Whether GitHub itself runs the host."""
    return host == PUBLIC or host.endswith(_TENANTS)
