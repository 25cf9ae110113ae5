"""What the libraries of the server complain about goes to standard error, a line each: hosts show it to people."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from logging import LogRecord


def set_up(*, debug: bool) -> None:
    """Warnings and worse; with `debug` where they come from, too."""
    import logging

    def short(record: LogRecord) -> bool:
        """A client that went away in the middle of something is no reason for a page of text."""
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            said = f"{record.getMessage()} ({type(error).__name__}: {error})"
            record.msg, record.args, record.exc_info = said.partition("\n")[0], (), None
        return True

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    if not debug:
        handler.addFilter(short)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
