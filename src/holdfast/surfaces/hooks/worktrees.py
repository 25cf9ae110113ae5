"""What git's commands do to the files of a worktree."""

from __future__ import annotations

from holdfast.surfaces.hooks import programs
from holdfast.surfaces.hooks.programs import FOLDER, TRACKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Callable

    from holdfast.surfaces.hooks.programs import Written

TREE = ":/"
"""How git spells the top of the worktree one is in."""
KEPT, STASHED = "kept", "stashed"
"""What git may throw away without a guard forbidding it: it is kept before."""
_STASHES_NOTHING = ("list", "show", "create", "store")
_UNSTASHES = ("pop", "apply", "branch")
_LOOKS_ONLY = frozenset(("--check", "--stat", "--numstat", "--summary", "--cached"))
_DRY = frozenset(("-n", "--dry-run"))


def written(words: list[str]) -> list[Written]:
    """Files that the command of git behind its own options writes or takes away."""
    change = _CHANGES.get(words[0]) if words else None
    return change(words[1:]) if change and not only_prints(words) else []


def only_prints(words: list[str]) -> bool:
    """Whether a command of git only says what it would do, or what it is for."""
    helps = words[1:2] in (["--help"], ["-h"]) or (
        words[-1:] == ["--help"] and len(words) > 2 and words[-2][:1] != "-" and "--" not in words
    )
    return helps or (words[:1] == ["push"] and bool(_DRY & set(words)))


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
    if name in ("drop", "clear"):
        return [(TREE, STASHED)]
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


def _worktree(words: list[str]) -> list[Written]:
    name, *rest = words or [""]
    return [(path, FOLDER) for path in _parted(rest)[1]] if name == "remove" else []


def _apply(words: list[str]) -> list[Written]:
    """Which files a patch is about is not known here: it may be any."""
    options = _parted(words)[0]
    return [] if options & _LOOKS_ONLY and "--apply" not in options else [(TREE, TRACKED)]


def _read_tree(words: list[str]) -> list[Written]:
    return [(TREE, TRACKED)] if "-u" in _parted(words, "--prefix", "--index-output")[0] else []


def _checkout_index(words: list[str]) -> list[Written]:
    """Without force it writes only files that are not there."""
    options, paths = _parted(words, "--prefix", "--stage")
    if not options & {"-f", "--force"} or "--prefix" in options:
        return []
    return [(path, TRACKED) for path in ([TREE] if options & {"-a", "--all", "--stdin"} else paths)]


def _given_up(words: list[str]) -> list[Written]:
    """A merge or a rebase that is given up takes with it what was done since."""
    return [(TREE, KEPT)] if _parted(words)[0] & {"--abort", "--quit", "--skip", "--autostash"} else []


def _pull(words: list[str]) -> list[Written]:
    options = _parted(words)[0]
    return [(TREE, KEPT)] if options & {"--autostash", "-r", "--rebase", "--force", "-f"} else []


_CHANGES: dict[str, Callable[[list[str]], list[Written]]] = {
    "am": _given_up,
    "apply": _apply,
    "checkout": _checkout,
    "checkout-index": _checkout_index,
    "clean": _clean,
    "cherry-pick": _given_up,
    "merge": _given_up,
    "mv": _mv,
    "pull": _pull,
    "read-tree": _read_tree,
    "rebase": _given_up,
    "reset": _reset,
    "restore": _restore,
    "revert": _given_up,
    "rm": _rm,
    "stash": _stash,
    "switch": _switch,
    "worktree": _worktree,
}
