"""A task document as a workflow: its phases and tasks as steps, its bounds, its supervisor and its outer loop."""

from __future__ import annotations

import os
from _collections_abc import Sequence

from holdfast import git
from holdfast.core import remedies
from holdfast.core.definition import Approval, Bounds, Check, Definition, Retry, Step
from holdfast.core.lifecycle import DONE
from holdfast.core.mistakes import check_steps
from holdfast.core.remedy import Blank, Scope, shell, told
from holdfast.core.state import FILES, State
from holdfast.core.tasks import TASK
from holdfast.core.value import Any
from holdfast.errors import Conflict, NotFound, Refused, UsageError
from holdfast.git import changes as git_changes
from holdfast.git import content
from holdfast.git import history as git_history
from holdfast.machine.place import Place, below, read_regular
from holdfast.plain.digest import digest
from holdfast.systems.orchestrator import words
from holdfast.systems.orchestrator.task_document import wording
from holdfast.systems.orchestrator.task_document.model import POST_TASK, PRE_TASK
from holdfast.systems.orchestrator.words import PLAN, PULL_REQUEST, REVIEW
from holdfast.systems.seam.parts import Asked, Loaded, Subject, late

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.forges.port import Forge
    from holdfast.systems.orchestrator.task_document import Criterion, Phase, Task, TaskDocument
    from holdfast.systems.seam.wired import Wired

LARGEST = 1 << 20
MOST_FILES = 500


def load(asked: Asked, place: Place) -> Loaded:
    """The document that is named, wherever it is, as steps between those of the definition."""
    from holdfast.systems.orchestrator import task_document

    definition, subject = asked.definition, asked.subject
    if definition.loads != words.LOADS:
        return Loaded(definition, subject, asked.context)
    if not subject:
        message = f"{definition.name} needs a task document"
        raise UsageError("no_subject", message, remedy=remedies.start(definition.name, Blank("path/to/task.md")))
    path = absolute(subject)
    seen = digest_of(path)
    said = task_document.read(path)
    if digest_of(path) != seen:  # trust is bound to the commands that were read
        raise Conflict("changed_meanwhile", f"{path} changed while it was read", remedy="the same again")
    steps = _steps(definition, said, has_git=place.repository is not None)
    check_steps(steps)
    bounds = Bounds(max_cost=said.max_cost, max_time=said.max_time, max_iterations=said.max_iterations)
    return Loaded(
        definition=definition.replace(steps=steps, bounds=bounds, source=path, digest=seen),
        subject=path,
        title=said.title,
        context={**asked.context, "task_doc": path, "task_name": said.title, "goal": said.goal},
        begun=(PLAN,),
        own={"orchestrator": {**dict(said.supervisor.items()), "frequency": list(said.supervisor.frequency)}},
    )


def identity(asked: Asked, _: Place) -> str:
    return absolute(asked.subject) if asked.definition.loads == words.LOADS and asked.subject else asked.subject


def prefix(task: str) -> str:
    """How the message of a task's commit begins."""
    return f"feat(task-{task}):"


SUPERVISOR, OUTER = "chore(supervisor):", "chore(outer-ralph):"


def work(wired: Wired, repository: git.Repository, state: State, path: str, since: str) -> dict[str, Any]:
    """What a task changed, from git: by its own commits where there are some, else what is its own since it began."""
    from holdfast.systems.orchestrator import owning
    from holdfast.systems.seam import sharing

    made = git_history.commits_since(repository, since, prefix(state.plan.step(path).id))
    if made:
        found = git_history.of_commits(repository, made, wired.world.aside(state))
        return {FILES: sorted(found.files)[:MOST_FILES], "lines_added": found.lines}
    changed = owning.files(wired, repository, state, path, since)
    files, unclear = sharing.credited(wired, repository, state, path, list(changed))
    lines = sum(content.added(repository, since, {name: changed[name] for name in files}).values())
    data = {FILES: sorted(files)[:MOST_FILES], "lines_added": lines}
    new = sorted({*unclear} - {name for names in words.unclear(state).values() for name in names})[:MOST_FILES]
    return {**data, words.UNCLEAR: new} if new else data


def work_on_branch(repository: git.Repository, into: str, aside: tuple[str, ...]) -> dict[str, Any]:
    """What a task changed in a worktree of its own: by the commits that the branch of the run does not have."""
    found = git_history.of_commits(repository, git_history.commits_beside(repository, into), aside)
    return {FILES: sorted(found.files)[:MOST_FILES], "lines_added": found.lines}


def milestone(forge: Forge, state: State, path: str) -> str:
    """Opens the issue that stands for a finished phase; gives its address."""
    step = state.plan.step(path)
    tasks = state.plan.children(path)
    rows = ((state.plan.step(task), "x" if state.step(task).status == DONE else " ") for task in tasks)
    body = "\n".join(f"- [{box}] {task.id} {task.label}" for task, box in rows) + "\n"
    try:
        return forge.open_issue(f"Milestone: {step.label}", body)
    except Refused as refusal:
        known = remedies.named("orchestrator milestone", {"phase": path.removeprefix("phase-"), "url": Blank("URL")})
        refusal.remedies = (*refusal.remedies, known.replace(text="if the issue was made elsewhere"))
        raise


