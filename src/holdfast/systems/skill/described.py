"""What the schemas of the skill dialect say beside its fields."""

from __future__ import annotations

from holdfast.documents.lens.fields import ID, MOMENT
from holdfast.documents.lens.spec import Described, record
from holdfast.systems.skill.words import FOLDER

_OF_PHASE, _OF_CHECK = "state_machine.phases[]", "checkpoints.NAME"
_ABOUT = {
    "": f"{FOLDER}/active/<id>.json while it runs, {FOLDER}/completed/<id>.json afterwards. "
    "Fields that are not named here are kept as they are.",
    "_schema.skill": "The name of the workflow's definition.",
    "_schema.file": "The name of the file, without .json, where that is not the workflow's id.",
    "workflow.status": "One of the four words; a template may name several, separated by bars.",
    "context": "Whatever the skill needs to resume.",
    "context.feature_file": "The file that is worked on, relative to the top of the worktree. In a folder, the current "
    "one.",
    "context.feature_title": "Its title.",
    "context.folder_mode": "Whether the work is a folder of features.",
    "context.folder_path": "That folder.",
    "context.folder_features": "The features of the folder, in order: file, title and status of each.",
    "context.task_description": "What a test-driven cycle is about.",
    "context.task_details": "What its feature file says below it.",
    "context.task_index": "The number of that task in its feature file, from 1.",
    "state_machine.current_phase": "The first phase that is not completed; the last one when all are.",
    "state_machine.current_step": "Where in the phase the work is: the path of a step below it.",
    "state_machine.cycle_count": "How many times the phase whose test must fail was begun.",
    f"{_OF_PHASE}.steps": "The checks of the phase; their results are in checkpoints.",
    f"{_OF_PHASE}.artifacts": "Paths by name.",
    f"{_OF_PHASE}.approval": "A gate that a person passes. Only its own command changes it.",
    f"{_OF_PHASE}.approval.claimed": "Said by the document this workflow was adopted from, and to be confirmed by a "
    "person.",
    f"{_OF_PHASE}.test_file": "The file of the test that must fail.",
    f"{_OF_PHASE}.failure_confirmed": "Whether the test was seen to fail.",
    f"{_OF_PHASE}.implementation_file": "The file that has most of what the phase wrote.",
    f"{_OF_PHASE}.last_error": "Why the last run was not what the phase asks for.",
    f"{_OF_CHECK}.passed": "False: it ran, and is still outstanding.",
    f"{_OF_CHECK}.count": "How many tests ran.",
    f"{_OF_CHECK}.findings": "What a security review found.",
    f"{_OF_CHECK}.issues": "What could be simpler.",
    f"{_OF_CHECK}.pr_number": "The number of the pull request.",
    f"{_OF_CHECK}.pr_url": "Its page.",
    "test_state": "What the last run of the tests showed.",
    "test_state.last_result": "passed or failed: how the command ended.",
    "files_modified": "The files written since the start, by the phase that wrote them.",
}
_INDEX = Described(
    "The active workflows of a worktree",
    {
        "": f"{FOLDER}/index.json: to be read, and written again by every workflow that starts or ends.",
        "active_workflows[].feature": "What the workflow is about: a file, a folder or a text.",
    },
    record(
        schema_version=("1.0",),
        updated_at=MOMENT,
        active_workflows=[record(id=ID, skill=str, feature=str, started_at=MOMENT, last_activity=MOMENT)],
    ),
)
DESCRIBED = Described("The state of a skill's workflow", _ABOUT, files={"index": _INDEX})
