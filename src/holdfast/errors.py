"""Every refusal Holdfast can give: a code, a sentence, the facts, and remedies that can be typed.

The class says whose move it is, and with it the exit code of the command line.
"""

from __future__ import annotations

from _collections_abc import Callable, Mapping, Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Self

UNCHANGED = "nothing was changed"
"""The end of a message about a write that failed."""
STOP = "show this to a person and stop"


def one_line(remedies: Sequence[Any], said: Callable[[Any], str] = str, *, person: bool = False) -> str:
    """What leads on, for a person or an agent: alternatives, and what follows one of them.

    An agent is told no command of a person. Behind a command comes a space, so that it can be copied.
    """
    others = "agent" if person else "person"
    mine = [one for one in remedies if getattr(one, "who", "") != others]
    if remedies and not mine and not person:
        return STOP
    text, between = "", ""
    for one in mine or remedies:
        shown = said(one)
        text += (between.replace("or ", "") if shown.startswith("then") else between) + shown
        between = " · or " if isinstance(one, str) or one.command or one.shell else ", or "
    return text


class HoldfastError(Exception):
    """Base of everything Holdfast raises on purpose."""

    exit_code = 1

    def __init__(self, code: str, message: str, *, remedy: Any = "", facts: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedies: tuple[Any, ...] = remedy if isinstance(remedy, tuple) else (remedy,) if remedy else ()
        """Each a `Remedy` of the core, or a sentence; the best is first."""
        self.facts = dict(facts or {})

    def after(self, done: str) -> Self:
        """The same where something was done before it failed: then it was not nothing that was changed."""
        self.message = self.message.replace(UNCHANGED, f"before that, {done}; repeat the command to record it")
        self.args = (self.message,)
        return self

    @property
    def remedy(self) -> str:
        """What leads on, in one line."""
        return one_line(self.remedies)


class UsageError(HoldfastError):
    """The request itself is malformed: a bad name, path, number, encoding or definition."""

    exit_code = 2


class Refused(HoldfastError):
    """A rule of the workflow says no: order, gate, bound, policy, trust."""

    exit_code = 3


class NotFound(HoldfastError):
    """There is no such workflow, step, check or file."""

    exit_code = 4


class Conflict(HoldfastError):
    """Someone else was faster, holds the lock or the lease, or used the key for something else."""

    exit_code = 5


class Held(Conflict):
    """Somebody else has it, by the rules: a step, a file, a whole workflow."""


class Broken(HoldfastError):
    """Data on disk is damaged and needs a person."""

    exit_code = 6


class OutcomeUnknown(HoldfastError):
    """The disk failed while a change was being made durable: it may or may not have happened."""


class Trouble(str):
    """A sentence of an answer about what did not work, beside those about what did."""

    __slots__ = ()
