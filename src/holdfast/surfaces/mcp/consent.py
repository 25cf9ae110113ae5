"""Consent by asking: to continue where only a person may say so, and to make a session part of the project."""

from __future__ import annotations

from _collections_abc import Mapping, Sequence

from mcp import types

from holdfast.core import commands as cmd
from holdfast.core import refusals, remedies
from holdfast.core.value import Any
from holdfast.errors import HoldfastError
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact
from holdfast.plain.terminal import escape
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces.mcp import asking as asking_
from holdfast.surfaces.mcp.asking import Question
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.tools.convention import resumed_answer, resumed_from
from holdfast.surfaces.tools.loop import acting

RESUME, COMMIT, LEAVE = "resume", "commit", "leave it"
_LISTED = 20
"""How many files of a kind, and how many failures, a person is shown."""
_SIGNS = {"created": "+", "modified": "~", "deleted": "-", "artifacts": "+"}


class Resumption:
    """A person is asked only where an agent would be refused for being none."""

    name = "resume"

    def __init__(self, projects: Projects, *, guarded: bool) -> None:
        self._projects = projects
        self._guarded = guarded

    def question(self, project: Project, given: Mapping[str, Any], *, asking: bool) -> Question | None:
        if not asking or not self._guarded:
            return None
        agent = acting(project, token=given.get("token", ""))
        workflow = agent.workflow(given["workflow_id"])
        path = resumed_from(workflow, given)
        try:
            agent.wired.preview(workflow.state, cmd.Resume(path))
        except HoldfastError as refusal:
            if refusal.code != "person_needed":
                return None
            self._projects.of_person().wired.preview(workflow.state, cmd.Resume(path))
            message = _stopped(workflow, path, refusal)
        else:
            return None
        wish = asking_.choice(RESUME, LEAVE, wish="What the agent should do differently")
        return Question(path, message, asking_.schema(wish), _at(workflow, path))

    def decided(
        self, given: Mapping[str, Any], question: Question, answer: types.ElicitResult, seal: str
    ) -> dict[str, Any]:
        path, said = question.about, asking_.said(answer)
        named = given["workflow_id"]
        if said.get("decision") != RESUME:
            left = "decline" if said.get("decision") == LEAVE else answer.action
            own = remedies.resume(path, text="a person can also type", who="person")
            raise asking_.undecided(f"{named} was not resumed", left, own, {"workflow": named, "action": left})
        workflow = self._projects.of_person().workflow(named)
        if _at(workflow, path) != seal:
            raise refusals.changed_meanwhile(path or workflow.id)
        workflow.resume(path)
        wish = str(said.get("feedback") or "")
        if wish:
            workflow.note(wish, path)
        return resumed_answer(workflow, path)


class SessionCommit:
    """The person sees what would change. Where there are conflicts nobody is asked: the call is refused with them."""

    name = "commit"

    def __init__(self, projects: Projects) -> None:
        self._projects = projects

    def question(self, project: Project, given: Mapping[str, Any], *, asking: bool) -> Question | None:
        name = given.get("name", "")
        if not asking or given["action"] != "commit" or not given.get("confirm") or not name:
            return None
        sessions = project.sessions
        if sessions.has_ended(name):
            return None
        preview = sessions.preview(name)
        if preview["conflicts"]:
            return None
        return Question(name, _changes(preview), asking_.schema(asking_.choice(COMMIT, LEAVE)), sessions.seal(name))

    def decided(
        self, given: Mapping[str, Any], question: Question, answer: types.ElicitResult, seal: str
    ) -> dict[str, Any]:
        name, decision = question.about, asking_.said(answer).get("decision")
        if decision != COMMIT:
            left = "decline" if decision == LEAVE else answer.action
            own = remedies.session("commit", name, text="a person can also type", who="person").given(force=True)
            facts = {"session": name, "action": left}
            raise asking_.undecided(f"the session {name} was not committed", left, own, facts)
        return self._projects.of_person().sessions.commit(name, force=True, seal=seal)


def _at(workflow: Workflow, path: str) -> str:
    """What an answer is bound to: the workflow as it was when it was asked about."""
    return digest(compact([workflow.ulid, path, workflow.state.revision]).encode())


def _stopped(workflow: Workflow, path: str, refusal: HoldfastError) -> str:
    state, brief = workflow.state, workflow.briefing()
    where = f" from {path}" if path else ""
    out = [f"Resume {state.id}{where}?", state.title or state.subject, f"{refusal.message}."]
    out += [f"reason: {reason}" for reason in (state.step(path).reason if path else "",) if reason]
    out += [f"failed: {text}" for text in list(map(str, brief.failures))[-_LISTED:]]
    return escape("\n".join(line for line in out if line), lines=True)


def _changes(preview: Mapping[str, Any]) -> str:
    out = [f"Make the session {preview['session']} part of the project?"]
    for kind, sign in _SIGNS.items():
        out += _named(f"  {sign} ", preview.get(kind, ()))
    out += _named("  workflow ", [one["workflow_id"] for one in preview["workflows"]])
    return escape("\n".join(out if len(out) > 1 else [*out, "  nothing changes"]), lines=True)


def _named(before: str, found: Sequence[str]) -> list[str]:
    more = [f"{before}… and {len(found) - _LISTED} more"] if len(found) > _LISTED else []
    return [*(f"{before}{one}" for one in found[:_LISTED]), *more]
