"""Whether a call of a tool may go ahead, by what the engine wrote down for hooks.

It keeps an agent from slips: files that are Holdfast's or another agent's, words that are a person's, records that are
the lead's, tools that a step rules out. It is a seat belt; what decides is the engine, which checks everything again.
"""

from __future__ import annotations

from holdfast.surfaces.hooks import areas, holding, patterns, places
from holdfast.surfaces.hooks.calls import Call, clean, rows, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable, Iterator
    from typing import Any

    from holdfast.surfaces.hooks.shell import Command
    from holdfast.surfaces.hooks.writes import Target

_HOST_VARIABLES = ("CLAUDECODE", "CLAUDE_CODE_", "CODEX_", "OPENCODE", "GEMINI_CLI", "QWEN_CODE", "COPILOT_",
                   "CURSOR_AGENT", "CLINE_ACTIVE", "HOLDFAST_RUN")  # fmt: skip
_WITH_VALUE = ("-w", "--workflow", "--token", "--key", "--as")
_WORKFLOW = ("-w", "--workflow")
_UNKNOWN = ("$", "`", "{}")
_LOOKING = frozenset(
    (
        *("status", "next", "show", "list", "log", "metrics", "diagram", "signal", "wait"),
        *("reading", "resume-packet", "learnings", "agent list", "locks", "task list"),
        *("session status", "session list", "session read"),
        *("workflows", "workflows check", "schema", "doctor", "completion", "help", "verify", "passkey list"),
    )
)
"""Commands that change nothing: all that is left to a role which may only look."""
_DRAWING = ("--svg", "--png", "--timeline")
"""With these, commands that look write a file."""
_LOOKING_TOOLS = frozenset(
    (
        *("get_workflow_status", "get_next_step", "validate_prerequisites", "list_workflows", "inspect_workflow"),
        *("get_workflow_metrics", "get_resume_packet"),
    )
)
"""Tools of the server that change nothing."""
_SERVER = "holdfast"
_SPEAKING_OF_MORE = ("reading", "workflows")
"""These look by themselves, and with another word behind them mean another command."""
_ABOUT_FILES = ("edit", "write")
"""Rules for these with a path in brackets hold for whatever writes files, as in the host they come from."""


def judge(views: Callable[[str], dict[str, Any]], call: Call) -> str:
    """Empty when the call may go ahead, else why not and what to do instead. `views` knows what a project guards."""
    root = call.root
    view = views(root) if root else {}
    workflows = list(rows(view, "workflows"))
    mine = _mine(call, view, workflows) or workflows
    return (
        holding.protected(call, workflows, root)
        or holding.settings(call)
        or areas.outside(call, workflows, mine)
        or _for_people(call, workflows, mine)
        or _for_the_lead(call, workflows, mine)
        or _ruled_out(call, mine)
        or _protected_elsewhere(call, views)
    )


