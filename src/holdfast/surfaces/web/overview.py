"""The first page: what waits for you, what runs, and what ended lately."""

from __future__ import annotations

from _collections_abc import Mapping, Sequence

from holdfast.core import moment
from holdfast.core.value import Any
from holdfast.engine.ports import Entry
from holdfast.errors import HoldfastError
from holdfast.project.project import Project
from holdfast.surfaces.web import gathered
from holdfast.surfaces.web.gathered import Asked, Gathered, Seen
from holdfast.surfaces.web.layout import Shell, badge, folded, items, progress, section
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
        section("Sessions", _sessions(project, shell), id="sessions"),
    )


def _troubles(project: Project, lost: Sequence[str]) -> Markup:
    alerts = (*project.wired.noticed, *project.wired.changed_approvers())
    found = [*lost, *project.troubles, *(alert.message for alert in alerts)]
    return (
        el("div", *(el("p", one) for one in dict.fromkeys(found)), class_="alert", role="alert")
        if found
        else (Markup(""))
    )


def _waiting(asked: Sequence[Asked], shell: Shell, now: str) -> Markup:
    cards = []
    for one in asked:
        link, waits = shell.link(one.link), gathered.span(one.since, now)
        inside = (
            el("span", one.label, class_="card-title"),
            el("span", spaced(one.of.brief.title, el("span", f"for {waits}", class_="faint"))),
            None if one.is_decision else el("span", one.unmet.message, class_="faint"),
            el("span", "Review" if one.is_decision else "Look", class_="go", aria_hidden="true") if link else None,
        )
        of = el("p", el("a", "The whole workflow", href=shell.link(one.of.link)), class_="card-of")
        card = el("a", *inside, href=link, class_="card") if link else el("div", *inside, class_="card")
        cards.append(joined(card, of if one.is_decision else None))
    return items(cards, "cards")


def _rows(found: Sequence[Seen], shell: Shell, now: str) -> Markup:
    rows = [_row(one, shell, now) for one in found]
    return el("ul", *rows, class_="workflows") if rows else Markup("")


def _row(one: Seen, shell: Shell, now: str) -> Markup:
    brief, state = one.brief, one.brief.state
    is_over = bool(state.finished_at or state.cancelled or state.finalized)
    agents = [f"{lease.role}, {gathered.heard(lease, brief)}" for lease in state.leases.values()]
    when = state.finished_at or state.updated_at
    run = "" if is_over or shell.is_copy else one.run
    last = f"{moment.ago(when, now)}" if is_over else run or "; ".join(agents)
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


def _sessions(project: Project, shell: Shell) -> Markup:
    """The sessions of a writer's project, if it has any: what each changes, and the workflows that run in it."""
    try:
        found = _listed(project)
    except HoldfastError as wrong:
        return el("p", wrong.message, class_="faint")
    runs: dict[str, list[Entry]] = {}
    for entry in project.wired.store.entries() if found else ():
        runs.setdefault(entry.session, []).append(entry)
    return items([_session(one, runs.get(str(one["name"]), []), shell) for one in found])


def _session(one: Mapping[str, Any], runs: Sequence[Entry], shell: Shell) -> Markup:
    name, changes = str(one["name"]), one.get("changes") or {}
    many = [f"{len(changes[kind])} {kind}" for kind in _CHANGES if changes.get(kind)]
    head = spaced(
        el("strong", name),
        el("span", _STATES.get(str(one["status"]), str(one["status"]).lower()), class_="faint"),
        el("span", str(one.get("description") or "")),
        el("span", f"files: {', '.join(many) or 'none changed'}", class_="faint") if "error" not in one else None,
        el("span", f"{len(runs)} workflow{'' if len(runs) == 1 else 's'}", class_="faint") if runs else None,
        el("span", str(one["error"]), class_="warn") if "error" in one else None,
    )
    files = [spaced(el("code", path), el("span", kind, class_="faint")) for kind in _CHANGES
             for path in changes.get(kind, ())[:MOST_FILES]]  # fmt: skip
    links = [_run(run, shell) for run in runs]
    more = joined(items(links), items(files))
    return folded(head, more, id=f"session-{name}") if more else head


def _run(run: Entry, shell: Shell) -> Markup:
    link = shell.link(f"/w/{run.ulid}") if run.active or not shell.is_copy else None
    name = el("a", run.title or run.subject or run.id, href=link)
    return spaced(name, el("span", run.status.replace("_", " "), class_="faint"))


MOST_FILES = 50
"""How many files of a kind are shown of a session."""
_CHANGES = ("modified", "created", "deleted")
_STATES = {"ACTIVE": "in use", "INACTIVE": "not in use"}


def _listed(project: Project) -> Sequence[dict[str, Any]]:
    import os

    from holdfast.systems.story.sessions.layout import SESSIONS

    if not os.path.isdir(os.path.join(project.root, SESSIONS)):
        return ()
    return project.sessions.list()
