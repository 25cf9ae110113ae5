"""The doctor: looks at everything without changing anything, and fixes what can be fixed without losing anything."""

from __future__ import annotations

import os
from _collections_abc import Iterator

from holdfast.core import moment, queries, record, refusals, remedies
from holdfast.core.briefing import ALERTS_FOR
from holdfast.core.remedy import Remedy, shell
from holdfast.core.state import State
from holdfast.documents import beside
from holdfast.documents import reconcile as kinds
from holdfast.engine.ports import Examined
from holdfast.errors import HoldfastError
from holdfast.project.project import Project
from holdfast.systems.seam import unversioned
from holdfast.systems.seam.found import give_up_gone, gone, orphaned, refusal_of_adoption
from holdfast.systems.seam.registry import dialect, system, systems, upkeep, work
from holdfast.systems.seam.wired import Wired
from holdfast.upkeep import agents, hooks, installed, losses, notifications, surroundings
from holdfast.upkeep.findings import OK, Finding, Report, broken, ok, warning

__all__ = ["Finding", "Report", "examine", "repair"]

REPAIR = remedies.doctor(repair=True)
SAFE = (kinds.STALE, kinds.UNPLACED, kinds.LOST, kinds.DAMAGED)
"""What can be put right without asking anyone: the document is rendered again, a damaged one kept first."""


def examine(project: Project) -> Report:
    """Everything that can be found out by looking."""
    wired = project.wired
    readings = _examined(wired)
    if not os.path.isdir(wired.place.home):
        nothing = () if readings else (ok("nothing", f"{wired.place.root} has no workflows yet"),)
        here = (*nothing, surroundings.file_system(wired), *losses.gone(wired, readings))
        return Report((*here, *_orphans(project, readings), *installed.hosts(wired), surroundings.git(wired)))
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
            *_half_finalized(whole),
            *_leftovers(project, whole),
            *_orphans(project, readings),
            *surroundings.quarantined(wired),
            *surroundings.slots(wired),
            *surroundings.definitions(wired),
            *surroundings.configured(wired),
            *notifications.examined(wired),
            *surroundings.secrets(wired, whole),
            surroundings.git(wired),
            *surroundings.excluded(wired, _in_use(whole)),
            *agents.examined(wired, whole),
        )
    )


def _leftovers(project: Project, states: list[State]) -> Iterator[Finding]:
    """What is still to be done about workflows that ended; without such, the list of workflows is not asked for."""
    ended = any(not queries.is_active(state) for state in states)
    for one in project.leftovers() if ended else ():
        yield warning(one.code, one.message, one.remedies)


def repair(project: Project) -> Report:
    """Does what is safe, says so, and examines again. Lines of a journal are given up only when a person asks."""
    wired = project.wired
    if not os.path.isdir(wired.place.home) and not gone(wired):
        return examine(project)
    wired.prepare()
    done = list(_repaired(wired))
    readings = _examined(wired)
    damaged = [reading for reading in readings if reading.can_be_cut]
    lost = [reading for reading in damaged if not wired.store.has(reading.ulid)]
    if damaged and wired.settings.actor.kind != "human":
        refusal = refusals.person_needed("discard the lost or damaged end of a journal", REPAIR)
        refusal.facts.update(journals=[one.name for one in damaged], done=done)
        raise refusal
    if damaged:
        ends = [one for one in damaged if one not in lost]
        cuts = ", ".join(f"{_shown(wired, one.name)} after line {one.lines}{_rest(one)}" for one in ends)
        asked = (f"give up {losses.counted(lost)}" if lost else "", f"cut off {cuts}" if ends else "")
        wired.settings.require_person(", and ".join(filter(None, asked)), REPAIR, default=False)
        if give_up_gone(wired):
            done.append(f"{losses.counted(lost)} {'is' if len(lost) == 1 else 'are'} given up")
        for reading in ends:
            done.extend(losses.give_up(wired, reading))
        surroundings.drop_slots(wired)
        wired.store.rebuild()
        wired.reconciler.heal()
    after = examine(project)
    return Report((*(ok("repaired", said) for said in done), *after.findings))


def _rest(reading: Examined) -> str:
    """How much of a journal is given up."""
    missing = reading.damage.facts.get("missing") if reading.damage else None
    number, of = (missing, "line") if isinstance(missing, int) else (reading.size - reading.end, "byte")
    return f" ({number} {of}{'' if number == 1 else 's'})"


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
        dropped = f"{fault.path} was dropped: its workflow is gone"
        yield "the index was rebuilt from the journals" if fault.code == "index" else dropped
    whole = [reading.state for reading in readings if reading.state is not None and not reading.damage]
    if Report(tuple(hooks.guard(wired, whole))).worst != OK:
        wired.documents.guard.rebuild()
        yield "the view that hooks judge by was made again"
    for reading in readings:
        if reading.state and not reading.damage and _document(wired, reading.state)[0] in SAFE:
            wired.reconciler.reconcile(wired.store.load(reading.ulid))
            yield f"the document of {reading.state.id} was rendered again"
    for reading in readings:
        if reading.state and not reading.damage:
            yield from _put_back(wired, reading.state)
    yield from agents.remove_abandoned(wired, whole)
    unversioned.keep_out(wired, _in_use(whole), again=True)
    spare = surroundings.drop_slots(wired)
    if spare:
        yield f"{spare} spare files of workflows that are gone were removed"


def _put_back(wired: Wired, state: State) -> Iterator[str]:
    """Writes the files beside a document again that are missing or torn."""
    lost = _amiss(wired, state)
    for path in lost:
        if path in wired.documents.checkpoints.paths(state):
            wired.documents.put_back(state, path)
        yield f"{path} was written again"
    if lost:
        wired.reconciler.settle(wired.engine.show(wired.store.load(state.ulid)))


