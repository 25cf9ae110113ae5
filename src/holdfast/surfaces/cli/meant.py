"""Which of several active workflows can take a command: by the system whose command it is, and by what it names."""

from __future__ import annotations

from _collections_abc import Callable, Sequence

from holdfast.core import gates, lifecycle, remedies
from holdfast.core.remedy import Blank
from holdfast.core.state import State
from holdfast.core.tasks import TASK
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.systems.seam.registry import NAMES, work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.surfaces.cli.call import Call

ELSEWHERE = ("no_step", "no_task", "not_a_feature", "not_orchestrated")
"""Refusals of a workflow that was picked and cannot take the command, which another one may."""
MOST = 8
_STARTED = {"gated": "feature", "orchestrator": "orchestrate"}


def narrowed(call: Call, several: UsageError) -> HoldfastError:
    """The refusal of a command that could mean several workflows, which names only those that can take it."""
    found = several.facts.get("candidates")
    candidates = found if isinstance(found, list) else []
    for can in (_takes, _has):
        if not candidates or _marked(call, candidates, can):
            return several
        if not call.named() and look_elsewhere(call, several, [str(one["ulid"]) for one in candidates], can):
            return several
    ids, word = ", ".join(str(one["id"]) for one in candidates[:MOST]), _word(call)
    if word:
        kind = "step" if _step(call) else "task"
        said = f"there is no {kind} {word[:80]!r} in {ids}"
        return NotFound(f"no_{kind}", said, remedy=remedies.listing(), facts={kind: word[:200]})
    if (system := _system(call)) and not call.named():
        said = f"no {_STARTED.get(system, system)} workflow is active here"
        ways = (remedies.start(_STARTED.get(system, Blank("WORKFLOW")), Blank("SUBJECT")), remedies.listing(True))
        return NotFound("no_workflow", said, remedy=ways, facts={"system": system})
    return several


def look_elsewhere(
    call: Call, error: HoldfastError, without: Sequence[str], can: Callable[[Call, State], bool] | None = None
) -> bool:
    """Names in a refusal the active workflows that can take the command, other than these; whether there are any."""
    active = (one for one in call.project.wired.store.active() if one.ulid not in without)
    others = [one for one in active if _can(call, one.ulid, can or _takes)]
    if not others:
        return False
    verb = "has it" if _word(call) else "can take it"
    error.message += f"; {' and '.join(one.id for one in others[:MOST])} {verb if len(others) == 1 else _plural(verb)}"
    error.facts["candidates"] = [{"id": one.id, "ulid": one.ulid, "fits": True} for one in others]
    return True


def _plural(verb: str) -> str:
    return verb.replace("has", "have")


def _marked(call: Call, candidates: Sequence[dict[str, Any]], can: Callable[[Call, State], bool]) -> bool:
    """Marks those that fit; whether any does."""
    for one in candidates:
        one["fits"] = _can(call, str(one["ulid"]), can)
    return any(one["fits"] for one in candidates)


def _can(call: Call, ulid: str, can: Callable[[Call, State], bool]) -> bool:
    try:
        return can(call, call.project.wired.store.load(ulid))
    except HoldfastError:
        return False


def _takes(call: Call, state: State) -> bool:
    """Whether a workflow has what the command names, and the gate that it is about."""
    if not _has(call, state):
        return False
    name = call.command.name
    return any(_has_gate(name, state, path) for path in state.plan.find(_step(call))) if _step(call) else True


def _has_gate(name: str, state: State, path: str) -> bool:
    step, status = state.plan.step(path), state.step(path).status
    asks = bool(gates.policy(step)) or status == lifecycle.ESCALATED
    return {"review": bool(step.review), "approve": asks, "reject": asks, "submit": asks or bool(step.review)}.get(
        name, True
    )


def _has(call: Call, state: State) -> bool:
    """Whether a workflow is of the system whose command it is, and has the step, task or check that it names."""
    system, plan, args, name = _system(call), state.plan, call.args, call.command.name
    if system and state.dialect != system:
        return False
    if name == "commit" and not (args.supervisor or args.outer):
        own = work(state.dialect).commit is not None
        return bool(plan.find(args.task)) if own and args.task else own or _has_task(state, args.task or "")
    if step := _step(call):
        return bool(plan.find(step))
    if task := _task(call):
        return _has_task(state, task)
    check = str(getattr(args, "name", "") or "")
    return name != "check" or any(plan.step(path).check(check) for path in plan.paths)


def _has_task(state: State, word: str) -> bool:
    return any(word in (path, state.plan.step(path).id) for path in state.plan.of_kind(TASK))


def _system(call: Call) -> str:
    """The system under whose name the command is; empty for a command of all."""
    handler = call.command.handler.partition(":")[0]
    return handler if handler in NAMES and " " in call.command.name else ""


def _step(call: Call) -> str:
    return str(getattr(call.args, "step", "") or "")


def _task(call: Call) -> str:
    return str(getattr(call.args, "task", "") or "")


def _word(call: Call) -> str:
    return _step(call) or _task(call)
