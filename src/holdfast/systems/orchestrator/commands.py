"""Running a task document: iterations, the supervisor, commits, milestones, learnings."""

from __future__ import annotations

import os
import sys
from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, refusals, remedies, tasks
from holdfast.core.remedy import Blank, shell, typed
from holdfast.core.state import BASE, COMMITS, HELD, State
from holdfast.core.value import Any
from holdfast.documents.learnings import read
from holdfast.errors import HoldfastError, NotFound, Refused, UsageError
from holdfast.machine.place import read_regular
from holdfast.plain.plainjson import BOM_UTF8, parse, repeated, spaced
from holdfast.plain.terminal import escape
from holdfast.systems.orchestrator import subject, words
from holdfast.systems.orchestrator.rules import supervision
from holdfast.systems.seam import actions
from holdfast.systems.seam.ports import Call, Workflow
from holdfast.systems.seam.registry import work

LARGEST = 1 << 16
"""Bytes of a supervisor's answer, which is kept whole."""
LONGEST_DIFF = 100_000
NAME = "orchestrator"
ISSUE = "issue_url"
"""What a phase remembers the address of its milestone as."""


def iterate(call: Call) -> None:
    workflow = call.workflow()
    path = tasks.named(workflow.state, call.args.task)
    workflow.iterate(path, call.args.reason, **call.how())
    attempt = workflow.state.step(path).attempt
    call.changed(workflow, path, more={"iteration": attempt})


def retry(call: Call) -> None:
    workflow = call.workflow()
    path = tasks.named(workflow.state, call.args.task)
    if workflow.state.step(path).status not in lifecycle.STUCK:
        raise refusals.wrong_status(workflow.state, workflow.facts(), path, "retried", tuple(sorted(lifecycle.STUCK)))
    call.changed(workflow.resume(path, **call.how()), path)


def skip(call: Call) -> None:
    workflow = call.workflow()
    path = tasks.named(workflow.state, call.args.task)
    call.changed(workflow.skip(path, call.args.reason or "", **call.how()), path)


def manual(call: Call) -> None:
    """A person does it by hand: nobody else works on it until they say it is done."""
    workflow = call.workflow()
    path = tasks.named(workflow.state, call.args.task)
    reason = call.args.reason or "a person does it by hand"
    call.changed(workflow.execute(cmd.Block(path, reason, by_hand=True), **call.how()), path)


def _run(call: Call) -> Workflow:
    """The run of a task document that is meant: nothing else has a supervisor, or phases with milestones."""
    workflow = call.workflow()
    if workflow.state.dialect != NAME:
        said = f"{workflow.id} is not a run of a task document (orchestrate), and only these have that"
        raise UsageError("not_orchestrated", said, remedy=remedies.listing(), facts={"workflow": workflow.id})
    return workflow


def supervise(call: Call) -> None:
    """With a verdict, records it; without one, prints what a supervisor is to look at."""
    args, workflow = call.args, _run(call)
    found = _verdict(call)
    if not found:
        call.write_json(_request(call, workflow, args.check_type, args.task or ""))
        return
    workflow.supervise(args.check_type, args.task or "", **found, **call.how())
    kept = supervision(workflow.state)
    counts = f"{kept.checks} checked so far, conflicts: {kept.conflicts}"
    said = call.ok(f"{found['verdict']} · {counts}")
    call.changed(workflow, said=said, more={"verdict": found["verdict"], "checks_performed": kept.checks})


def _request(call: Call, workflow: Workflow, check_type: str, task: str) -> dict[str, Any]:
    """What the supervisor looks at: the task, its criteria, who works on it, what changed, and the whole state."""
    state, document = workflow.state, workflow.document()
    path = tasks.named(state, task) if task else ""
    about: dict[str, Any] = {}
    if path:
        step = state.plan.step(path)
        about = {"task": task, "name": step.label, "description": step.description, "agents": list(step.agents)}
    return {
        "check_type": check_type,
        "task": about,
        "criteria": _criteria(workflow, path) if path else [],
        "agents": document.get("active_agents", []),
        "changes": _changes(call, state, path),
        "instructions": supervision(state).instructions,
        "context": dict(state.context),
        "state": document,
        "record": typed(remedies.supervised(check_type, task)[1].replace(text="")),
    }


def _criteria(workflow: Workflow, path: str) -> list[dict[str, Any]]:
    from holdfast.core import conditions

    held = workflow.state.step(path).data.get(HELD, ())
    found = (one for one in conditions.of_step(workflow.state, path, workflow.facts()) if one.kind == "check")
    return [
        {
            "name": one.name,
            "text": one.about,
            "how": "run" if one.command else "reported",
            "verdict": one.verdict,
            "held_before": one.name in held,
        }
        for one in found
    ]


