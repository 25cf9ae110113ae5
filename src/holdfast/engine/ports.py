"""What the engine needs from outside, in the words of the field."""

from __future__ import annotations

from _collections_abc import Callable, Iterable, Iterator, Mapping, Sequence

from holdfast.core import queries, remedies
from holdfast.core.apply import Record
from holdfast.core.state import Shown, State
from holdfast.core.value import Any, Protocol, Value
from holdfast.errors import Conflict, HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from holdfast.core.facts import Facts
    from holdfast.core.needs import Needs


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
    revision: int = 0
    to_finalize: bool = False
    """Whether it is completed, and its result is still to be published."""
    sum: str = ""
    """Of the line of that revision, where the store knows that it is durable: what it must still have later."""

    def says_the_same_as(self, other: Entry | None) -> bool:
        moment: dict[str, Any] = {"updated_at": "", "revision": 0, "sum": ""}
        return other is not None and self.replace(**moment) == other.replace(**moment)


def refuse_second(new: Entry, known: Iterable[Entry]) -> None:
    """An id is active once in a worktree, and a key starts one workflow, however many processes start it at once."""
    for entry in known:
        same_key = new.key and new.key == entry.key
        same_id = entry.active and (entry.id, entry.worktree) == (new.id, new.worktree)
        if entry.ulid != new.ulid and (same_key or same_id):
            raise Conflict(
                "already_started",
                f"another process has just started {entry.id}",
                remedy=remedies.next_step(workflow=entry.ulid),
                facts={"workflow": entry.id, "ulid": entry.ulid},
            )


def standing(state: State) -> tuple[object, ...]:
    """What decides whether a workflow's entry changes, without making one."""
    ends = (state.cancelled is not None, state.finalized is not None, queries.to_finalize(state))
    return bool(state.finished_at), *ends, state.session


def entry_of(state: State) -> Entry:
    active = queries.is_active(state)
    key, (payload, revision) = next(iter(state.keys.items()), ("", ("", 0)))
    own: dict[str, Any] = {
        "active": active,
        "status": "in_progress" if active else queries.status(state),
        "key": key if revision == 1 else "",
        "payload": payload if revision == 1 else "",
        "to_finalize": queries.to_finalize(state),
        "sum": "",
    }
    return Entry(**{name: own[name] if name in own else getattr(state, name) for name in Entry._fields})


class View(Value):
    """What a document was last made to show: the revision, the path, the hash of its bytes and the file's stamp."""

    revision: int
    path: str
    hash: str
    stamp: tuple[int, ...]


class Showing(Protocol):
    """The right to show a workflow."""

    def keep(self, view: View) -> None:
        """What is shown from now on."""

    def __enter__(self) -> Showing: ...

    def __exit__(self, *_: object) -> None: ...


LARGEST_COPY = 256 << 20
UNKNOWN, SAME, BEHIND, AHEAD, FORKED = "unknown", "same", "behind", "ahead", "forked"


class Standing(Value):
    """How a copy stands to the journal here: `common` is the last line they share, the others count the lines."""

    ulid: str
    kind: str
    common: int
    ours: int
    theirs: int


class Copy(Value):
    """A copy of a journal that was found good: its bytes, where each line ends, the sums, its last record and state."""

    ulid: str
    data: bytes
    ends: tuple[int, ...]
    sums: tuple[str, ...]
    """By line; the last one stands for all lines up to it, as each has the sum of the one before."""
    last: Record
    state: State


class Examined(Value):
    """A journal from its first line on: the fold of what is whole, where that ends, and what is wrong after it."""

    ulid: str
    name: str
    """What messages call it; for a file, its path."""
    size: int
    state: State | None = None
    lines: int = 0
    end: int = 0
    damage: HoldfastError | None = None
    snapshot: str = ""
    """What is wrong with the snapshot of the fold; empty when it is right, or there is none."""

    @property
    def can_be_cut(self) -> bool:
        """Not a journal that a newer Holdfast wrote, or that cannot even be opened: those are whole."""
        return self.damage is not None and self.damage.code in ("journal_damaged", "lines_missing")

    @property
    def survives(self) -> str:
        if not self.state:
            return "nothing before that can be read"
        before = "line before it is" if self.lines == 1 else "lines before it are"
        return f"the {self.lines} {before} whole, until {self.state.updated_at}"


class Fault(Value):
    """What is wrong with the views that a store keeps of its journals; `rebuild` or `settle` puts it right."""

    code: str
    """`index`, `snapshot` or `unsettled`."""
    message: str
    path: str = ""


Cursor = Mapping[str, tuple[str, object]]
"""The workflows as they were at one look: ULID → id, and what is another value after every line."""


class Changes(Value):
    """What happened to workflows since a cursor was given."""

    cursor: Cursor
    moved: Mapping[str, str] = {}
    """The workflows that got a line, came or went: ULID → id."""
    listed: bool = False
    """Whether a workflow came or went."""


def changes_between(since: Cursor | None, now: Cursor) -> Changes:
    """The changes from one look to the next. Without an earlier one there is no change."""
    if since is None or since == now:
        return Changes(now)
    moved = {ulid: id_ for ulid, (id_, _) in {**since, **now}.items() if since.get(ulid) != now.get(ulid)}
    return Changes(now, moved, since.keys() != now.keys())


