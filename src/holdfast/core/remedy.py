"""What leads on: a command by its name and arguments, another program, or words; and how it is typed.

A remedy knows which workflow it is about, not whether that has to be said: that depends on where it is typed.
"""

from __future__ import annotations

from _collections_abc import Callable, Iterable, Mapping, Sequence

from holdfast.core.value import Any, Value
from holdfast.errors import STOP, HoldfastError, one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.state import State

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")


WORDS = frozenset(
    (
        *(
            "BRANCH",
            "COMMAND",
            "FILE",
            "HOST",
            "ID",
            "KEY",
            "LEVEL",
            "NAME",
            "NUMBER",
            "PATH",
            "ROLE",
            "SHA",
            "STEP",
            "SUBJECT",
            "TEXT",
            "TITLE",
        ),
        *("PHASES", "REASON", "SCENE", "URL", "VARIANT", "WORKFLOW"),
    )
)
"""The blanks that stand for any value. Surfaces refuse them: who typed one has not filled it in."""


class Blank(Value):
    """What only the reader knows; a remedy that has one is not typed as it is.

    No shell gives it a meaning of its own, and no command takes it: typed as it is it is refused.
    """

    shown: str


class Line(str):
    """A whole line for a shell, with its quotes."""

    __slots__ = ()


class Remedy(Value):
    """One way on. In a tuple of them the best is first; one whose text begins with "then" follows the one before."""

    command: str = ""
    """A name of `naming.NAMES`: "approve", "orchestrator retry"."""
    arguments: Mapping[str, Any] = {}
    """By the names under which the command keeps them; pairs such as `--artifact NAME=PATH` are mappings."""
    workflow: str = ""
    """Its ULID; empty where the workflow at hand is meant."""
    who: str = "anyone"
    """Whose it is: "anyone", "agent" or "person"."""
    shell: tuple[str | Blank, ...] = ()
    text: str = ""
    """Words before the command, or instead of one."""

    def __str__(self) -> str:
        return typed(self)

    def given(self, **arguments: object) -> Remedy:
        """The same with more arguments."""
        return self.replace(arguments={**self.arguments, **arguments})

    @property
    def blanks(self) -> list[str]:
        given = [*self.arguments.values(), *self.shell]
        inner = [one for value in given for one in (value.values() if isinstance(value, Mapping) else (value,))]
        return list(dict.fromkeys(one.shown.strip("'\"") for one in inner if isinstance(one, Blank)))


class Scope(Value):
    """Where remedies are read, and by whom."""

    default: str = ""
    """ULID of the workflow that a command picks without `-w`; empty where it picks none."""
    active: Mapping[str, str] = {}
    """ULIDs of workflows, each with the id that names it and no other."""
    about: str = ""
    """ULID of the workflow at hand, which remedies that name none are about."""
    person: bool = False
    page: Callable[[], str] = str
    """Gives the address of the page while it runs: who reads this needs no command that opens it."""


ANYWHERE = Scope()
Telling = Callable[[Sequence[Remedy], Scope], str]
"""How remedies are told in one line: as they are typed, or as calls of tools."""


def naming(state: State, *, person: bool = False) -> Scope:
    """Where a text is kept or travels: commands in it name their workflow always."""
    return Scope(active={state.ulid: state.id}, about=state.ulid, person=person)


def shell(*command: str | Blank, text: str = "", who: str = "anyone") -> Remedy:
    """Another program with its arguments."""
    return Remedy(shell=command, text=text, who=who)


def line(command: str, *, text: str = "", who: str = "anyone") -> Remedy:
    """What a shell takes as it is, such as two commands in a row."""
    return shell(Line(command), text=text, who=who)


def advice(text: str) -> Remedy:
    """What a person does by hand, in words. It is never an agent's, such as what decides whom Holdfast believes."""
    return Remedy(text=text, who="person")


def told(remedies: Iterable[Remedy | str], scope: Scope = ANYWHERE) -> str:
    """All that leads on, in one line, as it is typed."""
    return one_line(
        tuple(remedies), lambda one: one if isinstance(one, str) else typed(one, scope), person=scope.person
    )


def whole(remedies: Iterable[Remedy | str]) -> list[Remedy]:
    """Remedies with the agent's own: where all are a person's, an agent shows them to one and stops."""
    found = [one if isinstance(one, Remedy) else Remedy(text=one) for one in remedies]
    stop = [Remedy(text=STOP, who="agent")] if found and all(one.who == "person" for one in found) else []
    return stop + found


def as_json(remedies: Iterable[Remedy | str], scope: Scope = ANYWHERE) -> list[dict[str, Any]]:
    """Each remedy for itself: whose it is, what is typed, and what only the reader knows of it."""
    said = (
        {"who": one.who, "text": one.text, "command": typed(one.replace(text=""), scope), "blanks": one.blanks}
        for one in whole(remedies)
    )
    return [{name: value for name, value in one.items() if value} for one in said]


