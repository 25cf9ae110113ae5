"""What hosts are told to run, and how a line of ours is known again among those of others."""

from __future__ import annotations

import os
import shlex
import sys
from _collections_abc import Sequence

_HOOKS = "/holdfast/surfaces/hooks/run.py"
_STATUS = "statusline"
_TOOLSET = "--toolset"
LAUNCHER = "holdfast-hook"
"""The program that comes with Holdfast for settings that many machines share. It is found on the path."""
_GUARDED = f"command -v {LAUNCHER} >/dev/null && exec {LAUNCHER}; echo '"
_OURS = "Holdfast does not guard this session"
PROGRAMS = ("holdfast", LAUNCHER)
_ABSENT = (
    f"{_OURS}: {LAUNCHER} is not on PATH. If it is installed, add its folder to PATH; "
    "if not, install Holdfast from a checkout: it is on no package index."
)


def hook_words(*, shared: bool = False) -> list[str]:
    """The hook itself: by its launcher, or with the interpreter of this installation and nothing else loaded."""
    if shared:
        return [LAUNCHER]
    package = os.path.abspath(__file__).rsplit("/", 3)[0]
    return [sys.executable, "-I", "-S", package + _HOOKS.removeprefix("/holdfast")]


def status_words(*, shared: bool = False) -> list[str]:
    return [*hook_words(shared=shared), _STATUS]


def server_words(*, shared: bool = False) -> list[str]:
    """The server. A host starts it in the project, whose own files must not be taken for modules."""
    return ["holdfast", "mcp"] if shared else [sys.executable, "-P", "-m", "holdfast", "mcp"]


def line_of(words: Sequence[str]) -> str:
    """What a host hands to a shell. Where the launcher is not on the path, the host's person is told."""
    if list(words) != [LAUNCHER]:
        return shlex.join(words)
    return f'{_GUARDED}{{"systemMessage":"{_ABSENT}"}}\''


def is_hook(command: object) -> bool:
    """Whether a line is ours and nothing else: somebody's own line around it stays theirs."""
    words = _words(command)
    return _is_fast(words) or _is_typed(words, "hook") or words == [LAUNCHER] or _is_guarded(command)


def is_status(command: object) -> bool:
    words = _words(command)
    return (words[-1:] == [_STATUS] and (_is_fast(words[:-1]) or words[:-1] == [LAUNCHER])) or _is_typed(words, _STATUS)


def toolset(words: list[str]) -> list[str]:
    """The words with which somebody chose toolsets of a server, at its end."""
    if words[-2:-1] == [_TOOLSET]:
        return words[-2:]
    return words[-1:] if words and words[-1].startswith(f"{_TOOLSET}=") else []


def is_server(words: list[str]) -> bool:
    """Whether a server is one that an installation wrote, but for its toolsets: one that somebody wrote by hand stays
    theirs.
    """
    words = words[: len(words) - len(toolset(words))]
    if words == server_words(shared=True):
        return True
    return words[-3:] == ["-m", "holdfast", "mcp"] and words[1:-3] in ([], ["-P"]) and os.path.isabs(words[0])


def is_typed(command: object) -> bool:
    """`holdfast hook`, which somebody wrote by hand: it works on every machine."""
    return _words(command)[:1] == ["holdfast"]


def is_edited(command: object) -> bool:
    """Whether a line was ours until somebody changed it, or has a name in it that is nearly that of a program of ours.

    A line around ours is somebody's own, and works.
    """
    if not isinstance(command, str) or is_hook(command) or is_status(command) or _GUARDED in command:
        return False
    words = _words(command)
    if any(_is_fast(words[at : at + 4]) for at in range(len(words))):
        return False
    if _OURS in command or _HOOKS in command:
        return True
    from holdfast.core.names import nearest

    names = {os.path.basename(word) for word in words}
    return any(name not in PROGRAMS and name[:4] == "hold" and nearest(name, PROGRAMS) for name in names)


def is_holdfast(words: list[str]) -> bool:
    """Whether a server is Holdfast's, however somebody wrote it."""
    return "mcp" in words and any(os.path.basename(word) == "holdfast" for word in words)


def program_of(command: str) -> str:
    """The program of this line that is found on the path; empty where the line names a file."""
    if LAUNCHER in command:
        return LAUNCHER
    return "holdfast" if is_typed(command) else ""


def _is_guarded(command: object) -> bool:
    """Our line for shared settings, whatever it says where the launcher is missing."""
    if not isinstance(command, str) or not command.startswith(_GUARDED):
        return False
    return command.endswith("'") and command.count("'") == 2


def _is_fast(words: list[str]) -> bool:
    return len(words) == 4 and words[1:3] == ["-I", "-S"] and words[3].endswith(_HOOKS)


def _is_typed(words: list[str], what: str) -> bool:
    named = len(words) == 2 and os.path.basename(words[0]) == "holdfast"
    return words[-1:] == [what] and (named or (len(words) == 4 and words[1:3] == ["-m", "holdfast"]))


def _words(command: object) -> list[str]:
    if not isinstance(command, str):
        return []
    try:
        return shlex.split(command)
    except ValueError:
        return []
