"""Forms that change something: plain ones, each beside the command that does the same."""

from __future__ import annotations

import secrets

from holdfast.core import gates, lifecycle, queries, remedies
from holdfast.core.briefing import Briefing
from holdfast.core.remedy import Remedy, Scope
from holdfast.core.value import Value
from holdfast.surfaces.web.gathered import Seen
from holdfast.surfaces.web.layout import command, folded
from holdfast.surfaces.web.markup import Child, Markup, el, joined, typed

LONGEST = 20_000
"""How long a text may be that a person writes here."""


class Given(Value):
    """What a person had sent when it could not be done: it is shown again, with why."""

    action: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    wrong: Markup = Markup("")
    """Why nothing was done."""
    at: str = ""
    """The field that it is about."""

    def value(self, name: str) -> str:
        return next((value for known, value in self.fields if known == name), "")


NOTHING = Given()


def form(
    one: Seen,
    action: str,
    *inside: Child,
    button: str,
    way: Remedy,
    scope: Scope,
    given: Given = NOTHING,
    step: str = "",
) -> Markup:
    """`way` is the command that does the same."""
    return el(
        "form",
        given.wrong if given.action == action and given.value("step") == step else None,
        hidden(one, step=step),
        *inside,
        el("div", el("button", button, type="submit"), command(way, scope), class_="act"),
        method="post",
        action=f"{one.link}/do/{action}",
        id=f"form-{action}{f'-{step}' if step else ''}",
    )


def hidden(one: Seen, **more: str) -> Markup:
    """The revision that the page shows, and a key by which a form that is sent twice is done once."""
    given = {"revision": str(one.brief.state.revision), "key": f"page-{secrets.token_hex(8)}", **more}
    return joined(*(el("input", type="hidden", name=name, value=value) for name, value in given.items() if value))


def field(
    name: str,
    label: str,
    *,
    id: str,
    given: Given = NOTHING,
    rows: int = 0,
    required: bool = False,
    hint: str = "",
    mode: str = "",
) -> Markup:
    """A text, of one line without `rows`. Where it is wrong, the focus is in it."""
    is_wrong = given.at == name
    common: dict[str, str | int | bool | None] = {
        "name": name,
        "id": id,
        "maxlength": LONGEST,
        "required": required,
        "autofocus": is_wrong,
        "aria_invalid": "true" if is_wrong else None,
        "aria_describedby": f"{id}-hint" if hint else None,
        "inputmode": mode or None,
        "autocomplete": "off",
    }
    written = typed(given.value(name))
    # the first line end of a text area is not part of its text
    box = (
        el("textarea", Markup(f"\n{written}"), rows=rows, **common)
        if rows
        else el("input", type="text", value=written, **common)
    )
    return el(
        "p", el("label", label, for_=id), box, el("span", hint, class_="faint", id=f"{id}-hint") if hint else None
    )


def actions(one: Seen, scope: Scope, given: Given = NOTHING) -> Markup:
    """What may be done with the whole workflow, and with steps that are stuck."""
    brief, state = one.brief, one.brief.state
    found: list[tuple[str, str, Markup]] = []
    if queries.is_active(state):
        found += [(path, f"Continue with {brief.state.plan.step(path).label}…", box)
                  for path, box in _stuck(one, scope, given)]  # fmt: skip
    if state.paused or state.cancelled:
        way = remedies.resume("")
        found.append(("resume", "Resume", form(one, "resume", button="Resume", way=way, scope=scope, given=given)))
    if queries.is_active(state) and not state.paused:
        reason = field("reason", "Why", id="pause-reason", given=_of(given, "pause"), required=True)
        way = Remedy("pause", {"reason": remedies.REASON})
        found.append(("pause", "Pause…", form(one, "pause", reason, button="Pause", way=way, scope=scope, given=given)))
    if queries.is_active(state) and _is_bounded(brief):
        found.append(("extend", "Extend…", _extend(one, scope, _of(given, "extend"))))
    if queries.is_active(state):
        reason = field("reason", "Why (may be empty)", id="cancel-reason", given=_of(given, "cancel"))
        way = remedies.cancel()
        box = form(one, "cancel", reason, button="Cancel the workflow", way=way, scope=scope, given=given)
        found.append(("cancel", "Cancel…", box))
    boxes = [
        folded(title, box, id=f"do-{name}", open=given.action == box_action(name), class_="action")
        for name, title, box in found
    ]
    return (
        el("section", el("h2", "Actions"), el("div", *boxes, class_="actions"), class_="part", id="actions")
        if (boxes)
        else Markup("")
    )


def box_action(name: str) -> str:
    return name if name in ("resume", "pause", "extend", "cancel") else "continue"


def _of(given: Given, action: str) -> Given:
    return given if given.action == action else NOTHING


def _is_bounded(brief: Briefing) -> bool:
    bounds = brief.state.bounds
    return bool(bounds.max_cost or bounds.max_time or bounds.max_iterations)


def _stuck(one: Seen, scope: Scope, given: Given) -> list[tuple[str, Markup]]:
    """Steps that a person sets going again: blocked or escalated with guidance, failed ones with a new try."""
    state, out = one.brief.state, []
    for path in one.brief.begun:
        status = state.step(path).status
        if status in (lifecycle.BLOCKED, lifecycle.ESCALATED):
            mine = given if given.action == "unblock" and given.value("step") == path else NOTHING
            guidance = field("guidance", "What to do about it", id=f"guidance-{path}", given=mine, rows=3)
            way = remedies.unblock(path, guided=True)
            box = form(one, "unblock", guidance, button="Continue", way=way, scope=scope, given=given, step=path)
            out.append((path, box))
        elif status == lifecycle.FAILED:
            way = remedies.resume(path)
            out.append((path, form(one, "resume", button="Try again", way=way, scope=scope, given=given, step=path)))
    return out


def _extend(one: Seen, scope: Scope, given: Given) -> Markup:
    bounds = one.brief.state.bounds
    fields = []
    if bounds.max_cost:
        fields.append(field("cost", "Dollars more", id="extend-cost", given=given, mode="decimal"))
    if bounds.max_time:
        fields.append(field("time", "Time more, such as 1h", id="extend-time", given=given))
    if bounds.max_iterations:
        fields.append(field("iterations", "Tries more", id="extend-iterations", given=given, mode="numeric"))
    bound = "cost" if bounds.max_cost else "time" if bounds.max_time else "iterations"
    way = remedies.extend(**{bound: remedies.MORE[bound]})
    return form(one, "extend", *fields, button="Extend", way=way, scope=scope, given=given)


def policy_of(one: Seen, path: str) -> str:
    return gates.policy(one.brief.state.plan.step(path))
