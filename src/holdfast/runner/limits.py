"""What runners of one user share: until when a model's service is left alone, and what hosts said that tokens cost."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from json import JSONDecodeError, dumps, loads

from holdfast.core.value import Any
from holdfast.files.replace import make_directories, write_private
from holdfast.machine.running import Price
from holdfast.plain.digest import digest

MOST = 1800.0
"""Seconds: the longest wait."""
_FORGET = 3600.0
"""Seconds after which a limit says nothing about the next one."""


class Shared:
    """Files in the user's data folder; one that cannot be read counts as missing."""

    def __init__(self, data_dir: str, credential: str, first: float) -> None:
        self._folder = os.path.join(data_dir, "holdfast", "runner")
        self._limit = os.path.join(self._folder, f"limit-{digest(credential.encode())[:16]}.json")
        self._rates = os.path.join(self._folder, "rates.json")
        self._first = first

    def left(self) -> float:
        """Seconds for which nobody asks this service."""
        return min(MOST, max(0.0, float(self._read(self._limit).get("until") or 0) - time.time()))

    def limit(self, wait: float, chance: float) -> float:
        """Keeps all runners of this login from asking: as long as it said, else twice as long as the last time.

        `chance`, between 0 and 1, keeps them from asking all at once.
        """
        known = self._read(self._limit)
        is_next = time.time() - float(known.get("until") or 0) < _FORGET
        many = int(known.get("many") or 0) + 1 if is_next else 1
        seconds = wait or min(MOST, self._first * 2 ** min(many - 1, 16))
        seconds = min(MOST, seconds * (1 + chance / 4))
        self._write(self._limit, {"until": time.time() + seconds, "many": many})
        return seconds

    def allowed(self) -> None:
        """A turn went well."""
        with suppress(FileNotFoundError):
            os.unlink(self._limit)

    def prices(self) -> dict[str, Price]:
        found = {}
        for model, row in self._read(self._rates).items():
            if isinstance(row, list) and len(row) == 4 and all(isinstance(one, int | float) for one in row):
                found[model] = Price(*row)
        return found

    def learn(self, taught: dict[str, Price]) -> None:
        known = self._read(self._rates)
        rows = {model: [one.input, one.output, one.cached, one.kept] for model, one in taught.items()}
        if {**known, **rows} != known:
            self._write(self._rates, {**known, **rows})

    def _read(self, path: str) -> dict[str, Any]:
        try:
            with open(path, "rb") as file:
                found = loads(file.read(1 << 16))
        except (OSError, JSONDecodeError, UnicodeDecodeError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, path: str, value: dict[str, Any]) -> None:
        make_directories(self._folder, 0o700)
        write_private(path, dumps(value).encode())
