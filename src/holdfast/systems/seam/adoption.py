"""Documents that have no journal: from a fresh clone, or from before Holdfast came. They are adopted whole."""

from __future__ import annotations

import os
from _collections_abc import Callable, Iterable, Mapping

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, remedies
from holdfast.core.definition import Bounds, Definition
from holdfast.core.facts import Facts
from holdfast.core.patterns import matches
from holdfast.core.remedy import Blank, typed
from holdfast.core.state import Actor, Alert, State
from holdfast.core.value import Any
from holdfast.documents.files import SETTLED_AFTER
from holdfast.documents.lens.fields import claimed, object_in
from holdfast.documents.lens.spec import Dialect
from holdfast.documents.reconcile import FILE
from holdfast.errors import Broken, Conflict, HoldfastError, NotFound, UsageError
from holdfast.files.replace import durable_write, read_file, remove
from holdfast.plain import clock, ulid
from holdfast.systems.seam import returned
from holdfast.systems.seam.found import (
    Found,
    active,
    dialect_of,
    look,
    orphaned,
    refusal_of_adoption,
    unplaced,
    unreadable,
)
from holdfast.systems.seam.registry import conduct_of, subject, systems, upkeep
from holdfast.systems.seam.wired import Wired

_TERMS = ("source", "digest", "version", "keep_going", "require_ack", "read_only")
"""What a definition says beside its steps and holds of a document that is adopted."""


def orphans(wired: Wired) -> list[str]:
    """Paths of documents in this worktree that belong to no workflow known here."""
    return [found.path for found in orphaned(wired)]


def adoptable(wired: Wired) -> list[str]:
    """Those of them that `holdfast adopt` does something about."""
    return [found.path for found in orphaned(wired) if found.wrong or found.recovery or _is_understood(wired, found)]


def _is_understood(wired: Wired, found: Found) -> bool:
    try:
        understood(wired, found)
    except UsageError:
        return False
    return True


def adopt(wired: Wired, paths: Iterable[str] = ()) -> list[State]:
    """Adopts the documents at these paths, absolute or from the top of the worktree, or every orphan in it.

    One that is broken is moved to quarantine and reported when the others are done, so that one can start again. Where
    its folder holds more of the work, it stays: what is there is what it can be rebuilt from.
    """
    place = wired.place
    named = [place.inside(os.path.join(place.worktree, path)) for path in paths]
    wanted = [look(wired.place.worktree, path, dialect_of(path)) for path in named] if named else orphaned(wired)
    adopted: list[State] = []
    kept: dict[str, str] = {}
    refusals: list[HoldfastError] = []
    for found in wanted:
        try:
            if found.is_broken and not found.recovery:
                kept[found.path] = quarantine(wired, found)
                copy = _copy(wired, found)
                if copy is not None:
                    adopted.append(_adopted(wired, copy))
                    del kept[found.path]
            else:
                adopted.append(_adopted(wired, found))
        except HoldfastError as refusal:
            refusals.append(refusal)
    if kept:
        raise Broken(
            "document_broken",
            f"{', '.join(kept)} cannot be read and no journal knows it; a copy is in {', '.join(kept.values())}",
            remedy=remedies.start(Blank("WORKFLOW"), text="start a new one"),
            facts={"quarantined": kept, "adopted": [state.id for state in adopted]},
        )
    if refusals:
        raise refusals[0]
    return adopted


def adopt_at_once(wired: Wired) -> list[str]:
    """Adopts every document that agents keep by themselves; says what is wrong with those that cannot be read."""
    wrong = []
    for card in systems():
        try:
            found, second = unplaced(wired, only=card.name) if card.adopt_at_once else ([], [])
        except HoldfastError as refusal:  # of a journal: the other workflows are there all the same
            wrong.append(refusal.message)
            continue
        for one in (*second, *found):
            try:
                if one in second:
                    returned.take_second(wired, one)
                else:
                    returned.tell_namesake(wired, _adopted(wired, one))
            except HoldfastError as refusal:
                form = f": write it again as JSON; its form: {typed(remedies.schema(card.name))}"
                wrong.append(f"{refusal.message}{form if one.is_broken else ''}")
    return wrong


def set_aside(wired: Wired, name: str) -> str:
    """Puts a broken document that no journal knows into quarantine, so that a workflow of its name can start.

    Says where the copy is; empty when there was none.
    """
    for found in orphaned(wired):
        if found.is_broken and name in found.names and not found.recovery:
            return quarantine(wired, found)
    return ""


