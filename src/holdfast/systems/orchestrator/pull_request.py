"""What the pull request of a run says: what was reached, and how anybody knows."""

from __future__ import annotations

from _collections_abc import Iterator, Mapping

from holdfast.core import gates, lifecycle, moment
from holdfast.core.state import HELD, State
from holdfast.core.tasks import COMMIT, TASK
from holdfast.core.value import Any
from holdfast.plain.terminal import escape
from holdfast.systems.orchestrator import words
from holdfast.systems.orchestrator.rules import supervision
from holdfast.systems.orchestrator.task_document.model import POST_TASK

MOST_SHOWN = 20


def body(state: State) -> str:
    """Goal, tasks with their criteria, what was skipped, the whole, milestones and what the supervisor found."""
    goal = escape(str(state.context.get("goal") or ""), lines=True).strip()
    parts = [goal, "\n".join(_phases(state)), "\n".join(_whole(state)), "\n".join(_milestones(state))]
    parts += [_unclear(state), "\n".join(_interventions(state)), _bounds(state)]
    name = str(_document(state)).rpartition("/")[2]
    parts.append(f"From the task document `{escape(name)}`." if name else "")
    return "\n\n".join(part for part in parts if part) + "\n"


def _document(state: State) -> Any:
    return state.context.get("task_doc") or state.subject


def _phases(state: State) -> Iterator[str]:
    for phase in words.phases(state):
        yield f"### {escape(state.plan.step(phase).label)}{_skipped(state, phase)}"
        yield ""
        for path in (one for one in state.plan.children(phase) if state.plan.step(one).kind == TASK):
            step, progress = state.plan.step(path), state.step(path)
            sha = str(progress.data.get(COMMIT) or "")
            done = progress.status == lifecycle.DONE
            said = f" ({sha[:7]})" if sha and done else ""
            if not done:
                why = f": {progress.reason}" if progress.reason else ""
                said = f" – **{progress.status}**{escape(why)}"
            yield f"- [{'x' if done else ' '}] {step.id} {escape(step.label)}{said}"
            yield from _criteria(state, path, "  ")
        yield from _criteria(state, phase, "")
        yield ""


def _whole(state: State) -> Iterator[str]:
    found = list(_criteria(state, words.REVIEW, "")) if words.REVIEW in state.plan else []
    left_out = _skipped(state, words.REVIEW)
    if found or left_out:
        yield f"### As a whole{left_out}"
        yield ""
        yield from found


def _skipped(state: State, path: str) -> str:
    """That a phase or the review was skipped, and why; empty where it was not."""
    progress = state.step(path)
    if progress.status != lifecycle.SKIPPED:
        return ""
    return f" – **skipped**{escape(f': {progress.reason}') if progress.reason else ''}"


def _unclear(state: State) -> str:
    """The files that several tasks may have changed: no task is credited with them."""
    files = sorted({name for names in words.unclear(state).values() for name in names})
    more = f" and {len(files) - MOST_SHOWN} more" if len(files) > MOST_SHOWN else ""
    named = ", ".join(f"`{escape(name)}`" for name in files[:MOST_SHOWN])
    return f"Nothing tells which task these files are of: {named}{more}." if files else ""


def _bounds(state: State) -> str:
    """That bounds were extended while the run was under way, and what they are now."""
    times = sum(entry.get("event") == "extended" for entry in state.history)
    if not times:
        return ""
    cost, time, tries = state.bounds.max_cost, state.bounds.max_time, state.bounds.max_iterations
    now = [moment.money(cost)] if cost else []
    now += [moment.span(time)] if time else []
    now += [f"{tries} tries per task"] if tries else []
    return f"Bounds were extended {times} time{'' if times == 1 else 's'}; they are now {', '.join(now)}."


def _criteria(state: State, path: str, indent: str) -> Iterator[str]:
    """Each with how it was found to hold: what was run is proof, what was reported is somebody's word."""
    progress = state.step(path)
    for check in state.plan.step(path).checks:
        seen = progress.evidence.get(check.name)
        met = seen is not None and seen.passed and seen.attempt == progress.attempt
        how = "not seen to hold"
        if met and seen:
            how = "claimed" if seen.claimed else "run" if seen.run_by == "engine" else "reported"
        held = ", already passed before the work" if check.name in progress.data.get(HELD, ()) else ""
        yield f"{indent}- {escape(check.text or check.name)} ({how}{held})"


def _milestones(state: State) -> Iterator[str]:
    found = {phase: str(state.step(phase).data.get("issue_url") or "") for phase in words.phases(state)}
    listed = [f"- {escape(state.plan.step(phase).label)}: {escape(url)}" for phase, url in found.items() if url]
    if listed:
        yield from ("### Milestones", "", *listed)


def _interventions(state: State) -> Iterator[str]:
    kept = supervision(state)
    if not kept.enabled and not kept.checks:
        return
    yield "### Supervisor"
    yield ""
    counted = ((kept.checks, "check"), (kept.conflicts, "conflict"), (kept.re_plans, "re-plan"))
    yield f"{', '.join(f'{many} {what}' + ('' if many == 1 else 's') for many, what in counted)}."
    yield from _not_made(state)
    for one in [*kept.interventions][-MOST_SHOWN:]:
        yield f"- {_intervention(one)}"


def _not_made(state: State) -> Iterator[str]:
    """The checks that the document asks for and that were not made of tasks that are done."""
    done = [path for path in state.plan.of_kind(TASK) if state.step(path).status == lifecycle.DONE]
    for check in supervision(state).frequency:
        of_work = check == POST_TASK
        left = [path for path in done if not gates.is_supervised(state.step(path), check, of_work=of_work)]
        named = ", ".join(state.plan.step(path).id for path in left[:MOST_SHOWN])
        more = f" and {len(left) - MOST_SHOWN} more" if len(left) > MOST_SHOWN else ""
        if left:
            yield f"- {check} was asked for and not made of {escape(named)}{more}"


def _intervention(one: Mapping[str, str]) -> str:
    task = f"{one['task']}: " if one.get("task") else ""
    return escape(f"{task}{one.get('conflict_type')} → {one.get('action')}: {one.get('resolution')}")
