"""The skill dialect: `.claude/workflow-state/{active,completed}/<skill>-<hash>.json` and `index.json`.

The document of resumable skills: `_schema, workflow, context, state_machine, tasks, checkpoints, history`. It is also
what a user's own definition writes.
"""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.core import gates, lifecycle, queries, tasks
from holdfast.core.definition import Check, Definition, Step
from holdfast.core.names import is_name
from holdfast.core.plan import parent
from holdfast.core.state import Evidence, State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import (
    FRACTION,
    MOMENT,
    WORD,
    object_in,
    objects_in,
    or_absent,
    text_in,
    unless_found,
)
from holdfast.documents.lens.spec import ABSENT, UNKNOWN, Dialect, Document, Field, Items, Meaning, as_found
from holdfast.systems.skill import tests as skill_tests
from holdfast.systems.skill.words import FEATURE, FIGURES, FOLDER, PHASE, WORKFLOW, WORKFLOW_WORDS, feature_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.commands import Facts

_SAID = frozenset({"in_progress", "blocked", "completed", "cancelled"})


def _in_base(state: State, *names: str) -> Any:
    """What stands at a place of the document that this one is written over."""
    here: Any = state.base
    for name in names:
        here = here.get(name) if isinstance(here, Mapping) else None
    return here


def _entry_in_base(state: State, at: tuple[str, ...], key: str, name: object) -> Mapping[str, Any]:
    listed = _in_base(state, *at)
    found = (e for e in listed if isinstance(e, Mapping) and e.get(key) == name) if isinstance(listed, list) else ()
    return next(iter(found), {})


def _updated(state: State, _: str) -> Any:
    return UNKNOWN if as_found(state) and _in_base(state, "workflow", "updated_at") else state.updated_at


def _detail(state: State, _: str) -> Any:
    word = queries.status(state)
    return ABSENT if word in _SAID else word


def _step_detail(state: State, path: str) -> Any:
    status = state.step(path).status
    return ABSENT if status in (lifecycle.PENDING, lifecycle.ACTIVE, lifecycle.DONE) else status


def _context(state: State, _: str) -> Any:
    if state.loads == FEATURE and state.plan.of_kind(FEATURE):
        return _folder(state)
    if state.origin == "adopted" or state.loads:
        return state.context
    own = {"subject": state.subject, "title": state.title}
    return {**{name: value for name, value in own.items() if value and name not in state.context}, **state.context}


def _folder(state: State) -> Mapping[str, Any]:
    """A folder of features: which one is worked on, and how far each is."""
    at = feature_of(state)
    steps = state.plan.of_kind(FEATURE)
    listed = [{**feature_of(state, path), "status": PHASE.encode(state.step(path).status)} for path in steps]
    return {**state.context, "feature_file": at["file"], "feature_title": at["title"], "folder_features": listed}


def _current_phase(state: State, _: str) -> Any:
    at = queries.current(state)
    return at.split("/")[0] if at else state.plan.children("")[-1]


def _current_step(state: State, _: str) -> Any:
    """Where in the phase the work is. A phase without steps of its own leaves the word to whoever wrote it."""
    phase, _, inner = (queries.current(state) or "").partition("/")
    if not inner and phase and phase == _in_base(state, "state_machine", "current_phase"):
        return UNKNOWN
    return or_absent(inner)


def _listed(state: State, path: str) -> Any:
    step = state.plan.step(path)
    checks = [check.name for check in step.checks if not check.test and not step.action]
    there = _entry_in_base(state, ("state_machine", "phases"), "name", path).get("steps")
    return UNKNOWN if not checks or (isinstance(there, list) and all(name in there for name in checks)) else checks


def _fraction(state: State, path: str) -> Any:
    children = state.plan.children(path)
    if not children:
        return UNKNOWN
    return sum(state.step(child).status in lifecycle.FINISHED for child in children), len(children)


def _approval(state: State, path: str) -> Any:
    step, progress = state.plan.step(path), state.step(path)
    policy = gates.policy(step)
    if not policy:
        return ABSENT
    grant = progress.grant
    held = grant is not None and grant.attempt == progress.attempt and not grant.claimed
    said: dict[str, Any] = {"required": True, "by": policy, "approved": held}
    if grant:
        said.update(approved_at=grant.at, approved_by=grant.by)
        if grant.variant:
            said["selected_variant"] = grant.variant
        if grant.modifications:
            said["modifications"] = dict(grant.modifications)
        if grant.claimed:
            said["claimed"] = True
    if step.choice:
        said["options"] = list(step.choice.options)
    return said


