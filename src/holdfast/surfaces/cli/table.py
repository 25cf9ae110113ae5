"""Every command: its name, group, one line of help, where the function is that does it, and how options are read.

All of it is data, and how commands are spelled is in `core.naming`. The overview, the parsers and the completion
scripts are made from it.
"""

from __future__ import annotations

from holdfast.core import naming
from holdfast.surfaces.cli.grammar import Option, make
from holdfast.surfaces.cli.table_around import AROUND

ALWAYS = tuple(
    Option(written, *said)
    for written, said in zip(
        naming.ALWAYS.split(),
        (
            ("answer in JSON",),
            ("the role you act in", "name:role"),
            ("show the traceback of a failure that should not happen",),
        ),
        strict=True,
    )
)
COMMON = {
    letter: Option(naming.COMMON[letter], *said)
    for letter, said in {
        "w": ("the workflow: its id, ULID, or the beginning of either", "workflow"),
        "t": ("the fencing token of your lease", "whole:1:999999999"),
        "k": ("the same key again changes nothing", "name:key:200"),
        "r": ("only if nothing happened since this revision", "whole:1:999999999"),
    }.items()
}

_STEP = ("a number, an id, or a path such as build/2", "word")
_UNDER = ("the step it stands in", "word")
_ARTIFACT = ("an output and its file", "artifact")
_REASON = ("why", "text:reason:4000")
_MARKED = ("why", "text:reason:500")
_FEEDBACK = ("what should be different", "text:feedback:20000")
_YES = "do not ask"
_TASK = ("its number", "word")
_FILES = ("files of the project", "path")
_OF = ("the step it belongs to", "word")
_COMMITTED = {
    "message": ("the message, where a commit is made", "text:message:20000", ""),
    "paths": ("commit this file (default: all that changed)", "path"),
    "commit": ("the commit that was made already", "commit", ""),
}
_ACTION = {**_COMMITTED, "url": ("the pull request that was made already", "text:url:1000", "")}

GROUPS = {
    "running": "Running workflows",
    "steps": "Steps",
    "people": "People and reviewers",
    "whole": "The whole workflow",
    "resuming": "What outlives a context",
    "agents": "Agents",
    "tree": "The tree of steps",
    "sessions": "Sessions",
    "definitions": "Definitions",
    "hosts": "Agent hosts",
    "upkeep": "Upkeep",
}

