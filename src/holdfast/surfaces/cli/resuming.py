"""What outlives an agent's context: required reading, reminders, learnings, the resume packet, the hook."""

from __future__ import annotations

from holdfast.core import queries, refusals, remedies
from holdfast.plain.terminal import escape
from holdfast.project.required import OUTSIDE
from holdfast.surfaces.cli.call import Call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.project.workflow import Workflow


def reading(call: Call) -> None:
    """Every file that has to be read, and which of them are not there."""
    workflow = call.workflow()
    found = workflow.required()
    inside = [one for one in found if one.standing != OUTSIDE]
    outside = len(found) - len(inside)
    data = [{"entry": one.entry, "path": one.path, "standing": one.standing} for one in inside]
    rows = [f"{escape(one.entry)}{'' if one.standing == 'there' else f'  ({one.standing})'}" for one in inside]
    if outside:
        rows.append(f"{outside} more lead outside the project and are shown to no agent (reading remove --outside)")
    answer = {"workflow_id": workflow.id, "reading": data, "outside": outside}
    call.answer(answer, "\n".join(rows) or "nothing has to be read")


def reading_add(call: Call) -> None:
    workflow = call.workflow()
    workflow.read_first(*call.args.paths, **call.how())
    _said_reading(call, workflow)


def reading_remove(call: Call) -> None:
    workflow = call.workflow()
    led = [one.entry for one in workflow.required() if one.standing == OUTSIDE] if call.args.outside else []
    if not call.args.paths and not call.args.outside:
        raise refusals.misused("no file is named", remedies.named("reading remove", {"paths": [remedies.PATH]}))
    if call.args.paths or led:
        workflow.read_no_more(*call.args.paths, *led, **call.how())
    _said_reading(call, workflow)


def _said_reading(call: Call, workflow: Workflow) -> None:
    entries = [one.entry for one in workflow.required() if one.standing != OUTSIDE]
    said = f"{len(entries)} {'file has' if len(entries) == 1 else 'files have'} to be read"
    call.changed(workflow, said=call.ok(said), more={"reading": entries})


def remind(call: Call) -> None:
    workflow, texts = call.workflow(), tuple(call.args.texts)
    if call.args.remove:
        workflow.remind(remove=texts, **call.how())
    elif texts:
        workflow.remind(*texts, **call.how())
    entries = list(workflow.state.reminders)
    if texts:
        word = "reminder" if len(entries) == 1 else "reminders"
        call.changed(workflow, said=call.ok(f"{len(entries)} {word}"), more={"reminders": entries})
    else:
        shown = "\n".join(f"- {escape(text)}" for text in entries) or "there are no reminders"
        call.answer({"workflow_id": workflow.id, "reminders": entries}, shown)


def learn(call: Call) -> None:
    args, workflow = call.args, call.workflow()
    workflow.learn(args.text, args.type, pattern=args.pattern, context=args.context, step=args.step or "", **call.how())
    call.changed(workflow, said=call.ok(f"learned, {workflow.state.learnings_count} in all"))


def packet(call: Call) -> None:
    """Without a name: the workflow this session is at, else the one of this branch or last worked on."""
    from holdfast.project import seats

    session = call.settings.actor.session
    workflow, others = seats.named_or_chosen(call.project, call.args.workflow or "", session)
    text = call.project.take_up(workflow).packet(others=others, limit=call.args.limit or 0)
    data = {"workflow_id": workflow.id, "packet_id": queries.packet_id(workflow.state, session), "text": text}
    call.answer(data, text)


def ack(call: Call) -> None:
    workflow = call.workflow()
    workflow.acknowledge(call.args.packet, **call.how())
    call.changed(workflow, said=call.ok(f"{workflow.id} is taken up again"))
