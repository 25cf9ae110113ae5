"""What people read: where a workflow stands, what comes next, lists and figures. Clock and disk come in as facts."""

from __future__ import annotations

from _collections_abc import Callable, Iterable, Mapping, Sequence

from holdfast.core import answers, lifecycle, moment, queries, remedies
from holdfast.core.answers import NEWEST_NOTES
from holdfast.core.commands import Facts
from holdfast.core.gates import Unmet
from holdfast.core.remedy import ANYWHERE, Scope, told
from holdfast.core.state import State
from holdfast.plain.terminal import Style, clip, columns, escape, pad, to_ascii, wrap
from holdfast.surfaces.tree import TreeView, age, ago, paint, tries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.core.apply import Record

    _Row = tuple[str, Callable[[str], str], str]

WIDEST = 100
"""On a wider terminal the right column would be too far from its names."""
ALERTS_FOR = 24 * 3600
_LABEL = 8


def status(
    state: State, facts: Facts, style: Style, width: int = 80, *, unicode: bool = True, scope: Scope = ANYWHERE
) -> str:
    """The whole picture: headline, tree, what is in the way, and what people should know."""
    width = max(40, min(width, WIDEST))
    blocks = [_headline(state, facts, style, width), TreeView(state, facts, style, width).lines()]
    blocks += [_now(state, facts, style, width, scope), _around(state, facts, style, width, scope)]
    return _finish("\n\n".join("\n".join(block) for block in blocks if block), unicode)


def _finish(text: str, unicode: bool) -> str:
    return (text if unicode else to_ascii(text)) + "\n"


def _headline(state: State, facts: Facts, style: Style, width: int) -> list[str]:
    word = queries.status(state)
    shown = word.replace("_", " ")
    title = clip(escape(_title(state)), width - columns(shown) - 2)
    gap = " " * (width - columns(title) - columns(shown))
    out = [f"{style.bold(title)}{gap}{style.bold(paint(style, word)(shown))}"]
    percent, total = queries.percentage(state), len(state.plan.children(""))
    filled = percent // 10
    bar = style.green("▰" * filled) + style.dim("▱" * (10 - filled))
    facts_shown = [f"{queries.top_number(state)}/{total}", f"{percent}%", _took(state, facts.now)]
    if state.bounds.max_cost:
        facts_shown.append(f"{moment.money(state.spent)} of {moment.money(state.bounds.max_cost)}")
    elif state.spent:
        facts_shown.append(moment.money(state.spent))
    out.append(f"{bar} {clip(' · '.join(facts_shown), width - 11)}")
    names = [state.id if state.title or state.subject else "", state.type]
    names += [f"branch {state.branch}" if state.branch else "", f"session {state.session}" if state.session else ""]
    out.append(style.dim(clip(escape(" · ".join(name for name in names if name)), width)))
    mark = state.cancelled or state.paused or state.finalized
    if mark:
        said = f"{word} {ago(mark.at, facts.now)} by {mark.by}" + (f": {mark.reason}" if mark.reason else "")
        out += [style.yellow(line) for line in wrap(escape(said, lines=True), width, 2)]
    return out


def _title(state: State) -> str:
    return state.title or state.subject or state.id


def _took(state: State, now: str) -> str:
    return moment.span(queries.elapsed(state, now))


