"""What an edited document asks for: its changes as commands, in an order in which they can be decided."""

from __future__ import annotations

from _collections_abc import Container, Mapping

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, queries, remedies
from holdfast.core.definition import Step
from holdfast.core.plan import Plan, parent
from holdfast.core.remedy import shell
from holdfast.core.state import Evidence, State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import is_moment
from holdfast.documents.lens.mapping import Change, at, changes, new_entries
from holdfast.documents.lens.spec import ABSENT, Document, Meaning
from holdfast.errors import Refused


def edit(
    document: Document, state: State, path: str, old: Mapping[str, Any], new: Mapping[str, Any], source: str = "file"
) -> cmd.Edit:
    """The edit that leads from one document to another. Raises when it cannot be understood."""
    asked = commands(state, list(changes(document, state, old, new)))
    if document.also:
        asked += document.also(state, old, new)
    entries = [one for one in new_entries(document, old, new) if not _restates(document, state, one, asked)]
    return cmd.Edit(path=path, document=new, commands=tuple(asked), entries=tuple(entries), source=source)


def _restates(document: Document, state: State, entry: Mapping[str, Any], asked: list[cmd.Command]) -> bool:
    """Whether the history will say this anyway, because of what the same edit does."""
    if document.subject is None:
        return False
    path, word = document.subject(state, entry)
    begun = {one.step for one in asked if isinstance(one, cmd.Begin)}
    done = {one.step for one in asked if isinstance(one, cmd.Done)}
    return path in {"started": begun, "completed": done}.get(word, ())


def commands(state: State, found: list[Change]) -> list[cmd.Command]:
    fixed = [change for change in found if change.meaning == Meaning.FIXED]
    if fixed:
        named = [f"{change.at} of {change.item}" if change.item else change.at for change in fixed]
        raise Refused(
            "forged",
            f"{', '.join(dict.fromkeys(named))} cannot be changed by hand",
            remedy=shell("holdfast", "--help", text="use the command that does it"),
            facts={"fields": [change.at for change in fixed]},
        )
    first: list[cmd.Command] = []
    wanted: dict[str, str] = {}
    checks: dict[str, dict[str, cmd.Command]] = {}
    plan = state.plan
    for change in found:
        match change.meaning:
            case Meaning.STATUS:
                path = _stepped(change)
                if path not in plan and change.new is not ABSENT:
                    plan = _grown(plan, first, cmd.AddStep(parent(path), Step(id=path.rpartition("/")[2])))
                wanted[path] = lifecycle.PENDING if change.new is ABSENT else change.new
            case Meaning.CHECK if _reports(change):
                step, _, name = change.item.rpartition("#")
                checks.setdefault(step, {})[name] = cmd.RecordCheck(step, name, _evidence(change))
            case Meaning.CONTEXT:
                first.append(_difference(change))
            case Meaning.DATA:
                name = change.at.rpartition(".")[2]
                first.append(cmd.Record({name: None if change.new is ABSENT else change.new}, change.item))
            case Meaning.READING | Meaning.REMINDERS:
                first.append(_listed(state, change))
            case "added":
                plan = _grown(plan, first, _addition(change))
            case "removed":
                first.append(cmd.RetireStep(change.item))
    for change in found:
        if change.meaning == Meaning.POINTER:
            _point(state, change.new, wanted)
    last: list[cmd.Command] = []
    for change in found:
        if change.meaning == Meaning.WHOLE:
            last += _whole(state, change, wanted)
    return [*first, *_moves(state, plan, wanted, checks), *last]


def _stepped(change: Change) -> str:
    """The step whose status a field says: the item's own, or that of the child an inner field is named after."""
    above, _, name = change.at.rpartition(".")
    return f"{change.item}/{name}" if above else change.item


def _grown(plan: Plan, first: list[cmd.Command], addition: cmd.AddStep) -> Plan:
    """The tree as it will be, so that what the new step's entry says of its status is decided too."""
    first.append(addition)
    return plan.added(addition.above, addition.step, addition.after)


def _moves(
    state: State, plan: Plan, wanted: dict[str, str], checks: dict[str, dict[str, cmd.Command]]
) -> list[cmd.Command]:
    """Commands that bring steps to the wanted statuses, in the order of the tree; evidence before what needs it."""
    for path in [path for path, status in wanted.items() if status == lifecycle.DONE and path in plan]:
        for below in plan.below(path):
            if state.step(below).status not in lifecycle.FINISHED:
                wanted[below] = lifecycle.DONE
    out: list[cmd.Command] = []
    for path in plan.paths:
        has, wants = state.step(path).status, wanted.get(path)
        recorded = checks.get(path, {})
        begins = wants in (lifecycle.ACTIVE, lifecycle.DONE) or (recorded and not wants)
        if begins and has == lifecycle.PENDING:
            out.append(cmd.Begin(path))
        elif wants == lifecycle.ACTIVE and has in lifecycle.FINISHED:
            out.append(cmd.Reopen(path))
        elif wants == lifecycle.ACTIVE and has in lifecycle.STUCK:
            out.append(cmd.Resume(path))
        elif wants == lifecycle.BLOCKED and has == lifecycle.ACTIVE:
            out.append(cmd.Block(path, "its document says it is blocked"))
        elif wants == lifecycle.PENDING and has != lifecycle.PENDING:
            raise Refused(
                "not_undone",
                f"{path} has begun and cannot be made pending by hand",
                remedy=remedies.reopen(path),
                facts={"step": path},
            )
        out += recorded.values()
        if wants == lifecycle.DONE and has not in lifecycle.FINISHED and plan.is_leaf(path):
            out.append(cmd.Done(path))
    done = [p for p in reversed(plan.paths) if wanted.get(p) == lifecycle.DONE and not plan.is_leaf(p)]
    out += [cmd.Done(path) for path in done if state.step(path).status not in lifecycle.FINISHED]
    return out


