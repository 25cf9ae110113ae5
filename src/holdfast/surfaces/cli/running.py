"""Looking at workflows."""

from __future__ import annotations

import os
from _collections_abc import Sequence

from holdfast.core import lifecycle, queries, refusals, remedies
from holdfast.core.apply import Record
from holdfast.core.definition import BUILT_IN
from holdfast.core.remedy import Blank, told
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound
from holdfast.plain.digest import digest
from holdfast.plain.terminal import escape
from holdfast.project.workflow import Workflow
from holdfast.surfaces import render
from holdfast.surfaces.cli.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.engine.ports import Entry

_MOST = 5
"""How many workflows of other branches are named."""


def status(call: Call) -> None:
    """The workflow that is meant; where several can be, each in short. With `--watch`, again after each change."""
    if call.args.watch:
        from holdfast.surfaces.cli import following

        following.status(call, _status, here)
        return
    _status(call)


def _status(call: Call) -> None:
    meant = () if call.named() else call.project.wired.candidates()
    others = _others(call, meant) if meant and not call.project.wired.place.made_for else []
    if len(meant) > 1:
        apart = {entry.ulid for entry in others}
        more = [one for one in call.project.list(status="active") if one.ulid in apart] if apart else []
        _in_short(call, [*(call.project.workflow(entry.ulid) for entry in meant), *more], others)
    else:
        _whole(call, others)


def _others(call: Call, meant: Sequence[Entry]) -> list[Entry]:
    """The active workflows that are not shown: those of other branches and worktrees."""
    shown = {entry.ulid for entry in meant}
    return [entry for entry in call.project.wired.store.active() if entry.ulid not in shown]


def _told_others(call: Call, others: Sequence[Entry]) -> list[str]:
    if not others:
        return []
    named = [f"{one.id} ({one.branch})" if one.branch else one.id for one in others[:_MOST]]
    more = f" and {len(others) - _MOST} more" if len(others) > _MOST else ""
    return [f"active on other branches or in other worktrees: {', '.join(named)}{more}; to see all: holdfast"]


def _as_data(others: Sequence[Entry]) -> dict[str, Any]:
    rows = [{"workflow_id": one.id, "ulid": one.ulid, "branch": one.branch} for one in others]
    return {"elsewhere": rows} if rows else {}


def here(call: Call) -> None:
    """What `holdfast` alone says: every active workflow in short, and what can be done where there is none."""
    project = call.project
    active = project.list(status="active")
    if active:
        _in_short(call, active)
        return
    ways = (remedies.start(Blank("WORKFLOW")), remedies.listing(True, text="finished ones"))
    left, lost = _left(call), project.troubles
    more = {**({"leftovers": left} if left else {}), **({"unreadable": lost} if lost else {})}
    told_ = (*left, *(f"⚠ {one} ({remedies.doctor()})" for one in lost))
    said = f"no workflow is active here  ({call.told(ways)})"
    call.answer({"workflows": [], **more}, "\n".join((said, *map(escape, told_))))


def _in_short(call: Call, workflows: list[Workflow], others: Sequence[Entry] = ()) -> None:
    """One line each: the step, what it waits for and the command. What waits for a person comes first.

    Of those of other branches and worktrees, the branch is told too.
    """
    told = [(one, one.briefing(), call.project.wired.scope(one.ulid)) for one in workflows]
    told.sort(key=lambda row: row[1].turn != "person")
    left = _left(call)
    if call.args.json:
        from holdfast.core import answers

        more = {**({"leftovers": left} if left else {}), **_as_data(others)}
        call.write_json({"workflows": [answers.status(brief, scope) for _, brief, scope in told], **more})
        return
    width = call.width if call.is_shown else None
    where = {one.ulid: f" ({one.branch})" for one in others if one.branch}
    lines = (render.in_short(brief, call.style, scope, width, where.get(one.ulid, "")) for one, brief, scope in told)
    call.answer({}, "".join(lines) + "".join(f"\n{call.style.yellow(escape(said))}\n" for said in left))