def _amiss(wired: Wired, state: State) -> list[str]:
    """The files beside the document of an active workflow that are missing or torn."""
    if not queries.is_active(state) or not os.path.isdir(wired.place.base(state.worktree)):
        return []
    try:
        return beside.amiss(wired.documents, state)
    except HoldfastError:
        return []  # what is there cannot be read, which the document's own finding says


def _in_use(states: list[State]) -> list[str]:
    """The systems that have active workflows, as far as they can be had."""
    known = {card.name for card in systems()}
    return sorted({state.dialect for state in states if queries.is_active(state)} & known)


def _shown(wired: Wired, path: str) -> str:
    return os.path.relpath(path, wired.place.root)


def _examined(wired: Wired) -> list[Examined]:
    return [wired.store.examine(ulid) for ulid in wired.store.every()]


def _journals(wired: Wired, readings: list[Examined]) -> Iterator[Finding]:
    good = 0
    yield from losses.gone(wired, [reading for reading in readings if not wired.store.has(reading.ulid)])
    for reading in readings:
        path = _shown(wired, reading.name)
        if not wired.store.has(reading.ulid):
            continue
        if reading.damage and reading.damage.code == "lines_missing":
            yield losses.finding(wired, reading, path)
        elif reading.can_be_cut:
            lost = reading.size - reading.end
            message = f"{path} is damaged at byte {reading.end}: {reading.survives}; {lost} bytes cannot be read"
            keep = REPAIR.replace(text="keep what is whole, the rest goes to quarantine")
            remedy = ("restore the file from a backup", keep)
            yield broken("journal_damaged", message, remedy, path)
        elif reading.damage:
            said = reading.damage.message
            message = said if reading.name in said else f"{path}: {said}"
            yield broken(reading.damage.code, message, reading.damage.remedies, path)
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
    if good:
        yield ok("journals", f"{good} journal{'s are' if good != 1 else ' is'} intact (hash chain verified)")
    elif not readings:
        yield ok("journals", "journals: none")


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
            yield warning(refusal.code, f"{state.id} cannot continue: {refusal.message}", refusal.remedies)
            continue
        kind, path = _document(wired, state)
        status = remedies.status(workflow=state.ulid)
        match kind:
            case kinds.CLEAN | kinds.ELSEWHERE | kinds.WRITING:
                clean += 1
            case "gone":
                message = f"{state.id} runs in {state.worktree}, which is not there any more"
                yield warning("worktree_gone", message, _to_bring_back(wired, state), state.worktree)
            case kinds.STALE | kinds.UNPLACED:
                yield warning("document_stale", f"{path} is behind its journal", REPAIR, path)
            case kinds.DAMAGED:
                yield warning(
                    "document_damaged", f"{path} is empty, torn or no JSON; the journal has it whole", REPAIR, path
                )
            case kinds.LOST:
                yield warning("document_stale", f"{path} is missing; the journal has it whole", REPAIR, path)
            case kinds.MISSING:
                done = dialect(state.dialect).missing == "completed"
                message = f"{path} is missing, which is taken as {'finishing' if done else 'giving up'} {state.id}"
                about = {"workflow": state.ulid, "text": "then"}
                again = remedies.reopen(remedies.STEP, **about) if done else remedies.resume(**about)
                yield warning("document_missing", message, (status.replace(text="if it should continue"), again), path)
            case _ if kind in kinds.WRITTEN and work(state.dialect).unsuitable(wired, state):
                pass  # git brought it, or is in the middle of it: what is found of that leads on
            case _ if kind in kinds.WRITTEN:
                where = "came with git" if kind == kinds.FROM_GIT else "was edited"
                yield warning("document_edited", f"{path} {where}; the next command decides about it", status, path)
            case _:
                yield broken("document_unreadable", f"{path}: {kind}", shell("ls", "-ld", path), path)
        try:
            wired.documents.require_inside(state)
        except HoldfastError as link:
            yield broken(link.code, link.message, link.remedies, str(link.facts["path"]))
        for lost in _amiss(wired, state):
            yield warning("view_missing", f"{lost} is missing or torn; the journal has it whole", REPAIR, lost)
        for wrong, file in upkeep(state.dialect).findings(wired, state):
            yield broken(wrong.code, wrong.message, wrong.remedies, file)
        for alert in record.alerts(state):
            if moment.between(alert.at, now) < ALERTS_FOR:
                remedy = f"look at {alert.kept}" if alert.kept else status
                yield warning("alert", f"{state.id}, {alert.at}: {alert.message}", remedy, alert.path)
    said = "1 document of an active workflow is" if clean == 1 else f"{clean} documents of active workflows are"
    yield ok("documents", f"{said} as {'it' if clean == 1 else 'they'} should be")


def _to_bring_back(wired: Wired, state: State) -> tuple[Remedy, ...]:
    """What makes the worktree of a workflow again; the folder of one that git does not know is gone with its work."""
    if wired.place.repository is None or not state.branch or not state.worktree:
        return (remedies.cancel(workflow=state.ulid),)
    prune = shell("git", "worktree", "prune", text="to bring it back")
    return (prune, shell("git", "worktree", "add", state.worktree, state.branch, text="then"))


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


def _half_finalized(states: list[State]) -> Iterator[Finding]:
    for state in filter(queries.is_half_finalized, states):
        refusal = refusals.finalized(state)
        yield warning("finalize_interrupted", refusal.message, refusal.remedies)


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
