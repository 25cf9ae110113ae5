"""What the doctor finds of notifications: mistakes in the settings, a project that wants to send some, and failures."""

from __future__ import annotations

import os
import time
from _collections_abc import Iterator

from holdfast.core import remedies
from holdfast.core.remedy import advice
from holdfast.errors import UsageError
from holdfast.machine import configuration, notices
from holdfast.systems.seam.wired import Wired
from holdfast.upkeep.findings import Finding, broken, ok, warning


def examined(wired: Wired) -> Iterator[Finding]:
    yield from _of_project(wired)
    if not wired.settings.config_dir:
        return
    try:
        wanted = notices.read(wired.settings.config_dir)
    except UsageError as wrong:
        yield broken("bad_config", wrong.message, wrong.remedies, str(wrong.facts.get("path", "")))
        return
    if wanted is None:
        return
    rests, why = notices.resting(wired.place.home)
    if rests > time.time():
        said = f"notifications failed {notices.FAILURES} times and rest until the hour is over: {why}"
        yield warning("notify", said, remedies.named("notify", {"test": True}, text="fix that, then"))
    else:
        yield ok("notify", "notifications are sent by `holdfast notify`, `web` and `status --watch`")


def _of_project(wired: Wired) -> Iterator[Finding]:
    try:
        parsed = configuration.parse(wired.place.root)
    except UsageError:
        return  # which is said of the file itself
    if parsed is not None and "notify" in parsed.data:
        path = os.path.join("~", ".config", "holdfast", "config.toml")
        said = f"[notify] of {configuration.CONFIG} has no effect: only your own settings send notifications"
        yield warning("notify", said, advice(f"remove it there; write it into {path}"), configuration.CONFIG)
