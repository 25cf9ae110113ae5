"""The fenced blocks of a page, and the conventions by which they are run.

- `console`: `$ command` is typed by a person at a terminal, `agent$ command` by an agent that has none; `> ` continues
  a command. The lines below it are all that it prints; `…` stands for anything, on a line of its own for any lines. A
  command ends with 0 unless it says otherwise: `$ holdfast begin publish  # exit 3`. What follows a question's `[y/N]`,
  `[Y/n]` or `[1/2]` is typed as the answer, Enter alone where nothing follows.
- `sh`: a script that an agent runs; it ends with 0.
- `python`: a program; a `text` block right after it is what it prints.
- A block whose first line is a comment with a path, `# .holdfast/workflows/release.toml`, is written to that file.

The blocks of a page run in order, in a fresh git repository with a fresh home. Folder and variables carry over. The
repository of a page in `examples/` has a copy of what is beside the page.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/README.md"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")), *EXAMPLES]

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<body>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE)
_PROMPT = re.compile(r"(?P<who>agent)?\$ (?P<command>.*)")
_EXIT = re.compile(r"# exit (\d+)$")
_FILE = re.compile(r"# ([\w./-]+\.\w+)$")


class Block(NamedTuple):
    language: str
    body: str
    line: int
    follows: str
    """What is between this block and the one before it."""

    @property
    def file(self) -> str:
        """The file that this block is the content of, if it is one."""
        match = _FILE.match(self.body.partition("\n")[0])
        return match[1] if match else ""


class Typed(NamedTuple):
    """One command of a console block, with what it should print and how it should end."""

    command: str
    by_agent: bool
    output: str
    code: int
    line: int


def blocks(text: str) -> list[Block]:
    found, end = [], 0
    for match in _FENCE.finditer(text):
        indent = len(match["indent"])
        body = "".join(line[indent:] for line in match["body"].splitlines(keepends=True))
        line = text.count("\n", 0, match.start()) + 2
        found.append(Block(match["language"], body, line, text[end : match.start()]))
        end = match.end()
    return found


def typed(block: Block) -> list[Typed]:
    found: list[Typed] = []
    for number, line in enumerate(block.body.splitlines(), block.line):
        prompt = _PROMPT.fullmatch(line)
        if prompt:
            ends = _EXIT.search(line)
            found.append(Typed(prompt["command"], bool(prompt["who"]), "", int(ends[1]) if ends else 0, number))
        elif line.startswith("> ") and found and not found[-1].output:
            found[-1] = found[-1]._replace(command=f"{found[-1].command}\n{line[2:]}")
        else:
            assert found, f"line {number} is the output of no command"
            found[-1] = found[-1]._replace(output=f"{found[-1].output}{line}\n")
    return found


def matches(expected: str, seen: str) -> bool:
    """Whether this is what was expected, `…` aside. How many blanks there are depends on what is aligned."""
    pattern = ""
    for line in _lines(expected):
        if line == "…":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r".*?".join(re.escape(part) for part in line.split("…")) + "\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _lines(seen))) is not None


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]
