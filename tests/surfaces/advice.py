"""An agent that only ever does what it is told to do next, on whatever surface, and says where that ended.

It has no judgement: it leaves a person's commands alone, stops at a blank, where a person is asked and where something
has to be done or found out first, and otherwise runs the first suggestion exactly as it is printed.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator
from typing import Any

PROGRAMS = ("holdfast", "git", "gh")
DECISIONS = ("approve", "reject", "extend", "trust", "approve_step")
"""Commands and tools by which somebody decides."""
STOP = r"^show .+ to a person and stop$|^User must "
MOST = 25
"""Commands after which a walk has no end."""
_BLANK = re.compile(r"(^|=)(…|[A-Z][A-Z_-]*|--\w+-OR-\w+)$")
_OBEYED = re.compile(r"[|<>();$`]|(?<!&)&(?!&)")
"""What a shell gives a meaning of its own; `&&` is meant where it is printed."""
_TOOL = re.compile(r"[a-z]+(_[a-z]+)+ \{")
_BETWEEN = re.compile(r"(?:(?<=,)| ·) or | · (?=then: )")
_JUDGED = re.compile(r"\b(then|once|if|name|commit|to continue)\b")


class DeadEnd(AssertionError):
    """Advice that nobody can follow."""


class Suggestion:
    """One way on as it is printed: words, and behind them a command or a call of a tool."""

    def __init__(self, printed: str) -> None:
        self.printed = printed
        found = re.match(rf"(?:(.*?): )??((?:{'|'.join(PROGRAMS)}) .*|{_TOOL.pattern}.*)$", printed)
        self.words, self.command = (found[1] or "", found[2]) if found else (printed.rstrip(","), "")
        self.tool = self.command.partition(" ")[0] if _TOOL.match(self.command) else ""
        if not self.tool and any(word[-1:] in (",", ";") for word in self.argv):
            raise DeadEnd(f"what is behind a command touches it: {printed}")
        if not self.tool and _OBEYED.search(_bare(self.command)):
            raise DeadEnd(f"a shell does something else: {printed}")
        if self._decides:
            raise DeadEnd(f"a decision is suggested: {printed}")

    def __repr__(self) -> str:
        return self.printed

    @property
    def given(self) -> dict[str, Any]:
        """The arguments of a tool."""
        return json.loads(self.command.partition(" ")[2])

    @property
    def argv(self) -> list[str]:
        return shlex.split(self.command) if not self.tool else []

    @property
    def typed(self) -> str:
        """The command, however it is quoted."""
        return self.command if self.tool else shlex.join(self.argv)

    @property
    def _decides(self) -> bool:
        """Whether it is an approval or a verdict, which no advice to an agent has, wherever it stands."""
        given = self.given if self.tool else {}
        verdicts = {"--passed", "--failed", "approved", "needs_revision"} & {*self.argv, given.get("verdict")}
        return bool({self.tool, *self.argv[1:2]} & set(DECISIONS) or verdicts) or isinstance(given.get("passed"), bool)

    @property
    def end(self) -> str:
        """Why a walk ends here; empty where the command can be run."""
        if re.search(STOP, self.words) or self.argv[:2] == ["holdfast", "wait"]:
            return "person"
        if not self.command:
            return "work"
        if any(_BLANK.search(word) for word in (_leaves(self.given) if self.tool else self.argv)):
            return "blank"
        return "work" if _JUDGED.search(self.words) else ""


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _leaves(one)
    elif isinstance(value, str):
        yield value


def _bare(line: str) -> str:
    """The line with everything that is quoted made unreadable."""
    return re.sub(r"'[^']*'|\"(\\.|[^\"\\])*\"", lambda found: "x" * len(found[0]), line)


def read(line: str) -> list[Suggestion]:
    """The ways on of one line, in their order; what is quoted is not looked into."""
    bare = _bare(line)
    found, at = [], 0
    for between in _BETWEEN.finditer(bare):
        found.append(line[at : between.start()])
        at = between.end()
    return [Suggestion(one) for one in (*found, line[at:])]


def line_after(line: str) -> str:
    """What is to be done after the first command of a line."""
    later = read(line)[1:2]
    return later[0].printed.removeprefix("then: ") if later and later[0].words == "then" else ""


def follow(
    ask: Callable[[], str],
    run: Callable[[Suggestion], tuple[int, str]],
    *,
    line: str = "",
    refused: str = "",
    most: int = MOST,
) -> str:
    """Follows advice until it ends: at a `blank`, a `person`, `work` that has to be done, or all `finished`.

    `line` is what was said last, perhaps as the remedy of the command that was `refused`; otherwise `ask` is. Running a
    command gives its exit code and the advice of its own answer. After `most` commands it is `enough`.
    """
    told: list[str] = []

    def dead(why: str) -> DeadEnd:
        return DeadEnd("\n".join([why, *told]))

    seen: set[str] = set()
    for number in range(MOST):
        line = line or ask()
        told.append(line)
        if not line:
            return "finished"
        first = read(line)[0]
        if not first.words and first.typed == refused:
            raise dead("what was refused is suggested again")
        is_ours = bool(first.tool) or first.argv[:1] == ["holdfast"]  # git takes any word for the address of a remote
        if first.end == "blank" and is_ours and run(first)[0] == 0:
            raise dead("a blank is taken as it is")
        if first.end:
            return first.end
        if number == most:
            return "enough"
        if line in seen:
            raise dead("the same is suggested again and again")
        seen.add(line)
        code, line = run(first)
        told.append(f"  exit {code}")
        if code == 2:
            raise dead("the command is not well formed")
        if code and not first.tool and first.argv[0] != "holdfast":
            return "work"
        if not code and line_after(told[-2]):
            line = line_after(told[-2])
        refused = first.typed if code else ""
    raise dead("there is no end")
