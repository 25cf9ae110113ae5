"""A small client of GitLab: merge requests, what is said and approved there, issues."""

from __future__ import annotations

from _collections_abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.forges.gitlab.client import Client
    from holdfast.forges.gitlab.project import Project
    from holdfast.forges.known import Host
    from holdfast.forges.program_transport import ProgramTransport
    from holdfast.forges.token_transport import TokenTransport
    from holdfast.forges.transport import Transport

HEADERS = {"Accept": "application/json"}
_QUIET = {"NO_COLOR": "1", "NO_PROMPT": "1", "GLAB_CHECK_UPDATE": "false", "GLAB_SEND_TELEMETRY": "false"}
_KEPT = frozenset(
    ("HOME", "PATH", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS",
     "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR")
)  # fmt: skip
"""What `glab` gets of the environment: other variables could name another host, address or configuration."""
_NOWHERE = "/"
"""Where `glab` is run: in a repository it would believe the settings in there."""


def repository_in(url: str, hosts: Mapping[str, Host]) -> Project | None:
    """The project that a remote's URL names; None where its host is not a GitLab."""
    from holdfast.forges.gitlab.project import project_in

    return project_in(url, hosts)


def connect(
    repository: Project,
    *,
    top: str,
    environ: Mapping[str, str],
    named: Host | None = None,
    remote: str = "origin",
    head: Project | None = None,
    strict: bool = False,
) -> Client:
    """A client with the token that the environment or `glab` has, else with the login of `glab`, else without one.

    Branches are those of `head`, where that is another project: a fork, which `remote` names. `named` is the host as
    the user's settings or `glab` name it. Approvals are asked for in the `strict` way: nothing in the environment
    decides whose answer is believed.
    """
    from holdfast.forges.gitlab.client import Client
    from holdfast.forges.gitlab.project import PUBLIC
    from holdfast.forges.transport import trusted

    address = named.address if named else ""
    at = address.partition("://")[2].partition("/")[0]
    source = at if at not in ("", PUBLIC) else Client.name
    transport = _transport(repository.host, trusted(environ) if strict else environ, named, strict=strict)
    return Client(transport, repository, remote=remote, head=head, source=source, address=address)


def _transport(host: str, environ: Mapping[str, str], named: Host | None, *, strict: bool) -> Transport:
    from holdfast.forges.gitlab.project import PUBLIC, root, token_in
    from holdfast.forges.transport import NoLogin

    token = token_in(environ, host, named)
    if token:
        from holdfast.forges.token_transport import proxy_in

        address = named.address if named else ""
        proxy = proxy_in(environ, root(host, address).split("/")[2])
        return by_token(host, token, base_url=address, proxy=proxy, strict=strict)
    if named and named.by_program:
        from holdfast.forges.program_transport import program_in

        program = program_in(environ, "glab")
        if program:
            return by_glab(program, host, environ=environ)
    known = host == PUBLIC or named is not None
    said = f"there is no token for {host} in the environment or in the settings of glab"
    if known:
        return NoLogin(host, said, "export GITLAB_TOKEN=TOKEN")
    table = f'[forges] with "{host}" = "https://{host}/api/v4"'
    way = f"write {table} into ~/.config/holdfast/config.toml, then: export GITLAB_TOKEN=TOKEN"
    return NoLogin(host, f"nothing of yours names {host} as a GitLab", way)


def by_token(
    host: str, token: str, timeout: float = 0, *, base_url: str = "", proxy: str = "", strict: bool = False
) -> TokenTransport:
    """`base_url` is where the REST API is, if not where a GitLab has it."""
    from holdfast.forges.gitlab.project import TOKENS, root
    from holdfast.forges.token_transport import TokenTransport
    from holdfast.forges.transport import TIMEOUT_SECONDS

    how = {"root": root(host, base_url), "login": f"unset {' '.join(TOKENS)} && glab auth login --hostname {host}"}
    return TokenTransport(host, token, timeout or TIMEOUT_SECONDS, **how, headers=HEADERS, proxy=proxy, strict=strict)


def by_glab(program: str, host: str, timeout: float = 0, *, environ: Mapping[str, str]) -> ProgramTransport:
    from holdfast.forges.program_transport import ProgramTransport
    from holdfast.forges.transport import TIMEOUT_SECONDS

    own = {name: value for name, value in environ.items() if name in _KEPT} | _QUIET
    return ProgramTransport(program, _NOWHERE, host, timeout or TIMEOUT_SECONDS, environ=own, headers=HEADERS)
