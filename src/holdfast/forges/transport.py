"""How requests reach a forge and come back, by a token, by the forge's own program, or not at all."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Protocol, Value
from holdfast.errors import Refused, UsageError
from holdfast.forges.addresses import is_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

    from holdfast.core.remedy import Remedy
    from holdfast.errors import HoldfastError

GRAPHQL = "graphql"
ANSWER_LIMIT = 16 << 20
TIMEOUT_SECONDS = 30.0
SYSTEM = "/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin:/home/linuxbrew/.linuxbrew/bin:/snap/bin"
_MISLEADING = ("SSL_CERT_FILE", "SSL_CERT_DIR", "GH_CONFIG_DIR", "GLAB_CONFIG_DIR")


class Answer(Value):
    """What came back, unread. The names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """Carries one request: `path` continues the address of the REST API, or is GRAPHQL.

    A status that says no is an answer. Where there is none, `send` raises `forge_unreachable`, and a request that was
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
    """Neither a token nor a program that has one: every request is refused with what to set."""

    login = ""

    def __init__(self, host: str, sentence: str, remedy: str | Remedy) -> None:
        self.host = host
        self.refusal = Refused("forge_no_login", sentence, remedy=remedy, facts={"host": host})

    def send(self, method: str, path: str, body: bytes = b"") -> NoReturn:
        raise self.refusal


def trusted(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for where approvals are asked for: nothing in it decides whose answer is believed, neither by a
    certificate nor by another program.
    """
    return {**{name: said for name, said in environ.items() if name not in _MISLEADING}, "PATH": SYSTEM}


def checked_host(host: str) -> str:
    if not is_host(host):
        sentence = f"{host[:80]!r} cannot be the name of a host"
        raise UsageError("bad_host", sentence, remedy="use one such as github.com")
    return host