def _now(state: State, facts: Facts, style: Style, width: int, scope: Scope) -> list[str]:
    """What is in the way, and the one command that clears it; for the current step and for others that are open."""
    if state.finished_at and not state.cancelled:
        return [f"{style.green(pad('Now', _LABEL))}all steps are done"]
    at = queries.current(state)
    begun = [p for p in state.plan.leaves() if state.step(p).status in lifecycle.STUCK | lifecycle.OPEN]
    begun.sort(key=lambda path: state.step(path).status == lifecycle.ACTIVE)
    whole = bool(state.cancelled or state.paused or any(usage.reached for usage in queries.usages(state, facts.now)))
    others = [] if whole else [path for path in begun if path != at]
    out: list[str] = []
    for path in [*([at] if at else []), *others[:2]]:
        label = style.bold(style.cyan(pad("Now" if not out else "Also", _LABEL)))
        unmet = _in_order(queries.blockers(state, path, facts))
        name = "" if whole else f"{_name(state, path)}: "
        more = f" (and {len(unmet) - 1} more)" if len(unmet) > 1 else ""
        # The tree shows why a step stands still; here it would be said twice.
        message = _STUCK.get(unmet[0].kind, unmet[0].message)
        said = wrap(escape(f"{name}{message}{more}", lines=True), width - _LABEL, 3)
        out += [(label if not n else " " * _LABEL) + line for n, line in enumerate(said)]
        out.append(" " * _LABEL + style.cyan(escape(told(unmet[0].remedies, scope))))
    if len(others) > 2:
        out.append(" " * _LABEL + style.dim(f"… {len(others) - 2} more open"))
    return out


_STUCK = {"blocked": "blocked", "failed": "failed", "escalated": "escalated to a person"}


def _in_order(unmet: Sequence[Unmet]) -> list[Unmet]:
    """Outputs are named with `done`, which only works once nothing else is missing."""
    return sorted(unmet, key=lambda one: one.kind == "output")


def _name(state: State, path: str) -> str:
    label = state.plan.step(path).label
    return path if label == state.plan.step(path).id else f"{path} ({label})"


def _around(state: State, facts: Facts, style: Style, width: int, scope: Scope) -> list[str]:
    """Agents, bounds, alerts and notes, each with its label."""
    rows: list[_Row] = []
    if queries.is_outdated(state, facts):
        why, ways = queries.outdated_because(state, facts)
        rows.append(("Alerts", style.red, f"⚠ {why} ({told(ways, scope)})"))
    for lease in state.leases.values():
        where = f" on {lease.step}" if lease.step else ""
        gone = lease.expired(facts.boot, facts.mono)
        text = f"{lease.role}{where}, since {ago(lease.at, facts.now)}" + (", stale: its lease ran out" if gone else "")
        rows.append(("Agents", style.yellow if gone else str, text))
    for usage in queries.usages(state, facts.now):
        if usage.percent >= queries.WARN_AT[0] and not state.finished_at:
            colour = style.red if usage.percent >= queries.WARN_AT[1] else style.yellow
            text = f"{usage.percent} % of the {usage.bound} is used: {usage.used_text} of {usage.limit_text}"
            rows.append(("Bounds", colour, text))
    limit = state.bounds.max_iterations
    rows += [
        ("Bounds", style.yellow, f"{path} is at its last of {limit} attempts")
        for path in queries.open_steps(state)
        if limit and 1 < limit <= state.step(path).attempt
    ]
    for alert in reversed(state.alerts):
        if (age(alert.at, facts.now) or 0) <= ALERTS_FOR:
            kept = f" (kept as {alert.kept})" if alert.kept else ""
            rows.append(("Alerts", style.red, f"⚠ {ago(alert.at, facts.now)}: {alert.message}{kept}"))
    return _labelled([*rows, *_notes(state, facts)], style, width)


def _notes(state: State, facts: Facts) -> list[_Row]:
    """The newest ones, the newest first."""
    return [
        ("Notes", str, f"{note['text']} — {note['by']}, {ago(note['at'], facts.now)}")
        for note in state.notes[: -NEWEST_NOTES - 1 : -1]
    ]


def _labelled(rows: Sequence[_Row], style: Style, width: int) -> list[str]:
    out, before = [], ""
    for label, colour, text in rows:
        for n, line in enumerate(wrap(escape(text, lines=True), width - _LABEL, 3)):
            head = pad(label if label != before and not n else "", _LABEL)
            out.append(style.dim(head) + colour(line))
        before = label
    return out


