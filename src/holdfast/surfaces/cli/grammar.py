"""What a command and an option are, beyond how they are spelled: the words in which the table is written."""

from __future__ import annotations

from holdfast.core.naming import NAMES, Spelling
from holdfast.core.value import Any
from holdfast.surfaces.cli.options import MEANINGS


class Option(Spelling):
    """A word or an option. `type` names a reader; an option without one is a flag that takes no value."""

    def __init__(
        self,
        written: str,
        help: str = "",  # noqa: A002 - the word people know
        type: str = "",
        default: Any = None,
    ) -> None:
        super().__init__(written)
        self.help, self.type = help, type
        self.default = False if self.is_flag and not type else default


class Command:
    """A command with its options in the order in which they are spelled."""

    def __init__(self, name: str, group: str, about: str, handler: str) -> None:
        self.name, self.group, self.about, self.handler = name, group, about, handler
        self.takes, self._written = NAMES[name]
        self._options: tuple[Option, ...] | None = None

    @property
    def options(self) -> tuple[Option, ...]:
        if self._options is None:
            self._options = tuple(option(written, self.name) for written in self._written.split())
        return self._options


def option(written: str, command: str = "") -> Option:
    """An option with what it means to a command, or to all of them."""
    dest = Spelling(written).dest
    said = MEANINGS.get(f"{command} {dest}") or MEANINGS[dest]
    return Option(written, said) if isinstance(said, str) else Option(written, *said)
