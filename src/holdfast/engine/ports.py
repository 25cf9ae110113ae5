"""What the engine needs from outside, in the words of the field."""

from __future__ import annotations

from _collections_abc import Callable, Iterable, Iterator

from holdfast.core import queries, remedies
from holdfast.core.apply import Record
from holdfast.core.state import State
from holdfast.core.value import Value
from holdfast.errors import Conflict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from holdfast.core.commands import Command, Facts
else:

    class Protocol: ...


class Entry(Value):
    """What can be known of a workflow without opening it. It changes when a workflow starts, ends or comes back."""

    ulid: str
    id: str
    type: str
    dialect: str
    active: bool
    status: str
    subject: str = ""
    title: str = ""
    branch: str | None = None
    worktree: str = ""
    session: str = ""
    key: str = ""
    payload: str = ""
    created_at: str = ""
    updated_at: str = ""

    def says_the_same_as(self, other: Entry | None) -> bool:
        return other is not None and self.replace(updated_at="") == other.replace(updated_at="")


def refuse_second(new: Entry, known: Iterable[Entry]) -> None:
    """An id is active once in a worktree, and a key starts one workflow, however many processes start it at once."""
    for entry in known:
        same_key = new.key and new.key == entry.key
        if same_key or (entry.active and (entry.id, entry.worktree) == (new.id, new.worktree)):
            raise Conflict(
                "already_started",
                f"another process has just started {entry.id}",
                remedy=remedies.next_step(workflow=entry.ulid),
                facts={"workflow": entry.id, "ulid": entry.ulid},
            )


def standing(state: State) -> tuple[object, ...]:
    """What decides whether a workflow's entry changes, without making one."""
    return bool(state.finished_at), state.cancelled is not None, state.finalized is not None, state.session


def entry_of(state: State) -> Entry:
    active = queries.is_active(state)
    key, (payload, revision) = next(iter(state.keys.items()), ("", ("", 0)))
    return Entry(
        ulid=state.ulid,
        id=state.id,
        type=state.type,
        dialect=state.dialect,
        active=active,
        status="in_progress" if active else queries.status(state),
        subject=state.subject,
        title=state.title,
        branch=state.branch,
        worktree=state.worktree,
        session=state.session,
        key=key if revision == 1 else "",
        payload=payload if revision == 1 else "",
        created_at=state.created_at,
        updated_at=state.updated_at,
    )


class Store(Protocol):
    """Keeps journals. What `create` and `commit` return is durable."""

    def create(self, record: Record, state: State) -> None:
        """A new workflow from its first record; `refuse_second` says when it may not be."""

    def load(self, ulid: str) -> State:
        """The newest durable state."""

    def commit(self, ulid: str, change: Callable[[State], tuple[Record, State] | None]) -> State:
        """Runs `change` on the newest state with nobody else writing, and keeps the record it gives."""

    def settle(self, state: State, then: Callable[[], None] | None = None) -> None:
        """The documents of this state are in place: the index may say so. It stays unsettled until `then` is done."""

    def history(self, ulid: str, after: int = 0) -> Iterator[Record]:
        """Every record, oldest first."""

    def entries(self) -> list[Entry]:
        """The active workflows and the newest finished ones."""

    def active(self) -> list[Entry]:
        """The active ones alone."""

    def find(self, word: str) -> list[Entry]:
        """The workflows whose id or ULID begins with a word, active ones first."""

    def unsettled(self) -> list[str]:
        """Workflows whose views may be behind because a process died."""


class World(Protocol):
    """Where facts come from."""

    def now(self) -> str: ...

    def facts(self, state: State | None, command: Command) -> Facts: ...


class Views(Protocol):
    """The documents that people and agents see."""

    def render(self, state: State) -> dict[str, bytes]: ...

    def refresh(self, state: State, rendered: dict[str, bytes]) -> list[tuple[str, bytes]]:
        """Puts documents in place, unless newer ones are there; gives back edits that came in meanwhile."""

    def enlist(self, state: State) -> None:
        """Brings the lists of workflows up to date, once the store knows where this one stands."""
