"""What people read: the state of a workflow, what comes next, lists and figures. Clock and disk come in as facts."""

from __future__ import annotations

from _collections_abc import Callable, Iterable, Mapping, Sequence

from holdfast.core import lifecycle, limits, moment, queries, remedies
from holdfast.core.apply import Record
from holdfast.core.briefing import LEFT, NEWEST_NOTES, Briefing, alert_text, people_of
from holdfast.core.moment import ago
from holdfast.core.remedy import ANYWHERE, Remedy, Scope, Telling, told, typed
from holdfast.core.value import Any
from holdfast.plain.terminal import Style, bar, clip, columns, escape, pad, paint, wrap
from holdfast.surfaces.tree import TreeView

_Onward = Callable[[Sequence[Remedy]], str]
_Row = tuple[str, Callable[[str], str], str]

WIDEST = 100
"""On a wider terminal the right column would be too far from its names."""
UNCUT = 1000
"""Lines of a text that is shown whole."""
_LABEL = 8
_SAID = 12
"""Columns that the step and what it waits for need, where a workflow is told in one line."""
_LINES, _ALERT_LINES = 3, 12
"""What an edit became is told field by field, so it has more room."""


def status(brief: Briefing, style: Style, width: int = 80, *, scope: Scope = ANYWHERE, tell: Telling = told) -> str:
    """The whole picture: headline, tree, what blocks it, and what people should know."""
    width = max(40, min(width, WIDEST))
    onward: _Onward = lambda ways: tell(ways, scope)  # noqa: E731
    blocks = [_headline(brief, style, width), TreeView(brief.state, brief.facts, style, width).lines()]
    blocks += [_now(brief, style, width, scope, onward), _around(brief, style, width, onward)]
    return _joined(blocks)


def in_short(brief: Briefing, style: Style, scope: Scope, width: int | None = None, where: str = "") -> str:
    """A workflow in one line: the step, what it waits for, and the command. Without a width, nothing is left out.

    Else the step and what it waits for are cut, then another command is named, then none: no command is ever cut.
    """
    first, state = brief.first, brief.state
    status = brief.shown_of(brief.step) if brief.step else ""
    mark = paint(style, status)(lifecycle.MARKS[status]) if status else style.green("✓")
    at = f" · {brief.step}" if brief.step else ""
    said = escape(where + at + (f": {first.message}" if first else ": all steps are done"))
    way = told(brief.now, scope) if brief.now else ""
    if width is not None:
        room = width - 2 - columns(escape(state.id)) - len("  ()")
        theirs = "agent" if scope.person else "person"
        own = [one for one in brief.now if one.who != theirs]
        others = [told([one], scope) for one in (*own, remedies.next_step())] if way else []
        fitting = [one for one in others if one and columns(escape(one)) + _SAID <= room]
        if columns(said) + columns(escape(way)) > room:
            way = fitting[0] if fitting else ""
        said = clip(said, room - columns(escape(way)) if way else room + len("  ()"))
    return f"{mark} {style.bold(escape(state.id))}{said}{'  ' + style.dim(f'({escape(way)})') if way else ''}\n"


