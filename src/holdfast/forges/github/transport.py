"""How requests reach a GitHub and come back, by a token, by `gh`, or not at all."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Protocol, Value
from holdfast.errors import Refused, UsageError
from holdfast.forges.addresses import is_host
from holdfast.forges.github.repository import PUBLIC, token_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from holdfast.errors import HoldfastError

GRAPHQL = "graphql"
ANSWER_LIMIT = 16 << 20
TIMEOUT_SECONDS = 30.0
HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}


class Answer(Value):
    """What came back, unread. The names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """Carries one request: `path` continues the address of the REST API, or is GRAPHQL.

    A status that says no is an answer. Where there is none, `send` raises `github_unreachable`, and a request that was
    to change something may or may not have done so.
    """

    host: str
    login: str
    """What the user types when the login is not accepted."""

    @property
    def refusal(self) -> HoldfastError | None:
        """Why nothing can be sent."""

    def send(self, method: str, path: str, body: bytes = b"") -> Answer: ...


class NoLogin:
    """Neither a token nor `gh`: every request is refused with what to set."""

    login = ""

    def __init__(self, host: str, no_gh: str = "") -> None:
        name, _ = token_names(host)
        remedy = f"export {name}=TOKEN"
        if no_gh and "ENTERPRISE" in name:  # it goes only to a host that the user named
            table = f'[forges] with "{host}" = "https://{host}/api/v3"'
            remedy = f"write {table} into ~/.config/holdfast/config.toml, then: {remedy}"
        sentence = f"there is no token for {host} in the environment{no_gh}"
        self.host = host
        self.refusal = Refused("github_no_login", sentence, remedy=remedy, facts={"host": host})

    def send(self, method: str, path: str, body: bytes = b"") -> NoReturn:
        raise self.refusal


def checked_host(host: str) -> str:
    if not is_host(host):
        sentence = f"{host[:80]!r} cannot be the name of a host"
        raise UsageError("bad_host", sentence, remedy=f"use one such as {PUBLIC}")
    return host
