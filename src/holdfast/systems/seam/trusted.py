"""What is read in a file that names work or brings commands, and what a person trusts in it."""

from __future__ import annotations

import os

from holdfast.core.definition import Step
from holdfast.core.secrets import DEFAULT
from holdfast.machine import running
from holdfast.machine.configuration import agents, secrets, warns_of_plans
from holdfast.plain.digest import digest
from holdfast.systems.seam import external
from holdfast.systems.seam.parts import Content, Understood
from holdfast.systems.seam.registry import subject, systems, upkeep, words


def content(path: str, root: str = "") -> Content:
    """Raises when nothing in the file could be trusted. Mistakes in a definition are shown as seen from the root."""
    from holdfast.checks import tooling

    real = os.path.realpath(path)
    if os.path.join("", *real.split(os.sep)[-2:]) == tooling.CONFIG:
        tools = tooling.configured(os.path.dirname(os.path.dirname(real)))
        reported = ("nothing:", "what", "is", "reported", "counts")
        said_of = {name: reported if tool.reported else tool.run for name, tool in tools.items()}
        commands = tuple(("commands", name, run) for name, run in said_of.items() if run)
        if prepare := agents(os.path.dirname(os.path.dirname(real))).prepare:
            commands = (*commands, ("agents", "prepare", prepare))
        run, rights = running.offered(os.path.dirname(os.path.dirname(real)))
        commands = (*commands, *run)
        with open(real, "rb") as file:
            config = digest(file.read())
        offers = {name: external.offered(name) for name in external.named(os.path.dirname(os.path.dirname(real)))}
        seals = tuple(offer.seal(config) for offer in offers.values() if offer)
        said = secrets(os.path.dirname(os.path.dirname(real)), lambda *_: True)
        warns = warns_of_plans(os.path.dirname(os.path.dirname(real)), lambda *_: True)
        loosened = (("story · plan", "a scene continues while its plan or blueprint does not hold"),) if warns else ()
        given = said if said != DEFAULT else None
        return Content(config, commands, systems=offers, seals=seals, secrets=given, loosened=(*loosened, *rights))
    for card in systems():
        found = upkeep(card.name).content(real)
        if found is not None:
            return found
    from holdfast.definitions import load

    definition = load(path, root, words())
    return Content(definition.digest, tuple(_commands(definition.steps)))


def understood(path: str, shown: str) -> Understood | None:
    """What a system reads in the subject at a path; None where it is none that a system reads."""
    for sure in (True, False):
        for card in systems():
            found = subject(card.name).understood(path, shown, sure)
            if found is not None:
                return found
    return None


def _commands(steps: tuple[Step, ...], above: str = "") -> list[tuple[str, str, tuple[str, ...]]]:
    found = []
    for step in steps:
        path = f"{above}/{step.id}" if above else step.id
        found += [(path, check.name, check.run) for check in step.checks if check.run]
        found += _commands(step.steps, path)
        found += _commands((step.task,), path) if step.task else []
    return found