def _whole(call: Call, others: Sequence[Entry]) -> None:
    workflow = call.workflow()
    state, brief = workflow.state, workflow.briefing()
    changed, apart = _definition_changed(call, state), workflow.out_of_sync()
    own = call.project.wired.shadowing(state.type, state.source)
    lost, left, run = call.project.troubles, _left(call), _run_of(call, state)
    if call.args.json:
        from holdfast.core import answers

        more: dict[str, Any] = {"definition_changed": bool(changed), "out_of_sync": apart or None}
        more |= {"unreadable": lost} if lost else {}
        more |= {"shadowing": own} if own else {}
        more |= {"leftovers": left} if left else {}
        more |= _as_data(others)
        more |= {"run": run} if run else {}
        more |= (
            {"to_finalize": [{"workflow_id": id} for id in workflow.to_finalize()]} if workflow.to_finalize() else {}
        )
        call.write_json({**answers.status(brief, call.scope()), **more})
        return
    text = render.status(brief, call.style, call.width, scope=call.scope())
    unfinished = [_to_finalize(call, id) for id in workflow.to_finalize()]
    notes = (_run_line(run), own, changed, apart, *_told_others(call, others), *unfinished, *left, *lost)
    call.answer({}, text + "".join(f"\n{call.style.yellow(escape(said))}\n" for said in notes if said))


def _run_of(call: Call, state: State) -> dict[str, Any]:
    home = call.project.wired.place.home
    if not os.path.isdir(os.path.join(home, "runs", state.ulid)):
        return {}  # as it is nearly always
    from holdfast.surfaces import runs

    return runs.of(home, state)


def _run_line(run: dict[str, Any]) -> str:
    if not run:
        return ""
    from holdfast.surfaces import runs

    return runs.line(run)


def _left(call: Call) -> list[str]:
    """What is still to be done about workflows that ended."""
    return [f"{one.message} ({told(one.remedies, call.project.wired.scope())})" for one in call.project.leftovers()]


def _to_finalize(call: Call, id: str) -> str:
    """A completed workflow whose result is not published yet, with what keeps that from happening."""
    finalize = remedies.finalize().given(slug=id)
    lacking = [one for one in call.project.workflow(id).briefing().lacking if one.kind != "finalize"]
    if not lacking:
        return f"{id} is completed and not finalized ({finalize})"
    ways = (*lacking[0].remedies[:1], finalize.replace(text="then"))
    return f"{id} is completed and not finalized: {lacking[0].message} ({told(ways, call.project.wired.scope())})"


def _definition_changed(call: Call, state: State) -> str:
    """One read and one hash; only when these differ is the definition itself looked at."""
    if state.source in ("", BUILT_IN) or not queries.is_active(state):
        return ""
    try:
        with open(os.path.join(call.project.root, state.source), "rb") as file:
            if digest(file.read()) == state.digest:
                return ""
    except OSError:
        return ""
    from holdfast.surfaces.cli import amend

    try:
        return f"definition changed: {call.told((remedies.amend(),))}" if amend.differences(call, state)[1] else ""
    except HoldfastError:
        return f"definition changed and has mistakes: {remedies.check_file(state.source)}"


def next_step(call: Call) -> None:
    workflow = call.workflow()
    brief = workflow.going_on()
    if call.args.json:
        from holdfast.core import answers

        call.write_json({**answers.next_step(brief, call.scope()), "workflow_id": workflow.id})
        return
    call.answer({}, render.next_step(brief, call.style, call.width, scope=call.scope()))


def show(call: Call) -> None:
    document = call.workflow().document()
    call.tell_news()  # beside it: what is shown is the document, and nothing else
    call.write_json(document)


def listing(call: Call) -> None:
    args, project = call.args, call.project
    status = args.status or ("" if args.all else "active")
    found = _found(call, status)
    rows = [_row(workflow) for workflow in found[: args.limit]]
    lost = project.troubles
    left = _left(call)
    half = [_half_finalized(call, one.state) for one in found if queries.is_half_finalized(one.state)]
    over = [one.id for one in found if queries.to_finalize(one.state) and not queries.is_half_finalized(one.state)]
    unfinished = [_to_finalize(call, id) for id in over]

    def text() -> str:
        width = call.width if call.is_shown else None
        told = [{**row, "detail": one.briefing().shown_status} for row, one in zip(rows, found, strict=False)]
        told = _distinct(told)
        shown = render.listing(told, call.style, width, project.wired.world.now()) if told else _nothing(call)
        left_out = len(found) - len(rows)
        shown += f"… {left_out} more (--limit {len(found)} shows all)\n" if left_out else ""
        return shown + "".join(
            f"\n⚠ {escape(said)}\n"
            for said in (*half, *left, *unfinished, *(f"{one} (holdfast doctor)" for one in lost))
        )

    more = {name: said for name, said in (("unreadable", lost), ("interrupted", half), ("leftovers", left)) if said}
    call.answer({"workflows": rows, "total": len(found), **more}, text)