def _changes(call: Call, state: State, path: str) -> dict[str, Any]:
    """What changed since the task, or the run, began: the files, and what is in them as a patch."""
    from holdfast import git
    from holdfast.git import content

    wired = call.project.wired
    at = wired.world.at(state, path)
    repository = git.find(wired.place.base(at.worktree)) if wired.place.repository else None
    if repository is None:
        return {"files": [], "diff": ""}
    since = str(state.step(path).data.get(BASE) or "") if path else ""
    since = since or str(state.head or "") or str(git.head(repository) or "")
    files = content.changed(repository, since or None, wired.world.aside(at))  # keeps nothing: this only looks
    diff = content.diff(repository, since or None, LONGEST_DIFF, list(files))
    return {"since": since, "files": sorted(files)[: subject.MOST_FILES], "diff": diff}


def _verdict(call: Call) -> dict[str, Any]:
    """What was found, from the options or from a file with a supervisor's answer."""
    args = call.args
    if args.file:
        return _answered(_read(args.file))
    if not args.verdict:
        return {}
    found = {"verdict": args.verdict, "conflict_type": args.conflict, "resolution": args.resolution}
    return {**found, "severity": args.severity or "", "fixes": args.fixes, "affected": tuple(args.affects)}


def _answered(said: Mapping[str, Any]) -> dict[str, Any]:
    conflict, plan = said.get("conflict") or {}, said.get("re_plan_required") or {}
    is_plan = said.get("verdict") == "RE_PLAN"
    fixes = _listed(said.get("auto_fixes"))
    if not isinstance(conflict, Mapping) or not isinstance(plan, Mapping) or fixes is None:
        raise _bad_answer("conflict and re_plan_required are objects, auto_fixes is a list", is_plan=is_plan)
    affected, changes = _listed(plan.get("affected_tasks")), _listed(plan.get("recommended_changes"))
    if affected is None or changes is None:
        raise _bad_answer("affected_tasks and recommended_changes are lists", is_plan=is_plan)
    told = [str(conflict.get(name)) for name in ("resolution", "description") if conflict.get(name)]
    told += [text for one in (*changes, *fixes) if (text := _worded(one)) not in told]
    return {
        "verdict": str(said.get("verdict")),
        "conflict_type": str(conflict.get("type") or conflict.get("conflict_type") or ""),
        "resolution": "; ".join(told)[:4000],
        "severity": str(conflict.get("severity") or "").lower(),
        "fixes": len(fixes),
        "affected": tuple(map(str, affected)),
        "answer": dict(said),
    }


def _listed(said: Any) -> list[Any] | None:
    """A list, also of one text that is alone; None for anything else."""
    if isinstance(said, str) and said:
        return [said]
    return (said or []) if isinstance(said or [], list) else None


def _worded(one: Any) -> str:
    """A change or a fix as a sentence: an object by what it says of itself, else as JSON."""
    if not isinstance(one, Mapping):
        return str(one)
    return str(one.get("description") or one.get("fix") or one.get("change") or spaced(dict(one)))


def _read(file: str) -> Mapping[str, Any]:
    data = sys.stdin.buffer.read(LARGEST + 1) if file == "-" else read_regular(file, LARGEST)
    if data is None:
        raise NotFound("no_file", f"there is no file {file[:200]}", remedy=shell("ls", "-l", file[:200]))
    data = data.removeprefix(BOM_UTF8)
    if twice := repeated(data):
        raise _bad_answer(f"it has {twice[0]!r} twice")
    try:
        said = parse(data)
    except ValueError as wrong:
        raise _bad_answer(str(wrong)) from None
    if not isinstance(said, dict):
        raise _bad_answer("it is no JSON object")
    return said


def _bad_answer(reason: str, *, is_plan: bool = False) -> UsageError:
    form = '{"verdict": "AUTO_FIX", "conflict": {"type": "pattern", "resolution": "…"}, "auto_fixes": ["…"]}'
    if is_plan:
        more = '"re_plan_required": {"affected_tasks": ["1.1"], "recommended_changes": ["…"]}'
        form = '{"verdict": "RE_PLAN", "conflict": {"type": "api", "description": "…"}, ' + more + "}"
    return UsageError("bad_verdict", f"this is no supervisor's answer: {reason}", remedy=form)


