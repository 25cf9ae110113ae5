"""Gates that reviewers and people pass."""

from __future__ import annotations

import os
import sys

from holdfast.core import commands as cmd
from holdfast.core import gates, lifecycle, refusals, remedies
from holdfast.core.names import optional_text
from holdfast.core.remedy import Blank
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, NotFound
from holdfast.plain.terminal import escape
from holdfast.project.workflow import Workflow
from holdfast.surfaces import approving, handed
from holdfast.surfaces.cli import confirming, deciding, paging
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.cli.readers import pairs
from holdfast.surfaces.excerpt import Room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.surfaces.cli.arguments import Parsed

_FEEDBACK = 20_000


def submit(call: Call) -> None:
    workflow, path = call.step()
    workflow.submit(path, dict(call.args.artifact), unchanged=call.args.unchanged, **call.how())
    call.changed(workflow, path)


def review(call: Call) -> None:
    workflow, path = call.step()
    gate = workflow.state.plan.step(path).review
    if not call.args.verdict and not (gate and gate.files):
        raise refusals.misused("a review says whether the work is approved", remedies.review(path))
    workflow.review(path, call.args.verdict, call.args.feedback or "", **call.how())
    call.changed(workflow, path)


def approve(call: Call) -> None:
    args = call.args
    if args.claimed:
        confirming.every(call)
        return
    workflow, path = call.step() if args.step else deciding.only(call, remedies.approve)
    modifications = pairs(args.values)
    if args.sign and args.signature:
        raise refusals.misused("--sign and --signature exclude each other", remedies.approve(path, sign=Blank("KEY")))
    if args.statement and not args.signature:
        raise refusals.misused("--statement goes with --signature", remedies.approve(path, sign=Blank("KEY")))
    if args.payload:
        _payload(call, workflow, path, modifications)
        return
    given: dict[str, Any] = {"sign": args.sign}
    if args.signature:
        given |= {"signature": _content(args.signature), "statement": _content(_statement_of(args))}
    _confirm(call, workflow, path, modifications, given)
    workflow.approve(path, args.variant, modifications, **given, **call.how())
    call.changed(workflow, path)


def _payload(call: Call, workflow: Workflow, path: str, modifications: dict[str, Any]) -> None:
    said = workflow.statement(path, call.args.variant, modifications)
    if call.args.json:
        whole = workflow.facts().hand_ins.get(path)
        call.write_json({"payload": said.decode(), **({"files": list(whole.files)} if whole and whole.files else {})})
    else:
        sys.stdout.buffer.write(said)
        sys.stdout.buffer.flush()


def _statement_of(args: Parsed) -> str:
    """The file that was signed: ssh-keygen puts the signature beside it, with `.sig` after its name."""
    return args.statement or str(args.signature).removesuffix(".sig")


def _content(file: str) -> bytes:
    from holdfast.core.statement import LARGEST

    try:
        with open(file, "rb") as found:
            return found.read(LARGEST + 1)
    except OSError as failure:
        said = f"{file[:200]} cannot be read: {failure.strerror}"
        raise NotFound("no_file", said, remedy="name the file ssh-keygen wrote") from None


def _confirm(call: Call, workflow: Workflow, path: str, modifications: dict[str, Any], given: dict[str, Any]) -> None:
    """A person sees what their approval is given to, also where an agent could pass it on.

    Nobody is asked about what would be refused, or has been done by a request with the same key.
    """
    if not call.is_person or (call.args.key or "") in workflow.state.keys:
        return
    workflow.require_decidable()
    if not approving.is_ready(workflow, path):
        return
    workflow.expect(call.args.revision or 0)
    command = workflow.require_approvable(path, call.args.variant, modifications, **given)
    shown, seen = approving.hashes(workflow, path), approving.seen(workflow, path)
    pager = [] if call.args.no_pager else paging.pager(os.environ)
    room = handed.LONG if pager or call.args.no_pager else handed.WHOLE
    text = _picture(call, workflow, command, shown, room)
    if pager and paging.is_long(text):
        paging.show(text, pager)
        text = "".join(f"  {escape(line)}\n" for line in approving.chosen(workflow, command))
    if not call.ask(text, escape(approving.question(command)), default=call.args.yes):
        raise approving.declined(path)
    if approving.seen(workflow, path) != seen:
        raise refusals.changed_meanwhile(path)


def reject(call: Call) -> None:
    """A person is asked what should be different, and sees what comes of it; for others it is as they typed it."""
    workflow, path = call.step() if call.args.step else deciding.only(call, remedies.reject)
    feedback, modifications = call.args.feedback or "", pairs(call.args.values)
    status = workflow.state.step(path).status
    is_asked = gates.takes_word(workflow.state, path) and approving.is_ready(workflow, path)
    if call.is_person and (is_asked or lifecycle.allows(status, "rejected")):
        workflow.require_decidable()
        if not (feedback or modifications):
            without = "" if _goes_back(workflow, path) else "; the step then fails"
            typed = call.ask_line(f"Feedback for the agent (Enter = none{without}): ")
            if typed is None:
                raise _not_rejected(path)
            feedback = typed
            optional_text(feedback, "feedback", _FEEDBACK)
        said, fails = _consequence(call, workflow, path, feedback, modifications)
        if not call.ask(f"{escape(said)}\n", f"Reject {path}?", default=not fails):
            raise _not_rejected(path)
    workflow.reject(path, feedback, modifications, **call.how())
    call.changed(workflow, path)


def _not_rejected(path: str) -> HoldfastError:
    return HoldfastError("declined", f"{path} was not rejected", remedy=remedies.status(), facts={"step": path})


def _consequence(
    call: Call, workflow: Workflow, path: str, feedback: str, modifications: dict[str, Any]
) -> tuple[str, bool]:
    """What a rejection does, in a sentence, and whether the step fails with it."""
    if feedback or modifications:
        return f"{path} goes back to the agent with this feedback.", False
    if _goes_back(workflow, path):
        return f"{path} goes back to the agent without feedback.", False
    again = call.told([remedies.resume(path, workflow=workflow.ulid)])
    return f"Without feedback, {path} fails; to start it again: {again}", True


def _goes_back(workflow: Workflow, path: str) -> bool:
    """Whether the work continues after a rejection without feedback too."""
    step = workflow.state.plan.step(path)
    return any(gate.rejected == "revise" for gate in (step.approval, step.choice) if gate)


def _picture(call: Call, workflow: Workflow, command: cmd.Approve, hashes: dict[str, str], room: Room) -> str:
    state, style, path = workflow.state, call.style, command.step
    view = approving.view(call.project.wired.place, workflow, path, hashes, most=handed.MANY, room=room)
    where = f"{path}, " if view.label != path else ""
    out = [f"{style.bold(escape(view.label))} {escape(f'({where}attempt {view.attempt})')}"]
    names = dict.fromkeys((state.title or state.subject or state.id, state.id))
    out.append(style.dim(escape(" · ".join(names))))
    out += [f"  {escape(line)}" for line in view.about]
    if view.escalated:
        out.append(style.yellow(escape(f"escalated: {view.escalated}")))
    out += [f"  {escape(line)}" if line else "" for line in view.handed.lines()]
    out += [f"  {escape(line)}" for line in (*view.tested(), *view.reviews)]
    out += [f"  ↳ {escape(said)}" for said in view.feedback]
    out += [f"  {escape(line)}" for line in approving.chosen(workflow, command)]
    return "\n".join(out) + "\n"