def _joined(blocks: Iterable[list[str]]) -> str:
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _headline(brief: Briefing, style: Style, width: int) -> list[str]:
    state, now = brief.state, brief.facts.now
    shown = brief.shown_status.replace("_", " ")
    title = clip(escape(brief.title), width - columns(shown) - 2)
    gap = " " * (width - columns(title) - columns(shown))
    out = [f"{style.bold(title)}{gap}{style.bold(paint(style, brief.shown_status)(shown))}"]
    facts_shown = [
        f"{brief.number}/{brief.total}",
        f"{brief.finished_percent}% done",
        moment.span(limits.elapsed(state, now)),
    ]
    if state.bounds.max_cost:
        spent = "cost not measured here" if state.is_cost_unknown else moment.money(state.spent)
        facts_shown.append(f"{spent} of {moment.money(state.bounds.max_cost)}")
    elif state.spent:
        facts_shown.append(moment.money(state.spent))
    out.append(f"{bar(style, brief.finished_percent)} {clip(' · '.join(facts_shown), width - 11)}")
    names = [state.id if brief.title != state.id else "", state.type]
    names += [f"branch {state.branch}" if state.branch else "", f"session {state.session}" if state.session else ""]
    out.append(style.dim(clip(escape(" · ".join(name for name in names if name)), width)))
    mark = state.cancelled or state.paused or state.finalized
    if mark:
        said = f"{brief.status} {ago(mark.at, now)} by {mark.by}" + (
            f": {mark.reason}" if mark.reason and not state.cancelled else ""
        )
        out += [style.yellow(line) for line in wrap(escape(said, lines=True), width, 2)]
    return out


def _now(brief: Briefing, style: Style, width: int, scope: Scope, onward: _Onward) -> list[str]:
    """What blocks it, and the one command that leads on; for the current step and for others that are open."""
    state = brief.state
    if state.finished_at and not state.cancelled:
        return [f"{style.green(pad('Now', _LABEL))}all steps are done", *_left(brief, style, width, scope, onward)]
    out: list[str] = []
    for path in _shown(brief):
        label = style.bold(style.cyan(pad("Now" if not out else "Also", _LABEL)))
        unmet = brief.blockers if path == brief.step else brief.blockers_of(path)
        name = "" if brief.stopped else f"{_name(brief, path)}: "
        more = f" (and {len(unmet) - 1} more)" if len(unmet) > 1 else ""
        # The tree shows why a step is still, and the headline why the workflow is paused.
        is_whole = unmet[0].kind == "check" or state.cancelled
        message = unmet[0].message if is_whole else unmet[0].ours
        said = wrap(escape(f"{name}{message}{more}", lines=True), width - _LABEL, 4)
        out += [(label if not n else " " * _LABEL) + line for n, line in enumerate(said)]
        out.append(" " * _LABEL + style.cyan(escape(onward(unmet[0].remedies))))
        own = () if scope.person else brief.for_person if path == brief.step else people_of([unmet[0].remedies])
        out += [f"{' ' * _LABEL}For a person: {style.cyan(escape(typed(one, scope)))}" for one in own]
    more_open = 0 if brief.stopped else len({*brief.begun} - {*_shown(brief)})
    if more_open:
        out.append(" " * _LABEL + style.dim(f"… {more_open} more open"))
    return out


def _left(brief: Briefing, style: Style, width: int, scope: Scope, onward: _Onward) -> list[str]:
    """What is left to do of a workflow whose steps are all done, and who does it."""
    if brief.first is None:
        return []
    told = [line for one in brief.blockers for line in wrap(escape(one.message, lines=True), width - _LABEL, 4)]
    own = () if scope.person else brief.for_person
    return [
        *(" " * _LABEL + line for line in told),
        " " * _LABEL + style.cyan(escape(onward(brief.now))),
        *(f"{' ' * _LABEL}For a person: {style.cyan(escape(typed(one, scope)))}" for one in own),
    ]


def _shown(brief: Briefing) -> list[str]:
    """The steps whose blockers are told: the current one, and two others that are open."""
    others = [] if brief.stopped else [path for path in brief.begun if path != brief.step]
    return [*([brief.step] if brief.step else []), *others[:2]]


def _name(brief: Briefing, path: str) -> str:
    label = brief.state.plan.step(path).label
    return path if label == brief.state.plan.step(path).id else f"{path} ({label})"


