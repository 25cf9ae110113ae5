"""An edited document: each part of it is decided by itself, and what is refused gets its old value again.

Nothing is decided by what the document claims. A step that is done in the same write as its approval is judged by the
gates that the state has.
"""

from __future__ import annotations

from _collections_abc import Callable, Mapping, Sequence

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import lifecycle, queries, remedies
from holdfast.core.draft import Draft
from holdfast.core.rules import agents
from holdfast.core.state import Alert, State
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, Refused
from holdfast.plain.plainjson import compact

MOST_TOLD = 3
LONGEST, SHORT = 300, 160


def edit(draft: Draft, command: cmd.Edit, run: Callable[[Draft, cmd.Command], None]) -> None:
    """Takes what is legal. Refuses the whole if nothing is, and a decision that is not told beside the copy."""
    first = len(draft.events)
    draft.emit(ev.Edited(command.path, command.document, command.source))
    refused = _taken(draft, command.parts, run)
    told = tuple(_line(part, refused.get(number), draft.state) for number, part in enumerate(command.parts))
    legal = [n for n, part in enumerate(command.parts) if n not in refused and not part.derived]
    back = [part for number, part in enumerate(command.parts) if number in refused]
    if refused and not legal:
        raise _refused_whole(command, refused, told)
    read = [part for number, part in enumerate(command.parts) if number in legal and part.written is not None]
    taken = [command.parts[number] for number in legal]
    other = [part for part in taken if part.removes or _became(part, draft.state)]
    if (refused or read or other) and told != command.told:
        again = "keep a copy of the original with what becomes of each field, and decide again"
        raise Refused(cmd.PARTLY, "the original is not kept yet", remedy=again, facts={"told": list(told)})
    if refused or read or other:
        document = _corrected(command, back, read)
        draft.events[first] = ev.Edited(command.path, document, command.source)
        draft.state = draft.state.replace(base=document)
        draft.emit(ev.Alerted(_alert(draft, command, refused, read, taken)))


def _taken(
    draft: Draft, parts: Sequence[cmd.Part], run: Callable[[Draft, cmd.Command], None]
) -> dict[int, HoldfastError]:
    """The parts that are refused, by number. One may wait for what a later one does: it is asked again after it."""
    refused: dict[int, HoldfastError] = {}
    idle: list[int] = []
    waiting = list(range(len(parts)))
    while waiting:
        again, moved = [], False
        for number in waiting:
            mark = draft.mark()
            try:
                _take(draft, parts, number, refused, run)
                refused.pop(number, None)
                idle += [number] if len(draft.events) == mark[1] else []
                moved = moved or len(draft.events) > mark[1]
            except HoldfastError as refusal:
                draft.go_back(mark)
                refused[number] = refusal
                again += [number] if parts[number].wrong is None else []
        waiting = again if moved else []
    for number in idle:
        if unmet := _unmet(parts[number], draft.state):
            refused[number] = Refused("not_possible", unmet, remedy=remedies.status())
    back = {parts[number].field for number in refused}
    for number in idle:
        if (needed := parts[number].needs) in back and number not in refused:
            refused[number] = _put_back(needed)
    return refused


def _take(
    draft: Draft,
    parts: Sequence[cmd.Part],
    number: int,
    refused: Mapping[int, HoldfastError],
    run: Callable[[Draft, cmd.Command], None],
) -> None:
    part = parts[number]
    if part.wrong is not None:
        raise part.wrong
    needed = next((n for n, other in enumerate(parts) if part.needs and other.field == part.needs), None)
    if needed is not None and needed in refused:
        raise _put_back(part.needs)
    before = draft.state
    for command in part.commands:
        agents.leave_alone(draft, command)
        run(draft, command)
    if any(isinstance(command, agents.REACHING) for command in part.commands):
        agents.check_reach(draft, before)
    for entry in part.entries:
        draft.emit(ev.Remembered(entry))


def _put_back(field: str) -> Refused:
    return Refused("put_back", f"{field} was reverted")


def _unmet(part: cmd.Part, state: State) -> str:
    """Why a status that nothing else led to is not the one that was written; empty where it is."""
    became = _became(part, state)
    if not became or (part.expects and part.expects[0]):
        return became
    left = [path for path in state.plan.leaves() if state.step(path).status not in lifecycle.FINISHED]
    why = f", as these steps are not done: {listed(left)}" if left else ""
    return f"it is {queries.status(state)}{why}"


def _became(part: cmd.Part, state: State) -> str:
    """What came of a status that was written, where it is not the one that was written: `sign is waiting`."""
    if part.expects is None:
        return ""
    path, wanted = part.expects
    if not path:
        status = queries.status(state)
        return "" if status == wanted else f"{state.id} is {status}"
    status = state.step(path).status
    return "" if status == wanted or (wanted, status) == (lifecycle.ACTIVE, lifecycle.DONE) else f"{path} is {status}"


def _taken_as(part: cmd.Part, state: State) -> str:
    became = _became(part, state)
    return f"{part.field} ({became})" if became else part.field


