"""What a hook must know of a workflow to judge a tool call without opening its journal."""

from __future__ import annotations

from holdfast.core import gates, policies, queries
from holdfast.core.plan import Plan, ancestors
from holdfast.core.state import State
from holdfast.core.value import Any


def entry(
    state: State, paths: tuple[str, ...] = (), document: str = "", areas: tuple[dict[str, Any], ...] = ()
) -> dict[str, Any] | None:
    """The workflow's part of the guard view; None when a hook need not know of it.

    `paths` are files that only Holdfast writes, `document` is the one that agents may edit, `areas` are where agents of
    some roles may write.
    """
    if not queries.is_active(state):
        return None
    rules: dict[str, Any] = {
        "paths": list(paths),
        "deny": _denied(state),
        "human": _human(state),
        "locks": [
            {"path": path, "agent": hold.agent, "session": hold.session, "deadline": hold.deadline, "boot": hold.boot}
            for path, hold in state.locks.items()
        ],
        "sessions": sorted(session for session in state.seats if session),
        "read_only": list(state.read_only),
        "areas": list(areas),
        "keep_going": state.keep_going and queries.status(state) == "in_progress",
    }
    if state.require_ack and document:
        caught_up = sorted(session for session in state.seats if session and queries.has_caught_up(state, session))
        rules["ack"] = {"document": document, "sessions": caught_up}
    said = {name: value for name, value in rules.items() if value}
    return {"id": state.id, "ulid": state.ulid, "worktree": state.worktree, **said} if said else None


def _denied(state: State) -> list[dict[str, str]]:
    """What the steps forbid that are worked on, each with what the steps around it forbid."""
    if not state.plan.denies:
        return []
    at = queries.current(state)
    here = dict.fromkeys((*queries.open_steps(state), *((at,) if at else ())))
    around = dict.fromkeys(path for step in here for path in (*ancestors(step), step))
    return [{"tool": rule, "step": path} for path in around for rule in state.plan.step(path).deny]


def _human(state: State) -> list[dict[str, Any]]:
    """Gates that only a person's own channel opens, with every name a step goes by."""
    global _gated
    known = _gated  # taken once: another thread may put its own answer there meanwhile
    if known[0] is not state.plan:
        found = [p for p in state.plan.paths if policies.asks_for_person(gates.policy(state.plan.step(p)))]
        _gated = known = (state.plan, [{"step": path, "names": _names(state.plan, path)} for path in found])
    return known[1]


_gated: tuple[Plan | None, list[dict[str, Any]]] = (None, [])


def _names(plan: Plan, path: str) -> list[str]:
    """Whatever a user may type for a step: ids or numbers from the top on, or the end of its path."""
    spelled = [""]
    for above in (*reversed(ancestors(path)), path):
        forms = dict.fromkeys((above.rpartition("/")[2], str(plan.number(above))))
        spelled = [f"{before}/{form}" if before else form for before in spelled for form in forms]
    parts = path.split("/")
    ends = ("/".join(parts[first:]) for first in range(1, len(parts)))
    return [*spelled, *(end for end in ends if end not in plan)]
