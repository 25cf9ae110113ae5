"""What a person is shown of a step that hands in no files: the files of the steps before it, that it builds on."""

from __future__ import annotations

import os

from holdfast.core import refusals
from holdfast.core.record import Output
from holdfast.documents import approved
from holdfast.machine.place import Place, read_regular
from holdfast.plain.digest import digest
from holdfast.project.workflow import Workflow
from holdfast.surfaces import excerpt
from holdfast.surfaces.excerpt import Room


def lines(place: Place, workflow: Workflow, path: str, most: int, room: Room) -> list[str]:
    """The files, and what is different in those that changed since they were handed in; nothing is escaped."""
    found = workflow.briefing().inputs_of(path)
    if not found:
        return []
    # what changed is never among those that are only counted
    shown = found if len(found) <= most else sorted(found, key=lambda one: not one.changed)[:most]
    out = ["It has no artifacts of its own. It builds on:"]
    for one in shown:
        out += [f"  {one.name}  → {one.path} of {one.step}{_word(one)}", *_changed(place, workflow, path, one, room)]
    return [*out, *([f"  and {len(found) - most} more"] if len(found) > most else [])]


def _word(one: Output) -> str:
    return {"": "", "gone": ", gone"}.get(one.changed, ", changed since it was handed in")


def _changed(place: Place, workflow: Workflow, path: str, one: Output, room: Room) -> list[str]:
    """What is different, where it was kept; else how it begins, and the commands that show more."""
    if one.changed in ("", "gone"):
        return []
    base = place.base(workflow.state.worktree)
    file, how = os.path.join(base, one.path), excerpt.ways(place, base, one.path)
    content = None if os.path.islink(file) else read_regular(file, excerpt.COMPARED)
    if content is None:
        return [f"  {excerpt.compare(how)}"]
    now = workflow.facts().hashes.get(one.path)
    if now and digest(content) != now[0]:
        raise refusals.changed_meanwhile(path)
    old = approved.copy(place, workflow.ulid, workflow.state.step(one.step).artifacts[one.name].hash)
    if old is not None:
        told = [*excerpt.difference(old, content, room.changed, how.whole, room.wide).lines]
    else:
        begins = excerpt.beginning(content, room.first, how.whole, room.wide)
        told = [*begins.lines, excerpt.compare(how)]
    return [f"  {line}" for line in told]