def out_of_sync(repository: git.Repository, state: State, scope: Scope) -> str:
    """What is wrong when the commit of the checkpoint the state is at is not part of the branch; else nothing."""
    taken = next((one for one in state.snapshots if one.number == state.stands_at and one.head and one.revision), None)
    if taken is None or git_changes.contains(repository, str(taken.head)):
        return ""
    ways = (remedies.restore(Blank("NUMBER")), shell("git", "reset", "--hard", str(taken.head)))
    return (
        f"the state is ahead of git: checkpoint {taken.number} was taken at {str(taken.head)[:12]}, "
        f"which is not part of this branch ({told(ways, scope)})"
    )


def absolute(subject: str) -> str:
    return os.path.realpath(os.path.join(os.getcwd(), os.path.expanduser(subject)))


def digest_of(path: str) -> str:
    """What trust in the commands of a document is bound to."""
    return digest(read_regular(path, LARGEST) or b"")


def _steps(definition: Definition, said: TaskDocument, *, has_git: bool) -> tuple[Step, ...]:
    own = {step.id: step for step in definition.steps}
    gates = said.supervisor.frequency if said.supervisor.required else ()
    phases = [_phase(phase, before, gates) for phase, before in zip(said.phases, (None, *said.phases), strict=False)]
    last = f"phase-{said.phases[-1].number}"
    closing = []
    if said.outer.enabled or said.criteria:
        closing.append(_review(own[REVIEW], said).replace(requires=(PLAN, last)))
    if has_git:
        closing.append(own[PULL_REQUEST].replace(requires=(PLAN, closing[-1].id if closing else last)))
    plan = own[PLAN].replace(approval=Approval(said.approval, "revise"))
    return (plan, *phases, *closing)


def _review(step: Step, said: TaskDocument) -> Step:
    """Where the whole is looked at: the criteria are the document's, and the outer loop's where there is one."""
    outer = said.outer
    return step.replace(
        kind=REVIEW,
        name=step.name if outer.enabled else "Review",
        description=outer.instructions,
        agents=step.agents if outer.enabled else (),
        checks=_checks((*said.criteria, *outer.criteria)),
        retry=Retry(outer.max_iterations, exhausted="escalated"),
    )


def _checks(criteria: Sequence[Criterion]) -> tuple[Check, ...]:
    """Each with a name of its own: those of the document and of the outer loop stand side by side."""
    found: dict[str, Check] = {}
    for position, one in enumerate(criteria, 1):
        name = one.name if one.name not in found else wording.key(one.name, found, position)
        found[name] = Check(name, run=one.run, run_by="engine" if one.run else "any", text=one.text)
    return tuple(found.values())


def _phase(phase: Phase, before: Phase | None, supervised: Sequence[str]) -> Step:
    """Every phase waits for the plan: when that is opened again, nothing new begins."""
    return Step(
        id=f"phase-{phase.number}",
        name=phase.name,
        description=phase.description,
        kind=words.PHASE,
        checks=_checks(phase.criteria),
        requires=(PLAN, f"phase-{before.number}") if before else (PLAN,),
        parallel=True,
        steps=tuple(_task(task, {other.number for other in phase.tasks}, supervised) for task in phase.tasks),
    )


def _task(task: Task, beside: set[str], supervised: Sequence[str]) -> Step:
    """A task waits for those of its phase that it names; earlier phases are over anyway."""
    return Step(
        id=task.number,
        name=task.name,
        description=task.description,
        kind=TASK,
        agents=task.agents,
        requires=tuple(number for number in task.dependencies if number in beside) or None,
        supervised=PRE_TASK if PRE_TASK in supervised else "",
        supervised_after=POST_TASK if POST_TASK in supervised else "",
        checks=_checks(task.criteria),
        retry=Retry(1),
    )


def again(definition: Definition, state: State, place: Place) -> Loaded:
    """The task document that a run was started with. It names a place on another machine where the project was cloned:
    what is at the end of that path in this worktree is meant.
    """
    parts = state.subject.split("/")
    ends = ("/".join(parts[number:]) for number in range(len(parts)))
    files = (below(place.worktree, os.path.join(place.worktree, end)) for end in (state.subject, *ends) if end)
    found = next((file for file in files if file and os.path.isfile(file)), "")
    if not found:
        raise NotFound("no_task_document", f"there is no such file in {place.worktree}")
    return load(Asked(definition, found, {}), place)


SUBJECT = Subject(
    load=load,
    identity=identity,
    again=again,
    understood=late("holdfast.systems.orchestrator.upkeep", "understood"),
)
