"""Agents at work: leases, signs of life, spending, and the files that one of them works on."""

from __future__ import annotations

import os

from holdfast.core import commands as cmd
from holdfast.core import limits, moment, remedies
from holdfast.core.facts import Facts
from holdfast.core.state import Lease
from holdfast.core.value import Any
from holdfast.errors import NotFound, UsageError
from holdfast.plain.terminal import escape
from holdfast.project.workflow import Workflow
from holdfast.surfaces.cli.call import Call


def start(call: Call) -> None:
    workflow = call.workflow()
    role, step = call.args.name, call.args.step or ""
    token = workflow.start_agent(role, step, call.args.ttl, worktree=call.args.worktree or None, **call.how())
    lease = workflow.state.leases.get(f"{role}@{workflow.path(step) if step else ''}")
    if lease is None:
        raise NotFound("no_lease", "the lease that this key gave is over", remedy=remedies.agent_start())
    shown = f"pass --token {token}, or export HOLDFAST_TOKEN={token}" if token else "its token was given before"
    said = call.ok(f"{role} has lease {lease.token}: {shown}")
    where = os.path.join(call.project.root, lease.worktree) if lease.worktree else ""
    if where:
        said += escape(f"; work in {where}, on the branch {lease.branch}")
    facts = workflow.facts()
    left = {usage.bound: usage.left_text for usage in limits.usages(workflow.state, facts.now)}
    more = {"token": token or None, "lease": _data(lease, facts), **({"left": left} if left else {})}
    more |= {"worktree": where} if where else {}
    call.changed(workflow, said=said, more=more)


def beat(call: Call) -> None:
    workflow = call.workflow()
    lease = _lease(call, workflow)
    workflow.execute(cmd.BeatAgent(lease), **call.how())
    call.changed(workflow, said=call.ok(f"lease {lease} continues"), more={"lease": lease})


def end(call: Call) -> None:
    workflow = call.workflow()
    lease = _lease(call, workflow)
    workflow.end_agent("", call.args.outcome, lease=lease, **call.how())
    call.changed(workflow, said=call.ok(f"lease {lease} is over"), more={"lease": lease})


def _lease(call: Call, workflow: Workflow) -> int:
    """The lease that is meant: the one that is named, that of the token, or the only one."""
    token = call.settings.token
    if call.args.lease or token:
        return int(call.args.lease or token.partition("-")[0])
    leases = [lease.token for lease in workflow.state.leases.values()]
    if len(leases) == 1:
        return leases[0]
    if not leases:
        raise NotFound("no_lease", f"nobody is at work on {workflow.id}", remedy=remedies.agent_start())
    said = f"several agents are at work, with the leases {', '.join(map(str, leases))}"
    way = remedies.named(call.command.name, {"lease": leases[0]})
    raise UsageError("ambiguous_lease", said, remedy=way, facts={"leases": leases})


def spend(call: Call) -> None:
    args, workflow = call.args, call.workflow()
    workflow.spend(args.amount, args.agent or args.role or "", args.step or "", **call.how())
    total = workflow.state.spent
    said = call.ok(f"spent {moment.money(args.amount)}, {moment.money(total)} in all")
    call.changed(workflow, said=said, more={"spent": moment.money(args.amount), "total": moment.money(total)})


def listing(call: Call) -> None:
    workflow = call.workflow()
    facts = workflow.facts()
    rows = [_data(lease, facts) for lease in workflow.state.leases.values()]
    call.answer({"workflow_id": workflow.id, "agents": rows}, lambda: "\n".join(map(_row, rows)) or "nobody is at work")


def _data(lease: Lease, facts: Facts) -> dict[str, Any]:
    held = {"since": lease.at, "ttl_seconds": lease.ttl, "stale": lease.expired(facts.boot, facts.mono)}
    where = {"worktree": lease.worktree, "branch": lease.branch} if lease.worktree else {}
    return {"role": lease.role, "step": lease.step or None, "token": lease.token, **held, **where}


def _row(row: dict[str, Any]) -> str:
    where = f" on {row['step']}" if row["step"] else ""
    where += f" in {row['worktree']}" if row.get("worktree") else ""
    stale = ", stale: its lease ran out" if row["stale"] else ""
    return escape(f"{row['token']}  {row['role']}{where}, since {row['since']}{stale}")


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


def locks(call: Call) -> None:
    workflow = call.workflow()
    facts = workflow.facts()
    rows: list[dict[str, Any]] = []
    for path, hold in workflow.state.locks.items():
        stale = hold.expired(facts.boot, facts.mono)
        rows.append({"path": path, "agent": hold.agent, "since": hold.at, "token": hold.token, "stale": stale})
    call.answer(
        {"workflow_id": workflow.id, "locks": rows}, lambda: "\n".join(map(_lock_row, rows)) or "nothing is locked"
    )


def _lock_row(row: dict[str, Any]) -> str:
    stale = ", stale: its hold ran out" if row["stale"] else ""
    return escape(f"{row['path']}  {row['agent']}, since {row['since']}{stale}")
