"""What is done as features and cycles go on. The code of commits is imported when one is made."""

from __future__ import annotations

from holdfast.core.state import State
from holdfast.systems.seam.parts import Acted, Order, Work

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.systems.seam.wired import Wired


def _commit(wired: Wired, state: State, path: str, order: Order) -> Acted:
    from holdfast.systems.skill.commits import commit

    return commit(wired, state, path, order)


WORK = Work(perform={"commit": _commit})
