"""The pages about all workflows together: what was learned, and which agents are at work."""

from __future__ import annotations

import os
from _collections_abc import Mapping, Sequence

from holdfast.core import moment
from holdfast.core.value import Any
from holdfast.documents.learnings import read
from holdfast.project.project import Project
from holdfast.surfaces.web import gathered
from holdfast.surfaces.web.gathered import Seen
from holdfast.surfaces.web.layout import Shell, items, section
from holdfast.surfaces.web.markup import Markup, el, joined, spaced
from holdfast.systems.orchestrator.words import LEARNINGS
from holdfast.systems.seam.learned import in_journals

MOST = 200
"""How many learnings are shown, the newest first."""
_KINDS = {"pattern": "follow", "antipattern": "avoid", "insight": "know"}


def learnings(project: Project) -> Markup:
    found = [*in_journals(project.wired), *read(os.path.join(project.wired.place.worktree, LEARNINGS))]
    rows = [_learning(one) for one in reversed(found[-MOST:])]
    more = el("p", f"and {len(found) - MOST} older ones", class_="faint") if len(found) > MOST else None
    return joined(
        el("h1", "Learnings"), items(rows, "learnings") or el("p", "Nothing was learned yet.", class_="faint"), more
    )


def _learning(one: Mapping[str, Any]) -> Markup:
    kind = str(one.get("type") or "insight")
    about = [str(one[name]) for name in ("context", "task", "timestamp") if one.get(name)]
    return joined(
        spaced(el("span", _KINDS.get(kind, kind), class_=f"kind k-{kind if kind in _KINDS else 'insight'}"),
               el("strong", str(one.get("lesson") or ""))),
        el("p", str(one["pattern"])) if one.get("pattern") else None,
        el("p", " · ".join(about), class_="faint") if about else None,
    )  # fmt: skip


def agents(running: Sequence[Seen], shell: Shell) -> Markup:
    rows = []
    for one in running:
        brief = one.brief
        for lease in brief.state.leases.values():
            where = f" on {lease.step}" if lease.step else ""
            where += f" in {lease.worktree}" if lease.worktree else ""
            since = moment.ago(lease.at, brief.facts.now)
            rows.append(
                spaced(
                    el("strong", lease.role),
                    el("a", brief.title, href=shell.link(one.link)),
                    el("span", f"{where}, since {since}, {gathered.heard(lease, brief)}", class_="faint"),
                )
            )
    held = [
        spaced(el("code", path), f"locked by {hold.agent}", el("a", one.brief.title, href=shell.link(one.link)))
        for one in running
        for path, hold in one.brief.state.locks.items()
    ]
    return joined(
        el("h1", "Agents"),
        section("At work", items(rows), empty="No agent has a lease."),
        section("Locked files", items(held)),
    )
