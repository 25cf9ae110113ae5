"""Asking a person by a form of the host: how a question travels, and what it means that nobody answers it.

Hosts of the older protocol are asked while the call waits; those of the newer one are answered that input is required,
and call again with it. What was shown goes with the question, sealed, and is compared with what is there afterwards.
"""

from __future__ import annotations

from _collections_abc import Mapping

from mcp import types
from mcp.server import ServerRequestContext as Context
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from holdfast.core import refusals
from holdfast.core.remedy import Remedy
from holdfast.core.value import Any, Protocol, Value
from holdfast.errors import HoldfastError
from holdfast.plain.plainjson import compact, parse
from holdfast.project.project import Project
from holdfast.surfaces.mcp.projects import Projects


class Question(Value):
    """What a person is asked, and what exactly their answer would be about."""

    about: str
    message: str
    schema: Mapping[str, Any]
    seal: str
    shown: Mapping[str, str] = {}


class Form(Protocol):
    """What a person decides of one tool. `name` is that under which the question and its answer travel."""

    name: str

    def question(self, project: Project, given: Mapping[str, Any], *, asking: bool) -> Question | None:
        """None where nobody is asked, and the agent's word is all there is."""

    def decided(
        self, given: Mapping[str, Any], question: Question, answer: types.ElicitResult, seal: str
    ) -> dict[str, Any]:
        """Does what the person said."""


class Forms:
    """The forms by the tools they belong to."""

    def __init__(self, projects: Projects, forms: Mapping[str, Form]) -> None:
        self._projects = projects
        self._forms = forms

    def has(self, tool: str) -> bool:
        return tool in self._forms

    async def handled(
        self, ctx: Context[Any], params: types.CallToolRequestParams, given: Mapping[str, Any]
    ) -> dict[str, Any] | types.InputRequiredResult | None:
        """The outcome of asking the person; None where nobody is asked."""
        form, asking = self._forms[params.name], can_ask(ctx)
        is_modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
        answer, seal = _answered(params, form.name) if is_modern else (None, "")
        try:
            question = await self._projects.used(lambda project: form.question(project, given, asking=asking))
        except HoldfastError:
            if answer is None:
                raise
            about = next(str(given[name]) for name in ("step", "name", "workflow_id") if name in given)
            raise refusals.changed_meanwhile(about) from None
        if question is None:
            return None
        if answer is None and is_modern:
            return _asking(question, form.name)
        if answer is None:
            answer, seal = await _asked(ctx, question), question.seal
        said, bound = answer, seal
        return await self._projects.worked(lambda: form.decided(given, question, said, bound))


def can_ask(ctx: Context[Any]) -> bool:
    """Whether the host can show a form. One that names no mode of asking means forms."""
    has = ctx.session.client_capabilities
    asking = has.elicitation if has else None
    if asking is None or (asking.form is None and asking.url is not None):
        return False
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS or ctx.session.can_send_request


def choice(first: str, *others: str, wish: str = "What should be different") -> dict[str, Any]:
    """The fields of a form in which a person decides between a few words, and may write something beside it."""
    return {
        "decision": {"type": "string", "title": "Decision", "enum": [first, *others]},
        "feedback": {"type": "string", "title": wish, "maxLength": 4000},
    }


def schema(fields: Mapping[str, Any], *more: str) -> dict[str, Any]:
    return {"type": "object", "properties": dict(fields), "required": ["decision", *more]}


def said(answer: types.ElicitResult) -> dict[str, Any]:
    """What was filled in; nothing where the form was not sent."""
    return dict(answer.content or {}) if answer.action == "accept" else {}


def undecided(what: str, action: str, own: Remedy, facts: Mapping[str, object]) -> HoldfastError:
    """Nothing was decided: a person said no, or there was none who answered."""
    if action == "decline":
        ways = ("ask what should be different", own)
        return HoldfastError("declined", f"{what}: the person declined", remedy=ways, facts=dict(facts))
    word = "the form came back without a decision" if action == "accept" else "nobody answered"
    ways = ("show this to a person, and call again when somebody is there to answer", own)
    return HoldfastError("nobody_answered", f"{what}: {word}", remedy=ways, facts=dict(facts))


def _asking(question: Question, name: str) -> types.InputRequiredResult:
    form = types.ElicitRequestFormParams(message=question.message, requested_schema=dict(question.schema))
    request = types.ElicitRequest(params=form)
    return types.InputRequiredResult(input_requests={name: request}, request_state=compact({"seal": question.seal}))


def _answered(params: types.CallToolRequestParams, name: str) -> tuple[types.ElicitResult | None, str]:
    """The answer that comes with the call, and what it was asked about. The SDK has opened the seal of the latter."""
    answer = (params.input_responses or {}).get(name)
    if not isinstance(answer, types.ElicitResult) or not params.request_state:
        return None, ""
    return answer, str(parse(params.request_state.encode()).get("seal"))


async def _asked(ctx: Context[Any], question: Question) -> types.ElicitResult:
    try:
        return await ctx.session.elicit_form(question.message, dict(question.schema), ctx.request_id)
    except (MCPError, ValueError):  # the host cannot ask, or what it answers is no answer to a form
        return types.ElicitResult(action="cancel")
