"""Starting a workflow, or continuing with the one that is there."""

from __future__ import annotations

from holdfast.core import answers, conditions, lifecycle, queries, refusals, remedies
from holdfast.core.remedy import Remedy
from holdfast.core.value import Any
from holdfast.errors import HoldfastError, Refused
from holdfast.plain.terminal import escape
from holdfast.project import resuming, seats
from holdfast.project.workflow import Workflow
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.cli.readers import pairs
from holdfast.systems.seam.registry import system, texts


def start(call: Call) -> None:
    args, context = call.args, pairs(call.args.values)
    if not args.definition:
        from holdfast.surfaces.cli import definitions

        definitions.listing(call)
        return
    if args.resume and args.fresh:
        raise refusals.misused("--resume and --fresh exclude each other", remedies.usage("start"))
    there = None if args.fresh or args.key else _found(call, context)
    if there is None or not _goes_on(call, there):
        _begin(call, context, fresh=args.fresh or there is not None)


def _found(call: Call, context: dict[str, Any]) -> Workflow | None:
    """The active workflow of the same work."""
    args = call.args
    return call.project.find(args.definition, args.subject, context, args.session or "")


def resume(call: Call) -> None:
    """Without a name, the only one that is paused, else the workflow whose packet `resume-packet` gives."""
    workflow = _meant(call)
    if not call.named() and queries.status(workflow.state) not in (*lifecycle.STUCK, "cancelled"):
        paused = [one for one in call.project.list(status="paused") if one.ulid != workflow.ulid]
        is_other = len(paused) == 1 and queries.status(workflow.state) != "paused"
        workflow = call.project.workflow(paused[0].ulid) if is_other else workflow
    call.about = workflow.state.ulid
    path = workflow.path(call.args.step) if call.args.step else ""
    if workflow.state.loads and not path and queries.status(workflow.state) == "in_progress":
        _rejoin(call, workflow)
        return
    workflow.resume(path, **call.how())
    call.changed(workflow, path, call.ok(f"{workflow.id} continues"))


def _meant(call: Call, *, finished: bool = False) -> Workflow:
    """The workflow that is named; without a name, by the rule of `resume-packet`."""
    word, session = call.args.workflow or "", call.settings.actor.session
    found, _ = seats.named_or_chosen(call.project, word, session, finished=finished)
    return call.project.workflow(found.ulid)


def _begin(call: Call, context: dict[str, Any], *, fresh: bool) -> None:
    args, project = call.args, call.project
    named = {name: getattr(args, name) for name in ("title", "session", "branch", "phases", "reading")}
    more = {**named, "context": context, "reminders": args.remind}
    workflow = project.start(args.definition, args.subject, key=args.key or "", fresh=fresh, **more)
    said = workflow.said
    if system(workflow.state.dialect).held:
        workflow.join()
    if workflow.state.loads:
        from holdfast.upkeep.clean import clean

        clean(project, now=call.now(), skills=True)  # what ended long ago, or nobody continued
    state, kept = workflow.state, project.set_aside
    call.about = state.ulid
    lost = [f"⚠ the state file was corrupted: starting fresh, a copy is in {kept}"] if kept else []
    used = [one.text for one in conditions.commands(state, queries.current(state))]
    workflow.said = (*said, *used, *lost)
    if args.json:
        data = answers.status(workflow.briefing(), call.scope())
        call.write_json({**data, "resumed": False, "said": workflow.said})
    else:
        call.changed(workflow, said=call.ok(f"started {state.id}"))


def _goes_on(call: Call, workflow: Workflow) -> bool:
    """Continues with what is there; False when a person would rather start over."""
    from holdfast.project.starting import already_active, fresh_start

    args = call.args
    asks = call.is_person and not args.json
    if not args.resume and not asks:
        again = _again(call)
        raise already_active(workflow.state, call.now(), again, again.given(resume=True))
    if resuming.is_elsewhere(call.project.wired, workflow.state):
        return _other_branch(call, workflow, asks=asks)
    if not args.resume:
        own, state = texts(workflow.state.dialect), workflow.state
        shown = f"📂 Checking for existing workflow state...\n\n{own.summary(state, call.now())}\n"
        if not call.ask(call.marked(shown), own.question(state), default=True):
            said = f"{workflow.id} stays as it is"
            raise HoldfastError("declined", said, remedy=fresh_start(state, _again(call), call.now()))
        _rejoin(call, workflow, shown=True)
        return True
    _rejoin(call, workflow)
    return True