def _point(state: State, to: Any, wanted: dict[str, str]) -> None:
    """Moving the pointer means finishing what is before a step and beginning it; or opening it again."""
    if not isinstance(to, str) or to not in state.plan:
        raise Refused(
            "no_step", f"{to!r} is not a step of {state.id}", remedy=remedies.status(), facts={"step": str(to)[:200]}
        )
    if state.step(to).status in lifecycle.FINISHED:
        wanted.setdefault(to, lifecycle.ACTIVE)
        return
    for path in state.plan.paths:
        if path == to:
            break
        if not to.startswith(path + "/") and state.step(path).status not in lifecycle.FINISHED:
            wanted.setdefault(path, lifecycle.DONE)
    wanted.setdefault(to, lifecycle.ACTIVE)


def _whole(state: State, change: Change, wanted: dict[str, str]) -> list[cmd.Command]:
    at = queries.current(state)
    match change.new:
        case "completed":
            for path in state.plan.paths:
                if state.step(path).status not in lifecycle.FINISHED:
                    wanted[path] = lifecycle.DONE
            return []
        case "cancelled":
            return [cmd.Cancel("its document says so")]
        case "blocked" if at and state.step(at).status == lifecycle.ACTIVE:
            return [cmd.Block(at, "its document says it is blocked")]
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


def _reports(change: Change) -> bool:
    """A figure alone says nothing: somebody has to say that the check ran."""
    data = change.data if isinstance(change.data, Mapping) else {}
    return change.at == "status" or data.get("status") == "completed" or data.get("passed") is not None


def _evidence(change: Change) -> Evidence:
    """A checkpoint written by hand is a report: nobody but its author saw it pass."""
    data = change.data if isinstance(change.data, Mapping) else {}
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


def _difference(change: Change) -> cmd.Record:
    old = change.old if isinstance(change.old, Mapping) else {}
    new = change.new if isinstance(change.new, Mapping) else {}
    changed = {name: value for name, value in new.items() if name not in old or old[name] != value}
    return cmd.Record(changed, removed=tuple(name for name in old if name not in new))


def _listed(state: State, change: Change) -> cmd.Brief:
    """A list as it was written, or, where it has changed meanwhile, what was added to it and taken away."""
    old, new = _texts(change, change.old), _texts(change, change.new)
    if getattr(state, change.meaning) == old:
        return cmd.Brief(change.meaning, exactly=new)
    added = tuple(item for item in new if item not in old)
    return cmd.Brief(change.meaning, add=added, remove=tuple(item for item in old if item not in new))


def _texts(change: Change, said: Any) -> tuple[str, ...]:
    listed = [] if said is ABSENT else said
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise Refused("wrong_shape", f"{change.at} is not a list of texts", remedy=remedies.schema())
    return tuple(listed)


def _addition(change: Change) -> cmd.AddStep:
    above, step = change.new
    if not isinstance(step, Step):
        raise Refused(
            "wrong_shape",
            f"{change.at} has an entry that is no step",
            remedy=remedies.named("task add", {"text": remedies.TEXT}),
        )
    return cmd.AddStep(above, step)


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


def nearest(
    rendered: list[tuple[int, Mapping[str, Any]]], edited: Mapping[str, Any], stamp: str = ""
) -> Mapping[str, Any]:
    """The rendering an edit began from: the one with its stamp, or that it differs least from, newest first.

    A slow editor may be behind.
    """
    said = at(edited, stamp) if stamp else None
    rendered = [one for one in rendered if said is not None and at(one[1], stamp) == said] or rendered
    closest: tuple[int, Mapping[str, Any]] = min(reversed(rendered), key=lambda one: _distance(one[1], edited))
    return closest[1]


def _distance(one: Any, other: Any) -> int:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        names = one.keys() | other.keys()
        return sum(_distance(one.get(name), other.get(name)) for name in names)
    if isinstance(one, list) and isinstance(other, list):
        paired = sum(_distance(a, b) for a, b in zip(one, other, strict=False))
        return paired + abs(len(one) - len(other))
    return int(one != other)