def _around(brief: Briefing, style: Style, width: int, onward: _Onward) -> list[str]:
    """Agents, bounds, alerts and notes, each with its label."""
    state, facts = brief.state, brief.facts
    rows: list[_Row] = []
    if queries.is_outdated(state, facts):
        why, ways = queries.outdated_because(state, facts)
        rows.append(("Alerts", style.red, f"⚠ {why} ({onward(ways)})"))
    for lease in state.leases.values():
        where = f" on {lease.step}" if lease.step else ""
        where += f" in {lease.worktree}" if lease.worktree else ""
        gone = lease.expired(facts.boot, facts.mono)
        text = f"{lease.role}{where}, since {ago(lease.at, facts.now)}" + (", stale: its lease ran out" if gone else "")
        rows.append(("Agents", style.yellow if gone else str, text))
    for usage in limits.usages(state, facts.now):
        if usage.percent >= limits.WARN_AT[0] and not state.finished_at:
            colour = style.red if usage.percent >= limits.WARN_AT[1] else style.yellow
            text = f"{usage.percent} % of the {usage.bound} is used: {usage.used_text} of {usage.limit_text}"
            rows.append(("Bounds", colour, text))
    tried = ((path, state.bounds.max_iterations or 0) for path in queries.open_steps(state))
    rows += [
        ("Bounds", style.yellow, f"{path} is at its last of {limit} attempts")
        for path, limit in tried
        if 1 < limit <= state.counted_tries(path)
    ]
    own = {check.uses for check in state.plan.step(brief.step).checks} if brief.step else set()
    used = [one for one in brief.commands if one.command or one.uses in own] if queries.is_active(state) else []
    rows += [("Command", str, one.text) for one in used]
    rows += [("Alerts", style.red, f"⚠ {ago(alert.at, facts.now)}: {alert_text(alert)}") for alert in brief.alerts]
    left = "work that an agent left and nobody merged"
    rows += [("Left", style.yellow, f"{one.step}: {left} ({typed(one.back)})") for one in brief.left_work]
    rows += [("Decided", str, text) for text in brief.decided]
    rows += [("Asked", str, text) for text in brief.asked]
    same = [text for text in brief.unchanged if text not in brief.same]  # said of the step already
    told = {"Wrong": brief.violations, "Stress": brief.emphasis, "Same": same}
    rows += [(label, str, text) for label, texts in told.items() for text in texts]
    shown = {(path, brief.blockers_of(path)[0].name) for path in _shown(brief)}
    failed = brief.failed(lambda one: one.stands or (one.step, one.check) in shown)
    rows += [("Failed", str, text) for text in failed]
    return _labelled([*rows, *_proof(brief), *_kept(brief)], style, width)


def _kept(brief: Briefing) -> list[_Row]:
    """Skipped steps, reminders, and the newest notes, the newest first."""
    skipped: list[_Row] = [("Skipped", str, f"{path}, {said}") for path, said in brief.skipped.items()]
    reminders: list[_Row] = [("Remind", str, text) for text in brief.state.reminders]
    return [*skipped, *reminders] + [
        ("Notes", str, f"{note['text']} — {note['by']}, {ago(note['at'], brief.facts.now)}")
        for note in brief.state.notes[: -NEWEST_NOTES - 1 : -1]
    ]


def _claimed(brief: Briefing, style: Style) -> list[_Row]:
    return [("Claimed", style.yellow, text) for text in brief.also_claimed] + _proof(brief)


def _proof(brief: Briefing) -> list[_Row]:
    return [("Proof", str, text) for text in brief.proof]


def _labelled(rows: Sequence[_Row], style: Style, width: int) -> list[str]:
    out, before = [], ""
    for label, colour, text in rows:
        most = _ALERT_LINES if label == "Alerts" else _LINES
        is_word = " " not in text  # such as a path, which is copied: it is not cut
        lines = [escape(text)] if is_word else wrap(escape(text, lines=True), width - _LABEL, most)
        for n, line in enumerate(lines):
            head = pad(label if label != before and not n else "", _LABEL)
            out.append(style.dim(head) + colour(line))
        before = label
    return out


