"""What becomes of processes that a test did not start itself."""

from __future__ import annotations

import os
import select

_PIDFD_OPEN = os.pidfd_open  # a test may take it away from the code under test


def ends(pid: int) -> bool:
    """Whether a process is gone or goes; waits for it a generous while."""
    try:
        descriptor = _PIDFD_OPEN(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 60)[0])
    finally:
        os.close(descriptor)
