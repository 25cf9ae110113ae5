"""The tools of the convention as data: what each is for, what it takes and what it gives."""

from __future__ import annotations

from holdfast.surfaces.tools import convention
from holdfast.surfaces.tools.shape import Input, Tool, typed

STATUSES = ("in_progress", "waiting_approval", "completed", "failed")
ID = Input("workflow_id", "string", required=True, most=200)
STEP = Input("step", "step", required=True, about="number or id")
TOKEN = Input("token", "string", most=64)
"""Of the caller's lease, where agents have leases."""
DONE = "success:boolean workflow_id:string"
_NEXT = "next_step:integer? next_step_name:string?"
_STANDING = typed(
    "workflow_id:string workflow_type:string status:string current_step:integer current_step_name:string "
    "waiting_for_approval:boolean progress_percentage:integer artifacts:object"
)
CONVENTION = (
    Tool(
        title="Workflow status",
        about="Get current workflow state",
        inputs=(ID,),
        outputs=_STANDING,
        run=convention.get_workflow_status,
        reads=True,
    ),
    Tool(
        title="Next step",
        about="Get next step info: its work, what blocks it, and the call that leads on",
        inputs=(ID, Input("limit", "integer", least=1, most=50_000, about="bytes, if 2 KB are not enough"), TOKEN),
        outputs=typed(
            "can_proceed:boolean current_step:integer current_step_name:string current_status:string "
            f"blocking_reason:string? required_action:string? {_NEXT} prerequisites_met:boolean"
        ),
        run=convention.get_next_step,
        reads=True,
    ),
    Tool(
        title="Check prerequisites",
        about="Check if prerequisites are met for a step",
        inputs=(ID, STEP),
        outputs=typed(
            "prerequisites_met:boolean required_steps:integers completed_steps:integers missing_steps:integers "
            "can_start_step:boolean blocking_issues:strings"
        ),
        run=convention.validate_prerequisites,
        reads=True,
    ),
    Tool(
        title="Approve or reject a step",
        about="Pass on a person's decision on a step that waits. Never decide it yourself",
        inputs=(
            *(ID, STEP),
            Input("approved", "boolean", required=True),
            Input("modifications", "object", about="changes they want"),
            Input("selected_variant", "string", most=64),
            Input("feedback", "string", most=20_000, about="what to change"),
            TOKEN,
        ),
        outputs=typed(f"{DONE} step:integer status:string {_NEXT}"),
        run=convention.approve_step,
    ),
    Tool(
        title="Update a step",
        about="Begin a step (in_progress), hand it in (completed), or report failure; name its output files",
        inputs=(
            ID,
            Input("step", "step", about="default: the current one"),
            Input("status", "string", among=STATUSES),
            Input("artifacts", "paths", about="name: path"),
            Input("reason", "string", most=4000),
            Input("test", "string", most=1000),
            Input("url", "string", most=2000, about="of the pull request"),
            Input("message", "string", most=20_000, about="of the commit"),
            Input("commit", "string", most=200, about="if made already"),
            Input("unchanged", "string", most=500, about="why failed work comes back as it was"),
            TOKEN,
        ),
        outputs=typed(f"{DONE} updated_at:string"),
        run=convention.update_workflow_state,
        watched=True,
    ),
    Tool(
        title="List workflows",
        about="List workflows",
        inputs=(
            Input("status", "string", most=64),
            Input("workflow_type", "string", most=64),
            Input("session_name", "string", most=64),
            Input("limit", "integer", least=1, most=100, about="default: what fits 2 KB"),
        ),
        outputs=typed("workflows:objects total:integer"),
        run=convention.list_workflows,
        reads=True,
    ),
    Tool(
        title="Resume a workflow",
        about="Resume a failed or cancelled workflow, or reopen a step",
        inputs=(ID, Input("from_step", "step"), TOKEN),
        outputs=typed(f"{DONE} resumed_from_step:integer current_status:string"),
        run=convention.resume_workflow,
    ),
    Tool(
        title="Cancel a workflow",
        about="Cancel active workflow; its files stay",
        inputs=(ID, Input("reason", "string", most=500), TOKEN),
        outputs=typed(f"{DONE} status:string cleanup_performed:boolean"),
        run=convention.cancel_workflow,
        destroys=True,
    ),
    Tool(
        title="Start a workflow",
        about="Start a workflow from a definition, such as dev, generation or orchestrate",
        inputs=(
            Input("workflow", "string", required=True, most=130),
            Input("subject", "string", most=1000),
            Input("title", "string", most=500),
            Input("session_name", "string", most=64),
            Input("context", "object"),
            Input("phases", "texts", most=500, about="of workflow custom"),
            Input("fresh", "boolean", about="give up the active one first"),
            Input("branch", "string", most=200),
            TOKEN,
        ),
        outputs=_STANDING,
        run=convention.start_workflow,
    ),
)
