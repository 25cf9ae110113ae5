"""How requests reach a GitHub and come back, whoever carries them."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:

    class Protocol: ...


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

    def send(self, method: str, path: str, body: bytes = b"") -> Answer: ...
