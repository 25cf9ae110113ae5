"""What an edited document asks for: its changes as parts, in an order in which they can be decided."""

from __future__ import annotations

from _collections_abc import Callable, Container, Iterable, Mapping

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, queries, remedies
from holdfast.core.commands import Part
from holdfast.core.definition import Step
from holdfast.core.plan import Plan, ancestors, parent
from holdfast.core.rules import briefing
from holdfast.core.state import Evidence, State
from holdfast.core.value import Any
from holdfast.documents.lens.changes import Change, approves, changes, deleted, new_entries, undeclared, wrong_shape
from holdfast.documents.lens.fields import is_moment, respelled, spelling
from holdfast.documents.lens.mapping import at
from holdfast.documents.lens.spec import ABSENT, Document, Field, Meaning
from holdfast.errors import Refused, UsageError

_RESPELLED = (Meaning.TITLE, Meaning.CONTEXT, Meaning.READING, Meaning.REMINDERS)
"""What anyone may write, also under a key in another spelling."""


def edit(
    document: Document, state: State, path: str, old: Mapping[str, Any], new: Mapping[str, Any], source: str = "file"
) -> cmd.Edit:
    """The edit that leads from one document to another, as parts that are decided one by one.

    Refuses the document of another workflow: none of what it says is about this one.
    """
    if document.identity and at(new, document.identity) not in (None, at(old, document.identity)):
        said = f"{document.identity} says that it is the document of another workflow"
        raise Refused("other_workflow", said, remedy=remedies.status(), facts={"field": document.identity})
    keys = _respelled_keys(document, old, new)
    plain = {name: value for name, value in new.items() if name not in keys}
    new = {**plain, **{key: _joined(plain.get(key), new[name]) for name, key in keys.items()}}
    same: list[str] = []
    if document.meant:
        read = document.meant(old, new)
        reread = {key: key for key in read if key not in new or read[key] != new[key]}
        same = [key for key in reread if key in new and read[key] == old.get(key)]
        keys, new = keys | reread, read
    parts = [Part(key, ((key,),), written=new[key]) for key in same]
    parts += _parts(state, list(changes(document, state, old, new)))
    if document.also:
        parts += document.also(state, old, new)
    parts = [_as_known(part, keys, new) for part in parts]
    parts += _history(document, state, old, new, parts)
    parts += [Part(field) for field in undeclared(document, old, new)]
    return cmd.Edit(path, new, old, tuple(parts), source)


