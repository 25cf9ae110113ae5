"""The doctor: looks at everything without changing anything, and mends what can be mended without losing anything."""

from __future__ import annotations

import os
from _collections_abc import Iterator

from holdfast.core import moment, queries, refusals, remedies
from holdfast.core.briefing import ALERTS_FOR
from holdfast.core.remedy import shell
from holdfast.core.state import State
from holdfast.documents import reconcile as kinds
from holdfast.engine.ports import Examined
from holdfast.errors import HoldfastError
from holdfast.systems.seam.found import orphaned, refusal_of_adoption
from holdfast.systems.seam.registry import dialect, system, upkeep
from holdfast.upkeep import hooks, installed, losses, surroundings
from holdfast.upkeep.findings import OK, Finding, Report, broken, ok, warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.project.project import Project
    from holdfast.systems.seam.wired import Wired

__all__ = ["Finding", "Report", "examine", "repair"]

REPAIR = remedies.doctor(repair=True)
SAFE = (kinds.STALE, kinds.UNPLACED, kinds.DAMAGED)
"""What can be put right without asking anyone: the document is rendered again, a damaged one kept first."""


def examine(project: Project) -> Report:
    """Everything that can be found out by looking."""
    wired = project.wired
    if not os.path.isdir(wired.place.home):
        here = [ok("nothing", f"{wired.place.root} has no workflows yet"), surroundings.file_system(wired)]
        return Report((*here, *_orphans(project, []), *installed.hosts(wired), surroundings.git(wired)))
    readings = _examined(wired)
    whole = [reading.state for reading in readings if reading.state is not None and not reading.damage]
    return Report(
        (
            surroundings.file_system(wired),
            *surroundings.writable(wired),
            surroundings.permissions(wired),
            *_journals(wired, readings),
            *_views(wired, readings),
            *hooks.guard(wired, whole),
            *hooks.reading(wired, whole),
            *hooks.log(wired),
            *installed.hosts(wired),
            *_documents(wired, readings),
            *_orphans(project, readings),
            *surroundings.quarantined(wired),
            *surroundings.slots(wired),
            *surroundings.definitions(wired),
            *surroundings.secrets(wired, whole),
            surroundings.git(wired),
        )
    )


def repair(project: Project) -> Report:
    """Does what is safe, says so, and examines again. Lines of a journal are given up only when a person asks."""
    wired = project.wired
    if not os.path.isdir(wired.place.home):
        return examine(project)
    if refusal := wired.store.read_only:
        raise refusal
    done = list(_repaired(wired))
    readings = _examined(wired)
    damaged = [reading for reading in readings if reading.can_be_cut]
    if damaged and wired.settings.actor.kind != "human":
        refusal = refusals.person_needed("give up the lost or damaged end of a journal", REPAIR)
        refusal.facts.update(journals=[one.name for one in damaged], done=done)
        raise refusal
    if damaged:
        wired.settings.require_person("cut off the damaged end of a journal", REPAIR)
    for reading in damaged:
        done.extend(losses.give_up(wired, reading))
    if damaged:
        surroundings.drop_slots(wired)
        wired.store.rebuild()
        wired.reconciler.heal()
    after = examine(project)
    return Report((*(ok("repaired", said) for said in done), *after.findings))


def _repaired(wired: Wired) -> Iterator[str]:
    """The safe repairs, in the order in which each finds the ones before done."""
    closed = surroundings.close_to_others(wired)
    if closed:
        yield f"{closed} files and folders of .holdfast are yours alone again"
    for reading in _examined(wired):
        copy = losses.bring_back(wired, reading)
        if copy:
            yield f"{_shown(wired, reading.name)} has its lines again, from {copy}"
        elif reading.snapshot:
            wired.store.repair(reading.ulid, reading)
            yield f"the snapshot of {reading.ulid} was dropped: it {reading.snapshot}"
    if any(fault.code == "unsettled" for fault in wired.store.faults(())):
        wired.reconciler.heal()
        yield "what a process that died left unsettled is settled"
    readings = _examined(wired)
    faults = [fault for fault in wired.store.faults(readings) if fault.code != "unsettled"]
    if faults:
        wired.store.rebuild()
    for fault in faults:
        is_index = fault.code == "index"
        yield (
            "the index was rebuilt from the journals" if is_index else f"{fault.path} was dropped: its workflow is gone"
        )
    whole = [reading.state for reading in readings if reading.state is not None and not reading.damage]
    if Report(tuple(hooks.guard(wired, whole))).worst != OK:
        wired.documents.guard.rebuild()
        yield "the view that hooks judge by was made anew"
    for reading in readings:
        if reading.state and not reading.damage and _document(wired, reading.state)[0] in SAFE:
            wired.reconciler.reconcile(wired.store.load(reading.ulid))
            yield f"the document of {reading.state.id} was rendered again"
    dropped = surroundings.drop_slots(wired)
    if dropped:
        yield f"{dropped} spare files of workflows that are gone were removed"


def _shown(wired: Wired, path: str) -> str:
    return os.path.relpath(path, wired.place.root)


def _examined(wired: Wired) -> list[Examined]:
    return [wired.store.examine(ulid) for ulid in wired.store.every()]


