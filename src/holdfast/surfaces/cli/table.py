"""Every command: its name, group, one line of help, what it takes, and where the function is that does it.

All of it is data. The overview, the parsers and the completion scripts are made from it.
"""

from __future__ import annotations

from holdfast.surfaces.cli.grammar import Option, make
from holdfast.surfaces.cli.table_around import AROUND

TYPE_CHECKING = False
if TYPE_CHECKING:
    pass

READ, WRITE = "w", "wtkr"
ALWAYS = (
    Option("--json", "answer in JSON"),
    Option("--as", "the role you act in", "name:role", "ROLE", dest="role"),
    Option("--debug", "show the traceback of a failure that should not happen"),
)
COMMON = {
    "w": Option("-w --workflow", "the workflow: its id, ULID, or the beginning of either", "workflow", "ID"),
    "t": Option("--token", "the fencing token of your lease", "whole:1:999999999", "N"),
    "k": Option("--key", "the same key again changes nothing", "name:key:200", "K"),
    "r": Option("--revision", "only if nothing happened since this revision", "whole:1:999999999", "N"),
}

_STEP = Option("step", "a number, an id, or a path such as build/2", "word", "STEP")
_UNDER = Option("--under", "the step it stands in", "word", "STEP")
_ARTIFACT = Option("--artifact", "an output and its file", "artifact", "NAME=PATH", many=True)
_REASON = Option("--reason", "why", "text:reason:4000", "TEXT")
_WHY = Option("--reason", "why", "text:reason:4000", "TEXT", required=True)
_MARKED = Option("--reason", "why", "text:reason:500", "TEXT")
_FEEDBACK = Option("--feedback", "what should be different", "text:feedback:20000", "TEXT")
_YES = Option("--yes", "do not ask")
_ACTION = (
    Option("-m --message", "the message, where a commit is made", "text:message:20000", "TEXT", default=""),
    Option("--path", "commit this file (default: all that changed)", "path", "PATH", many=True, dest="paths"),
    Option("--commit", "the commit that was made already", "commit", "SHA", default=""),
    Option("--url", "the pull request that was made already", "text:url:1000", "URL", default=""),
)
_TASK = Option("task", "its number", "word", "TASK")
_FILES = Option("paths", "files of the project", "path", "PATH", nargs="+")
_OF = Option("--step", "the step it belongs to", "word", "STEP")


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
        *("start", "running", "start a workflow", "starting:start", "k"),
        (
            Option("definition", "the name of its definition", "word", "WORKFLOW"),
            Option("subject", "what it is about", "text:subject:1000", "SUBJECT", nargs="?", default=""),
            Option("--set", "a value of its context", "pair", "K=V", many=True, dest="values"),
            Option("--session", "the session it belongs to", "name:session", "S", default=""),
            Option("--title", "its title", "text:title:500", "TEXT", default=""),
            Option("--branch", "the git branch the work goes to", "text:branch:200", "NAME", default=""),
            Option("--resume", "go on with the active one of the same subject"),
            Option("--fresh", "give up the active one of the same subject first"),
            Option("--phases", "its phases, with commas between them", "names", "A,B,C", default=()),
            Option("--read", "a file that whoever takes it up has to read", "path", "PATH", many=True, dest="reading"),
            Option("--remind", "what whoever takes it up has to heed", "text:reminder:2000", "TEXT", many=True),
        ),
    ),
    ("status", "running", "where a workflow stands and what is in the way", "running:status", READ),
    ("next", "running", "the current step: what it asks for and what to type", "running:next_step", READ),
    ("show", "running", "the document of a workflow, as its dialect writes it", "running:show", READ),
    (
        *("list", "running", "the workflows of this project", "running:listing", ""),
        (
            Option("--status", "only those with this status", "text:status:64", "S", default=""),
            Option("--type", "only those of this definition", "text:type:64", "T", default=""),
            Option("--session", "only those of this session", "text:session:64", "S", default=""),
            Option("--all", "the finished ones too"),
        ),
    ),
    (
        *("log", "running", "what happened, in order", "running:log", READ),
        (
            Option("--after", "only what came after this revision", "whole:0:999999999", "N"),
            Option("--limit", "at most so many entries", "whole:1:100000", "N", default=100),
        ),
    ),
    ("metrics", "running", "times, retries and cost", "running:metrics", READ),
    (
        *("diagram", "running", "the steps as a Mermaid diagram", "running:diagram", READ),
        (Option("--lifecycle", "the life of a step instead"),),
    ),
    ("begin", "steps", "begin a step", "steps:begin", WRITE, (_STEP,)),
    (
        *("done", "steps", "hand a step in: it moves as far as its gates allow", "steps:done", WRITE),
        (_STEP, _ARTIFACT, *_ACTION),
    ),
    (
        *("attach", "steps", "name an output of a step", "steps:attach", WRITE),
        (_STEP, Option("--artifact", "an output and its file", "artifact", "NAME=PATH", many=True, required=True)),
    ),
    (
        *("check", "steps", "run a check, or report it", "steps:check", WRITE),
        (
            Option("name", "the check", "name:check", "NAME"),
            Option("--run", "Holdfast runs it (when it has a command, this is the default)"),
            Option("--passed", "report that it passed"),
            Option("--failed", "report that it failed"),
            Option("--set", "what goes with it: findings=0, test=NAME", "pair", "K=V", many=True, dest="values"),
            _OF,
        ),
    ),
    ("fail", "steps", "a try at a step failed", "steps:fail", WRITE, (_STEP, _WHY)),
    ("block", "steps", "a step cannot go on", "steps:block", WRITE, (_STEP, _WHY)),
    (
        *("unblock", "steps", "a blocked or escalated step goes on", "steps:unblock", WRITE),
        (_STEP, Option("--guidance", "what to do about it", "text:guidance:20000", "TEXT", default="")),
    ),
    ("skip", "steps", "leave a step out", "steps:skip", WRITE, (_STEP, _REASON)),
    ("submit", "people", "hand a step in for review or approval", "people:submit", WRITE, (_STEP, _ARTIFACT)),
    (
        *("review", "people", "say what a review found", "people:review", WRITE),
        (
            _STEP,
            Option("--verdict", "", "word", choices=("approved", "needs_revision"), default=""),
            _FEEDBACK,
        ),
    ),
    (
        *("approve", "people", "approve a step", "people:approve", WRITE),
        (
            _STEP,
            Option("--variant", "the option that is chosen", "name:variant", "V", default=""),
            Option("--modify", "a change that goes with it", "pair", "K=V", many=True, dest="values"),
            Option("--sign", "sign with this SSH key", "path", "KEY", default=""),
            Option("--signature", "a signature that was made elsewhere", "path", "FILE", default=""),
            Option("--payload", "print what has to be signed, and approve nothing"),
            _YES,
        ),
    ),
    ("reject", "people", "send a step back, or fail it without feedback", "people:reject", WRITE, (_STEP, _FEEDBACK)),
    ("reopen", "whole", "work on a finished step again", "whole:reopen", WRITE, (_STEP, _FEEDBACK)),
    (
        *("reset", "whole", "begin a step anew, and all after it (a person only)", "whole:reset", WRITE),
        (Option("step", "a step, or all (default: the current one)", "word", "STEP", nargs="?", default=""), _YES),
    ),
    (
        "continue",
        "whole",
        "take a feature as far as it goes: its pull request, its next phase",
        "delivery:go_on",
        WRITE,
    ),
    (
        *(
            "finalize",
            "whole",
            "publish a feature's docs and delete its workspace",
            "delivery:finalize",
            WRITE,
        ),
        (Option("--merged", "a central doc whose changes are merged", "path", "PATH", many=True),),
    ),
    (
        *("recover", "whole", "rebuild a feature's lost state from what is left of it", "delivery:recover", ""),
        (
            Option("slug", "the feature", "word", "SLUG", nargs="?", default=""),
            Option("--take", "which of two journals holds", "word", choices=("git", "here"), default=""),
            _YES,
        ),
    ),
    ("init", "whole", "make workflow/ and the central docs that are missing", "delivery:init", ""),
    (
        *("resume", "whole", "go on after a stop, or in a new session", "starting:resume", WRITE),
        (Option("--from", "the step to go on with", "word", "STEP", dest="step", default=""),),
    ),
    ("revalidate", "whole", "the work holds although what it builds on has changed", "whole:revalidate", WRITE),
    ("cancel", "whole", "give a workflow up", "whole:cancel", WRITE, (_MARKED,)),
    ("abort", "whole", "give a run up: the same as cancel", "whole:cancel", WRITE, (_MARKED,)),
    ("pause", "whole", "stop until somebody resumes", "whole:pause", WRITE, (_WHY,)),
    (
        *("extend", "whole", "more money, time or tries (a person only)", "whole:extend", WRITE),
        (
            Option("--cost", "so many dollars more", "money", "N", default=0),
            Option("--time", "so much time more, such as 1h", "span", "SPAN", default=0),
            Option("--iterations", "so many tries more", "whole:1:1000", "N", default=0),
        ),
    ),
    (
        *("note", "whole", "remember a decision or remark", "whole:note", WRITE),
        (Option("text", "", "text:note:4000", "TEXT"), _OF),
    ),
    ("reading", "resuming", "the files that have to be read, and which are missing", "resuming:reading", READ),
    ("reading add", "resuming", "one more file to read", "resuming:reading_add", WRITE, (_FILES,)),
    (
        *("reading remove", "resuming", "a file that need not be read", "resuming:reading_remove", WRITE),
        (
            Option("paths", "files of the project", "path", "PATH", nargs="*"),
            Option("--outside", "all that lead outside the project"),
        ),
    ),
    (
        *("remind", "resuming", "what has to be heeded; without a text, what there is", "resuming:remind", WRITE),
        (Option("texts", "", "text:reminder:2000", "TEXT", nargs="*"), Option("--remove", "take these away")),
    ),
    (
        *("learn", "resuming", "keep what was learned", "resuming:learn", WRITE),
        (
            Option("text", "the lesson", "text:lesson:4000", "TEXT"),
            Option("--type", "", "word", choices=("pattern", "antipattern", "insight"), default="insight"),
            Option("--pattern", "what to do from now on", "text:pattern:4000", "TEXT", default=""),
            Option("--context", "where it applies", "text:context:4000", "TEXT", default=""),
            _OF,
        ),
    ),
    (
        *("resume-packet", "resuming", "one text that gets an agent going again", "resuming:packet", READ),
        (Option("--limit", "at most so many characters", "whole:1000:50000", "N"),),
    ),
    (
        *("ack", "resuming", "this session has read its resume packet", "resuming:ack", WRITE),
        (Option("packet", "the id in the packet", "name:packet", "ID"),),
    ),
    (
        *("hook", "resuming", "answer one event of an agent host, from standard input", "resuming:hook", ""),
        (Option("--line", "only print the command line that a host should run"),),
    ),
    (
        *("compacted", "resuming", "note that an agent's context was compacted", "starting:compacted", WRITE),
        (Option("--note", "what goes with it", "text:note:500", "TEXT", default=""),),
    ),
    ("signal", "whole", "one line for a loop: DEV_COMPLETE, DEV_BLOCKED or DEV_CONTINUE", "starting:signal", READ),
    (
        *("set", "whole", "set values of the context", "whole:set_values", WRITE),
        (Option("values", "", "pair", "K=V", nargs="+"),),
    ),
    (
        *("snapshot", "whole", "a state that can be restored", "whole:snapshot", WRITE),
        (Option("--label", "what it is for", "text:label:200", "TEXT", default=""),),
    ),
    (
        *("restore", "whole", "the steps as they were at a snapshot", "whole:restore", WRITE),
        (Option("number", "", "whole:1:999999999", "N"),),
    ),
    (
        *("agent start", "agents", "take a lease", "agents:start", WRITE),
        (
            Option("name", "what the agent is", "name:role", "ROLE"),
            _OF,
            Option("--ttl", "how long without a sign of life", "span", "SPAN", default=600),
        ),
    ),
    (
        *("agent beat", "agents", "a sign of life", "agents:beat", WRITE),
        (Option("lease", "the lease", "whole:1:999999999", "TOKEN", nargs="?"),),
    ),
    (
        *("agent end", "agents", "give a lease back", "agents:end", WRITE),
        (
            Option("lease", "the lease", "whole:1:999999999", "TOKEN", nargs="?"),
            Option("--outcome", "what came of it", "text:outcome:4000", "TEXT", default=""),
        ),
    ),
    (
        *("agent spend", "agents", "record what was spent", "agents:spend", WRITE),
        (
            Option("amount", "dollars", "money", "AMOUNT"),
            Option("--agent", "who spent it", "name:role", "ROLE", default=""),
            _OF,
        ),
    ),
    ("agent list", "agents", "who is at work", "agents:listing", READ),
    (
        *("lock", "agents", "keep files to one agent", "locking:lock", WRITE),
        (
            Option("paths", "files, folders, or patterns with * and ?", "text:path:1000", "PATH", nargs="+"),
            Option("--agent", "who works on them (default: your role)", "name:role", "ROLE"),
            Option("--ttl", "how long without another lock of the same", "span", "SPAN", default=600),
        ),
    ),
    (
        *("unlock", "agents", "give files back", "locking:unlock", WRITE),
        (Option("paths", "as they were locked", "text:path:1000", "PATH", nargs="+"),),
    ),
    ("locks", "agents", "the files that agents work on", "locking:listing", READ),
    (
        *("task add", "tree", "one more task", "tasks:add", WRITE),
        (
            Option("text", "what is to be done", "text:task:1000", "TEXT"),
            _UNDER,
            Option("--id", "its id, a number by default", "name:step", "ID"),
        ),
    ),
    ("task start", "tree", "begin a task", "tasks:start", WRITE, (Option("task", "its number", "word", "N"),)),
    (
        *("task done", "tree", "a task is done", "tasks:done", WRITE),
        (
            Option("task", "its number", "word", "N"),
            *_ACTION[:3],
        ),
    ),
    ("task list", "tree", "the tasks", "tasks:listing", READ),
    (
        *("task iterate", "tree", "the criteria are not met: try once more", "orchestra:iterate", WRITE),
        (_TASK, _WHY),
    ),
    ("task retry", "tree", "try a failed task again (a person only)", "orchestra:retry", WRITE, (_TASK,)),
    ("task skip", "tree", "leave a task out (a person only)", "orchestra:skip", WRITE, (_TASK, _REASON)),
    (
        "task manual",
        "tree",
        "a person does a task by hand",
        "orchestra:manual",
        WRITE,
        (_TASK, _REASON),
    ),
    (
        *(
            "supervise",
            "agents",
            "what a supervisor's check found; or, without a verdict, what to look at",
        ),
        *("orchestra:supervise", WRITE),
        (
            Option("check_type", "", "word", choices=("pre_task", "post_task", "on_demand")),
            Option("task", "the task it is about", "word", "TASK", nargs="?"),
            Option("--verdict", "", "word", choices=("PASS", "AUTO_FIX", "RE_PLAN"), default=""),
            Option(
                "--conflict", "its kind: architecture, dependency, api, security, pattern", "word", "KIND", default=""
            ),
            Option("--resolution", "what was or has to be done", "text:resolution:4000", "TEXT", default=""),
            Option("--fixes", "how many fixes were made", "whole:0:10000", "N", default=0),
            Option("--affects", "a task that has to be planned anew", "word", "TASK", many=True),
            Option("--file", "a supervisor's answer in JSON (- for standard input)", "path", "FILE", default=""),
        ),
    ),
    (
        *("commit", "agents", "commit the work of a task, the supervisor or the outer loop", "orchestra:commit", "wt"),
        (
            Option("task", "the task whose work it is", "word", "TASK", nargs="?"),
            Option("-m --message", "what was done", "text:message:20000", "TEXT", required=True),
            Option("--supervisor", "the supervisor's own fixes"),
            Option("--outer", "the outer loop's own changes"),
            Option("--path", "commit this file (default: all that changed)", "path", "PATH", many=True, dest="paths"),
        ),
    ),
    (
        *("milestone", "agents", "the issue that stands for a finished phase", "orchestra:milestone", WRITE),
        (
            Option("phase", "its number or id", "word", "PHASE"),
            Option("--url", "the issue that is there", "text:url:1000", "URL", default=""),
            Option("--create", "open one on GitHub"),
        ),
    ),
    (
        *("learnings", "resuming", "what was learned, in all runs of this project", "orchestra:learnings", ""),
        (
            Option("words", "only those with these words", "text:word:200", "WORD", nargs="*"),
            Option("--type", "", "word", choices=("pattern", "antipattern", "insight")),
            Option("--task", "only those of this task", "word", "TASK"),
            Option("--limit", "at most so many, the newest", "whole:1:10000", "N", default=50),
        ),
    ),
    (
        *("amend", "tree", "take changes of the definition over, or change the tree", "amend:amend", "wt"),
        (
            Option("step", "the step whose change is taken over", "word", "STEP", nargs="?"),
            Option("--all", "take every change over"),
            Option("--retire", "take the step out of the tree"),
            Option("--add", "add a step", "name:step", "ID"),
            Option("--name", "its name", "text:name:200", "TEXT", default=""),
            _UNDER,
            Option("--after", "the sibling it follows", "name:step", "ID"),
        ),
    ),
)
COMMANDS = {**_WORK, **AROUND}
