"""The page about passkeys, and what its script and that of an approval ask the server for."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import policies
from holdfast.core.statement import APPROVE, REJECT
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.machine import approvers
from holdfast.machine.approvers import Lists
from holdfast.machine.known_approvers import UNSEEN, looked
from holdfast.project import wiring
from holdfast.project.project import Project
from holdfast.surfaces.ceremony import Asked, Ceremony
from holdfast.surfaces.web import acting, gathered
from holdfast.surfaces.web.acting import Fields, Missing
from holdfast.surfaces.web.forms import Given, policy_of
from holdfast.surfaces.web.gathered import Seen
from holdfast.surfaces.web.layout import Shell, items, refused, section
from holdfast.surfaces.web.markup import Markup, el, joined, spaced

Said = dict[str, Any]


def body(project: Project, shell: Shell, origin: str) -> Markup:
    """The keys in force, each with what removes it, and a form that makes another one."""
    wired = project.wired
    lists = Lists(wired.place, wired.settings.config_dir)
    found, lost = approvers.read(lists.counting), None
    try:
        wiring.prover(wired.place, wired.settings, wired.store).list()
    except HoldfastError as wrong:
        lost = refused(wrong, project.scope().replace(person=True))
    can_change = not (shell.read_only or lists.is_fixed or lost)
    rows = []
    for key in found.now:
        elsewhere = "" if key.origin == origin else f"made at {key.origin}, and approves nothing here"
        rows.append(
            joined(
                spaced(
                    el("strong", key.name),
                    el("span", f"{key.kept}, since {key.since[:10]}", class_="faint"),
                    el("span", elsewhere, class_="warn") if elsewhere else None,
                ),
                _removing(key.name) if can_change else None,
            )
        )
    listed = el("p", "The list is in ", el("code", found.path), ".", class_="faint")
    fixed = el("p", "Only the owner of this machine changes it.", class_="faint") if lists.is_fixed else None
    about = el(
        "p",
        "A passkey signs exactly what a page showed you. An agent cannot do that, and anybody can verify it later: ",
        el("code", "holdfast verify", class_="command"),
    )
    return joined(
        el("h1", "Passkeys"),
        lost,
        about,
        section(
            "Keys that approve", items(rows), listed, fixed, empty="There is none yet: the first one begins the list."
        ),
        section("Make a passkey", _making(first=not found.lines), id="make") if can_change else None,
    )


def changes(project: Project, *, is_opened: bool) -> tuple[str, ...]:
    """What happened to the lists since a person looked at them; who opens the page has looked."""
    wired = project.wired
    told = [one.message.removesuffix(UNSEEN) for one in wired.changed_approvers()]
    if told and is_opened:
        looked(wired.approvers, wired.settings.data_dir)
    return tuple(f"{one[:1].upper()}{one[1:]}." for one in told)


def _making(*, first: bool) -> Markup:
    then = "" if first else "A key of the list has to sign it, so you are asked twice."
    return el(
        "form",
        el("p", el("label", "Its name, such as whose it is and where", for_="key-name"),
           el("input", type="text", name="name", id="key-name", required=True, maxlength=64, autocomplete="off")),
        el("p", then, class_="faint") if then else None,
        _needs_script(),
        el("div", el("button", "Make it", type="submit", class_="primary", disabled=True), class_="act"),
        data_passkey="/passkeys/enrol",
        method="post",
        id="form-enrol",
    )  # fmt: skip


def _removing(name: str) -> Markup:
    return el(
        "form",
        el("input", type="hidden", name="name", value=name),
        el("div", el("button", f"Remove {name}", type="submit", disabled=True), class_="act"),
        data_passkey="/passkeys/remove",
        method="post",
    )


def _needs_script() -> Markup:
    return el("p", "Passkeys need a script, which this browser did not run.", class_="why needs-script")


def barred(project: Project, one: Seen, path: str, origin: str) -> str:
    """Why a step cannot be decided by a click here; empty where a click is enough, or a passkey of this page is."""
    policy = policy_of(one, path)
    if not policies.asks_for_proof(policy):
        return ""
    if not policies.takes(policy, "passkey"):
        return "This step takes a signature, which is made at a terminal."
    wired = project.wired
    try:
        known = wiring.prover(wired.place, wired.settings, wired.store).list()
    except HoldfastError as wrong:
        return f"{wrong.message[:1].upper()}{wrong.message[1:]}."
    has_key = any(key.origin == origin for key in known.now)
    return "" if has_key else "This step takes a passkey, and none was made here yet: see Passkeys."


def ask(project: Project, ceremony: Ceremony, ulid: str, fields: Fields) -> Said:
    """What a person is asked to sign about a step, if the page that they look at shows it as it is."""
    workflow, given = project.workflow(ulid), Given("decide", fields)
    path = workflow.path(given.value("step"))
    view, changed = acting.as_shown(project, workflow, path, given)
    if changed:
        return {"said": "This changed after you opened the page. Look again.", "changed": list(changed)}
    decision = REJECT if given.value("decision") == "reject" else APPROVE
    try:
        feedback = acting.complete(view, given, is_approval=decision == APPROVE)
    except Missing as missing:
        return {"said": f"{missing.said[:1].upper()}{missing.said[1:]}.", "at": missing.field}
    asked = ceremony.ask(
        workflow, path, decision, shown=view.digest(), variant=given.value("variant"), feedback=feedback
    )
    return _asked(asked)


def answer(project: Project, ceremony: Ceremony, sent: Mapping[str, Any]) -> tuple[str, str]:
    """Takes the answer of a browser: what is said of that, and the workflow."""
    workflow = ceremony.answer(project, str(sent.get("nonce") or ""), sent.get("answer"))
    return f"Your passkey signed it. {gathered.who_notices(workflow)}", workflow.ulid


def enrol(project: Project, ceremony: Ceremony, fields: Fields) -> Said:
    return {**_asked(ceremony.enrol(project, dict(fields).get("name", "").strip())), "make": True}


def enrolled(project: Project, ceremony: Ceremony, sent: Mapping[str, Any]) -> Said:
    """The first key begins the list; for another one, a key of the list is asked to sign it."""
    asked = ceremony.enrolled(project, str(sent.get("nonce") or ""), sent.get("answer"))
    return {"next": "/passkeys"} if asked is None else _asked(asked)


def remove(project: Project, ceremony: Ceremony, fields: Fields) -> Said:
    return _asked(ceremony.remove(project, dict(fields).get("name", "")))


def change(project: Project, ceremony: Ceremony, sent: Mapping[str, Any]) -> Said:
    ceremony.change(project, str(sent.get("nonce") or ""), sent.get("answer"))
    return {"next": "/passkeys"}


def _asked(asked: Asked) -> Said:
    times = f"You are asked about this for the {asked.count}th time." if asked.count > _SEVERAL else ""
    return {"nonce": asked.nonce, "options": dict(asked.options), "statement": asked.statement, "note": times}


_SEVERAL = 3
"""How often a step may be asked about before it is said."""


def refusal(wrong: HoldfastError) -> Said:
    return {"said": f"{wrong.message[:1].upper()}{wrong.message[1:]}.", "code": wrong.code}
