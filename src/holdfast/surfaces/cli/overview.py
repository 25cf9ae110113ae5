"""What `holdfast --help` says."""

from __future__ import annotations

from holdfast.surfaces.cli.arguments import options_of
from holdfast.surfaces.cli.grammar import Command
from holdfast.surfaces.cli.table import COMMANDS, GROUPS

_HEAD = """\
Durable workflow state for AI agents: every workflow stays at its step and moves on only through its gates.

  holdfast COMMAND [OPTION…]        holdfast COMMAND --help says more

To begin
  holdfast start dev features/NAME.md       the tasks of a feature file, one after the other
  holdfast start tdd "TEXT"                 one task: a test that fails, the work, tidying up, a commit
  holdfast next                             what to do now, and what to type
  holdfast done                             hand in the step that is worked on

"""
_MORE = {
    "start": """
For example
  holdfast start dev features/NAME.md       the tasks of a feature file, or of a folder of them
  holdfast start tdd "TEXT"                 one task: a test that fails, the work, tidying up, a commit
  holdfast workflows                        every workflow that can be started
  holdfast workflows check FILE             what is read in a feature file or task document
""",
}
_FOOT = """
STEP is a number, an id, or a path such as build/2. Every command takes --json and --as ROLE; -w ID picks the workflow.
Exit codes: 0 done, 2 wrong usage, 3 refused by a rule, 4 not found, 5 conflict, 6 broken data, 1 anything else.
"""


def text() -> str:
    rows = {name: _usage(command) for name, command in COMMANDS.items()}
    wide = min(40, max(map(len, rows.values())))
    out = [_HEAD]
    for group, title in GROUPS.items():
        out.append(f"{title}\n")
        out += [f"  {rows[n]:<{wide}}  {c.about}\n" for n, c in COMMANDS.items() if c.group == group]
        out.append("\n")
    return "".join(out).rstrip("\n") + "\n" + _FOOT


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
    rows = []
    for option in options_of(command):
        left = option.flags.replace(" ", ", ") if option.is_flag else ""
        left = f"{left} {option.shown}".strip() if option.type else left
        many = " (may be repeated)" if option.many else ""
        rows.append((left, f"{option.help}{many}"))
    wide = max(len(left) for left, _ in rows)
    listed = "".join(f"  {left:<{wide}}  {right}".rstrip() + "\n" for left, right in rows)
    return f"holdfast {_usage(command)} [OPTION…]\n\n{command.about}\n\n{listed}{_MORE.get(command.name, '')}"