def _feedback(state: State, path: str) -> Any:
    feedback = state.step(path).feedback
    return feedback[-1] if feedback else ABSENT


def _is_task(state: State, path: str) -> bool:
    return state.plan.step(path).kind == tasks.TASK


def _index(state: State, path: str) -> Any:
    last = path.rpartition("/")[2]
    return int(last) if last.isdigit() else state.plan.number(path)


def _tdd(name: str) -> Any:
    def value(state: State, path: str) -> Any:
        child = f"{path}/{name}"
        if child not in state.plan:
            return ABSENT
        if state.step(path).status == state.step(child).status == lifecycle.PENDING:
            there = _entry_in_base(state, ("tasks",), "index", _index(state, path)).get("tdd_phases")
            said = there.get(name, "pending") if isinstance(there, Mapping) else "pending"
            return UNKNOWN if said == "pending" else lifecycle.PENDING
        return state.step(child).status

    return value


def _commit(state: State, path: str) -> Any:
    """None yet for a task that has begun; of one that has not, nothing is said."""
    progress = state.step(path)
    said = progress.data.get(tasks.COMMIT)
    return said or (UNKNOWN if progress.status == lifecycle.PENDING else ABSENT)


def _checks(state: State) -> list[str]:
    """The checkpoints. What a test showed is not one: it belongs to its phase."""
    return [f"{path}#{name}" for path, name in state.plan.checked() if not _check(state, path, name).test]


def _check(state: State, path: str, name: str) -> Check:
    check = state.plan.step(path).check(name)
    assert check is not None
    return check


def _evidence(state: State, item: str) -> Evidence | None:
    path, _, name = item.rpartition("#")
    return state.step(path).evidence.get(name)


def _ran(state: State, item: str) -> str:
    return "completed" if _evidence(state, item) else "pending"


_SAID_OF = {
    "test": ("last_run", "passed", "count"),
    "security_review": ("last_run", "findings"),
    "code_simplifier": ("last_run", "issues"),
    "pr_created": ("pr_number", "pr_url"),
}
"""What a checkpoint has beside its status, where that is not `last_run` and `passed`."""


def _about(name: str, read: Callable[[Evidence], Any]) -> Any:
    def value(state: State, item: str) -> Any:
        evidence = _evidence(state, item)
        found = None if evidence is None else read(evidence)
        if name in _SAID_OF.get(item.rpartition("#")[2], ("last_run", "passed")):
            return or_absent(found)
        telling = evidence is not None and ((name == "passed" and not evidence.passed) or name in evidence.data)
        return found if telling else UNKNOWN

    return value


def _figure(name: str) -> Field:
    """A number or address that goes with a checkpoint."""
    value = _about(name, lambda evidence: evidence.data.get(name))
    return Field(name, value, nullable=True, quiet=True, meaning=Meaning.CHECK)


_WORDS = {
    "started": "workflow_started",
    "began": "started",
    "checked": "checkpoint",
    "noted": "note",
    "cancelled": "workflow_abandoned",
    "cancelled_ended": "workflow_resumed",
    "paused_ended": "workflow_resumed",
}