class Store(Protocol):
    """Keeps journals. What `create` and `commit` return is durable."""

    @property
    def read_only(self) -> HoldfastError | None:
        """Why nothing can be written now; None where it can."""

    # Journals

    def create(self, record: Record, state: State) -> None:
        """A new workflow from its first record; `refuse_second` says when it may not be."""

    def load(self, ulid: str) -> State:
        """The newest durable state."""

    def newest(self, ulid: str) -> State:
        """The newest state, also where it is not durable yet: for a writer, whose own line makes it so."""

    def commit(
        self,
        ulid: str,
        change: Callable[[State], tuple[Record, State] | None],
        meanwhile: Callable[[State], None] | None = None,
    ) -> State:
        """Runs `change` on the newest state with nobody else writing, and keeps the record it gives.

        A store that has to wait for a disk calls `meanwhile` before it waits, with the state that is being kept.
        """

    def history(self, ulid: str, after: int = 0, until: int = 0) -> Iterator[Record]:
        """The records above one revision and up to another, oldest first; without them, all."""

    # What there is

    def entries(self) -> list[Entry]:
        """The active workflows and the newest finished ones."""

    def active(self) -> list[Entry]:
        """The active ones alone."""

    def unpublished(self) -> list[Entry]:
        """Of the newest finished ones, those whose result is still to be published."""

    def find(self, word: str) -> list[Entry]:
        """The workflows whose id or ULID begins with a word, active ones first."""

    def started_with(self, key: str) -> Entry | None:
        """The workflow that was started with an idempotency key, however long ago."""

    def every(self) -> Iterator[str]:
        """The ULIDs of all journals, also of those that cannot be read."""

    def has(self, ulid: str) -> bool:
        """Whether there is a journal, whatever is in it."""

    def finished_count(self) -> int: ...

    def settle(self, state: State, then: Callable[[], None] | None = None) -> None:
        """The documents of this state are in place: the index may say so. It stays unsettled until `then` is done."""

    def announced(self) -> list[str]:
        """Workflows whose entry is about to change, or was when a process died."""

    def unsettled(self) -> list[str]:
        """Workflows whose views may be behind because a process died."""

    # What changed

    def stamp(self, ulid: str) -> str:
        """Another one after every line; empty where there is no journal."""

    def touched(self, ulid: str) -> float:
        """When the last line was written, in seconds since 1970; 0 where there is no journal."""

    def changes(self, since: Cursor | None = None, only: Sequence[str] = ()) -> Changes:
        """What happened to the active workflows, or to these ones, active or not. No journal is opened for it."""

    def file_of(self, ulid: str) -> str:
        """A file that changes with every line, for a hook that cannot ask the store; empty where there is none."""

    # Copies

    def export(self, ulid: str) -> bytes:
        """The journal as a copy to give away: all its lines, byte for byte and durable."""

    def begins_with(self, ulid: str, data: bytes) -> bool:
        """Whether the journal here begins with these very bytes, or is them."""

    def examine_copy(self, data: bytes, name: str) -> Copy:
        """The copy, if all of it can be believed; `name` is what a refusal calls it."""

    def compare(self, data: bytes, name: str) -> Standing:
        """How a copy stands to what is here."""

    def fast_forward(self, data: bytes, name: str) -> State:
        """Brings the journal here to where a copy of it is, unless it is there or beyond. `settle` follows, as ever."""

    def supersede(self, data: bytes, kept: str, name: str) -> State:
        """As `fast_forward`; and where the two differ, a person decided for the copy: ours goes to the archive.

        `kept` tells it from others there. After a crash, the same call again finishes what was begun.
        """

    # Exclusion between workflows

    def exclusively(self, name: str, wait: float | None = None) -> AbstractContextManager[object]:
        """Nobody else holds this name meanwhile, in this process or another one."""

    # What was shown

    def shown(self, ulid: str) -> View | None:
        """What the document was last made to show, as far as is known here: it may be lost at any time."""

    def showing(self, ulid: str, *, hand_over: bool = False) -> Showing | None:
        """Nobody else shows the workflow until this is let go. With `hand_over`, None where somebody does."""

    # End of life and repair

    def archive(self, ulid: str) -> str:
        """Moves a finished workflow's journal to the archive, where it stays readable; says where."""

    def delete(self, ulids: Sequence[str]) -> None:
        """Removes journals for good, damaged ones too, as if their workflows had never been. Some may be gone."""

    def examine(self, ulid: str) -> Examined:
        """A journal read whole, without changing anything."""

    def repair(self, ulid: str, examined: Examined) -> str:
        """Drops a wrong snapshot, or cuts a damaged end off and says where the whole of it is kept."""

    def faults(self, examined: Sequence[Examined]) -> list[Fault]:
        """What the store's own views say that its journals do not."""

    def rebuild(self) -> None:
        """Makes the index again from the journals, and drops snapshots of journals that are gone."""


class World(Protocol):
    """Where facts come from."""

    def now(self) -> str: ...

    def facts(self, state: State, needs: Needs) -> Facts:
        """What is needed, as it is now. It may take long: nobody asks while a journal is locked."""

    def attested(self, facts: Facts, how: str, where: str) -> Facts:
        """The same facts for people whom somebody else recognised: how, and at which address."""

    def renewed(self, facts: Facts) -> Facts:
        """The same facts with the clock of now."""


class Views(Protocol):
    """The documents that people and agents see."""

    def require_inside(self, state: State) -> None:
        """Refuses a state of which a file would be outside of the project. Asked before anything is kept."""

    def shown(self, state: State) -> Shown | None:
        """What was shown last, where the state does not know it yet."""

    def begin(self, state: State) -> None:
        """Begins to make what a state will be shown by, while it is being kept."""

    def refresh(self, state: State, *, hand_over: bool = False) -> list[tuple[str, bytes]]:
        """Shows the newest state, which is this one or a later one; gives back edits that came in meanwhile.

        With `hand_over`, a process that is showing the workflow at this moment does it instead, if there is one.
        """

    def enlist(self, state: State) -> None:
        """Brings the lists of workflows up to date, once the store knows where this one stands."""
