"""How every command is spelled: its words and options, what it is about, and the tool that does the same.

Remedies name commands and are printed by this table; the command line adds help, readers and handlers to it.
In a usage, `STEP` is a word and `[STEP]` one that may be missing; `…` takes several; `--reason=TEXT!` must be there;
`values:--set=K=V…` is kept under another name than its own.
"""

from __future__ import annotations

READ, WRITE = "wl", "wtkr"
"""The common options: `w` a workflow, `t` the token of a lease, `l` the same of one who only looks, `k` an idempotency
key, `r` a revision."""
COMMON = {"w": "-w,--workflow=ID", "t": "--token=TOKEN", "l": "--token=TOKEN", "k": "--key=K", "r": "--revision=N"}
ALWAYS = "--json role:--as=ROLE --debug"

NAMES: dict[str, tuple[str, str]] = {
    "start": (
        "k",
        "definition:[WORKFLOW] [SUBJECT] values:--set=K=V… --session=S --title=TEXT --branch=NAME --resume \
--fresh --phases=A,B,C reading:--read=PATH… --remind=TEXT…",
    ),
    "status": (READ, "--watch"),
    "next": (READ, ""),
    "wait": (READ, "for:--for=person|change|done! --since=REVISION --timeout=SPAN"),
    "notify": ("", "--once --test"),
    "run": (
        "w",
        "definition:[WORKFLOW] [SUBJECT] --host=HOST --until=STEP --once --max-cost=N --max-time=SPAN --dry-run",
    ),
    "stop": ("w", "--now"),
    "show": (READ, ""),
    "list": ("", "--status=S --type=T --session=S --all --limit=N"),
    "log": (READ, "--after=N --limit=N --check=NAME --step=STEP --follow --timeline=FILE"),
    "metrics": (READ, ""),
    "diagram": (READ, "--lifecycle --svg=FILE --png=FILE"),
    "begin": (WRITE, "STEP"),
    "done": (
        WRITE,
        "[STEP] --test=NAME --artifact=NAME=PATH… -m,--message=TEXT paths:--path=PATH… --commit=SHA --url=URL \
--unchanged=REASON",
    ),
    "attach": (WRITE, "STEP --artifact=NAME=PATH…!"),
    "check": (WRITE, "NAME --run --passed --failed --test=TEST values:--set=K=V… --step=STEP"),
    "fail": (WRITE, "STEP --reason=TEXT!"),
    "block": (WRITE, "STEP --reason=TEXT!"),
    "unblock": (WRITE, "STEP --guidance=TEXT"),
    "skip": (WRITE, "STEP --reason=TEXT"),
    "submit": (WRITE, "STEP --artifact=NAME=PATH… --unchanged=REASON"),
    "review": (WRITE, "STEP --verdict=approved|needs_revision --feedback=TEXT"),
    "approve": (
        WRITE,
        "[STEP] --claimed --variant=V values:--modify=K=V… --sign=KEY --signature=FILE --statement=FILE --payload \
--yes --no-pager",
    ),
    "passkey list": ("", ""),
    "passkey add": ("", "--new-root"),
    "passkey remove": ("", "NAME"),
    "receipt": ("w", "STEP --out=FILE"),
    "verify": ("w", "--receipt=FILE --approvers=FILE --signers=FILE --pin=HASH"),
    "reject": (WRITE, "[STEP] --feedback=TEXT values:--modify=K=V…"),
    "reopen": (WRITE, "STEP --feedback=TEXT"),
    "reset": (WRITE, "[STEP] --yes"),
    "feature init": ("", ""),
    "feature continue": (WRITE, "[SLUG]"),
    "feature reset": (WRITE, "[SLUG] [STEP] --yes"),
    "feature finalize": (WRITE, "[SLUG] --merged=PATH… --yes"),
    "feature recover": ("", "[SLUG] --take=git|here --yes"),
    "resume": (WRITE, "step:--from=STEP"),
    "revalidate": (WRITE, ""),
    "cancel": (WRITE, "[SLUG] --reason=TEXT"),
    "pause": (WRITE, "--reason=TEXT!"),
    "extend": (WRITE, "--cost=N --time=SPAN --iterations=N"),
    "note": (WRITE, "TEXT --step=STEP"),
    "reading": (READ, ""),
    "reading add": (WRITE, "paths:PATH…"),
    "reading remove": (WRITE, "paths:[PATH…] --outside"),
    "remind": (WRITE, "texts:[TEXT…] --remove"),
    "learn": (WRITE, "TEXT --type=pattern|antipattern|insight --pattern=TEXT --context=TEXT --step=STEP"),
    "resume-packet": (READ, "--limit=N"),
    "ack": (WRITE, "packet:ID"),
    "hook": ("", "--line"),
    "compacted": (WRITE, "--note=TEXT"),
    "signal": (READ, ""),
    "set": (WRITE, "values:K=V…"),
    "snapshot": (WRITE, "--label=TEXT"),
    "restore": (WRITE, "number:N"),
    "agent start": (WRITE, "name:ROLE --step=STEP --ttl=SPAN --worktree"),
    "agent beat": (WRITE, "[LEASE]"),
    "agent end": (WRITE, "[LEASE] --outcome=TEXT"),
    "agent spend": (WRITE, "AMOUNT --agent=ROLE --step=STEP"),
    "agent list": (READ, ""),
    "lock": (WRITE, "paths:PATH… --agent=ROLE --ttl=SPAN"),
    "unlock": (WRITE, "paths:PATH…"),
    "locks": (READ, ""),
    "task add": (WRITE, "TEXT --under=STEP --id=ID"),
    "task start": (WRITE, "task:N"),
    "task done": (WRITE, "task:N -m,--message=TEXT paths:--path=PATH… --commit=SHA"),
    "task list": (READ, ""),
    "orchestrator iterate": (WRITE, "TASK --reason=TEXT!"),
    "orchestrator retry": (WRITE, "TASK"),
    "orchestrator skip": (WRITE, "TASK --reason=TEXT"),
    "orchestrator manual": (WRITE, "TASK --reason=TEXT"),
    "orchestrator supervise": (
        WRITE,
        "check_type:pre_task|post_task|on_demand [TASK] --verdict=PASS|AUTO_FIX|RE_PLAN --conflict=KIND \
--severity=critical|high|low --resolution=TEXT --fixes=N --affects=TASK… --file=FILE",
    ),
    "commit": ("wt", "[TASK] -m,--message=TEXT! --supervisor --outer paths:--path=PATH…"),
    "orchestrator milestone": (WRITE, "PHASE --url=URL --create"),
    "learnings": ("", "words:[WORD…] --type=pattern|antipattern|insight --task=TASK --limit=N"),
    "amend": ("wt", "[STEP] --all --retire --add=ID --name=TEXT --under=STEP --after=ID"),
    "session create": ("", "NAME --description=TEXT"),
    "session use": ("", "[NAME] --none"),
    "session status": ("", "[NAME]"),
    "session list": ("", ""),
    "session write": ("", "PATH source:--from=FILE --session=S"),
    "session path": ("", "PATH --session=S"),
    "session read": ("", "PATH --session=S"),
    "session delete": ("", "PATH --session=S"),
    "session keep": ("", "PATH --session=S"),
    "session drop": ("", "PATH --session=S"),
    "session retry": ("", "PATH --reason=TEXT! --session=S"),
    "session commit": ("", "NAME --force"),
    "session cancel": ("", "NAME --yes"),
    "workflows": ("", ""),
    "workflows check": ("", "FILE"),
    "workflows new": ("", "NAME --task-document"),
    "trust": ("", "definition:[FILE_OR_NAME] --owner --remove --yes"),
    "schema": ("", "[DIALECT]"),
    "init": ("", "hosts:[HOST…] --scope=project|user --yes"),
    "install": ("", "[HOST] --scope=project|user --no-team --dry-run"),
    "uninstall": ("", "[HOST] --scope=project|user --dry-run"),
    "statusline": ("", "--line"),
    "doctor": ("", "--repair"),
    "clean": ("", "--dry-run --all --active --yes"),
    "adopt": ("", "paths:[PATH…]"),
    "demo": ("", "--fast"),
    "mcp": (
        "",
        "--root=DIR --toolset=NAMES --http --host=ADDRESS --port=N --no-token --allow-host=HOST… \
--allow-origin=ORIGIN…",
    ),
    "web": ("w", "--port=N --read-only --no-open --origin=URL --link --export=DIR --files"),
    "completion": ("", "shell:bash|zsh|fish"),
}
"""Each command: the common options it takes, and its usage."""
TOOLS = {
    "start": "start_workflow workflow:definition subject title session_name:session context:values phases… fresh \
branch",
    "status": "get_workflow_status",
    "next": "get_next_step",
    "list": "list_workflows :all",
    "begin": "update_workflow_state step status=in_progress",
    "done": "update_workflow_state step status=completed artifacts:artifact test url message commit unchanged",
    "attach": "record_work step artifacts:artifact",
    "check": "run_check check:name passed step test values :run",
    "fail": "update_workflow_state step status=failed reason",
    "submit": "update_workflow_state step status=waiting_approval artifacts:artifact unchanged",
    "review": "review_step step verdict feedback reviewer:role",
    "reopen": "resume_workflow from_step:step",
    "resume": "resume_workflow from_step:step",
    "cancel": "cancel_workflow reason",
    "resume-packet": "get_resume_packet",
    "ack": "get_resume_packet ack:packet",
    "note": "record_work note:text step",
    "learn": "record_work learning:text learning_type:type step",
    "lock": "lock_files paths",
    "unlock": "lock_files paths release=true",
    "block": "change_step step action=block reason",
    "unblock": "change_step step action=unblock reason:guidance",
    "skip": "change_step step action=skip reason",
    "orchestrator iterate": "change_step step:task action=iterate reason",
    "pause": "change_workflow action=pause reason",
    "revalidate": "change_workflow action=revalidate",
    "set": "change_workflow action=set values",
    "snapshot": "change_workflow action=snapshot reason:label",
    "restore": "change_workflow action=restore number",
    "compacted": "change_workflow action=compacted reason:note",
    "reading add": "brief_agents read:paths",
    "reading remove": "brief_agents unread:paths",
    "remind": "brief_agents remind:texts",
    "agent start": "manage_agents action=start role:name step",
    "agent beat": "manage_agents action=beat lease",
    "agent end": "manage_agents action=end lease outcome",
    "agent list": "inspect_workflow view=agents",
    "locks": "inspect_workflow view=locks",
    "log": "inspect_workflow view=log check",
    "show": "inspect_workflow view=document",
    "diagram": "inspect_workflow view=diagram",
    "metrics": "inspect_workflow view=metrics",
    "reading": "inspect_workflow view=reading",
    "task list": "inspect_workflow view=tasks",
    "learnings": "inspect_workflow view=learnings words",
    "workflows": "inspect_workflow view=definitions",
    "amend": "inspect_workflow view=amendments",
    "task add": "change_plan action=add_task text under id",
    "commit": "commit_work message task paths",
    "orchestrator supervise": "supervise_task check_type task verdict conflict severity resolution",
    "orchestrator milestone": "record_milestone phase url :create",
    "feature init": "deliver_feature action=init",
    "feature continue": "deliver_feature action=continue",
    "feature finalize": "deliver_feature action=finalize merged",
    "feature recover": "deliver_feature action=recover slug take",
    "session create": "story_session action=create name description",
    "session use": "story_session action=use name",
    "session status": "story_session action=status name",
    "session list": "story_session action=list",
    "session path": "story_session action=path path name:session",
    "session write": "story_session action=write path content=TEXT name:session",
    "session read": "story_session action=read path name:session",
    "session delete": "story_session action=delete path name:session",
    "session keep": "story_session action=keep path name:session",
    "session drop": "story_session action=drop path name:session",
    "session retry": "story_session action=retry path reason name:session",
    "session commit": "story_session action=commit name confirm:force",
    "session cancel": "story_session action=cancel name confirm:yes",
}
"""The tools that do what commands do, with their fields: `from_step:step` is filled by the argument `step`,
`test:values.test` by one of the pairs in `values`, `status=failed` is always said, and `:run` goes without saying.
`true` as such a word means the value, and `phases…` is a list of what has commas between it.
An argument that is not listed is one that the tool does not take.
"""
PEOPLES = (
    *("reset", "feature reset", "extend", "trust", "orchestrator retry", "orchestrator skip", "uninstall"),
    *("passkey add", "passkey remove"),
)
"""What is refused to an agent in any case."""


