"""The page of one workflow: the steps, what comes now, what was made, checked and decided, and what a person may do."""

from __future__ import annotations

from _collections_abc import Iterator, Sequence

from holdfast.core import conditions, lifecycle, limits, moment, queries
from holdfast.core.briefing import Briefing, alert_text
from holdfast.core.drawing.svg import Picture
from holdfast.core.remedy import Scope
from holdfast.errors import HoldfastError
from holdfast.machine.place import Place
from holdfast.plain.terminal import Style
from holdfast.project.project import Project
from holdfast.surfaces import approving, handed
from holdfast.surfaces.tree import TreeView
from holdfast.surfaces.web import gathered, journal
from holdfast.surfaces.web.gathered import Seen
from holdfast.surfaces.web.layout import (
    Shell,
    badge,
    folded,
    items,
    lines,
    mark,
    progress,
    section,
    ways,
)
from holdfast.surfaces.web.markup import Markup, el, joined, spaced

_OF_PEOPLE = ("approval", "choice")
NOTES = 20
DECISIONS = 30
_LINES = 40
"""How many revisions of the journal are shown here; its own page has more."""
_FILES = 30
"""How many files are shown with what is new in them."""


def body(project: Project, one: Seen, shell: Shell, actions: Markup, *, contents: bool = True) -> Markup:
    brief, state = one.brief, one.brief.state
    scope = project.scope(state.ulid).replace(person=True)
    main = joined(
        section("Now", _now(one, scope, shell), id="now"),
        section("Files", _files(project.wired.place, one, contents=contents), id="files"),
        section("Checks", _checks(brief), id="checks"),
        section("Reviews", _reviews(brief), id="reviews"),
        section("Decisions", _decisions(brief), id="decisions"),
        section("Changes asked for", items(brief.asked), id="feedback"),
        section("What failed", items(brief.all_failures), id="failures"),
    )
    beside = joined(
        section("Steps", tree(brief), id="steps"),
        section("Diagram", _picture(one, shell, "steps"), id="diagram"),
        section("Budget", _budget(brief), id="budget"),
        section("Agents", _agents(brief), id="agents"),
        section("Notes", _notes(brief), id="notes"),
    )
    newest = journal.newest(one.workflow, most=_LINES)
    return joined(
        _head(one, shell),
        _alerts(brief, scope),
        el("div", el("div", beside, class_="beside"), el("div", main, class_="middle"), class_="columns"),
        section("Timeline", _picture(one, shell, "timeline"), id="timeline"),
        section("Journal", journal.part(one, newest, shell), id="journal"),
        actions,
    )


def _head(one: Seen, shell: Shell) -> Markup:
    brief, state = one.brief, one.brief.state
    names = [state.id if state.id != brief.title else "", state.type, f"branch {state.branch}" if state.branch else ""]
    decisions = [each for each in gathered.asked([one]) if each.is_decision]
    link = shell.link(decisions[0].link) if decisions else None
    stopped = state.cancelled or state.paused or state.finalized
    why = f"{brief.status} {moment.ago(stopped.at, brief.facts.now)} by {stopped.by}" if stopped else ""
    why += f": {stopped.reason}" if stopped and stopped.reason else ""
    return el(
        "div",
        el(
            "div",
            el("h1", brief.title),
            el("p", spaced(badge(brief.shown_status), *(el("span", said) for said in gathered.figures(brief)))),
            el("p", " · ".join(filter(None, names)), class_="faint"),
            el("p", why, class_="why") if why else None,
        ),
        el("a", "Review and approve", href=link, class_="button primary") if link else None,
        progress(brief.finished_percent, f"{brief.finished_percent} % of the steps are done"),
        class_="head",
    )


def _alerts(brief: Briefing, scope: Scope) -> Markup:
    found = [f"{moment.ago(alert.at, brief.facts.now)}: {alert_text(alert)}" for alert in brief.alerts]
    told = [el("p", one) for one in found]
    if queries.is_outdated(brief.state, brief.facts):
        why, onward = queries.outdated_because(brief.state, brief.facts)
        told += [el("p", why), ways(onward, scope)]
    told += [el("p", said) for said in brief.also_claimed]
    return el("div", *told, class_="alert", role="alert") if told else Markup("")


def _picture(one: Seen, shell: Shell, name: str) -> Markup:
    """A picture that is fetched for itself, so that the page does not wait for it; in a copy it is inside."""
    state = one.brief.state
    if name == "timeline" and not any(state.step(path).attempt for path in state.plan.paths):
        return Markup("")
    if shell.is_copy:
        inside: Markup = Markup(drawn(one, name).fragment(name))
    else:
        src = f"{one.link}/{name}.svg?revision={state.revision}"
        inside = el("img", src=src, alt=_ALT[name])
    return el("div", inside, class_="picture", tabindex=0, role="region", aria_label=_ALT[name])


