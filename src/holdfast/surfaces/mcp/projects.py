"""Projects for calls that come at the same time: what one call has opened, a later one uses again."""

from __future__ import annotations

from _collections_abc import Callable

from anyio import CapacityLimiter, to_thread

from holdfast.core.state import Actor
from holdfast.engine.ports import Store
from holdfast.errors import Conflict, NotFound, Refused, UsageError
from holdfast.machine.place import Place
from holdfast.machine.settings import Settings
from holdfast.project import wiring as bootstrap
from holdfast.project.project import Project
from holdfast.systems.seam.wired import Wired

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Made = TypeVar("Made")

AT_ONCE = 32
"""How many calls run at the same time; the others wait for their turn."""
KEPT = 16
"""How many that nobody uses stay open."""


class Projects:
    """One root. Open journals are not shared between threads: each belongs to one call at a time."""

    def __init__(self, place: Place, settings: Settings, toolsets: tuple[str, ...] = ()) -> None:
        self.place = place
        self.settings = settings
        self.toolsets = toolsets
        self._free: dict[str, list[Wired]] = {}
        self._limiter: CapacityLimiter | None = None

    async def used(self, work: Callable[[Project], Made], session: str = "") -> Made:
        """What a function makes of a project, for one call of an agent in a session that the host may name.

        Each call looks again at what dead processes and hooks left behind, as every command does.
        """

        def lending() -> Made:
            try:
                wired = self._free[session].pop()
                wired.settled[:] = bootstrap.settled(wired.place, wired.store)
            except LookupError:
                wired = bootstrap.wire(self.place, self._settings_of(session))
            try:
                made = work(Project(wired, one_request=True))
            except (Conflict, NotFound, Refused, UsageError):
                self._back(session, wired)
                raise
            self._back(session, wired)  # after another failure it is not used again: that may be why it failed
            return made

        return await self.worked(lending)

    async def worked(self, work: Callable[[], Made]) -> Made:
        """Runs a function that touches the disk in a worker thread."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(AT_ONCE)
        return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)

    def _back(self, session: str, wired: Wired) -> None:
        if sum(map(len, self._free.values())) < KEPT:
            self._free.setdefault(session, []).append(wired)

    def _settings_of(self, session: str) -> Settings:
        """What the host put into our environment counts more than what comes with a call."""
        own = self.settings.actor
        actor = own if own.session or not session else own.replace(session=session)
        return self.settings.replace(actor=actor)

    def store(self) -> Store:
        """A store of its own, for what looks at it all the time."""
        return bootstrap.wire(self.place, self.settings).store

    def require_writable(self) -> None:
        if refusal := self.store().read_only:
            raise refusal

    def of_person(self) -> Project:
        """The project for a person who was asked, and answered, through the host."""
        actor = Actor("human", surface=self.settings.actor.surface, session=self.settings.actor.session)
        return Project(bootstrap.wire(self.place, self.settings.replace(actor=actor)))
