"""Features and cycles in words: what a task asks for, how far the work is, where it continues, what was last seen."""

from __future__ import annotations

from holdfast.core import lifecycle, moment, provenance, queries, tasks
from holdfast.core.briefing import TaskText
from holdfast.core.packet_parts import clean
from holdfast.core.state import Evidence, State
from holdfast.systems.seam.parts import Texts, found_active
from holdfast.systems.skill.words import FEATURE, feature_of

DONE, RUNNING, COMING, STOPPED = "✅", "🔄", "⏳", "⛔"
_SHORT = {"security_review": "security", "code_simplifier": "simplify", "pr_created": "pr"}
_PHASES = {"red": "write a failing test", "green": "make tests pass", "refactor": "tidy up, tests still passing"}
_WORK = {"red": "Continuing with the test...", "refactor": "Continuing to refactor..."}
_RULE = "━" * 47


def task(state: State, path: str) -> TaskText:
    """The task's own words, as its file has them: the phases of it say only what kind of work it is."""
    step, own = state.plan.step(path), tasks.task_of(state, path)
    whole = state.plan.step(own) if own else None
    text = whole.label if whole else str(state.context.get("task_description") or "")
    said = " – ".join(dict.fromkeys(filter(None, (text, step.description if path != own else ""))))
    details = whole.description if whole else str(state.context.get("task_details") or "")
    return TaskText(
        f"{said}\n\n{details}" if details else said, str(feature_of(state, path)["file"]) if own or text else ""
    )


def summary(state: State, now: str) -> str:
    """What was found: which workflow, how old, and every phase and task with its mark."""
    about = feature_of(state)["file"] if state.loads != "task" else ""
    said = {"Feature": str(about), "Task": "" if about else state.title or state.subject}
    phases = [line for path in state.plan.children("") for line in _phase(state, path)]
    return found_active(state, now, said, phases)


def question(state: State) -> str:
    """`Resume from Task 4 (GREEN phase)?`"""
    return f"Resume from {clean(_position(state))}?"


def _banner(state: State, now: str) -> str:
    """Where the work continues, and what the last run of the tests showed."""
    lines = [_RULE, f"🔄 Resuming: {clean(_headline(state))}", *(f"   {line}" for line in _where(state)), _RULE, ""]
    at, task = _at(state)
    last = _newest(state, state.plan.children(task)) if at else None
    if last is not None:
        lines += [f"Last test run ({moment.relative(moment.between(last[0].at, now))}):", *_run(*last), ""]
    phase = at.rpartition("/")[2]
    lines.append(_WORK.get(phase, "Continuing implementation...") if phase in _PHASES else "Continuing...")
    return "\n".join(lines) + "\n"


def sentence(state: State) -> str:
    """One line: `Resuming task 5/7, currently in GREEN phase`, or what is still to be checked."""
    at, task = _at(state)
    if not at:
        return "All steps are done."
    if task:
        listed = tasks.tasks(state)
        where = f"Resuming task {listed.index(task) + 1}/{len(listed)}"
        if at == task:
            return f"{where}, ready to commit" if state.plan.step(task).action else where
        return f"{where}, currently in {_inner(at, task).upper()} phase"
    open_checks = _pending(state)
    if _tasks_done(state) and open_checks:
        return f"All tasks complete. Pending: {', '.join(open_checks)}"
    return f"Resuming at {clean(state.plan.step(at).label)}"


def signal(state: State, word: str) -> str:
    """The line that tells the program which started a run how it ended; empty where the workflow is no feature's."""
    if state.loads != FEATURE:
        return ""
    if word in ("completed", "finalized"):
        if state.plan.of_kind(FEATURE):
            return "DEV_COMPLETE: All features done"
        name = str(feature_of(state)["file"]).rpartition("/")[2].removesuffix(".md")
        return " ".join(f"DEV_COMPLETE: {name or state.title}".split())
    if word == "in_progress":
        return "DEV_CONTINUE"
    return " ".join(f"DEV_BLOCKED: {_stopped(state, word)}".split())


def _stopped(state: State, word: str) -> str:
    if word in ("paused", "cancelled"):
        mark = state.paused or state.cancelled
        return f"{word}: {mark.reason}" if mark and mark.reason else word
    if word == "claimed":
        return "what only its document says was done is not confirmed: holdfast approve --claimed"
    stuck = next((path for path in state.plan.paths if state.step(path).status == word), "")
    reason = state.step(stuck).reason if stuck else ""
    return f"{stuck} {word}: {reason}" if reason else f"{stuck} is {word}".strip()


def _phase(state: State, path: str) -> list[str]:
    status, step = state.step(path).status, state.plan.step(path)
    if step.kind != FEATURE and not state.plan.children(path):
        return [f"    {_mark(status)} {clean(step.label)}{clean(_beside(state, path))}"]
    inner = [line for child in state.plan.children(path) for line in _task(state, child, "       ")]
    return [f"    {_mark(status)} {clean(step.label)}{':' if inner else ''}", *inner]


def _task(state: State, path: str, indent: str) -> list[str]:
    step, status = state.plan.step(path), state.step(path).status
    if step.kind == FEATURE:
        open_ = status not in lifecycle.FINISHED and path == tasks.current_group(state)
        below = [line for child in state.plan.children(path) for line in _task(state, child, indent + "  ")]
        return [f"{indent}{_mark(status)} {clean(step.label)}{':' if open_ else ''}", *(below if open_ else ())]
    label = f"Task {step.id}: {step.label}" if step.kind == tasks.TASK else step.label
    return [f"{indent}{_mark(status)} {clean(label + _beside(state, path))}"]


