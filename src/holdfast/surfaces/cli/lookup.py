"""Which command was typed, and the function that does it."""

from __future__ import annotations

from _collections_abc import Callable

from holdfast.core.remedy import Blank, Remedy, shell
from holdfast.errors import UsageError
from holdfast.surfaces.cli.grammar import Command
from holdfast.surfaces.cli.table import ALWAYS, COMMANDS, COMMON
from holdfast.systems.seam.registry import NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.surfaces.cli.call import Call


_MEANT = {
    **dict.fromkeys(("abort", "stop", "quit", "kill", "delete", "remove", "rm"), "cancel"),
    **dict.fromkeys(("finish", "complete", "close"), "done"),
    **dict.fromkeys(("new", "create", "run"), "start"),
    **dict.fromkeys(("ls", "ps"), "list"),
    **dict.fromkeys(("accept", "confirm"), "approve"),
    **dict.fromkeys(("deny", "refuse"), "reject"),
    **dict.fromkeys(("history", "events"), "log"),
    "restart": "start",
    **dict.fromkeys(("stat", "state", "info"), "status"),
    "version": "--version",
    "undo": "reopen",
}
"""What people call a command elsewhere."""


def find(argv: list[str]) -> tuple[Command, list[str]]:
    """The command that was typed, and the words that belong to it. Common options may be before it."""
    at = _first_word(argv)
    before, words = argv[:at], argv[at:]
    if not words:
        named = any(word[:2] == "-w" or word.partition("=")[0] == "--workflow" for word in before)
        way = shell("holdfast", "status", *before) if named else shell("holdfast", "--help")
        raise UsageError("no_command", "no command is given, only options", remedy=way)
    for length in (2, 1):
        command = COMMANDS.get(" ".join(words[:length])) if len(words) >= length else None
        if command:
            return command, [*before, *words[length:]]
    raise _unknown(words)


def _first_word(argv: list[str]) -> int:
    valued = {flag for option in (*ALWAYS, *COMMON.values()) if option.type for flag in option.flags.split()}
    at = 0
    while at < len(argv) and argv[at].startswith("-"):
        at += 2 if argv[at] in valued else 1
    return at


def _unknown(words: list[str]) -> UsageError:
    from holdfast.core import remedies
    from holdfast.core.names import nearest

    name = words[0].removeprefix("/")
    start: tuple[Remedy, ...] = ()
    if _is_definition(name):
        rest = [word for word in words[1:] if not word.startswith("-")]
        start = (remedies.start(name, " ".join(rest) or Blank("SUBJECT")),)
    below = [name for name in COMMANDS if name.startswith(words[0] + " ")]
    if below:
        listed = ", ".join(name.partition(" ")[2] for name in below)
        other = words[1][:80] if len(words) > 1 and not words[1].startswith("-") else ""
        wrong = f"there is no command 'holdfast {words[0]} {other}'; " if other else ""
        said = f"{wrong}holdfast {words[0]} needs one of: {listed}"
        ways = (*(one.replace(text="to start one") for one in start), remedies.usage(below[0]))
        return UsageError("no_command", said, remedy=ways, facts={"commands": below})
    if start:
        return UsageError("no_command", f"{words[0]!r} is a workflow and no command: start it", remedy=start)
    under = [one for one in COMMANDS if one.endswith(f" {words[0]}")]
    if len(under) == 1:
        said = f"there is no command {words[0][:80]!r}, but holdfast {under[0]}"
        return UsageError("no_command", said, remedy=remedies.usage(under[0]), facts={"commands": under})
    first = tuple(dict.fromkeys(name.split()[0] for name in COMMANDS))
    close = _MEANT.get(words[0]) or nearest(words[0], first) or ""
    hint = f", did you mean {close!r}?" if close else ""
    remedy = shell("holdfast", close) if close.startswith("-") else shell("holdfast", *close.split(), "--help")
    return UsageError("no_command", f"there is no command {words[0][:80]!r}{hint}", remedy=remedy)


def _is_definition(name: str) -> bool:
    """Whether a workflow has this name: one of the systems, or of the project at the working directory."""
    import os

    from holdfast.core.names import is_name
    from holdfast.systems.seam.registry import folders

    places = (*folders("definitions"), os.path.join(".holdfast", "workflows"))
    return is_name(name) and any(os.path.isfile(os.path.join(place, f"{name}.toml")) for place in places)


def load(handler: str) -> Callable[[Call], int | None]:
    """The function behind `module:name`, or `system:name`. `importlib` would import `warnings` with it."""
    module, _, name = handler.partition(":")
    path = f"holdfast.systems.{module}.commands" if module in NAMES else f"holdfast.surfaces.cli.{module}"
    found: Callable[[Call], int | None] = getattr(__import__(path, fromlist=[name]), name)
    return found
