"""The clock. `time.time` counts nanoseconds in 64 bits, and raises from the year 2262 on."""

from __future__ import annotations

import time


def seconds() -> float:
    """Since 1970."""
    return time.clock_gettime(time.CLOCK_REALTIME)
