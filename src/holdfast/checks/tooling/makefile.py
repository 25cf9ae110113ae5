"""What a makefile says: its targets of well-known names. It is read as text, never evaluated."""

from __future__ import annotations

from _collections_abc import Iterator

from holdfast.checks.tooling.folder import Folder
from holdfast.checks.tooling.tool import Tool

_FILES = ("GNUmakefile", "makefile", "Makefile")  # the order in which make itself looks
_TARGETS = {
    "lint": ("lint",),
    "test": ("test",),
    "security_review": ("security", "security-review", "security_review"),
    "code_simplifier": ("simplify", "code-simplifier", "code_simplifier"),
}
_REFERENCE = r"\$\([^(){}]*\)|\$\{[^(){}]*\}"
_ASSIGNMENT = r"\s*(?:(?:export|unexport|override|private)\s+)*[\w.-]+\s*(?:[+?!]|:{1,3})?="


def find(folder: Folder) -> dict[str, Tool]:
    """A target that make would take for an existing file is left out: it would pass without doing anything."""
    source = folder.first(*_FILES)
    if not source:
        return {}
    rules = list(_rules(folder.text(source)))
    phony = {word for targets, rest in rules if ".PHONY" in targets for word in rest.split()}
    known = {target for targets, _ in rules for target in targets}
    found = {}
    for name, candidates in _TARGETS.items():
        runs = (each for each in candidates if each in known and (each in phony or not folder.occupied(each)))
        target = next(runs, "")
        if target:
            found[name] = Tool(run=("make", target), source=source)
    return found


def _rules(text: str) -> Iterator[tuple[list[str], str]]:
    """The targets and the rest of every rule line; recipes, assignments and `define` blocks are none."""
    import re

    defining = False
    for line in text.replace("\r\n", "\n").replace("\\\n", " ").split("\n"):
        word = line.split(maxsplit=1)[:1]
        if defining or word == ["define"]:
            defining = word != ["endef"]
            continue
        left, colon, rest = line.partition("#")[0].partition(":")
        left = re.sub(_REFERENCE, "", left)
        rest = rest.removeprefix(":")
        assigned = "=" in left or rest.lstrip(":").startswith("=") or re.match(_ASSIGNMENT, rest)
        if colon and not line.startswith("\t") and "$" not in left and not assigned:
            yield left.split(), rest
