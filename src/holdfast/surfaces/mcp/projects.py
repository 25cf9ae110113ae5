"""Projects for calls that come at the same time: what one call has opened, a later one uses again."""

from __future__ import annotations

from _collections_abc import Iterator

from holdfast.core.state import Actor
from holdfast.errors import Conflict, NotFound, Refused, UsageError
from holdfast.machine.place import Place
from holdfast.machine.settings import Settings
from holdfast.project import wiring as bootstrap
from holdfast.project.project import Project
from holdfast.systems.seam.wired import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

KEPT = 16
"""How many that nobody uses stay open."""


class Projects:
    """One root. Open journals are not shared between threads: they belong to whoever has them."""

    def __init__(self, place: Place, settings: Settings) -> None:
        self.place = place
        self.settings = settings
        self._free: dict[str, list[Wired]] = {}

    def lent(self, session: str = "") -> AbstractContextManager[Project]:
        """`with projects.lent() as project:` for one call of an agent, in a session where the host names it.

        Each call looks anew at what dead processes and hooks left behind, as every command does.
        """
        from contextlib import contextmanager

        return contextmanager(self._lend)(session)

    def _lend(self, session: str) -> Iterator[Project]:
        try:
            wired = self._free[session].pop()
        except LookupError:
            wired = bootstrap.wire(self.place, self._settings_of(session))
        try:
            yield Project(wired, one_request=True)
        except (Conflict, NotFound, Refused, UsageError):
            self._back(session, wired)
            raise
        self._back(session, wired)  # after any other failure it is not used again: what is open may have to do with it

    def _back(self, session: str, wired: Wired) -> None:
        if sum(map(len, self._free.values())) < KEPT:
            self._free.setdefault(session, []).append(wired)

    def _settings_of(self, session: str) -> Settings:
        """What the host put into our environment counts more than what comes with a call."""
        own = self.settings.actor
        return (
            self.settings if own.session or not session else self.settings.replace(actor=own.replace(session=session))
        )

    def of_person(self) -> Project:
        """The project for a person who was asked, and answered, through the host."""
        actor = Actor("human", surface=self.settings.actor.surface, session=self.settings.actor.session)
        return Project(bootstrap.wire(self.place, self.settings.replace(actor=actor)))