class Spelling:
    """One word or option of a command: what is typed, and under which name the value is kept."""

    def __init__(self, written: str) -> None:
        dest, _, rest = written.rpartition(":")
        self.required = rest.endswith("!")
        self.is_flag = rest.startswith("-")
        bare = rest.strip("[]").rstrip("!")
        several = bare.endswith("…")
        typed, equals, shown = bare.rstrip("…").partition("=") if self.is_flag else ("", "=", bare.rstrip("…"))
        self.takes_value = bool(equals)
        self.many = several and self.is_flag
        self.nargs = "" if self.is_flag else ("*" if several else "?") if rest[0] == "[" else "+" if several else ""
        self.shown = shown
        self.choices = tuple(shown.split("|")) if "|" in shown else ()
        self.dest = dest or (typed.rpartition(",")[2].lstrip("-").replace("-", "_") or shown.lower())
        self.flags = typed.replace(",", " ") or self.dest


_read: dict[str, list[Spelling]] = {}


def spellings(command: str) -> list[Spelling]:
    """The words and options of a command, with those that every command takes."""
    if command not in _read:
        _read[command] = [Spelling(one) for one in (*NAMES[command][1].split(), *ALWAYS.split(), "--help")]
    return _read[command]


def is_about_workflow(command: str) -> bool:
    return command in NAMES and "w" in NAMES[command][0]


def has_slug(command: str) -> bool:
    """Whether the first word of a command names its workflow."""
    return command in NAMES and NAMES[command][1].startswith("[SLUG]")
