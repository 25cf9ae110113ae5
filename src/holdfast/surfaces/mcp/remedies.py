"""Remedies in the words of the tools: a model has no terminal, or should not need one."""

from __future__ import annotations

from _collections_abc import Callable, Mapping

from holdfast.errors import HoldfastError
from holdfast.plain.plainjson import spaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PEOPLE = ("person_needed", "signature_needed", "declined", "untrusted")
"""Refusals whose remedy only a person can follow, at a terminal of their own."""
_PERSONAL = ("extend", "trust")
"""Commands that are refused to an agent in any case."""


def remedy_of(error: HoldfastError, workflow_id: str) -> str:
    """What leads on: a tool with its arguments, or who has to type what."""
    if error.code == "untrusted":
        return error.remedy
    return _of_person(error.remedy, workflow_id) if error.code in PEOPLE else in_tools(error.remedy, workflow_id)


def in_tools(remedy: str, workflow_id: str) -> str:
    """A remedy with every command in it that is also a tool replaced by the call of that tool."""
    import re

    def call(found: re.Match[str]) -> str:
        command = found[0]
        if found[1] in _PERSONAL:
            return _of_person(command, workflow_id)
        return _call(command, workflow_id) or f"in a shell: {_named(command, workflow_id)}"

    said = re.sub(_COMMAND, call, remedy)
    return re.sub(r"^pick one with -w: -w (\S+)$", r"pass workflow_id: \1", said)


_COMMAND = r"holdfast ([a-z-]+)(?:(?!, (?:or|then)|;).)*"


def _of_person(remedy: str, workflow_id: str) -> str:
    said = remedy if not remedy.startswith("holdfast ") else f"a person types this in a terminal of their own: {remedy}"
    return _named(said, workflow_id)


def _named(text: str, workflow_id: str) -> str:
    """A text that ends with a command, which is about this workflow."""
    from holdfast.surfaces.cli.table import COMMANDS

    words = text.rpartition("holdfast ")[2].split()
    command = COMMANDS.get(" ".join(words[:2])) or COMMANDS.get(" ".join(words[:1]))
    takes = command is not None and "w" in command.takes
    return f"{text} -w {workflow_id}" if takes and workflow_id and "-w" not in words else text


def _call(command: str, workflow_id: str) -> str:
    import shlex

    try:
        words = shlex.split(command)[1:]
    except ValueError:
        return ""
    name, rest = words[0], words[1:]
    make = _CALLS.get(name)
    if make is None:
        return ""
    options, free = _parsed(rest)
    made = make(free, options)
    if made is None:
        return ""
    tool, arguments = made
    named = options.get("-w") or workflow_id
    if named and tool not in ("list_workflows", "start_workflow"):
        arguments = {"workflow_id": named, **arguments}
    return f"{tool} {spaced(arguments)}"


def _parsed(words: list[str]) -> tuple[dict[str, str], list[str]]:
    options: dict[str, str] = {}
    free: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in _FLAGS:
            options[word] = ""
        elif word.startswith("-"):
            options[word] = next(rest, "")
        else:
            free.append(word)
    return options, free


_FLAGS = ("--run", "--passed", "--failed", "--fresh", "--resume", "--help")
_Made = tuple[str, dict[str, "Any"]] | None


def _moved(status: str) -> Callable[[list[str], Mapping[str, str]], _Made]:
    def make(free: list[str], options: Mapping[str, str]) -> _Made:
        if not free:
            return None
        given: dict[str, Any] = {"step": free[0], "status": status}
        if "--artifact" in options:
            name, _, path = options["--artifact"].partition("=")
            given["artifacts"] = {name: path}
        return "update_workflow_state", {**given, **_taken(options, reason="--reason")}

    return make


def _taken(options: Mapping[str, str], **fields: str) -> dict[str, Any]:
    return {field: options[option] for field, option in fields.items() if option in options}


def _checked(free: list[str], options: Mapping[str, str]) -> _Made:
    if not free:
        return None
    said = {"passed": True} if "--passed" in options else {"passed": False} if "--failed" in options else {}
    return "run_check", {"check": free[0], **said, **_taken(options, step="--step")}


def _approved(free: list[str], options: Mapping[str, str]) -> _Made:
    if not free or "--sign" in options:
        return None
    return "approve_step", {"step": free[0], "approved": True, **_taken(options, selected_variant="--variant")}


def _rejected(free: list[str], options: Mapping[str, str]) -> _Made:
    return (
        ("approve_step", {"step": free[0], "approved": False, **_taken(options, feedback="--feedback")})
        if free
        else None
    )


def _reviewed(free: list[str], options: Mapping[str, str]) -> _Made:
    taken = _taken(options, verdict="--verdict", feedback="--feedback", reviewer="--as")
    return ("review_step", {"step": free[0], **taken}) if free else None


def _started(free: list[str], options: Mapping[str, str]) -> _Made:
    if not free or "--branch" in options or "…" in free or "--help" in options:
        return None
    given: dict[str, Any] = {"workflow": free[0]}
    if free[1:]:
        given["subject"] = free[1]
    return (
        None
        if "--set" in options
        else ("start_workflow", {**given, **({"fresh": True} if "--fresh" in options else {})})
    )


_CALLS: dict[str, Callable[[list[str], Mapping[str, str]], _Made]] = {
    "begin": _moved("in_progress"),
    "done": _moved("completed"),
    "submit": _moved("waiting_approval"),
    "fail": _moved("failed"),
    "check": _checked,
    "approve": _approved,
    "reject": _rejected,
    "review": _reviewed,
    "start": _started,
    "resume": lambda free, options: ("resume_workflow", _taken(options, from_step="--from")),
    "reopen": lambda free, options: ("resume_workflow", {"from_step": free[0]} if free else {}),
    "cancel": lambda free, options: ("cancel_workflow", {}),
    "status": lambda free, options: ("get_workflow_status", {}),
    "next": lambda free, options: ("get_next_step", {}),
    "list": lambda free, options: ("list_workflows", {}),
    "lock": lambda free, options: ("lock_files", {"paths": free}),
    "resume-packet": lambda free, options: ("get_resume_packet", {}),
    "ack": lambda free, options: ("get_resume_packet", {"ack": free[0]} if free else {}),
}
