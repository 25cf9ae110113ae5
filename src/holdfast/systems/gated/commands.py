"""Features that are delivered through reviews and a pull request."""

from __future__ import annotations

from holdfast.core import ending, queries, refusals, remedies
from holdfast.core.remedy import Remedy
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound, UsageError
from holdfast.plain.plainjson import compact
from holdfast.plain.terminal import clip, columns, escape, pad
from holdfast.systems.gated import words
from holdfast.systems.gated.delivery import recovery
from holdfast.systems.gated.delivery.recovery import Recovery
from holdfast.systems.seam.found import gone
from holdfast.systems.seam.ports import Call, Workflow
from holdfast.systems.seam.wired import Wired

ALL = "all"
_MOST_SHOWN = 40_000
"""How many characters of what nobody approved are shown before a person is asked."""


def go_on(call: Call) -> None:
    from holdfast.systems.gated.delivery.continuing import go_on

    workflow = _feature(call)
    _require_feature(workflow, remedies.resume(workflow=workflow.state.ulid))
    how = call.how()
    workflow.expect(how.pop("revision", 0))
    said = go_on(call.project.wired, workflow, **how)
    workflow.said = said
    at = queries.current(workflow.state)
    call.changed(workflow, at or "", "" if at else call.ok(f"{workflow.id} is completed"))


def finalize(call: Call) -> None:
    from holdfast.systems.gated.delivery.finalizing import finalize

    shown = ""
    workflow = _feature(call)
    how = call.how()
    workflow.expect(how.pop("revision", 0))
    addresses: list[str] = []
    if call.is_person:
        call.confirm([workflow])
        addresses = _confirm_remote(call, workflow)
        _confirm_limits(call, workflow)
        shown = _confirm_beside(call, workflow)
    said = finalize(call.project.wired, workflow, tuple(call.args.merged), shown, addresses, **how)
    data = {**workflow.summary(), "ulid": workflow.ulid, "said": list(said)}
    call.answer(data, "\n".join(map(call.said, said)))


def _confirm_limits(call: Call, workflow: Workflow) -> None:
    """Asks a person where the tests that the end rests on have limits that nobody was shown before."""
    state = workflow.refresh().state
    new = ending.unapproved(state) if not words.is_deleted(state) else []
    shown = "".join(f"  {escape(one)}\n" for one in new)
    if new and not call.ask(shown, f"End {workflow.id} on these tests?", default=call.args.yes):
        raise HoldfastError("declined", "nothing was changed", remedy=remedies.finalize(workflow=state.ulid))


def _confirm_remote(call: Call, workflow: Workflow) -> list[str]:
    """Asks a person where the end goes to another address than the feature's; the addresses that they let pass."""
    from holdfast.systems.gated.base import begun_at
    from holdfast.systems.gated.delivery.finalizing import elsewhere
    from holdfast.systems.gated.delivery.handing_over import told_as

    state = workflow.refresh().state
    now, known = elsewhere(call.project.wired, state), begun_at(state)
    lines = [f"now: {told_as(now)}"] if now else []
    lines += [f"{workflow.id} has: {told_as(known)}"] if now and known else []
    shown = "".join(f"  {escape(line)}\n" for line in lines)
    if now and not call.ask(shown, f"End {workflow.id} at this address of the remote?", default=call.args.yes):
        raise HoldfastError("declined", "nothing was changed", remedy=remedies.finalize(workflow=state.ulid))
    return now


def _confirm_beside(call: Call, workflow: Workflow) -> str:
    """Shows a person what the end would publish beside what was approved; the digest of what they let pass."""
    from holdfast.git.content import diff_of
    from holdfast.systems.gated.delivery.finalizing import unapproved

    wired, state = call.project.wired, workflow.refresh().state
    one = unapproved(wired, state) if state.finished_at else None
    if one is None or one.digest == state.context.get(words.CONFIRMED):
        return ""
    patch = diff_of(wired.repository(state.worktree), one.since, one.tip, one.files, _MOST_SHOWN)
    lines = [f"Nobody approved this of {one.branch}:", *patch.splitlines()]
    shown = "".join(f"  {escape(line)}\n" for line in lines)
    question = f"End {workflow.id} with it?"
    if not call.ask(shown, question, default=call.args.yes):
        raise HoldfastError("declined", "nothing was changed", remedy=remedies.finalize(workflow=state.ulid))
    return one.digest


