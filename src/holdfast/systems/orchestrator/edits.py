"""What an edit of `agent-state.json` means: tasks that were finished, learnings, agents, money spent, giving up."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, remedies, tasks
from holdfast.core.names import is_name
from holdfast.core.state import Evidence, State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import MOMENT
from holdfast.errors import Refused
from holdfast.systems.orchestrator import words
from holdfast.systems.orchestrator.adoption import first_phase

LONGEST_ADDRESS = 1000


def also(state: State, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[cmd.Command]:
    return [
        *_agents(state, _listed(old, "active_agents"), _listed(new, "active_agents")),
        *_spending(_inside(old, "safety_bounds"), _inside(new, "safety_bounds")),
        *_learnings(state, _listed(old, "learnings"), _listed(new, "learnings")),
        *_milestones(state, old, _listed(new, "milestones")),
        *_completed(state, _listed(old, "completed_tasks"), _listed(new, "completed_tasks")),
        *_given_up(_inside(old, "orchestrator"), _inside(new, "orchestrator")),
    ]


def _completed(state: State, old: list[Mapping[str, Any]], new: list[Mapping[str, Any]]) -> list[cmd.Command]:
    """A task among the finished ones is done, with the criteria that whoever wrote it says are met."""
    before = {entry.get("task") for entry in old}
    out: list[cmd.Command] = []
    for entry in new:
        if entry.get("task") in before:
            continue
        path = _task(state, entry.get("task"))
        if state.step(path).status == lifecycle.PENDING:
            out.append(cmd.Begin(path))
        met = entry.get("success_criteria_met")
        for check in state.plan.step(path).checks:
            passed = met.get(check.name) if isinstance(met, Mapping) else None
            if passed is not None:
                evidence = Evidence(passed is True, "", 0, detail="written into the document")
                out.append(cmd.RecordCheck(path, check.name, evidence))
        out.append(cmd.Done(path))
    return out


def _learnings(state: State, old: list[Mapping[str, Any]], new: list[Mapping[str, Any]]) -> list[cmd.Command]:
    out: list[cmd.Command] = []
    for entry in (one for one in new if one not in old):
        step = next((p for p in state.plan.of_kind(tasks.TASK) if state.plan.step(p).id == entry.get("task")), "")
        out.append(cmd.Learn(**words.lesson(entry), step=step))
    return out


def _agents(state: State, old: list[Mapping[str, Any]], new: list[Mapping[str, Any]]) -> list[cmd.Command]:
    out: list[cmd.Command] = []
    for entry in (one for one in old if one not in new):
        same = [
            lease
            for lease in state.leases.values()
            if (lease.role, words.task_of(state, lease.step), MOMENT.encode(lease.at))
            == (entry.get("type"), entry.get("task"), entry.get("started"))
        ]
        out += [cmd.EndAgent(lease.token, "taken out of the document", stale=True) for lease in same[:1]]
    for entry in (one for one in new if one not in old):
        role = entry.get("type")
        path = _task(state, entry.get("task")) if entry.get("task") else ""
        out.append(cmd.StartAgent(str(role) if is_name(role) else "agent", path))
    return out


def _spending(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[cmd.Command]:
    if old.get("cost_so_far") == new.get("cost_so_far"):
        return []
    more = words.MONEY.decode(new.get("cost_so_far")) - words.MONEY.decode(old.get("cost_so_far"))
    if more < 0:
        raise Refused("forged", "what was spent cannot become less", remedy=remedies.status(), facts={"less": -more})
    return [cmd.Spend(more)] if more else []


def _milestones(state: State, document: Mapping[str, Any], new: list[Mapping[str, Any]]) -> list[cmd.Command]:
    """Only the address of a milestone's issue is anybody's to write."""
    before = {entry.get("phase"): entry.get("issue_url") for entry in _listed(document, "milestones")}
    phases, first = words.phases(state), first_phase(document)
    out: list[cmd.Command] = []
    for entry in new:
        number, url = entry.get("phase"), entry.get("issue_url")
        if not isinstance(number, int) or number not in before or url == before[number]:
            continue
        if 0 <= number - first < len(phases):
            out.append(cmd.Record({"issue_url": _address(url)}, phases[number - first]))
    return out


def _address(url: object) -> str:
    said = url if isinstance(url, str) else ""
    plain = said.isascii() and said.isprintable() and " " not in said and len(said) <= LONGEST_ADDRESS
    if not plain or not (said.startswith(("https://", "http://")) or url == ""):
        raise Refused(
            "bad_address",
            f"{str(url)[:40]!r} is not the address of an issue",
            remedy="write it as https://example.com/issues/1",
            facts={"issue_url": str(url)[:200]},
        )
    return said


def _given_up(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[cmd.Command]:
    if old.get("status") == new.get("status"):
        return []
    if new.get("status") not in words.STATUSES:
        known = ", ".join(words.STATUSES)
        raise Refused(
            "unknown_word", f"{str(new.get('status'))[:40]!r} is not one of {known}", remedy=remedies.schema()
        )
    return [cmd.Cancel("its document says so")] if new.get("status") == words.FAILED else []


def _task(state: State, number: object) -> str:
    found = [path for path in state.plan.of_kind(tasks.TASK) if state.plan.step(path).id == number]
    if not found:
        raise Refused(
            "no_task",
            f"there is no task {str(number)[:40]!r}",
            remedy=remedies.named("task list"),
            facts={"task": str(number)},
        )
    return found[0]


def _listed(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    listed = document.get(name, [])
    if not isinstance(listed, list) or not all(isinstance(entry, Mapping) for entry in listed):
        raise Refused("wrong_shape", f"{name} is not a list of objects", remedy=remedies.schema("orchestrator"))
    return listed


def _inside(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = document.get(name, {})
    if not isinstance(inner, Mapping):
        raise Refused("wrong_shape", f"{name} is not an object", remedy=remedies.schema("orchestrator"))
    return inner
