"""A refused command as it is to be typed again: with each workflow or step that it could mean, or by a person.

What it decides is left open again.
"""

from __future__ import annotations

from holdfast.core import naming, remedies
from holdfast.core.remedy import Blank, Remedy, Scope, one_of, shell
from holdfast.errors import HoldfastError
from holdfast.surfaces.cli import lookup
from holdfast.surfaces.cli.table import COMMON

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.surfaces.cli.call import Call

MOST = 8
_NEVER = ("yes", "json", "role", "debug", "help")
"""Options that are not repeated for somebody else: how it is answered, who answers, and that nobody is asked."""
_DECIDING = ("approve", "reject", *naming.PEOPLES)


def with_options(call: Call, error: HoldfastError) -> None:
    """Gives a person's own command, where it is the one that was refused, the options that were typed with it.

    One that the refusal is about is left out.
    """
    own = {one.dest: one for one in naming.spellings(call.command.name) if one.is_flag and one.dest not in _NEVER}
    typed = {dest: words for dest, words in call.args.typed.items() if dest in own and dest not in error.facts}

    def completed(one: Remedy | str) -> Remedy | str:
        name = call.command.name
        if isinstance(one, str) or one.who != "person" or not f" {name}".endswith(f" {one.command}"):
            return one
        known = {spelling.dest for spelling in naming.spellings(one.command)}
        missing = {
            dest: words if own[dest].many else words[0] if words else True
            for dest, words in typed.items()
            if dest in known and not _is_given(one.arguments.get(dest))
        }
        return one.given(**missing) if missing else one

    error.remedies = tuple(completed(one) for one in error.remedies)


def _is_given(value: object) -> bool:
    return bool(value) and not isinstance(value, Blank)


def with_each_workflow(error: HoldfastError, argv: list[str], scope: Scope) -> tuple[Remedy, ...]:
    """The command with each `-w` that fits; where it is a decision, these are the person's own."""
    candidates = error.facts["candidates"]
    assert isinstance(candidates, list)
    fitting = [one["ulid"] for one in candidates if one.get("fits")] or [one["ulid"] for one in candidates]
    command = lookup.find(argv)[0].name
    again = _open(command, argv)
    at, flag = again.index("--") if "--" in again else len(again), ["-w"]
    if naming.has_slug(command):
        at, flag = len(command.split()), []
    found = [
        shell("holdfast", *again[:at], *flag, scope.active.get(ulid, ulid), *again[at:]) for ulid in fitting[:MOST]
    ]
    if command not in _DECIDING:
        return tuple(found)
    show, wait, *own = remedies.person("this", *found, workflow=fitting[0])
    return (show, *([wait] if len(fitting) == 1 else []), *own)


def with_each_meaning(error: HoldfastError, argv: list[str]) -> tuple[Remedy, ...]:
    """The command with each step or definition that the word could mean."""
    word = error.facts.get("step") or error.facts.get("task") or error.facts.get("name")
    candidates = error.facts.get("candidates")
    if word not in argv or not isinstance(candidates, list):
        return ()
    at, command = argv.index(str(word)), lookup.find(argv)[0].name
    found = [shell("holdfast", *argv[:at], path, *argv[at + 1 :]) for path in candidates[:MOST]]
    return remedies.person("this", *found) if command in _DECIDING else tuple(found)


def _open(command: str, argv: list[str]) -> list[str | Blank]:
    """What was typed, without the option that names a workflow, and with a blank for a report or verdict."""
    workflow = COMMON["w"].flags.split()
    verdict = next((one for one in naming.spellings(command) if one.dest == "verdict"), None)
    out: list[str | Blank] = []
    rest = iter(argv)
    for word in rest:
        name, equals, _ = word.partition("=")
        if word == "--":
            return [*out, word, *rest]
        if name in workflow or (verdict and name == verdict.flags):
            if not equals:
                next(rest, None)
            out += ["--verdict", one_of(*verdict.choices)] if verdict and name == verdict.flags else []
        elif command == "check" and word in ("--passed", "--failed"):
            out.append(remedies.REPORT)
        else:
            out.append(word)
    return out
