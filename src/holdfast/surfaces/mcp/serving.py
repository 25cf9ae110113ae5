"""Serving over standard input and output, until the host closes them or ends the process."""

from __future__ import annotations

import os
import signal

import anyio
from mcp.server.stdio import stdio_server

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
