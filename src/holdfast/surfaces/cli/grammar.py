"""What a command and an option are: the words in which the table of commands is written."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Option:
    """A word or an option. `type` names a reader; an option without one is a flag that takes no value."""

    def __init__(
        self,
        flags: str,
        help: str = "",  # noqa: A002 - the word people know
        type: str = "",
        metavar: str = "",
        *,
        nargs: str = "",
        many: bool = False,
        required: bool = False,
        choices: tuple[str, ...] = (),
        default: Any = None,
        dest: str = "",
    ) -> None:
        self.flags, self.help, self.type, self.nargs, self.many = flags, help, type, nargs, many
        self.required, self.choices = required, choices
        self.is_flag = flags.startswith("-")
        self.default = False if self.is_flag and not type else default
        self.dest = dest or flags.rsplit(maxsplit=1)[-1].lstrip("-").replace("-", "_")
        self.shown = metavar or "|".join(choices)


class Command:
    """`takes` are the common options: `w` a workflow, `t` a fencing token, `k` an idempotency key, `r` a revision."""

    def __init__(
        self, name: str, group: str, about: str, handler: str, takes: str = "", options: tuple[Option, ...] = ()
    ) -> None:
        self.name, self.group, self.about, self.handler = name, group, about, handler
        self.takes, self.options = takes, options


def make(*rows: tuple[Any, ...]) -> dict[str, Command]:
    return {row[0]: Command(*row) for row in rows}
