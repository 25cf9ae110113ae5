"""What happens while a client waits: other processes change things, checks run long, and notifications come in."""

from __future__ import annotations

from typing import Any

import anyio

from tests.surfaces.mcp.house import PATIENCE, House

LONG = """\
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open("pids.part", "w") as file:
    file.write(f"{os.getpid()} {child.pid}")
os.rename("pids.part", "pids")
print("still at it", flush=True)
time.sleep(600)
"""
"""A check that runs for ten minutes with a process of its own, and writes down the ids of both."""


class Heard:
    """Notifications as they come, and a way to wait for one."""

    def __init__(self) -> None:
        self.methods: list[tuple[str, str]] = []
        self._more = anyio.Event()

    async def __call__(self, message: Any) -> None:
        method = getattr(message, "method", "")
        if method:
            self.note(method, str(getattr(message.params, "uri", "") if message.params else ""))

    def note(self, method: str, uri: str) -> None:
        self.methods.append((method, uri))
        self._more.set()
        self._more = anyio.Event()

    async def until(self, method: str, uri: str = "") -> None:
        with anyio.fail_after(PATIENCE):
            while (method, uri) not in self.methods:
                await self._more.wait()


def elsewhere(house: House, *words: str) -> None:
    """Another process does something."""
    house.bench.ok(*words)


def gone(pid: int) -> bool:
    """A process that ended, also one that its parent has not waited for."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    # Linux answers a read with ESRCH where the process vanished after the file was opened.
    except (FileNotFoundError, ProcessLookupError):
        return True


async def pids(house: House) -> list[int]:
    with anyio.fail_after(PATIENCE):
        while not (house.root / "pids").exists():
            await anyio.sleep(0.05)
    return [int(word) for word in (house.root / "pids").read_text().split()]


async def all_gone(running: list[int]) -> None:
    with anyio.fail_after(PATIENCE):
        while not all(map(gone, running)):
            await anyio.sleep(0.05)
