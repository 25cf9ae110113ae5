"""What the words of a command mean, by the table. `argparse` would cost as much as a third of a status."""

from __future__ import annotations

from holdfast.core.value import Any
from holdfast.errors import UsageError
from holdfast.surfaces.cli.grammar import Command, Option
from holdfast.surfaces.cli.table import ALWAYS, COMMON

TYPE_CHECKING = False


class Parsed:
    """Every option and word of a command by its name, with its default where nothing was typed."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, values: dict[str, Any], typed: dict[str, list[str]] | None = None) -> None:
        self.__dict__.update(values)
        self.typed = typed or {}
        """What was typed for each option, as it was typed; a switch that was typed has no words."""


def options_of(command: Command) -> tuple[Option, ...]:
    return (*command.options, *(COMMON[letter] for letter in command.takes), *ALWAYS)


def parse(command: Command, words: list[str]) -> Parsed | None:
    """What was typed; None when it asks for help, which is then printed."""
    options = options_of(command)
    flags = {flag: option for option in options if option.is_flag for flag in option.flags.split()}
    values: dict[str, Any] = {option.dest: [] if option.many else option.default for option in options}
    typed: dict[str, list[str]] = {}
    free: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            free += rest
        elif not _looks_like_option(word):
            free.append(word)
        elif word in ("-h", "--help"):
            from holdfast.surfaces.cli import overview

            overview.show(overview.of(command))
            return None
        else:
            option, value = _option(command, flags, word)
            if option.type and value is None:
                value = next(rest, None)
                if value is None or value in flags:
                    raise _wrong(command, f"{word} needs a value: {option.shown}")
            if option.type and option.dest in typed and not option.many:
                raise _wrong(command, f"{word.partition('=')[0]} is given twice, and it takes one value")
            _take(command, option, value, values)
            typed.setdefault(option.dest, []).extend([] if value is None else [value])
    _words(command, free, values)
    for option in options:
        if option.required and option.dest not in typed:
            raise _wrong(command, f"{option.flags} {option.shown} is missing")
    return Parsed(values, typed)


def _looks_like_option(word: str) -> bool:
    """A number below zero and a text such as "- first of all" are words, though they begin with a hyphen."""
    return word.startswith("-") and word != "-" and not word[1:2].isdigit() and " " not in word.partition("=")[0]


def _option(command: Command, flags: dict[str, Option], word: str) -> tuple[Option, str | None]:
    """An option as it was typed: by itself, or with its value behind `=`, or a short one with its value."""
    name, equals, value = word.partition("=")
    short = flags.get(word[:2])
    if word in flags:
        return flags[word], None
    if equals and name in flags and flags[name].type:
        return flags[name], value
    if short and short.type and not word.startswith("--"):
        return short, word[2:]
    either = [f"--{one}" for one in name[2:].lower().split("-or-")]
    if len(either) > 1 and all(one in flags for one in either):
        raise _wrong(command, f"{name} is a blank: type {' or '.join(either)}")
    from holdfast.core.names import nearest

    close = nearest(name, tuple(flag for flag in flags if flag.startswith("--")))
    raise _wrong(command, f"there is no option {name[:80]!r}" + (f", did you mean {close}?" if close else ""))


def _words(command: Command, free: list[str], values: dict[str, Any]) -> None:
    """Words without a flag go to what the command expects, in order; the last may take several."""
    every = free
    for option in (option for option in command.options if not option.is_flag):
        mine = free if option.nargs in ("*", "+") else free[:1]
        free = free[len(mine) :]
        if option.nargs in ("*", "+"):
            values[option.dest] = []
        for word in mine:
            _take(command, option, word, values)
        if not mine and option.nargs not in ("?", "*"):
            raise _wrong(command, f"{option.shown} is missing")
    if free:
        refusal = _wrong(command, f"one word too many: {free[0][:80]!r} (a text with spaces needs quotes)")
        refusal.facts.update(words=[word[:200] for word in every[:50]], extra=[word[:200] for word in free[:50]])
        raise refusal


def _take(command: Command, option: Option, word: str | None, values: dict[str, Any]) -> None:
    if word is None:
        values[option.dest] = True
        return
    if not word and option.type == "word":
        raise _wrong(command, f"{option.shown} is empty")
    if option.choices and word not in option.choices:
        raise _wrong(command, f"{word[:80]!r} is not one of {', '.join(option.choices)}")
    from holdfast.core.remedy import is_blank, unfilled
    from holdfast.surfaces.cli.readers import reader

    if is_blank(word):
        raise _wrong(command, f"{unfilled(word)} ({option.help or option.flags})")
    value = reader(option.type)(word)
    if option.many or option.nargs in ("*", "+"):
        values[option.dest] = [*values[option.dest], value]
    else:
        values[option.dest] = value


def _wrong(command: Command, said: str) -> UsageError:
    from holdfast.core import refusals, remedies

    return refusals.misused(f"holdfast {command.name}: {said}", remedies.usage(command.name))