def next_step(
    state: State, facts: Facts, style: Style, width: int = 80, *, unicode: bool = True, scope: Scope = ANYWHERE
) -> str:
    """The current step for whoever does it: what it is, what its gates ask, what went wrong before, what to type."""
    width = max(40, min(width, WIDEST))
    path = queries.current(state)
    if path is None:
        return _finish(f"{style.green('✓')} {escape(_title(state))}: all steps are done", unicode)
    step, progress = state.plan.step(path), state.step(path)
    view = TreeView(state, facts, style, width)
    right = " · ".join(w for w in (progress.status.replace("_", " "), tries(step, progress)) if w)
    title = clip(escape(step.label), width - columns(right) - 2)
    gap = " " * (width - columns(title) - columns(right))
    head = [f"{style.bold(title)}{gap}{paint(style, progress.status)(right)}"]
    top = f"step {queries.top_number(state)} of {len(state.plan.children(''))} of {_title(state)}"
    head.append(style.dim(clip(escape(f"{path} · {top}"), width)))
    blocks = [head, wrap(escape(step.description, lines=True), width, 12)]
    if step.agents:
        blocks.append([f"{style.dim(pad('Agents', _LABEL))}{escape(', '.join(step.agents))}"])
    changed = answers.modifications(state, path)
    if changed:
        said = [f"  {escape(f'{name}: {value}')}" for name, value in changed.items()]
        blocks.append([style.bold("Changed with the approval"), *said])
    asks = view.gates(path, "  ")
    if asks:
        blocks.append([style.bold("It is done when these hold"), *asks])
    unmet = _in_order(queries.blockers(state, path, facts))
    blocks += [_lessons(state, path, style, width), _labelled(_notes(state, facts), style, width)]
    ways = [one.remedies for one in unmet]
    if progress.status in (lifecycle.PENDING, lifecycle.ACTIVE) and unmet[0].kind not in ("mark", "bound", "requires"):
        ways += [] if any(way[0].command == "done" for way in ways) else [(remedies.done(path),)]
    why = "" if unmet[0].kind in queries.READY else unmet[0].message
    lines = dict.fromkeys(told(way, scope) for way in ways)
    typed = [f"  {style.cyan(escape(line))}" for line in lines]
    blocks.append([style.bold("Type"), *(f"  {line}" for line in wrap(escape(why, lines=True), width - 2, 3)), *typed])
    after = queries.next_step(state)
    if after:
        blocks.append([style.dim(clip(escape(f"After it: {_name(state, after)}"), width))])
    return _finish("\n\n".join("\n".join(block) for block in blocks if block), unicode)


def _lessons(state: State, path: str, style: Style, width: int) -> list[str]:
    """What earlier tries and reviews said, the newest last."""
    progress = state.step(path)
    told = [*(one.reason for one in progress.tries), *progress.feedback]
    stands = progress.reason if progress.status in lifecycle.STUCK else ""
    said = list(dict.fromkeys(text for text in told if text and text not in stands))
    out = []
    for text in said[-3:]:
        lines = wrap(escape(text, lines=True), width - 4, 6)
        out += [f"  {'↳ ' if not n else '  '}{line}" for n, line in enumerate(lines)]
    return [style.bold("What earlier tries taught"), *out] if out else []


