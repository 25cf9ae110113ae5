"""What git's commands do to the files of a worktree."""

from __future__ import annotations

from holdfast.surfaces.hooks import programs
from holdfast.surfaces.hooks.programs import FOLDER, TRACKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable

    from holdfast.surfaces.hooks.programs import Written

TREE = ":/"
"""How git spells the top of the worktree one stands in."""
_STASHES_NOTHING = ("list", "show", "drop", "clear", "create", "store")
_UNSTASHES = ("pop", "apply", "branch")
_LOOKS_ONLY = frozenset(("--check", "--stat", "--numstat", "--summary", "--cached"))
_DRY = frozenset(("-n", "--dry-run"))


def written(words: list[str]) -> list[Written]:
    """Files that the command of git behind its own options writes or takes away."""
    change = _CHANGES.get(words[0]) if words else None
    return change(words[1:]) if change else []


def _parted(words: list[str], *valued: str) -> tuple[set[str], list[str]]:
    options, others = programs.parted(words, valued)
    return {option for option, _ in options}, others


def _checkout(words: list[str]) -> list[Written]:
    """Without `--` a word may be a branch or a file: that of a branch is seldom that of a file."""
    options, paths = _parted(words, "-b", "-B", "--orphan", "--conflict", "--pathspec-from-file")
    if "--" in words:
        paths = words[words.index("--") + 1 :]
    elif options & {"-f", "--force"}:
        return [(TREE, TRACKED)]
    elif options & {"-b", "-B", "--orphan"}:
        return []
    return _listed(paths, options)


def _switch(words: list[str]) -> list[Written]:
    throws_away = _parted(words)[0] & {"-f", "--force", "--discard-changes"}
    return [(TREE, TRACKED)] if throws_away else []


def _restore(words: list[str]) -> list[Written]:
    options, paths = _parted(words, "-s", "--source", "--conflict", "--pathspec-from-file")
    only_index = options & {"-S", "--staged"} and not options & {"-W", "--worktree"}
    return [] if only_index else _listed(paths, options)


def _listed(paths: list[str], options: set[str]) -> list[Written]:
    """The files that are named; a list that is read from elsewhere may name any."""
    return [(path, TRACKED) for path in ([TREE] if "--pathspec-from-file" in options else paths)]


def _reset(words: list[str]) -> list[Written]:
    return [(TREE, TRACKED)] if _parted(words)[0] & {"--hard", "--merge"} else []


def _stash(words: list[str]) -> list[Written]:
    name = words[0] if words else ""
    if name in _STASHES_NOTHING:
        return []
    if name in _UNSTASHES:
        return [(TREE, TRACKED)]
    options, paths = _parted(words[name in ("push", "save") :], "-m", "--message")
    takes = FOLDER if options & {"-a", "--all"} else TRACKED
    return [(path, takes) for path in (paths if paths and name != "save" else [TREE])]


def _clean(words: list[str]) -> list[Written]:
    options, paths = _parted(words, "-e", "--exclude")
    if options & _DRY:
        return []
    return [(path, FOLDER if options & {"-x", "-X"} else TRACKED) for path in paths or ["."]]


def _rm(words: list[str]) -> list[Written]:
    options, paths = _parted(words)
    return [] if options & _DRY or "--cached" in options else [(path, FOLDER) for path in paths]


def _mv(words: list[str]) -> list[Written]:
    return [] if _parted(words)[0] & _DRY else programs.written_at_the_end(words, moves=True)


def _apply(words: list[str]) -> list[Written]:
    """Which files a patch is about is not known here: it may be any."""
    options = _parted(words)[0]
    return [] if options & _LOOKS_ONLY and "--apply" not in options else [(TREE, TRACKED)]


_CHANGES: dict[str, Callable[[list[str]], list[Written]]] = {
    "apply": _apply,
    "checkout": _checkout,
    "clean": _clean,
    "mv": _mv,
    "reset": _reset,
    "restore": _restore,
    "rm": _rm,
    "stash": _stash,
    "switch": _switch,
}
