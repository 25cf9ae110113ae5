"""The state up to some line of a journal, kept so that loading does not grow with history. A view: it may be lost."""

from __future__ import annotations

import os
from _collections_abc import Callable, Iterator, Mapping

from holdfast.core.names import is_ulid
from holdfast.core.plan import Plan
from holdfast.core.state import Progress, State, moved
from holdfast.core.value import Any
from holdfast.engine.codec import VERSION, decode, encode
from holdfast.files.replace import remove, replace, sync_directories
from holdfast.plain.digest import digest
from holdfast.plain.plainjson import compact, parse
from holdfast.stores.lines import Position
from holdfast.stores.witness import Witness

_SEQ = b'{"v":%d,"position":{"seq":' % VERSION
_HEAD = 100


class Snapshots:
    def __init__(self, home: str, outside: str = "") -> None:
        self._folder = os.path.join(home, "state")
        self._outside = outside
        self._written = _Written()

    def found(self, ulid: str) -> tuple[Position, State] | None:
        """The last one, and the line it was taken at; None where there is no good one."""
        try:
            data, state = self._read(ulid)
            return (Position(**data["position"]), state) if data["v"] == VERSION else None
        except (OSError, ValueError, KeyError, TypeError):
            return None  # of another version, or damaged: the journal has it all

    def _read(self, ulid: str) -> tuple[dict[str, Any], State]:
        with open(self.path(ulid), "rb") as file:
            seal, _, body = file.read().partition(b"\n")
        if digest(body).encode() != seal:
            raise ValueError("the sum is another one")
        data = parse(body)
        return data, decode(State, data["state"])

    def write(self, state: State, position: Position) -> None:
        at = compact(encode(position))
        body = f'{{"v":{VERSION},"position":{at},"state":{self._written.text(state)}}}'.encode()
        path = self.path(state.ulid)
        replace(path, digest(body).encode() + b"\n" + body, path + ".slot", dir_mode=0o700)

    def reached(self, ulid: str) -> int:
        """The line that the last one says it was taken at, without reading it; 0 where there is none."""
        try:
            with open(self.path(ulid), "rb", buffering=0) as file:
                _, _, seq = file.read(_HEAD).partition(_SEQ)
            return int(seq.partition(b",")[0])
        except (OSError, ValueError):
            return 0

    def kept(self, ulid: str) -> tuple[int, State | None]:
        """The revision a snapshot is of, and what it says; -1 where there is none, 0 where it cannot be read."""
        try:
            _, state = self._read(ulid)
        except FileNotFoundError:
            return -1, None
        except (KeyError, TypeError, ValueError, AttributeError):
            return 0, None
        return state.revision, state

    def stray(self, has: Callable[[str], bool]) -> list[str]:
        """The files of workflows that are gone."""
        found = []
        for shard, name in entries(self._folder):
            ulid, path = name.partition(".")[0], os.path.join(self._folder, shard, name)
            if is_ulid(ulid) and not has(ulid) and Witness(path, 0).read() is None:
                found.append(path)
        return found

    def drop(self, ulid: str, *, gone: bool = False) -> None:
        """Durably: what comes after it in the journal may be other lines than those it was taken of.

        With `gone`, the journal is there no more, and the record beside it goes too.
        """
        path = self.path(ulid)
        for name in (path, path + ".slot", self.shown(ulid), *([self.witness(ulid, 0).path] if gone else [])):
            remove(name)
        if os.path.isdir(os.path.dirname(path)):
            sync_directories(os.path.dirname(path), [])

    def shown(self, ulid: str) -> str:
        """Where the record of what was shown last lies."""
        return self.path(ulid).removesuffix("json") + "shown"

    def witness(self, ulid: str, wait: float) -> Witness:
        """The records of the last line that was acknowledged: one beside the snapshot, one outside of the home."""
        outside = f"{self._outside}/{ulid}" if self._outside else ""
        return Witness(self.path(ulid).removesuffix("json") + "last", wait, outside)

    def path(self, ulid: str) -> str:
        return os.path.join(self._folder, ulid[-2:].lower(), f"{ulid}.json")


class _Written:
    """The plan and the steps of one workflow as text. Of many steps, few have moved since the last snapshot."""

    def __init__(self) -> None:
        self._plan: tuple[Plan | None, str] = (None, "")
        self._steps: tuple[Mapping[str, Progress], dict[str, str]] = ({}, {})

    def text(self, state: State) -> str:
        fields = encode(State.from_fields({**state.__dict__, "plan": None, "progress": None}))
        plan, (before, texts) = self._plan, self._steps  # taken once: another thread may write another workflow
        if plan[0] is not state.plan:
            self._plan = plan = (state.plan, compact(encode(state.plan)))
        again = set(moved(before, state.progress))
        steps = {
            path: f"{compact(path)}:{compact(encode(one))}" if path in again else texts[path]
            for path, one in state.progress.items()
        }
        self._steps = (state.progress, steps)
        known = {"plan": plan[1], "progress": f"{{{','.join(steps.values())}}}"}
        said = (f"{compact(name)}:{known.get(name) or compact(value)}" for name, value in fields.items())
        return f"{{{','.join(said)}}}"


def entries(folder: str) -> Iterator[tuple[str, str]]:
    """Each file in the shards of a folder, with its shard. A file beside them, as file managers leave, is no shard."""
    for shard in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        try:
            names = sorted(os.listdir(os.path.join(folder, shard)))
        except NotADirectoryError:
            continue
        yield from ((shard, name) for name in names)
