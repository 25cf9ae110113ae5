"""Agents at work: leases, signs of life, spending."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import moment, queries, remedies
from holdfast.core.value import Any
from holdfast.errors import NotFound, UsageError
from holdfast.plain.terminal import escape
from holdfast.surfaces.cli.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.commands import Facts
    from holdfast.core.state import Lease
    from holdfast.project.workflow import Workflow


def start(call: Call) -> None:
    workflow = call.workflow()
    token = workflow.start_agent(call.args.name, call.args.step or "", call.args.ttl, **call.how())
    said = call.ok(f"{call.args.name} has lease {token}: pass --token {token}, or export HOLDFAST_TOKEN={token}")
    lease = next(lease for lease in workflow.state.leases.values() if lease.token == token)
    facts = workflow.facts()
    left = {usage.bound: usage.left_text for usage in queries.usages(workflow.state, facts.now)}
    more = {"token": token, "lease": _data(lease, facts), **({"left": left} if left else {})}
    call.changed(workflow, said=said, more=more)


def beat(call: Call) -> None:
    workflow = call.workflow()
    token = _lease(call, workflow)
    workflow.execute(cmd.BeatAgent(token), **call.how())
    call.changed(workflow, said=call.ok(f"lease {token} goes on"), more={"token": token})


def end(call: Call) -> None:
    workflow = call.workflow()
    token = _lease(call, workflow)
    workflow.execute(cmd.EndAgent(token, call.args.outcome), **call.how())
    call.changed(workflow, said=call.ok(f"lease {token} is over"), more={"token": token})


def _lease(call: Call, workflow: Workflow) -> int:
    """The lease that is meant: the one that is named, that of the token, or the only one."""
    named: int = call.args.lease or call.args.token or call.settings.token
    if named:
        return named
    leases = [lease.token for lease in workflow.state.leases.values()]
    if len(leases) == 1:
        return leases[0]
    if not leases:
        raise NotFound("no_lease", f"nobody is at work on {workflow.id}", remedy=remedies.agent_start())
    raise UsageError(
        "ambiguous_lease",
        f"several agents are at work, with the leases {', '.join(map(str, leases))}",
        remedy=remedies.named(call.command.name, {"lease": leases[0]}),
        facts={"tokens": leases},
    )


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
    return {
        "role": lease.role,
        "step": lease.step or None,
        "token": lease.token,
        "since": lease.at,
        "ttl_seconds": lease.ttl,
        "stale": lease.expired(facts.boot, facts.mono),
    }


def _row(row: dict[str, Any]) -> str:
    where = f" on {row['step']}" if row["step"] else ""
    stale = ", stale: its lease ran out" if row["stale"] else ""
    return escape(f"{row['token']}  {row['role']}{where}, since {row['since']}{stale}")