_ALT = {
    "timeline": "What happened when, as a picture; the journal tells the same in words",
    "steps": "The steps and what follows what, as a picture; the list of steps tells the same",
}


def drawn(one: Seen, name: str) -> Picture:
    """The picture itself; these draw nothing that the journal and the state do not say."""
    if name == "timeline":
        from holdfast.core.drawing.timeline import timeline

        return timeline(one.workflow.history(0, one.brief.state.revision), one.brief.facts.now)
    from holdfast.core.drawing.steps import steps

    return steps(one.brief.state)


def _now(one: Seen, scope: Scope, shell: Shell) -> Markup:
    """What the first blockers are and who clears them, then what follows."""
    brief, plan = one.brief, one.brief.state.plan
    run = "" if shell.is_copy else one.run
    if brief.first is None:
        return el("p", "All steps are done.")
    out = [el("p", run, class_="faint")] if run else []
    at = [brief.step] if brief.step else []
    for path in (*at, *(path for path in brief.begun if path != brief.step)):
        found = brief.blockers if path == brief.step else brief.blockers_of(path)
        name = plan.step(path).label
        asked = (found[0].of or path) if found and found[0].kind in _OF_PEOPLE else ""
        link = shell.link(f"{one.link}/approve/{asked}") if asked else None
        title = el("a", name, href=link) if link and asked == path else name
        other = el("p", el("a", f"Review {plan.step(asked).label}", href=link)) if link and asked != path else None
        task = brief.task_of(path).text
        out.append(
            joined(
                el(
                    "h3",
                    mark(brief.shown_of(path)),
                    " ",
                    title,
                    el("span", path if path != name else "", class_="faint path"),
                ),
                el("p", task, class_="task") if task and task != name else None,
                items([unmet.message for unmet in found]),
                other,
                ways(found[0].remedies, scope, is_here=bool(link)) if found else None,
            )
        )
    if not brief.step:
        out += [joined(el("p", unmet.message), ways(unmet.remedies, scope)) for unmet in brief.blockers]
    after = el("p", "Next: ", el("strong", plan.step(brief.after).label)) if brief.after else None
    return joined(*out, after)


def tree(brief: Briefing) -> Markup:
    """All steps; what is open shows its gates, and finished branches are folded."""
    return _level(brief, "", TreeView(brief.state, brief.facts, Style(enabled=False), 80))


def _level(brief: Briefing, above: str, view: TreeView) -> Markup:
    children = brief.state.plan.children(above)
    return el("ol", *(_step(brief, path, view) for path in children), class_="tree") if children else Markup("")


def _step(brief: Briefing, path: str, view: TreeView) -> Markup:
    plan, status = brief.state.plan, brief.shown_of(path)
    is_current, beside = path == brief.step, view.beside(path)
    line = el(
        "span",
        mark(status),
        el("span", plan.step(path).label, class_="label"),
        None if status in beside else el("span", status.replace("_", " "), class_="unseen"),
        el("span", beside, class_="faint beside-step"),
        class_=f"line {'current' if is_current else ''} {'quiet' if status in ('pending', 'skipped') else ''}".strip(),
    )
    below = _level(brief, path, view)
    is_open = status in lifecycle.OPEN | lifecycle.STUCK
    gates = _gates(brief, path) if is_open else Markup("")
    if below and status in lifecycle.FINISHED:
        count = sum(plan.is_leaf(one) for one in plan.below(path))
        return el("li", folded(joined(line, el("span", f"{count} steps", class_="faint")), below, id=f"step-{path}"))
    return el("li", line, gates, below, aria_current="step" if is_current else None)


def _gates(brief: Briefing, path: str) -> Markup:
    found = conditions.of_step(brief.state, path, brief.facts)
    reason = brief.state.step(path).reason if brief.state.step(path).status in lifecycle.STUCK else ""
    rows = [
        joined(el("span", one.name, class_=f"gate g-{one.verdict}"), " ", el("span", one.text, class_="faint"))
        for one in found
    ]
    return joined(el("p", reason, class_="why") if reason else None, items(rows, "gates"))


def _files(place: Place, one: Seen, *, contents: bool) -> Markup:
    """The files of each step with what is new in them since they were last decided about."""
    state, rows = one.brief.state, []
    for path, shown in _handed(place, one):
        for file in shown.files:
            head = spaced(
                el("code", file.path),
                el("span", f"{file.name} of {state.plan.step(path).label}", class_="faint"),
                el("span", file.word, class_="warn") if file.word else None,
            )
            rows.append(
                folded(head, lines(file.told), id=f"file-{path}-{file.name}") if file.told and contents else head
            )
    return items(rows, "files")


