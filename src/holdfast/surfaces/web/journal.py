"""What happened in a workflow, newest first, as much at a time as a page can have."""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast.core.apply import Record
from holdfast.core.value import Value
from holdfast.project.workflow import Workflow
from holdfast.surfaces import timeline
from holdfast.surfaces.web.gathered import Seen
from holdfast.surfaces.web.layout import Shell, css
from holdfast.surfaces.web.markup import Markup, el, joined

MOST = 200
"""How many revisions are shown at once."""
_LOOKED_AT = 5000
"""How many are looked through for failures and decisions."""
_DECISIVE = ("failed", "waiting", "approved", "paused", "escalated", "blocked")
FAILURES = "failures"


class Piece(Value):
    """A part of a journal, the newest record first, and the revision that is before all of it; 0 at the start."""

    records: tuple[Record, ...]
    before: int
    only: str = ""


def newest(workflow: Workflow, before: int = 0, only: str = "", most: int = MOST) -> Piece:
    """The newest records, below a revision where one is given; with `only`, those that decided something or failed."""
    top = min(before - 1, workflow.state.revision) if before else workflow.state.revision
    bottom = max(0, top - (_LOOKED_AT if only else most))
    found = [one for one in workflow.history(bottom, top) if one.revision <= top] if top > 0 else []
    if only:
        found = [one for one in found if any(status in _DECISIVE for status, _, _ in said(one))]
        bottom = found[-most].revision - 1 if len(found) > most else bottom
    return Piece(tuple(reversed(found[-most:])), bottom, only)


def said(record: Record) -> list[tuple[str, str, str]]:
    return [one for event in record.events if (one := timeline.words(event))]


def since(workflow: Workflow, revision: int) -> list[str]:
    """What happened after a revision, in words; nothing for mere signs of life."""
    found = workflow.history(revision)
    return [what + (f": {why}" if why else "") for one in found for _, what, why in said(one)]


def part(one: Seen, piece: Piece, shell: Shell) -> Markup:
    """The lines of a piece, and links to what is before it and to what only decided or failed."""
    here = f"{one.link}/journal"
    links = []
    if not shell.is_copy:
        is_all = not piece.only
        links = [
            el("a", "all", href=here, aria_current="true" if is_all else None),
            el("a", "failures and decisions", href=f"{here}?only={FAILURES}", aria_current=None if is_all else "true"),
        ]
    older = None
    if piece.before > 0 and not shell.is_copy:
        more = f"&only={piece.only}" if piece.only else ""
        older = el("p", el("a", "older", href=f"{here}?before={piece.before + 1}{more}", rel="next"))
    return joined(el("p", *links, class_="filter") if links else None, _table(piece.records), older)


def _table(records: Sequence[Record]) -> Markup:
    rows, day = [], ""
    for record in records:
        told = said(record)
        if not told:
            continue
        if record.at[:10] != day:
            day = record.at[:10]
            rows.append(el("li", el("strong", f"{day} UTC"), class_="day"))
        for status, what, why in told:
            rows.append(
                el(
                    "li",
                    el("span", record.at[11:19], class_="when", title=f"revision {record.revision}"),
                    el("span", record.actor.label, class_="who"),
                    el(
                        "span",
                        el("span", what, class_=f"j-{css(status)}" if status else None),
                        el("span", why, class_="faint why-line") if why else None,
                        class_="what",
                    ),
                )
            )
    return el("ol", *rows, class_="journal") if rows else el("p", "Nothing has happened yet.", class_="faint")
