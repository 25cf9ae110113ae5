"""What becomes of each field of an edit: realistic writes of agents and people, in all five systems.

A row has the change, the code of the alert it leads to ("" for none), the lines that are kept beside the original,
and what the document says afterwards. Fields that follow from the rest, which are put right without a word, are left
out of the lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.value import Value
from holdfast.project.workflow import Workflow
from tests.orchestrated import TASKS
from tests.phases import FIRST, write_outputs
from tests.workbench import Bench

PARTLY, FORGED, NORMALISED, REFUSED = "edit_partly_refused", "edit_forged", "edit_normalised", "edit_refused"
RELEASE = """
name = "release"
dialect = "DIALECT"

[[step]]
id = "write"

[[step]]
id = "verify"
checks = ["tests"]

[[step]]
id = "sign-off"
approval = { by = "human" }

[[step]]
id = "publish"
"""
MIGRATION = ("Backup", "Schema", "Data", "Verify", "Switch")
BLUEPRINT = "# Scene\n\n## Constraints\n\n- no rain\n"


class Desk:
    """A workflow and its document; every look is that of a new process."""

    def __init__(self, bench: Bench, id: str, path: Path) -> None:
        self.bench, self.id, self.path = bench, id, path

    def look(self, kind: str = "agent") -> Workflow:
        return self.bench.open(kind).workflow(self.id)

    @property
    def document(self) -> dict[str, Any]:
        return json.loads(self.path.read_bytes())

    def edit(self, change: Callable[[dict[str, Any]], Any]) -> bytes:
        document = self.document
        changed = change(document)
        self.path.write_text(json.dumps(changed if isinstance(changed, dict) else document))
        return self.path.read_bytes()

    def kept(self) -> dict[bytes, list[str]]:
        """What is kept aside, with the lines beside it."""
        folder = self.bench.root / ".holdfast/quarantine"
        paths = [path for path in sorted(folder.glob("*")) if path.suffix != ".reason"]
        return {path.read_bytes(): Path(f"{path}.reason").read_text().splitlines() for path in paths}


def compaction(bench: Bench) -> Desk:
    bench.write("docs/guide.md", "Read me.\n")
    how: dict[str, Any] = {"reading": ("@docs/guide.md",), "reminders": ("Back up first",)}
    id = bench.start("custom", "Database Migration", phases=MIGRATION, context={"plan_number": 1}, **how).id
    (path,) = bench.root.glob("untracked/workflow-state/*/state-*.json")
    return Desk(bench, id, path)


def gates(bench: Bench) -> Desk:
    """A definition of the project's own, shown as a compaction document."""
    bench.write(".holdfast/workflows/release.toml", RELEASE.replace("DIALECT", "compaction"))
    id = bench.start("release", "1.0").id
    (path,) = bench.root.glob("untracked/workflow-state/*/state-*.json")
    return Desk(bench, id, path)


def skill(bench: Bench) -> Desk:
    bench.write(".holdfast/workflows/release.toml", RELEASE.replace("DIALECT", "skill"))
    id = bench.start("release", "1.0").id
    return Desk(bench, id, bench.root / f".claude/workflow-state/active/{id}.json")


def dev(bench: Bench) -> Desk:
    bench.saved_feature("features/login.md", "Add a form", "Check the password")
    id = bench.start("dev", "features/login.md").id
    return Desk(bench, id, bench.root / f".claude/workflow-state/active/{id}.json")


def orchestrator(bench: Bench) -> Desk:
    task = bench.write("docs/task.md", TASKS)
    bench.save("the task")
    id = bench.start("orchestrate", str(task)).id
    bench.open().workflow(id).done("plan").approve("plan")
    return Desk(bench, id, bench.root / ".claude/agent-state.json")


def story(bench: Bench) -> Desk:
    bench.write("acts/act-1/chapters/chapter-02/scenes/scene-0204-blueprint.md", BLUEPRINT)
    id = bench.start("generation", "0204").id
    return Desk(bench, id, bench.root / f"workspace/workflow-state/{id}.json")