def _handed(place: Place, one: Seen) -> Iterator[tuple[str, handed.Handed]]:
    left, state = _FILES, one.brief.state
    for path in state.plan.paths:
        if left > 0 and state.step(path).artifacts:
            try:
                hashes = approving.hashes(one.workflow, path)
                shown = handed.shown(place, one.workflow, path, hashes, left, room=handed.WHOLE)
            except HoldfastError as wrong:  # it is just being written
                shown = handed.Handed((handed.File(path, wrong.message, ""),))
            left -= len(shown.files)
            yield path, shown


def _checks(brief: Briefing) -> Markup:
    state, rows = brief.state, []
    for path in state.plan.paths:
        progress_ = state.step(path)
        shown = {one.name: one for one in conditions.of_step(state, path, brief.facts) if one.kind == "check"}
        for name, seen in progress_.evidence.items():
            known = shown.get(name)
            verdict = known.verdict if known else "passed" if seen.passed else "failed"
            said = known.text if known else seen.detail
            head = joined(
                el("span", verdict, class_=f"gate g-{verdict}"),
                " ",
                el("strong", name),
                el("span", f" of {state.plan.step(path).label} — {said}", class_="faint"),
            )
            more = [el("p", el("code", known.command))] if known and known.command else []
            output = el("pre", seen.tail, class_="output", tabindex=0) if seen.tail.strip() else None
            rows.append(folded(head, *more, output, id=f"check-{path}-{name}") if output else head)
    return joined(items(rows, "checks"), items(brief.proof))


def _reviews(brief: Briefing) -> Markup:
    state = brief.state
    rows = [
        joined(
            el(
                "span",
                one.verdict.replace("_", " "),
                class_=f"gate g-{'passed' if one.verdict == 'approved' else 'failed'}",
            ),
            f" {state.plan.step(path).label}, by {one.by}, {moment.ago(one.at, brief.facts.now)}",
            el("blockquote", one.feedback) if one.feedback else None,
        )
        for path in state.plan.paths
        for one in state.step(path).verdicts
    ]
    return items(rows)


def _decisions(brief: Briefing) -> Markup:
    """What people decided, who did and by which proof, then what is to be known of choices beyond that."""
    plan, now, rows = brief.state.plan, brief.facts.now, []
    for one in brief.rulings[:DECISIONS]:
        name = plan.step(one.step).label if one.step in plan else one.step
        about = " ".join(filter(None, (f"by {one.by}" if one.by else "", one.how)))
        when = el("span", moment.ago(one.at, now), title=one.at, class_="faint")
        head = spaced(el("strong", name) if name else None, el("span", one.said), el("span", about), when,
                      el("span", one.now, class_="warn") if one.now else None)  # fmt: skip
        rows.append(joined(head, el("blockquote", one.words) if one.words else None))
    beyond = [
        said for one, said in zip(brief.decisions, brief.decided, strict=True) if one.not_chosen or not one.variant
    ]
    return joined(items(rows), items(beyond))


def _budget(brief: Briefing) -> Markup:
    rows = []
    for usage in limits.usages(brief.state, brief.facts.now):
        said = f"{usage.bound}: {usage.used_text} of {usage.limit_text}"
        level = "spent" if usage.reached else "near" if usage.percent >= limits.WARN_AT[0] else ""
        bar = el("progress", max=100, value=min(100, usage.percent), aria_label=said, class_=level or None)
        rows.append(joined(el("span", said), bar))
    most = brief.state.bounds.max_iterations
    rows += [el("span", f"{most} tries of each step")] if most else []
    return items(rows, "budget")


def _agents(brief: Briefing) -> Markup:
    state, now = brief.state, brief.facts.now
    rows: list[Markup] = []
    for lease in state.leases.values():
        where = f" on {lease.step}" if lease.step else ""
        where += f" in {lease.worktree}" if lease.worktree else ""
        heard = gathered.heard(lease, brief)
        rows.append(joined(el("strong", lease.role), f"{where}, since {moment.ago(lease.at, now)}, {heard}"))
    rows += [joined(el("code", path), f" locked by {hold.agent}") for path, hold in state.locks.items()]
    return items(rows)


def _notes(brief: Briefing) -> Markup:
    notes: Sequence[Markup] = [
        joined(note["text"], el("span", f" {note['by']}, {moment.ago(note['at'], brief.facts.now)}", class_="faint"))
        for note in brief.state.notes[: -NOTES - 1 : -1]
    ]
    reminders = [joined(el("strong", "Remember: "), one) for one in brief.state.reminders]
    return items([*reminders, *notes])