def _rejoin(call: Call, workflow: Workflow, *, shown: bool = False) -> None:
    """Takes the workflow up again: holds it for this session, and shows where it is."""
    if resuming.is_elsewhere(call.project.wired, workflow.state):
        raise call.project.wired.branch_mismatch(workflow.state)
    call.about = workflow.state.ulid
    other = workflow.join()
    said: tuple[str, ...] = ()
    if other is None:
        read = _reread(call, workflow)
        said = (*read, *workflow.ahead().said)
    brief, now, own = workflow.briefing(), call.now(), texts(workflow.state.dialect)
    if call.args.json:
        more = {"resumed": True, "read_only": other is not None, "summary": own.sentence(brief.state), "said": said}
        call.write_json({**answers.status(brief, call.scope()), **more, "signal": brief.signal})
        return
    text = "" if shown else f"📂 Resuming workflow from saved state...\n\n{own.summary(brief.state, now)}\n"
    text += own.resumed(brief.state, now)
    if other is not None:
        since = f"Another session is at work here since {other.at}"
        text += escape(f"{since}: you can look, and take over when its hold runs out.") + "\n"
    text += "".join(f"{escape(line)}\n" for line in said)
    text += f"→ {escape(call.told(brief.now))}\n" if brief.now and other is None else ""
    call.answer({}, call.marked(text))


def _reread(call: Call, workflow: Workflow) -> tuple[str, ...]:
    """Applies what the subject says now, and asks a person about what takes a gate away; gives what came of it."""
    taken = call.project.reread(workflow)
    asked = [why for *_, why in taken.loosened]
    if not asked:
        return taken.said
    if call.is_person and not call.args.json:
        shown = "".join(f"  {escape(why)}\n" for why in asked)
        if call.ask(f"What had to be done or tested before need not be any more:\n{shown}", "Apply this?"):
            call.project.loosen(workflow, taken)
            return (*taken.said, *(f"{why}: applied" for why in asked))
    return resuming.lines(call.project, workflow, taken)


def _other_branch(call: Call, workflow: Workflow, *, asks: bool) -> bool:
    """The two ways out, and a person may pick one; nobody is switched unasked."""
    from holdfast.project.starting import fresh_start

    state, place = workflow.state, call.project.wired.place
    fresh = fresh_start(state, _again(call), call.now()).replace(text="")
    refusal = call.project.wired.branch_mismatch(state, fresh if fresh.arguments.get("fresh") else None)
    if not asks or place.repository is None:
        raise refusal
    there, here = escape(str(state.branch)), escape(str(place.branch()))
    text = f"⚠️ State is for branch '{there}' but current branch is '{here}'\n"
    options = f"Options: 1) Switch to {there}  2) Abandon state and start fresh\n"
    picked = call.pick(call.marked(text + options), ("1", "2"))
    if picked == "1":
        from holdfast.git import branches

        branches.switch(place.repository, str(state.branch), call.settings.lock_wait)
        _rejoin(call, workflow)
        return True
    if picked == "2":
        return False
    raise refusal


def _again(call: Call) -> Remedy:
    """The command as it was typed."""
    args = call.args
    options = {name: getattr(args, name) for name in ("session", "title", "branch", "reading", "remind")}
    phases = ",".join(args.phases)
    return remedies.start(args.definition, args.subject, values=dict(args.values), phases=phases, **options)


def signal(call: Call) -> None:
    """For a loop around an agent: the state of the run, in one line."""
    workflow = _meant(call, finished=True)
    line = workflow.briefing().signal
    if not line:
        said = f"{workflow.id} gives no signal: it works only for dev workflows (feature files)"
        raise Refused("no_signal", said, remedy=remedies.next_step(workflow=workflow.ulid))
    call.answer({"workflow_id": workflow.id, "signal": line}, escape(line))


def compacted(call: Call) -> None:
    workflow = call.workflow()
    workflow.compacted(call.args.note, **call.how())
    call.changed(workflow, said=call.ok("noted that the context was compacted"))
