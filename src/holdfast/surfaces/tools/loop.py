"""What an agent needs besides the convention: checks, notes and learnings, files of one's own, reviews, the packet."""

from __future__ import annotations

import os
from _collections_abc import Mapping

from holdfast.core import commands as cmd
from holdfast.core import queries, remedies
from holdfast.core.names import checked, is_token
from holdfast.core.value import Any
from holdfast.errors import UsageError
from holdfast.plain.plainjson import compact
from holdfast.project import seats
from holdfast.project import wiring as bootstrap
from holdfast.project.project import Project
from holdfast.project.workflow import Workflow
from holdfast.surfaces.cli.readers import pairs
from holdfast.surfaces.tools.convention import workflow_of
from holdfast.surfaces.tools.remedies import CALLED, LONGEST_PACKET
from holdfast.surfaces.tools.shape import Input, Tool, Watch, typed
from holdfast.surfaces.tools.table import DONE, ID, STEP, TOKEN

TOLD = 2048
"""How many bytes an answer has, unless more is asked for."""
TAIL = 800
SHORTEST = 600
LOCKED_FOR = 600
MOST_SPENT = 1_000_000


def run_check(project: Project, given: Mapping[str, Any], watch: Watch) -> dict[str, Any]:
    """Lets the engine run a check, or records what somebody saw where there is nothing to run."""
    workflow = workflow_of(project, given)
    workflow.cancelled = watch.cancelled
    name, values = given["check"], given.get("values", {})
    for key in values:
        checked(key, "name")
    evidence = workflow.check(
        name,
        passed=given.get("passed"),
        step=str(given.get("step", "")),
        data={**pairs(list(values.items())), **({"test": given["test"]} if "test" in given else {})},
        watch=watch.told,
    )
    tail = given.get("tail", TAIL)
    said = {one: getattr(evidence, one) for one in ("passed", "run_by", "exit_code", "detail")}
    return {"check": name, **said, "output": evidence.tail[-tail:] if tail else ""}


