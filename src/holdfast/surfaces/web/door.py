"""What every request passes first: the name that it was sent to, the page that it comes from, and who sends it."""

from __future__ import annotations

from _collections_abc import Awaitable, Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from holdfast.core.value import Any, Value
from holdfast.surfaces.listening import LARGEST, App
from holdfast.surfaces.web.sessions import SESSION_FOR, Sessions

POLICY = "; ".join(
    (
        *("default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'"),
        *("form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"),
        *("require-trusted-types-for 'script'", "trusted-types hf"),
    )
)
# Without any referrer, browsers would not say from which page a form comes: it stays on this page instead.
_ALWAYS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_TYPES = ("application/x-www-form-urlencoded", "application/json")
LOGIN = "/login"
_OPEN = (LOGIN, "/style.css", "/page.js", "/icon.svg")
"""What is answered to everybody: it says nothing of the workflows."""
COOKIE = "holdfast.cookie"
"""Where the rest of the server finds the cookie of a request."""
LINKED = ("", "none", "same-origin")
"""From where a request may come, as browsers that say it put it."""


class Origin(Value):
    """The one address at which the page is, as browsers write it, and the cookie of its sessions."""

    url: str

    @property
    def host(self) -> str:
        return self.url.partition("://")[2]

    @property
    def is_secure(self) -> bool:
        return self.url.startswith("https:")

    @property
    def cookie(self) -> str:
        """Cookies are of a host, whatever its port: the name has it."""
        return "__Host-holdfast" if self.is_secure else f"holdfast-{self.host.rpartition(':')[2]}"

    def cookie_header(self, value: str) -> str:
        secure = "; Secure" if self.is_secure else ""
        age = SESSION_FOR if value else 0
        return f"{self.cookie}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}{secure}"


class Door:
    """Answers what is not let through, and puts the same headers on every answer."""

    def __init__(
        self, app: App, origin: Origin, sessions: Sessions, refused: Callable[[int, str], Response], *, read_only: bool
    ) -> None:
        self._app = app
        self._origin = origin
        self._sessions = sessions
        self._refused = refused
        self._read_only = read_only

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        wrong = self._objection(scope)
        if wrong is not None:
            await wrong(scope, receive, sending)
            return
        await self._app(scope, _bounded(receive), sending)

    def _objection(self, scope: Any) -> Response | None:
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        if headers.getlist("host") != [self._origin.host]:
            return self._refused(421, f"this is {self._origin.url}, and answers to no other name")
        if method not in ("GET", "HEAD", "POST"):
            return self._refused(405, "only GET and POST are answered")
        changes = method == "POST"
        if changes and self._read_only and path != LOGIN:
            return self._refused(405, "this page is read-only")
        if changes and headers.getlist("origin") != [self._origin.url]:
            return self._refused(403, "a change is accepted from this page only")
        site, mode = headers.get("sec-fetch-site", ""), headers.get("sec-fetch-mode", "")
        if site not in LINKED and (changes or mode != "navigate"):
            return self._refused(403, "a request from another page is not answered")
        if changes and headers.get("content-type", "").partition(";")[0].strip().lower() not in _TYPES:
            return self._refused(415, "a form or JSON is needed")
        if not _is_small(headers.get("content-length", "0")):
            return self._refused(413, f"a request has at most {LARGEST} bytes")
        scope[COOKIE] = cookie = self._cookie(headers)
        return None if path in _OPEN or self._sessions.is_open(cookie) else self._refused(401, "")

    def _cookie(self, headers: Headers) -> str:
        found = (one.strip().partition("=") for one in headers.get("cookie", "").split(";"))
        return next((value for name, _, value in found if name == self._origin.cookie), "")


def _is_small(length: str) -> bool:
    return length.isascii() and length.isdigit() and len(length) < 10 and int(length) <= LARGEST


def _bounded(receive: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
    """What comes without a length is cut off at the bound."""
    taken = 0

    async def receiving() -> Any:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        return message if taken <= LARGEST else {"type": "http.disconnect"}

    return receiving
