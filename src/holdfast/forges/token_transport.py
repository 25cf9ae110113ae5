"""Requests with a token, over a connection of our own.

The token goes to one host, which is fixed when the transport is made: a redirect to another one is refused. It is in
no message, no `repr` and no process list, and it is taken out of what comes back.
"""

from __future__ import annotations

import re
import time
from _collections_abc import Mapping
from urllib.parse import unquote, urljoin, urlsplit

from holdfast.core.remedy import shell
from holdfast.errors import UsageError
from holdfast.forges import refusals
from holdfast.forges.addresses import LONGEST_ADDRESS
from holdfast.forges.transport import ANSWER_LIMIT, GRAPHQL, TIMEOUT_SECONDS, Answer, checked_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    import ssl
    from http.client import HTTPConnection, HTTPResponse
    from urllib.parse import SplitResult

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_REDIRECTS = 5
_CHUNK = 1 << 16


class TokenTransport:
    """Speaks to the forge at `host`, whose REST API is at `root`, with these `headers` in every request.

    `login` is what the user types where the token is not accepted. The `strict` one believes the certificates of the
    system, whatever the environment says.
    """

    refusal = None

    def __init__(
        self,
        host: str,
        token: str,
        timeout: float = TIMEOUT_SECONDS,
        *,
        root: str,
        graphql: str = "",
        login: str,
        headers: Mapping[str, str],
        proxy: str = "",
        strict: bool = False,
    ) -> None:
        _require_token(token)
        self.host = checked_host(host)
        self.login = login
        self._rest, self._graphql = _checked_root(root), graphql
        self._more = headers
        self._token = token
        self._timeout = timeout
        self._proxy = _checked_proxy(proxy)
        self._strict = strict
        self._trust: ssl.SSLContext | None = None

    def send(self, method: str, path: str, body: bytes = b"") -> Answer:
        address = self._graphql if path == GRAPHQL else f"{self._rest}/{path}"
        deadline = time.monotonic() + self._timeout
        for _ in range(_REDIRECTS):
            answer = self._exchanged(method, address, body, deadline)
            onward = self._onward(answer, method, address)
            if not onward:
                return answer
            address = onward
        raise refusals.odd(self.host, "it leads from one address to the next without end")

    def _onward(self, answer: Answer, method: str, address: str) -> str:
        """Where an answer sends a request on to, on the same host; nothing where it is an answer itself.

        Only some redirects let a request keep its method and body; the others would turn a change into a look.
        """
        if answer.status not in ((301, 302, 307, 308) if method == "GET" else (307, 308)):
            return ""
        target = answer.headers.get("location", "")
        try:
            onward = urljoin(address, target)
        except ValueError:
            onward = ""
        if not re.fullmatch(r"[!-~]+", target) or len(target) > LONGEST_ADDRESS or not onward:
            raise refusals.odd(self.host, "it leads to something that is no address")
        if _origin(onward) != _origin(self._rest):
            raise refusals.odd(self.host, f"it leads to another host, which is not followed: {onward}")
        return onward.partition("#")[0]

    def _exchanged(self, method: str, address: str, body: bytes, deadline: float) -> Answer:
        import threading
        from http.client import HTTPException

        parts = urlsplit(address)
        connection = self._connection(parts)
        ending = None
        try:
            connection.connect()
            ending = threading.Timer(max(deadline - time.monotonic(), 0), _end, (connection.sock,))
            ending.daemon = True
            ending.start()
            target = f"{parts.path}?{parts.query}" if parts.query else parts.path
            connection.request(method, target, body or None, self._headers(body))
            with connection.getresponse() as response:
                headers = {name.lower(): value.replace(self._token, "***") for name, value in response.getheaders()}
                return Answer(response.status, headers, self._whole(response))
        except (OSError, HTTPException) as error:
            is_late = isinstance(error, TimeoutError) or time.monotonic() >= deadline
            why = f"no whole answer within {self._timeout:g} s" if is_late else str(error) or type(error).__name__
            raise refusals.unreachable(self.host, why) from None
        finally:
            if ending is not None:
                ending.cancel()
            connection.close()

    def _connection(self, parts: SplitResult) -> HTTPConnection:
        import ssl
        from http.client import HTTPConnection, HTTPSConnection

        host = parts.hostname or ""
        if parts.scheme == "http":
            return HTTPConnection(host, parts.port, timeout=self._timeout)
        if self._trust is None:
            self._trust = _of_the_system() if self._strict else ssl.create_default_context()
        if self._proxy is None:
            return HTTPSConnection(host, parts.port, timeout=self._timeout, context=self._trust)
        through = HTTPSConnection(
            self._proxy.hostname or "", self._proxy.port or 80, timeout=self._timeout, context=self._trust
        )
        through.set_tunnel(host, parts.port or 443, _proxy_headers(self._proxy))
        return through

    def _headers(self, body: bytes) -> dict[str, str]:
        own = {"Authorization": f"Bearer {self._token}", "User-Agent": "holdfast"}
        return {**self._more, **own, **({"Content-Type": "application/json; charset=utf-8"} if body else {})}

    def _whole(self, response: HTTPResponse) -> bytes:
        """All of the body: a connection that ends early would otherwise pass for a short one."""
        body = bytearray()
        while chunk := response.read(_CHUNK):
            body += chunk
            if len(body) > ANSWER_LIMIT:
                raise refusals.odd(self.host, f"it is larger than {ANSWER_LIMIT >> 20} MiB")
        if response.length:
            raise OSError(f"the connection ended {response.length} bytes before the answer did")
        return bytes(body).replace(self._token.encode(), b"***")


