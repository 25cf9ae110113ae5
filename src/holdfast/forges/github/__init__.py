"""A small client of GitHub: pull requests, what their reviewers say, issues."""

from __future__ import annotations

from _collections_abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.forges.github.client import Client
    from holdfast.forges.github.repository import Repository
    from holdfast.forges.github.transport import Transport


SYSTEM = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/home/linuxbrew/.linuxbrew/bin:/snap/bin"
_MISLEADING = ("SSL_CERT_FILE", "SSL_CERT_DIR", "GH_CONFIG_DIR")


def connect(
    repository: Repository,
    *,
    top: str,
    environ: Mapping[str, str],
    address: str = "",
    remote: str = "origin",
    head: Repository | None = None,
    strict: bool = False,
) -> Client:
    """A client with the token that the environment has, else with the login of the user's `gh`, else without one.

    Branches are those of `head`, where that is another repository: a fork, which `remote` names.
    `address` is where its API answers, as the user named it. Approvals are asked for in the `strict` way: nothing in
    the environment decides whose answer is believed, neither by a certificate nor by another `gh`.
    """
    from holdfast.forges.github.client import Client

    if strict:
        environ = {**{name: said for name, said in environ.items() if name not in _MISLEADING}, "PATH": SYSTEM}
    source = address.partition("://")[2].partition("/")[0] or Client.name
    transport = _transport(repository.host, top, environ, address, strict=strict)
    return Client(transport, repository, remote=remote, head=head, source=source, address=address)


def _transport(host: str, top: str, environ: Mapping[str, str], address: str, *, strict: bool) -> Transport:
    """To name the address of the API is to name its host, so an enterprise token goes there, and `gh` is not asked."""
    from holdfast.forges.github.repository import roots, token_in
    from holdfast.forges.github.transport import NoLogin

    token = token_in(environ, host, (host,) if address else ())
    if token:
        from holdfast.forges.github.token_transport import TokenTransport, proxy_in

        proxy = proxy_in(environ, roots(host, address)[0].split("/")[2])
        return TokenTransport(host, token, base_url=address, proxy=proxy, strict=strict)
    from holdfast.forges.github.gh_transport import GhTransport, gh_in

    program = "" if address else gh_in(environ)
    if program:
        return GhTransport(program, top, host, environ=environ)
    return NoLogin(host, "" if address else f", and no gh in {SYSTEM}" if strict else ", and no gh on PATH")