def next_step(brief: Briefing, style: Style, width: int = 80, *, scope: Scope = ANYWHERE, tell: Telling = told) -> str:
    """The current step: what the work is, what its gates ask, what was decided and went wrong, what to do now."""
    width = max(40, min(width, WIDEST))
    path = brief.step
    if path is None:
        done = f"{style.green('✓')} {escape(brief.title)}: all steps are done"
        left = _left(brief, style, width, scope, lambda ways: tell(ways, scope))
        return "\n".join([done, *left, *_labelled(_claimed(brief, style), style, width)]) + "\n"
    agents, task = brief.state.plan.step(path).agents, brief.task
    view = TreeView(brief.state, brief.facts, style, width)
    shown = brief.shown_of(path)
    right = " · ".join(w for w in (shown.replace("_", " "), brief.tries) if w)
    title = clip(escape(brief.label), width - columns(right) - 2)
    gap = " " * (width - columns(title) - columns(right))
    head = [f"{style.bold(title)}{gap}{paint(style, shown)(right)}"]
    head.append(style.dim(clip(escape(f"{path} · step {brief.number} of {brief.total} of {brief.title}"), width)))
    blocks = [head, wrap(escape(task.text, lines=True), width, UNCUT)]
    around = [
        ("From", str, task.file),
        ("Files", str, ", ".join(task.files)),
        ("Agents", str, ", ".join(agents)),
        ("Beside", str, ", ".join(brief.beside)),
    ]
    blocks.append(_labelled([row for row in around if row[2]], style, width))
    inputs = [f"{one.name}  → {one.path}{f', {one.changed}' if one.changed else ''}" for one in brief.inputs]
    meanings = [f"{one.name}: {one.about}" for one in brief.conditions if one.about]
    commands = [f"check {one.name}: {one.command}" for one in brief.conditions if one.command]
    criteria = [*view.gates(path, "  "), *_items([*meanings, *task.criteria, *commands], width)]
    blocks += [
        _block("It builds on", _items(inputs, width), style),
        _block("It is done when these hold", criteria, style),
        _block("What has to hold at the end", _items(task.at_end, width), style),
        _block(LEFT, [f"  {style.cyan(escape(typed(one.back)))}" for one in brief.left_here], style),
        _block("What was decided", _items(brief.decided, width), style),
        _block("Changes asked for", _items(brief.asked, width), style),
        _block("The last try violated", _items(brief.violations, width), style),
        _block("Stress in this try", _items(brief.emphasis, width), style),
        _block("Unchanged", _items(brief.unchanged, width), style),
        _block("What failed, newest first", _items(brief.failures, width, "↳ "), style),
        _block("Do not do again", _items(brief.avoid, width), style),
        _labelled([*_claimed(brief, style), *_kept(brief)], style, width),
    ]
    why = wrap(escape(brief.lacks, lines=True), width, UNCUT)
    ways = dict.fromkeys(tell(way, scope) for way in brief.ways)
    own = () if scope.person else brief.for_person
    later = {
        "Now": ways,
        "For a person": [typed(one, scope) for one in own],
        "When the work is done": [tell((brief.hand_in,), scope)] if brief.hand_in else [],
    }
    blocks += [_block("Asked for now, and no gate", _items(task.asked, width), style), why]
    blocks += [_block(name, [f"  {style.cyan(escape(one))}" for one in told_], style) for name, told_ in later.items()]
    if brief.after:
        blocks.append([style.dim(clip(escape(f"After it: {_name(brief, brief.after)}"), width))])
    return _joined(blocks)


def _block(heading: str, lines: list[str], style: Style) -> list[str]:
    return [style.bold(heading), *lines] if lines else []


def _items(texts: Iterable[str], width: int, mark: str = "") -> list[str]:
    out = []
    for text in texts:
        lines = wrap(escape(text, lines=True), width - 2 - len(mark), UNCUT)
        out += [f"  {mark if not n else ' ' * len(mark)}{line}" for n, line in enumerate(lines)]
    return out


