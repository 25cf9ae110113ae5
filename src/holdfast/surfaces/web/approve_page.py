"""The page on which a person decides about a step: what exactly it is, and Approve beside Send back."""

from __future__ import annotations

from _collections_abc import Sequence

from holdfast.core import gates, lifecycle, policies, remedies
from holdfast.core.gates import Unmet
from holdfast.core.remedy import Blank, Scope
from holdfast.errors import HoldfastError
from holdfast.project.project import Project
from holdfast.surfaces import approving, handed
from holdfast.surfaces.approving import View
from holdfast.surfaces.handed import File
from holdfast.surfaces.web import gathered
from holdfast.surfaces.web.forms import NOTHING, Given, field, hidden, policy_of
from holdfast.surfaces.web.gathered import Seen
from holdfast.surfaces.web.layout import Shell, badge, command, folded, items, lines, section, ways
from holdfast.surfaces.web.markup import Markup, el, joined, spaced

SEEN = "seen"
"""The name of the ticks at files that are not shown whole."""


def shown(project: Project, one: Seen, path: str) -> View:
    """What the page draws, and the digest of which a decision carries."""
    hashes = approving.hashes(one.workflow, path)
    return approving.view(project.wired.place, one.workflow, path, hashes, most=handed.MANY, room=handed.PAGE)


def elsewhere(view: View) -> list[File]:
    """The files of which the page does not show everything: who approves says that they looked at them elsewhere."""
    return [one for one in view.handed.files if not one.is_whole and one.hash]


FILES = "files"
"""The name of the field with the files that a page shows, each with the beginning of its hash."""
_HASHED = 16


def listed(view: View) -> str:
    return " ".join(f"{one.name}:{one.hash[:_HASHED]}" for one in view.handed.files)


def differing(view: View, before: str) -> list[str]:
    """Which files are not as in such a list."""
    known = dict(one.rpartition(":")[::2] for one in before.split()) if before else {}
    now = [one for one in view.handed.files if known.get(one.name) != one.hash[:_HASHED]] if before else []
    told = [f"{one.path} {'has other content' if one.hash else 'is missing'}" for one in now]
    here = {one.name for one in view.handed.files}
    return [*told, *(f"{name[:64]} is no longer handed in" for name in known if name not in here)]


def body(
    project: Project,
    one: Seen,
    path: str,
    shell: Shell,
    *,
    given: Given = NOTHING,
    changed: Sequence[str] = (),
    barred: str = "",
) -> Markup:
    """`barred` is why the step cannot be decided here.

    `changed` is what happened since the page was made from which a decision came that was not taken.
    """
    scope = project.scope(one.workflow.ulid).replace(person=True)
    view = shown(project, one, path)
    step = one.brief.state.plan.step(path)
    head = el(
        "div",
        el(
            "div",
            el("p", el("a", view.title, href=shell.link(one.link)), class_="crumb"),
            el("h1", view.label),
            el(
                "p",
                spaced(badge(one.brief.shown_of(path)), el("span", _at(one, path, view)), _since(one, path)),
            ),
        ),
        class_="head",
    )
    return joined(
        head,
        _changed(changed),
        el("p", f"It was escalated: {view.escalated}. To approve is to override that.", class_="alert")
        if view.escalated
        else None,
        section(
            "What this is about", el("p", step.description) if step.description else None, items(view.about), id="about"
        ),
        section("What you approve", _work(view, given), id="work"),
        section("Checks", _checks(view), id="checks"),
        section(
            "Reviews", items([*view.reviews, *(f"feedback before: {said}" for said in view.feedback)]), id="reviews"
        ),
        section("After this", _after(one, view), id="after"),
        _decision(one, path, view, scope, shell, given, barred),
    )


def _at(one: Seen, path: str, view: View) -> str:
    """The step and its attempt, and how often it was sent back, which begins no new attempt."""
    many = sum(back.get("step") == path and back.get("event") == "revised" for back in one.brief.state.history)
    times = f", sent back {'once' if many == 1 else f'{many} times'}" if many else ""
    return f"{path}, attempt {view.attempt}{times}"


