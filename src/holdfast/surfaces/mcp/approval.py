"""Approval by asking: where the host can show a form, the person sees what they approve and answers for themselves."""

from __future__ import annotations

from _collections_abc import Mapping

from mcp import types

from holdfast.core import commands as cmd
from holdfast.core import gates, policies, refusals, remedies
from holdfast.core.value import Any
from holdfast.errors import UsageError
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces import approving
from holdfast.surfaces.mcp import asking as asking_
from holdfast.surfaces.mcp.asking import Question
from holdfast.surfaces.mcp.picture import picture
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.tools.convention import approved_answer

APPROVE, CHANGES = "approve", "ask for changes"
MOST_CHANGED = 2000
"""How many characters of JSON a person is shown as the changes they are said to want."""


class Approval:
    """`guarded`: only those who were let in can ask and answer, so that a person's word may come this way."""

    name = "approval"

    def __init__(self, projects: Projects, *, guarded: bool) -> None:
        self._projects = projects
        self._guarded = guarded

    def question(self, project: Project, given: Mapping[str, Any], *, asking: bool) -> Question | None:
        """Nobody is asked where only a signature counts, or where something else is missing too, which is then said."""
        if not given["approved"]:
            return None
        workflow = project.workflow(given["workflow_id"])
        path = workflow.path(str(given["step"]))
        policy = gates.policy(workflow.state.plan.step(path))
        if policies.asks_for_proof(policy):
            return None
        if not approving.is_ready(workflow, path):
            if policy == "human":
                wired = self._projects.of_person().wired
                wired.preview(workflow.state, cmd.Approve(path))
            return None
        if not asking or (policy == "human" and not self._guarded):
            return None
        changes = _shown_whole(given.get("modifications") or {})
        shown = approving.hashes(workflow, path)
        message = picture(project, workflow, path, shown, changes)
        schema = _schema(workflow, path, given.get("selected_variant", ""))
        return Question(path, message, schema, _seal(workflow, path, shown, changes), shown)

    def decided(
        self, given: Mapping[str, Any], question: Question, answer: types.ElicitResult, seal: str
    ) -> dict[str, Any]:
        """Does what the person said; a no without a wish changes nothing."""
        path, said = question.about, asking_.said(answer)
        decision = said.get("decision")
        if decision not in (APPROVE, CHANGES):
            own = remedies.approve(path, text="a person can also type")
            facts = {"step": path, "action": answer.action}
            raise asking_.undecided(f"{path} was not approved", answer.action, own, facts)
        project = self._projects.of_person()
        workflow = project.workflow(given["workflow_id"])
        changes = given.get("modifications") or {}
        if _seal(workflow, path, approving.hashes(workflow, path), changes) != seal:
            raise refusals.changed_meanwhile(path)
        wish = str(said.get("feedback") or "")
        if decision == CHANGES:
            workflow.execute(cmd.Reject(path, wish or "changes were asked for", changes))
        else:
            workflow.execute(cmd.Approve(path, str(said.get("variant") or ""), changes, shown=question.shown))
            if wish:
                workflow.note(wish, path)
        return approved_answer(workflow, path)


def _schema(workflow: Workflow, path: str, variant: str) -> dict[str, Any]:
    step = workflow.state.plan.step(path)
    fields = asking_.choice(APPROVE, CHANGES)
    if not step.choice:
        return asking_.schema(fields)
    options = list(step.choice.options)
    chosen = {"default": variant} if variant and (not options or variant in options) else {}
    listed = {"enum": options} if options else {"maxLength": 64}
    fields["variant"] = {"type": "string", "title": "Variant", **listed, **chosen}
    return asking_.schema(fields, "variant")


def _shown_whole(changes: Mapping[str, Any]) -> Mapping[str, Any]:
    """The changes, if the form has room for all of them: what is not shown cannot be agreed to."""
    if len(compact(dict(changes))) > MOST_CHANGED:
        said = f"approve_step: modifications has more than {MOST_CHANGED} characters, which no person can be shown"
        way = "write them into a file that is an artifact of the step, and name here what matters most"
        raise UsageError("bad_arguments", said, remedy=way, facts={"tool": "approve_step", "most": MOST_CHANGED})
    return changes


def _seal(workflow: Workflow, path: str, shown: Mapping[str, str], changes: Mapping[str, Any]) -> str:
    """What an answer is bound to: this step, in this attempt, with these files and changes."""
    progress = workflow.state.step(path)
    at = (progress.status, progress.attempt, progress.waiting_since)
    bound = [workflow.ulid, path, *at, dict(sorted(shown.items())), compact(dict(changes))]
    return digest(compact(bound).encode())