def listing(entries: Iterable[Mapping[str, Any]], style: Style, width: int | None, now: str) -> str:
    """A table of workflows, one line each. What does not fit is left out, or a title cut; without a width, nothing is.

    An id is never cut, as commands take it: a long one among short ones is above the rest of its row.
    """
    rows, wide = _fitting(list(entries), now, width)
    out = [style.dim("  ".join(pad(name, wide[name]) for name in wide).rstrip())]
    for row in rows:
        if columns(row["ID"]) > wide["ID"]:
            out.append(row["ID"])
            row["ID"] = ""
        cells = {name: pad(clip(row[name], wide[name]), wide[name]) for name in wide}
        if "STATUS" in cells:
            cells["STATUS"] = paint(style, row["STATUS"].replace(" ", "_"))(cells["STATUS"])
        out.append("  ".join(cells.values()).rstrip())
    return "\n".join(out) + "\n"


_OWN_LINE = 2
"""An id that takes more than this part of a terminal has a line of its own, above the rest of its row."""


def _fitting(
    entries: Sequence[Mapping[str, Any]], now: str, width: int | None
) -> tuple[list[dict[str, str]], dict[str, int]]:
    """The cells of each row, and how wide each column is that is shown."""
    rows = [_cells(entry, now, named_steps=True) for entry in entries]
    wide = _widths(rows)
    if width is None:
        return rows, wide
    if _total(wide) > width:
        rows = [_cells(entry, now, named_steps=False) for entry in entries]
        wide = _widths(rows)
    short = [own for row in rows if (own := columns(row["ID"])) <= width // _OWN_LINE]
    if _total(wide) > width and short:
        wide["ID"] = max(short)
    whole = wide["TITLE"]
    for left_out, least in (("", _TITLE), ("TYPE", _TITLE), ("UPDATED", _TITLE), ("BRANCH", _NARROWEST), ("DONE", 0)):
        wide.pop(left_out, None)
        wide["TITLE"] = max(min(whole, least), min(whole, width - _total({**wide, "TITLE": 0})))
        if _total(wide) <= width:
            break
    if _total(wide) > width or wide["TITLE"] < min(whole, _NARROWEST):
        wide.pop("TITLE")
    for left_out in ("STEP", "STATUS"):
        if _total(wide) > width:
            wide.pop(left_out)
    return rows, wide


def _widths(rows: Sequence[Mapping[str, str]]) -> dict[str, int]:
    return {name: max(columns(name), *(columns(row[name]) for row in rows)) for name in rows[0]}


def _total(wide: Mapping[str, int]) -> int:
    """What the columns take, with the space between them."""
    return sum(wide.values()) + 2 * (len(wide) - 1)


def _cells(entry: Mapping[str, Any], now: str, named_steps: bool) -> dict[str, str]:
    text = {name: "" if value is None else escape(str(value)) for name, value in entry.items()}
    step = f"{text['current_step']}/{text['total_steps']}"
    if named_steps:
        step = f"{step} {text['current_step_name']}".rstrip()
    return {
        "ID": text["workflow_id"],
        "TYPE": text["workflow_type"],
        "STATUS": text["detail"].replace("_", " "),
        "STEP": step,
        "DONE": f"{text['finished_percentage']}%",
        "UPDATED": ago(entry["updated_at"], now) if entry["updated_at"] else "",
        "BRANCH": text["branch"],
        "TITLE": text["title"] or text["subject"],
    }


_TITLE, _NARROWEST = 24, 12
"""How many columns a title keeps while others can be left out, and after that; with fewer, it is left out."""


def log(records: Iterable[Record], style: Style, width: int = 80, before: Record | None = None) -> str:
    """The timeline of a workflow, one command after the other; of what follows `before`, or from its beginning."""
    from holdfast.surfaces import timeline

    return "".join(f"{line}\n" for line in timeline.lines(records, style, width, before))


def metrics_table(figures: Mapping[str, Any], style: Style) -> str:
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
    return "\n".join(out) + "\n"
