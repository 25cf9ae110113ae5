"""Remedies as calls of tools: a model has no terminal, or should not need one."""

from __future__ import annotations

from _collections_abc import Iterable, Mapping

from holdfast.core import naming
from holdfast.core.packet import Voice
from holdfast.core.remedy import Blank, Remedy, Scope, typed, whole
from holdfast.core.remedy import as_json as typed_json
from holdfast.core.value import Any
from holdfast.errors import one_line
from holdfast.plain.plainjson import spaced

LONGEST_PACKET = 50_000
_ANY = ("list_workflows", "start_workflow", "story_session")
"""Tools that are about no workflow."""
_EITHER = ("get_resume_packet", "inspect_workflow", "deliver_feature")
"""Tools that find the workflow themselves where none is named."""


def in_tools(remedies: Iterable[Remedy | str], scope: Scope) -> str:
    """What leads on: tools with their arguments, and who has to type what."""
    return one_line(tuple(remedies), lambda one: one if isinstance(one, str) else _said(one, scope))


CALLED = Voice(
    tell=in_tools, rest=lambda name: (f"get_resume_packet {spaced({'workflow_id': name, 'limit': LONGEST_PACKET})}",)
)
"""Commands in a packet, as calls of tools."""


def as_json(remedies: Iterable[Remedy | str], scope: Scope) -> list[dict[str, Any]]:
    """Each remedy for itself, as the command line has them; an agent's commands are calls of tools where there are."""
    told = []
    for one, said in zip(whole(remedies), typed_json(remedies, scope), strict=True):
        call = _call(one, scope) if one.command and one.who != "person" else ""
        told.append({**said, "command": call} if call else said)
    return told


def named(remedies: Iterable[Remedy | str], scope: Scope) -> tuple[str, ...]:
    """The tools that remedies for an agent are calls of."""
    calls = (_call(one, scope) for one in whole(remedies) if one.command and one.who != "person")
    return tuple(call.partition(" ")[0] for call in calls if call)


def _said(remedy: Remedy, scope: Scope) -> str:
    if not remedy.command or remedy.who == "person":
        return typed(remedy, scope)
    call = _call(remedy, scope) or f"in a shell: {typed(remedy.replace(text=''), scope)}"
    return f"{remedy.text}: {call}" if remedy.text else call


def _call(remedy: Remedy, scope: Scope) -> str:
    """The call that does what the command does; empty where no tool takes what it says."""
    tool, *fields = naming.TOOLS.get(remedy.command, "").split() or [""]
    given = {name: value for name, value in remedy.arguments.items() if value not in (None, "", False, [], (), {})}
    arguments: dict[str, Any] = {}
    named = remedy.workflow or scope.about
    if named and tool not in _ANY:
        arguments["workflow_id"] = scope.active.get(named, named)
    elif tool not in (*_ANY, *_EITHER):
        return ""
    for field in fields:
        name, equals, constant = field.partition("=")
        name, _, source = name.partition(":")
        is_list, name = name.endswith("…"), name.removesuffix("…")
        source, _, pair = (source or name).partition(".")
        if equals:
            arguments[name] = constant == "true" or constant
        elif source in given and (not pair or list(given[source]) == [pair]):
            value = given.pop(source)
            plain = _plain(value[pair] if pair else value)
            arguments.update({name: str(plain).split(",") if is_list else plain} if name else {})
    return "" if given or not tool else f"{tool} {spaced(arguments)}"


def _plain(value: object) -> object:
    if isinstance(value, Blank):
        return "TRUE_OR_FALSE" if value.shown.startswith("--") else value.shown
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value
