"""Signals that wait until two changes that belong together are both made."""

from __future__ import annotations

from holdfast.core.value import Any


class _Interrupted(KeyboardInterrupt):
    """A signal came that ends the process."""


class HeldBack:
    """Holds back the signals that would end the process between two changes that belong together.

    They come when it is over; where they are let through, the first one comes at once. Python can do this in the main
    thread only: what another thread began is left to the next command.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._came: list[int] = []
        self._through = False

    def __enter__(self) -> HeldBack:
        import signal

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) not in (signal.SIG_IGN, None):
                try:
                    self._before[number] = signal.signal(number, self._note)
                except ValueError:
                    break
        return self

    def __exit__(self, *_: object) -> None:
        import signal

        for number, handler in self._before.items():
            signal.signal(number, handler)
        for number in self._came[:1]:
            signal.raise_signal(number)

    def _note(self, number: int, _: object) -> None:
        self._came.append(number)
        if self._through:
            self._through = False  # a second signal does not interrupt what ends the work
            raise _Interrupted

    def let_through(self) -> _Through:
        return _Through(self)


class _Through:
    def __init__(self, held: HeldBack) -> None:
        self._held = held

    def __enter__(self) -> None:
        if self._held._came:
            raise _Interrupted
        self._held._through = True

    def __exit__(self, *_: object) -> None:
        self._held._through = False