def record_work(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """Several things in one call are one change: all of them are kept, or none."""
    workflow = workflow_of(project, given)
    step = workflow.path(str(given["step"])) if "step" in given else ""
    parts: dict[str, cmd.Command] = {}
    if "note" in given:
        parts["note"] = cmd.Note(given["note"], step)
    if "learning" in given:
        parts["learning"] = cmd.Learn(given["learning"], given.get("learning_type", "insight"), step=step)
    if "artifacts" in given:
        at = step or queries.current(workflow.state) or ""
        parts["artifacts"] = cmd.Attach(at, _files(project, workflow, given["artifacts"]))
    if "cost_usd" in given:
        agent = checked(given["agent"], "role") if "agent" in given else ""
        parts["cost_usd"] = cmd.Spend(round(given["cost_usd"] * 1_000_000), agent, step)
    if not parts:
        said = "record_work: none of note, learning, artifacts and cost_usd is there"
        way = f"record_work {compact({'workflow_id': workflow.id, 'note': 'TEXT'})}"
        raise UsageError("nothing_recorded", said, remedy=way)
    workflow.execute(cmd.Together(tuple(parts.values())))
    spent = workflow.state.spent / 1_000_000
    return {"success": True, "workflow_id": workflow.id, "recorded": list(parts), "spent_usd": spent}


def _files(project: Project, workflow: Workflow, artifacts: Mapping[str, str]) -> dict[str, str]:
    place = project.wired.place
    base = place.base(workflow.state.worktree)
    return {name: place.inside(os.path.join(base, file)) for name, file in artifacts.items()}


def lock_files(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """Claims files for one agent, or gives them back; who holds them is said either way."""
    workflow = workflow_of(acting(project, role=given.get("agent", "")), given)
    base = project.wired.place.base(workflow.state.worktree)
    paths = [os.path.join(base, path) for path in given["paths"]]
    if given.get("release"):
        workflow.unlock(*paths)
    else:
        workflow.lock(*paths, agent=given.get("agent", ""), ttl=given.get("ttl_seconds", LOCKED_FOR))
    facts = workflow.facts()
    held = {path: hold.agent for path, hold in workflow.state.locks.items() if not hold.expired(facts.boot, facts.mono)}
    return {"success": True, "workflow_id": workflow.id, "locks": held}


def review_step(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    workflow = workflow_of(acting(project, role=given.get("reviewer", "")), given)
    path = workflow.path(str(given["step"]))
    workflow.review(path, given.get("verdict", ""), given.get("feedback", ""))
    return {"success": True, "workflow_id": workflow.id, "status": workflow.state.step(path).status}


def acting(project: Project, *, role: str = "", token: str = "") -> Project:
    """The same project for an agent that calls itself something, or has a lease: the rules ask who reviews, who holds
    a file, and whose token it is.
    """
    settings = project.wired.settings
    actor = settings.actor.replace(name=checked(role, "role")) if role else settings.actor
    own = settings.replace(actor=actor, token=_token(token) if token else settings.token)
    return project if own == settings else Project(bootstrap.wire(project.wired.place, own), one_request=True)


def _token(text: str) -> str:
    if not is_token(text):
        way = remedies.agent_start(text="it is what this gives")
        raise UsageError("bad_lease_token", "this is not the token of a lease", remedy=way)
    return text


def get_resume_packet(project: Project, given: Mapping[str, Any]) -> dict[str, Any]:
    """Without a name: the workflow this session is at, else the one last worked on."""
    session = project.wired.settings.actor.session
    workflow, others = seats.named_or_chosen(project, given.get("workflow_id", ""), session)
    if "ack" in given:
        workflow.acknowledge(given["ack"])
    project.take_up(workflow)
    named = {"workflow_id": workflow.id, "packet_id": queries.packet_id(workflow.state, session)}
    if "limit" in given:
        return {**named, "text": workflow.packet(others=others, limit=given["limit"], voice=CALLED)}
    for limit in range(TOLD - len(compact(named)), SHORTEST, -100):
        answer = {**named, "text": workflow.packet(others=others, limit=limit, voice=CALLED)}
        if len(compact(answer).encode()) <= TOLD:
            return answer
    return {**named, "text": workflow.packet(others=others, limit=SHORTEST, voice=CALLED)}


LOOP = (
    Tool(
        title="Run or record a check",
        about="Run a step's check; or report its outcome with `passed` if it has no command",
        inputs=(
            ID,
            Input("check", "string", required=True, most=64),
            Input("passed", "boolean"),
            Input("step", "step"),
            Input("test", "string", most=1000, about="the test in question"),
            Input("values", "object"),
            Input("tail", "integer", most=4000, about="characters of output"),
            TOKEN,
        ),
        outputs=typed("check:string passed:boolean run_by:string exit_code:integer? detail:string output:string"),
        run=run_check,
        watched=True,
        external=True,
    ),
    Tool(
        title="Record work",
        about="Keep what must survive: a decision, a lesson, output files of a step, money spent",
        inputs=(
            ID,
            Input("step", "step"),
            Input("note", "string", most=4000),
            Input("learning", "string", most=4000),
            Input("learning_type", "string", among=("pattern", "antipattern", "insight")),
            Input("artifacts", "paths", about="name: path"),
            Input("cost_usd", "number", most=MOST_SPENT),
            Input("agent", "string", most=64, about="who spent it"),
            TOKEN,
        ),
        outputs=typed(f"{DONE} recorded:strings spent_usd:number"),
        run=record_work,
    ),
    Tool(
        title="Lock or release files",
        about="Keep files to one agent while several work, or release them",
        inputs=(
            ID,
            Input("paths", "files", required=True),
            Input("agent", "string", most=64),
            Input("ttl_seconds", "integer", least=1, most=86_400),
            Input("release", "boolean"),
            TOKEN,
        ),
        outputs=typed(f"{DONE} locks:object"),
        run=lock_files,
    ),
    Tool(
        title="Review a step",
        about="Give a reviewer's verdict on a step in review; none where a review file decides",
        inputs=(
            *(ID, STEP),
            Input("verdict", "string", among=("approved", "needs_revision")),
            Input("feedback", "string", most=20_000),
            Input("reviewer", "string", most=64, about="your role"),
            TOKEN,
        ),
        outputs=typed(f"{DONE} status:string"),
        run=review_step,
    ),
    Tool(
        title="Resume packet",
        about="All you need to continue after your context was lost. `ack` its packet_id once read",
        inputs=(
            Input("workflow_id", "string", most=200),
            Input("limit", "integer", least=SHORTEST, most=LONGEST_PACKET, about="characters, if 2 KB are not enough"),
            Input("ack", "string", most=64),
            TOKEN,
        ),
        outputs=typed("workflow_id:string packet_id:string text:string"),
        run=get_resume_packet,
    ),
)
