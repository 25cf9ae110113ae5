"""Where answers go."""

from __future__ import annotations

import sys


class Unwritten(OSError):
    """The answer itself could not be written; whatever was asked for is done."""


def write(text: str) -> None:
    try:
        sys.stdout.write(text)
    except BrokenPipeError:
        raise
    except OSError as failure:
        raise Unwritten(failure.errno, failure.strerror) from None
