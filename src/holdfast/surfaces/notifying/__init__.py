"""Notifications of the person's own choice: what is news, how it is sent, and who sends it.

The user's own settings say what is sent and how. A project cannot: see `machine/notices.py`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from _collections_abc import Callable

from holdfast.core.remedy import advice
from holdfast.errors import HoldfastError, NotFound
from holdfast.machine import notices as settings_
from holdfast.machine.notices import Notices
from holdfast.machine.settings import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.project.project import Project
    from holdfast.surfaces.notifying.delivery import Message

_EXAMPLE = "[notify] with desktop = true"


def wanted(settings: Settings) -> Notices | None:
    """What the user wants to be sent; None where their settings do not say."""
    return settings_.read(settings.config_dir) if settings.config_dir else None


def not_set_up(settings: Settings) -> NotFound:
    path = os.path.join(settings.config_dir, "holdfast", "config.toml")
    said = f"{path} does not say which notifications are sent"
    return NotFound("no_notify", said, remedy=advice(f"write the table {_EXAMPLE} into {path}"), facts={"path": path})


def ways(notices: Notices) -> Callable[[Message], None]:
    """What sends a message as the settings say, from this process."""
    from holdfast.surfaces.notifying import delivery

    return lambda message: delivery.send(message, notices, os.environ, _on_terminal)


def once(project: Project, notices: Notices) -> int:
    """Sends what is news now, and gives how many messages that were."""
    from holdfast.surfaces.notifying.sender import Sender

    sent: list[Message] = []
    deliver = ways(notices)

    def send(message: Message) -> None:
        deliver(message)
        sent.append(message)

    Sender(project, notices, send).look(entry.ulid for entry in project.wired.store.active())
    return len(sent)


def keep_sending(
    project: Project,
    notices: Notices,
    *,
    address: Callable[[str], str] = lambda _: "",
    ended: Callable[[], bool] = lambda: False,
) -> None:
    """Sends until it has ended; `address` gives where the page shows a workflow."""
    from holdfast.surfaces.notifying import sender

    sender.run(sender.Sender(project, notices, ways(notices), address=address), project, ended)


class Beside:
    """`with Beside(opened, settings):` sends from a thread of its own, where the user wants it, as long as the block
    runs. `opened` gives that thread a project of its own.
    """

    def __init__(
        self, opened: Callable[[], Project], settings: Settings, *, address: Callable[[str], str] = lambda _: ""
    ) -> None:
        self._opened, self._notices, self._address = opened, wanted(settings), address
        self._over = False
        self._thread: object = None

    def __enter__(self) -> Beside:
        if self._notices is not None:
            import threading

            self._thread = threading.Thread(target=self._run, name="notifications", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True

    def _run(self) -> None:
        assert self._notices is not None
        with contextlib.suppress(HoldfastError, OSError):  # `doctor` says why
            keep_sending(self._opened(), self._notices, address=self._address, ended=lambda: self._over)


def _on_terminal(text: str) -> None:
    if sys.stdout.isatty():
        sys.stdout.write(text)
        sys.stdout.flush()
