"""Whether a scripted model used only what it was told: commands, options, paths and names are in what it had read."""

from __future__ import annotations

import re
import shlex
from typing import Any

from tests.hosts_e2e.scene import Request, Turn

_FREE = ("-m", "--message", "--reason")
"""Options whose value is the model's own words."""
_PATHS = ("file_path", "filePath")
_NAMES = ("skill", "name", "subagent_type", "agent_type")
_PATH = r"workflow/[\w./-]*[\w/]"


def untold(request: Request, slug: str, root: str) -> list[str]:
    """What the answer to a request uses and the request does not have."""
    turn: Turn = request["answer"]
    if "call" not in turn:
        return []
    given: dict[str, Any] = turn["with"]
    known = Told(request.text, slug, root)
    found = [] if turn["call"] in request.tools else [turn["call"]]
    found += [str(given[key]) for key in _PATHS if key in given and not known.has(str(given[key]))]
    found += [str(given[key]) for key in _NAMES if key in given and not known.has(str(given[key]))]
    found += [path for path in re.findall(_PATH, str(given.get("prompt", ""))) if not known.has(path)]
    line = str(given.get("command") or given.get("cmd") or "")
    for command in re.split(r"&&|\|\||;|\n", line) if line else ():
        found += known.missing(shlex.split(command))
    return found


class Told:
    """What an agent has read. A path may be spelled with SLUG there, if the slug itself is named as well."""

    def __init__(self, text: str, slug: str, root: str) -> None:
        self.text, self.slug, self.root = " ".join(text.split()), slug, f"{root}/"

    def has(self, word: str) -> bool:
        word = word.removeprefix(self.root)
        spelled = word.replace(f"workflow/{self.slug}/", "workflow/SLUG/")
        return word in self.text or (spelled in self.text and self.slug in self.text)

    def missing(self, words: list[str]) -> list[str]:
        """The words of a command that nobody told: the command itself, its options, and what it is about."""
        if not words:
            return []
        many = 2 if words[0] in ("holdfast", "git") else 1
        name = " ".join(words[:many])
        found = [] if name in self.text else [name]
        rest = iter(words[many:])
        for word in rest:
            if not self.has(word):
                found.append(word)
            if word in _FREE:
                next(rest, None)
        return found
