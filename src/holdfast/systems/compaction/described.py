"""What the schema of the compaction dialect says beside its fields."""

from __future__ import annotations

from holdfast.documents.lens.spec import Described
from holdfast.systems.compaction.adoption import FOLDER

DESCRIBED = Described(
    "The state of a workflow that survives compaction",
    {
        "": f"{FOLDER}/<name>/state-<name>-<time>.json while the work continues; deleted, with its folder, when it is "
        "done. Fields that are not named here are kept as they are.",
        "workflow": "What people call the workflow. Another one renames it; its file keeps its name.",
        "workflow_type": "Written is one of the four. A document that has another word is read and keeps it.",
        "definition": "The definition of the project that has the gates, where workflow_type does not say it.",
        "phase": "Where the work is. An edit may move it anywhere, as far as the definition's gates allow.",
        "phase.current": "The number of the phase, from 1.",
        "phase.total": "How many phases there are.",
        "phase.status": "Written is one of the first four. The others are read as not_started, in_progress (twice) and "
        "completed (twice), and stay as long as they hold.",
        "required_reading": "Files that an agent which takes the work up has to read: paths from the top of the "
        "worktree, with @ in front.",
        "context": "Whatever has to be remembered.",
        "key_reminders": "Rules that must not be forgotten.",
        "created_at": "When the work began, in ISO 8601; the time in the file's name. Written in UTC with Z; offsets "
        "and fractions are read, and stay.",
        "updated_at": "When the document last changed, in UTC with milliseconds: it tells from which rendering "
        "somebody began an edit, so leave it as it is. It comes with the first change after a document of somebody "
        "else's making was taken over.",
    },
)
