"""The addresses of the page, and what answers there."""

from __future__ import annotations

from _collections_abc import Awaitable, Callable
from contextlib import asynccontextmanager

from anyio import create_task_group
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.plain.plainjson import object_in
from holdfast.project.project import Project
from holdfast.surfaces.ceremony import Ceremony
from holdfast.surfaces.listening import App
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.web import (
    acting,
    assets,
    gathered,
    layout,
    passkeys_page,
    workflow_page,
)
from holdfast.surfaces.web.door import COOKIE, LOGIN, Door, Origin
from holdfast.surfaces.web.events import Events
from holdfast.surfaces.web.markup import Child, el
from holdfast.surfaces.web.pages import Pages
from holdfast.surfaces.web.sessions import Sessions

_FIELDS = 40
"""How many fields a form may have."""


class Page:
    """What answers requests, and what is open for them."""

    def __init__(self, projects: Projects, origin: Origin, *, read_only: bool) -> None:
        self.projects = projects
        self.origin = origin
        self.pages = Pages(origin.url, read_only=read_only)
        self.sessions = Sessions()
        self.events = Events(projects)
        self.ceremony = Ceremony(origin.url)
        self.app: App = Door(
            Starlette(routes=self._routes(), lifespan=self._living),
            origin,
            self.sessions,
            self._refused,
            read_only=read_only,
        )

    def link(self) -> str:
        """An address that lets one browser in, once."""
        return f"{self.origin.url}{LOGIN}?code={self.sessions.code()}"

    def _routes(self) -> list[Route]:
        own = "/w/{ulid}"
        return [
            Route("/", self._read(self.pages.overview)),
            Route(own, self._read(self.pages.workflow)),
            Route(f"{own}/approve/{{step:path}}", self._read(self.pages.approve)),
            Route(f"{own}/journal", self._read(self.pages.journal)),
            Route(f"{own}/timeline.svg", self._drawn),
            Route(f"{own}/steps.svg", self._drawn),
            Route(f"{own}/do/{{action}}", self._act, methods=["POST"]),
            Route(f"{own}/ask", self._ask, methods=["POST"]),
            Route("/passkeys", self._read(self.pages.passkeys)),
            Route("/passkeys/{action}", self._key, methods=["POST"]),
            Route("/learnings", self._read(self.pages.learnings)),
            Route("/agents", self._read(self.pages.agents)),
            Route("/events", self._listen),
            Route(LOGIN, self._login, methods=["GET", "POST"]),
            Route("/logout", self._logout, methods=["POST"]),
            Route("/style.css", assets.style),
            Route("/page.js", assets.script),
            Route("/icon.svg", assets.icon),
            Route("/{rest:path}", self._missing),
        ]

    @asynccontextmanager
    async def _living(self, _: Starlette) -> Any:
        async with create_task_group() as group:
            group.start_soon(self.events.watch)
            yield
            self.events.end()
            group.cancel_scope.cancel()

    # Pages

    def _read(
        self, page: Callable[[Project, Request, tuple[str, ...]], str]
    ) -> Callable[[Request], Awaitable[Response]]:
        """A page that is made of a project in a thread of its own."""

        async def answer(request: Request) -> Response:
            is_opened = request.headers.get("sec-fetch-dest", "document") == "document"  # and not fetched by a script
            said = tuple(self.sessions.take_said(request.scope[COOKIE])) if is_opened else ()
            try:
                made = await self.projects.used(lambda project: page(project, request, said))
            except HoldfastError as wrong:
                return self._wrong(wrong)
            except OSError as failure:
                why = f"{failure.filename or 'A file'} cannot be read: {failure.strerror}."
                return self._page(500, "Not possible", el("p", why), el("p", el("code", "holdfast doctor")))
            return HTMLResponse(made)

        return answer

    async def _drawn(self, request: Request) -> Response:
        """A picture as a file. Its rules for dark pages are in it."""
        ulid, name = request.path_params["ulid"], request.url.path.rpartition("/")[2].partition(".")[0]

        def drawn(project: Project) -> str:
            return workflow_page.drawn(gathered.seen(project.workflow(ulid)), name).file()

        try:
            made = await self.projects.used(drawn)
        except HoldfastError as wrong:
            return self._wrong(wrong)
        policy = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
        return Response(made, media_type="image/svg+xml", headers=policy)

    # Changes

    async def _act(self, request: Request) -> Response:
        cookie, params = request.scope[COOKIE], request.path_params
        fields = await _fields(request)

        def acted(project: Project) -> tuple[acting.Done, str]:
            done = acting.act(project, params["ulid"], params["action"], fields)
            if done.given is None:
                return done, ""
            project.turn.forget()
            if done.page:
                return done, self.pages.approve_page(project, params["ulid"], done.page, done=done)
            return done, self.pages.workflow_page(project, params["ulid"], given=done.given)

        try:
            done, page = await self.projects.used(acted)
        except HoldfastError as wrong:
            return self._wrong(wrong)
        if done.given is not None:
            return HTMLResponse(page, 409 if done.changed else 422)
        self.sessions.say(cookie, done.said)
        return RedirectResponse(f"/w/{params['ulid']}", 303)

    # Passkeys

    async def _ask(self, request: Request) -> Response:
        """What a person is asked to sign about a step."""
        fields, ulid = await _fields(request), request.path_params["ulid"]
        return await self._told(lambda project: passkeys_page.ask(project, self.ceremony, ulid, fields))

    async def _key(self, request: Request) -> Response:
        """What the script of a page asks for, or the browser answers, about passkeys."""
        action, ceremony = request.path_params["action"], self.ceremony
        if action == "answer":
            return await self._answered(request)
        if action in ("enrol", "remove"):
            fields = await _fields(request)
            asking = passkeys_page.enrol if action == "enrol" else passkeys_page.remove
            return await self._told(lambda project: asking(project, ceremony, fields))
        if action in ("enrolled", "change"):
            sent = object_in(await request.body()) or {}
            taking = passkeys_page.enrolled if action == "enrolled" else passkeys_page.change
            return await self._told(lambda project: taking(project, ceremony, sent))
        return await self._missing(request)

    async def _answered(self, request: Request) -> Response:
        sent, cookie = object_in(await request.body()) or {}, request.scope[COOKIE]

        def answered(project: Project) -> passkeys_page.Said:
            said, ulid = passkeys_page.answer(project, self.ceremony, sent)
            self.sessions.say(cookie, said)
            return {"next": f"/w/{ulid}"}

        return await self._told(answered)

    async def _told(self, work: Callable[[Project], passkeys_page.Said]) -> Response:
        """An answer to the script, also where it is a refusal."""
        try:
            return JSONResponse(await self.projects.used(work))
        except HoldfastError as wrong:
            return JSONResponse(passkeys_page.refusal(wrong), 409)

    # Who is let in

    async def _login(self, request: Request) -> Response:
        """A code is taken from the address of the link, or from the form; `w` is the workflow whose page comes then."""
        ulid = request.query_params.get("w", "")
        is_named = ulid.isascii() and ulid.isalnum()
        to, form = (f"/w/{ulid}", f"{LOGIN}?w={ulid}") if is_named else ("/", LOGIN)
        if request.method == "POST":
            code = dict(await _fields(request)).get("code", "")
        else:
            code = request.query_params.get("code", "")
        if not code:
            return self._page(401 if request.method == "POST" else 200, "Log in", layout.entrance(form))
        cookie = self.sessions.enter(code)
        if not cookie:
            said = "This code does not work: it was used, is older than two minutes, or is not the newest."
            return self._page(401, "Log in", el("p", said, class_="alert", role="alert"), layout.entrance(form))
        # Not a redirect: a cookie for this site alone does not come along with one that began elsewhere.
        onward = el("meta", http_equiv="refresh", content=f"0; url={to}")
        answer = self._page(200, "You are in", el("p", el("a", "Continue", href=to)), head=onward)
        answer.headers["Set-Cookie"] = self.origin.cookie_header(cookie)
        return answer

    async def _logout(self, request: Request) -> Response:
        self.sessions.leave(request.scope[COOKIE])
        answer = self._page(200, "You are logged out", layout.entrance(LOGIN))
        answer.headers["Set-Cookie"] = self.origin.cookie_header("")
        return answer

    def _refused(self, code: int, said: str) -> Response:
        if code == 401:
            return self._page(401, "Log in", layout.entrance(LOGIN))
        return self._page(code, "Refused", el("p", f"{said[:1].upper()}{said[1:]}."))

    async def _missing(self, _: Request) -> Response:
        return self._page(404, "Not found", el("p", "There is no such page."), is_in=True)

    async def _listen(self, _: Request) -> Response:
        return (
            self._page(503, "Busy", el("p", "Too many browsers listen."))
            if self.events.is_full
            else (self.events.answer())
        )

    def _wrong(self, wrong: HoldfastError) -> Response:
        code = 404 if isinstance(wrong, (NotFound, UsageError)) else 409
        from holdfast.core.remedy import Scope

        return self._page(code, "Not possible", layout.refused(wrong, Scope(person=True)), is_in=True)

    def _page(self, code: int, title: str, *body: Child, head: Child = None, is_in: bool = False) -> Response:
        """A page that says nothing of the project."""
        return HTMLResponse(layout.bare(title, el("h1", title), *body, head=head, is_in=is_in), code)


async def _fields(request: Request) -> acting.Fields:
    """What a form sent, with line ends as a file has them; nothing where it is none. Browsers send a CR with each."""
    from urllib.parse import parse_qsl

    try:
        body = (await request.body()).decode("utf-8", "replace")
        found = parse_qsl(body, keep_blank_values=True, max_num_fields=_FIELDS)
    except (ClientDisconnect, ValueError):
        return ()
    return tuple((name, value.replace("\r\n", "\n").replace("\r", "\n")) for name, value in found)