def _beside(state: State, path: str) -> str:
    """What is in brackets after a phase or task."""
    step, progress = state.plan.step(path), state.step(path)
    if step.action == "load":
        listed = tasks.tasks(state)
        done = sum(state.step(task).status in lifecycle.FINISHED for task in listed)
        return f" ({done}/{len(listed)} tasks complete)" if listed else ""
    if step.action == "branch":
        return f" ({state.branch})" if state.branch else ""
    if progress.status in lifecycle.STUCK:
        return f" ({progress.status}: {progress.reason})" if progress.reason else f" ({progress.status})"
    if step.kind == tasks.TASK:
        return _of_task(state, path)
    names = [_SHORT.get(check.name, check.name) for check in step.checks if not check.test]
    return f" ({', '.join(names)})" if names and step.action != "pull_request" else ""


def _of_task(state: State, path: str) -> str:
    progress = state.step(path)
    commit = progress.data.get(tasks.COMMIT)
    if progress.status in lifecycle.FINISHED:
        return f" (committed: {str(commit)[:7]})" if commit else f" ({progress.reason})" if progress.reason else ""
    if progress.status == lifecycle.PENDING:
        return ""
    inner = [child for child in state.plan.children(path) if state.step(child).status not in lifecycle.FINISHED]
    if not inner:
        return " (ready to commit)" if state.plan.step(path).action else ""
    last = _newest(state, (inner[0],))
    seen = "" if last is None else " - tests passing" if last[0].tests_passed(last[1]) else " - tests failing"
    return f" ({inner[0].rpartition('/')[2].upper()} phase{seen})"


def _mark(status: str) -> str:
    if status in lifecycle.FINISHED:
        return DONE
    return STOPPED if status in lifecycle.STUCK else COMING if status == lifecycle.PENDING else RUNNING


def _position(state: State) -> str:
    at, task = _at(state)
    if not at:
        return "the end"
    if not task:
        return f"{at.upper()} phase" if at in _PHASES else state.plan.step(at).label
    name = f"Task {state.plan.step(task).id}"
    if at == task:
        return f"{name} (commit)" if state.plan.step(task).action else name
    return f"{name} ({_inner(at, task).upper()} phase)"


def _headline(state: State) -> str:
    at, task = _at(state)
    if task:
        listed = tasks.tasks(state)
        return f"Task {listed.index(task) + 1}/{len(listed)} - {state.plan.step(task).label}"
    return state.plan.step(at).label if at and at not in _PHASES else state.title or state.subject or state.id


def _where(state: State) -> list[str]:
    at, task = _at(state)
    phase = _inner(at, task) if task else at
    if phase in _PHASES:
        return [f"Phase: {phase.upper()} ({_PHASES[phase]})"]
    if task:
        return ["Phase: COMMIT (holdfast done)"] if state.plan.step(task).action else []
    pending = _pending(state)
    if _tasks_done(state) and pending:
        return [f"All tasks complete. Pending: {', '.join(pending)}"]
    return [f"Phase: {clean(phase)}"] if phase else []


def _pending(state: State) -> list[str]:
    """Checks of the phases that have not passed, in order; the last of them as people call it."""
    found = []
    for path in state.plan.children(""):
        progress = state.step(path)
        for check in state.plan.step(path).checks if progress.status not in lifecycle.FINISHED else ():
            evidence = progress.evidence.get(check.name)
            if not check.test and (evidence is None or not evidence.passed):
                found.append("pr" if check.name == "pr_created" else check.name)
    return found


def _tasks_done(state: State) -> bool:
    listed = state.plan.of_kind(tasks.TASK)
    return bool(listed) and all(state.step(task).status in lifecycle.FINISHED for task in listed)


def _at(state: State) -> tuple[str, str]:
    """The current step, and the task it belongs to; empty where there is none."""
    at = queries.current(state) or ""
    return at, tasks.task_of(state, at)


def _inner(at: str, task: str) -> str:
    return at[len(task) + 1 :] if at != task else ""


def _newest(state: State, paths: tuple[str, ...]) -> tuple[Evidence, str] | None:
    """The newest run of a test among these steps, and what the test had to do."""
    found = [
        (state.step(path).evidence[check.name], check.test)
        for path in paths
        for check in state.plan.step(path).checks
        if check.test and check.name in state.step(path).evidence
    ]
    return max(found, key=lambda pair: pair[0].at, default=None)


def _run(evidence: Evidence, test: str) -> list[str]:
    if evidence.tests_passed(test):
        count, seen = evidence.data.get("count"), provenance.how(evidence)
        passed = f"  {DONE} {count} passed" if count else f"  {DONE} passed"
        return [f"{passed}, {seen}" if seen else passed]
    failing = [str(name) for name in evidence.data.get("failing") or ()]
    named = [name.rpartition("::")[2] or name for name in failing] or [evidence.detail or "failed"]
    return [f"  ❌ {clean(name)}" for name in named[:10]] + ([f"  … {len(named) - 10} more"] if named[10:] else [])


TEXTS = Texts(
    task=task,
    signal=signal,
    summary=summary,
    question=question,
    resumed=lambda state, now: f"{_banner(state, now)}\n{sentence(state)}\n",
    sentence=sentence,
)
