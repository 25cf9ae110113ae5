"""Approvals and checks that are only claimed in this clone: a person sees all of them, and confirms them at once."""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, policies, queries, refusals, remedies
from holdfast.core.recognition import claim
from holdfast.core.state import Grant
from holdfast.errors import HoldfastError, NotFound, Refused, UsageError
from holdfast.plain.terminal import escape
from holdfast.project.workflow import Workflow
from holdfast.surfaces import approving
from holdfast.surfaces.cli.call import Call


def every(call: Call) -> None:
    """`approve --claimed`: those of the workflow that is named, else of all that are not given up or handed over."""
    if call.args.step:
        raise refusals.misused("--claimed is about all steps: name none", remedies.confirm())
    over = ("cancelled", "finalized")
    try:
        call.workflow()  # in a new clone, the document is adopted now
    except (NotFound, UsageError):
        pass  # there are none, or several
    found = [one for one in call.project.list() if queries.status(one.state) not in over]
    found = [call.workflow()] if call.args.workflow else found
    apart = {one.id: wrong for one in found if (wrong := one.unsuitable()) and gates.claimed(one.state, one.facts())}
    seen = [one for one in found if one.id not in apart]
    confirmed = confirm(call, seen)
    if apart and not confirmed:
        raise next(iter(apart.values()))
    said = [call.ok(f"{path} of {id} is confirmed") for id, paths in confirmed.items() for path in paths]
    said += [f"{wrong.message} ({call.told(wrong.remedies)})" for wrong in apart.values()]
    more = {"left_out": list(apart)} if apart else {}
    call.answer({"confirmed": confirmed, **more}, "\n".join(said) or "no approval or check is only claimed here")


def confirm(call: Call, workflows: Sequence[Workflow]) -> dict[str, list[str]]:
    """Confirms what is claimed of the steps of these workflows, once the person has seen it: which, by workflow."""
    claimed = {one.ulid: (one, gates.claimed(one.state, one.facts())) for one in workflows}
    for workflow, paths in claimed.values():
        for path in paths:
            if _approval(workflow, path) and policies.asks_for_proof(gates.policy(workflow.state.plan.step(path))):
                raise _signed_elsewhere(workflow, path)
    shown = {ulid: {path: approving.hashes(one, path) for path in paths} for ulid, (one, paths) in claimed.items()}
    if not any(shown.values()):
        return {}
    if not call.is_person:
        raise refusals.person_needed("confirm what is only claimed", remedies.confirm())
    for workflow, paths in claimed.values():
        if paths:
            workflow.require_decidable()
    pictures = [_picture(call, one, shown[ulid]) for ulid, (one, paths) in claimed.items() if paths]
    count = sum(map(len, shown.values()))
    question = f"Confirm these {count} steps?" if count > 1 else "Confirm this step?"
    if not call.ask("".join(pictures), question, default=call.args.yes):
        raise HoldfastError("declined", "nothing was confirmed", remedy=remedies.confirm())
    for ulid, (workflow, paths) in claimed.items():
        if paths:
            checks = tuple(cmd.Confirm(path) for path in paths if gates.claimed_checks(workflow.state, path))
            again = [cmd.Approve(path, shown=shown[ulid][path]) for path in paths if _approval(workflow, path)]
            workflow.execute(cmd.Together((*checks, *again)))
    return {one.id: list(paths) for one, paths in claimed.values() if paths}


def _picture(call: Call, workflow: Workflow, shown: dict[str, dict[str, str]]) -> str:
    state, style, facts = workflow.state, call.style, workflow.facts()
    out = [f"{style.bold(escape(state.title or state.subject or state.id))} {style.dim(escape(state.id))}"]
    for path, hashes in shown.items():
        said = (f"{path}: Holdfast did not see the check {name} pass" for name in gates.claimed_checks(state, path))
        out += [f"  {escape(text)}; a document claims it" for text in said]
        grant = _approval(workflow, path)
        if grant:
            out.append(f"  {escape(f'{path}, {grant.at}: {claim(state.ulid, path, grant, facts)}')}")
            decided = [f"{grant.variant} was chosen"] if grant.variant else []
            decided += [f"{name}: {value}" for name, value in grant.modifications.items()]
            out += [f"    {escape(text[: approving.LONGEST])}" for text in decided]
        for name, artifact in state.step(path).artifacts.items():
            out.append(f"    {escape(f'{name}  {artifact.path}')}  {style.dim(hashes[name][:12] or 'missing')}")
    done = (path for path in state.plan.paths if state.step(path).status == lifecycle.DONE)
    lacks = [f"{path} is said to be done: {text}" for path in done for text in gates.not_there(state, path, facts)]
    return "\n".join((*out, *(f"  {style.yellow(escape(text))}" for text in lacks))) + "\n"


def _approval(workflow: Workflow, path: str) -> Grant | None:
    """The approval of a step that is only claimed."""
    state = workflow.state
    return state.step(path).grant if gates.is_approval_claimed(state, path, workflow.facts()) else None


def _signed_elsewhere(workflow: Workflow, path: str) -> Refused:
    step = workflow.state.plan.step(path)
    refusal = refusals.proof_needed(gates.policy(step))(path)
    refusal.message = f"{refusal.message}: the one of {workflow.id} does not hold here, and nothing was confirmed"
    way = gates.approving(step, path, renewing=True)
    refusal.remedies = (way.replace(workflow=workflow.ulid) if way.command else way,)
    return refusal