def _line(part: cmd.Part, refusal: HoldfastError | None, state: State) -> str:
    if part.derived:
        return f"corrected: {part.field}"
    if refusal is not None:
        return one_line(f"reverted: {part.field} ({refusal.code}): {refusal.message}")
    if part.written is not None:
        return one_line(f"normalised: {part.field}, to {compact(part.written)}")
    return f"removed: {_gone(part)}" if part.removes else f"taken: {_taken_as(part, state)}"


def _gone(part: cmd.Part) -> str:
    return ", ".join(one.step for one in part.commands if isinstance(one, cmd.RetireStep))


def one_line(text: str, most: int = LONGEST) -> str:
    """One line, whatever somebody wrote into it."""
    text = text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= most else text[: most - 1] + "…"


def _refused_whole(command: cmd.Edit, refused: Mapping[int, HoldfastError], told: tuple[str, ...]) -> HoldfastError:
    first = next(iter(refused.values()))
    why = listed([one_line(f"{command.parts[n].field}: {one.message}", SHORT) for n, one in refused.items()], "; ")
    forged = any(command.parts[number].gate for number in refused)
    facts = {**first.facts, "told": list(told), "forged": forged}
    return Refused(first.code, why, remedy=first.remedies, facts=facts)


def _alert(
    draft: Draft,
    command: cmd.Edit,
    refused: Mapping[int, HoldfastError],
    read: Sequence[cmd.Part],
    taken: Sequence[cmd.Part],
) -> Alert:
    forged, back = (
        [
            f"{command.parts[number].field} ({one_line(one.message, SHORT)})"
            for number, one in refused.items()
            if command.parts[number].gate == gate
        ]
        for gate in (True, False)
    )
    said = [f"A GATE WAS FORGED, and reverted: {listed(forged, '; ')}"] if forged else []
    said += [f"reverted: {listed(back, '; ')}"] if back else []
    spelled = [one_line(f"{part.field} = {compact(part.written)}") for part in read]
    said += [f"read as: {listed(spelled)}"] if read else []
    gone = [_gone(part) for part in taken if part.removes]
    said += [f"removed: {listed(gone)}"] if gone else []
    plain = [_taken_as(part, draft.state) for part in taken if part.written is None and not part.removes]
    said += [f"taken: {listed(plain)}"] if plain else []
    code = cmd.FORGED if forged else cmd.PARTLY if refused else cmd.NORMALISED
    became = "taken in part" if refused else "taken"
    return Alert(
        draft.facts.now, code, f"the edit of {command.path} was {became}. {'. '.join(said)}", command.path, command.kept
    )


def listed(items: Sequence[str], between: str = ", ") -> str:
    rest = len(items) - MOST_TOLD
    return between.join(items[:MOST_TOLD]) + (f"{between}and {rest} more" if rest > 0 else "")


def _corrected(command: cmd.Edit, back: Sequence[cmd.Part], read: Sequence[cmd.Part]) -> Mapping[str, Any]:
    """The document with the old value in every field that is reverted, and the usual spelling in those it is read as.

    What the state does not say is written from here, so a claim that stayed would be shown as true.
    """
    document: Any = command.document
    for part in read:
        document = _with(document, part.places[0], part.written)
    for part in back:
        for place in part.places:
            found, value = _at(command.base, place)
            document = _with(document, place, value) if found else _without(document, place)
    return dict(document)


def _index(listed: list[Any], where: tuple[str, Any]) -> int | None:
    key, said = where
    said_by = ((entry.get(key) if isinstance(entry, Mapping) else None) if key else entry for entry in listed)
    return next((number for number, one in enumerate(said_by) if one == said and type(one) is type(said)), None)


def _at(here: Any, place: cmd.Place) -> tuple[bool, Any]:
    for name in place:
        if isinstance(name, str):
            if not isinstance(here, Mapping) or name not in here:
                return False, None
            here = here[name]
        else:
            number = _index(here, name) if isinstance(here, list) else None
            if number is None:
                return False, None
            here = here[number]
    return True, here


def _with(here: Any, place: cmd.Place, value: Any) -> Any:
    if not place:
        return value
    name, rest = place[0], place[1:]
    if isinstance(name, str):
        known = here if isinstance(here, Mapping) else {}
        return {**known, name: _with(known.get(name), rest, value)}
    listed = list(here) if isinstance(here, list) else []
    number = _index(listed, name)
    if number is None:
        return [*listed, _with({name[0]: name[1]} if name[0] else None, rest, value)]
    listed[number] = _with(listed[number], rest, value)
    return listed


def _without(here: Any, place: cmd.Place) -> Any:
    name, rest = place[0], place[1:]
    if isinstance(name, str):
        if not isinstance(here, Mapping) or name not in here:
            return here
        kept = {one: value for one, value in here.items() if one != name}
        return {**here, name: _without(here[name], rest)} if rest else kept
    number = _index(here, name) if isinstance(here, list) else None
    if number is None:
        return here
    inner = [_without(here[number], rest)] if rest else []
    return [*here[:number], *inner, *here[number + 1 :]]
