"""Files that one agent works on."""

from __future__ import annotations

from holdfast.core.value import Any
from holdfast.plain.terminal import escape
from holdfast.surfaces.cli.call import Call


def lock(call: Call) -> None:
    args, workflow = call.args, call.workflow()
    token = workflow.lock(*args.paths, agent=args.agent or "", ttl=args.ttl, **call.how())
    mine = [path for path, hold in workflow.state.locks.items() if hold.token == token]
    said = call.ok(f"locked {', '.join(mine)} (token {token})")
    call.changed(workflow, said=said, more={"token": token, "paths": mine})


def unlock(call: Call) -> None:
    workflow = call.workflow()
    before = set(workflow.state.locks)
    workflow.unlock(*call.args.paths, **call.how())
    freed = sorted(before - set(workflow.state.locks))
    said = call.ok(f"unlocked {', '.join(freed)}") if freed else "nothing of this was locked"
    call.changed(workflow, said=said, more={"paths": freed})


def listing(call: Call) -> None:
    workflow = call.workflow()
    facts = workflow.facts()
    rows: list[dict[str, Any]] = [
        {
            "path": path,
            "agent": hold.agent,
            "since": hold.at,
            "token": hold.token,
            "stale": hold.expired(facts.boot, facts.mono),
        }
        for path, hold in workflow.state.locks.items()
    ]
    call.answer({"workflow_id": workflow.id, "locks": rows}, lambda: "\n".join(map(_row, rows)) or "nothing is locked")


def _row(row: dict[str, Any]) -> str:
    stale = ", stale: its hold ran out" if row["stale"] else ""
    return escape(f"{row['path']}  {row['agent']}, since {row['since']}{stale}")
