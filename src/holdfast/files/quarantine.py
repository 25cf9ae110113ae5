"""Files that were refused or broken: a copy of each is kept, with the reason beside it."""

from __future__ import annotations

import os

from holdfast.core.moment import from_epoch
from holdfast.files.replace import durable_write
from holdfast.plain import clock
from holdfast.plain.digest import digest


def keep(home: str, path: str, data: bytes, reason: str) -> str:
    """A synced copy below `home`; gives its path, relative to the folder that `home` is in."""
    stamp = from_epoch(clock.seconds()).replace(":", "").replace("-", "").replace(".", "")
    kept = os.path.join(home, "quarantine", f"{stamp}-{digest(data)[:8]}-{os.path.basename(path)}")
    durable_write(kept, data, dir_mode=0o700)
    durable_write(kept + ".reason", (reason + "\n").encode(), dir_mode=0o700)
    return os.path.relpath(kept, os.path.dirname(home))
