"""Working on steps."""

from __future__ import annotations

from holdfast.core import gates, lifecycle, provenance, refusals, remedies
from holdfast.core.limits import tries_left
from holdfast.core.state import SAME_RUN, Evidence, State
from holdfast.core.tasks import COMMIT
from holdfast.core.value import Any
from holdfast.plain.terminal import escape
from holdfast.project.workflow import Workflow
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.cli.readers import pairs
from holdfast.systems.seam.parts import Order

CHECK_FAILED = 3


_EVIDENCE = ("passed", "run_by", "exit_code", "duration_ms", "at", "head", "dirty", "detail", "tail")
_SAID = {"block": "reason", "unblock": "guidance", "skip": "reason", "reopen": "feedback"}


def move(call: Call) -> None:
    """Commands that only move a step: each is a method of the workflow, with the text that goes with it."""
    (workflow, path), name = call.step(), call.command.name
    said: list[Any] = [getattr(call.args, _SAID[name]) or ""] if name in _SAID else []
    getattr(workflow, name)(path, *said, **call.how())
    call.changed(workflow, path)


def done(call: Call) -> None:
    """Without a step, the one that is worked on."""
    workflow = call.workflow()
    step = workflow.path(call.args.step) if call.args.step else ""
    given = {"artifacts": dict(call.args.artifact), "test": call.args.test, "unchanged": call.args.unchanged}
    hand_in(call, workflow, step, **given)


def hand_in(call: Call, workflow: Workflow, step: str, **given: Any) -> None:
    """What Holdfast ran for a step is told before what became of it, also where that is a refusal."""
    from holdfast.surfaces.cli import live

    try:
        with live.tail() as watch:
            workflow.done(step, order=order(call), watch=watch, **given, **call.how())
    finally:
        for name, evidence in workflow.ran if not call.args.json else ():
            live.show_failure(call, name, evidence)
            if evidence.passed:
                call.answer({}, _said(call, name, evidence))
    *first, last = workflow.handed or (step,)
    ran = [{"check": name, **_told(evidence)} for name, evidence in workflow.ran]
    made = [workflow.state.step(path).data.get(COMMIT) for path in workflow.handed if path in workflow.state.plan]
    more = {"handed_in": list(workflow.handed), "evidence": ran, "commit": next(filter(None, made), None)}
    for path in first:
        call.answer({}, call.became(workflow.state, path)) if not call.args.json else None
    call.changed(workflow, last, more={name: value for name, value in more.items() if value})


def order(call: Call) -> Order:
    """What was said of the action that goes with handing a step in."""
    args = call.args
    url = getattr(args, "url", "")
    return Order(message=args.message, paths=tuple(args.paths), commit=args.commit, url=url)


def attach(call: Call) -> None:
    workflow, path = call.step()
    workflow.attach(path, dict(call.args.artifact), **call.how())
    names = ", ".join(name for name, _ in call.args.artifact)
    call.changed(workflow, path, call.ok(f"{path} has {names}"))


def fail(call: Call) -> None:
    workflow, path = call.step()
    workflow.fail(path, call.args.reason, **call.how())
    call.changed(workflow, path, _failed(call, workflow.state, path), onward="back to ")


def _failed(call: Call, state: State, path: str) -> str:
    """What a failure led to when there are tries left; without any, the step's own status says it."""
    progress = state.step(path)
    left = tries_left(state, path)
    if left is None or progress.status not in (lifecycle.ACTIVE, lifecycle.PENDING):
        return ""
    again = f", attempt {progress.attempt} is active" if progress.status == lifecycle.ACTIVE else ""
    many = "1 try" if left == 1 else f"{left} tries"
    return f"{call.style.red('✗')} {escape(f'{path} failed, {many} left{again}')}"


def check(call: Call) -> int:
    """Recorded whether it passed or not; the exit code says which."""
    args, workflow = call.args, call.workflow()
    if args.run + args.passed + args.failed > 1:
        raise refusals.misused("--run, --passed and --failed exclude each other", remedies.next_step())
    evidence = _known(workflow, args.key or "", args.name)
    if evidence is None:
        from holdfast.surfaces.cli import live

        passed = args.passed if args.passed or args.failed else None
        data = {**pairs(args.values), **({"test": args.test} if args.test else {})}
        with live.tail() as watch:
            how = {"data": data, "watch": watch, **call.how()}
            evidence = workflow.check(args.name, passed=passed, step=args.step or "", **how)
        live.show_failure(call, args.name, evidence)
    more = {"evidence": {"check": args.name, **_told(evidence)}}
    call.changed(workflow, said=_said(call, args.name, evidence), more=more)
    return 0 if evidence.passed else CHECK_FAILED


def _told(evidence: Evidence) -> dict[str, Any]:
    data = {name: value for name, value in evidence.data.items() if name not in provenance.INTERNAL}
    return {**{name: getattr(evidence, name) for name in _EVIDENCE}, **data}


def _known(workflow: Workflow, key: str, name: str) -> Evidence | None:
    """What a command with this key found before: it is not run twice."""
    if key not in workflow.state.keys:
        return None
    found = [step.evidence[name] for step in workflow.state.progress.values() if name in step.evidence]
    return found[-1] if found else None


def _said(call: Call, name: str, evidence: Evidence) -> str:
    seen = provenance.how(evidence)
    how = ", as reported" if evidence.run_by != "engine" else f", {seen}" if seen else ""
    if others := provenance.other_packages(evidence):
        how += f"; {others}"
    if evidence.data.get(SAME_RUN):
        how += f", in the run for {evidence.data[SAME_RUN]}: nothing changed since"
    if evidence.passed:
        test = f": {evidence.data['test']}" if evidence.data.get("test") else ""
        said_too = (*provenance.remarks(evidence), *provenance.not_of(evidence), provenance.run_under(evidence))
        more = "".join(f"\n{escape(said)}" for said in filter(None, said_too))
        return call.ok(f"{name} passed{provenance.with_figures(evidence)}{how}{test}") + more
    code = f" with {evidence.exit_code}" if evidence.exit_code else ""
    why = f": {gates.telling(evidence)}".removesuffix(": ")
    return f"{call.style.red('✗')} {escape(f'{name} failed{code}{how}{why}')}"
