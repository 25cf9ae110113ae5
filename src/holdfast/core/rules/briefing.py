"""What an agent that takes the work up must know: files to read, reminders, learnings."""

from __future__ import annotations

from holdfast.core import commands as cmd
from holdfast.core import events as ev
from holdfast.core import refusals, remedies
from holdfast.core.draft import Draft
from holdfast.core.names import checked_text, optional_text
from holdfast.core.state import Learning
from holdfast.errors import UsageError

LONGEST = {"reading": 1000, "reminders": 2000}
MOST = 100
KINDS = ("pattern", "antipattern", "insight")


def brief(draft: Draft, command: cmd.Brief) -> None:
    now: tuple[str, ...] = getattr(draft.state, command.what)
    if command.exactly is not None:
        wanted = command.exactly
    else:
        wanted = (*(item for item in now if item not in command.remove), *command.add)
    items = checked(command.what, wanted)
    if items != now:
        draft.emit(ev.Briefed(command.what, items))


def checked(what: str, items: tuple[str, ...]) -> tuple[str, ...]:
    """The items of a list, each once; refused when one is no text or there are too many."""
    items = tuple(dict.fromkeys(items))
    for item in items:
        checked_text(item, f"entry of {what}", LONGEST[what])
    if len(items) > MOST:
        said = f"{what} has at most {MOST} entries, and would have {len(items)}"
        way = "keep what matters most, and put the rest into a file that is read"
        raise UsageError("too_many", said, remedy=way, facts={"what": what, "count": len(items), "limit": MOST})
    return items


def advise(draft: Draft, command: cmd.Advise) -> None:
    draft.step(command.step)
    draft.emit(ev.Advised(command.step, checked_text(command.feedback, "feedback", 20_000)))


def learn(draft: Draft, command: cmd.Learn) -> None:
    attempt = draft.step(command.step)[1].attempt if command.step else 0
    if command.type not in KINDS:
        raise refusals.misused(f"{command.type[:40]!r} is not one of {', '.join(KINDS)}", remedies.usage("learn"))
    learning = Learning(
        at=draft.facts.now,
        lesson=checked_text(command.lesson, "lesson"),
        type=command.type,
        pattern=optional_text(command.pattern, "pattern"),
        context=optional_text(command.context, "context"),
        step=command.step,
        attempt=attempt,
    )
    draft.emit(ev.Learned(learning))
