"""Where a session's work stands, in one line: what the status line shows when something has happened."""

from __future__ import annotations

import os

from holdfast.core import limits, moment
from holdfast.plain.terminal import Style, bar, escape, wants_colour
from holdfast.project import seats
from holdfast.surfaces.hooks import events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.briefing import Briefing

LONGEST = 60


def line(folder: str, session: str) -> tuple[str, str]:
    """The line, and the journal that it is made from; both empty where no workflow is active."""
    project = events.project_of(folder, session)
    workflow = seats.chosen(project, session)[0]
    if workflow is None:
        return "", ""
    style = Style(wants_colour(True, os.environ))
    return shown(workflow.briefing(), style), project.wired.store.file_of(workflow.ulid)


def shown(brief: Briefing, style: Style) -> str:
    """`release-1.4 ▰▰▰▰▱▱▱▱▱▱ 2/5 verify · the check tests is missing · $1.20/$10.00`."""
    head = f"{style.bold(_cut(brief.state.id))} {bar(style, brief.finished_percent)} {brief.number}/{brief.total}"
    parts = [f"{head} {_cut(brief.step)}" if brief.step else f"{head} {style.green('all steps are done')}"]
    parts += [brief.tries] if brief.tries else []
    parts += [style.yellow(_cut(brief.left))] if brief.left else []
    return " · ".join([*parts, *_used(brief, style)])


def _used(brief: Briefing, style: Style) -> list[str]:
    """What is spent, of what there is where that is bounded."""
    usages, spent = limits.usages(brief.state, brief.facts.now), brief.state.spent
    found = []
    if spent and not any(usage.bound == "cost" for usage in usages):
        found.append(moment.money(spent))
    for usage in usages:
        unknown = usage.bound == "cost" and brief.state.is_cost_unknown
        text = f"{'not measured' if unknown else usage.used_text}/{usage.limit_text}"
        is_high = usage.percent >= limits.WARN_AT[0]
        found.append((style.red if usage.reached else style.yellow)(text) if is_high else text)
    return found


def _cut(text: str) -> str:
    """A short text, without what a terminal would obey."""
    safe = escape(text)
    return safe if len(safe) <= LONGEST else f"{safe[: LONGEST - 1]}…"
