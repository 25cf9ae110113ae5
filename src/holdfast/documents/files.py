"""Documents on disk: rendered whole, put in place atomically, and recognised by their hash."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core.apply import replay
from holdfast.core.remedy import shell
from holdfast.core.state import Shown, State
from holdfast.core.value import Any
from holdfast.documents.lens.mapping import Memory, put
from holdfast.documents.lens.spec import DECISIONS, Dialects
from holdfast.documents.lens.text import Writer
from holdfast.documents.recognition import Recognition
from holdfast.engine.ports import Showing, Store, View
from holdfast.errors import HoldfastError
from holdfast.files.links import require_inside
from holdfast.files.replace import (
    Handles,
    durable_write,
    make_directories,
    read_file,
    remove,
    remove_empty,
    replace,
    reserve,
    stamp_of,
)
from holdfast.machine.place import Place
from holdfast.plain import clock
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import object_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Mapping

    from holdfast.documents.ahead import Ahead
    from holdfast.documents.checkpoints import Checkpoints
    from holdfast.documents.guard import Guard
    from holdfast.documents.lens.spec import Document
    from holdfast.documents.lists import Lists

LARGEST = 16 << 20
LOST = ".lost"
"""What the slot of a document is called while the document is lost."""
SETTLED_AFTER = 1.0
"""A file that does not parse and changed less than this many seconds ago may still be being written."""


class Documents:
    """The views of one root. Implements `ports.Views`."""

    def __init__(self, place: Place, store: Store, dialect: Dialects) -> None:
        self._place = place
        self._store = store
        self.dialect = dialect
        self.recognition = Recognition(store, dialect, self.render)
        self._writer = Writer()
        self._memory = Memory()
        self._ahead: Ahead | None = None
        self._seen: dict[str, View] = {}
        self._judged: set[tuple[str, str]] = set()
        self._written: dict[str, bytes] = {}
        self._slots: dict[tuple[str, str], str] = {}
        self._handles = Handles()
        self._views: dict[str, bytes] = {}
        self._learned: dict[str, int] = {}
        self._lists: Lists | None = None
        self._checkpoints: Checkpoints | None = None
        self._guard: Guard | None = None
        self._heads: dict[str, tuple[int, tuple[str | None, str | None]]] = {}
        self._inside: State | None = None
        """The state of which `require_inside` was asked last, until it is shown."""

    @property
    def checkpoints(self) -> Checkpoints:
        if self._checkpoints is None:
            from holdfast.documents.checkpoints import Checkpoints

            self._checkpoints = Checkpoints(self._place, self.dialect, self.past, self.render)
        return self._checkpoints

    @property
    def guard(self) -> Guard:
        if self._guard is None:
            from holdfast.documents.guard import Guard

            self._guard = Guard(self._place, self._store, self.dialect)
        return self._guard

    def render(self, state: State) -> bytes:
        return self._rendered(self.dialect(state.dialect).document, state)[0]

    def begin(self, state: State) -> None:
        from holdfast.documents.ahead import Ahead

        document = self.dialect(state.dialect).document  # which systems there are is known to each thread by itself
        self._ahead = Ahead(state, lambda: self._rendered(document, state))

    def _rendered(self, document: Document, state: State) -> tuple[bytes, str]:
        """The document, and its hash."""
        data = self._writer.write(put(document, state.base, state, self._memory))
        return data, digest(data)

    def value(self, state: State) -> Mapping[str, Any]:
        """The native document as JSON."""
        return put(self.dialect(state.dialect).document, state.base, state)

    def shown(self, state: State) -> Shown | None:
        """What was shown last, where the state does not know it yet."""
        last = self._store.shown(state.ulid)
        if last is None or not last.path or (state.renderings and state.renderings[-1].at >= last.revision):
            return None
        return Shown(last.revision, {last.path: last.hash})

    def refresh(self, state: State, *, hand_over: bool = False) -> list[tuple[str, bytes]]:
        """Shows the newest state, and again if others continued meanwhile; gives back edits that it displaced.

        Who hands over has its line in the journal by then, and the process that shows asks the journal again after it.
        Nobody hands over where the document is committed to git right after.
        """
        raced: list[tuple[str, bytes]] = []
        hand_over = hand_over and not self.dialect(state.dialect).travels
        while (showing := self._store.showing(state.ulid, hand_over=hand_over)) is not None:
            with showing:
                newest = self._store.load(state.ulid)
                try:
                    raced += self._show(newest, showing)
                finally:
                    self._inside = None
            if self._store.newest(state.ulid).revision == newest.revision:
                break
            hand_over = True
        return raced

    def _show(self, state: State, showing: Showing) -> list[tuple[str, bytes]]:
        raced: list[tuple[str, bytes]] = []
        spoken, last = self.dialect(state.dialect), self._store.shown(state.ulid)
        path = spoken.document.path(state)
        view = None if path else View(state.revision, "", "", ())
        full = self.full(state, path) if path else ""
        moved = last is None or last.path != path or full not in self._seen
        if path and not self.elsewhere(state, path):
            displaced, view = self._put(state, path, full, last)
            if displaced is not None:
                raced.append((path, displaced))
        for other in spoken.document.former(state) if moved else ():
            if not self.elsewhere(state, other):
                self._retire(state, other)
        if spoken.log:
            from holdfast.documents import logs

            logs.refresh(self.full(state, spoken.log(state)), self._store, state.ulid)
        if spoken.checkpoints:
            self.checkpoints.refresh(state)
        self._show_views(state)
        if view is not None and view != last:
            showing.keep(view)
        if spoken.learnings and self._learned.get(state.ulid, 0) < state.learnings_count:
            from holdfast.documents import learnings

            learnings.refresh(self.full(state, spoken.learnings(state)), self._store, spoken, state)
            self._learned[state.ulid] = state.learnings_count
        return raced

    def _show_views(self, state: State) -> None:
        """Files that follow from the state alone: written when they say something else than before."""
        views = self.dialect(state.dialect).views
        for path, made in views(state).items() if views else ():
            full, data = self.full(state, path), self._writer.write(made())
            if self._views.get(full) != data and not self.elsewhere(state, path):
                if self.read(state, path) != data:
                    durable_write(full, data, mode=self.dialect(state.dialect).mode, alone=True)
                self._views[full] = data

    def put_right(self, state: State) -> list[tuple[str, str]]:
        """Writes again what follows from the state alone and does not say it; each path, and where a copy is kept.

        Under the lock, as another process may be about to write them itself.
        """
        if not self._strayed(state):
            return []
        with self._lock(state):
            newest = self._store.load(state.ulid)
            strayed = self._strayed(newest)
            kept = [
                (path, "" if data is None else self.quarantine(path, data, "it did not say what the state says"))
                for path, data in strayed
            ]
            for path, _ in strayed:
                self._views.pop(self.full(state, path), None)
            self._show_views(newest)
        return kept

    def _strayed(self, state: State) -> list[tuple[str, bytes | None]]:
        views = self.dialect(state.dialect).views
        found = []
        for path, made in views(state).items() if views else ():
            data = self.read(state, path)
            if (data is None or object_in(data) != made()) and not self.elsewhere(state, path):
                found.append((path, data))
        return found

    def put_back(self, state: State, path: str) -> None:
        """Writes a copy of the document again that was made with a snapshot."""
        with self._lock(state):
            self.checkpoints.put_back(state, path)

    def copies(self, state: State) -> tuple[str, ...]:
        """Where the copies of the document are that were made with snapshots."""
        where = self.dialect(state.dialect).checkpoints
        return tuple(where(state, taken.number) for taken in state.snapshots) if where else ()

    def past(self, state: State, number: int) -> State | None:
        """The state as it was when a snapshot was taken."""
        found = next((one for one in state.snapshots if one.number == number), None)
        if found is None or not found.revision:
            from holdfast.documents.checkpoints import adopted

            return adopted(self.dialect(state.dialect), state, number, self.read) if found else None
        return replay(self._store.history(state.ulid, until=found.revision))

    def enlist(self, state: State) -> None:
        if self.dialect(state.dialect).index:
            if self._lists is None:
                from holdfast.documents.lists import Lists

                self._lists = Lists(self._place, self._store, self.dialect, self._keep_lost)
            self._lists.refresh(state, self.elsewhere)
        self.guard.refresh(state)

    def look(self, state: State) -> tuple[State, str, bytes | None]:
        """The newest state, its document's place and what is there.

        A rendering must not be taken for an edit because it is newer than the state, so the file is read first; and
        nobody may put so many there in between that the state remembers it no longer, so the lock is held if need be.
        """
        found = self._look(state)
        if found[2] is not None and self.recognition.shows(found[0], found[1], digest(found[2])):
            return found
        with self._lock(state):
            return self._look(found[0])

    def _look(self, state: State) -> tuple[State, str, bytes | None]:
        path = self.dialect(state.dialect).document.path(state)
        data = self.read(state, path)
        newest = self._store.load(state.ulid)
        there = self.dialect(state.dialect).document.path(newest)
        if there == path:
            return newest, there, data
        return newest, there, self.read(newest, there) if there else None

    def full(self, state: State, path: str) -> str:
        base = self._place.base(state.worktree)
        if state is not self._inside:
            require_inside(base, path)
        return f"{base}/{path}"

    def require_inside(self, state: State) -> None:
        """Before anything is kept of a change: every file that it will be shown in is in the project."""
        spoken, base = self.dialect(state.dialect), self._place.base(state.worktree)
        beside = (where(state) for where in (spoken.log, spoken.learnings) if where)
        listed = (spoken.index([], None, "", state.session)[0],) if spoken.index else ()
        copies = (spoken.checkpoints(state, 0),) if spoken.checkpoints else ()
        views = spoken.views(state) if spoken.views else ()
        require_inside(base, *filter(None, (spoken.document.path(state), *beside, *listed, *copies, *views)))
        self._inside = state

    def read(self, state: State, path: str) -> bytes | None:
        """What is at a document's place; None when nothing does."""
        full = self.full(state, path)
        try:
            if os.path.getsize(full) > LARGEST:
                return b""
            return read_file(full)
        except FileNotFoundError:
            return None
        except OSError as failure:
            raise HoldfastError(
                "document_unreadable",
                f"{full} cannot be read: {failure.strerror}",
                remedy=shell("ls", "-ld", full),
                facts={"path": full, "errno": failure.errno, "reason": failure.strerror},
            ) from failure

    def is_clean(self, state: State, path: str) -> bool:
        """Whether the newest rendering is in place, judged by the file's stamp when this process wrote it."""
        full = self.full(state, path)
        seen = self._seen.get(full)
        if seen and seen.revision == state.revision and stamp_of(full) == seen.stamp:
            return True
        data = self.read(state, path)
        return data is not None and self.recognition.is_newest(state, path, digest(data))

    def is_untouched(self, state: State, path: str) -> bool:
        """Whether what was shown last is in place, by its stamp alone: enough where it is about to be replaced."""
        last, full = self._store.shown(state.ulid), f"{self._place.base(state.worktree)}/{path}"
        return last is not None and last.path == path and stamp_of(full) == last.stamp

    def is_there(self, state: State, path: str) -> bool:
        return os.path.lexists(f"{self._place.base(state.worktree)}/{path}")

    def was_placed(self, state: State, path: str) -> bool:
        """The spare slot is made only after the document itself is durable: without it, there never was one."""
        return os.path.exists(self._slot(state, path))

    def was_lost(self, state: State, path: str) -> bool:
        """Whether a document that was placed is gone without anybody's decision."""
        if os.path.exists(self._slot(state, path) + LOST):
            return True
        spoken, full = self.dialect(state.dialect), self.full(state, path)
        if not self.was_placed(state, path):
            return False
        if spoken.own_folder and os.path.isdir(os.path.dirname(full)):
            return True
        return spoken.missing not in DECISIONS or not os.path.lexists(self.full(state, spoken.sign))

    def _keep_lost(self, state: State) -> None:
        """Before the sign of a deletion comes back: what was lost together with it is marked as lost.

        Without locks of the other workflows: at worst a deletion is taken for an accident.
        """
        spoken = self.dialect(state.dialect)
        if not spoken.sign or os.path.lexists(self.full(state, spoken.sign)):
            return
        for entry in self._store.active():
            if (entry.dialect, entry.worktree) != (state.dialect, state.worktree) or entry.ulid == state.ulid:
                continue
            try:
                other = self._store.load(entry.ulid)
            except HoldfastError:
                continue  # one that needs a person says so when it is asked for
            path = spoken.document.path(other)
            if self.was_placed(other, path) and not os.path.lexists(self.full(other, path)):
                os.replace(self._slot(other, path), self._slot(other, path) + LOST)

    def may_be_of(self, ulid: str, path: str) -> bool:
        """Whether a workflow of which nothing else is known may have a document there: its slots say which it wrote."""
        folder = os.path.join(self._place.home, "slots")
        slots = [name for name in os.listdir(folder) if name.startswith(f"{ulid}-")] if os.path.isdir(folder) else []
        return not slots or f"{ulid}-{digest(path.encode())[:8]}" in slots

    def being_written(self, state: State, path: str) -> bool:
        try:
            return abs(clock.seconds() - os.stat(self.full(state, path)).st_mtime) < SETTLED_AFTER
        except OSError:
            return False

    def elsewhere(self, state: State, path: str) -> bool:
        """What git tracks belongs to a branch: on another one, in mid-merge or without its worktree, it is left."""
        repository, base = self._place.repository, self._place.base(state.worktree)
        if state.worktree and not os.path.isdir(base):
            return True
        if repository is None or state.branch is None:
            return False
        if repository.top != base:
            found = git.find(base)
            if found is None:
                return False
            repository = found
        branch, busy = self._head(repository)
        if branch == state.branch and not busy:
            return False
        if self.dialect(state.dialect).travels:  # what is written beside its branch, git cannot switch over
            return True
        full = os.path.join(base, path)
        return git.tracked(repository, full) or git.committed(repository, state.branch, full)

    def _head(self, repository: git.Repository) -> tuple[str | None, str | None]:
        """Branch and unfinished operation. Git changes both by renames in its own folder, so its time tells."""
        changed = os.stat(repository.git_dir).st_mtime_ns
        known = self._heads.get(repository.git_dir)
        if known and known[0] == changed:
            return known[1]
        found = (git.branch(repository), git.busy(repository))
        if clock.seconds() - changed / 1e9 > 1:
            self._heads[repository.git_dir] = (changed, found)
        return found

    def in_head(self, state: State, path: str, data: bytes) -> bool:
        """Whether git brought exactly these bytes."""
        repository = git.find(self._place.base(state.worktree))
        if repository is None:
            return False
        full = self.full(state, path)
        return git.tracked(repository, full) and git.head_blob(repository, full) == data

    def quarantine(self, path: str, data: bytes, reason: str) -> str:
        """Keeps a synced copy of a refused or broken file, with the reason beside it."""
        from holdfast.files import quarantine

        return quarantine.keep(self._place.home, path, data, reason)

    def accept(self, state: State, path: str, data: bytes) -> None:
        """These bytes have been judged, so they may be replaced; anything written after them may not."""
        self._judged.add((self.full(state, path), digest(data)))

    def withdraw(self, state: State, path: str, data: bytes) -> None:
        """Nobody knows what became of them: they are judged again."""
        self._judged.discard((self.full(state, path), digest(data)))

    def namesake(self, state: State, path: str, hashed: str) -> str:
        """Ids recur: the ULID of another workflow with this one's id whose rendering this is, if there is one."""
        same = [e.ulid for e in self._store.find(state.id) if (e.id, e.worktree) == (state.id, state.worktree)]
        others = (ulid for ulid in same if ulid != state.ulid)
        return next((ulid for ulid in others if self.recognition.shows(self._store.load(ulid), path, hashed)), "")

    def _put(self, state: State, path: str, full: str, last: View | None) -> tuple[bytes | None, View | None]:
        """The bytes of an edit that was displaced, and what is in place now; None where an edit is left there."""
        stamp, mode = stamp_of(full), self.dialect(state.dialect).mode
        is_last = last is not None and last.path == path and last.stamp == stamp
        if is_last and last is not None and last.revision == state.revision:
            self._seen[full] = last
            return None, last
        ahead, self._ahead = self._ahead, None
        made = ahead.made() if ahead and ahead.state is state else None
        data, new = made or self._rendered(self.dialect(state.dialect).document, state)
        current = last.hash if is_last and last is not None else ""
        if not current:
            there = self.read(state, path)
            if there is None:
                self._keep_lost(state)
                for folder in self.dialect(state.dialect).folders:
                    make_directories(self.full(state, folder), 0o777)
                durable_write(full, data, mode=mode, alone=True)
                reserve(self._slot(state, path), dir_mode=0o700)
                remove(self._slot(state, path) + LOST)
                return None, self._placed(state, path, full, new)
            current = digest(there)
        if current == new:
            reserve(self._slot(state, path), dir_mode=0o700)  # its author may have written it as it is
            return None, self._placed(state, path, full, new)
        if not is_last and not self._may_replace(state, path, current):
            return None, None
        before = self._written.get(full)
        displaced = replace(full, data, self._slot(state, path), mode=mode, dir_mode=0o700, handles=self._handles)
        view = self._placed(state, path, full, new)
        self._written[full] = data
        if displaced is not None and (full, current) in self._judged and digest(displaced) == current:
            # An edit that is taken or kept elsewhere, with what it said. Who has it open still reads it whole.
            durable_write(self._slot(state, path), b"", mode=0o600, dir_mode=0o700, alone=True)
        if displaced is None or displaced == before or digest(displaced) == current:
            return None, view
        return displaced, view

    def _placed(self, state: State, path: str, full: str, hashed: str) -> View | None:
        if (stamp := stamp_of(full)) is None:
            return None
        self._seen[full] = view = View(state.revision, path, hashed, stamp)
        return view

    def _may_replace(self, state: State, path: str, there: str) -> bool:
        """One of ours may be replaced, by the newest. What we never wrote is an edit, and stays."""
        if (self.full(state, path), there) in self._judged or self.recognition.wrote(state, path, there):
            return True
        return "" < self.namesake(state, path, there) < state.ulid

    def retire(self, state: State, path: str) -> None:
        """Takes away what is where no document belongs, once it has been judged."""
        with self._lock(state):
            self._retire(state, path)

    def _retire(self, state: State, path: str) -> None:
        """Removes a document from where it no longer belongs, if it is one of ours or what a power cut left of one.

        The slot goes first: one that outlives its document says that somebody took the document away.
        """
        data = self.read(state, path)
        remove(self._slot(state, path))
        if data is None:
            if self.dialect(state.dialect).own_folder:
                remove_empty(os.path.dirname(self.full(state, path)))
            return
        from holdfast.documents.judging import UNUSABLE, is_torn

        hashed = digest(data)
        is_ours = (self.full(state, path), hashed) in self._judged or hashed in self.recognition.hashes(state)
        if not is_ours and not self.being_written(state, path) and is_torn(data):
            self.quarantine(path, data, UNUSABLE)
            is_ours = True
        if is_ours:
            remove(self.full(state, path))
            if self.dialect(state.dialect).own_folder:
                remove_empty(os.path.dirname(self.full(state, path)))
        self._seen.pop(self.full(state, path), None)

    def _lock(self, state: State) -> Showing:
        showing = self._store.showing(state.ulid)
        assert showing is not None
        return showing

    def _slot(self, state: State, path: str) -> str:
        slot = self._slots.get((state.ulid, path))
        if slot is None:
            slot = os.path.join(self._place.home, "slots", f"{state.ulid}-{digest(path.encode())[:8]}")
            self._slots[state.ulid, path] = slot
        return slot
