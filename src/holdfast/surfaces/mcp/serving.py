"""Serving over standard input and output, until the host closes them or ends the process."""

from __future__ import annotations

import os
import signal
import sys

import anyio
from mcp.server.stdio import stdio_server

from holdfast.core.value import Any
from holdfast.surfaces.mcp.projects import Projects
from holdfast.surfaces.mcp.server import Service


def serve(projects: Projects) -> None:
    """Answers one client. A request to end ends what checks have started, too."""
    anyio.run(_served, Service(projects))


async def _served(service: Service) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(_until_told, service)
        async with stdio_server() as (reading, writing):
            await service.server.run(reading, writing, service.server.create_initialization_options())
        group.cancel_scope.cancel()


async def _until_told(service: Service) -> None:
    """A thread that waits for input cannot be told to stop, so the process ends here once nothing runs any more."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for number in signals:
            await service.calls.ended()
            os._exit(128 + number)


def set_up_logs(*, debug: bool) -> None:
    """What the libraries complain about goes to standard error, a line each; with `debug`, where it comes from too."""
    import logging

    def short(record: Any) -> bool:
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