def _journals(wired: Wired, readings: list[Examined]) -> Iterator[Finding]:
    good = 0
    for reading in readings:
        path = _shown(wired, reading.name)
        if reading.damage and reading.damage.code == "lines_missing":
            yield losses.finding(wired, reading, path)
        elif reading.can_be_cut:
            lost = reading.size - reading.end
            message = f"{path} is damaged at byte {reading.end}: {reading.survives}; {lost} bytes cannot be read"
            keep = REPAIR.replace(text="keep what is whole, the rest goes to quarantine")
            remedy = ("restore the file from a backup", keep)
            yield broken("journal_damaged", message, remedy, path)
        elif reading.damage:
            yield broken(reading.damage.code, reading.damage.message, reading.damage.remedies, path)
        elif reading.state is None:
            message = f"{path} has no first line: its writer died before anything was promised"
            yield warning("journal_empty", message, f"rm {path}", path)
        else:
            good += 1
            if reading.end < reading.size:
                message = f"{path} ends in half a line that nobody was promised; the next change drops it"
                yield warning("torn_tail", message, remedies.status(), path)
            if reading.snapshot:
                message = f"the snapshot of {reading.state.id} {reading.snapshot}; the journal holds"
                yield warning("snapshot", message, REPAIR, path)
    yield ok("journals", f"{good} journal{'s are' if good != 1 else ' is'} whole, every line chained to the one before")


def _views(wired: Wired, readings: list[Examined]) -> Iterator[Finding]:
    """What the store keeps beside the journals, compared with them."""
    faults = wired.store.faults(readings)
    for fault in faults:
        yield warning(fault.code, fault.message, REPAIR, fault.path)
    is_whole = not any(fault.code == "index" for fault in faults)
    if is_whole and any(reading.state is not None for reading in readings):
        many = len(wired.store.entries())
        yield ok("index", f"the index lists {many} workflow{'s' if many != 1 else ''}, as the journals have them")


def _documents(wired: Wired, readings: list[Examined]) -> Iterator[Finding]:
    clean = 0
    now = wired.world.now()
    for reading in readings:
        state = reading.state
        if state is None or reading.damage or not queries.is_active(state):
            continue
        try:
            system(state.dialect)
        except HoldfastError as refusal:
            yield warning(refusal.code, f"{state.id} cannot go on: {refusal.message}", refusal.remedies)
            continue
        kind, path = _document(wired, state)
        status = remedies.status(workflow=state.ulid)
        match kind:
            case kinds.CLEAN | kinds.ELSEWHERE | kinds.WRITING:
                clean += 1
            case "gone":
                message = f"{state.id} runs in {state.worktree}, which is not there any more"
                yield warning("worktree_gone", message, remedies.cancel(workflow=state.ulid), state.worktree)
            case kinds.STALE | kinds.UNPLACED:
                yield warning("document_stale", f"{path} is behind its journal", REPAIR, path)
            case kinds.DAMAGED:
                yield warning("document_damaged", f"{path} is empty or torn; the journal has it whole", REPAIR, path)
            case kinds.MISSING if dialect(state.dialect).missing == "rendered":
                yield warning("document_stale", f"{path} is missing; the journal has it whole", REPAIR, path)
            case kinds.MISSING:
                done = dialect(state.dialect).missing == "completed"
                message = f"{path} is missing, which is taken as {'finishing' if done else 'giving up'} {state.id}"
                about = {"workflow": state.ulid, "text": "then"}
                again = remedies.reopen(remedies.STEP, **about) if done else remedies.resume(**about)
                yield warning("document_missing", message, (status.replace(text="if it should go on"), again), path)
            case kinds.EDITED | kinds.FROM_GIT:
                where = "came with git" if kind == kinds.FROM_GIT else "was edited"
                yield warning("document_edited", f"{path} {where}; the next command decides about it", status, path)
            case _:
                yield broken("document_unreadable", f"{path}: {kind}", shell("ls", "-ld", path), path)
        for wrong, file in upkeep(state.dialect).findings(wired, state):
            yield broken(wrong.code, wrong.message, wrong.remedies, file)
        for alert in state.alerts:
            if moment.between(alert.at, now) < ALERTS_FOR:
                remedy = f"look at {alert.kept}" if alert.kept else status
                yield warning("alert", f"{state.id}, {alert.at}: {alert.message}", remedy, alert.path)
    said = "1 document of an active workflow is" if clean == 1 else f"{clean} documents of active workflows are"
    yield ok("documents", f"{said} as {'it' if clean == 1 else 'they'} should be")


def _document(wired: Wired, state: State) -> tuple[str, str]:
    """What a workflow's document is, by the words of the reconciler; or why that cannot be told."""
    path = dialect(state.dialect).document.path(state)
    if not queries.is_active(state):
        return kinds.CLEAN, path
    if not os.path.isdir(wired.place.base(state.worktree)):
        return "gone", path
    try:
        return wired.reconciler.classify(state, path, wired.documents.read(state, path)), path
    except HoldfastError as error:
        return error.message, path


def _orphans(project: Project, readings: list[Examined]) -> Iterator[Finding]:
    running = [one.state for one in readings if one.state is not None and (one.damage or queries.is_active(one.state))]
    lost = [(one.ulid, one.damage) for one in readings if one.state is None and one.damage]
    for found in orphaned(project.wired, running):
        in_doubt = refusal_of_adoption(project.wired, found.path, lost)
        if in_doubt:
            yield warning("orphan", in_doubt.message, REPAIR, found.path)
        elif found.wrong is None:
            yield warning("orphan", f"{found.path} has no journal", remedies.adopt(found.path), found.path)
        else:
            message = f"{found.path} has no journal, and: {found.wrong.message}"
            yield warning("orphan", message, remedies.adopt(found.path), found.path)