def adopt_on_first_use(
    wired: Wired, word: str, *, exactly: bool = False, about: Callable[[Mapping[str, Any]], bool] | None = None
) -> State | None:
    """The workflow of the orphan that a word names, or of the only one there is; None when none can be meant.

    With `about`, the one whose context it says yes to.
    """
    there = orphaned(wired)
    found = [one for one in there if one.wrong is None]
    if about is not None:
        found = [one for one in found if about(object_in(one.document, "context"))]
    elif word:
        found = _named(found, word, exactly=exactly)
    else:
        branch = wired.place.branch()
        found = [one for one in found if object_in(one.document, "workflow").get("branch") in (None, branch)] or found
    if not found and about is None:
        _refuse_lost([one for one in there if one.is_broken and one.recovery], word, exactly=exactly)
    if len(found) != 1:
        return None
    try:
        return _adopted(wired, found[0], or_known=True)
    except UsageError as refusal:
        if refusal.code in ("not_a_workflow", "unknown_word") and not found[0].recovery:
            return None
        raise


def _named(found: list[Found], word: str, *, exactly: bool) -> list[Found]:
    exact = [one for one in found if word in one.names]
    begun = [one for one in found if any(name.startswith(word) for name in one.names)]
    return exact if exactly or exact else begun


def _refuse_lost(lost: list[Found], word: str, *, exactly: bool) -> None:
    """Work whose document is lost is not unknown: the refusal says how it is rebuilt."""
    meant = _named(lost, word, exactly=exactly) if word else lost
    if len(meant) == 1 and meant[0].wrong is not None:
        raise meant[0].wrong


def _adopted(wired: Wired, found: Found, *, or_known: bool = False) -> State:
    """One at a time: on a fresh clone, several agents look at the same document first."""
    if found.wrong is not None:
        raise found.wrong
    journaled = upkeep(found.dialect.name).adopt(wired, found, or_known) or returned.take(wired, found)
    if journaled is not None:
        return journaled
    try:
        state, document = understood(wired, found)
    except UsageError as refusal:
        if refusal.code == "not_a_workflow" and found.recovery:
            refusal.remedies = (found.recovery,)
        raise
    wired.prepare(state.dialect)
    with wired.store.exclusively("starting"):
        other = next((entry for entry in active(wired) if entry.id == state.id), None)
        if other and or_known:
            return wired.reconciler.reconcile(wired.store.load(other.ulid))
        after = begun(wired, state, document, found, FILE)
    return marked(wired, state, after, FILE)


def begun(wired: Wired, state: State, document: Mapping[str, Any], found: Found, actor: Actor) -> State:
    """The first line of a journal, in place of the document. The lock under which ids are given away has to be held."""
    other = next((entry for entry in active(wired) if entry.id == state.id), None)
    if other:
        raise Conflict(
            "already_active",
            f"{state.id} is already active and has a journal",
            remedy=remedies.status(workflow=state.ulid),
            facts={"workflow": state.id, "ulid": other.ulid},
        )
    in_doubt = refusal_of_adoption(wired, found.path, unreadable(wired, named=True))
    if in_doubt:
        raise in_doubt
    wired.documents.accept(state, found.path, found.data)
    if found.overlooked:
        why = f"it is not as JSON should be: {', '.join(found.overlooked)}"
        kept = wired.documents.quarantine(found.path, found.data, why)
        alert = Alert(wired.world.now(), "document_understood", f"{found.path} was read although {why}", "", kept)
        state = state.replace(alerts=(*state.alerts, alert))
    for alert in state.alerts:
        data = wired.documents.read(state, alert.path) if alert.path else None
        if data is not None and alert.path != found.path:
            wired.documents.quarantine(alert.path, data, alert.message)
    return wired.reconciler.settle(wired.engine.start(cmd.Adopt(state, document), actor))


def marked(wired: Wired, said: State, after: State, actor: Actor) -> State:
    """The state with what the document says of the whole, which is not part of the steps."""
    marks: list[cmd.Command] = [cmd.Pause(said.paused.reason)] if said.paused else []
    if said.cancelled:
        marks = [cmd.Cancel(said.cancelled.reason)]
    for mark in marks:
        after = wired.execute(said.ulid, mark, actor)
    return after


