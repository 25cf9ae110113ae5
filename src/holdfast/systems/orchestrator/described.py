"""What the schema of the orchestrator dialect says beside its fields."""

from __future__ import annotations

from holdfast.documents.lens.spec import Described
from holdfast.systems.orchestrator import words

DESCRIBED = Described(
    "The state of a run of a task document",
    {
        "": f"{words.FOLDER}/{words.FILE}. Fields that are not named here are kept as they are. Phases are counted "
        "from 0; a document that counts from 1 is read, and written from 0 on.",
        "orchestrator.status": "An edit to failed gives the run up. Any other follows from the steps.",
        "orchestrator.task_doc": "Absolute path of the task document.",
        "orchestrator.current_task": "3/5: the third of five tasks in the current phase.",
        "orchestrator.ralph_iteration": "Which try at the current task this is; 0 before it begins.",
        "orchestrator.outer_ralph": "Whether the outer review is running.",
        "orchestrator.pause": "What keeps the run from continuing, while something does.",
        "supervisor": "Only checks of the supervisor change it: holdfast orchestrator supervise.",
        "supervisor.interventions": "The newest 100 conflicts.",
        "active_agents": "Agents at work. One that is no longer there may be taken out by hand.",
        "active_agents[].type": "One of the four, or what else an agent is called.",
        "completed_tasks": "One that is added by hand is done, if its criteria are met.",
        "completed_tasks[].files_modified": "As git tells it.",
        "pending_tasks": "Tasks that are not done, those that have begun among them.",
        "safety_bounds": "The bounds change by holdfast extend. An edit that makes cost_so_far more is money spent.",
        "safety_bounds.max_iterations_per_task": "null is no bound.",
        "safety_bounds.elapsed_time": "Since the start, without what was paused.",
        "learnings": "The newest 100; learnings.jsonl has all. One that is added by hand is kept.",
        "learnings[].task": "The number of a task, or where else it was learned; empty where nobody said.",
        "milestones": "One for each phase that is over. Only issue_url is anybody's to write.",
        "milestones[].issue_url": "Empty where there is none.",
        "checkpoints": "The newest 100. Copying a snapshot over the document goes back to it.",
        "checkpoints[].task": "The task after which it was taken, or what a person called it.",
        "checkpoints[].git_sha": "Empty where there is no commit.",
    },
)