def _entry(state: State, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """A history entry in the dialect's words."""
    if "entry" in entry:
        return dict(entry["entry"])
    if entry["event"] == "checked" and entry["passed"] and _shows_failure(state, entry):
        return {"at": MOMENT.encode(entry["at"]), "event": "failure_confirmed", "reason": entry.get("detail", "")}
    word = _WORDS.get(entry["event"], entry["event"])
    said: dict[str, Any] = {"at": MOMENT.encode(entry["at"]), "event": word}
    path = entry.get("step", "")
    if path and entry["event"] in lifecycle.MOVES:
        kind = "task" if path in state.plan and _is_task(state, path) else "step" if "/" in path else "phase"
        said["event"] = f"{kind}_{word}"
        said[kind] = _index(state, path) if kind == "task" else path
    elif path:
        said["step" if "/" in path else "phase"] = path
    said.update({name: value for name, value in entry.items() if name not in ("at", "event", "step", "by", "attempt")})
    if entry["event"] == "started" and state.loads == "task":
        said["task"] = said.pop("subject", state.subject)
    return said


def _subject(state: State, entry: Mapping[str, Any]) -> tuple[str, str]:
    kind, _, word = str(entry.get("event")).partition("_")
    if kind == "task":
        named = (path for path in tasks.tasks(state) if _index(state, path) == entry.get("task"))
        return next(named, ""), word
    return (str(entry.get("phase")), word) if kind == "phase" else ("", "")


def _shows_failure(state: State, entry: Mapping[str, Any]) -> bool:
    path = entry["step"]
    check = state.plan.step(path).check(entry["check"]) if path in state.plan else None
    return check is not None and check.test == "fails"


def _depends(state: State, path: str) -> tuple[object, ...]:
    plan = state.plan
    return (state.step(path), plan.step(path), *[state.step(child) for child in plan.children(path)])


def _added_phase(state: State, entry: Mapping[str, Any]) -> tuple[str, Any]:
    name = entry.get("name")
    return "", Step(id=str(name)) if is_name(name) else None


def _added_task(state: State, entry: Mapping[str, Any]) -> tuple[str, Any]:
    listed = tasks.tasks(state)
    above = parent(listed[0]) if listed else (queries.current(state) or "").split("/")[0]
    index, text = entry.get("index"), entry.get("description")
    if not isinstance(index, int) or not isinstance(text, str):
        return above, None
    return above, tasks.new_task(state, above, str(index), text)


def _file(state: State) -> str:
    """Usually the id. Scripts find a document by a name they compute, so an adopted one keeps the name it had."""
    named = _in_base(state, "_schema", "file")
    return str(named) if is_name(named, 200) else state.id


def found_at(document: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """A document with the name of its file in it, where that is not the workflow's id."""
    stem = path.rpartition("/")[2].removesuffix(".json")
    workflow, schema = document.get("workflow"), document.get("_schema", {})
    if not is_name(stem, 200) or not isinstance(workflow, Mapping) or not isinstance(schema, Mapping):
        return document
    rest = {name: value for name, value in schema.items() if name != "file"}
    if workflow.get("id") == stem:
        return {**document, "_schema": rest} if "file" in schema else document
    return {**document, "_schema": {**rest, "file": stem}}


def _place(state: State) -> str:
    return f"{FOLDER}/{'active' if queries.is_active(state) else 'completed'}/{_file(state)}.json"


def _former(state: State) -> tuple[str, ...]:
    return (f"{FOLDER}/{'completed' if queries.is_active(state) else 'active'}/{_file(state)}.json",)


DOCUMENT = Document(
    path=_place,
    former=_former,
    stamp="workflow.updated_at",
    history="history",
    entry=_entry,
    subject=_subject,
    parts=(
        Field("_schema.version", lambda s, _: "1.0", quiet=True, meaning=Meaning.FIXED),
        Field("_schema.skill", lambda s, _: s.type, WORD, quiet=True, meaning=Meaning.FIXED),
        Field("_schema.file", lambda s, _: UNKNOWN, meaning=Meaning.FIXED),
        Field("workflow.id", lambda s, _: s.id, meaning=Meaning.FIXED),
        Field("workflow.status", lambda s, _: queries.status(s), WORKFLOW, meaning=Meaning.WHOLE),
        Field("workflow.status_detail", _detail),
        Field("workflow.created_at", lambda s, _: s.created_at, MOMENT),
        Field("workflow.updated_at", _updated, MOMENT),
        unless_found("workflow.completed_at", lambda s, _: or_absent(s.finished_at), MOMENT),
        Field("workflow.branch", lambda s, _: or_absent(s.branch), nullable=True, meaning=Meaning.FIXED),
        Field("context", _context, meaning=Meaning.CONTEXT),
        Field("state_machine.current_phase", _current_phase, meaning=Meaning.POINTER),
        Field("state_machine.current_step", _current_step, quiet=True),
        skill_tests.CYCLE,
        Items(
            "state_machine.phases",
            each=lambda s: list(s.plan.children("")),
            name=lambda s, path: path,
            key="name",
            depends=_depends,
            added=_added_phase,
            fields=(
                Field("status", lambda s, p: s.step(p).status, PHASE, meaning=Meaning.STATUS),
                unless_found("status_detail", _step_detail, meaning=Meaning.FIXED),
                Field("started_at", lambda s, p: or_absent(s.step(p).started_at), MOMENT, quiet=True),
                Field("completed_at", lambda s, p: or_absent(s.step(p).finished_at), MOMENT, quiet=True),
                Field("progress", _fraction, FRACTION, quiet=True),
                Field("attempt", lambda s, p: s.step(p).attempt if s.step(p).attempt > 1 else ABSENT),
                Field("steps", _listed, quiet=True),
                Field("artifacts", lambda s, p: {n: a.path for n, a in s.step(p).artifacts.items()} or ABSENT),
                Field("approval", _approval, meaning=Meaning.FIXED),
                Field("feedback", _feedback),
                Field("reason", lambda s, p: or_absent(s.step(p).reason)),
                *skill_tests.OF_PHASE,
            ),
        ),
        Items(
            "tasks",
            each=tasks.tasks,
            name=_index,
            key="index",
            depends=_depends,
            when=lambda s: bool(tasks.tasks(s)),
            added=_added_task,
            fields=(
                Field("description", lambda s, p: s.plan.step(p).label),
                Field("status", lambda s, p: s.step(p).status, PHASE, meaning=Meaning.STATUS),
                unless_found("status_detail", _step_detail, meaning=Meaning.FIXED),
                Field(tasks.COMMIT, _commit, nullable=True, meaning=Meaning.DATA),
                Field("tdd_phases.red", _tdd("red"), PHASE, meaning=Meaning.STATUS),
                Field("tdd_phases.green", _tdd("green"), PHASE, meaning=Meaning.STATUS),
                Field("tdd_phases.refactor", _tdd("refactor"), PHASE, meaning=Meaning.STATUS),
            ),
        ),
        Items(
            "checkpoints",
            each=_checks,
            name=lambda s, item: item.rpartition("#")[2],
            depends=lambda s, item: (_evidence(s, item),),
            fields=(
                Field("status", _ran, meaning=Meaning.CHECK),
                Field("last_run", _about("last_run", lambda e: e.at), MOMENT, nullable=True, quiet=True),
                Field("passed", _about("passed", lambda e: e.passed), nullable=True, quiet=True, meaning=Meaning.CHECK),
                *(_figure(name) for name in FIGURES),
            ),
        ),
        *skill_tests.RUNS,
    ),
)


def identify(definition: Definition, subject: str, context: Mapping[str, Any], now: str) -> str:
    """`{skill}-{first 8 hex of md5(subject + newline)}`: what `echo "$SUBJECT" | md5sum | cut -c1-8` gives."""
    from hashlib import md5

    return f"{definition.name}-{md5((subject + chr(10)).encode(), usedforsecurity=False).hexdigest()[:8]}"


def id_of(document: Mapping[str, Any]) -> str:
    return str(object_in(document, "workflow").get("id", ""))


def index(entries: list[Any], old: Mapping[str, Any] | None, now: str, session: str) -> tuple[str, Mapping[str, Any]]:
    """`index.json`: the active workflows. Activity is kept to the minute, so that it need not be written each time."""
    before = {text_in(item, "id"): text_in(item, "last_activity") for item in objects_in(old or {}, "active_workflows")}
    listed = [
        {
            "id": entry.id,
            "skill": entry.type,
            "feature": entry.subject,
            "started_at": MOMENT.encode(entry.created_at),
            "last_activity": max(before.get(entry.id, ""), MOMENT.encode(entry.updated_at)),
        }
        for entry in entries
        if entry.active
    ]
    said = {"schema_version": "1.0", "updated_at": MOMENT.encode(now), "active_workflows": listed}
    return f"{FOLDER}/index.json", said


def _adopt(document: Mapping[str, Any], definition: Definition | None, facts: Facts, ulid: str) -> State:
    from holdfast.systems.skill.adoption import adopt

    return adopt(document, definition, facts, ulid)


DIALECT = Dialect(
    name="skill",
    document=DOCUMENT,
    id_of=id_of,
    folders=(f"{FOLDER}/active", f"{FOLDER}/completed"),
    identify=identify,
    status_words=WORKFLOW_WORDS,
    missing="abandoned",
    adopt=_adopt,
    found_at=found_at,
    index=index,
)