_WORK = make(
    (
        *("start", "running", "start a workflow", "starting:start"),
        {
            "definition": ("the name of its definition", "word"),
            "subject": ("what it is about", "text:subject:1000", ""),
            "values": ("a value of its context", "pair"),
            "session": ("the session it belongs to", "name:session", ""),
            "title": ("its title", "text:title:500", ""),
            "branch": ("the git branch the work goes to", "text:branch:200", ""),
            "resume": "go on with the active one of the same subject",
            "fresh": "give up the active one of the same subject first",
            "phases": ("its phases, with commas between them", "names", ()),
            "reading": ("a file that whoever takes it up has to read", "path"),
            "remind": ("what whoever takes it up has to heed", "text:reminder:2000"),
        },
    ),
    ("status", "running", "where a workflow stands and what is in the way", "running:status"),
    ("next", "running", "the current step: what it asks for and what to type", "running:next_step"),
    (
        *("wait", "running", "wait until a person decided, something changed, or all is done", "waiting:wait"),
        {
            "for": ("what to wait for", "word"),
            "since": ("what happened after this revision counts", "whole:0:999999999"),
            "timeout": ("give up after this time, such as 10m (default: wait on)", "span"),
        },
    ),
    ("show", "running", "the document of a workflow, as its dialect writes it", "running:show"),
    (
        *("list", "running", "the workflows of this project", "running:listing"),
        {
            "status": ("only those with this status", "text:status:64", ""),
            "type": ("only those of this definition", "text:type:64", ""),
            "session": ("only those of this session", "text:session:64", ""),
            "all": "the finished ones too",
        },
    ),
    (
        *("log", "running", "what happened, in order", "running:log"),
        {
            "after": ("only what came after this revision", "whole:0:999999999"),
            "limit": ("at most so many entries", "whole:1:100000", 100),
        },
    ),
    ("metrics", "running", "times, retries and cost", "running:metrics"),
    (
        *("diagram", "running", "the steps as a Mermaid diagram", "running:diagram"),
        {"lifecycle": "the life of a step instead"},
    ),
    ("begin", "steps", "begin a step", "steps:begin", {"step": _STEP}),
    (
        *("done", "steps", "hand a step in: it moves as far as its gates allow", "steps:done"),
        {"step": _STEP, "artifact": _ARTIFACT, **_ACTION},
    ),
    (
        *("attach", "steps", "name an output of a step", "steps:attach"),
        {"step": _STEP, "artifact": ("an output and its file", "artifact")},
    ),
    (
        *("check", "steps", "run a check, or report it", "steps:check"),
        {
            "name": ("the check", "name:check"),
            "run": "Holdfast runs it (when it has a command, this is the default)",
            "passed": "report that it passed",
            "failed": "report that it failed",
            "values": ("what goes with it: findings=0, test=NAME", "pair"),
            "step": _OF,
        },
    ),
    ("fail", "steps", "a try at a step failed", "steps:fail", {"step": _STEP, "reason": _REASON}),
    ("block", "steps", "a step cannot go on", "steps:block", {"step": _STEP, "reason": _REASON}),
    (
        *("unblock", "steps", "a blocked or escalated step goes on", "steps:unblock"),
        {"step": _STEP, "guidance": ("what to do about it", "text:guidance:20000", "")},
    ),
    ("skip", "steps", "leave a step out", "steps:skip", {"step": _STEP, "reason": _REASON}),
    (
        *("submit", "people", "hand a step in for review or approval", "people:submit"),
        {"step": _STEP, "artifact": _ARTIFACT},
    ),
    (
        *("review", "people", "say what a review found", "people:review"),
        {"step": _STEP, "verdict": ("", "word", ""), "feedback": _FEEDBACK},
    ),
    (
        *("approve", "people", "approve a step", "people:approve"),
        {
            "step": _STEP,
            "variant": ("the option that is chosen", "name:variant", ""),
            "values": ("a change that goes with it", "pair"),
            "sign": ("sign with this SSH key", "path", ""),
            "signature": ("a signature that was made elsewhere", "path", ""),
            "payload": "print what has to be signed, and approve nothing",
            "yes": _YES,
        },
    ),
    (
        *("reject", "people", "send a step back, or fail it without feedback", "people:reject"),
        {"step": _STEP, "feedback": _FEEDBACK},
    ),
    ("reopen", "whole", "work on a finished step again", "whole:reopen", {"step": _STEP, "feedback": _FEEDBACK}),
    (
        *("reset", "whole", "begin a step anew, and all after it (a person only)", "whole:reset"),
        {"step": ("a step, or all (default: the current one)", "word", ""), "yes": _YES},
    ),
    ("continue", "whole", "take a feature as far as it goes: its pull request, its next phase", "gated:go_on"),
    (
        *("finalize", "whole", "publish a feature's docs and delete its workspace", "gated:finalize"),
        {"merged": ("a central doc whose changes are merged", "path")},
    ),
    (
        *("recover", "whole", "rebuild a feature's lost state from what is left of it", "gated:recover"),
        {"slug": ("the feature", "word", ""), "take": ("which of two journals holds", "word", ""), "yes": _YES},
    ),
    ("init", "whole", "make workflow/ and the central docs that are missing", "gated:init"),
    (
        *("resume", "whole", "go on after a stop, or in a new session", "starting:resume"),
        {"step": ("the step to go on with", "word", "")},
    ),
    ("revalidate", "whole", "the work holds although what it builds on has changed", "whole:revalidate"),
    ("cancel", "whole", "give a workflow up", "whole:cancel", {"reason": _MARKED}),
    ("abort", "whole", "give a run up: the same as cancel", "whole:cancel", {"reason": _MARKED}),
    ("pause", "whole", "stop until somebody resumes", "whole:pause", {"reason": _REASON}),
    (
        *("extend", "whole", "more money, time or tries (a person only)", "whole:extend"),
        {
            "cost": ("so many dollars more", "money", 0),
            "time": ("so much time more, such as 1h", "span", 0),
            "iterations": ("so many tries more", "whole:1:1000", 0),
        },
    ),
    ("note", "whole", "remember a decision or remark", "whole:note", {"text": ("", "text:note:4000"), "step": _OF}),
    ("reading", "resuming", "the files that have to be read, and which are missing", "resuming:reading"),
    ("reading add", "resuming", "one more file to read", "resuming:reading_add", {"paths": _FILES}),
    (
        *("reading remove", "resuming", "a file that need not be read", "resuming:reading_remove"),
        {"paths": ("files of the project", "path"), "outside": "all that lead outside the project"},
    ),
    (
        *("remind", "resuming", "what has to be heeded; without a text, what there is", "resuming:remind"),
        {"texts": ("", "text:reminder:2000"), "remove": "take these away"},
    ),
    (
        *("learn", "resuming", "keep what was learned", "resuming:learn"),
        {
            "text": ("the lesson", "text:lesson:4000"),
            "type": ("", "word", "insight"),
            "pattern": ("what to do from now on", "text:pattern:4000", ""),
            "context": ("where it applies", "text:context:4000", ""),
            "step": _OF,
        },
    ),
    (
        *("resume-packet", "resuming", "one text that gets an agent going again", "resuming:packet"),
        {"limit": ("at most so many characters", "whole:1000:50000")},
    ),
    (
        *("ack", "resuming", "this session has read its resume packet", "resuming:ack"),
        {"packet": ("the id in the packet", "name:packet")},
    ),
    (
        *("hook", "resuming", "answer one event of an agent host, from standard input", "resuming:hook"),
        {"line": "only print the command line that a host should run"},
    ),
    (
        *("compacted", "resuming", "note that an agent's context was compacted", "starting:compacted"),
        {"note": ("what goes with it", "text:note:500", "")},
    ),
    ("signal", "whole", "one line for a loop: DEV_COMPLETE, DEV_BLOCKED or DEV_CONTINUE", "starting:signal"),
    ("set", "whole", "set values of the context", "whole:set_values", {"values": ("", "pair")}),
    (
        *("snapshot", "whole", "a state that can be restored", "whole:snapshot"),
        {"label": ("what it is for", "text:label:200", "")},
    ),
    (
        *("restore", "whole", "the steps as they were at a snapshot", "whole:restore"),
        {"number": ("", "whole:1:999999999")},
    ),
    (
        *("agent start", "agents", "take a lease", "agents:start"),
        {
            "name": ("what the agent is", "name:role"),
            "step": _OF,
            "ttl": ("how long without a sign of life", "span", 600),
        },
    ),
    ("agent beat", "agents", "a sign of life", "agents:beat", {"lease": ("the lease", "whole:1:999999999")}),
    (
        *("agent end", "agents", "give a lease back", "agents:end"),
        {"lease": ("the lease", "whole:1:999999999"), "outcome": ("what came of it", "text:outcome:4000", "")},
    ),
    (
        *("agent spend", "agents", "record what was spent", "agents:spend"),
        {"amount": ("dollars", "money"), "agent": ("who spent it", "name:role", ""), "step": _OF},
    ),
    ("agent list", "agents", "who is at work", "agents:listing"),
    (
        *("lock", "agents", "keep files to one agent", "locking:lock"),
        {
            "paths": ("files, folders, or patterns with * and ?", "text:path:1000"),
            "agent": ("who works on them (default: your role)", "name:role"),
            "ttl": ("how long without another lock of the same", "span", 600),
        },
    ),
    ("unlock", "agents", "give files back", "locking:unlock", {"paths": ("as they were locked", "text:path:1000")}),
    ("locks", "agents", "the files that agents work on", "locking:listing"),
    (
        *("task add", "tree", "one more task", "tasks:add"),
        {
            "text": ("what is to be done", "text:task:1000"),
            "under": _UNDER,
            "id": ("its id, a number by default", "name:step"),
        },
    ),
    ("task start", "tree", "begin a task", "tasks:start", {"task": ("its number", "word")}),
    ("task done", "tree", "a task is done", "tasks:done", {"task": ("its number", "word"), **_COMMITTED}),
    ("task list", "tree", "the tasks", "tasks:listing"),
    (
        *("task iterate", "tree", "the criteria are not met: try once more", "orchestrator:iterate"),
        {"task": _TASK, "reason": _REASON},
    ),
    ("task retry", "tree", "try a failed task again (a person only)", "orchestrator:retry", {"task": _TASK}),
    ("task skip", "tree", "leave a task out (a person only)", "orchestrator:skip", {"task": _TASK, "reason": _REASON}),
    ("task manual", "tree", "a person does a task by hand", "orchestrator:manual", {"task": _TASK, "reason": _REASON}),
    (
        *(
            "supervise",
            "agents",
            "what a supervisor's check found; or, without a verdict, what to look at",
            "orchestrator:supervise",
        ),
        {
            "check_type": ("", "word"),
            "task": ("the task it is about", "word"),
            "verdict": ("", "word", ""),
            "conflict": ("its kind: architecture, dependency, api, security, pattern", "word", ""),
            "resolution": ("what was or has to be done", "text:resolution:4000", ""),
            "fixes": ("how many fixes were made", "whole:0:10000", 0),
            "affects": ("a task that has to be planned anew", "word"),
            "file": ("a supervisor's answer in JSON (- for standard input)", "path", ""),
        },
    ),
    (
        *("commit", "agents", "commit the work of a task, the supervisor or the outer loop", "orchestrator:commit"),
        {
            "task": ("the task whose work it is", "word"),
            "message": ("what was done", "text:message:20000"),
            "supervisor": "the supervisor's own fixes",
            "outer": "the outer loop's own changes",
            "paths": ("commit this file (default: all that changed)", "path"),
        },
    ),
    (
        *("milestone", "agents", "the issue that stands for a finished phase", "orchestrator:milestone"),
        {
            "phase": ("its number or id", "word"),
            "url": ("the issue that is there", "text:url:1000", ""),
            "create": "open one on GitHub",
        },
    ),
    (
        *("learnings", "resuming", "what was learned, in all runs of this project", "orchestrator:learnings"),
        {
            "words": ("only those with these words", "text:word:200"),
            "type": ("", "word"),
            "task": ("only those of this task", "word"),
            "limit": ("at most so many, the newest", "whole:1:10000", 50),
        },
    ),
    (
        *("amend", "tree", "take changes of the definition over, or change the tree", "amend:amend"),
        {
            "step": ("the step whose change is taken over", "word"),
            "all": "take every change over",
            "retire": "take the step out of the tree",
            "add": ("add a step", "name:step"),
            "name": ("its name", "text:name:200", ""),
            "under": _UNDER,
            "after": ("the sibling it follows", "name:step"),
        },
    ),
)
COMMANDS = {**_WORK, **AROUND}