def _since(one: Seen, path: str) -> Markup:
    state, now = one.brief.state, one.brief.facts.now
    waits = gathered.is_waiting_step(one.brief, path)
    return (
        el("span", f"waiting for {gathered.span(gathered.since(state, path), now)}", class_="faint")
        if waits
        else Markup("")
    )


def _changed(found: Sequence[str]) -> Markup:
    if not found:
        return Markup("")
    told = el("p", "This changed after you opened the page, and nothing was decided. Look again:")
    return el("div", told, items(list(found)), class_="alert", role="alert", id="changed")


def _work(view: View, given: Given) -> Markup:
    """Each file with its lines; of one that is not shown whole, its size and hash, and a tick."""
    found = view.handed
    if not found.files:
        rest = [line for line in found.lines() if line]
        return lines(rest) if len(rest) > 1 else el("p", *rest)
    out = [el("p", found.heading)] if found.heading else []
    for number, file in enumerate(found.files):
        head = spaced(
            el("strong", el("code", file.path)),
            el("span", file.name, class_="faint"),
            el("code", file.hash[:12], class_="faint", title="the hash of its content"),
            el("span", file.word, class_="warn") if file.word else None,
        )
        out.append(
            el(
                "div",
                el("h3", head),
                lines(file.told) if file.told else None,
                _tick(view, file, number, given),
                class_="file",
            )
        )
    more = el("p", f"and {found.left_out} more files", class_="warn") if found.left_out else None
    return joined(
        *out,
        more,
        lines(found.plan) if found.plan else None,
        el("p", found.rules, class_="alert") if found.rules else None,
    )


def _tick(view: View, file: File, number: int, given: Given) -> Markup | None:
    if file.is_whole or not file.hash:
        return None
    id = f"seen-{number}"
    box = el(
        "input", type="checkbox", name=SEEN, value=file.name, id=id, form="form-approve",
        checked=(SEEN, file.name) in given.fields,
        aria_invalid="true" if given.at == SEEN else None,
    )  # fmt: skip
    return el("p", box, " ", el("label", "I looked at all of it elsewhere", for_=id))


def _checks(view: View) -> Markup:
    rows = []
    for number, one in enumerate(view.checks):
        verdict = "passed" if one.is_good else "stale" if one.is_stale else "failed"
        head = el("span", one.said, class_=f"gate g-{verdict}")
        output = el("pre", one.output, class_="output", tabindex=0) if one.output.strip() else None
        rows.append(folded(head, output, id=f"output-{number}", open=verdict == "failed") if output else head)
    return joined(items(rows, "checks"), items(view.proof))


def _after(one: Seen, view: View) -> Markup:
    next_ = f"{view.after} begins." if view.after else "It is the last step."
    return joined(el("p", el("strong", next_)), el("p", gathered.who_notices(one.workflow)))


def _decision(one: Seen, path: str, view: View, scope: Scope, shell: Shell, given: Given, barred: str) -> Markup:
    """The form, where only the person's word is missing; else why there is none."""
    brief = one.brief
    if shell.read_only or shell.is_copy:
        way = gates.approving(brief.state.plan.step(path), path).replace(workflow=one.workflow.ulid)
        told = el(
            "p", "This page is read-only. ", f"{way.text}: " if way.text else "At a terminal: ", command(way, scope)
        )
        return section("Decide", told, id="decide")
    try:
        is_ready = approving.is_ready(one.workflow, path)
    except HoldfastError as wrong:
        return section("Decide", el("p", wrong.message), id="decide")
    if not is_ready:
        found = [_blocker(one, unmet, scope, shell) for unmet in brief.blockers_of(path)]
        return section("Decide", items(found) or el("p", "It is decided."), id="decide")
    return _form(one, path, view, scope, given, barred)


def _blocker(one: Seen, unmet: Unmet, scope: Scope, shell: Shell) -> Markup:
    """What is missing, and who clears it; where it is the approval of another step, the page of that one."""
    if unmet.kind != "approval" or not unmet.of:
        return joined(el("p", unmet.message), ways(unmet.remedies, scope))
    label = one.brief.state.plan.step(unmet.of).label
    link = el("a", f"Review {label}", href=shell.link(f"{one.link}/approve/{unmet.of}"))
    return joined(el("p", unmet.message), el("p", link))