def _of_the_system() -> ssl.SSLContext:
    """Trust in the certificates of the system alone: a variable could name others."""
    import os
    import ssl

    paths = ssl.get_default_verify_paths()
    file, folder = (path if os.path.exists(path) else None for path in (paths.openssl_cafile, paths.openssl_capath))
    return ssl.create_default_context(cafile=file, capath=folder) if file or folder else ssl.create_default_context()


def _end(connected: socket.socket) -> None:
    """End a connection whose time is up, whatever it waits for, so that no answer can be drawn out."""
    import socket
    from contextlib import suppress

    with suppress(OSError):
        socket.socket.shutdown(connected, socket.SHUT_RDWR)  # under the TLS, which a reader may be in


def proxy_in(environ: Mapping[str, str], host: str) -> str:
    """The proxy through which the environment wants a host to be reached, or nothing."""
    proxy, exceptions = (environ.get(name) or environ.get(name.upper(), "") for name in ("https_proxy", "no_proxy"))
    name = host.partition(":")[0].lower()
    for one in exceptions.lower().split(","):
        tail = one.strip().removeprefix("*").lstrip(".")
        if one.strip() == "*" or (tail and (host.lower() == tail or name == tail or name.endswith(f".{tail}"))):
            return ""
    return proxy


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    import base64

    if proxy.username is None:
        return {}
    login = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"}


def _origin(address: str) -> tuple[str, str, int | None]:
    try:
        parts = urlsplit(address)
        return parts.scheme, parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return "", "", None


def _require_token(token: str) -> None:
    if not re.fullmatch(r"[!-~]{1,1000}", token):
        sentence = "a token has 1 to 1000 printable ASCII characters without spaces, and this one has not"
        raise UsageError("bad_token", sentence, remedy="take the token as the forge shows it, without quotes")


def _checked_root(address: str) -> str:
    """The token would be readable on the way to anything but https, except to this machine itself."""
    match = re.fullmatch(r"(https?)://([A-Za-z0-9.-]+|\[::1\])(?::[0-9]{1,5})?(?:/[A-Za-z0-9_.-]+)*", address)
    if match is None or (match[1] == "http" and match[2].strip("[]") not in _LOOPBACK) or not _origin(address)[0]:
        said = f"{refusals.clean(address, 200)!r} cannot be the address of a forge's API: it begins with https://"
        raise UsageError("bad_forge_url", said, remedy="use one such as https://github.example.com/api/v3")
    return address


def _checked_proxy(proxy: str) -> SplitResult | None:
    if not proxy:
        return None
    whole = proxy if "://" in proxy else f"http://{proxy}"
    form = r"http://(?:[!-.0->A-~]*@)?(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?/?"
    if not re.fullmatch(form, whole) or not _origin(whole)[0]:
        sentence = "HTTPS_PROXY names a proxy of another kind than http://HOST:PORT"
        raise UsageError("bad_proxy", sentence, remedy=shell("unset", "HTTPS_PROXY", "https_proxy"))
    return urlsplit(whole)
