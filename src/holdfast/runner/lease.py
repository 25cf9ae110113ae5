"""The runner's lease of its workflow: one at a time, and that of a runner that died on this machine is over at once."""

from __future__ import annotations

import os
import time
from _collections_abc import Callable

from holdfast.core import commands as cmd
from holdfast.errors import HoldfastError
from holdfast.plain.digest import digest
from holdfast.runner.folder import Folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.core.state import State
    from holdfast.project.workflow import Workflow

ROLE = "runner"
TTL = 120
"""Seconds without a sign of life after which another machine may continue."""


class Leased:
    """Who has the lock of the folder is the only runner here, so a lease whose secret is in it is a dead one's."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._beaten = 0.0
        self.token = ""

    def take(self, workflow: Workflow) -> None:
        """The secret is on the disk before the lease is in the journal: nobody has to wait for one that got lost."""
        old = _token(workflow.state, str(self._folder.read("lease").get("secret") or ""))
        if old:
            workflow.end_agent(old, "the runner before ended without giving it back")
        if workflow.briefing().must_catch_up:  # what the packet says goes into the prompts
            workflow.acknowledge(workflow.briefing().packet)
        secret = os.urandom(16).hex()
        self._folder.write("lease", {"secret": secret})
        workflow.execute(cmd.StartAgent(ROLE, "", TTL, key=digest(secret.encode())))
        self.token = _token(workflow.state, secret)
        self._beaten = time.monotonic()

    def is_held(self, state: State) -> bool:
        """Whether the whole workflow is leased, by this runner or by somebody else."""
        return any(not one.step for one in state.leases.values())

    def beat(self, opened: Callable[[], Workflow]) -> None:
        if time.monotonic() - self._beaten > TTL / 3:
            self._beaten = time.monotonic()
            opened().beat(self.token)

    def end(self, workflow: Workflow) -> None:
        """A lease that another runner has by now is left to it."""
        try:
            if self.token:
                workflow.end_agent(self.token)
        except HoldfastError:
            pass
        self._folder.forget("lease")


def _token(state: State, secret: str) -> str:
    key = digest(secret.encode()) if secret else ""
    found = next((one.token for one in state.leases.values() if key and one.key == key), 0)
    return f"{found}-{secret}" if found else ""