def understood(
    wired: Wired, found: Found, beside: Mapping[str, Mapping[str, Any] | None] | None = None
) -> tuple[State, Mapping[str, Any]]:
    """The state that a document speaks of, and the document as it is kept.

    The gates are those of the definition of the run before, whose name it bears, or of the one that it names itself;
    where that is gone, those that the run before had.

    `beside` is what the files beside it say, by path, where that is known already.
    """
    spoken = found.dialect
    document = spoken.found_at(found.document, found.path) if spoken.found_at else found.document
    if beside is None:
        paths = spoken.beside(document) if spoken.beside else ()
        looked = [look(wired.place.worktree, path, spoken) for path in paths]
        beside = {one.path: one.document if one.wrong is None else None for one in looked}
    facts = Facts(now=wired.world.now(), results=beside)
    state = spoken.adopt(document, None, facts, ulid.new())
    before = next(iter(returned.namesakes(wired, found)), None)
    definition = _definition(wired, spoken, before.type if before else state.type) or (
        Definition(name=before.type, steps=before.plan.steps) if before else None
    )
    if definition:
        from holdfast.checks import equipping
        from holdfast.core.mistakes import check_steps

        definition, said = _with_subject(wired, definition, state)
        tools = {**equipping.tools(definition, wired.place), **(equipping.tools_of(before) if before else {})}
        state = spoken.adopt(document, equipping.equipped(definition, tools), facts, state.ulid)
        state = state.replace(**said(state))
        check_steps(state.plan.steps)
        origin = {"type": definition.name, **{name: getattr(definition, name) for name in _TERMS}}
        bounds = definition.bounds if definition.bounds != Bounds() else state.bounds
        state = state.replace(bounds=bounds, loads=definition.loads or state.loads, **origin)
    else:
        state = _all_claimed(state)
    state = state.replace(conduct=conduct_of(state.loads))
    lies_at = "" if spoken.document.path(state) == found.path else found.path
    return state.replace(worktree=wired.place.key(), file=lies_at), document


def _with_subject(
    wired: Wired, definition: Definition, said: State
) -> tuple[Definition, Callable[[State], dict[str, Any]]]:
    """The definition with the steps that its subject makes, and what else the subject says of a state."""
    try:
        loaded = subject(definition.dialect).again(definition, said, wired.place)
    except HoldfastError as refusal:
        told = f"what {said.subject or 'its subject'} asks for is not known here: {refusal.message}"
        alert = Alert(wired.world.now(), "subject_unread", told)
        return definition, lambda state: {"alerts": (*state.alerts, alert)}
    if loaded is None:
        return definition, lambda _: {}

    def more(state: State) -> dict[str, Any]:
        own = {name: {**state.own.get(name, {}), **values} for name, values in loaded.own.items()}
        named = {"title": loaded.title or state.title, "subject": loaded.subject}
        return {**named, "context": {**state.context, **loaded.context}, "own": {**state.own, **own}}

    return loaded.definition, more


def _all_claimed(state: State) -> State:
    """Nobody here knows which gates the steps of an unknown definition had: that they are done is a claim."""
    done = {path: state.step(path) for path in state.plan.leaves() if state.step(path).status == lifecycle.DONE}
    said = {path: claimed(one) for path, one in done.items() if one.grant is None}
    return state.replace(progress={**state.progress, **said})


def _copy(wired: Wired, broken: Found) -> Found | None:
    """The newest copy of a broken document that can be read, where its dialect keeps some: put in its place."""
    folder = os.path.dirname(os.path.join(wired.place.worktree, broken.path))
    pattern = broken.dialect.copies
    names = [name for name in os.listdir(folder) if pattern and matches(pattern, name)]
    for name in sorted(names, key=lambda one: os.stat(os.path.join(folder, one)).st_mtime_ns, reverse=True):
        found = look(wired.place.worktree, f"{os.path.dirname(broken.path)}/{name}", broken.dialect)
        if found.wrong is None:
            durable_write(os.path.join(folder, os.path.basename(broken.path)), found.data)
            return found.replace(path=broken.path)
    return None


def _definition(wired: Wired, spoken: Dialect, name: str) -> Definition | None:
    """The definition of that name, if there is one."""
    try:
        found = wired.definition(name)
    except NotFound:
        return None
    except UsageError as refusal:
        if refusal.code != "ambiguous_definition":
            raise
        found = wired.definition(f"{spoken.name}/{name}")
    return found if found.dialect == spoken.name else None


def quarantine(wired: Wired, found: Found) -> str:
    """Keeps a copy, then removes the broken file, unless it has changed meanwhile."""
    full = os.path.join(wired.place.worktree, found.path)
    if abs(clock.seconds() - os.stat(full).st_mtime) < SETTLED_AFTER:
        said = f"{found.path} was changed a moment ago and may still be being written"
        raise Conflict("being_written", said, remedy="the same again in a second", facts={"path": found.path})
    wired.prepare()
    kept = wired.documents.quarantine(found.path, found.data, "not a JSON object, and no journal knows it")
    if read_file(full) == found.data:
        remove(full)
    return kept
