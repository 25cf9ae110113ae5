"""What the forms do: each goes through the workflow, as the person whose browser was let in."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import commands as cmd
from holdfast.core import lifecycle, moment, refusals
from holdfast.core.names import optional_text
from holdfast.core.value import Value
from holdfast.errors import HoldfastError
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces import approving
from holdfast.surfaces.web import approve_page, forms, gathered, journal
from holdfast.surfaces.web.forms import Given
from holdfast.surfaces.web.layout import refused
from holdfast.surfaces.web.markup import Markup, el

Fields = tuple[tuple[str, str], ...]


class Done(Value):
    """What came of a form: a sentence for the next page, or what is shown again with why nothing was done."""

    said: str = ""
    given: Given | None = None
    changed: tuple[str, ...] = ()
    """What happened since the page was made, where that is why."""
    page: str = ""
    """The step whose page it came from."""


def act(project: Project, ulid: str, action: str, fields: Fields) -> Done:
    """Does what a form asks for. What was done by the same form before is not done again."""
    workflow = project.workflow(ulid)
    given = Given(action, fields)
    step = given.value("step") if action == "decide" else ""
    if given.value("key") in workflow.state.keys:
        return Done("This was done already.", page="")
    try:
        for name, value in fields:
            optional_text(value.strip(), name, forms.LONGEST)
        if action == "decide":
            return _decide(project, workflow, given)
        known = _ACTIONS.get(action)
        if known is None:
            return Done(given=given.replace(wrong=_wrong(f"there is no action {action[:40]}")))
        changed = _since(workflow, given)
        if changed:
            return Done(given=given.replace(wrong=_changed_since(changed)), changed=changed)
        return Done(known(workflow, given))
    except Missing as missing:
        return Done(given=given.replace(wrong=_wrong(missing.said), at=missing.field), page=step)
    except HoldfastError as wrong:
        scope = project.scope(workflow.ulid).replace(person=True)
        return Done(given=given.replace(wrong=refused(wrong, scope)), page=step)


class Missing(Exception):
    """Something is missing in the form: where, and what is said about it."""

    def __init__(self, field: str, said: str) -> None:
        super().__init__(said)
        self.field, self.said = field, said


def _decide(project: Project, workflow: Workflow, given: Given) -> Done:
    """Takes a decision about exactly what the page showed."""
    path = workflow.path(given.value("step"))
    view, changed = as_shown(project, workflow, path, given)
    if changed:
        return Done(given=given.replace(fields=_without(given, approve_page.SEEN)), changed=changed, page=path)
    is_approval = given.value("decision") == "approve"
    feedback = complete(view, given, is_approval=is_approval)
    if is_approval:
        return Done(_approve(workflow, path, view, given, feedback))
    return Done(_send_back(workflow, path, given, feedback))


def as_shown(project: Project, workflow: Workflow, path: str, given: Given) -> tuple[approving.View, tuple[str, ...]]:
    """What there is to decide about, and what is not as the page showed it."""
    view = approve_page.shown(project, gathered.seen(workflow), path)
    if given.value("shown") == view.digest() and approving.is_ready(workflow, path):
        return view, ()
    differing = approve_page.differing(view, given.value(approve_page.FILES))
    return view, (*differing, *_since(workflow, given)) or ("the checks of this step, or what it builds on",)


def complete(view: approving.View, given: Given, *, is_approval: bool) -> str:
    """The feedback, if nothing is missing in the form."""
    feedback = given.value("feedback").strip()
    if not is_approval and not feedback:
        raise Missing("feedback", "say what should be different: the agent gets it with the step")
    ticked = {value for name, value in given.fields if name == approve_page.SEEN}
    if is_approval and any(one.name not in ticked for one in approve_page.elsewhere(view)):
        raise Missing(approve_page.SEEN, "a file is not shown whole: look at it elsewhere, and tick it")
    if is_approval and view.asks_variant and not given.value("variant"):
        raise Missing("variant", "choose a variant")
    return feedback


def _approve(workflow: Workflow, path: str, view: approving.View, given: Given, wish: str) -> str:
    workflow.require_decidable()
    shown, heard = approving.hashes(workflow, path), gathered.who_notices(workflow)
    workflow.execute(cmd.Approve(path, given.value("variant"), shown=shown), key=given.value("key"))
    if wish:
        workflow.note(wish, path)
    return f"{view.label} is approved. {heard}"


def _send_back(workflow: Workflow, path: str, given: Given, feedback: str) -> str:
    workflow.require_decidable()
    heard = gathered.who_notices(workflow)  # who waits is gone soon after
    if workflow.state.step(path).status == lifecycle.DONE:
        workflow.reopen(path, feedback, key=given.value("key"))
    else:
        workflow.reject(path, feedback, key=given.value("key"))
    return f"{path} goes back with your feedback. {heard}"


def _since(workflow: Workflow, given: Given) -> tuple[str, ...]:
    """What happened since the page was made."""
    written = given.value("revision")
    revision = int(written) if written.isascii() and written.isdigit() and len(written) < 10 else 0
    if revision == workflow.state.revision:
        return ()
    return tuple(journal.since(workflow, revision))[-10:]


def _without(given: Given, name: str) -> Fields:
    return tuple(one for one in given.fields if one[0] != name)


def _wrong(said: str) -> Markup:
    return el("p", f"{said[:1].upper()}{said[1:]}.", class_="alert", role="alert")


def _changed_since(changed: tuple[str, ...]) -> Markup:
    told = el("p", "This changed after you opened the page, and nothing was done. Look again, then repeat it:")
    return el("div", told, el("ul", *(el("li", one) for one in changed)), class_="alert", role="alert")


def _resume(workflow: Workflow, given: Given) -> str:
    workflow.resume(given.value("step"), key=given.value("key"))
    return f"{workflow.id} continues. {gathered.who_notices(workflow)}"


def _pause(workflow: Workflow, given: Given) -> str:
    reason = given.value("reason").strip()
    if not reason:
        raise Missing("reason", "say why: agents are told it")
    workflow.pause(reason, key=given.value("key"))
    return f"{workflow.id} is paused."


def _cancel(workflow: Workflow, given: Given) -> str:
    workflow.cancel(given.value("reason").strip(), key=given.value("key"))
    return f"{workflow.id} is cancelled."


def _unblock(workflow: Workflow, given: Given) -> str:
    path = workflow.path(given.value("step"))
    if workflow.state.step(path).status not in lifecycle.STUCK:
        raise refusals.wrong_status(workflow.state, workflow.facts(), path, "resumed", ())
    workflow.unblock(path, given.value("guidance").strip(), key=given.value("key"))
    return f"{path} continues. {gathered.who_notices(workflow)}"


def _extend(workflow: Workflow, given: Given) -> str:
    read: Mapping[str, Callable[[str], int | None]] = {
        "cost": moment.read_money,
        "time": lambda text: moment.read_span(int(text) if text.isascii() and text.isdigit() else text),
        "iterations": lambda text: int(text) if text.isascii() and text.isdigit() and len(text) < 5 else None,
    }
    found: dict[str, int] = {}
    for name, reading in read.items():
        text = given.value(name).strip()
        number = reading(text) if text else 0
        if number is None or (text and number <= 0):
            raise Missing(name, f"{text[:40]} is no amount of {name}")
        found[name] = number
    if not any(found.values()):
        raise Missing(next(iter(read)), "say how much more")
    workflow.extend(**found, key=given.value("key"))
    return f"The bounds of {workflow.id} are extended."


_ACTIONS: Mapping[str, Callable[[Workflow, Given], str]] = {
    "resume": _resume,
    "pause": _pause,
    "cancel": _cancel,
    "unblock": _unblock,
    "extend": _extend,
}
