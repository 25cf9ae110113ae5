"""The status line of a host: the state of the work, in one line, and the host's own figure of what it costs.

A host asks after every message, and mostly nothing has happened: the last line is kept and shown again until one of the
files that it was made from has changed. What the session has cost so far comes with the question; what is new of it is
noted for the engine.
"""

from __future__ import annotations

import posix

from holdfast.surfaces.hooks import notes, quick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "statusline"
LARGEST = 1 << 16
SESSIONS = 16
FRESH_FOR = 30
"""Seconds for which a line is shown again: time passes, and some of it may be spent."""
_REFUSED = (1, 13, 30)
"""EPERM, EACCES, EROFS, without the module that names them."""
MOST_MICROS = 10**12
_FLAGS = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK


class Kept:
    """What is known of the sessions of a project, while nobody else can change it."""

    def __init__(self, root: str) -> None:
        from fcntl import LOCK_EX, flock

        self._fd = posix.open(f"{root}/.holdfast/{NAME}", _FLAGS, 0o600)
        notes.hand_over(self._fd, root)
        flock(self._fd, LOCK_EX)
        try:
            found = quick.parsed(posix.read(self._fd, LARGEST))
        except quick.BadEvent:
            found = {}  # new, or torn by a crash
        self.sessions: dict[str, Any] = found if isinstance(found, dict) else {}

    def of(self, session: str) -> dict[str, Any]:
        found = self.sessions.get(session)
        return found if isinstance(found, dict) else {}

    def put(self, session: str, **values: str | int | float) -> None:
        row = {**self.of(session), **values}
        others = [(name, self.of(name)) for name in self.sessions if name != session]
        self.sessions = dict([*others[1 - SESSIONS :], (session, row)])
        data = _written(self.sessions).encode()
        posix.pwrite(self._fd, data, 0)
        posix.ftruncate(self._fd, len(data))

    def close(self) -> None:
        posix.close(self._fd)


def _kept(root: str) -> Kept | None:
    """None where nothing can be written: then the line is made again for every question."""
    try:
        return Kept(root) if notes.may_write(root) else None
    except OSError as failure:
        if failure.errno not in _REFUSED:
            raise
        return None


class Line:
    """One question of a host."""

    def __init__(self) -> None:
        self.hook = quick.Hook()
        self.hook.name = "StatusLine"
        self.session = self.last = ""
        self.counting = self.told = False

    def answer(self, data: bytes) -> str:
        event = quick.parsed(data)
        self.hook.event = event if isinstance(event, dict) else {}
        self.session = self.hook.text("session_id", 100)
        self.hook.stand(self._folder())
        root = self.hook.root
        if not root or not self.session.isprintable() or not self.hook.is_active(or_left=True):
            return ""
        self._note_cost()
        known = self._known()
        self.last = _text(known, "line")
        if known and self._is_fresh(known):
            return self.last
        line, journal = self._engine()
        kept = _kept(root)
        if kept is not None:
            try:
                kept.put(self.session, line=line, journal=journal, key=self._key(journal), at=_now())
            finally:
                kept.close()
        return line

    def _folder(self) -> object:
        workspace = self.hook.event.get("workspace")
        if isinstance(workspace, dict):
            return workspace.get("project_dir") or workspace.get("current_dir")
        return self.hook.event.get("cwd")

    def _known(self) -> dict[str, Any]:
        kept = _kept(self.hook.root)
        if kept is None:
            return {}
        try:
            return kept.of(self.session)
        finally:
            kept.close()

    def _is_fresh(self, known: dict[str, Any]) -> bool:
        at = known.get("at")
        age = _now() - at if isinstance(at, int | float) else -1
        return 0 <= age < FRESH_FOR and known.get("key") == self._key(_text(known, "journal"))

    def _key(self, journal: str) -> str:
        """Another one as soon as anything has happened to what the line is made from."""
        home = self.hook.root + "/.holdfast/"
        return " ".join(map(_stamp, (home + "index", home + "guard", home + "inbox", journal)))

    def _engine(self) -> tuple[str, str]:
        quick.find_package()
        from holdfast.surfaces.hooks import standing

        return standing.line(self.hook.start, self.session)

    def _note_cost(self) -> None:
        """What the session has cost since it was last asked. A figure that was never seen before is only remembered."""
        micros = _micros(self.hook.event.get("cost"))
        if micros is None or not self.session:
            return
        kept = _kept(self.hook.root)
        if kept is None:
            return
        try:
            before = kept.of(self.session).get("cost")
            if before == micros:
                return
            self.counting = True
            kept.put(self.session, cost=micros)  # before the note: what is lost on the way is not counted twice
            if isinstance(before, int):
                more = micros - before if micros > before else micros  # the host began to count again
                if more:
                    notes.leave(self.hook.root, {"event": "Cost", "session": self.session, "micros": str(more)})
        finally:
            self.counting = False
            kept.close()


def main(data: bytes | None = None) -> int:
    """Answers one question, by default the one on standard input. The code is 0 whatever happens."""
    line = Line()
    said = ""
    try:
        if data is None:
            _watch(line)
            data = quick.received()
        said = line.answer(data)
    except quick.BadEvent as bad:
        line.hook.log(f"the question was not understood: {bad}")
    except BaseException as failure:  # noqa: BLE001 - a status line must not get in anybody's way
        said = line.last
        _logged(line, f"{type(failure).__name__}: {failure}")
    try:
        if not line.told:
            quick.send(f"{said}\n")
    except OSError:
        pass
    return 0


def _text(known: dict[str, Any], key: str) -> str:
    found = known.get(key)
    return found if isinstance(found, str) else ""


def _logged(line: Line, sentence: str) -> None:
    try:
        line.hook.log(sentence)
    except BaseException:  # noqa: BLE001, S110 - nor must saying what is wrong
        pass


def _watch(line: Line) -> None:
    """The host gets the line it had before when the answer takes too long. A cost that is being counted is finished."""
    import _signal  # type: ignore[import-not-found]

    def give_up(*_: object) -> None:
        try:
            if not line.told:
                line.told = True
                quick.send(f"{line.last}\n")
                if line.counting:
                    _signal.setitimer(_signal.ITIMER_REAL, quick.PATIENCE)
                    return
        except OSError:
            pass
        posix._exit(0)

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.setitimer(_signal.ITIMER_REAL, quick.PATIENCE)
    _signal.signal(_signal.SIGTERM, _signal.SIG_IGN)


def _micros(cost: object) -> int | None:
    total = cost.get("total_cost_usd") if isinstance(cost, dict) else None
    if isinstance(total, bool) or not isinstance(total, int | float) or not 0 <= total * 1e6 < MOST_MICROS:
        return None
    return int(total * 1e6 + 0.5)


def _stamp(path: str) -> str:
    try:
        found = posix.stat(path) if path else None
    except (OSError, ValueError):
        found = None
    return f"{found.st_ino}.{found.st_size}.{found.st_mtime_ns}" if found else "-"


def _now() -> float:
    from time import CLOCK_REALTIME, clock_gettime

    return clock_gettime(CLOCK_REALTIME)  # `time` raises from the year 2262 on


def _written(value: object) -> str:
    from _json import encode_basestring_ascii as quoted

    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(key)}:{_written(one)}" for key, one in value.items()) + "}"
    return quoted(value) if isinstance(value, str) else repr(value)
