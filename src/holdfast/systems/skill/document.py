"""The skill dialect: `.claude/workflow-state/{active,completed}/<skill>-<hash>.json` and `index.json`.

The document of resumable skills: `_schema, workflow, context, state_machine, tasks, checkpoints, history`. It is also
what a user's own definition writes.
"""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core import gates, lifecycle, queries, tasks
from holdfast.core.definition import POLICIES, Definition, Step
from holdfast.core.names import is_name
from holdfast.core.plan import parent
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.documents.lens.fields import (
    COUNT,
    FRACTION,
    ID,
    MOMENT,
    MOMENT_OR_NULL,
    NAME,
    NUMBER,
    WORD,
    detail,
    object_in,
    objects_in,
    or_absent,
    paths,
    status_of,
    text_in,
    unless_found,
)
from holdfast.documents.lens.mapping import at
from holdfast.documents.lens.spec import (
    ABSENT,
    UNKNOWN,
    Dialect,
    Document,
    Field,
    Items,
    Json,
    Meaning,
    as_found,
    record,
)
from holdfast.systems.skill import tests as skill_tests
from holdfast.systems.skill.words import (
    FEATURE,
    FOLDER,
    PHASE,
    WORKFLOW,
    WORKFLOW_WORDS,
    feature_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.facts import Facts

_APPROVAL = record(
    *("required", "by", "approved"),
    required=bool,
    by=POLICIES,
    approved=bool,
    approved_at=str,
    approved_by=str,
    selected_variant=str,
    options=[str],
    modifications=dict,
    claimed=(True,),
)
_WORD = f"({'|'.join(dict.fromkeys(WORKFLOW_WORDS.values()))})"
_WORDED = rf"^{_WORD}(\|{_WORD})*$"


def _in_base(state: State, place: str) -> Any:
    """What is at a place of the document that this one is written over."""
    return at(state.base, place) if state.base else None


def _entry_in_base(state: State, place: str, key: str, name: object) -> Mapping[str, Any]:
    listed = _in_base(state, place)
    found = (e for e in listed if isinstance(e, Mapping) and e.get(key) == name) if isinstance(listed, list) else ()
    return next(iter(found), {})


def _updated(state: State, _: str) -> Any:
    return UNKNOWN if as_found(state) and _in_base(state, "workflow.updated_at") else state.updated_at


def _context(state: State, _: str) -> Any:
    if state.loads == FEATURE and state.plan.of_kind(FEATURE):
        return _folder(state)
    if state.origin == "adopted" or state.loads:
        return state.context
    own = {"subject": state.subject, "title": state.title}
    return {**{name: value for name, value in own.items() if value and name not in state.context}, **state.context}


def _folder(state: State) -> Mapping[str, Any]:
    """A folder of features: which one is worked on, and how far each is."""
    now = feature_of(state)
    steps = state.plan.of_kind(FEATURE)
    listed = [{**feature_of(state, path), "status": PHASE.encode(state.step(path).status)} for path in steps]
    return {**state.context, "feature_file": now["file"], "feature_title": now["title"], "folder_features": listed}


def _current_phase(state: State, _: str) -> Any:
    now = queries.current(state)
    return now.split("/")[0] if now else state.plan.children("")[-1]


def _current_step(state: State, _: str) -> Any:
    """Where in the phase the work is. A phase without steps of its own leaves the word to its author."""
    phase, _, inner = (queries.current(state) or "").partition("/")
    if not inner and phase and phase == _in_base(state, "state_machine.current_phase"):
        return UNKNOWN
    return or_absent(inner)


def _listed(state: State, path: str) -> Any:
    step = state.plan.step(path)
    checks = [check.name for check in step.checks if not check.test and not step.action]
    there = _entry_in_base(state, "state_machine.phases", "name", path).get("steps")
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
            there = _entry_in_base(state, "tasks", "index", _index(state, path)).get("tdd_phases")
            said = there.get(name, "pending") if isinstance(there, Mapping) else "pending"
            return UNKNOWN if said == "pending" else lifecycle.PENDING
        return state.step(child).status

    return value


def _commit(state: State, path: str) -> Any:
    """None yet for a task that has begun; of one that has not, nothing is said."""
    progress = state.step(path)
    said = progress.data.get(tasks.COMMIT)
    return said or (UNKNOWN if progress.status == lifecycle.PENDING else ABSENT)


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
    named = _in_base(state, "_schema.file")
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
        Field("_schema.version", lambda s, _: "1.0", quiet=True, meaning=Meaning.FIXED, shape=("1.0",)),
        Field("_schema.skill", lambda s, _: s.type, WORD, quiet=True, meaning=Meaning.FIXED),
        Field("_schema.file", lambda s, _: UNKNOWN, meaning=Meaning.FIXED, shape=ID),
        Field("workflow.id", lambda s, _: s.id, meaning=Meaning.FIXED, shape=ID, required=True),
        Field("workflow.status", status_of, WORKFLOW, meaning=Meaning.WHOLE, shape=_WORDED, required=True),
        detail("workflow.status_detail", WORKFLOW),
        Field("workflow.created_at", lambda s, _: s.created_at, MOMENT, required=True),
        Field("workflow.updated_at", _updated, MOMENT, required=True),
        unless_found(
            Field("workflow.completed_at", lambda s, _: or_absent(s.finished_at), MOMENT, shape=MOMENT_OR_NULL)
        ),
        Field("workflow.branch", lambda s, _: or_absent(s.branch), nullable=True, meaning=Meaning.FIXED, shape=str),
        Field("context", _context, meaning=Meaning.CONTEXT),
        Field("state_machine.current_phase", _current_phase, meaning=Meaning.POINTER, shape=str),
        Field("state_machine.current_step", _current_step, quiet=True, shape=str),
        skill_tests.CYCLE,
        Items(
            "state_machine.phases",
            each=lambda s: list(s.plan.children("")),
            name=lambda s, path: path,
            key="name",
            added=_added_phase,
            keys=Json(NAME, maxLength=64),
            least=1,
            required=True,
            fields=(
                Field("status", status_of, PHASE, meaning=Meaning.STATUS, required=True),
                unless_found(detail("status_detail", PHASE, meaning=Meaning.FIXED)),
                Field(
                    "started_at", lambda s, p: or_absent(s.step(p).started_at), MOMENT, quiet=True, shape=MOMENT_OR_NULL
                ),
                Field(
                    "completed_at",
                    lambda s, p: or_absent(s.step(p).finished_at),
                    MOMENT,
                    quiet=True,
                    shape=MOMENT_OR_NULL,
                ),
                Field("progress", _fraction, FRACTION, quiet=True),
                Field("attempt", lambda s, p: s.step(p).attempt if s.step(p).attempt > 1 else ABSENT, shape=NUMBER),
                Field("steps", _listed, quiet=True, shape=[str]),
                Field("artifacts", lambda s, p: paths(s, p) or ABSENT, shape={"*": str}),
                Field("approval", _approval, meaning=Meaning.GATE, shape=_APPROVAL),
                Field("feedback", _feedback, shape=str),
                Field("reason", lambda s, p: or_absent(s.step(p).reason), shape=str),
                *skill_tests.OF_PHASE,
            ),
        ),
        Items(
            "tasks",
            each=tasks.tasks,
            name=_index,
            key="index",
            when=lambda s: bool(tasks.tasks(s)),
            added=_added_task,
            keys=COUNT,
            fields=(
                Field("description", lambda s, p: s.plan.step(p).label, meaning=Meaning.FIXED, shape=str),
                Field("status", status_of, PHASE, meaning=Meaning.STATUS, required=True),
                unless_found(detail("status_detail", PHASE, meaning=Meaning.FIXED)),
                Field(tasks.COMMIT, _commit, nullable=True, meaning=Meaning.DATA, shape=str),
                *(
                    Field(f"tdd_phases.{name}", _tdd(name), PHASE, meaning=Meaning.STATUS)
                    for name in ("red", "green", "refactor")
                ),
            ),
        ),
        skill_tests.CHECKPOINTS,
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
    sign=f"{FOLDER}/index.json",
    adopt=_adopt,
    found_at=found_at,
    index=index,
)
