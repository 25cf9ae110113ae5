"""A host as the runner sees it: how a turn is started, and what its lines mean."""

from __future__ import annotations

from _collections_abc import Mapping

from holdfast.core.value import Any, Protocol, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.machine.running import Running
    from holdfast.runner.events import Event

RIGHTS = ("read", "edits", "all")
_MOST = 1_000_000_000
"""More than any turn uses, of tokens or dollars."""
OWN = ("holdfast",)
"""Programs that an agent may always run: what a step asks for is typed by them."""


class Order(Value):
    """One turn that is to be started."""

    session: str
    """The id that the runner gives the session."""
    known: str
    """The host's own id of it, once it has one; empty where the session is to begin."""
    prompt: str
    """The file with the prompt."""
    folder: str
    rights: str
    running: Running
    git: str = ""
    """The folder of git that belongs to the worktree, which a sandbox has to let commands write to."""
    is_review: bool = False


class Started(Value):
    """A command line, the file that the host reads as standard input, and variables beside those that are passed on."""

    argv: tuple[str, ...]
    stdin: str = ""
    env: Mapping[str, str] = {}


class Host(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def program(self) -> str:
        """Its program, by a name on the path or from the folder of the project."""

    @property
    def rights(self) -> tuple[str, ...]:
        """Those that it can be held to."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that it needs of its own: its login, and where it keeps its sessions."""

    @property
    def tells_cost(self) -> bool:
        """Whether its events have dollars in them."""

    @property
    def is_sum(self) -> bool:
        """Whether its totals are those of the whole session and not of one turn."""

    def start(self, order: Order) -> Started: ...

    def read(self, line: Mapping[str, Any]) -> tuple[Event, ...]:
        """What one line of its output says; nothing for those that say nothing of interest."""

    def failed(self, said: str) -> Event | None:
        """What the end of standard error says of a turn that failed."""


def short(value: Any, most: int = 60) -> str:
    """The first text in the input of a tool: what it is about."""
    if isinstance(value, str):
        return " ".join(value.split())[:most]
    found = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return next((said for one in found if (said := short(one, most))), "")


def digest_of(value: Any) -> str:
    from json import dumps

    from holdfast.plain.digest import digest

    return digest(dumps(value, sort_keys=True, default=str).encode())[:16]


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def count(value: Any) -> int:
    return int(value) if _is_amount(value) and value > 0 else 0


def micros(value: Any) -> int | None:
    """Dollars as micro-dollars; None for anything that is no amount."""
    return round(value * 1_000_000) if _is_amount(value) else None


def _is_amount(value: Any) -> bool:
    """Whether a host can mean it: neither infinite nor beyond what any turn costs or reads."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MOST
