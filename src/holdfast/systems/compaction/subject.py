"""Phases that the user names, as the steps of a workflow."""

from __future__ import annotations

from holdfast.core import remedies
from holdfast.core.remedy import Blank
from holdfast.errors import UsageError
from holdfast.machine.place import Place
from holdfast.systems.compaction.document import phases
from holdfast.systems.seam.parts import Asked, Loaded, Subject, refuse_phases


def load(asked: Asked, _: Place) -> Loaded:
    """The phases that are named, where the definition leaves them open."""
    definition = asked.definition
    if definition.loads != "phases":
        refuse_phases(asked)
    elif not asked.phases and definition.name == "custom":
        way = remedies.start("custom", asked.subject or Blank("NAME"), phases=Blank("PHASES"))
        raise UsageError("bad_phases", "custom needs phases", remedy=way)
    steps = phases(asked.phases) if asked.phases else definition.steps
    return Loaded(definition.replace(steps=steps), asked.subject, asked.context)


SUBJECT = Subject(load=load, takes_phases=True)
