"""Settings for work in this process, whose own terminal, if it has one, counts for nothing."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.machine import settings
from holdfast.machine.settings import Settings


def acting(environ: Mapping[str, str], *, person: bool = False, surface: str = "test", role: str = "") -> Settings:
    """As an agent, or as a person who was asked elsewhere."""
    found = settings.read(environ, terminal=False, surface=surface, role=role)
    return found.replace(actor=found.actor.replace(kind="human")) if person else found
