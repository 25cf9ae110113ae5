"""Each page as a whole: gathered from a project, drawn, and put into its frame."""

from __future__ import annotations

from starlette.requests import Request

from holdfast.project.project import Project
from holdfast.surfaces.web import (
    acting,
    approve_page,
    forms,
    gathered,
    journal,
    layout,
    others,
    overview,
    passkeys_page,
    workflow_page,
)
from holdfast.surfaces.web.forms import NOTHING, Given
from holdfast.surfaces.web.layout import Shell
from holdfast.surfaces.web.markup import Markup, el, joined

_MOST = 300
"""How many workflows that run are shown where all are asked for."""


class Pages:
    """The pages of one server, whose address is `origin`. `said` is what the last action did."""

    def __init__(self, origin: str, *, read_only: bool) -> None:
        self._origin = origin
        self._read_only = read_only
        self._waits = gathered.Waits()

    def _shell(self, project: Project, said: tuple[str, ...] = (), waiting: int = -1) -> Shell:
        return Shell(
            project=gathered.name_of(project),
            at=project.wired.world.now(),
            waiting=waiting if waiting >= 0 else sum(map(len, self._waits.of(project).values())),
            read_only=self._read_only,
            said=said,
        )

    def overview(self, project: Project, request: Request, said: tuple[str, ...]) -> str:
        most = _MOST if request.query_params.get("running") == overview.ALL else gathered.RUNNING
        found = gathered.newest(project, self._waits, most)
        shell = self._shell(project, said, found.waiting)
        return layout.whole(shell, "Workflows", overview.body(project, shell, found), here="/")

    def workflow(self, project: Project, request: Request, said: tuple[str, ...]) -> str:
        return self.workflow_page(project, request.path_params["ulid"], said)

    def workflow_page(self, project: Project, ulid: str, said: tuple[str, ...] = (), given: Given = NOTHING) -> str:
        one, shell = gathered.seen(project.workflow(ulid)), self._shell(project, said)
        shell = shell.replace(answers=one.link) if given.action else shell
        scope = project.scope(one.workflow.ulid).replace(person=True)
        actions = Markup("") if self._read_only else forms.actions(one, scope, given)
        return layout.whole(shell, one.brief.title, workflow_page.body(project, one, shell, actions))

    def approve(self, project: Project, request: Request, said: tuple[str, ...]) -> str:
        return self.approve_page(project, request.path_params["ulid"], request.path_params["step"], said)

    def approve_page(
        self,
        project: Project,
        ulid: str,
        step: str,
        said: tuple[str, ...] = (),
        done: acting.Done = acting.Done(),  # noqa: B008 - a value, which never changes
    ) -> str:
        one, shell = gathered.seen(project.workflow(ulid)), self._shell(project, said)
        path = one.workflow.path(step)
        given, changed = done.given or NOTHING, done.changed
        shell = shell.replace(answers=f"{one.link}/approve/{path}") if given.action else shell
        barred = passkeys_page.barred(project, one, path, self._origin)
        body = approve_page.body(project, one, path, shell, given=given, changed=changed, barred=barred)
        return layout.whole(shell, one.brief.state.plan.step(path).label, body)

    def journal(self, project: Project, request: Request, said: tuple[str, ...]) -> str:
        one = gathered.seen(project.workflow(request.path_params["ulid"]))
        before, only = request.query_params.get("before", ""), request.query_params.get("only", "")
        number = int(before) if before.isascii() and before.isdigit() and len(before) < 10 else 0
        piece = journal.newest(one.workflow, number, journal.FAILURES if only == journal.FAILURES else "")
        shell = self._shell(project, said)
        crumb = el("p", el("a", one.brief.title, href=one.link), class_="crumb")
        body = joined(crumb, el("h1", "Journal"), journal.part(one, piece, shell))
        return layout.whole(shell, f"Journal of {one.brief.title}", body)

    def learnings(self, project: Project, _: Request, said: tuple[str, ...]) -> str:
        shell = self._shell(project, said)
        return layout.whole(shell, "Learnings", others.learnings(project), here="/learnings")

    def agents(self, project: Project, _: Request, said: tuple[str, ...]) -> str:
        shell = self._shell(project, said)
        return layout.whole(shell, "Agents", others.agents(gathered.active(project), shell), here="/agents")

    def passkeys(self, project: Project, request: Request, said: tuple[str, ...]) -> str:
        is_opened = request.headers.get("sec-fetch-dest") == "document" and not self._read_only
        shell = self._shell(project, (*said, *passkeys_page.changes(project, is_opened=is_opened)))
        body = passkeys_page.body(project, shell, self._origin)
        return layout.whole(shell, "Passkeys", body, here="/passkeys")