def _distinct(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with the ULID as name where a newer workflow has the same id."""
    taken = set[str]()
    out = []
    for row in rows:
        out.append({**row, "workflow_id": row["ulid"]} if row["workflow_id"] in taken else row)
        taken.add(row["workflow_id"])
    return out


def _nothing(call: Call) -> str:
    """What is said of an empty list: what was asked for may be a word that nothing has."""
    asked = {"the status": call.args.status, "the definition": call.args.type, "the session": call.args.session}
    given = " and ".join(f"{what} {escape(word)}" for what, word in asked.items() if word)
    return f"no workflow has {given}\n" if given else "no workflows\n"


def _found(call: Call, status: str) -> list[Workflow]:
    """By the status as people are shown it, too: what waits is no less found by that word."""
    args, more = call.args, {"type": call.args.type, "session": call.args.session}
    found = call.project.list(status=status, **more)
    if args.status == lifecycle.WAITING:
        known = {one.ulid for one in found}
        active = call.project.list(status="active", **more)
        found += [one for one in active if one.ulid not in known and one.briefing().shown_status == args.status]
    return found


def _half_finalized(call: Call, state: State) -> str:
    refusal = refusals.finalized(state)
    return f"{refusal.message} ({told(refusal.remedies, call.project.wired.scope())})"


def _row(workflow: Workflow) -> dict[str, Any]:
    state = workflow.state
    more = {"ulid": state.ulid, "title": state.title, "subject": state.subject, "branch": state.branch}
    brief = workflow.briefing()
    detail = {"detail": brief.status, "finished_percentage": brief.finished_percent}
    return {**workflow.summary(), **detail, **more, "session": state.session}


def log(call: Call) -> None:
    """With `--after`, the entries that follow it, as for reading on; without, the newest ones."""
    from itertools import islice

    args = call.args
    if sum(map(bool, (args.check, args.follow, args.timeline))) > 1:
        said = "holdfast log: only one of --check, --follow and --timeline can be given"
        raise refusals.misused(said, remedies.usage("log"))
    if args.check:
        _output(call)
        return
    if args.timeline:
        from holdfast.surfaces.cli import pictures

        pictures.timeline(call)
        return

    workflow, limit = call.workflow(), call.args.limit
    history = workflow.history(call.args.after or 0)
    if call.args.after is None:
        from collections import deque

        records = list(deque(history, maxlen=limit))
    else:
        records = list(islice(history, limit))

    def show(records: list[Record], before: Record | None = None) -> None:
        listed = [_record(one) for one in records] if call.args.json else []
        data = {"workflow_id": workflow.id, "revision": workflow.state.revision, "records": listed}
        call.answer(data, lambda: render.log(records, call.style, call.width, before))

    if call.args.follow:
        from holdfast.surfaces.cli import following

        following.log(call, show, records)
        return
    show(records)


def _output(call: Call) -> None:
    """All that is kept of what a check printed: for the step that is named, else for the one it last ran for."""
    from holdfast.checks import logs

    workflow, name = call.workflow(), call.args.check
    state, home = workflow.state, call.project.wired.place.home
    having = [path for path, check in state.plan.checked() if check == name]
    if call.args.step or not having:
        having = [queries.step_with(state, name, workflow.path(call.args.step) if call.args.step else "")]
    kept = {path: file for path in having if os.path.exists(file := logs.file(home, state.ulid, path, name))}
    last = max(kept, key=lambda path: os.stat(kept[path]).st_mtime_ns, default="")
    text = logs.read(kept[last]) if last else None
    if text is None:
        said = f"no output of the check {name} is kept here"
        raise NotFound("no_output", said, remedy=remedies.next_step(workflow=state.ulid), facts={"check": name})
    call.answer({"workflow_id": state.id, "step": last, "check": name, "output": text}, escape(text, lines=True))


def _record(record: Record) -> dict[str, Any]:
    from holdfast.engine.codec import encode, encode_event

    who = {"revision": record.revision, "at": record.at, "actor": encode(record.actor)}
    events = [encode_event(event) for event in record.events]
    return {**who, "command": record.command, "events": events, "key": record.key or None}


def metrics(call: Call) -> None:
    from holdfast.core.metrics import wrapped

    figures = call.workflow().metrics()
    call.answer(wrapped(figures), lambda: render.metrics_table(figures, call.style))


def diagram(call: Call) -> None:
    if call.args.svg or call.args.png:
        from holdfast.surfaces.cli import pictures

        pictures.diagram(call)
        return
    if call.args.lifecycle:
        from holdfast.core.diagram import lifecycle_diagram

        text = lifecycle_diagram()
    else:
        text = call.workflow().diagram()
    call.answer({"diagram": text}, text)