def gated(bench: Bench) -> Desk:
    id = bench.start("feature", "Dark mode").id
    write_outputs(bench.write, f"workflow/{id}", FIRST)
    return Desk(bench, id, bench.root / f"workflow/{id}/workflow-state.json")


def phase(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in document["state_machine"]["phases"] if one["name"] == name)


def at(document: Any, place: str) -> Any:
    """`state_machine.phases.0.status`; `-` where there is nothing."""
    for name in place.split("."):
        if isinstance(document, list):
            document = document[int(name)] if int(name) < len(document) else "-"
        else:
            document = document.get(name, "-")
    return document


class Row(Value):
    system: Callable[[Bench], Desk]
    change: Callable[[dict[str, Any]], Any]
    code: str = ""
    lines: tuple[str, ...] = ()
    says: dict[str, Any] = {}


def rewritten(document: dict[str, Any]) -> dict[str, Any]:
    """Another order, another form, no bookkeeping, and one note."""
    kept = {name: document[name] for name in reversed(list(document)) if name not in ("created_at", "updated_at")}
    return {**kept, "key_reminders": ["Back up first", "Ask Ada"]}


APPROVED = {"required": True, "by": "human", "approved": True, "approved_by": "ada"}
PUT_BACK_APPROVAL = (
    "reverted: state_machine.phases[sign-off].approval (forged): only a person or reviewer may set this field"
)
PAST = "reverted: state_machine.current_phase (gate_unmet): the step verify is not done: the check 'tests' has not run"


def forged_with_notes(d: dict[str, Any]) -> None:
    phase(d, "sign-off")["approval"] = APPROVED
    d["context"]["decision"] = "B"
    d["history"].append({"event": "decision", "note": "B"})


def reported(d: dict[str, Any], **said: Any) -> None:
    phase(d, "write")["status"] = "completed"
    d["checkpoints"]["tests"] = {"status": "completed", **said}


def finished_task(d: dict[str, Any], **met: Any) -> None:
    d["completed_tasks"].append({"task": "1.1", "success_criteria_met": met})
    d["learnings"].append({"lesson": "look first"})