def reset(call: Call) -> None:
    """One word is the phase if it can be one: no feature is called so."""
    args = call.args
    if args.slug and not args.step and (args.slug in (ALL, *words.PHASES) or args.slug.isdigit()):
        args.slug, args.step = "", args.slug
    workflow = _feature(call)
    _require_feature(workflow, remedies.reset(args.step or ALL, workflow=workflow.state.ulid))
    call.reset(workflow, args.step or "")


def _require_feature(workflow: Workflow, instead: Remedy) -> None:
    if workflow.state.dialect != "gated":
        message = f"{workflow.id} is not a feature workflow"
        raise UsageError("not_a_feature", message, remedy=instead, facts={"workflow": workflow.id})


def _feature(call: Call) -> Workflow:
    """The feature that is named or active; else the one that was completed last, on this branch first."""
    project, place = call.project, call.project.wired.place
    try:
        return call.workflow()
    except NotFound as nothing:
        if call.named():
            raise
        unknown = nothing
    over = [e for e in project.wired.store.entries() if e.dialect == "gated" and e.status in ("completed", "finalized")]
    here = [entry for entry in over if entry.worktree == place.key()]
    found = [entry for entry in here if entry.branch == place.branch()] or here
    newest = max(found, key=lambda entry: entry.ulid, default=None)
    if newest is None:
        raise unknown
    return project.workflow(newest.ulid)


def init(call: Call) -> None:
    from holdfast.systems.gated import central

    made = central.init(call.project.wired.place.worktree)
    call.answer({"made": list(made)}, "\n".join(call.ok(f"made {path}") for path in made) or "everything is there")


def recover(call: Call) -> None:
    """Rebuilds at once what a journal tells; what was put together without one is shown, and a person confirms it."""
    wired = call.project.wired
    slug = recovery.chosen(wired, call.args.slug)
    call.project.heal()
    found = recovery.recover(wired, slug, call.args.take)
    if isinstance(found, recovery.Rebuilt):
        said = found.said or (f"{slug} is as its journal says",)
        call.answer({"slug": slug, "ulid": found.state.ulid, "said": list(said)}, "\n".join(map(call.said, said)))
        return
    shown = _table(found) + "".join(f"{escape(trouble)}\n" for trouble in (*wired.troubles, *_given_up(wired)))
    if not call.is_person:
        if not call.args.json:
            call.answer({}, shown)
        refusal = refusals.person_needed(f"confirm what is left of {slug}", remedies.recover(slug))
        refusal.facts.update(_reconstruction(found))
        raise refusal
    if not call.ask(shown, f"Continue with {slug} as this says?", default=call.args.yes):
        raise HoldfastError("declined", "nothing was changed", remedy=remedies.recover(slug))
    made = recovery.confirm(wired, found)
    workflow = call.project.workflow(made.state.ulid)
    workflow.said = made.said
    call.changed(workflow, said=call.ok(f"{slug} is recovered"), more=_reconstruction(found))


def _given_up(wired: Wired) -> list[str]:
    lost = len(gone(wired))
    which = "a journal that is gone is" if lost == 1 else f"{lost} journals that are gone are"
    return [f"with it, {which} given up"] if lost else []


def _reconstruction(found: Recovery) -> dict[str, Any]:
    rows = [{"field": clue.field, "value": clue.value, "source": clue.source} for clue in found.evidence]
    statuses = {phase: dict(status) for phase, status in found.statuses.items()}
    known = {"slug": found.slug, "document": dict(found.document), "statuses": statuses}
    return {**known, "evidence": rows, "fixed": list(found.fixed)}


def _table(found: Recovery) -> str:
    """A row for every field: what it is to be, and what says so."""
    rows = [(escape(clue.field), clip(escape(compact(clue.value)), 60), escape(clue.source)) for clue in found.evidence]
    rows = [("FIELD", "VALUE", "SOURCE"), *rows]
    first, second = (max(columns(row[column]) for row in rows) for column in (0, 1))
    fixed = "".join(f"{words.DOCUMENT}: {escape(one)}\n" for one in found.fixed)
    return fixed + "".join(f"{pad(field, first)}  {pad(value, second)}  {source}\n" for field, value, source in rows)