def commit(call: Call) -> None:
    """Commits what changed, with the words that say whose commit it is."""
    args, workflow = call.args, call.workflow()
    own = work(workflow.state.dialect).commit
    if own is not None and not (args.supervisor or args.outer):
        path, message = own(workflow.state, args.task or "", args.message)
    elif bool(args.task) + args.supervisor + args.outer != 1:
        remedy = remedies.named("commit", {"task": "1.1", "message": remedies.TEXT})
        raise refusals.misused("a commit is a task's, the supervisor's or the outer loop's", remedy)
    else:
        path = tasks.named(workflow.state, args.task) if args.task else ""
        whose = subject.SUPERVISOR if args.supervisor else subject.OUTER
        prefix = subject.prefix(workflow.state.plan.step(path).id) if path else whose
        message = f"{prefix} {args.message}"
    _may_record(call, workflow, path)
    wired = call.project.wired
    typed_again = {"task": args.task, "message": args.message, "supervisor": args.supervisor, "outer": args.outer}
    again = remedies.named("commit", typed_again)
    sha, said = actions.commit(wired, workflow.state, path, message, tuple(args.paths), again)
    if path and own is None:
        before = workflow.state.step(path).data.get(COMMITS, ())
        made = {tasks.COMMIT: sha, COMMITS: list(dict.fromkeys((*before, sha)))}
        try:
            workflow.execute(cmd.Record(made, path), **call.how())
        except HoldfastError as failure:
            raise failure.after(f"commit {sha[:12]} was made") from failure.__cause__
    wired.recorded(workflow.state, path)
    call.changed(workflow, said=call.ok(said or f"committed {sha[:7]}: {message}"), more={"commit": sha})


def milestone(call: Call) -> None:
    """The issue that stands for a finished phase: its address, or a new one on the forge."""
    args, workflow = call.args, _run(call)
    if bool(args.url) == args.create:
        remedy = remedies.named("orchestrator milestone", {"phase": "1", "url": Blank("URL")})
        raise refusals.misused("name the issue, or say --create", remedy)
    path = _phase_path(workflow, args.phase)
    known = str(workflow.state.step(path).data.get(ISSUE) or "")
    if args.create and not known:
        _may_record(call, workflow, path)
        url = subject.milestone(call.project.wired.forge(workflow.state.worktree), workflow.state, path)
    else:
        url = _address(args.url) if args.url else known
    if url != known:
        workflow.record({ISSUE: url}, path, **call.how())
    call.changed(workflow, said=call.ok(f"{path}: {escape(url)}"), more={"issue_url": url})


def _may_record(call: Call, workflow: Workflow, path: str) -> None:
    """The rules are asked before anything is done outside: an agent whose token is old commits nothing."""
    call.project.wired.preview(workflow.state, cmd.Record({ISSUE: ""}, path))


def _phase_path(workflow: Workflow, word: str) -> str:
    """A finished phase, by its own number or by its id."""
    plan = workflow.state.plan
    phases = [path for path in plan.children("") if not plan.is_leaf(path)]
    found = next((path for path in phases if word in (path, path.removeprefix("phase-"))), "")
    if not found:
        said = f"there is no phase {word[:80]!r} in {workflow.id}"
        raise NotFound("no_phase", said, remedy=remedies.status(), facts={"phase": word[:200], "phases": phases[:50]})
    if workflow.state.step(found).status not in lifecycle.FINISHED:
        raise Refused("phase_not_done", f"{found} is not done: its milestone comes then", remedy=remedies.next_step())
    return found


def _address(url: str) -> str:
    import re

    if not re.fullmatch(r"https?://[!-~]{1,990}", url):
        said = f"{url[:80]!r} is not the address of an issue"
        facts = {"url": url[:200]}
        raise UsageError("bad_address", said, remedy="--url https://github.com/OWNER/REPOSITORY/issues/1", facts=facts)
    return url


def learnings(call: Call) -> None:
    """What was learned, in this run and before: by kind, task and words."""
    from holdfast.systems.seam.learned import in_journals

    args, wired = call.args, call.project.wired
    found = [*in_journals(wired), *read(os.path.join(wired.place.worktree, words.LEARNINGS))]
    found = [one for one in found if not args.type or one.get("type") == args.type]
    found = [one for one in found if not args.task or one.get("task") == args.task]
    wanted = [word.casefold() for word in args.words]
    found = [one for one in found if all(word in _text(one) for word in wanted)][-args.limit :]
    call.answer({"learnings": found}, lambda: "\n".join(map(_row, found)) or "nothing was learned yet")


def _text(one: Mapping[str, Any]) -> str:
    return " ".join(str(one.get(name) or "") for name in ("lesson", "pattern", "context")).casefold()


def _row(one: Mapping[str, Any]) -> str:
    pattern = f" → {one['pattern']}" if one.get("pattern") else ""
    where = f"{one['task']}  " if one.get("task") else ""
    return escape(f"{where}{one.get('type')}: {one.get('lesson')}{pattern}")