def _mine(call: Call, view: dict[str, Any], workflows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The workflow the session is at; where that is not known, those it has been at; none when there are none."""
    at = view.get("at")
    seat = at.get(call.session) if isinstance(at, dict) and call.session else None
    ulid = seat[0] if isinstance(seat, list) and seat else None
    here = [one for one in workflows if ulid and text(one, "ulid") == ulid]
    return here or [one for one in workflows if call.session and call.session in texts(one, "sessions")]


def _protected_elsewhere(call: Call, views: Callable[[str], dict[str, Any]]) -> str:
    """Where one stands does not matter to the files of another project."""
    guarded = ((root, list(rows(views(root), "workflows"))) for root in holding.other_roots(call))
    return next(filter(None, (holding.protected(call, workflows, root) for root, workflows in guarded)), "")


def _for_people(call: Call, workflows: list[dict[str, Any]], mine: list[dict[str, Any]]) -> str:
    """Commands whose point is that a person gives them."""
    names = (name for command in call.commands for name in command.cleared)
    cleared = any(name == "*" or name.startswith(_HOST_VARIABLES) for name in names)
    for words in _spoken(call.commands):
        if cleared or _needs_a_person(words, _meant(words, workflows, mine)):
            why = " The variables that tell an agent's shell from a person's have to stay." if cleared else ""
            return (
                f"A person does this in a terminal of their own: {_typed(words)}.{why}"
                " Ask them, and wait for the answer."
            )
    return ""


def _for_the_lead(call: Call, workflows: list[dict[str, Any]], mine: list[dict[str, Any]]) -> str:
    """Roles that may only read a workflow leave its records to the lead agent."""
    if not call.agent or not any(workflow.get("read_only") for workflow in workflows):
        return ""
    tool = _of_the_server(call.tool)
    asked = [(words, _typed(words)) for words in _spoken(call.commands) if not _only_looks(words)]
    if tool and tool not in _LOOKING_TOOLS:
        asked.append((["-w", text(call.given, "workflow_id")], clean(call.tool)))
    for words, shown in asked:
        for workflow in _meant(words, workflows, mine):
            if areas.is_of(call, texts(workflow, "read_only")):
                return (
                    f"{clean(call.agent)} may look at {clean(text(workflow, 'id'))} and changes nothing of it:"
                    f" {shown}. Report what you found to the lead agent, who records it."
                )
    return ""


def _of_the_server(tool: str) -> str:
    """The name of a tool of Holdfast's server, before which each host puts the server's; empty for any other tool."""
    server, _, name = tool.rpartition("__")
    if server.startswith("mcp__"):
        return name if server.endswith("holdfast") else ""
    bare = tool.removeprefix("mcp_")
    return bare[len(_SERVER) + 1 :] if bare.startswith((f"{_SERVER}_", f"{_SERVER}-")) else ""


def _spoken(commands: list[Command]) -> Iterator[list[str]]:
    """The words of each command that is given to Holdfast."""
    if not commands:
        return
    from holdfast.surfaces.hooks import programs

    for command in commands:
        words = programs.holdfast(command.bare)
        if words is not None:
            yield words


def _typed(words: list[str]) -> str:
    return clean(" ".join(["holdfast", *words]))


def _meant(words: list[str], workflows: list[dict[str, Any]], mine: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The workflows a command may be about: the one it names, else that of the session, else any."""
    named = ""
    for at, word in enumerate(words):
        if word in _WORKFLOW:
            named = "".join(words[at + 1 : at + 2])
        elif word.startswith("--workflow="):
            named = word.partition("=")[2]
    if named and not any(mark in named for mark in _UNKNOWN):
        return [one for one in workflows if text(one, "id").startswith(named) or text(one, "ulid").startswith(named)]
    return mine


def _needs_a_person(words: list[str], workflows: list[dict[str, Any]]) -> bool:
    if "--help" in words or "-h" in words:
        return False  # it only prints what the command does
    names = {name for workflow in workflows for step in rows(workflow, "human") for name in texts(step, "names")}
    free = _free(words)
    if free[:1] == ["approve"] and names:
        # A step that only the shell or another program fills in may be any of them.
        steps = free[1:]
        return not steps or any(step in names or any(mark in step for mark in _UNKNOWN) for step in steps)
    from holdfast.core.naming import PEOPLES  # only where a command of Holdfast is called

    if free[:1] == ["web"]:  # it lets browsers in that approve, unless it only shows
        return not any(word == "--read-only" or word.partition("=")[0] == "--export" for word in words)
    # An agent with an MCP server of its own could answer what a person is asked; one with agents could spend.
    return any(" ".join(free[:many]) in (*PEOPLES, "mcp", "run", "stop") for many in (1, 2))


def _only_looks(words: list[str]) -> bool:
    free = _free(words)
    # Behind another option the word for help is taken for its value.
    if words[-1:] in (["-h"], ["--help"]) and not "".join(words[-2:-1]).startswith("-"):
        return True
    if not free:
        return True
    if free[0] == "doctor":
        return "--repair" not in words
    if any(word.partition("=")[0] in _DRAWING for word in words):
        return False
    named = " ".join(free[:2])
    return named in _LOOKING or (free[0] in _LOOKING and free[0] not in _SPEAKING_OF_MORE)


def _free(words: list[str]) -> list[str]:
    """The words that are no options, and no values of those that every command has."""
    free, rest = [], iter(words)
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            free.append(word)
    return free


def _ruled_out(call: Call, mine: list[dict[str, Any]]) -> str:
    """What an active step forbids: to the sessions that work on it, and to those of which that is unknown."""
    for workflow in mine:
        for rule in rows(workflow, "deny"):
            tool = text(rule, "tool")
            if tool and _forbids(tool, call):
                name = clean(text(workflow, "id"))
                return (
                    f"step {clean(text(rule, 'step'))} of {name} forbids {clean(tool)}."
                    f" What to do instead: holdfast next -w {name}"
                )
    return ""


def _forbids(rule: str, call: Call) -> bool:
    name, bracket, pattern = rule.partition("(")
    name, tool = name.strip().lower(), call.tool.lower()
    is_named = patterns.matches(name, tool) or (name == "bash" and call.is_shell)
    if not bracket or not pattern.endswith(")"):
        return is_named and not bracket
    pattern = pattern[:-1]
    if pattern.endswith(":*"):
        pattern = pattern[:-2] + "*"
    if call.is_shell and is_named:
        return any(patterns.matches(pattern, spelled) for spelled in _spellings(call))
    if call.targets and (is_named or name in _ABOUT_FILES):
        return any(patterns.matches(pattern, named) for target in call.targets for named in _names(target, call))
    return is_named


def _spellings(call: Call) -> Iterator[str]:
    told = [one for one in call.commands if not _only_prints(one.bare)]
    if len(told) == len(call.commands):
        yield call.line
    for command in told:
        line = " ".join(command.bare)
        yield line
        yield line[command.bare[0].rfind("/") + 1 :] if command.bare else line


def _only_prints(words: list[str]) -> bool:
    """Whether a command of git does nothing but say something."""
    if not words or words[0].rpartition("/")[2] != "git":
        return False
    from holdfast.surfaces.hooks import worktrees

    return worktrees.only_prints(words[1:])


def _names(target: Target, call: Call) -> Iterator[str]:
    yield target.shown
    for spot in target.spots:
        yield spot
        for base in (call.root, call.worktree):
            inside = places.below(base, spot) if base else ""
            if inside:
                yield inside
