"""The first page: what waits for you, what runs, and what ended lately."""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast.core import moment
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.project.project import Project
from holdfast.surfaces.web import gathered
from holdfast.surfaces.web.gathered import Asked, Gathered, Seen
from holdfast.surfaces.web.layout import Shell, badge, items, progress, section
from holdfast.surfaces.web.markup import Markup, el, joined, spaced

ALL = "all"
"""What a request for the first page says where more of the workflows that run are to be shown."""


def body(project: Project, shell: Shell, found: Gathered) -> Markup:
    now = project.wired.world.now()
    running, asked, ended = found.running, found.asked, gathered.finished(project)
    nothing = "Nothing waits for you." if running or ended else ""
    older = el("a", f"{found.others} more", href=f"/?running={ALL}") if found.others else None
    return joined(
        el("h1", shell.project),
        _troubles(project, found.troubles),
        section("Waiting for you", _waiting(asked, shell, now), id="waiting", empty=nothing),
        section("Running", _rows(running, shell, now), older, id="running", empty="No workflow is active here."),
        section("Finished lately", _rows(ended, shell, now), id="finished"),
        section("Sessions", _sessions(project), id="sessions"),
    )


def _troubles(project: Project, lost: Sequence[str]) -> Markup:
    found = [*lost, *project.troubles, *(alert.message for alert in project.wired.noticed)]
    return (
        el("div", *(el("p", one) for one in dict.fromkeys(found)), class_="alert", role="alert")
        if found
        else (Markup(""))
    )


def _waiting(asked: Sequence[Asked], shell: Shell, now: str) -> Markup:
    cards = []
    for one in asked:
        link = shell.link(one.link)
        inside = (
            el("span", one.label, class_="card-title"),
            el("span", spaced(one.of.brief.title, el("span", f"for {gathered.span(one.since, now)}", class_="faint"))),
            None if one.is_decision else el("span", one.unmet.message, class_="faint"),
            el("span", "Review" if one.is_decision else "Look", class_="go", aria_hidden="true") if link else None,
        )
        cards.append(el("a", *inside, href=link, class_="card") if link else el("div", *inside, class_="card"))
    return items(cards, "cards")


def _rows(found: Sequence[Seen], shell: Shell, now: str) -> Markup:
    rows = [_row(one, shell, now) for one in found]
    return el("ul", *rows, class_="workflows") if rows else Markup("")


def _row(one: Seen, shell: Shell, now: str) -> Markup:
    brief, state = one.brief, one.brief.state
    is_over = bool(state.finished_at or state.cancelled or state.finalized)
    agents = [f"{lease.role}, {gathered.heard(lease, brief)}" for lease in state.leases.values()]
    when = state.finished_at or state.updated_at
    last = f"{moment.ago(when, now)}" if is_over else "; ".join(agents)
    return el(
        "li",
        el(
            "div",
            el("a", brief.title, href=shell.link(one.link), class_="title"),
            el("span", state.id if state.id != brief.title else "", class_="faint"),
            class_="name",
        ),
        badge(brief.shown_status),
        progress(brief.finished_percent, f"{brief.finished_percent} % of the steps are done"),
        el("span", "" if is_over else f"{brief.number}/{brief.total} {brief.label}"),
        el("span", gathered.cost(state)),
        el("span", last, class_="faint last"),
    )


def _sessions(project: Project) -> Markup:
    """The sessions of a writer's project, if it has any."""
    try:
        found = _listed(project)
    except HoldfastError as wrong:
        return el("p", wrong.message, class_="faint")
    rows = [
        spaced(
            el("strong", str(one.get("session", ""))),
            el("span", str(one.get("status", "")), class_="faint"),
            el("span", str(one.get("description", "") or ""), class_="faint"),
        )
        for one in found
    ]
    return items(rows)


def _listed(project: Project) -> Sequence[dict[str, Any]]:
    import os

    from holdfast.systems.story.sessions.layout import SESSIONS

    if not os.path.isdir(os.path.join(project.root, SESSIONS)):
        return ()
    return project.sessions.list()
