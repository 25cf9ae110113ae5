"""What `find` and `xargs` hand to the command that they run, as far as their words say it."""

from __future__ import annotations

from itertools import pairwise

from holdfast.surfaces.hooks import patterns, programs
from holdfast.surfaces.hooks.programs import FILE, FOLDER, TRACKED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.surfaces.hooks.programs import Written
    from holdfast.surfaces.hooks.shell import Command

_EXECUTES = ("-exec", "-execdir", "-ok", "-okdir")
_NAMES = ("-name", "-iname")
_KEEPS_ALL = ("-type", "-maxdepth", "-mindepth", "-print", "-print0", "-depth", "-xdev", "-follow", "-delete")
_RECORDS = ("config.toml", "a.toml", "a.json", "a.jsonl", "index", "a.lock")
"""What files in Holdfast's own folder are called."""
_LISTS = ("echo", "printf", "ls", "find")
_TREE = ":/"


def written(words: list[str]) -> list[Written]:
    """The files that `find` takes away itself or by a command that writes what it is given."""
    writes = "-delete" in words or any("{}" in (name for name, _ in programs.written(one)) for one in _executed(words))
    if not writes:
        return []
    first = next((at for at, word in enumerate(words) if word.startswith(("-", "(", "!"))), len(words))
    roots, tests = words[:first] or ["."], words[first:]
    names = [after for word, after in pairwise(tests) if word in _NAMES]
    if names and not {"!", "-not"} & set(tests):
        return [one for root in roots for name in names for one in _named(root, name, words)]
    options = (word for word in tests if word.startswith("-") and word not in _EXECUTES)
    takes = FOLDER if all(option in _KEEPS_ALL for option in options) else FILE
    return [(root, takes) for root in roots]


def _executed(words: list[str]) -> list[list[str]]:
    found: list[list[str]] = []
    for at, word in enumerate(words):
        if word in _EXECUTES:
            found.append(words[at + 1 : programs.end_of_exec(words, at)])
    return found


def _named(root: str, name: str, words: list[str]) -> list[Written]:
    """Files of a name anywhere below a folder, those that Holdfast keeps there too unless they are left out."""
    base = "" if root in (".", "./") else f"{root.rstrip('/')}/"
    found = [(f"{base}{name}", TRACKED), (f"{base}*/{name}", TRACKED)]
    left_out = any(".holdfast" in word for word in words if word != root) or "-prune" in words
    if not left_out and any(patterns.matches(name, record) for record in _RECORDS):
        found.append((f"{base}.holdfast/{name}", FILE))
    return found


def given_by(command: Command) -> list[str]:
    """The command that `xargs` runs, with what the command before it in the pipe lists; empty where there is none."""
    before = command.words[: len(command.words) - len(command.bare)]
    if not command.bare or not any(programs.base(word) == "xargs" for word in before):
        return []
    source = command.source
    if source is not None and source.bare and programs.base(source.bare[0]) in _LISTS:
        plain = [word for word in source.bare[1:] if not word.startswith("-")]
        if programs.base(source.bare[0]) == "find":
            plain = [name for name, _ in written([*source.bare[1:], "-delete"])]
        return [*command.bare, *(name for word in plain for name in word.split())]
    return [*command.bare, _TREE] if programs.base(command.bare[0]) == "git" else []
