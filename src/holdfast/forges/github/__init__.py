"""A small client of GitHub: the pull request of a branch, and what its reviewers say.

repository = repository_in("git@github.com:octo-org/octo-repo.git")
client = connect(repository, top=".", environ=os.environ)
client.threads(client.find("feature/door").number)
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.errors import Refused
from holdfast.forges.github.client import Client
from holdfast.forges.github.gh_transport import GhTransport
from holdfast.forges.github.repository import Repository, named_hosts, repository_in, roots, token_in, token_names
from holdfast.forges.github.token_transport import TokenTransport, proxy_in
from holdfast.forges.github.transport import TIMEOUT_SECONDS, Answer, Transport
from holdfast.forges.model import Comment, PullRequest, Review, Thread

__all__ = [
    "Answer",
    "Client",
    "Comment",
    "GhTransport",
    "PullRequest",
    "Repository",
    "Review",
    "Thread",
    "TokenTransport",
    "Transport",
    "connect",
    "named_hosts",
    "proxy_in",
    "repository_in",
    "token_in",
]


def connect(
    repository: Repository,
    *,
    top: str,
    environ: Mapping[str, str],
    base_url: str = "",
    timeout: float = TIMEOUT_SECONDS,
) -> Client:
    """A client with the token that the environment has, else with the login of the user's `gh`.

    To name the address of the API is to name its host, so an enterprise token goes there.
    """
    from holdfast.forges import none as forge

    host = repository.host
    token = token_in(environ, host, (host,) if base_url else named_hosts(environ))
    if token:
        proxy = proxy_in(environ, roots(host, base_url)[0].split("/")[2])
        return Client(TokenTransport(host, token, timeout, base_url=base_url, proxy=proxy), repository)
    if forge.available(environ) and not base_url:
        return Client(GhTransport(top, host, timeout), repository)
    sentence = f"there is no token for {host} in the environment" + ("" if base_url else ", and no gh on PATH")
    name, _ = token_names(host)
    remedy = f"export GH_HOST={host} {name}=TOKEN" if "ENTERPRISE" in name else f"export {name}=TOKEN"
    raise Refused("github_no_login", sentence, remedy=remedy, facts={"host": host})
