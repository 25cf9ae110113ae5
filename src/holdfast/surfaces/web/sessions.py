"""Who is let in: a code that works once, and the sessions that it opened. All of it is in memory only."""

from __future__ import annotations

import hmac
import secrets
import time
from _thread import allocate_lock

CODE_FOR = 120
"""Seconds for which a code can be used."""
SESSION_FOR = 12 * 3600
MOST_SESSIONS = 64
MOST_TRIES = 20
"""How many codes are compared with the one that was given before that is forgotten, too."""
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_GROUPS, _IN_GROUP = 3, 4


class Sessions:
    """A code is given to the person at the terminal; who presents it in time gets a cookie."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self._code = ""
        self._until = 0.0
        self._tries = 0
        self._open: dict[str, float] = {}
        self._said: dict[str, list[str]] = {}

    def code(self) -> str:
        """A new code; the one before no longer works."""
        groups = ("".join(secrets.choice(_LETTERS) for _ in range(_IN_GROUP)) for _ in range(_GROUPS))
        with self._lock:
            self._code, self._until, self._tries = "-".join(groups), time.monotonic() + CODE_FOR, 0
            return self._code

    def enter(self, code: str) -> str:
        """The cookie of a new session; empty where the code is not the one that was given, or too old."""
        with self._lock:
            given = code.strip().lower().encode("utf-8", "replace")
            known, self._tries = self._code, self._tries + 1
            right = bool(known) and hmac.compare_digest(given, known.encode()) and time.monotonic() < self._until
            if right or self._tries >= MOST_TRIES:
                self._code = ""
            return self._opened() if right else ""

    def _opened(self) -> str:
        now = time.monotonic()
        self._open = {name: until for name, until in self._open.items() if until > now}
        while len(self._open) >= MOST_SESSIONS:
            self._open.pop(next(iter(self._open)))
        self._said = {name: said for name, said in self._said.items() if name in self._open}
        cookie = secrets.token_urlsafe(32)
        self._open[cookie] = now + SESSION_FOR
        return cookie

    def is_open(self, cookie: str) -> bool:
        with self._lock:
            return self._open.get(cookie, 0) > time.monotonic()

    def leave(self, cookie: str) -> None:
        with self._lock:
            self._open.pop(cookie, None)
            self._said.pop(cookie, None)

    def say(self, cookie: str, said: str) -> None:
        """Keeps a sentence for the next page of a session: what its last action did."""
        with self._lock:
            if cookie in self._open:
                self._said.setdefault(cookie, []).append(said)

    def take_said(self, cookie: str) -> list[str]:
        with self._lock:
            return self._said.pop(cookie, [])