def _respelled_keys(document: Document, old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """The new keys at the top that are a known one in another spelling, which itself says nothing new."""
    fields = (part.at for part in document.parts if isinstance(part, Field) and part.meaning in _RESPELLED)
    known = {spelling(name).replace("_", ""): name for name in fields if "." not in name}
    meant = {name: known.get(spelling(name).replace("_", ""), name) for name in new if name not in old}
    return {name: key for name, key in meant.items() if name != key and new.get(key) in (None, old.get(key))}


def _joined(known: Any, said: Any) -> Any:
    """What is under both keys: nothing of the known one is taken away by the other."""
    if isinstance(known, list) and isinstance(said, list):
        return [*known, *(one for one in said if one not in known)]
    return {**known, **said} if isinstance(known, Mapping) and isinstance(said, Mapping) else said


def _as_known(part: Part, keys: Mapping[str, str], new: Mapping[str, Any]) -> Part:
    """What was written under a respelled key, or in another form, is told as it is read."""
    place = part.places[0] if len(part.places) == 1 and part.written is None and part.wrong is None else ()
    names = [one for one in place if isinstance(one, str)]
    value = at(new, ".".join(names)) if 0 < len(place) == len(names) < 3 and names[0] in keys.values() else None
    return part.replace(written=value) if value is not None else part


def asked(field: str, make: Callable[..., Iterable[cmd.Command]], *given: Any, **more: Any) -> Part:
    """What a system's own reader makes of a field. What it refuses is reverted."""
    part = Part(field, (tuple(field.split(".")),), **more)
    try:
        return part.replace(commands=tuple(make(*given)))
    except (Refused, UsageError) as wrong:
        return part.replace(wrong=wrong)


def _part(change: Change, *commands: cmd.Command, **more: Any) -> Part:
    said = {"wrong": change.wrong, "written": change.written, **more}
    return Part(change.field, (change.place,), tuple(commands), **said)


def _parts(state: State, found: list[Change]) -> list[Part]:
    """In the order in which they can be decided: facts and lists, the steps in the order of the tree, the whole."""
    first: list[Part] = []
    moved: dict[str, Change] = {}
    checked: dict[str, list[Change]] = {}
    added: dict[str, str] = {}
    last: list[Change] = []
    plan = state.plan
    for change in found:
        if change.wrong is not None:
            first.append(_part(change, gate=change.meaning == Meaning.GATE and change.new is not ABSENT))
            continue
        match change.meaning:
            case Meaning.STATUS:
                path = _stepped(change)
                if path not in plan:
                    step = Step(id=path.rpartition("/")[2])
                    plan, added[path] = plan.added(parent(path), step, ""), f"{change.field} (a new step)"
                    first.append(Part(added[path], commands=(cmd.AddStep(parent(path), step),)))
                moved[path] = change
            case Meaning.CHECK:
                checked.setdefault(change.item, []).append(change)
            case Meaning.POINTER | Meaning.WHOLE:
                last.append(change)
            case "added":
                above, step = change.new
                plan = plan.added(above, step, "")
                added[f"{above}/{step.id}" if above else step.id] = change.field
                first.append(_part(change, cmd.AddStep(above, step)))
            case _:
                first += _fact(state, change)
    steps = [
        part
        for path in plan.paths
        for part in (
            *(_check(state, item, those) for item, those in checked.items() if item.rpartition("#")[0] == path),
            *([_moved(state, plan, moved, path, added)] if path in moved and not _ends(plan, moved, path) else ()),
        )
    ]
    ends = [_moved(state, plan, moved, path, added) for path in reversed(plan.paths) if _ends(plan, moved, path)]
    return [*first, *steps, *ends, *(_last(state, plan, change, moved) for change in last)]


def _fact(state: State, change: Change) -> list[Part]:
    """What a field says that moves no step."""
    match change.meaning:
        case Meaning.DERIVED:
            return [_part(change, derived=True, written=None)]
        case Meaning.FIXED | Meaning.GATE:
            gate = change.meaning == Meaning.GATE
            who = "a person or reviewer" if gate else "Holdfast"
            wrong = Refused("forged", f"only {who} may set this field", remedy=remedies.status())
            return [_part(change, wrong=wrong, gate=gate)]
        case Meaning.BOUND:
            less = type(change.new) is int and (change.old is ABSENT or change.new < change.old)
            wrong = Refused("forged", "only people change bounds", remedy=remedies.status())
            return [_part(change, wrong=wrong, gate=not less)]
        case Meaning.CONTEXT:
            gone = change.new is ABSENT
            return [
                _part(change, cmd.Record({}, removed=(change.at,)) if gone else cmd.Record({change.at: change.new}))
            ]
        case Meaning.DATA:
            name = change.at.rpartition(".")[2]
            return [_part(change, cmd.Record({name: None if change.new is ABSENT else change.new}, change.item))]
        case Meaning.TITLE:
            return [_part(change, cmd.Rename(change.new))]
        case Meaning.READING | Meaning.REMINDERS:
            return _listed(state, change)
    return [_part(change)]


def _stepped(change: Change) -> str:
    """The step whose status a field says: the item's own, or that of the child an inner field is named after."""
    above, _, name = change.at.rpartition(".")
    return f"{change.item}/{name}" if above else change.item


def _ends(plan: Plan, moved: Mapping[str, Change], path: str) -> bool:
    """Whether a branch is to be done: its children are asked first."""
    return path in moved and moved[path].new == lifecycle.DONE and not plan.is_leaf(path)


def _is_said(moved: Mapping[str, Change], path: str, below: str = "") -> bool:
    """Whether another field says what becomes of a step: its own, or that of a branch that is done with it."""
    above = (one for one in ancestors(path) if not below or one.startswith(f"{below}/"))
    return path in moved or any(one in moved and moved[one].new == lifecycle.DONE for one in above)


def _moved(state: State, plan: Plan, moved: Mapping[str, Change], path: str, added: Mapping[str, str]) -> Part:
    """The way of one step to the status that its field says; of a branch that is done, with what is below it."""
    change = moved[path]
    wants, has = change.new, state.step(path).status
    wanted = {path: wants}
    if wants == lifecycle.DONE:
        left = (one for one in plan.below(path) if state.step(one).status not in lifecycle.FINISHED)
        wanted.update({one: lifecycle.DONE for one in left if not _is_said(moved, one, below=path)})
    wrong = None
    if wants == lifecycle.PENDING and has != lifecycle.PENDING:
        undone = f"{path} has begun and cannot be made pending by hand"
        wrong = Refused("not_undone", undone, remedy=remedies.reopen(path), facts={"step": path})
    elif wants == lifecycle.BLOCKED and has not in (lifecycle.ACTIVE, *lifecycle.STUCK):
        early = f"{path} is {has}: only a step that is worked on is blocked"
        wrong = Refused("not_possible", early, remedy=remedies.status(), facts={"step": path})
    above = next((added[one] for one in (path, *ancestors(path)) if one in added), "")
    return _part(change, *_way(state, plan, wanted), needs=above, wrong=wrong, expects=_expected(path, wants))


def _expected(path: str, status: str) -> tuple[str, str] | None:
    """What is told if it does not come true: that something is done. Other statuses have several words."""
    return (path, status) if status in (lifecycle.DONE, "completed") else None


def _way(state: State, plan: Plan, wanted: Mapping[str, str]) -> list[cmd.Command]:
    """Commands that bring steps to the wanted statuses, in the order of the tree; branches end after their children."""
    out: list[cmd.Command] = []
    for path in plan.paths:
        has, wants = state.step(path).status, wanted.get(path)
        if wants in (lifecycle.ACTIVE, lifecycle.DONE) and has == lifecycle.PENDING:
            out.append(cmd.Begin(path))
        elif wants == lifecycle.ACTIVE and has in lifecycle.FINISHED:
            out.append(cmd.Reopen(path))
        elif wants == lifecycle.ACTIVE and has in lifecycle.STUCK:
            out.append(cmd.Resume(path))
        elif wants == lifecycle.BLOCKED and has == lifecycle.ACTIVE:
            out.append(cmd.Block(path, "its document says it is blocked"))
        if wants == lifecycle.DONE and has not in lifecycle.FINISHED and plan.is_leaf(path):
            out.append(cmd.Done(path))
    done = [path for path in reversed(plan.paths) if wanted.get(path) == lifecycle.DONE and not plan.is_leaf(path)]
    return out + [cmd.Done(path) for path in done if state.step(path).status not in lifecycle.FINISHED]


def _last(state: State, plan: Plan, change: Change, moved: Mapping[str, Change]) -> Part:
    """The position or the status of the whole: one part with everything it stands for but what is said of steps."""
    try:
        if change.meaning == Meaning.WHOLE:
            return _part(change, *_whole(state, plan, change, moved), expects=("", change.new))
        known = isinstance(change.new, str) and change.new in plan
        to = change.new if known else respelled(change.new, plan.children(""))
        wanted = _pointed(state, plan, change.new, to)
        wanted = {path: status for path, status in wanted.items() if not _is_said(moved, path)}
        written = None if to == change.new else to
        return _part(change, *_way(state, plan, wanted), written=written, expects=(to or "", lifecycle.ACTIVE))
    except Refused as wrong:
        return _part(change, wrong=wrong)


def _pointed(state: State, plan: Plan, said: Any, to: str | None) -> dict[str, str]:
    """Moving the pointer means finishing what is before a step and beginning it; or opening it again."""
    if to is None:
        unknown = f"{str(said)[:80]!r} is not a step of {state.id}"
        raise Refused("no_step", unknown, remedy=remedies.status(), facts={"step": str(said)[:200]})
    if state.step(to).status in lifecycle.FINISHED:
        return {to: lifecycle.ACTIVE}
    before = plan.paths[: plan.paths.index(to)]
    left = (path for path in before if state.step(path).status not in lifecycle.FINISHED)
    return {**{path: lifecycle.DONE for path in left if not to.startswith(path + "/")}, to: lifecycle.ACTIVE}


def _whole(state: State, plan: Plan, change: Change, moved: Mapping[str, Change]) -> list[cmd.Command]:
    now = queries.current(state)
    match change.new:
        case "completed":
            left = (path for path in plan.paths if state.step(path).status not in lifecycle.FINISHED)
            return _way(state, plan, {path: lifecycle.DONE for path in left if not _is_said(moved, path)})
        case "cancelled":
            return [cmd.Cancel("its document says so")]
        case "blocked" if now and state.step(now).status == lifecycle.ACTIVE:
            return [cmd.Block(now, "its document says it is blocked")]
        case "in_progress" if state.cancelled or state.paused or queries.status(state) in lifecycle.STUCK:
            return [cmd.Resume()]
        case "in_progress":
            return []
    raise Refused(
        "not_possible",
        f"{state.id} cannot become {change.new} by hand",
        remedy=remedies.status(),
        facts={"status": str(change.new)},
    )


def _check(state: State, item: str, those: list[Change]) -> Part:
    """A check that is reported: by what its fields say together."""
    step, _, name = item.rpartition("#")
    field = those[0].field.rpartition(".")[0]
    written = next((one for one in those if one.written is not None), None)
    part = Part(field, tuple(one.place for one in those))
    if written is not None:
        first = [written.place, *(one.place for one in those if one is not written)]
        part = part.replace(field=f"{field}.{written.at}", places=tuple(first), written=written.written)
    if not any(map(_reports, those)):
        alone = f"a figure alone reports nothing: {field} needs its status or passed as well"
        return part.replace(wrong=Refused("not_reported", alone, remedy=remedies.schema()))
    begin = [cmd.Begin(step)] if state.step(step).status == lifecycle.PENDING else []
    return part.replace(commands=(*begin, cmd.RecordCheck(step, name, _evidence(those[0].data))))


def _reports(change: Change) -> bool:
    """A figure alone says nothing: somebody has to say that the check ran."""
    return change.at == "status" or change.data.get("status") == "completed" or change.data.get("passed") is not None


def _evidence(data: Mapping[str, Any]) -> Evidence:
    """A checkpoint written by hand is a report: nobody but its author saw it pass."""
    passed = data.get("passed")
    at = str(data.get("last_run") or "")
    return Evidence(
        passed=data.get("status") == "completed" if passed is None else passed is True,
        at=at if is_moment(at) else "",
        attempt=0,
        detail="written into the document",
        data={name: value for name, value in data.items() if name not in _OF_EVIDENCE and value is not None},
    )


_OF_EVIDENCE = ("status", "last_run", "passed")


def _listed(state: State, change: Change) -> list[Part]:
    """A list as it was written, or, where it has changed meanwhile, what was added to it and taken away.

    An entry that is no text, or too long a one, is reverted by itself.
    """
    old = tuple(change.old) if isinstance(change.old, (list, tuple)) else ()
    texts = [str(one) if isinstance(one, (int, float)) and not isinstance(one, bool) else one for one in change.new]
    parts: list[Part] = []
    new: list[str] = []
    for number, item in enumerate(texts):
        try:
            if not isinstance(item, str):
                raise wrong_shape(f"entry {number + 1} of {change.field} is no text")
            new += briefing.checked(change.meaning, (item,)) if item not in old else [item]
        except UsageError as wrong:
            place = (*change.place, ("", change.new[number]))
            parts.append(Part(f"{change.field}[{number + 1}]", (place,), wrong=wrong))
    written = change.written if texts == change.new else new
    if tuple(new) == old and parts:
        return parts
    if getattr(state, change.meaning) == old:
        command = cmd.Brief(change.meaning, exactly=tuple(new))
    else:
        added = tuple(item for item in new if item not in old)
        command = cmd.Brief(change.meaning, add=added, remove=tuple(item for item in old if item not in new))
    return [_part(change, command, written=written), *parts]


def _history(
    document: Document, state: State, old: Mapping[str, Any], new: Mapping[str, Any], parts: list[Part]
) -> list[Part]:
    """What somebody added to the history. One that tells a step of the same edit is taken with it, and said once."""
    if not document.history or document.history not in old:
        return []
    if not isinstance(new.get(document.history), list):
        said = new.get(document.history, ABSENT)
        wrong = deleted(document.history) if said is ABSENT else wrong_shape(f"{document.history} must be a list")
        return [Part(document.history, ((document.history,),), wrong=wrong)]
    added, gone = new_entries(document, old, new)
    out = []
    if gone:
        entries = "1 entry was" if len(gone) == 1 else f"{len(gone)} entries were"
        kept = f"history cannot be changed: {entries} changed or taken out"
        out.append(Part(document.history, wrong=Refused("forged", kept, remedy=remedies.status())))
    for number, entry in enumerate(added, len(new[document.history]) - len(added)):
        part = Part(f"{document.history}[{number}]", ((document.history, ("", entry)),))
        if not isinstance(entry, Mapping):
            part = part.replace(wrong=wrong_shape(f"an entry of {document.history} is no object"))
        elif approves(entry):
            wrong = Refused("forged", "only people and reviewers say what was approved", remedy=remedies.status())
            part = part.replace(wrong=wrong, gate=True)
        else:
            told = _tells(document, state, entry, parts)
            part = part.replace(needs=told) if told else part.replace(entries=(entry,))
        out.append(part)
    return out


def _tells(document: Document, state: State, entry: Mapping[str, Any], parts: list[Part]) -> str:
    """The part of the same edit that the history will tell anyway, and that the entry tells too."""
    if document.subject is None:
        return ""
    path, word = document.subject(state, entry)
    kind = {"started": cmd.Begin, "completed": cmd.Done}.get(word)
    for part in parts if kind else ():
        if any(
            isinstance(one, (cmd.Begin, cmd.Done)) and type(one) is kind and one.step == path for one in part.commands
        ):
            return part.field
    return ""


def finishing(state: State, reason: str = "", besides: Container[str] = ()) -> list[cmd.Command]:
    """What is left to do when somebody says that the whole is finished: phases that never began are left out."""
    out: list[cmd.Command] = []
    for path in state.plan.leaves():
        status, step = state.step(path).status, state.plan.step(path)
        if status in lifecycle.FINISHED or path in besides:
            continue
        if status == lifecycle.PENDING and step.optional:
            out.append(cmd.Skip(path, reason))
        elif status in lifecycle.STUCK:
            out += [cmd.Resume(path), cmd.Done(path)]
        else:
            out += [cmd.Begin(path), cmd.Done(path)]
    return out
