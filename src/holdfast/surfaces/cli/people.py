"""Gates that reviewers and people pass."""

from __future__ import annotations

import sys

from holdfast.core import lifecycle, refusals, remedies
from holdfast.core.gates import policy
from holdfast.core.remedy import Blank
from holdfast.core.value import Any
from holdfast.errors import NotFound, Refused, UsageError
from holdfast.plain.terminal import escape
from holdfast.project.workflow import Workflow
from holdfast.surfaces import approving, handed
from holdfast.surfaces.cli import confirming
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.cli.readers import pairs

_MOST = 30
"""How many files are shown to a person; the rest is counted."""


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
    workflow = call.workflow()
    path = workflow.path(args.step) if args.step else _waiting(workflow)
    modifications = pairs(args.values)
    if args.sign and args.signature:
        raise refusals.misused("--sign and --signature exclude each other", remedies.approve(path, sign=Blank("KEY")))
    if args.payload:
        _payload(call, workflow, path, modifications)
        return
    _confirm(call, workflow, path)
    signature = _content(args.signature) if args.signature else b""
    workflow.approve(path, args.variant, modifications, sign=args.sign, signature=signature, **call.how())
    call.changed(workflow, path)


def _waiting(workflow: Workflow) -> str:
    """The step that waits for an approval, where it is one."""
    state = workflow.state
    waiting = [path for path in state.plan.paths if state.step(path).status == lifecycle.WAITING]
    ready = waiting or [path for path in state.plan.asking() if approving.is_ready(workflow, path)]
    if len(ready) == 1:
        return ready[0]
    if not ready:
        said = "no step waits for an approval"
        raise Refused("nothing_waits", said, remedy=remedies.next_step(), facts={"workflow": state.id})
    said = f"several steps wait for an approval: {', '.join(ready[:8])}"
    raise UsageError("several_wait", said, remedy=tuple(map(remedies.approve, ready[:8])), facts={"steps": ready})


def _payload(call: Call, workflow: Workflow, path: str, modifications: dict[str, Any]) -> None:
    said = workflow.signing_payload(path, call.args.variant, modifications)
    if call.args.json:
        call.write_json({"payload": said.decode()})
    else:
        sys.stdout.buffer.write(said)
        sys.stdout.buffer.flush()


def _content(file: str) -> bytes:
    from holdfast.machine.signing import LARGEST_SIGNATURE

    try:
        with open(file, "rb") as signature:
            return signature.read(LARGEST_SIGNATURE + 1)
    except OSError as failure:
        said = f"{file[:200]} cannot be read: {failure.strerror}"
        raise NotFound("no_file", said, remedy="name the file ssh-keygen wrote") from None


def _confirm(call: Call, workflow: Workflow, path: str) -> None:
    """Where only a person's own word counts, the person sees what it is given to."""
    step, progress = workflow.state.plan.step(path), workflow.state.step(path)
    own_word = policy(step) == "human" or progress.status == lifecycle.ESCALATED
    if not call.is_person or not own_word:
        return
    workflow.require_decidable()
    if not approving.is_ready(workflow, path):
        return
    shown = approving.hashes(workflow, path)
    if not call.ask(_picture(call, workflow, path, shown), f"Approve {path}?", default=call.args.yes):
        raise approving.declined(path)
    if approving.hashes(workflow, path) != shown:
        raise refusals.changed_meanwhile(path)


def _picture(call: Call, workflow: Workflow, path: str, hashes: dict[str, str]) -> str:
    state, style = workflow.state, call.style
    step, progress = state.plan.step(path), state.step(path)
    where = f"{path}, " if step.label != path else ""
    out = [f"{style.bold(escape(step.label))} {escape(f'({where}attempt {progress.attempt})')}"]
    names = dict.fromkeys((state.title or state.subject or state.id, state.id))
    out.append(style.dim(escape(" · ".join(names))))
    out += [f"  {escape(line)}" for line in approving.about(workflow, path)]
    if progress.status == lifecycle.ESCALATED:
        out.append(style.yellow(escape(f"escalated: {progress.reason}")))
    shown = handed.lines(call.project.wired.place, workflow, path, hashes, _MOST)
    out += [f"  {escape(line)}" if line else "" for line in shown]
    out += [f"  {escape(line)}" for line in (*approving.checks(workflow, path), *approving.reviews(workflow, path))]
    out += [f"  ↳ {escape(said[:300])}" for said in progress.feedback[-3:]]
    return "\n".join(out) + "\n"
