"""Which files a tool of an agent host is about to write."""

from __future__ import annotations

import posix

from holdfast.surfaces.hooks import places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.surfaces.hooks.programs import Written
    from holdfast.surfaces.hooks.shell import Command

SHELLS = frozenset(
    (
        *("bash", "shell", "local_shell", "shell_command", "exec_command", "unified_exec"),
        *("run_shell_command", "execute_command", "run_commands", "run_terminal_command"),
    )
)
_EDITING = ("write", "edit", "create", "patch", "replace", "delete", "move", "rename")
_TAKING = ("delete", "move", "rename")
_PATH_KEYS = ("file_path", "notebook_path", "path", "filePath", "target_file")
_FOLDER_KEYS = ("dir_path", "directory", "workdir")
_MOVE_KEYS = ("source", "destination")
_PATCH_KEYS = ("input", "patch", "command", "patchText")
_PATCH_MARKS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
_HERE = ("$PWD", "${PWD}", "$(pwd)", "$(pwd -P)", "`pwd`", "~+")
_TOP = ("$(git rev-parse --show-toplevel)", "`git rev-parse --show-toplevel`")
_VARIABLES = {spelled: name for name in ("HOME", "CLAUDE_PROJECT_DIR") for spelled in (f"${name}", f"${{{name}}}")}


class Target:
    """A file about to be written: everywhere its path may lead.

    `takes` says what of it: the `file`, a `folder` with all it holds, or what git has `tracked` there. Where a command
    of git writes it, `by_git` is a folder in the worktree that the command changes.
    """

    __slots__ = ("by_git", "shown", "spots", "takes")

    def __init__(self, name: str, folder: str, takes: str = "file", shown: str = "") -> None:
        path = absolute(name, folder)
        head, _, tail = path.rstrip("/").rpartition("/")
        parent = places.real(head or "/") if tail not in ("", ".", "..") else ""
        beside = [f"{parent.rstrip('/')}/{tail}"] if parent else []
        self.shown, self.takes, self.by_git = shown or name, takes, ""
        # What is taken away by the name of a link is the link.
        followed = [] if takes == "folder" and beside and not path.endswith("/") else [places.real(path)]
        self.spots = tuple({places.lexical(path), *beside, *followed})


def absolute(name: str, folder: str) -> str:
    """A path as the host or its shell reads it in a folder."""
    if name == "~" or name.startswith("~/"):
        return variable("HOME") + name[1:]
    return name if name.startswith("/") else f"{folder}/{name}"


def variable(name: str) -> str:
    return posix.environ.get(name.encode(), b"").decode("utf-8", "surrogateescape")


def edits(tool: str) -> bool:
    """Whether a tool writes files, by the name its maker gave it; what comes before is that of a server."""
    name = tool.lower().rpartition("__")[2]
    return any(word in name for word in _EDITING)


def edited(tool: str, given: dict[str, Any]) -> list[Written]:
    """Paths that a tool for editing names, as it names them, and what of each; none for other tools."""
    if not edits(tool) or given.get("command") == "view":
        return []
    name = tool.lower().rpartition("__")[2]
    takes = "folder" if any(word in name for word in _TAKING) else "file"
    keys = (*_PATH_KEYS, *_MOVE_KEYS) if takes == "folder" else _PATH_KEYS
    found = [(value, takes) for key in keys if isinstance(value := given.get(key), str) and value]
    for key in _PATCH_KEYS:
        text = given.get(key)
        if isinstance(text, list) and text:
            text = text[-1]
        if isinstance(text, str) and "*** " in text:
            found += [(path, "file") for path in patched(text)]
    return found


def patched(text: str) -> list[str]:
    """The files a patch of Codex's kind speaks of."""
    return [
        line[len(mark) :].strip()
        for line in text.splitlines()
        for mark in _PATCH_MARKS
        if line.startswith(mark) and line[len(mark) :].strip()
    ]


def line_of(given: dict[str, Any]) -> str | list[str]:
    """What a shell tool is to run: a text, or the words of one command."""
    several = given.get("commands")
    if isinstance(several, list):
        return "\n".join(one for one in several if isinstance(one, str))
    for key in ("command", "cmd"):
        line = given.get(key)
        if isinstance(line, str):
            return line
        if isinstance(line, list):
            return [word for word in line if isinstance(word, str)]
    return ""


def folder_of(given: dict[str, Any], folder: str) -> str:
    """Where a shell tool runs its line: in a folder that the call names, else where the agent is."""
    named = [said for key in _FOLDER_KEYS if isinstance(said := given.get(key), str)]
    return absolute(named[0], folder) if named and named[0] else folder


def by_shell(commands: list[Command], folder: str) -> list[Target]:
    """Files that commands write by redirection or because that is what their program does."""
    from holdfast.surfaces.hooks import programs

    found = []
    for command in commands:
        words = command.bare
        here = absolute(_filled_in(command.folder, folder), folder) if command.folder else folder
        kept = (name for name in command.targets if name != "/dev/null")
        found += [Target(_filled_in(name, folder), folder, shown=name) for name in kept]
        if words and programs.base(words[0]) == "git":
            found += _by_git(words, here)
        else:
            found += [_target(words, name, takes, here) for name, takes in programs.written(words) if name]
            if words and programs.base(words[0]) in ("cp", "rsync", "install"):
                from holdfast.surfaces.hooks import copied

                found += [
                    Target(path, here) for path in copied.overwritten([_filled_in(one, here) for one in words], here)
                ]
        if words and programs.base(words[0]) in ("apply_patch", "applypatch"):
            found += [Target(name, folder) for name in patched(command.fed or words[-1])]
        if words and words[0] in ("cd", "pushd") and len(words) < 3:
            name = _filled_in(words[1], folder) if len(words) == 2 else "~"
            if name != "-" and "$" not in name:
                folder = absolute(name, folder)
    return found


def _by_git(words: list[str], folder: str) -> list[Target]:
    from holdfast.surfaces.hooks import worktrees

    found = []
    for name, takes in worktrees.written(words[1:]):
        if name.startswith((worktrees.TREE, ":(top)")):
            name = f"{places.top(folder)}/{name.removeprefix(worktrees.TREE).removeprefix(':(top)')}"
        if name:
            target = _target(words, name, takes, folder)
            target.by_git = absolute(_filled_in(name, folder), folder) if words[1] == "worktree" else folder
            found.append(target)
    return found


def _target(words: list[str], name: str, takes: str, folder: str) -> Target:
    """What touches a whole tree is shown as it was typed: no file of it says what happens."""
    return Target(_filled_in(name, folder), folder, takes, " ".join(words) if takes == "tracked" else name)


def _filled_in(name: str, folder: str) -> str:
    """A word with what every shell puts for its beginning: where one stands, the person's folder, the project's."""
    head, slash, rest = name.partition("/")
    if head in _HERE:
        head = folder
    elif head in _TOP:
        head = places.top(folder)
    elif head in _VARIABLES:
        head = variable(_VARIABLES[head]) or head
    return f"{head}{slash}{rest}"
