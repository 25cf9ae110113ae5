"""Completion in the shell: scripts that ask `holdfast __complete`, and what that answers."""

from __future__ import annotations

import os

from holdfast.errors import HoldfastError
from holdfast.plain.terminal import write
from holdfast.surfaces.cli.arguments import options_of
from holdfast.surfaces.cli.call import Call
from holdfast.surfaces.cli.grammar import Command, Option
from holdfast.surfaces.cli.table import COMMANDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.project.project import Project

_BASH = """\
_holdfast() {
    local IFS=$'\\n'
    COMPREPLY=($(holdfast __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _holdfast holdfast
"""
_ZSH = """\
#compdef holdfast
_holdfast() {
    local -a found
    found=("${(@f)$(holdfast __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${found[1]}" ]]; then compadd -- "${found[@]}"; else _files; fi
}
compdef _holdfast holdfast
"""
_FISH = """\
function __holdfast_complete
    set -l words (commandline -opc) (commandline -ct)
    holdfast __complete $words[2..-1] 2>/dev/null
end
complete -c holdfast -a '(__holdfast_complete)'
"""


def script(call: Call) -> None:
    text = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}[call.args.shell]
    call.answer({"shell": call.args.shell, "script": text}, text)


def complete(words: list[str]) -> int:
    """One candidate a line for the last of the words. Whatever goes wrong, a shell that asks hears nothing of it."""
    *before, begun = words or [""]
    try:
        found = _candidates(before, begun)
    except (HoldfastError, OSError):
        found = []
    write("".join(f"{word}\n" for word in dict.fromkeys(found) if word.startswith(begun)))
    return 0


def _candidates(before: list[str], begun: str) -> list[str]:
    typed = [word for word in before if not word.startswith("-")]
    name = next((n for n in (" ".join(typed[:2]), " ".join(typed[:1])) if n in COMMANDS), "")
    below = [n.split()[1] for n in COMMANDS if typed and n.startswith(typed[0] + " ")]
    if not typed:
        return [n.split()[0] for n in COMMANDS]
    if len(typed) == 1 and below and not begun.startswith("-"):
        return below
    return _of(COMMANDS[name], before, begun) if name else []


def _of(command: Command, before: list[str], begun: str) -> list[str]:
    flags = {flag: option for option in options_of(command) if option.is_flag for flag in option.flags.split()}
    last = flags.get(before[-1]) if before else None
    if last is not None and last.type:
        return _values(last, before)
    if begun.startswith("-"):
        return list(flags)
    return [word for option in command.options if not option.is_flag for word in _values(option, before)]


def _values(option: Option, before: list[str]) -> list[str]:
    if option.choices:
        return list(option.choices)
    if option.type == "workflow":
        return [entry.id for entry in _project().wired.store.active()]
    if option.shown == "STEP":
        picked = next((before[i + 1] for i, w in enumerate(before[:-1]) if w in ("-w", "--workflow")), "")
        return list(_project().workflow(picked).state.plan.paths)
    if option.shown in ("WORKFLOW", "FILE_OR_NAME"):
        return [entry.name for entry in _project().wired.catalogue.all()]
    return []


def _project() -> Project:
    from holdfast.machine import settings
    from holdfast.project.project import open_project

    return open_project(".", settings=settings.read(os.environ, terminal=False, surface="cli"))
