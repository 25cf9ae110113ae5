"""What `holdfast --help`, `holdfast help --all` and the help of groups and commands say."""

from __future__ import annotations

import os
import sys

from holdfast.plain.terminal import fold, width_of, wrap, write
from holdfast.surfaces.cli.arguments import options_of
from holdfast.surfaces.cli.grammar import Command
from holdfast.surfaces.cli.table import COMMANDS, GROUPS

_FIRST = (
    *("start", "status", "next", "done", "check", "approve", "reject"),
    *("list", "log", "workflows", "install", "doctor"),
)
"""The commands that people need first."""
_HEAD = "Holdfast keeps the state of AI agents' workflows, and enforces their gates.\n\n"
_BEGIN = """
To begin
  holdfast demo                        watch a demonstration
  holdfast init                        look at this project and set it up
  holdfast start dev features/NAME.md  the tasks of a feature file
  holdfast start tdd "TEXT"            one task: failing test, work, commit
  holdfast start feature "TITLE"       a feature in phases, with reviews

holdfast COMMAND --help explains a command; holdfast help --all lists all.
"""
_LINES = 20
_WIDE = 34
"""The column of commands; a longer one has a line of its own."""
_MORE = {
    "start": """
For example
  holdfast start dev features/NAME.md  the tasks of a feature file, or a folder
  holdfast start tdd "TEXT"            one task: failing test, work, commit
  holdfast workflows                   every workflow that can be started
  holdfast workflows check FILE        what is read in a feature file
""",
}
_FOOT = """
To continue work
  resume            after a failure, a pause, a cancellation, in a new session
  feature continue  as far as possible without a person
  reopen            a finished step needs more work
  reset             a step and everything after it, from the beginning
  restore           the steps as they were at a snapshot
  feature recover   the state of a feature is lost
  revalidate        the work is valid, although what it builds on changed
  unblock           a step is blocked or escalated

STEP is a number, an id, or a path such as build/2. Every command takes --json
and --as ROLE; -w ID picks the workflow. Exit codes: 0 done, 2 wrong usage,
3 refused by a rule, 4 not found, 5 conflict, 6 broken data, 1 anything else.
"""


def show(text: str) -> None:
    """Prints help: for a terminal with less than 80 columns, with lines that break between words."""
    write(fold(text, width_of(sys.stdout, os.environ)))


def short() -> str:
    """What `holdfast --help` says: it fits into 24 lines of 80 columns."""
    rows = {name: _usage(COMMANDS[name]) for name in _FIRST}
    wide = max(map(len, rows.values()))
    return _HEAD + "".join(f"  {row:<{wide}}  {COMMANDS[name].about}\n" for name, row in rows.items()) + _BEGIN


def text() -> str:
    """What `holdfast help --all` says."""
    out = [_HEAD]
    for group, title in GROUPS.items():
        out.append(f"{title}\n{_listed([name for name, one in COMMANDS.items() if one.group == group])}\n")
    return "".join(out).rstrip("\n") + "\n" + _FOOT


def of_group(name: str) -> str:
    """What `holdfast feature --help` says, of commands that share their first word; empty where none do."""
    below = [one for one in COMMANDS if one.partition(" ")[0] == name]
    if not any(" " in one for one in below):
        return ""
    return f"{_listed(below)}\nholdfast {name} COMMAND --help explains a command.\n"


def _listed(names: list[str]) -> str:
    """Each command with what it does, which is below where it would pass 80 columns."""
    rows = {name: _usage(COMMANDS[name]) for name in names}
    wide = min(_WIDE, max(map(len, rows.values())))
    out = []
    for name, row in rows.items():
        first, *more = wrap(COMMANDS[name].about, 80 - wide - 4, _LINES)
        indent = " " * (wide + 4)
        out.append(f"  {row:<{wide}}  {first}\n" if len(row) <= wide else f"  {row}\n{indent}{first}\n")
        out += [f"{indent}{line}\n" for line in more]
    return "".join(out)


def _usage(command: Command) -> str:
    """The name and what must come with it."""
    words = [command.name]
    for option in command.options:
        if not option.is_flag:
            shown = option.shown
            words.append({"?": f"[{shown}]", "*": f"[{shown}…]", "+": f"{shown}…"}.get(option.nargs, shown))
        elif option.required:
            words.append(f"{option.flags} {option.shown}")
    return " ".join(words)


def of(command: Command) -> str:
    """What `holdfast COMMAND --help` says."""
    rows: list[tuple[str, str]] = []
    for option in options_of(command):
        left = option.flags.replace(" ", ", ") if option.is_flag else ""
        left = f"{left} {option.shown}".strip() if option.type else left
        many = " (may be repeated)" if option.many else ""
        rows.append((left, f"{option.help}{many}"))
    wide = max(len(left) for left, _ in rows)
    listed = ""
    for left, right in rows:
        first, *more = wrap(right, 80 - wide - 4, _LINES) or [""]
        listed += f"  {left:<{wide}}  {first}".rstrip() + "\n"
        listed += "".join(f"{' ' * (wide + 4)}{line}\n" for line in more)
    return f"holdfast {_usage(command)} [OPTION…]\n\n{command.about}\n\n{listed}{_MORE.get(command.name, '')}"
