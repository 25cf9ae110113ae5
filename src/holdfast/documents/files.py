"""Documents on disk: rendered whole, put in place atomically, and recognised by their hash."""

from __future__ import annotations

import os

from holdfast import git
from holdfast.core.apply import replay
from holdfast.core.remedy import shell
from holdfast.core.state import State
from holdfast.core.value import Any
from holdfast.documents.judging import is_rendering, is_torn, newest_hash, revision_of
from holdfast.documents.lens.mapping import Memory, put
from holdfast.documents.lens.spec import Dialects
from holdfast.documents.lens.text import Writer
from holdfast.engine.ports import Store
from holdfast.errors import HoldfastError
from holdfast.files.links import require_inside
from holdfast.files.replace import durable_write, make_directories, read_file, remove, replace, reserve
from holdfast.git import command as git_command
from holdfast.machine.place import Place
from holdfast.plain import clock
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import object_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _collections_abc import Mapping
    from contextlib import AbstractContextManager

    from holdfast.documents.checkpoints import Checkpoints
    from holdfast.documents.guard import Guard
    from holdfast.documents.lists import Lists

LARGEST = 16 << 20
SETTLED_AFTER = 1.0
"""A file that does not parse and changed less than this many seconds ago may still be being written."""


class Documents:
    """The views of one root. Implements `ports.Views`."""

    def __init__(self, place: Place, store: Store, dialect: Dialects) -> None:
        self._place = place
        self._store = store
        self.dialect = dialect
        self._writer = Writer()
        self._memory = Memory()
        self._seen: dict[str, tuple[tuple[int, int, int], str]] = {}
        self._judged: set[tuple[str, str]] = set()
        self._written: dict[str, bytes] = {}
        self._slots: dict[tuple[str, str], str] = {}
        self._views: dict[str, bytes] = {}
        self._learned: dict[str, int] = {}
        self._lists: Lists | None = None
        self._checkpoints: Checkpoints | None = None
        self._guard: Guard | None = None
        self._heads: dict[str, tuple[int, tuple[str | None, str | None]]] = {}

    @property
    def checkpoints(self) -> Checkpoints:
        if self._checkpoints is None:
            from holdfast.documents.checkpoints import Checkpoints

            self._checkpoints = Checkpoints(self._place, self.dialect, self.past)
        return self._checkpoints

    @property
    def guard(self) -> Guard:
        if self._guard is None:
            from holdfast.documents.guard import Guard

            self._guard = Guard(self._place, self._store, self.dialect)
        return self._guard

    def render(self, state: State) -> dict[str, bytes]:
        document = self.dialect(state.dialect).document
        path = document.path(state)
        self._require_inside(state, path)
        return {path: self._writer.write(put(document, state.base, state, self._memory))} if path else {}

    def value(self, state: State) -> Mapping[str, Any]:
        """The native document as JSON."""
        return put(self.dialect(state.dialect).document, state.base, state)

    def refresh(self, state: State, rendered: dict[str, bytes]) -> list[tuple[str, bytes]]:
        """Puts documents in place unless newer ones or an edit are there; gives back edits it displaced."""
        raced: list[tuple[str, bytes]] = []
        spoken = self.dialect(state.dialect)
        moved = len(state.renderings) < 2 or state.renderings[-2][1].keys() != rendered.keys()
        moved = moved or any(self.full(state, path) not in self._seen for path in rendered)
        if rendered and all(self._overtaken(state, path) for path in rendered):
            return raced
        with self._lock(state):
            for path, data in rendered.items():
                if not self.elsewhere(state, path):
                    displaced = self._put(state, path, data)
                    if displaced is not None:
                        raced.append((path, displaced))
            for path in spoken.document.former(state) if moved else ():
                if not self.elsewhere(state, path):
                    self._retire(state, path)
            if spoken.log:
                from holdfast.documents import logs

                logs.refresh(self.full(state, spoken.log(state)), self._store, state.ulid)
            if spoken.checkpoints:
                self.checkpoints.refresh(state)
            self._show_views(state)
        if spoken.learnings and self._learned.get(state.ulid, 0) < state.learnings_count:
            from holdfast.documents import learnings

            learnings.refresh(self.full(state, spoken.learnings(state)), self._store, spoken, state)
            self._learned[state.ulid] = state.learnings_count
        return raced

    def _show_views(self, state: State) -> None:
        """Files that follow from the state alone: written when they say something else than before."""
        views = self.dialect(state.dialect).views
        for path, value in views(state).items() if views else ():
            full, data = self.full(state, path), self._writer.write(value)
            if self._views.get(full) != data and not self.elsewhere(state, path):
                if self.read(state, path) != data:
                    durable_write(full, data, mode=self.dialect(state.dialect).mode, alone=True)
                self._views[full] = data

    def put_right(self, state: State) -> list[tuple[str, str]]:
        """Writes anew what follows from the state alone and does not say it; each path, and where a copy is kept.

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
        for path, value in views(state).items() if views else ():
            data = self.read(state, path)
            if (data is None or object_in(data) != value) and not self.elsewhere(state, path):
                found.append((path, data))
        return found

    def copies(self, state: State) -> tuple[str, ...]:
        """Where the copies of the document lie that were made with snapshots."""
        where = self.dialect(state.dialect).checkpoints
        return tuple(where(state, taken.number) for taken in state.snapshots) if where else ()

    def past(self, state: State, number: int) -> State | None:
        """The state as it was when a snapshot was taken."""
        found = next((one for one in state.snapshots if one.number == number), None)
        if found is None or not found.revision:
            return None
        return replay(self._store.history(state.ulid, until=found.revision))

    def enlist(self, state: State) -> None:
        if self.dialect(state.dialect).index:
            if self._lists is None:
                from holdfast.documents.lists import Lists

                self._lists = Lists(self._place, self._store, self.dialect)
            self._lists.refresh(state, self.elsewhere)
        self.guard.refresh(state)

    def look(self, state: State) -> tuple[State, str, bytes | None]:
        """The newest state, its document's place and what lies there.

        A rendering must not be taken for an edit because it is newer than the state, so the file is read first; and
        nobody may put so many there in between that the state remembers it no longer, so the lock is held if need be.
        """
        found = self._look(state)
        if found[2] is not None and is_rendering(found[0], found[1], digest(found[2])):
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
        require_inside(base, path)
        return f"{base}/{path}"

    def _require_inside(self, state: State, document: str) -> None:
        """Before anything is kept of a change: every file that it will be shown in lies in the project."""
        spoken, base = self.dialect(state.dialect), self._place.base(state.worktree)
        beside = (where(state) for where in (spoken.log, spoken.learnings) if where)
        listed = (spoken.index([], None, "", state.session)[0],) if spoken.index else ()
        copies = (spoken.checkpoints(state, 0),) if spoken.checkpoints else ()
        for path in filter(None, (document, *beside, *listed, *copies)):
            require_inside(base, path)

    def read(self, state: State, path: str) -> bytes | None:
        """What lies at a document's place; None when nothing does."""
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
        seen = self._seen.get(self.full(state, path))
        newest = newest_hash(state, path)
        if seen and seen[1] == newest and self._stamp(self.full(state, path)) == seen[0]:
            return True
        data = self.read(state, path)
        return data is not None and digest(data) == newest

    def was_placed(self, state: State, path: str) -> bool:
        """The spare slot is made only after the document itself is durable: without it, there never was one."""
        return os.path.exists(self._slot(state, path))

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
        """A document that git tracks belongs to a branch: on another one, or in mid-merge, it is left alone.

        So is one whose worktree was removed.
        """
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
        full = os.path.join(base, path)
        return git.tracked(repository, full) or _committed(repository, state.branch, full)

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
        return next((ulid for ulid in others if is_rendering(self._store.load(ulid), path, hashed)), "")

    def _put(self, state: State, path: str, data: bytes) -> bytes | None:
        full, new, mode = self.full(state, path), digest(data), self.dialect(state.dialect).mode
        there = self._known_there(full)
        if there is None:
            current = self.read(state, path)
            if current is None:
                for folder in self.dialect(state.dialect).folders:
                    make_directories(self.full(state, folder), 0o777)
                durable_write(full, data, mode=mode, alone=True)
                reserve(self._slot(state, path), dir_mode=0o700)
                self._remember(full, new)
                return None
            there = digest(current)
        if there == new:
            return None
        if not self._may_replace(state, path, there):
            return None
        before = self._written.get(full)
        displaced = replace(full, data, self._slot(state, path), mode=mode, dir_mode=0o700)
        self._remember(full, new)
        self._written[full] = data
        if displaced is not None and (full, there) in self._judged and digest(displaced) == there:
            # An edit that is taken or kept elsewhere, with what it said. Who has it open still reads it whole.
            durable_write(self._slot(state, path), b"", mode=0o600, dir_mode=0o700, alone=True)
        if displaced is None or displaced == before or digest(displaced) == there:
            return None
        return displaced

    def _overtaken(self, state: State, path: str) -> bool:
        """Whether a newer rendering is in place. Asked before taking the lock, as the answer may wait for the disk."""
        there = self._known_there(self.full(state, path))
        if there is None:
            data = self.read(state, path)
            there = digest(data) if data is not None else ""
        if not there or is_rendering(state, path, there) or (self.full(state, path), there) in self._judged:
            return False
        found = revision_of(self._store.load(state.ulid), path, there)
        return found is not None and found > state.revision

    def _may_replace(self, state: State, path: str, there: str) -> bool:
        """An older rendering may be replaced. A newer one stays; what we never wrote is an edit, and stays too."""
        if revision_of(state, path, there) is not None or (self.full(state, path), there) in self._judged:
            return True
        newest = self._store.load(state.ulid)
        found = revision_of(newest, path, there)
        if found is None:
            return "" < self.namesake(state, path, there) < state.ulid
        return found <= state.revision

    def retire(self, state: State, path: str) -> None:
        """Takes away what lies where no document belongs, once it has been judged."""
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
                _remove_empty(os.path.dirname(self.full(state, path)))
            return
        ours = {hashed for _, documents in state.renderings for hashed in documents.values()}
        is_ours = digest(data) in ours or (self.full(state, path), digest(data)) in self._judged
        if not is_ours and not self.being_written(state, path) and is_torn(data):
            self.quarantine(path, data, "the file was empty or torn")
            is_ours = True
        if is_ours:
            remove(self.full(state, path))
            if self.dialect(state.dialect).own_folder:
                _remove_empty(os.path.dirname(self.full(state, path)))
        self._seen.pop(self.full(state, path), None)

    def _lock(self, state: State) -> AbstractContextManager[object]:
        """The view lock: one for each shard of workflows."""
        return self._store.exclusively(f"state/{state.ulid[-2:].lower()}")

    def _slot(self, state: State, path: str) -> str:
        slot = self._slots.get((state.ulid, path))
        if slot is None:
            slot = os.path.join(self._place.home, "slots", f"{state.ulid}-{digest(path.encode())[:8]}")
            self._slots[state.ulid, path] = slot
        return slot

    def _stamp(self, full: str) -> tuple[int, int, int] | None:
        try:
            found = os.stat(full)
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _remember(self, full: str, hashed: str) -> None:
        stamp = self._stamp(full)
        if stamp:
            self._seen[full] = (stamp, hashed)

    def _known_there(self, full: str) -> str | None:
        seen = self._seen.get(full)
        return seen[1] if seen and self._stamp(full) == seen[0] else None


def _remove_empty(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass  # somebody keeps something there


def _committed(repository: git.Repository, branch: str, full: str) -> bool:
    """Whether a branch has the file. Where another one is checked out, it is gone, or would be in git's way."""
    inside = f":(literal){os.path.relpath(full, repository.top)}"
    words = ("ls-tree", "-z", "--name-only", "--end-of-options", f"refs/heads/{branch}", "--", inside)
    return bool(git_command.git(repository.top, *words, ok=(0, 128))[1])
