"""The items of a text file as steps."""

from __future__ import annotations

import os

from holdfast.core.definition import Step
from holdfast.core.remedy import shell
from holdfast.errors import NotFound, UsageError
from holdfast.machine.place import Place, read_regular
from holdfast.systems.seam.parts import Asked, Loaded, Subject

LARGEST = 1 << 16


def load(asked: Asked, place: Place) -> Loaded:
    path = place.inside(os.path.join(place.worktree, asked.subject))
    data = read_regular(os.path.join(place.worktree, path), LARGEST)
    if data is None:
        raise NotFound("no_checklist", f"there is no checklist {path}", remedy=shell("ls"))
    items = [line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    if not items:
        raise UsageError("empty_checklist", f"{path} has no items", remedy=f"write one item per line into {path}")
    steps = tuple(Step(f"item-{number}", name) for number, name in enumerate(items, 1))
    return Loaded(asked.definition.replace(steps=steps), path, asked.context)


SUBJECT = Subject(load=load)
