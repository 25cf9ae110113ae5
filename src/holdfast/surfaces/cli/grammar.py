"""What a command and an option are, beyond how they are spelled: the words in which the table is written."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.naming import NAMES, Spelling

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


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

    def __init__(
        self, name: str, group: str, about: str, handler: str, said: Mapping[str, str | tuple[Any, ...]] | None = None
    ) -> None:
        self.name, self.group, self.about, self.handler = name, group, about, handler
        self.takes, self._written = NAMES[name][:2]
        self._said = said or {}
        self._options: tuple[Option, ...] | None = None

    @property
    def options(self) -> tuple[Option, ...]:
        if self._options is None:
            self._options = tuple(self._option(written) for written in self._written.split())
        return self._options

    def _option(self, written: str) -> Option:
        said = self._said[Spelling(written).dest]
        return Option(written, said) if isinstance(said, str) else Option(written, *said)


def make(*rows: tuple[Any, ...]) -> dict[str, Command]:
    return {row[0]: Command(*row) for row in rows}
