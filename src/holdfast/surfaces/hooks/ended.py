"""Workflows that ended by what a file of the project says: told once, as no session asked for the end."""

from __future__ import annotations

from holdfast.core import moment
from holdfast.core.briefing import ALERTS_FOR, alert_text
from holdfast.core.packet_parts import clean
from holdfast.core.record import ENDED
from holdfast.engine.ports import Entry
from holdfast.project.project import Project
from holdfast.systems.seam.found import loaded

MOST = 5
"""How many that ended last are opened."""
LONGEST = 400
"""Characters: what a host takes beside the longest packet."""


def told(project: Project, over: list[Entry]) -> str:
    """A line of each end, among the workflows that are over, that nobody was told of yet; empty where there is none."""
    from holdfast.documents import heard

    wired = project.wired
    now = wired.world.now()
    recent = [entry for entry in over if (moment.age(entry.updated_at, now) or 0) < ALERTS_FOR]
    recent.sort(key=lambda entry: entry.updated_at, reverse=True)
    states = loaded(wired, [entry.ulid for entry in recent[:MOST]], quietly=True)
    named = {alert: state.id for state in states for alert in state.alerts if alert.code == ENDED}
    new = heard.unheard(wired.place.home, named, now)
    if new and not wired.store.read_only:
        heard.keep(wired.place.home, new)
    return "\n".join(clean(f"Holdfast: {named[alert]}: {alert_text(alert)}") for alert in new)[:LONGEST]
