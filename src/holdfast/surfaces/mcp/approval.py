"""Approval by asking: where the host can show a form, the person sees what they approve and answers for themselves.

Hosts of the older protocol are asked while the call waits; those of the newer one are answered that input is required,
and call again with it. What was shown goes with the question, sealed, and is compared with what is there afterwards.
"""

from __future__ import annotations

from _collections_abc import Mapping

from mcp import types
from mcp.server import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from holdfast.core import commands as cmd
from holdfast.core import gates, refusals, remedies
from holdfast.core.value import Any, Value
from holdfast.errors import HoldfastError, UsageError
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact, parse
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces import approving
from holdfast.surfaces.mcp.picture import picture
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.tools.convention import approved_answer

ASKED = "approval"
"""The name under which the question and its answer travel."""
APPROVE, CHANGES = "approve", "ask for changes"
MOST_CHANGED = 2000
"""How many characters of JSON a person is shown as the changes they are said to want."""


class Question(Value):
    """What a person is asked, and what exactly their answer would be about."""

    path: str
    message: str
    schema: Mapping[str, Any]
    seal: str
    shown: Mapping[str, str]


class Approvals:
    """`guarded`: only those who were let in can ask and answer, so that a person's word may come this way."""

    def __init__(self, projects: Projects, *, guarded: bool) -> None:
        self._projects = projects
        self._guarded = guarded

    async def handled(
        self, ctx: Context[Any], params: types.CallToolRequestParams, given: Mapping[str, Any]
    ) -> dict[str, Any] | types.InputRequiredResult | None:
        """The outcome of asking the person; None where nobody is asked, and the agent's word is all there is."""
        if not given["approved"]:
            return None
        asking = can_ask(ctx)
        question = await self._projects.used(lambda project: self._question(project, given, asking=asking))
        if question is None:
            return None
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            answer, seal = _answered(params)
            if answer is None:
                return _asking(question)
        else:
            answer, seal = await _asked(ctx, question), question.seal
        decided = lambda: self._decided(given, question.path, answer, seal, question.shown)  # noqa: E731
        return await self._projects.worked(decided)

    def _question(self, project: Project, given: Mapping[str, Any], *, asking: bool) -> Question | None:
        """Nobody is asked where only a signature counts, or where something else is missing too, which is then said."""
        workflow = project.workflow(given["workflow_id"])
        path = workflow.path(str(given["step"]))
        policy = gates.policy(workflow.state.plan.step(path))
        if policy == "signed":
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

    def _decided(
        self, given: Mapping[str, Any], path: str, answer: types.ElicitResult, seal: str, shown: Mapping[str, str]
    ) -> dict[str, Any]:
        """Does what the person said; a no without a wish changes nothing."""
        said = dict(answer.content or {}) if answer.action == "accept" else {}
        decision = said.get("decision")
        if decision not in (APPROVE, CHANGES):
            raise _unanswered(path, answer.action)
        project = self._projects.of_person()
        workflow = project.workflow(given["workflow_id"])
        changes = given.get("modifications") or {}
        if _seal(workflow, path, approving.hashes(workflow, path), changes) != seal:
            raise refusals.changed_meanwhile(path)
        wish = str(said.get("feedback") or "")
        if decision == CHANGES:
            workflow.execute(cmd.Reject(path, wish or "changes were asked for", changes))
        else:
            workflow.execute(cmd.Approve(path, str(said.get("variant") or ""), changes, shown=shown))
            if wish:
                workflow.note(wish, path)
        return approved_answer(workflow, path)


def can_ask(ctx: Context[Any]) -> bool:
    """Whether the host can show a form. One that names no mode of asking means forms."""
    has = ctx.session.client_capabilities
    asking = has.elicitation if has else None
    if asking is None or (asking.form is None and asking.url is not None):
        return False
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS or ctx.session.can_send_request


def _schema(workflow: Workflow, path: str, variant: str) -> dict[str, Any]:
    step = workflow.state.plan.step(path)
    fields: dict[str, Any] = {
        "decision": {"type": "string", "title": "Decision", "enum": [APPROVE, CHANGES]},
        "feedback": {"type": "string", "title": "What should be different", "maxLength": 4000},
    }
    required = ["decision"]
    if step.choice:
        options = list(step.choice.options)
        chosen = {"default": variant} if variant and (not options or variant in options) else {}
        listed = {"enum": options} if options else {"maxLength": 64}
        fields["variant"] = {"type": "string", "title": "Variant", **listed, **chosen}
        required.append("variant")
    return {"type": "object", "properties": fields, "required": required}


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


def _asking(question: Question) -> types.InputRequiredResult:
    form = types.ElicitRequestFormParams(message=question.message, requested_schema=dict(question.schema))
    request = types.ElicitRequest(params=form)
    return types.InputRequiredResult(input_requests={ASKED: request}, request_state=compact({"seal": question.seal}))


def _answered(params: types.CallToolRequestParams) -> tuple[types.ElicitResult | None, str]:
    """The answer that comes with the call, and what it was asked about. The SDK has opened the seal of the latter."""
    answer = (params.input_responses or {}).get(ASKED)
    if not isinstance(answer, types.ElicitResult) or not params.request_state:
        return None, ""
    return answer, str(parse(params.request_state.encode()).get("seal"))


async def _asked(ctx: Context[Any], question: Question) -> types.ElicitResult:
    try:
        return await ctx.session.elicit_form(question.message, dict(question.schema), ctx.request_id)
    except MCPError:
        return types.ElicitResult(action="cancel")


def _unanswered(path: str, action: str) -> HoldfastError:
    word = {"accept": "the form came back without a decision", "decline": "the person declined"}
    said = f"{path} was not approved: {word.get(action, 'nobody answered')}"
    ways = ("ask what should be different", remedies.approve(path, text="a person can also type"))
    return HoldfastError("declined", said, remedy=ways, facts={"step": path, "action": action})