def with_page(ways: Sequence[Remedy | str], scope: Scope) -> tuple[Remedy | str, ...]:
    """The ways out of a refusal, and the page beside the commands by which a person decides, while it runs."""
    decides = any(isinstance(one, Remedy) and one.who == "person" and one.command in _DECIDES for one in ways)
    is_named = any(isinstance(one, Remedy) and one.command == "web" for one in ways)
    page = scope.page() if decides and scope.about and not is_named else ""
    return (*ways, Remedy(text=f"the page {page}/w/{scope.about}", who="person")) if page else tuple(ways)


_DECIDES = ("approve", "reject")


def described(error: HoldfastError, scope: Scope = ANYWHERE) -> dict[str, Any]:
    """A refusal as JSON."""
    said = {"code": error.code, "message": error.message, "remedy": told(error.remedies, scope)}
    return {"error": {**said, "remedies": as_json(error.remedies, scope), "facts": rendered(error.facts, scope)}}


def rendered(value: Any, scope: Scope, tell: Telling = told) -> Any:
    """A value with every remedy in it as the reader is told it: to an agent, no command of a person."""
    if isinstance(value, Remedy):
        return tell((value,), scope)
    if isinstance(value, Mapping):
        return {name: rendered(one, scope, tell) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        is_way = value and isinstance(value[0], Remedy)
        return tell(value, scope) if is_way else [rendered(one, scope, tell) for one in value]
    return value


def typed(remedy: Remedy, scope: Scope = ANYWHERE) -> str:
    """A remedy as it is typed in a shell, with `-w` where the workflow is not the one that would be picked."""
    command = _command(remedy, scope) if remedy.command else " ".join(quoted(word) for word in remedy.shell)
    return f"{remedy.text}: {command}" if remedy.text and command else remedy.text or command


def _command(remedy: Remedy, scope: Scope) -> str:
    from holdfast.core import naming

    free: list[str | Blank] = []
    options: list[str] = []
    workflow = remedy.workflow or scope.about
    if remedy.command == "web" and not remedy.arguments and (page := scope.page()):
        return f"{page}/w/{workflow}" if workflow else page
    is_named = workflow and workflow != scope.default and naming.is_about_workflow(remedy.command)
    name = scope.active.get(workflow, workflow) if is_named else ""
    by_word = naming.has_slug(remedy.command)
    for spelling in naming.spellings(remedy.command):
        value = remedy.arguments.get(spelling.dest) or (name if by_word and spelling.dest == "slug" else None)
        if value is None or value is False or value == "":
            continue
        if not spelling.is_flag:
            free += value if isinstance(value, (list, tuple)) else [value]
        elif not spelling.takes_value:
            options.append(value.shown if isinstance(value, Blank) else spelling.flags.rpartition(" ")[2])
        else:
            options += [_option(spelling.flags, one) for one in _each(value)]
    dashed = any(isinstance(word, str) and word.startswith("-") for word in free)
    said = [quoted(word) for word in free]
    if name and not by_word:
        options.append(f"-w {quoted(name)}")
    return " ".join(["holdfast", remedy.command, *([*options, "--", *said] if dashed else [*said, *options])])


def _each(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [_pair(name, one) for name, one in value.items()]
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _pair(name: str, value: Any) -> str | Blank:
    if isinstance(value, Blank):
        return Blank(f"{quoted(name)}={value.shown}")
    from holdfast.plain.plainjson import compact

    return f"{name}={value if isinstance(value, str) else compact(value)}"


def _option(flags: str, value: Any) -> str:
    """An option with its value; a value that could be taken for an option is written behind `=`."""
    if isinstance(value, str) and value.startswith("-"):
        return f"{flags.rpartition(' ')[2]}={quoted(value)}"
    return f"{flags.partition(' ')[0]} {quoted(value)}"


def one_of(*choices: str) -> Blank:
    """What is left open between a few words, such as the verdict of a review."""
    return Blank("_OR_".join(choices).upper())


def is_blank(value: str) -> bool:
    """Whether a value that somebody gave, by itself or behind `NAME=`, is a blank that is not filled in."""
    return value.rpartition("=")[2] in WORDS


def unfilled(value: str) -> str:
    """What is said to somebody who gave a blank."""
    blank = value.rpartition("=")[2]
    return f"{blank} is a blank: {'give the file you wrote' if blank == 'PATH' else 'put the real value in its place'}"


def quoted(word: object) -> str:
    """A word for a shell; a blank stays as it is, since nobody types it as it is."""
    if isinstance(word, Blank):
        return word.shown
    text = str(word)
    if isinstance(word, Line):
        return text
    return text if text and _PLAIN.issuperset(text) else "'" + text.replace("'", "'\"'\"'") + "'"