def _form(one: Seen, path: str, view: View, scope: Scope, given: Given, barred: str) -> Markup:
    policy = policy_of(one, path)
    by_passkey = policies.asks_for_proof(policy) and not barred
    why = barred or _missing(one, path, view)
    about = el("p", why, class_="why", id="barred") if why else None
    hint = "The agent reads this. It is required to send the step back."
    return el(
        "form",
        el("h2", "Decide", class_="unseen"),
        given.wrong or None,
        hidden(one, step=path, shown=view.digest(), **{FILES: listed(view)}),
        _variants(view, given),
        field("feedback", "What should be different", id="feedback", given=given, rows=3, hint=hint),
        about,
        el("p", "A passkey needs a script.", class_="why needs-script") if by_passkey else None,
        _buttons(by_passkey=by_passkey, is_barred=bool(why), is_done=is_done(one, path)),
        _typed(one, path, view, scope, policy),
        method="post",
        action=f"{one.link}/do/decide",
        id="form-approve",
        class_="decision",
        data_passkey=f"{one.link}/ask" if by_passkey else None,
    )


def _missing(one: Seen, path: str, view: View) -> str:
    """Why nobody can approve what is not there; empty where every file is.

    Where its system says what a step hands in, a file that is gone is no longer a part of it.
    """
    gone = [file.path for file in view.handed.files if not file.hash]
    if not gone or one.workflow.facts().hand_ins.get(path) is not None:
        return ""
    verb = "is" if len(gone) == 1 else "are"
    return f"{', '.join(gone)} {verb} missing, and what is not there cannot be approved. You can send the step back."


def is_done(one: Seen, path: str) -> bool:
    """Whether the step was approved before: to send it back is to open it again, which takes no proof."""
    return one.brief.state.step(path).status == lifecycle.DONE


def _buttons(*, by_passkey: bool, is_barred: bool, is_done: bool) -> Markup:
    """Where a passkey signs, the script of the page lets them be pressed."""
    approve: dict[str, str | bool | None] = {
        "type": "submit",
        "name": "decision",
        "value": "approve",
        "class_": "primary",
        "disabled": is_barred or by_passkey,
        "aria_describedby": "barred" if is_barred else None,
    }
    named = "Approve with passkey" if by_passkey else "Approve"
    back = el("button", "Send back", type="submit", name="decision", value="reject", formnovalidate=True,
              disabled=by_passkey and not is_done, data_plain=is_done)  # fmt: skip
    return el("div", el("button", named, **approve), back, class_="act decide")


def _typed(one: Seen, path: str, view: View, scope: Scope, policy: str) -> Markup | None:
    """The commands that do the same; none where only a browser can."""
    if policy == "passkey":
        return None
    ulid, sign = one.workflow.ulid, Blank("KEY") if policies.asks_for_proof(policy) else ""
    approve = remedies.approve(path, variant=Blank("VARIANT") if view.asks_variant else "", sign=sign, workflow=ulid)
    reject = remedies.reject(path, workflow=ulid)
    if is_done(one, path):
        reject = remedies.reopen(path, workflow=ulid).given(feedback=remedies.TEXT)
    return el("p", "The same at a terminal: ", command(approve, scope), " or ", command(reject, scope), class_="faint")


def _variants(view: View, given: Given) -> Markup | None:
    """One radio each; where any name will do, a field."""
    if not view.asks_variant:
        return None
    if not view.options:
        return field("variant", "The name of your choice", id="variant", given=given, required=True)
    boxes = [
        el(
            "label",
            el(
                "input", type="radio", name="variant", value=name, required=True, checked=given.value("variant") == name
            ),
            " ",
            name,
        )
        for name in view.options
    ]
    return el(
        "fieldset",
        el("legend", "Which variant?"),
        *boxes,
        class_="variants",
        aria_invalid="true" if given.at == "variant" else None,
    )
