"""Where operating systems differ. `here` is the one of this machine, chosen once: nothing else asks which it is."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.files.system.port import System

NOREPLACE, EXCHANGE = 1, 2
"""How `rename` treats a target: it must not be there, or it takes the place of the source."""


def _chosen() -> System:
    if sys.platform == "darwin":
        from holdfast.files.system.macos import MacOS

        return MacOS()
    from holdfast.files.system.linux import Linux

    return Linux()


here = _chosen()
