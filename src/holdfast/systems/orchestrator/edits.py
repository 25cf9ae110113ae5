"""What an edit of `agent-state.json` means: tasks that were finished, learnings, agents, money spent, giving up."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, remedies, tasks
from holdfast.core.commands import Part
from holdfast.core.names import is_name
from holdfast.core.state import Evidence, State
from holdfast.core.value import Any
from holdfast.documents.lens.changes import deleted, wrong_shape
from holdfast.documents.lens.edits import asked
from holdfast.documents.lens.fields import MOMENT, object_in, objects_in, respelled, typed
from holdfast.errors import Refused
from holdfast.systems.orchestrator import words
from holdfast.systems.orchestrator.adoption import first_phase

LONGEST_ADDRESS = 1000


def also(state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Part]:
    """Each agent, learning, milestone and task by itself."""
    spent, bounds = object_in(old, "safety_bounds").get("cost_so_far"), object_in(new, "safety_bounds")
    was, run = object_in(old, "orchestrator").get("status"), object_in(new, "orchestrator")
    parts = [
        *_each("active_agents", old, new, lambda entry: _started(state, entry), lambda entry: _ended(state, entry)),
        *_each("learnings", old, new, lambda entry: _learned(state, entry), _unlearned, read=_spelled),
        *_milestones(state, old, new),
        *_each("completed_tasks", old, new, lambda entry: _completed(state, entry), key="task"),
    ]
    if "cost_so_far" not in bounds or bounds["cost_so_far"] != spent:
        now = bounds.get("cost_so_far")
        parts.append(asked("safety_bounds.cost_so_far", _spending, spent, now, written=words.dollars(now)))
    if "status" in run and run["status"] != was:
        read = respelled(run["status"], words.STATUSES) or run["status"]
        part = asked("orchestrator.status", _run, state, read, expects=_expected(state, read))
        parts.append(part if read == run["status"] else part.replace(written=read))
    return parts


def _each(
    name: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    add: Callable[[Mapping[str, Any]], list[cmd.Command]],
    remove: Callable[[Mapping[str, Any]], list[cmd.Command]] = lambda _: [],
    *,
    key: str = "",
    read: Callable[[Any], Any] = lambda _: None,
) -> list[Part]:
    """A part for each entry of a list that is new or gone: told apart by a key, or by everything it says.

    `read` gives what a new entry is read as, where it was written in another way.
    """
    before, after = old.get(name, []), new.get(name, [])
    if not isinstance(after, list):
        return [] if key else [Part(name, ((name,),), wrong=wrong_shape(f"{name} must be a list of objects"))]
    before = before if isinstance(before, list) else []
    known = [_said(entry, key) for entry in before]
    there = [_said(entry, key) for entry in after]
    gone = [(name, entry, remove, None) for entry, said in zip(before, known, strict=True) if said not in there]
    fresh = [
        (f"{name}[{number}]", entry, add, read(entry))
        for number, (entry, said) in enumerate(zip(after, there, strict=True))
        if said not in known
    ]
    return [
        asked(field, _of_object, name, entry, make, written=written).replace(places=((name, ("", entry)),))
        for field, entry, make, written in (*gone, *fresh)
    ]


def _said(entry: Any, key: str) -> Any:
    return entry.get(key) if key and isinstance(entry, Mapping) else entry


def _of_object(name: str, entry: Any, make: Callable[[Mapping[str, Any]], list[cmd.Command]]) -> list[cmd.Command]:
    if not isinstance(entry, Mapping):
        raise wrong_shape(f"every entry of {name} must be an object")
    return make(entry)


def _completed(state: State, entry: Mapping[str, Any]) -> list[cmd.Command]:
    """A task among the finished ones is done, with the criteria that its author says are met."""
    path = _task(state, entry.get("task"))
    out: list[cmd.Command] = [cmd.Begin(path)] if state.step(path).status == lifecycle.PENDING else []
    met = entry.get("success_criteria_met")
    for check in state.plan.step(path).checks:
        passed = met.get(check.name) if isinstance(met, Mapping) else None
        if passed is not None:
            is_met = passed is True or typed(bool, passed) is True
            evidence = Evidence(is_met, "", 0, detail="written into the document")
            out.append(cmd.RecordCheck(path, check.name, evidence))
    return [*out, cmd.Done(path)]


def _learned(state: State, entry: Mapping[str, Any]) -> list[cmd.Command]:
    step = next((p for p in state.plan.of_kind(tasks.TASK) if state.plan.step(p).id == entry.get("task")), "")
    return [cmd.Learn(**words.lesson(entry), step=step)]


def _unlearned(_: Mapping[str, Any]) -> list[cmd.Command]:
    raise deleted("a learning")


def _spelled(entry: Any) -> Any:
    """A learning with its type as it is read, where that is not what was written."""
    said = entry.get("type") if isinstance(entry, Mapping) else None
    return None if said is None or said == words.kind(said) else {**entry, "type": words.kind(said)}


def _ended(state: State, entry: Mapping[str, Any]) -> list[cmd.Command]:
    same = [
        lease
        for lease in state.leases.values()
        if (lease.role, words.task_of(state, lease.step), MOMENT.encode(lease.at))
        == (entry.get("type"), entry.get("task"), entry.get("started"))
    ]
    return [cmd.EndAgent(lease.token, "taken out of the document", stale=True) for lease in same[:1]]


def _started(state: State, entry: Mapping[str, Any]) -> list[cmd.Command]:
    role = entry.get("type")
    path = _task(state, entry.get("task")) if entry.get("task") else ""
    return [cmd.StartAgent(str(role) if is_name(role) else "agent", path)]


def _spending(old: Any, new: Any) -> list[cmd.Command]:
    more = words.MONEY.decode(new) - words.MONEY.decode(old)
    if more < 0:
        raise Refused("forged", "what was spent cannot become less", remedy=remedies.status(), facts={"less": -more})
    return [cmd.Spend(more)] if more else []


def _milestones(state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Part]:
    """Only the address of a milestone's issue is anybody's to write."""
    listed = new.get("milestones", [])
    if not isinstance(listed, list) or not all(isinstance(entry, Mapping) for entry in listed):
        return [Part("milestones", (("milestones",),), wrong=wrong_shape("milestones must be a list of objects"))]
    before = {entry.get("phase"): entry for entry in objects_in(old, "milestones")}
    phases, first = words.phases(state), first_phase(old)
    parts = []
    for place, entry in enumerate(listed):
        number, url = entry.get("phase"), entry.get("issue_url")
        known = before.pop(number, None) if isinstance(number, int) else None
        if known is None:
            parts.append(Part(f"milestones[{place}]", (("milestones", ("", entry)),), wrong=_not_yours()))
            continue
        here = ("milestones", ("phase", number))
        others = [at for at in {**known, **entry} if at != "issue_url" and known.get(at) != entry.get(at)]
        if others:
            parts.append(Part(f"milestones[{number}]", tuple((*here, at) for at in others), wrong=_not_yours()))
        if url != known.get("issue_url") and 0 <= number - first < len(phases):
            part = asked("milestones", _addressed, phases[number - first], url)
            parts.append(part.replace(field=f"milestones[{number}].issue_url", places=((*here, "issue_url"),)))
    gone = [("milestones", ("phase", number)) for number in before]
    return [*parts, *([Part("milestones", tuple(gone), wrong=deleted("a milestone"))] if gone else ())]


def _not_yours() -> Refused:
    said = "Holdfast writes a milestone when its phase is done; others write only its issue_url"
    return Refused("forged", said, remedy=remedies.status())


def _addressed(path: str, url: object) -> list[cmd.Command]:
    return [cmd.Record({"issue_url": _address(url)}, path)]


def _address(url: object) -> str:
    said = url if isinstance(url, str) else ""
    plain = said.isascii() and said.isprintable() and " " not in said and len(said) <= LONGEST_ADDRESS
    if not plain or not (said.startswith(("https://", "http://")) or url == ""):
        message = f"{str(url)[:40]!r} is not the address of an issue"
        facts = {"issue_url": str(url)[:200]}
        raise Refused("bad_address", message, remedy="write it as https://example.com/issues/1", facts=facts)
    return said


def _run(state: State, status: Any) -> list[cmd.Command]:
    """What the status of the run asks for: only giving up. The steps lead to the others, and none leads back."""
    if status not in words.STATUSES:
        known = ", ".join(words.STATUSES)
        raise Refused("unknown_word", f"{str(status)[:40]!r} is not one of {known}", remedy=remedies.schema())
    if status == words.FAILED:
        return [cmd.Cancel("its document says so")]
    now = words.status(state)
    if words.STATUSES.index(status) < words.STATUSES.index(now):
        said = f"{state.id} is {now} and cannot become {status} by hand"
        raise Refused("not_possible", said, remedy=remedies.status(), facts={"status": status})
    return []


def _expected(state: State, status: Any) -> tuple[str, str] | None:
    """The step that shows that a run got so far, and what it is by then."""
    if status == words.status(state):
        return None
    found = {
        words.EXECUTING: (words.PLAN, lifecycle.DONE),
        words.REVIEWING: (words.REVIEW, lifecycle.ACTIVE),
        words.COMPLETED: ("", "completed"),
    }
    step, wanted = found.get(status, ("", ""))
    return (step, wanted) if wanted and (not step or step in state.plan) else None


def _task(state: State, number: object) -> str:
    found = [path for path in state.plan.of_kind(tasks.TASK) if state.plan.step(path).id == number]
    if not found:
        said = f"there is no task {str(number)[:40]!r}"
        raise Refused("no_task", said, remedy=remedies.named("task list"), facts={"task": str(number)})
    return found[0]
