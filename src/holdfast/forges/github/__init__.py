"""A small client of GitHub: pull requests, what their reviewers say, issues."""

from __future__ import annotations

from _collections_abc import Mapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.forges.github.client import Client
    from holdfast.forges.github.repository import Repository
    from holdfast.forges.known import Host
    from holdfast.forges.program_transport import ProgramTransport
    from holdfast.forges.token_transport import TokenTransport
    from holdfast.forges.transport import Transport

HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
_QUIET = {"GH_PROMPT_DISABLED": "1", "NO_COLOR": "1", "GH_NO_UPDATE_NOTIFIER": "1"}
_NOISY = frozenset(("GH_FORCE_TTY", "CLICOLOR_FORCE", "GH_DEBUG", "DEBUG", "GH_REPO", "GIT_DIR", "GIT_WORK_TREE"))
_ENTERPRISE = frozenset(("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"))


def repository_in(url: str, hosts: Mapping[str, Host]) -> Repository | None:
    """The repository that a remote's URL names; None where its host is not a GitHub."""
    from holdfast.forges.github import repository

    return repository.repository_in(url, (host for host, named in hosts.items() if named.kind == "github"))


def connect(
    repository: Repository,
    *,
    top: str,
    environ: Mapping[str, str],
    named: Host | None = None,
    remote: str = "origin",
    head: Repository | None = None,
    strict: bool = False,
) -> Client:
    """A client with the token that the environment has, else with the login of the user's `gh`, else without one.

    Branches are those of `head`, where that is another repository: a fork, which `remote` names. `named` is the host as
    the user's settings name it. Approvals are asked for in the `strict` way: nothing in the environment decides whose
    answer is believed.
    """
    from holdfast.forges.github.client import Client
    from holdfast.forges.transport import trusted

    address = named.address if named else ""
    source = address.partition("://")[2].partition("/")[0] or Client.name
    transport = _transport(repository.host, top, trusted(environ) if strict else environ, address, strict=strict)
    return Client(transport, repository, remote=remote, head=head, source=source, address=address)


def _transport(host: str, top: str, environ: Mapping[str, str], address: str, *, strict: bool) -> Transport:
    """To name the address of the API is to name its host, so an enterprise token goes there, and `gh` is not asked."""
    from holdfast.forges.github.repository import token_in
    from holdfast.forges.transport import SYSTEM, NoLogin

    token = token_in(environ, host, (host,) if address else ())
    if token:
        from holdfast.forges.github.repository import roots
        from holdfast.forges.token_transport import proxy_in

        proxy = proxy_in(environ, roots(host, address)[0].split("/")[2])
        return by_token(host, token, base_url=address, proxy=proxy, strict=strict)
    from holdfast.forges.program_transport import program_in

    program = "" if address else program_in(environ, "gh")
    if program:
        return by_gh(program, top, host, environ=environ)
    no_gh = "" if address else f", and no gh in {SYSTEM}" if strict else ", and no gh on PATH"
    return NoLogin(host, f"there is no token for {host} in the environment{no_gh}", _token_remedy(host, address))


def _token_remedy(host: str, address: str) -> str:
    from holdfast.forges.github.repository import token_names

    name, _ = token_names(host)
    remedy = f"export {name}=TOKEN"
    if not address and "ENTERPRISE" in name:  # it goes only to a host that the user named
        table = f'[forges] with "{host}" = "https://{host}/api/v3"'
        remedy = f"write {table} into ~/.config/holdfast/config.toml, then: {remedy}"
    return remedy


def by_token(
    host: str, token: str, timeout: float = 0, *, base_url: str = "", proxy: str = "", strict: bool = False
) -> TokenTransport:
    """`base_url` is where the REST API is, if not where its kind of GitHub has it."""
    from holdfast.forges.github.repository import roots, token_names
    from holdfast.forges.token_transport import TokenTransport
    from holdfast.forges.transport import TIMEOUT_SECONDS

    rest, graphql = roots(host, base_url)
    login = f"unset {' '.join(token_names(host))} && gh auth login --hostname {host}"
    how = {"root": rest, "graphql": graphql, "login": login, "proxy": proxy}
    return TokenTransport(host, token, timeout or TIMEOUT_SECONDS, **how, headers=HEADERS, strict=strict)


def by_gh(program: str, top: str, host: str, timeout: float = 0, *, environ: Mapping[str, str]) -> ProgramTransport:
    """gh sends an enterprise token of the environment to any host it is told of, so it gets none."""
    from holdfast.forges.program_transport import ProgramTransport
    from holdfast.forges.transport import TIMEOUT_SECONDS

    foreign = _NOISY | _ENTERPRISE
    own = {name: value for name, value in environ.items() if name not in foreign} | _QUIET
    return ProgramTransport(program, top, host, timeout or TIMEOUT_SECONDS, environ=own, headers=HEADERS)
