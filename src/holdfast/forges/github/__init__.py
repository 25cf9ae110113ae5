"""A small client of GitHub: pull requests, what their reviewers say, issues."""

from __future__ import annotations

from _collections_abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.forges.github.client import Client
    from holdfast.forges.github.repository import Repository
    from holdfast.forges.github.transport import Transport


def connect(repository: Repository, *, top: str, environ: Mapping[str, str], remote: str = "origin") -> Client:
    """A client with the token that the environment has, else with the login of the user's `gh`, else without one."""
    from holdfast.forges.github.client import Client

    address = environ.get("GITHUB_API_URL", "")
    source = address.partition("://")[2].partition("/")[0] or Client.name
    return Client(_transport(repository.host, top, environ, address), repository, remote=remote, source=source)


def _transport(host: str, top: str, environ: Mapping[str, str], address: str) -> Transport:
    """To name the address of the API is to name its host, so an enterprise token goes there, and `gh` is not asked."""
    from holdfast.forges.github.gh_transport import GhTransport, gh_in
    from holdfast.forges.github.repository import named_hosts, roots, token_in
    from holdfast.forges.github.token_transport import TokenTransport, proxy_in
    from holdfast.forges.github.transport import NoLogin

    token = token_in(environ, host, (host,) if address else named_hosts(environ))
    if token:
        proxy = proxy_in(environ, roots(host, address)[0].split("/")[2])
        return TokenTransport(host, token, base_url=address, proxy=proxy)
    program = "" if address else gh_in(environ)
    if program:
        return GhTransport(program, top, host, environ=environ)
    return NoLogin(host, "" if address else ", and no gh on PATH")