ROWS = {
    # The agent's own account
    "a reminder": Row(
        compaction,
        lambda d: d["key_reminders"].append("Ask Ada"),
        says={"key_reminders": ["Back up first", "Ask Ada"]},
    ),
    "a reminder as a text": Row(
        compaction,
        lambda d: d.update(key_reminders="Ask Ada"),
        NORMALISED,
        ('normalised: key_reminders, to ["Ask Ada"]',),
        {"key_reminders": ["Ask Ada"]},
    ),
    "reminders as lines of a text": Row(
        compaction,
        lambda d: d.update(key_reminders="- Back up first\n- Ask Ada"),
        NORMALISED,
        ('normalised: key_reminders, to ["Back up first","Ask Ada"]',),
        {"key_reminders": ["Back up first", "Ask Ada"]},
    ),
    "a reminder that is a number": Row(
        compaction,
        lambda d: d["key_reminders"].append(42),
        NORMALISED,
        ('normalised: key_reminders, to ["Back up first","42"]',),
        {"key_reminders": ["Back up first", "42"]},
    ),
    "one reminder that is too long": Row(
        compaction,
        lambda d: d["key_reminders"].extend(["x" * 3000, "Ask Ada"]),
        PARTLY,
        (
            "taken: key_reminders",
            (
                "reverted: key_reminders[2] (bad_text): "
                "the entry of reminders must have 1 to 2000 bytes of text, and has 3000"
            ),
        ),
        {"key_reminders": ["Back up first", "Ask Ada"]},
    ),
    "reading without a list": Row(
        compaction,
        lambda d: d.update(required_reading="@docs/guide.md"),
        NORMALISED,
        ('normalised: required_reading, to ["@docs/guide.md"]',),
        {"required_reading": ["@docs/guide.md"]},
    ),
    "the next phase": Row(
        compaction,
        lambda d: d["phase"].update(current=2, name="Schema"),
        says={"phase.current": 2, "phase.name": "Schema", "phase.status": "in_progress"},
    ),
    "the next phase as texts": Row(
        compaction,
        lambda d: d["phase"].update(current="2", total="5", name="Schema", status="In Progress"),
        NORMALISED,
        ('normalised: phase, to {"current":2,"total":5,"name":"Schema","status":"in_progress"}',),
        {"phase": {"current": 2, "total": 5, "name": "Schema", "status": "in_progress"}},
    ),
    "a phase without total and name": Row(
        compaction,
        lambda d: d.update(phase={"current": 2, "status": "In-Progress"}),
        NORMALISED,
        ('normalised: phase, to {"current":2,"total":5,"status":"in_progress","name":""}',),
        {"phase": {"current": 2, "total": 5, "name": "Schema", "status": "in_progress"}},
    ),
    "an unknown word and a note": Row(
        compaction,
        lambda d: (d["phase"].update(status="splendid"), d["context"].update(note="x")),
        PARTLY,
        (
            "taken: context.note",
            (
                "reverted: phase (unknown_word): 'splendid' is not one of not_started, in_progress, blocked, "
                "completed, pending, active, in-progress, complete, done"
            ),
        ),
        {"phase.status": "in_progress", "context.note": "x"},
    ),
    "a phase before the first and a reminder": Row(
        compaction,
        lambda d: (d["phase"].update(current=0), d["key_reminders"].append("Ask Ada")),
        NORMALISED,
        (
            'normalised: phase, to {"current":1,"total":5,"name":"Backup","status":"in_progress"}',
            "taken: key_reminders",
        ),
        {"phase.current": 1, "key_reminders": ["Back up first", "Ask Ada"]},
    ),
    "a phase beyond all bounds and a reminder": Row(
        compaction,
        lambda d: (d["phase"].update(current=999), d["key_reminders"].append("Ask Ada")),
        PARTLY,
        (
            "taken: key_reminders",
            "reverted: phase (wrong_shape): phase.current must be a number from 1 to 200",
        ),
        {"phase.current": 1, "key_reminders": ["Back up first", "Ask Ada"]},
    ),
    "another name and type": Row(
        compaction,
        lambda d: d.update(workflow="Move to Postgres", workflow_type="implementation"),
        says={"workflow": "Move to Postgres", "workflow_type": "implementation"},
    ),
    "the type in another case": Row(
        compaction,
        lambda d: d.update(workflow_type="QA Loop"),
        NORMALISED,
        ('normalised: workflow_type, to "qa-loop"',),
        {"workflow_type": "qa-loop"},
    ),
    "a type that is no text, with a note": Row(
        compaction,
        lambda d: (d.update(workflow_type=7), d["context"].update(note="x")),
        PARTLY,
        ("reverted: workflow_type (wrong_shape): workflow_type must be a text", "taken: context.note"),
        {"context.note": "x"},
    ),
    "the next phase with its total and a sign": Row(
        compaction,
        lambda d: d["phase"].update(current="2/5", status="In Progress 🚧"),
        NORMALISED,
        ('normalised: phase, to {"current":2,"total":5,"name":"Backup","status":"in_progress"}',),
        {"phase.current": 2, "phase.status": "in_progress"},
    ),
    "a status with a sign": Row(
        compaction,
        lambda d: d["phase"].update(status="Done ✅"),
        NORMALISED,
        ('normalised: phase, to {"current":1,"total":5,"name":"Backup","status":"done"}',),
        {"phase.current": 2, "phase.status": "in_progress"},
    ),
    "keys of the context": Row(
        compaction,
        lambda d: d["context"].update(plan_number=2, files=["a", {"b": None}]),
        says={"context": {"plan_number": 2, "files": ["a", {"b": None}]}},
    ),
    "a context that is no object": Row(
        compaction,
        lambda d: d.update(context="phase 2", key_reminders=["Ask Ada"]),
        NORMALISED,
        ('normalised: context.context, to "phase 2"', "taken: key_reminders"),
        {"context": {"plan_number": 1, "context": "phase 2"}, "key_reminders": ["Ask Ada"]},
    ),
    "fields that were forgotten": Row(
        compaction,
        lambda d: {name: d[name] for name in ("workflow", "workflow_type", "phase")} | {"context": {"plan_number": 2}},
        PARTLY,
        (
            "reverted: required_reading (deleted): required_reading was missing from the document",
            "taken: context.plan_number",
            "reverted: key_reminders (deleted): key_reminders was missing from the document",
        ),
        {"required_reading": ["@docs/guide.md"], "key_reminders": ["Back up first"], "context": {"plan_number": 2}},
    ),
    "a whole rewrite with one note": Row(
        compaction, rewritten, says={"key_reminders": ["Back up first", "Ask Ada"], "phase.current": 1}
    ),
    "the engine's bookkeeping": Row(
        compaction, lambda d: d.update(created_at="2001-01-01T00:00:00Z", updated_at="x"), says={"phase.current": 1}
    ),
    "a field of one's own": Row(compaction, lambda d: d.update(mine={"a": 1}), says={"mine": {"a": 1}}),
    # The same document with gates behind it
    "past a gate, with a reminder": Row(
        gates,
        lambda d: (d["phase"].update(current=4, name="publish"), d["key_reminders"].append("Ask Ada")),
        PARTLY,
        (
            "taken: key_reminders",
            "reverted: phase (gate_unmet): the work cannot go past sign-off, which people have to pass first",
        ),
        {"phase.current": 1, "key_reminders": ["Ask Ada"]},
    ),
    "past a gate and nothing else": Row(
        gates,
        lambda d: d["phase"].update(current=4, name="publish"),
        REFUSED,
        ("reverted: phase (gate_unmet): the work cannot go past sign-off, which people have to pass first",),
        {"phase.current": 1},
    ),
    # Skills
    "a forged approval with notes": Row(
        skill,
        forged_with_notes,
        FORGED,
        ("taken: context.decision", PUT_BACK_APPROVAL, "taken: history[1]"),
        {"context.decision": "B", "state_machine.phases.2.approval.approved": False, "history.2.note": "B"},
    ),
    "a forged approval alone": Row(
        skill,
        lambda d: phase(d, "sign-off").update(approval=APPROVED),
        FORGED,
        (PUT_BACK_APPROVAL,),
        {"state_machine.phases.2.approval.approved": False},
    ),
    "an approval in the history": Row(
        skill,
        lambda d: d["history"].extend([{"event": "approved", "phase": "sign-off"}, {"event": "mine"}]),
        FORGED,
        (
            "reverted: history[1] (forged): only people and reviewers say what was approved",
            "taken: history[2]",
        ),
        {"history.2.event": "mine"},
    ),
    "the pointer past a check, with a note": Row(
        skill,
        lambda d: (d["state_machine"].update(current_phase="publish"), d["context"].update(k=1)),
        PARTLY,
        ("taken: context.k", PAST),
        {"state_machine.current_phase": "write", "context.k": 1},
    ),
    "the pointer in another spelling": Row(
        skill,
        lambda d: d["state_machine"].update(current_phase="Verify"),
        NORMALISED,
        ('normalised: state_machine.current_phase, to "verify"',),
        {"state_machine.current_phase": "verify", "state_machine.phases.0.status": "completed"},
    ),
    "the script of a transition": Row(
        skill,
        lambda d: (
            d["state_machine"].update(current_phase="verify"),
            d["workflow"].update(updated_at="2026-01-01T00:00:00+00:00"),
            d["history"].append({"event": "phase_started", "phase": "verify"}),
        ),
        says={"state_machine.phases.1.status": "in_progress", "history.4.event": "phase_started", "history.5": "-"},
    ),
    "a history entry of what was refused": Row(
        skill,
        lambda d: (
            phase(d, "publish").update(status="in_progress"),
            d["history"].append({"event": "phase_started", "phase": "publish"}),
            d["context"].update(k=1),
        ),
        PARTLY,
        (
            "taken: context.k",
            (
                "reverted: state_machine.phases[publish].status (step_blocked): "
                "the step publish cannot begin before sign-off"
            ),
            "reverted: history[1] (put_back): state_machine.phases[publish].status was reverted",
        ),
        {"context.k": 1, "state_machine.phases.3.status": "pending"},
    ),
    "a status in other words": Row(
        skill,
        lambda d: phase(d, "write").update(status="Done"),
        NORMALISED,
        ('normalised: state_machine.phases[write].status, to "completed"',),
        {"state_machine.phases.0.status": "completed"},
    ),
    "a check reported with figures as texts": Row(
        skill,
        lambda d: reported(d, passed="true"),
        NORMALISED,
        ("normalised: checkpoints.tests.passed, to true", "taken: state_machine.phases[write].status"),
        {"checkpoints.tests.passed": True, "state_machine.phases.0.status": "completed"},
    ),
    "a figure without a report": Row(
        skill,
        lambda d: (d["checkpoints"]["tests"].update(count=12), d["context"].update(k=1)),
        PARTLY,
        (
            "taken: context.k",
            (
                "reverted: checkpoints.tests (not_reported): a figure alone reports nothing: "
                "checkpoints.tests needs its status or passed as well"
            ),
        ),
        {"context.k": 1, "checkpoints.tests.status": "pending"},
    ),
    "a phase added and begun out of turn": Row(
        skill,
        lambda d: d["state_machine"]["phases"].append({"name": "announce", "status": "in_progress"}),
        PARTLY,
        (
            "taken: state_machine.phases[announce]",
            (
                "reverted: state_machine.phases[announce].status (step_blocked): "
                "the step announce cannot begin before publish"
            ),
        ),
        {"state_machine.phases.4.name": "announce", "state_machine.phases.4.status": "pending"},
    ),
    "a gated phase left out, with a note": Row(
        skill,
        lambda d: (d["state_machine"]["phases"].pop(2), d["context"].update(k=1)),
        PARTLY,
        (
            "taken: context.k",
            (
                "reverted: state_machine.phases[sign-off] (deleted): it was missing from the document; "
                "holdfast amend sign-off --retire takes it out"
            ),
        ),
        {"context.k": 1, "state_machine.phases.2.name": "sign-off"},
    ),
    "a gated phase renamed, with a note": Row(
        skill,
        lambda d: (phase(d, "sign-off").update(name="sign"), d["context"].update(k=1)),
        PARTLY,
        (
            (
                "reverted: state_machine.phases[sign] (not_possible): it is where sign-off stood, "
                "and no edit renames a step"
            ),
            (
                "reverted: state_machine.phases[sign-off] (deleted): it was missing from the document; "
                "holdfast amend sign-off --retire takes it out"
            ),
            "taken: context.k",
        ),
        {"state_machine.phases.2.name": "sign-off", "state_machine.phases.4": "-"},
    ),
    "an entry of the history changed, with a new one": Row(
        skill,
        lambda d: (d["history"][0].update(event="mine"), d["history"].append({"event": "other"})),
        PARTLY,
        (
            "reverted: history (forged): history cannot be changed: 1 entry was changed or taken out",
            "taken: history[1]",
        ),
        {"history.0.event": "workflow_started", "history.2.event": "other", "history.4": "-"},
    ),
    "the id and a status": Row(
        skill,
        lambda d: (d["workflow"].update(id="release-2"), phase(d, "write").update(status="in_progress")),
        PARTLY,
        (
            "reverted: workflow.id (forged): only Holdfast may set this field",
            "taken: state_machine.phases[write].status",
        ),
        {"state_machine.phases.0.status": "in_progress"},
    ),
    "the history taken out, with a note": Row(
        skill,
        lambda d: (d["history"].clear(), d["context"].update(k=1)),
        PARTLY,
        (
            "taken: context.k",
            "reverted: history (forged): history cannot be changed: 1 entry was changed or taken out",
        ),
        {"history.0.event": "workflow_started"},
    ),
    "everything completed at once, with a note": Row(
        skill,
        lambda d: (d["workflow"].update(status="completed"), d["context"].update(k=1)),
        PARTLY,
        (
            "taken: context.k",
            "reverted: workflow.status (gate_unmet): the step verify is not done: the check 'tests' has not run",
        ),
        {"workflow.status": "in_progress", "state_machine.phases.0.status": "pending"},
    ),
    "everything completed field by field, with a note": Row(
        skill,
        lambda d: (
            d["workflow"].update(status="completed"),
            d["state_machine"]["phases"][2].update(status="completed"),
            d["state_machine"]["phases"][1].update(status="completed"),
            d["state_machine"]["phases"][0].update(status="completed"),
            d["state_machine"]["phases"][3].update(status="completed"),
            d["context"].update(k=1),
        ),
        PARTLY,
        (
            "taken: context.k",
            "taken: state_machine.phases[write].status",
            (
                "reverted: state_machine.phases[verify].status (gate_unmet): "
                "the step verify is not done: the check 'tests' has not run"
            ),
            (
                "reverted: state_machine.phases[sign-off].status (step_blocked): "
                "the step sign-off cannot begin before verify"
            ),
            (
                "reverted: state_machine.phases[publish].status (step_blocked): "
                "the step publish cannot begin before sign-off"
            ),
            (
                "reverted: workflow.status (not_possible): "
                "it is in_progress, as these steps are not done: verify, sign-off, publish"
            ),
        ),
        {"workflow.status": "in_progress", "state_machine.phases.1.status": "pending", "context.k": 1},
    ),
    "a run called completed, with a field of one's own": Row(
        orchestrator,
        lambda d: (d["orchestrator"].update(status="completed"), d.update(mine="x")),
        PARTLY,
        (
            (
                "reverted: orchestrator.status (not_possible): it is in_progress, as these steps are not done: "
                "phase-1/1.1, phase-1/1.2, phase-2/2.1, and 3 more"
            ),
            "taken: mine",
        ),
        {"orchestrator.status": "executing", "mine": "x"},
    ),
    "a run called reviewing, with a field of one's own": Row(
        orchestrator,
        lambda d: (d["orchestrator"].update(status="reviewing"), d.update(mine="x")),
        PARTLY,
        ("reverted: orchestrator.status (not_possible): review is pending", "taken: mine"),
        {"orchestrator.status": "executing", "mine": "x"},
    ),
    "another description of a task, with a note": Row(
        dev,
        lambda d: (d["tasks"][0].update(description="Add two forms"), d["context"].update(k=1)),
        PARTLY,
        ("taken: context.k", "reverted: tasks[1].description (forged): only Holdfast may set this field"),
        {"tasks.0.description": "Add a form", "context.k": 1},
    ),
    "the number of a task as a text": Row(
        dev,
        lambda d: d["tasks"][0].update(index="1", own="mine"),
        NORMALISED,
        ("normalised: tasks[1].index, to 1",),
        {"tasks.0.index": 1, "tasks.0.own": "mine", "tasks.2": "-"},
    ),
    "tasks that were forgotten, with a note": Row(
        dev,
        lambda d: (d.pop("tasks"), d["context"].update(k=1)),
        PARTLY,
        ("taken: context.k", "reverted: tasks (deleted): tasks was missing from the document"),
        {"tasks.1.description": "Check the password", "context.k": 1},
    ),
    # The orchestrator
    "a task whose criteria are not met, with a learning": Row(
        orchestrator,
        lambda d: finished_task(d, model_updated=True),
        PARTLY,
        (
            "taken: learnings[0]",
            (
                "reverted: completed_tasks[0] (gate_unmet): the step phase-1/1.1 is not done: "
                "the check 'tests_pass' has not run"
            ),
        ),
        {"completed_tasks": [], "learnings.0.lesson": "look first"},
    ),
    "another bound, with a cost": Row(
        orchestrator,
        lambda d: d["safety_bounds"].update(max_cost="$1000", cost_so_far="$0.20"),
        FORGED,
        (
            "reverted: safety_bounds.max_cost (forged): only people change bounds",
            "taken: safety_bounds.cost_so_far",
        ),
        {"safety_bounds.max_cost": "$1", "safety_bounds.cost_so_far": "$0.20"},
    ),
    "the supervisor's counters, with a learning": Row(
        orchestrator,
        lambda d: (d["supervisor"].update(checks_performed="9"), d["learnings"].append({"lesson": "look first"})),
        PARTLY,
        (
            "reverted: supervisor.checks_performed (forged): only Holdfast may set this field",
            "taken: learnings[0]",
        ),
        {"supervisor.checks_performed": 0, "learnings.0.lesson": "look first"},
    ),
    # Stories
    "an approval and a step of a scene": Row(
        story,
        lambda d: (
            d["generation"]["steps"][2]["human_approval"].update(approved=True),
            d["generation"]["steps"][0].update(status="in progress"),
        ),
        FORGED,
        (
            "reverted: generation.steps[3].human_approval (forged): only a person or reviewer may set this field",
            'normalised: generation.steps[1].status, to "in_progress"',
        ),
        {"generation.steps.0.status": "in_progress", "generation.steps.2.human_approval.approved": False},
    ),
    "the type of a run, with a field of one's own": Row(
        story,
        lambda d: d.update(workflow_type="planning", mine=1),
        PARTLY,
        ("reverted: workflow_type (forged): only Holdfast may set this field", "taken: mine"),
        {"workflow_type": "generation", "mine": 1},
    ),
    # Reviewed phases
    "the status of a phase in another spelling": Row(
        gated,
        lambda d: d["phases"]["01-requirements"].update(status="In Progress"),
        NORMALISED,
        ('normalised: phases.01-requirements.status, to "in_progress"',),
        {"phases.01-requirements.status": "in_progress"},
    ),
    "a phase that approves itself, and one handed in": Row(
        gated,
        lambda d: (
            d["phases"]["01-requirements"].update(status="in-review"),
            d["phases"]["02-architecture"].update(status="Approved"),
        ),
        FORGED,
        (
            'normalised: phases.01-requirements.status, to "in_review"',
            (
                "reverted: phases.02-architecture.status (not_possible): "
                "02-architecture is pending and cannot become approved by hand"
            ),
        ),
        {"phases.01-requirements.status": "in_review", "phases.02-architecture.status": "pending"},
    ),
    "fewer phases of one's own": Row(
        compaction,
        lambda d: d["phase"].update(total=3),
        NORMALISED,
        ("removed: switch, verify",),
        {"phase.total": 3},
    ),
    "fewer phases than the definition has, with a field of one's own": Row(
        gates,
        lambda d: (d["phase"].update(total=1), d.update(mine="x")),
        PARTLY,
        ("taken: mine", "reverted: phase.total (not_optional): the definition asks for verify"),
        {"phase.total": 4, "mine": "x"},
    ),
    "a step of a story left out, with a field of one's own": Row(
        story,
        lambda d: (d["generation"]["steps"].pop(2), d.update(mine="x")),
        PARTLY,
        (
            "taken: mine",
            (
                "reverted: generation.steps[3] (deleted): it was missing from the document; "
                "holdfast amend verification-plan --retire takes it out"
            ),
        ),
        {"generation.steps.2.name": "Verification Plan", "mine": "x"},
    ),
    "a pull request made up, with a field of one's own": Row(
        gated,
        lambda d: d.update(pr_number=7, mine="x"),
        PARTLY,
        ("reverted: pr_number (forged): only Holdfast may set this field", "taken: mine"),
        {"pr_number": None, "mine": "x"},
    ),
}


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_what_each_field_became(tmp_path, row):
    desk = row.system(Bench(tmp_path / "project").begun())
    written = desk.edit(row.change)
    workflow = desk.look()
    kept = desk.kept()
    told = [line for lines in kept.values() for line in lines if not line.startswith("corrected: ")]
    assert sorted(told) == sorted(row.lines)
    assert list(kept) == ([written] if row.code else [])
    assert [alert.code for alert in workflow.state.alerts] == ([row.code] if row.code else [])
    document = desk.document
    assert {place: at(document, place) for place in row.says} == row.says
    assert json.loads(json.dumps(workflow.document())) == document
    commands = [record.command for record in workflow.history()]
    assert commands[-1] == ("alarm" if row.lines and not any(map(is_taken, row.lines)) else "edit")
    again = desk.look()
    assert (again.state.revision, desk.path.read_bytes()) == (workflow.state.revision, desk.path.read_bytes())


def is_taken(line: str) -> bool:
    return line.startswith(("taken: ", "normalised: ", "removed: "))


def test_there_are_rows_enough_in_every_system():
    systems = [row.system for row in ROWS.values()]
    assert len(systems) >= 34
    assert {*systems} == {compaction, gates, skill, dev, orchestrator, story, gated}