def listing(entries: Iterable[Mapping[str, Any]], style: Style, width: int, now: str, *, unicode: bool = True) -> str:
    """A table of workflows. What does not fit beside goes on a line of its own under the row."""
    known = list(entries)
    if not known:
        return _finish("no workflows", unicode)
    rows = [_cells(entry, now, named_steps=True) for entry in known]
    wide = _widths(rows)
    if sum(wide) > width:
        rows = [_cells(entry, now, named_steps=False) for entry in known]
        wide = _widths(rows)
    fixed = sum(wide[:-1])
    beside = len(_HEADS) if fixed + _NARROWEST_TITLE <= width else 5
    wide = [max(0, wide[n] - 2) for n in range(len(wide))]
    wide[-1] = max(0, width - fixed)
    if beside == 5:
        wide[0] = max(12, min(wide[0], width - sum(wide[1:5]) - 8))
    out = [style.dim("  ".join(pad(head, wide[n]) for n, head in enumerate(_HEADS[:beside])).rstrip())]
    for row in rows:
        cells = [pad(clip(cell, wide[n]), wide[n]) for n, cell in enumerate(row[:beside])]
        cells[2] = paint(style, row[2].replace(" ", "_"))(cells[2])
        out.append("  ".join(cells).rstrip())
        rest = " · ".join(word for word in (row[6], row[5]) if word)
        if beside == 5 and rest:
            out.append(style.dim(clip(f"    {rest}", width)))
    return _finish("\n".join(out), unicode)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """What each column takes, the space after it included."""
    return [min(most, max(columns(row[n]) for row in [_HEADS, *rows])) + 2 for n, most in enumerate(_MOST)]


def _cells(entry: Mapping[str, Any], now: str, named_steps: bool) -> list[str]:
    text = {name: "" if value is None else escape(str(value)) for name, value in entry.items()}
    step = f"{text['current_step']}/{text['total_steps']}"
    if named_steps:
        step = f"{step} {text['current_step_name']}".rstrip()
    when = ago(entry["updated_at"], now) if entry["updated_at"] else ""
    status = text["detail"].replace("_", " ")
    title = text["title"] or text["subject"]
    return [text["workflow_id"], text["workflow_type"], status, step, when, text["branch"], title]


_HEADS = ["ID", "TYPE", "STATUS", "STEP", "UPDATED", "BRANCH", "TITLE"]
_NARROWEST_TITLE = 12
_MOST = [40, 16, 12, 24, 8, 16, WIDEST]


def log(records: Iterable[Record], style: Style, width: int = 80, *, unicode: bool = True) -> str:
    """The timeline of a workflow, one command after the other."""
    from holdfast.surfaces import timeline

    return _finish("\n".join(timeline.lines(records, style, width)), unicode)


def metrics_table(figures: Mapping[str, Any], style: Style, *, unicode: bool = True) -> str:
    rest = {"human_approval_time_seconds": "Waiting for people", "paused_seconds": "Paused"}
    plain = {
        "retry_count": "Retries",
        "reopened": "Reopened",
        "agent_calls": "Agents started",
        "parallel_executions": "In parallel",
        "checks_run": "Checks run",
        "checks_failed": "Checks failed",
        "reviews": "Reviews",
        "compactions": "Compactions",
        "cost": "Cost",
        "revisions": "Revisions",
    }
    steps = [
        (f"  {one['step']}. {escape(str(one['name']))}", moment.span(one["duration_seconds"]))
        for one in figures["step_times"]
    ]
    rows = [("Time", moment.span(figures["total_time_seconds"])), *steps]
    rows += [(label, moment.span(figures[name])) for name, label in rest.items()]
    rows += [(label, str(figures[name])) for name, label in plain.items()]
    wide = min(50, max(columns(label) for label, _ in rows))
    right = max(len(value) for _, value in rows)
    out = [style.bold(escape(str(figures["workflow_id"])))]
    out += [f"  {pad(clip(label, wide), wide)}  {style.cyan(f'{value:>{right}}')}" for label, value in rows]
    return _finish("\n".join(out), unicode)


def relative(seconds: float) -> str:
    """`just now`, `4 minutes ago`, `3 weeks ago`."""
    for unit, size in _UNITS if seconds >= 5 else ():
        many = int(seconds // size)
        if many >= 1:
            return f"{many} {unit}{'s' if many > 1 else ''} ago"
    return "just now"


_UNITS = (
    *(("year", 31_536_000), ("month", 2_592_000), ("week", 604_800)),
    *(("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)),
)
