"""Which alerts about edits a command, a tool or a hook has told: those that only a program saw are told by the next.

A view: where it is lost, or cannot be written, an alert is told twice.
"""

from __future__ import annotations

import os
from _collections_abc import Iterable

from holdfast.core import moment
from holdfast.core.state import Alert
from holdfast.errors import HoldfastError
from holdfast.files.replace import durable_write, read_file
from holdfast.plain.digest import digest

KEPT = 200
_FILE = "heard"


def unheard(home: str, alerts: Iterable[Alert], now: str) -> list[Alert]:
    """Those of them that nobody was told, as long as alerts are told at all."""
    from holdfast.core.briefing import ALERTS_FOR

    known = _known(home)
    return [one for one in alerts if _name(one) not in known and (moment.age(one.at, now) or 0) < ALERTS_FOR]


def keep(home: str, alerts: Iterable[Alert]) -> None:
    known = _known(home)
    new = [name for alert in alerts if (name := _name(alert)) not in known]
    if new:
        data = "".join(f"{name}\n" for name in [*known, *new][-KEPT:])
        try:
            durable_write(os.path.join(home, _FILE), data.encode(), alone=True)
        except (HoldfastError, OSError):
            pass  # told again by the next command


def _known(home: str) -> list[str]:
    try:
        return read_file(os.path.join(home, _FILE)).decode("ascii", "replace").split()
    except OSError:
        return []


def _name(alert: Alert) -> str:
    return digest(f"{alert.at} {alert.message}".encode())[:16]
